"""The study's figures: matplotlib, one function a figure, colours that the colour-blind tell apart."""

from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.show.tables import METRIC_TITLES, title, values_of

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#882255",
    "#44AA99",
    "#999933",
    "#332288",
)
CONDITION_COLOURS = {"standard": "#0072B2", "oracle-document": "#E69F00", "oracle-page": "#009E73"}

plt.rcParams.update({"figure.facecolor": "white", "axes.facecolor": "white", "font.size": 10})
plt.rcParams.update(
    {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3}
)


def pipeline() -> plt.Figure:
    """The steps of the study as boxes: what goes in, what is shared, where the evidence can get lost."""
    boxes = [
        ("Filings\n(PDF)", "pages"),
        ("Chunks\nof a page", "1024 tokens"),
        ("Shared index\ndense, BM25, sparse", "every method"),
        ("Candidates\nby condition", "standard, oracles"),
        ("Run\ntop k chunks", "for each question"),
        ("Metrics\ndocument, page, chunk", "against the gold"),
    ]
    drawn, axes = plt.subplots(figsize=(11, 1.9))
    for place, (text, below) in enumerate(boxes):
        axes.text(
            place,
            0.6,
            text,
            ha="center",
            va="center",
            fontsize=9.5,
            bbox={"boxstyle": "round,pad=0.5", "fc": "#e8f1f8", "ec": COLOURS[0]},
        )
        axes.text(place, 0.02, below, ha="center", va="center", fontsize=8.5, color="#444444")
        if place:
            axes.annotate(
                "",
                (place - 0.42, 0.6),
                (place - 0.58, 0.6),
                arrowprops={"arrowstyle": "->", "color": "#444444"},
            )
    axes.set(xlim=(-0.6, len(boxes) - 0.4), ylim=(-0.15, 1.1))
    axes.axis("off")
    return drawn


def histogram(values: pd.Series, xlabel: str, ylabel: str, bins: int = 30) -> plt.Figure:
    """A histogram with its median marked."""
    drawn, axes = plt.subplots(figsize=(7, 3))
    axes.hist(values, bins=bins, color=COLOURS[0])
    axes.axvline(values.median(), color=COLOURS[1], lw=2, label=f"median {values.median():.0f}")
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend(frameon=False)
    return drawn


def bars_by_condition(summary: pd.DataFrame, methods: Sequence[str], wanted: Sequence[str]) -> plt.Figure:
    """For each metric a panel, for each method a bar a condition, with 95 % intervals."""
    drawn, panels = plt.subplots(
        1, len(wanted), figsize=(5.5 * len(wanted), 0.55 * len(methods) + 1.6), sharey=True
    )
    conditions = [c for c in CONDITION_COLOURS if c in set(summary["condition"])]
    height = 0.8 / len(conditions)
    for axes, metric in zip(np.atleast_1d(panels), wanted, strict=True):
        for place, condition in enumerate(conditions):
            part = summary[(summary["condition"] == condition) & (summary["metric"] == metric)]
            part = part.set_index("method").loc[list(methods)]
            where = np.arange(len(methods)) + (place - (len(conditions) - 1) / 2) * height
            error = np.abs(part[["low", "high"]].to_numpy().T - part["mean"].to_numpy())
            axes.barh(
                where, part["mean"], height, xerr=error, color=CONDITION_COLOURS[condition], label=condition,
                error_kw={"lw": 1, "ecolor": "#333333"},
            )  # fmt: skip
        axes.set(
            xlabel=f"max {METRIC_TITLES[metric]}@5"
            if metric.startswith("ctx")
            else f"{METRIC_TITLES[metric]}@5"
        )
        axes.set_yticks(np.arange(len(methods)), [title(method) for method in methods])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
    handles, labels = axes.get_legend_handles_labels()
    drawn.legend(
        handles, labels, loc="upper center", ncols=len(conditions), frameon=False, bbox_to_anchor=(0.5, 1.06)
    )
    return drawn


def recall_curves(
    metrics: pd.DataFrame, methods: Sequence[str], ks: Sequence[int], condition: str = "standard"
) -> plt.Figure:
    """Document and page recall against k, one line a method, labelled at its end."""
    drawn, panels = plt.subplots(1, 2, figsize=(11, 4.2))
    for axes, metric in zip(panels, ("doc_recall", "page_recall"), strict=True):
        for place, method in enumerate(methods):
            means = [values_of(metrics, method, condition, metric, k).mean() for k in ks]
            style = ("-", "--", ":")[place // len(COLOURS)]
            axes.plot(
                ks, means, style, marker="o", ms=4, color=COLOURS[place % len(COLOURS)], label=title(method)
            )
        axes.set(xlabel="k (chunks)", ylabel=f"{METRIC_TITLES[metric]}@k", ylim=(0, 1.02), xticks=list(ks))
    panels[1].legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.01, 0.5))
    drawn.tight_layout()
    return drawn

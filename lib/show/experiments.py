"""The tables and the figure of trainings by other recipes, from :mod:`lib.page_scorer.experiments`."""

from itertools import permutations

import matplotlib.pyplot as plt
import pandas as pd

from lib.page_scorer.experiments import chosen_elsewhere, recalls
from lib.show.display import p_value, with_interval
from lib.show.figures import COLOURS
from lib.stats import Resampling, holm
from lib.study import Study

SHOWN, ROUTES = (5, 20), {"none": "All filings", "records": "Records first"}


def final(found: pd.DataFrame) -> pd.DataFrame:
    """Page recall of stage one after the last epoch, all pages ranked, mean over seeds: cell, route, k, item, value.

    ``found`` are :func:`lib.page_scorer.experiments.recalls` of the trained cells; an item is a question.
    """
    own = found[(found["metric"] == "page_recall") & (found["pool"] == "all")]
    own = own[own["epoch"] == own.groupby(["cell", "seed"])["epoch"].transform("max")]
    own = own.rename(columns={"question_id": "item"})
    return own.groupby(["cell", "route", "k", "item"], sort=False)["value"].mean().reset_index()


def experiments_table(study: Study, found: pd.DataFrame) -> pd.DataFrame:
    """Page recall of stage one by cell (rows), and by the filings that come first and pages kept (columns): means over
    seeds, with intervals."""
    means, draws = final(found), Resampling.of(study)
    keys = ["cell", "route", "k"]
    values = means[means["k"].isin(SHOWN)].set_index("item").groupby(keys, sort=False)["value"]
    cells = values.agg(lambda own: with_interval(*draws.interval(own)[:3]))
    shown = {
        f"{head}, P = {k}": cells.xs((route, k), level=("route", "k"))
        for route, head in ROUTES.items()
        for k in SHOWN
    }
    seeds = found.groupby("cell", sort=False)["seed"].nunique()
    table = pd.DataFrame(shown).assign(Seeds=seeds, n=means["item"].nunique())
    return table.reset_index(names="Tokens, negatives, header")


def changed(name: str, other: str) -> str:
    """What one cell has that another lacks, if it is one thing: a header, silver questions, tokens or negatives."""
    tokens, negatives, *rest = name.split("-")
    other_tokens, other_negatives, *other_rest = other.split("-")
    parts = []
    if tokens != other_tokens:
        parts.append(f"{other_tokens} → {tokens} tokens" if int(tokens) > int(other_tokens) else "")
    if negatives != other_negatives:
        parts.append(f"negatives: {other_negatives} → {negatives}" if other_negatives == "batch" else "")
    if rest != other_rest:
        added = [word for word in rest if word not in other_rest]
        parts.append(
            {"header": "header", "both": "silver questions first"}.get(added[0], "") if added else ""
        )
        parts += [""] if [word for word in other_rest if word not in rest] or len(added) > 1 else []
    return parts[0] if len(parts) == 1 else ""


def worth(study: Study, found: pd.DataFrame, k: int = 5, route: str = "none") -> pd.DataFrame:
    """What each single change of recipe is worth in page recall at k of stage one: change, cell (with it), without,
    with, difference, low, high, n, p, p_holm (over all of them)."""
    means, draws, rows = final(found), Resampling.of(study), []
    own = means[(means["k"] == k) & (means["route"] == route)]
    of = {cell: part.set_index("item")["value"] for cell, part in own.groupby("cell", sort=False)}
    for other, name in permutations(of, 2):
        if change := changed(name, other):
            span = draws.difference(of[name], of[other])[:4]
            p = draws.p(of[name], of[other])
            rows.append((change, name, of[other].mean(), of[name].mean(), *span, p))
    columns = ["change", "cell", "without", "with", "difference", "low", "high", "n", "p"]
    table = pd.DataFrame(rows, columns=columns).sort_values(["change", "cell"], ignore_index=True)
    return table.assign(p_holm=holm(table["p"])) if len(table) else table.assign(p_holm=[])


def chosen(ranks: pd.DataFrame, k: int = 5) -> tuple[float, str]:
    """Mean page recall at k of stage one by the cells of :func:`lib.page_scorer.experiments.chosen_elsewhere`, over all
    filings, and their names; NaN and none where ``ranks`` (of the trained cells) is empty."""
    if ranks.empty:
        return float("nan"), "none"
    own = final(recalls(chosen_elsewhere(ranks, "none", k), [k]))
    own = own[own["route"] == "none"]
    return own["value"].mean(), ", ".join(sorted(own["cell"].unique()))


def worth_table(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`worth` as printed."""
    return pd.DataFrame(
        {
            "Change": table["change"],
            "In the recipe": table["cell"],
            "Page recall": [
                f"{a:.2f} → {b:.2f}" for a, b in zip(table["without"], table["with"], strict=True)
            ],
            "Difference": [*map(with_interval, table["difference"], table["low"], table["high"])],
            "p (Holm)": [*map(p_value, table["p_holm"])],
            "n": table["n"],
        }
    )


def by_epoch(found: pd.DataFrame, k: int = 5) -> pd.DataFrame:
    """Mean page recall at k of stage one after some epochs, among the held-out companies' pages: cell, epoch, value."""
    own = found[(found["metric"] == "page_recall") & (found["pool"] == "held-out") & (found["k"] == k)]
    own = own[own["route"] == "none"]
    return own.groupby(["cell", "epoch"], sort=False)["value"].mean().reset_index()


def curves(points: pd.DataFrame, k: int = 5) -> plt.Figure:
    """:func:`by_epoch`, a line for each cell."""
    drawn, axes = plt.subplots(figsize=(7.5, 4))
    means = points.set_index(["cell", "epoch"])["value"]
    for number, cell in enumerate(means.index.unique("cell")):
        line = means[cell].sort_index()
        style = ("-", "--", ":")[number // len(COLOURS) % 3]
        axes.plot(line.index, line, style, marker="o", ms=4, color=COLOURS[number % len(COLOURS)], label=cell)
    axes.set(xlabel="epochs", ylabel=f"page recall@{k}, held-out filings", ylim=(0, 1))
    axes.legend(fontsize=8, ncols=2)
    drawn.tight_layout()
    return drawn

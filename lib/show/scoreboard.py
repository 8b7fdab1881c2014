"""The scoreboard as the book shows it: a row per claim, a picture of all differences, and cost against quality."""

import math
import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from lib.analysis.claims import Claim, claims
from lib.analysis.frontier import frontier_of
from lib.analysis.scoreboard import ALPHA, CANNOT_TELL, DOES_NOT, HOLDS, NOT_MEASURED
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.show.display import Column, escape_cell, number, printed
from lib.show.figures import COLOURS, DARK, label_rows
from lib.show.tables import METHOD, N, title
from lib.study import Study

VERDICT_COLOURS = {HOLDS: "#009E73", DOES_NOT: "#D55E00", CANNOT_TELL: "#555555"}
VERDICTS = (*VERDICT_COLOURS, NOT_MEASURED)
NOT_FOUND = "not found in what we could read"
HEADS = ["Claim", "Their numbers", "Here", "p Holm / Bonf.", "Verdict", "Why", "n"]
#: What the board holds of each difference in the picture.
FOREST = "claim estimate low high bound amount p_holm p_bonferroni n verdict n_needed".split()
FAMILY_NAMES = {"main": "this study", "akarsu2026": "Akarsu", "kim2025": "Kim", "yepes2024": "Yepes"}
FAMILY_COLOURS = dict(zip(FAMILY_NAMES, COLOURS, strict=False))
LEAST_S = {"question_s": 1e-3, "index_s": 1.0}


def why(study: Study, metrics: pd.DataFrame, claim: Claim) -> str:
    """The sentence that gives the reason, with its numbers from the metrics; undecided where a row is missing."""

    def means(metric: str, k: int) -> dict[str, float]:
        wanted = metrics["condition"].eq("standard") & metrics["metric"].eq(metric) & metrics["k"].eq(k)
        return metrics[wanted].groupby("method")["value"].mean().to_dict()

    try:
        return claim.why.format(
            page=means("page_recall", 5),
            filing=means("doc_recall", 5),
            here=means(claim.metric, claim.k),
            window=study.profile.embedder.window,
            size=study.profile.chunks.size,
        )
    except KeyError as absent:
        return f"Not decided here: {absent.args[0]} is not measured."


def compared(claim: Claim, rival: str = "") -> str:
    """What is subtracted from what, in words."""

    def side(names: Sequence[str], condition: str) -> str:
        titles = ", ".join(map(title, names))
        titles = f"mean of ({titles})" if len(names) > 1 else titles
        return titles if condition == "standard" else f"{titles} under {condition}"

    if claim.kind == "argmax":
        return f"the weight of dense with the highest {METRICS[claim.metric].in_words}@{claim.k}"
    if claim.kind == "correlation":
        return f"correlation of document and page recall@{claim.k} over {len(claim.a)} methods"
    a, b = side(claim.a, claim.a_condition), side((rival,) if rival else claim.b, claim.b_condition)
    kinds = f", {' and '.join(claim.question_types)}" if claim.question_types else ""
    return f"{a} − {b}, {METRICS[claim.metric].in_words}@{claim.k}{kinds}"


def scoreboard_table(study: Study, metrics: pd.DataFrame, board: pd.DataFrame, source: str) -> pd.DataFrame:
    """The claims of one source: the claim, its numbers, ours, both p, the verdict, and why; cells are markup."""
    rows = []
    for claim in (one for one in claims() if one.source == source):
        row, sign = board.loc[claim.id], "+" if claim.kind in ("difference", "best") else ""
        here, tests, reason, n = row["missing"], "–", "–", "–"
        if row["verdict"] != NOT_MEASURED:
            ours = f"{row['estimate']:{sign}.3f} [{row['low']:{sign}.3f}, {row['high']:{sign}.3f}]"
            here = f"{ours} ({compared(claim, row['rival'])})"
            tests = f"{row['p_holm']:.3f} / {row['p_bonferroni']:.3f}"
            if row["verdict"] == DOES_NOT and row["p_holm_amount"] < ALPHA and row["high"] < row["amount"]:
                tests += f"; as large as claimed: {row['p_holm_amount']:.3f}"  # the test that decides
            reason, n = why(study, metrics, claim), f"{row['n']:.0f}"
        texts = map(escape_cell, (claim.claim, claim.numbers or NOT_FOUND, here))
        rows.append((*texts, tests, verdict_text(row), reason, n))
    return pd.DataFrame(rows, columns=HEADS)


def verdict_text(row: pd.Series) -> str:
    """The verdict, with the number of questions that would decide where these cannot."""
    if row["verdict"] != CANNOT_TELL:
        return f"**{row['verdict']}**"
    n, needed = f"{row['n']:.0f}", row["n_needed"]
    if math.isnan(needed):
        return f"**cannot tell** with {n}"
    if math.isinf(needed):
        return f"**cannot tell** with {n} questions; no number would, if this is all"
    # the difference does not allow more than two figures
    scale = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    return f"**cannot tell** with {n} questions; about {int(math.ceil(needed / scale) * scale):,} would"


def counts_table(board: pd.DataFrame, names: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """How many claims of each source hold, do not, or cannot be told."""
    source = pd.Series({claim.id: claim.source for claim in claims()})
    table = pd.crosstab(source.reindex(board.index), board["verdict"])
    table = table.reindex(index=list(names), columns=list(VERDICTS), fill_value=0)
    table.insert(0, "Claims", table.sum(axis=1))
    return table.rename(index=lambda key: names[key]["name"]).rename_axis("Source").reset_index()


def takeaway(board: pd.DataFrame) -> str:
    """How many claims hold, in one sentence."""
    counts = board["verdict"].value_counts().reindex(VERDICTS, fill_value=0)
    listed = ", ".join(f"{counts[name]} {name}" for name in VERDICTS[:3])
    rest = counts[NOT_MEASURED]
    return f"Of {len(board)} claims: {listed}{f'; {rest} were not measured in this profile' if rest else ''}."


def forest(board: pd.DataFrame) -> plt.Figure:
    """Every measured difference with its interval, coloured by verdict, and a mark where the source put it."""
    texts = {claim.id: claim.claim for claim in claims() if claim.kind in ("difference", "best")}
    part = board[board.index.isin(texts) & (board["verdict"] != NOT_MEASURED)]
    drawn, axes = plt.subplots(figsize=(9, 0.42 * len(part) + 1.4))
    claimed = {"ls": "", "marker": "D", "mfc": "white", "mec": DARK}
    for place, (_, row) in enumerate(part.iterrows()):
        colour = VERDICT_COLOURS[row["verdict"]]
        axes.plot([row["low"], row["high"]], [place, place], color=colour, lw=2)
        axes.plot(row["estimate"], place, "o", color=colour, ms=6)
        axes.plot(row["amount"], place, ms=5, **claimed)  # none where no amount was claimed
        if row["bound"]:
            axes.plot([row["bound"]] * 2, [place - 0.3, place + 0.3], color=DARK, lw=1)
    axes.axvline(0, color=DARK, lw=0.8)
    axes.set_ylim(len(part) - 0.5, -0.5)
    label_rows(axes, [textwrap.fill(texts[name].removesuffix("."), 62) for name in part.index])
    axes.set(xlabel="difference of the two sides of the claim, with 95 % interval")
    handles = [plt.Line2D([], [], color=c, marker="o", label=v) for v, c in VERDICT_COLOURS.items()]
    handles += [plt.Line2D([], [], label="as claimed", **claimed)]
    axes.legend(handles=handles, loc="lower center", ncols=4, bbox_to_anchor=(0.3, 1.0))
    return drawn


def costs_table(costs: pd.DataFrame, quality: str, n: int) -> pd.DataFrame:
    """:func:`lib.analysis.frontier.costs` as they are printed, the frontiers marked; ``≥`` where a stage's time was not
    stored."""

    def seconds(head: str, side: str, form: str) -> Column:
        names = (f"{side}_missing", f"{side}_s")
        return Column(head, names, lambda missing, value: ("≥ " if missing else "") + form.format(value))

    mark = {True: "yes", False: "–"}.get
    return printed(
        costs.assign(n=n, best=frontier_of(costs, "question"), best_index=frontier_of(costs, "index")),
        METHOD,
        Column(quality, "quality", number),
        seconds("Per question (s)", "question", "{:.2f}"),
        Column("On its frontier", "best", mark),
        seconds("Index (s)", "index", "{:.0f}"),
        Column("On that one", "best_index", mark),
        N,
    )


def spread_labels(heights: Sequence[float], gap: float) -> np.ndarray:
    """Heights moved as little (least squares) as keeps them ``gap`` apart, in their order."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.empty(len(order))
    placed[order] = isotonic_regression(np.asarray(heights, float)[order] - steps).x + steps
    return placed


def cost_and_quality(table: pd.DataFrame, quality: str) -> plt.Figure:
    """Quality against seconds per question and seconds to index (:func:`lib.analysis.frontier.costs`) on log axes.

    Each frontier is a line. Only its rows are named, beside the picture; the others are dots.
    """
    drawn, panels = plt.subplots(1, 2, figsize=(13, 5.6), sharey=True)
    heads = {"question_s": "seconds per question", "index_s": "seconds to index all filings"}
    table = table.assign(family=[METHODS[name].family for name in table["method"]])
    for axes, (column, head) in zip(panels, heads.items(), strict=True):
        _panel(axes, table.assign(x=table[column].clip(lower=LEAST_S[column])), column.removesuffix("_s"))
        axes.set(xscale="log", xlabel=f"{head} (at least {LEAST_S[column]:g})")
    panels[0].set_ylabel(quality)
    shown = [family for family in FAMILY_NAMES if (table["family"] == family).any()]
    marks = [{"ls": "", "color": FAMILY_COLOURS[one], "label": FAMILY_NAMES[one]} for one in shown]
    marks.append({"ls": "", "marker": ">", "color": DARK, "label": "costs at least this"})
    marks.append({"color": DARK, "mfc": "none", "label": "frontier"})
    handles = [plt.Line2D([], [], **{"marker": "o"} | mark) for mark in marks]
    drawn.legend(handles=handles, ncols=len(handles), loc="upper center", bbox_to_anchor=(0.5, 1.03))
    drawn.tight_layout(w_pad=3)
    return drawn


def _panel(axes: plt.Axes, table: pd.DataFrame, side: str) -> None:
    colours, is_known = table["family"].map(FAMILY_COLOURS), table[f"{side}_missing"].eq("")
    for kind, marker in ((is_known, "o"), (~is_known, ">")):
        axes.scatter(table["x"][kind], table["quality"][kind], c=colours[kind], s=34, marker=marker, zorder=3)
    best = table[frontier_of(table, side)].sort_values(["x", "quality"])
    axes.step(best["x"], best["quality"], where="post", color=DARK, lw=1, zorder=2)
    axes.scatter(best["x"], best["quality"], s=90, facecolors="none", edgecolors=DARK, zorder=4)
    gap = 0.05 * (np.ptp(table["quality"]) or 1.0)
    for row, height in zip(best.itertuples(), spread_labels(best["quality"], gap), strict=True):
        axes.annotate(
            title(row.method), (row.x, row.quality), (1.02, height), textcoords=axes.get_yaxis_transform(),
            va="center", fontsize=9, arrowprops={"arrowstyle": "-", "color": "#999999", "lw": 0.6},
        )  # fmt: skip

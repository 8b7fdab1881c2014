"""The scoreboard as the book shows it: a row per claim, and a picture of all differences."""

import math
import re
import textwrap
from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd

from lib.analysis.claims import Claim, claims
from lib.analysis.verdicts import ALPHA, CANNOT_TELL, DOES_NOT, HOLDS, NOT_MEASURED
from lib.metrics import METRICS
from lib.show.display import escape_cell, number
from lib.show.figures import DARK, label_rows
from lib.show.tables import title
from lib.study import Study

VERDICT_COLOURS = {HOLDS: "#009E73", DOES_NOT: "#D55E00", CANNOT_TELL: "#555555"}
NOT_FOUND = "not found in what we could read"


VERDICTS = (HOLDS, DOES_NOT, CANNOT_TELL, NOT_MEASURED)
FOREST = ["estimate", "low", "high", "bound", "amount", "p_holm", "p_bonferroni", "n", "verdict", "n_needed"]


def means(metrics: pd.DataFrame, metric: str, k: int) -> dict[str, float]:
    """Method to the mean of a metric at k under the standard condition."""
    wanted = metrics["condition"].eq("standard") & metrics["metric"].eq(metric) & metrics["k"].eq(k)
    return metrics[wanted].groupby("method")["value"].mean().to_dict()


def why(study: Study, metrics: pd.DataFrame, claim: Claim) -> str:
    """The sentence that gives the reason, with its numbers from the metrics; undecided where a row is missing."""
    measured = {
        "page": means(metrics, "page_recall", 5),
        "filing": means(metrics, "doc_recall", 5),
        "here": means(metrics, claim.metric, claim.k),
        "window": study.profile.embedder.window,
        "size": study.profile.chunks.size,
    }
    try:
        return claim.why.format(**measured)
    except KeyError as absent:
        return f"Not decided here: {absent.args[0]} is not measured."


def compared(claim: Claim, rival: str = "") -> str:
    """What is subtracted from what, in words."""
    if claim.kind == "argmax":
        return f"the weight of dense with the highest {METRICS[claim.metric].in_words}@{claim.k}"
    if claim.kind == "correlation":
        return f"correlation of document and page recall@{claim.k} over {len(claim.a)} methods"
    sides = [_side(claim.a, claim.a_condition), _side((rival,) if rival else claim.b, claim.b_condition)]
    kinds = f", {' and '.join(claim.question_types)}" if claim.question_types else ""
    return f"{sides[0]} − {sides[1]}, {METRICS[claim.metric].in_words}@{claim.k}{kinds}"


def _side(names: tuple[str, ...], condition: str) -> str:
    titles = ", ".join(title(name) for name in names)
    titles = f"mean of ({titles})" if len(names) > 1 else titles
    return titles if condition == "standard" else f"{titles} under {condition}"


def scoreboard_table(study: Study, metrics: pd.DataFrame, board: pd.DataFrame, source: str) -> pd.DataFrame:
    """The claims of one source: the claim, its numbers, ours, both p, the verdict, and why; cells are markup."""
    rows = []
    for claim in (one for one in claims() if one.source == source):
        row = board.loc[claim.id]
        ours, tests, reason, n = row["missing"], "–", "–", "–"
        if row["verdict"] != NOT_MEASURED:
            ours, tests = f"{_ours(claim, row)} ({compared(claim, row['rival'])})", _tests(row)
            reason, n = why(study, metrics, claim), f"{row['n']:.0f}"
        theirs = (escape_cell(claim.claim), escape_cell(claim.numbers or NOT_FOUND))
        rows.append((*theirs, escape_cell(ours), tests, verdict_text(row), reason, n))
    heads = ["Claim", "Their numbers", "Here", "p Holm / Bonf.", "Verdict", "Why", "n"]
    return pd.DataFrame(rows, columns=heads)


def _ours(claim: Claim, row: pd.Series) -> str:
    sign = "+" if claim.kind in ("difference", "best") else ""
    return f"{row['estimate']:{sign}.3f} [{row['low']:{sign}.3f}, {row['high']:{sign}.3f}]"


def _tests(row: pd.Series) -> str:
    """Both p, and that of the test against the claimed size where it is what decides."""
    both = f"{row['p_holm']:.3f} / {row['p_bonferroni']:.3f}"
    by_size = row["verdict"] == DOES_NOT and row["p_holm_amount"] < ALPHA and row["high"] < row["amount"]
    return f"{both}; as large as claimed: {row['p_holm_amount']:.3f}" if by_size else both


def verdict_text(row: pd.Series) -> str:
    """The verdict, with the number of questions that would decide where these cannot."""
    if row["verdict"] != CANNOT_TELL:
        return f"**{row['verdict']}**"
    needed = row["n_needed"]
    if math.isnan(needed):
        return f"**cannot tell** with {row['n']:.0f}"
    about = "no number would, if this is all" if math.isinf(needed) else f"about {_rounded(needed):,} would"
    return f"**cannot tell** with {row['n']:.0f} questions; {about}"


def _rounded(n: float) -> int:
    """Two figures: the observed difference does not allow more."""
    scale = 10 ** max(0, math.floor(math.log10(n)) - 1)
    return int(math.ceil(n / scale) * scale)


def counts_table(board: pd.DataFrame, names: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """How many claims of each source hold, do not, or cannot be told."""
    source = pd.Series({claim.id: claim.source for claim in claims()})
    table = pd.crosstab(source.reindex(board.index), board["verdict"])
    table = table.reindex(index=list(names), columns=list(VERDICTS), fill_value=0)
    table.insert(0, "Claims", table.sum(axis=1))
    table.index = [names[key]["name"] for key in table.index]
    return table.rename_axis("Source").reset_index()


def forest(board: pd.DataFrame) -> plt.Figure:
    """Every measured difference with its interval, coloured by verdict, and a mark where the source put it."""
    shown = {claim.id: claim for claim in claims() if claim.kind in ("difference", "best")}
    part = board[board.index.isin(shown) & (board["verdict"] != NOT_MEASURED)]
    drawn, axes = plt.subplots(figsize=(9, 0.42 * len(part) + 1.4))
    for place, (_, row) in enumerate(part.iterrows()):
        colour = VERDICT_COLOURS[row["verdict"]]
        axes.plot([row["low"], row["high"]], [place, place], color=colour, lw=2)
        axes.plot(row["estimate"], place, "o", color=colour, ms=6)
        if not math.isnan(row["amount"]):
            axes.plot(row["amount"], place, "D", mfc="white", mec=DARK, ms=5)
        if row["bound"]:
            axes.plot([row["bound"]] * 2, [place - 0.3, place + 0.3], color=DARK, lw=1)
    axes.axvline(0, color=DARK, lw=0.8)
    axes.set_ylim(len(part) - 0.5, -0.5)
    label_rows(axes, [textwrap.fill(re.sub(r"\.$", "", shown[name].claim), 62) for name in part.index])
    axes.set(xlabel="difference of the two sides of the claim, with 95 % interval")
    handles = [plt.Line2D([], [], color=c, marker="o", label=v) for v, c in VERDICT_COLOURS.items()]
    handles += [plt.Line2D([], [], ls="", marker="D", mfc="white", mec=DARK, label="as claimed")]
    axes.legend(handles=handles, loc="lower center", ncols=4, frameon=False, bbox_to_anchor=(0.3, 1.0))
    return drawn


def forest_data(board: pd.DataFrame) -> pd.DataFrame:
    """The numbers of :func:`forest`."""
    return board.reset_index().reindex(columns=["claim", *FOREST])


def takeaway(board: pd.DataFrame) -> str:
    """How many claims hold, in one sentence."""
    counts = board["verdict"].value_counts().reindex(VERDICTS, fill_value=0)
    listed = ", ".join(f"{number(counts[name], 0)} {name}" for name in VERDICTS[:3])
    rest = counts[NOT_MEASURED]
    return f"Of {len(board)} claims: {listed}{f'; {rest} were not measured in this profile' if rest else ''}."

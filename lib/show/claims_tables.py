"""The scoreboard as the book shows it: a row a claim, and a picture of all differences."""

import math
import re
import textwrap
from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd

from lib.analysis.claims import Claim, claims
from lib.analysis.verdicts import ALPHA, CANNOT_TELL, DOES_NOT, HOLDS, NOT_MEASURED
from lib.show.display import escape_cell, number
from lib.show.tables import title

MEASURES = {
    "page_recall": "page recall",
    "page_hit": "questions with a gold page",
    "ndcg": "nDCG",
    "doc_recall": "document recall",
}
VERDICT_COLOURS = {HOLDS: "#009E73", DOES_NOT: "#D55E00", CANNOT_TELL: "#555555"}
NOT_FOUND = "not found in what we could read"


class Means(Mapping):
    """Method to the mean of a measure under the standard condition, for the sentences that say why."""

    def __init__(self, metrics: pd.DataFrame, metric: str, k: int):
        part = metrics[
            metrics["condition"].eq("standard") & metrics["metric"].eq(metric) & metrics["k"].eq(k)
        ]
        self.means = part.groupby("method")["value"].mean()

    def __getitem__(self, method: str) -> float:
        return float(self.means[method])

    def __iter__(self):
        return iter(self.means.index)

    def __len__(self) -> int:
        return len(self.means)


def why(study, metrics: pd.DataFrame, claim: Claim) -> str:
    """The sentence that says why, with its numbers from the metrics; that it is undecided where a row is missing."""
    measured = {
        "page": Means(metrics, "page_recall", 5),
        "filing": Means(metrics, "doc_recall", 5),
        "here": Means(metrics, claim.metric, claim.k),
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
        return f"the weight of dense with the highest {MEASURES[claim.metric]}@{claim.k}"
    if claim.kind == "correlation":
        return f"correlation of document and page recall@{claim.k} over {len(claim.a)} methods"
    sides = [_side(claim.a, claim.a_condition), _side((rival,) if rival else claim.b, claim.b_condition)]
    kinds = f", {' and '.join(claim.question_types)}" if claim.question_types else ""
    return f"{sides[0]} − {sides[1]}, {MEASURES[claim.metric]}@{claim.k}{kinds}"


def _side(names: tuple[str, ...], condition: str) -> str:
    titles = ", ".join(title(name) for name in names)
    titles = f"mean of ({titles})" if len(names) > 1 else titles
    return titles if condition == "standard" else f"{titles} under {condition}"


def scoreboard_table(study, metrics: pd.DataFrame, board: pd.DataFrame, source: str) -> pd.DataFrame:
    """The claims of one source: what it says, its numbers, ours, both p, the verdict, and why; cells are markup."""
    rows = []
    for claim in (one for one in claims() if one.source == source):
        row = board.loc[claim.id]
        is_measured = row["verdict"] != NOT_MEASURED
        rows.append(
            {
                "Claim": escape_cell(claim.claim),
                "Their numbers": escape_cell(claim.numbers or NOT_FOUND),
                "Here": escape_cell(f"{_ours(claim, row)} ({compared(claim, row['rival'])})")
                if is_measured
                else escape_cell(row["missing"]),
                "p Holm / Bonf.": _tests(row) if is_measured else "–",
                "Verdict": verdict_text(row),
                "Why": why(study, metrics, claim) if is_measured else "–",
                "n": f"{row['n']:.0f}" if is_measured else "–",
            }
        )
    return pd.DataFrame(rows)


def _ours(claim: Claim, row: pd.Series) -> str:
    sign = "+" if claim.kind in ("difference", "best") else ""
    return f"{row['estimate']:{sign}.3f} [{row['low']:{sign}.3f}, {row['high']:{sign}.3f}]"


def _tests(row: pd.Series) -> str:
    """Both p, and that of the test against the claimed size where it is what decides."""
    said = f"{row['p_holm']:.3f} / {row['p_bonferroni']:.3f}"
    by_size = row["verdict"] == DOES_NOT and row["p_holm_amount"] < ALPHA and row["high"] < row["amount"]
    return f"{said}; as large as claimed: {row['p_holm_amount']:.3f}" if by_size else said


def verdict_text(row: pd.Series) -> str:
    """The verdict, with the questions that would tell where these cannot."""
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
    order = [HOLDS, DOES_NOT, CANNOT_TELL, NOT_MEASURED]
    table = table.reindex(index=list(names), columns=order, fill_value=0)
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
            axes.plot(row["amount"], place, "D", mfc="white", mec="#333333", ms=5)
        if row["bound"]:
            axes.plot([row["bound"]] * 2, [place - 0.3, place + 0.3], color="#333333", lw=1)
    axes.axvline(0, color="#333333", lw=0.8)
    labels = [re.sub(r"\.$", "", shown[name].claim) for name in part.index]
    axes.set_yticks(range(len(part)), [textwrap.fill(text, 62) for text in labels])
    axes.set_ylim(len(part) - 0.5, -0.5)
    axes.set(xlabel="difference of the two sides of the claim, with 95 % interval")
    axes.grid(axis="y", visible=False)
    handles = [plt.Line2D([], [], color=c, marker="o", label=v) for v, c in VERDICT_COLOURS.items()]
    handles += [plt.Line2D([], [], ls="", marker="D", mfc="white", mec="#333333", label="as claimed")]
    axes.legend(handles=handles, loc="lower center", ncols=4, frameon=False, bbox_to_anchor=(0.3, 1.0))
    return drawn


def forest_data(board: pd.DataFrame) -> pd.DataFrame:
    """The numbers of :func:`forest`."""
    columns = [
        "estimate",
        "low",
        "high",
        "bound",
        "amount",
        "p_holm",
        "p_bonferroni",
        "n",
        "verdict",
        "n_needed",
    ]
    return board.reset_index().reindex(columns=["claim", *columns])


def takeaway(board: pd.DataFrame) -> str:
    """How many claims hold, in one sentence."""
    counts = board["verdict"].value_counts()
    said = [f"{number(counts.get(name, 0), 0)} {name}" for name in (HOLDS, DOES_NOT, CANNOT_TELL)]
    rest = counts.get(NOT_MEASURED, 0)
    unmeasured = f"; {rest} were not measured in this profile" if rest else ""
    return f"Of {len(board)} claims: {', '.join(said)}{unmeasured}."

"""Tables and figures of question sets: their leaderboards side by side, and what decides between them."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd

from lib.analysis.claims import claims
from lib.analysis.question_sets import Kind
from lib.show.display import Column, interval, number, percent, printed
from lib.show.figures import COLOURS, DARK
from lib.show.tables import METHOD, N, title
from lib.stats import Resampling

FEATURE_TITLES = {
    "overlap": "share of its rare words on a gold page",
    "gold_is_statement": "gold page is a primary statement",
    "names_company": "names its company",
    "names_year": "names a year",
    "asks_figure": "asks for a figure",
    "length": "length (log2 of the number of words)",
}
#: What is printed of the results of :mod:`lib.analysis.question_sets`.
TRANSFER = (
    Column("Fitted on", "fitted"),
    Column("Tested on", "tested"),
    interval("Rank correlation", "correlation", "correlation_low", "correlation_high"),
    interval("Mean predicted", "predicted", "predicted_low", "predicted_high"),
    interval("Mean observed", "observed", "observed_low", "observed_high"),
    Column("Without features", "without", number),
    N,
)
GAIN, SET, THIRD = interval("BM25 − dense"), Column("Set", "set"), Column("Third", "third")
OVERLAP = SET, THIRD, Column("Overlap", "overlap", number), Column("BM25", "bm25", number)
OVERLAP += Column("Dense", "dense", number), GAIN, N
CALIBRATION = SET, THIRD, Column("Predicted", "predicted", number), GAIN, N
EXPECTED = (
    METHOD,
    Column("Expected page recall", "recall", number),
    interval("Against dense", "gain", "low", "high"),
)
EXPECTED += (Column("Error between sets", "error", number),)


def described_table(means: pd.DataFrame) -> pd.DataFrame:
    """The means of features (columns) by set (index), shares in percent."""
    titles = {name: f"{head} (%)" for name, head in FEATURE_TITLES.items() if name != "length"}
    columns = [Column(head[0].upper() + head[1:], name, percent) for name, head in titles.items()]
    return printed(means.rename_axis("set").reset_index(), SET, *columns, N)


def leaderboards(
    tables: Mapping[str, pd.DataFrame], draws: Mapping[str, Mapping[str, Resampling]]
) -> pd.DataFrame:
    """Leaderboards side by side, the first set's best row first.

    Args:
        tables: name of a set to its values, questions × rows, the same rows in all.
        draws: name of a set to its draws by kind of cluster, such as company and filing.
    """
    names = next(iter(tables.values())).mean().sort_values(ascending=False, kind="stable").index
    shown = printed(pd.DataFrame({"method": names}), METHOD)
    for name, table in tables.items():
        for by, one in draws[name].items():
            found = pd.DataFrame([one.interval(table[row])._asdict() for row in names])
            column = interval(f"{name}, by {by}")
            shown[column.title] = printed(found, column)[column.title]
    return shown


def bump(means: pd.DataFrame) -> plt.Figure:
    """The rank of each row (index) by its mean in two sets (columns); those that move most in colour."""
    ranks = means.rank(ascending=False, method="first")
    moved = (ranks.iloc[:, 0] - ranks.iloc[:, 1]).abs().sort_values(ascending=False).index
    colours = dict(zip(moved, COLOURS, strict=False))
    drawn, axes = plt.subplots(figsize=(8, 0.27 * len(ranks) + 1.2))
    for name, row in ranks.iterrows():
        axes.plot([0, 1], row, "o-", color=colours.get(name, "#999999"), lw=2 if name in colours else 1, ms=4)
        for place, side, away in ((0, "right", -0.04), (1, "left", 0.04)):
            text = f"{title(name)}  {means.loc[name].iloc[place]:.2f}"
            axes.text(place + away, row.iloc[place], text, ha=side, va="center", fontsize=8, color=DARK)
    axes.set(xticks=[0, 1], xticklabels=list(ranks), xlim=(-1, 2), yticks=[])
    axes.invert_yaxis()
    axes.grid(visible=False)
    return drawn


def coefficients_table(fits: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The coefficients of several fits side by side."""
    shown = [printed(one, Column("Feature", "feature", FEATURE_TITLES.get)) for one in fits.values()][:1]
    return pd.concat(shown + [printed(one, interval(name)) for name, one in fits.items()], axis=1)


def contradictions_table(found: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.question_sets.resolutions` in words, with the verdicts of each set on the two claims."""
    said = {claim.id: claim.claim for claim in claims()}
    shown = found[["about"]].rename(columns={"about": "About"})
    for head, side in (("One claim", "first"), ("The other", "second")):
        shown[head] = found[side].map(said)
    for name, of in verdicts.items():
        shown[name] = found["first"].map(of) + " / " + found["second"].map(of)
    return shown.assign(Resolved=found["resolved"])


def kind_sentences(kind: Kind) -> str:
    """What a reader's questions are like, which row to expect to win, and how far that can be relied on."""
    best = kind.rows.iloc[0]
    is_sure = best["low"] > 0 and best["gain"] > best["error"]
    relied = "more" if is_sure else "no more"
    return (
        f"{percent(kind.page_written)} % of the questions are nearer to those that were written from a page. "
        f"{title(best['method'])} is expected to find most, with {best['gain']:+.2f} page recall against dense, "
        f"{relied} than such a prediction is wrong by from one known set to the other. "
        f"{percent(kind.unlike)} % of the questions are unlike all known ones: for them it is extrapolated."
    )

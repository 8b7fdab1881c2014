"""Tables and figures of question sets: their leaderboards side by side, and what decides between them."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd

from lib.analysis.claims import claims, sources
from lib.analysis.overlap_dose import CONTROL, DELETED
from lib.analysis.question_sets import FEATURES, Kind
from lib.show.display import SHOWN_WIDTH, Column, interval, label, percent, printed, with_interval
from lib.show.figures import COLOURS, DARK
from lib.show.tables import METHOD, N, as_table, title
from lib.stats import Interval, Resampling


def described_table(means: pd.DataFrame) -> pd.DataFrame:
    """The means of features (columns) by set (index), shares in percent."""
    titles = {name: f"{head} (%)" for name, head in FEATURES.items() if name != "length"}
    columns = [Column(head[0].upper() + head[1:], name, percent) for name, head in titles.items()]
    return printed(means.rename_axis("set").reset_index(), Column("Set", "set"), *columns, N)


def leaderboards(tables: Mapping[str, pd.DataFrame], draws: Mapping[str, Mapping[str, Resampling]]) -> pd.DataFrame:
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


def finding(tables: Mapping[str, pd.DataFrame], draws: Mapping[str, Mapping[str, Resampling]]) -> str:
    """What BM25 finds more than dense search on each set, in one sentence; arguments as of :func:`leaderboards`."""
    found = []
    for name, table in tables.items():
        if {"bm25", "dense"} <= set(table):
            gain = draws[name]["company"].difference(table["bm25"], table["dense"])
            found.append(f"{gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}] on {name}")
    return f"BM25 minus dense search, in page recall: {', '.join(found) or 'not measured'}."


def calculated_table(found: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.answered.calculated_on` of several sets (column ``set``) as it is printed."""
    titles = {row.Index: title(row.method) if row.method else "gold pages" for row in found.itertuples()}
    return as_table(found.assign(context=pd.Series(titles)), "calculated_on")


def bump(means: pd.DataFrame) -> plt.Figure:
    """The rank of each row (index) by its mean in two sets (columns); those that move most in colour."""
    ranks = means.rank(ascending=False, method="first")
    moved = (ranks.iloc[:, 0] - ranks.iloc[:, 1]).abs().sort_values(ascending=False).index
    colours = dict(zip(moved, COLOURS, strict=False))
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 0.27 * len(ranks) + 1.2))
    for name, row in ranks.iterrows():
        axes.plot([0, 1], row, "o-", color=colours.get(name, "#999999"), lw=2 if name in colours else 1, ms=4)
        for place, side, away in ((0, "right", -0.04), (1, "left", 0.04)):
            text = f"{title(name)}  {means.loc[name].iloc[place]:.2f}"
            axes.text(place + away, row.iloc[place], text, ha=side, va="center", fontsize=9, color=DARK)
    axes.set(xticks=[0, 1], xticklabels=[*map(label, ranks)], xlim=(-1.1, 2.1), yticks=[])
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    return drawn


def gains_by_overlap(found: pd.DataFrame) -> plt.Figure:
    """The outcome's mean with its interval against the mean overlap, a colour per set."""
    drawn, axes = plt.subplots(figsize=(7, 3.4))
    for colour, (name, part) in zip(COLOURS, found.groupby("set", sort=False), strict=False):
        ends = (part[["low", "high"]].to_numpy() - part[["mean"]].to_numpy()).T
        axes.errorbar(part["overlap"], part["mean"], abs(ends), fmt="o-", capsize=3, color=colour, label=label(name))
    axes.axhline(0, color=DARK, lw=0.8)
    axes.set(xlabel="share of the question's rare words on its gold page", ylabel="BM25 − dense", xlim=(0, 1))
    axes.legend(loc="upper left")
    return drawn


def gains_by_dose(found: pd.DataFrame, crossings: Mapping[str, Interval]) -> plt.Figure:
    """The difference by dose, words that are deleted to the left: a line per set, and a dashed one of the control.

    ``found``: :func:`lib.analysis.overlap_dose.effects` of several sets (column ``set``); ``crossings``: set to the
    dose at which its line crosses zero, which is marked unless it is NaN.
    """
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 4))
    signed = found.assign(dose=found["dose"].where(found["kind"] != DELETED, -found["dose"]))
    for colour, (name, of) in zip(COLOURS, signed.groupby("set", sort=False), strict=False):
        is_control = of["kind"] == CONTROL
        lines = (("o-", label(name), of[~is_control]), ("o--", "words of another page", of[is_control]))
        for form, text, part in lines:
            part = part.drop_duplicates("dose").sort_values("dose")
            ends = abs(part[["low", "high"]].to_numpy() - part[["mean"]].to_numpy()).T
            fill = "white" if "--" in form else colour
            axes.errorbar(part["dose"], part["mean"], ends, fmt=form, mfc=fill, ms=5, capsize=2, lw=1.4, color=colour)
            place = part["dose"].iloc[-1] + 0.3, part["mean"].iloc[-1]
            axes.text(*place, text, color=colour, va="center", fontsize=9)
        if name in crossings and not pd.isna(dose := crossings[name].mean):
            axes.plot(dose, 0, "D", color=colour, ms=9, mfc="white", mew=2, zorder=5)
            axes.annotate(f"{dose:+.1f}", (dose, 0), (6, -14), textcoords="offset points", color=colour)
    axes.axhline(0, color=DARK, lw=0.8)
    ticks = sorted({*signed["dose"]})
    axes.set(xlabel="rare words: deleted (−), appended (+)", ylabel="BM25 − dense", xticks=ticks)
    axes.set_xticklabels([f"{tick:+d}".replace("-", "−") if tick else "0" for tick in ticks])
    axes.set_xlim(right=ticks[-1] + 5.5)  # for the lines' names
    return drawn


def dose_finding(crossings: Mapping[str, Interval]) -> str:
    """At which dose BM25 and dense find equally much of each set, in one sentence; see :func:`gains_by_dose`."""
    form = "at {:+.1f} [{:+.1f}, {:+.1f}] words".format
    cells = {name: "at no dose" if pd.isna(one.mean) else form(*one[:3]) for name, one in crossings.items()}
    return ", ".join(f"{cell} on {name}" for name, cell in cells.items())


def most_deleted(found: pd.DataFrame) -> str:
    """What BM25 and dense find without words deleted, and with the most; ``found`` as of :func:`gains_by_dose`."""
    parts = {name: of.set_index("dose") for name, of in found[found["kind"] == DELETED].groupby("set", sort=False)}
    ends = {name: (*of["bm25"].iloc[[0, -1]], *of["dense"].iloc[[0, -1]]) for name, of in parts.items()}
    form = "BM25 {:.2f} → {:.2f} and dense {:.2f} → {:.2f}".format
    return "; ".join(f"{form(*of)} on {name}" for name, of in ends.items())


def coefficients_table(fits: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The coefficients of several fits side by side; a dash where a feature was left out."""
    shown = pd.DataFrame({"Feature": FEATURES.values()})
    for name, one in fits.items():
        column = interval(name)
        shown[name] = printed(one.set_index("feature").reindex([*FEATURES]), column)[name]
    return shown


def claims_table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts by set as they are printed: of ``claim`` (its id), and a column per set."""
    by_id, named = {claim.id: claim for claim in claims()}, sources()
    said = (
        Column("Source", "claim", lambda name: named[by_id[name].source]["name"]),
        Column("Claim", "claim", lambda name: by_id[name].claim),
    )
    return printed(verdicts, *said, *(Column(name, name) for name in verdicts.columns.drop("claim")))


def contradictions_table(found: pd.DataFrame, boards: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """:func:`lib.analysis.question_sets.resolutions`, a row per claim, with each set's verdict and what it measured."""
    said = {claim.id: claim.claim for claim in claims()}
    rows = []
    for one in found.to_dict("records"):
        for claim in (one["first"], one["second"]):
            cells = {name: _verdict_cell(board.loc[claim]) for name, board in boards.items()}
            row = {"About": one["about"], "Claim": said[claim]} | cells | {"Resolved": one["resolved"]}
            rows.append(row)
    return pd.DataFrame(rows)


def _verdict_cell(row: pd.Series) -> str:
    measured = "" if pd.isna(row["estimate"]) else f": {with_interval(*row[['estimate', 'low', 'high']])}"
    return row["verdict"] + measured


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

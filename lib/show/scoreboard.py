"""The scoreboard as the book shows it: a row per claim, a picture of all differences, and cost against quality."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from itertools import chain

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis import scoreboard as rules
from lib.analysis.claims import Claim, Entry, claims, entry, sources
from lib.analysis.facts import facts
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.show.display import SHOWN_WIDTH, escape_cell, p_value
from lib.show.figures import COLOURS, DARK, label_rows, spread_labels
from lib.show.tables import as_table, title
from lib.words import IN_WORDS

OF_VERDICTS = "#009E73", "#56B4E9", "#D55E00", "#555555", "#C9A9C9", "#EEEEEE", "#BBBBBB"
VERDICT_COLOURS = dict(zip(rules.VERDICTS, OF_VERDICTS, strict=False))
SHORT = {"corrected": "share corrected", "missed_by_both": "share missed by both"}
SHORT |= {"table_failure": "share of the kind", "stage_one": "gold among the first pages"}
SHORT |= {f"alpha_{percent}": f"document recall, weight .{percent}," for percent in rules.FIXED}
#: What the board has of each difference in the picture.
FOREST = "claim estimate low high bound amount p p_holm p_bh n verdict n_needed".split()
HEADS = "Claim,Their numbers,Here,Second measure,p,p (Holm),p (BH),Verdict,Would decide,n".split(",")
FAMILY_NAMES = {"main": "this study", "akarsu2026": "Akarsu", "kim2025": "Kim", "yepes2024": "Yepes"}
FAMILY_NAMES |= {"matched": "metadata match", "ordered": "page scorer, other orders"}
FAMILY_NAMES |= {"general": "Ahead, variants"}
FAMILY_COLOURS = dict(zip(FAMILY_NAMES, COLOURS, strict=False))
LEAST_S = {"question_s": 1e-3, "index_s": 1.0}


def measure_name(one: Entry) -> str:
    """A measure as tables name it: ``page recall@5``."""
    known = METRICS[one.metric].in_words if one.metric in METRICS else one.metric.replace("_", " ")
    return SHORT.get(one.metric, known) + ("" if one.k is None else f"@{one.k}")


def compared(claim: Claim, rival: str = "") -> str:
    """What is subtracted from what, in words; of a claim about several pairs the one that decides."""

    def side(entries: Sequence[Entry]) -> str:
        names = []
        for one in entries:
            shown = METHODS[one.row].title if one.row in METHODS else "best baseline"
            names.append(shown + ("" if one.condition == "standard" else f" ({IN_WORDS[one.condition]})"))
        names = list(dict.fromkeys(names))
        return f"mean of ({', '.join(names)})" if len(names) > 1 else names[0]

    if claim.kind == "argmax":
        return f"weight of dense with the highest {measure_name(entry('any', claim.metric))}"
    if claim.kind == "correlation":
        two = " and ".join(measure_name(side[0]) for side in (claim.b, claim.a))
        return f"correlation of {two}, {len(claim.a)} runs"
    left, right = rules.pairs_of(claim).get(rival, (claim.a, claim.b))
    asked = " and ".join(map(str, chain(*claim.only.values())))
    if claim.against:
        asked += f" less {' and '.join(map(str, chain(*claim.against.values())))}"
    measures = " and ".join(dict.fromkeys(map(measure_name, left)))
    if right and left[0].row == right[0].row and left[0].metric != right[0].metric:
        return f"{measures} − {measure_name(right[0])} of {side(left)}"
    return " − ".join(map(side, filter(None, (left, right)))) + f", {measures}" + (asked and f", {asked}")


def scoreboard_table(board: pd.DataFrame, source: str) -> pd.DataFrame:
    """The claims of one source that were measured, a row per claim and variant; cells are markup."""
    rows = []
    for claim in claims():
        row = board.loc[claim.id]
        if claim.source != source or row["verdict"] == rules.NOT_MEASURED:
            continue
        sign = "" if claim.kind in ("argmax", "correlation") or not claim.b else "+"
        ours = f"{row['estimate']:{sign}.3f} [{row['low']:{sign}.3f}, {row['high']:{sign}.3f}]"
        here = f"{ours} ({compared(claim, row['rival'])})" + (f"; {claim.note}" if claim.note else "")
        whole = claim.id.removesuffix(f"/{claim.variant}")
        is_below = claim.variant and board.at[whole, "verdict"] != rules.NOT_MEASURED
        said = f"{claim.claim} ({claim.place})" + (f", {claim.variant}" if claim.variant else "")
        second = "–"
        if not math.isnan(row["also_estimate"]):
            second = f"{measure_name(entry('any', claim.also))} {row['also_estimate']:+.3f}, p {p_value(row['also_p'])}"
        texts = f"– {claim.variant}" if is_below else said, "" if is_below else claim.numbers, here, second
        both = map(p_value, row[["p", "p_holm", "p_bh"]])
        rest = verdict_text(row, claim.says), needed_text(row["n_needed"]), f"{row['n']:.0f}"
        rows.append((*map(escape_cell, texts), *both, *rest))
    return pd.DataFrame(rows, columns=HEADS)


def verdict_text(row: pd.Series, says: str = ">") -> str:
    """The verdict; why none is drawn, or which side an undecided claim is on before correction."""
    reason = row["missing"]
    if row["verdict"] == rules.SAME:
        reason = next(claim.claim for claim in claims() if claim.id == reason)
    if row["verdict"] == rules.UNDECIDED:
        reason = direction(row, says)
    return f"**{row['verdict']}**" + (f": {escape_cell(reason)}" if reason else "")


def direction(row: pd.Series, says: str) -> str:
    """On which side of the bound the estimate is, uncorrected, and whether its whole interval is; empty for neither."""
    if says == "!=" or row["estimate"] == row["bound"]:
        return ""
    is_above = row["estimate"] > row["bound"]
    is_whole = row["low"] > row["bound"] if is_above else row["high"] < row["bound"]
    side = "for" if is_above == (says == ">") else "against"
    return f"uncorrected {side} it" + (", the whole interval" if is_whole else "")


def needed_text(needed: float) -> str:
    """The number of questions that would decide, to two figures, as the difference does not allow more."""
    if math.isnan(needed):
        return "–"
    if math.isinf(needed):
        return "no number, if this is all"
    scale = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    return f"about {int(math.ceil(needed / scale) * scale):,}"


def not_measured_table(board: pd.DataFrame, names: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """The claims that are not measured, variants left out, with the reason; cells are markup."""
    rows = []
    left_out = board.index[board["verdict"] == rules.NOT_MEASURED]
    for claim in (one for one in claims() if not one.variant and one.id in left_out):
        reason = claim.not_measured or escape_cell(board.at[claim.id, "missing"])
        said = map(escape_cell, (f"{claim.claim} ({claim.place})", claim.numbers))
        rows.append((names[claim.source]["name"], *said, reason))
    return pd.DataFrame(rows, columns=["Source", "Claim", "Their numbers", "Why not"])


def counts_table(board: pd.DataFrame, names: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """How many claims of each source have each verdict; variants are not counted."""
    source = pd.Series({claim.id: claim.source for claim in claims() if not claim.variant})
    table = pd.crosstab(source, board["verdict"].reindex(source.index))
    table = table.reindex(index=list(names), columns=list(rules.VERDICTS), fill_value=0)
    table.insert(0, "Claims", table.sum(axis=1))
    return table.rename(index=lambda key: names[key]["name"]).rename_axis("Source").reset_index()


def takeaway(board: pd.DataFrame) -> str:
    """How many claims have each verdict, and of how many none is drawn, in one sentence."""
    counts = board["verdict"].reindex([claim.id for claim in claims() if not claim.variant]).value_counts()
    counts = counts.reindex(rules.VERDICTS, fill_value=0)
    drawn, without = (
        {name: counts[name] for name in rules.VERDICTS if (name in rules.DRAWN) == is_drawn}
        for is_drawn in (True, False)
    )
    listed, other = (", ".join(f"{n} {name}" for name, n in part.items()) for part in (drawn, without))
    listed = listed.replace("holds", "hold") if drawn[rules.HOLDS] != 1 else listed
    return f"Of {counts.sum()} claims, {sum(drawn.values())} have a verdict: {listed}. No verdict: {other}."


def failures_table(failed: pd.DataFrame) -> pd.DataFrame:
    """The kinds of failed questions that Akarsu et al. report, in percent, beside ours by rules
    (:func:`lib.analysis.failures.failed_questions`)."""
    theirs = pd.Series(facts("akarsu2026").table("Table IV"))
    shown = failed[: len(theirs)].assign(theirs=theirs.to_numpy())
    shown["name"] = theirs.index.str.removesuffix("_pct").str.replace("_", " ")
    return as_table(shown.assign(share_first=shown["primary"] / shown["n_failed"]), "failed_beside_reported")


def forest(board: pd.DataFrame) -> plt.Figure:
    """Every difference with its interval, by source, in its verdict's colour, and a mark where it was claimed."""
    drawn_kinds = "difference", "every", "pairs"
    texts = {one.id: one for one in claims() if one.kind in drawn_kinds and not one.variant}
    part = board[board.index.isin(texts) & ~board["verdict"].isin([rules.NOT_MEASURED, rules.SAME])]
    order = {name: place for place, name in enumerate(sources())}
    part = part.loc[sorted(part.index, key=lambda name: order[texts[name].source])]
    of_source = [texts[name].source for name in part.index]
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 0.5 * len(part) + 1.4))
    claimed = {"ls": "", "marker": "D", "mfc": "white", "mec": DARK}
    for place, (_, row) in enumerate(part.iterrows()):
        colour = VERDICT_COLOURS[row["verdict"]]
        axes.plot([row["low"], row["high"]], [place, place], color=colour, lw=2)
        axes.plot(row["estimate"], place, "o", color=colour, ms=6)
        axes.plot(row["amount"], place, ms=5, **claimed)  # none where no amount is compared
        if row["bound"]:
            axes.plot([row["bound"]] * 2, [place - 0.3, place + 0.3], color=DARK, lw=1)
    axes.axvline(0, color=DARK, lw=0.8)
    axes.set_ylim(len(part) - 0.5, -0.5)
    label_rows(axes, [textwrap.fill(texts[name].claim.removesuffix("."), 46) for name in part.index])
    axes.tick_params(axis="y", labelsize=8)
    axes.set(xlabel="difference of the two sides of the claim, with its interval")
    for place in range(len(part)):
        if place == 0 or of_source[place] != of_source[place - 1]:
            axes.axhline(place - 0.5, color="#999999", lw=0.8)
            style = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "top", "fontsize": 9}
            axes.text(1.0, place - 0.45, sources()[of_source[place]]["name"], **style)
    seen = {verdict: colour for verdict, colour in VERDICT_COLOURS.items() if verdict in set(part["verdict"])}
    handles = [plt.Line2D([], [], color=c, marker="o", label=v) for v, c in seen.items()]
    handles += [plt.Line2D([], [], label="as claimed", **claimed)] if part["amount"].notna().any() else []
    axes.legend(handles=handles, loc="lower right", ncols=3, bbox_to_anchor=(1.0, 1.0), fontsize=9)
    drawn.tight_layout()
    return drawn


def cost_and_quality(table: pd.DataFrame, quality: str) -> plt.Figure:
    """Quality against seconds per question and seconds to index (:func:`lib.analysis.frontier.costs`) on log axes.

    Each frontier is a line. Only its rows are named, beside the picture; the others are dots.
    """
    drawn, panels = plt.subplots(2, 1, figsize=(SHOWN_WIDTH, 9.4))
    heads = {"question_s": "seconds per question", "index_s": "seconds to index all filings"}
    table = table.assign(family=[METHODS[name].family for name in table["method"]])
    for axes, (column, head), best in zip(panels, heads.items(), ("is_best", "is_best_index"), strict=True):
        known = table[table[column].notna()]
        _panel(axes, known.assign(x=known[column].clip(lower=LEAST_S[column])), best)
        axes.set(xscale="log", ylabel=quality, xlabel=f"{head} (at least {LEAST_S[column]:g})")
    shown = [family for family in FAMILY_NAMES if (table["family"] == family).any()]
    marks = [{"ls": "", "color": FAMILY_COLOURS[one], "label": FAMILY_NAMES[one]} for one in shown]
    marks.append({"color": DARK, "mfc": "none", "label": "frontier"})
    handles = [plt.Line2D([], [], **{"marker": "o"} | mark) for mark in marks]
    drawn.legend(handles=handles, ncols=4, loc="upper center", fontsize=9)
    drawn.subplots_adjust(left=0.09, right=0.64, top=0.93, bottom=0.06, hspace=0.25)
    return drawn


def _panel(axes: plt.Axes, table: pd.DataFrame, is_best: str) -> None:
    axes.scatter(table["x"], table["quality"], c=table["family"].map(FAMILY_COLOURS), s=34, zorder=3)
    best = table[table[is_best]].sort_values(["x", "quality"])
    axes.step(best["x"], best["quality"], where="post", color=DARK, lw=1, zorder=2)
    axes.scatter(best["x"], best["quality"], s=90, facecolors="none", edgecolors=DARK, zorder=4)
    gap = 0.075 * (np.ptp(table["quality"]) or 1.0)
    for row, height in zip(best.itertuples(), spread_labels(best["quality"], gap), strict=True):
        axes.annotate(
            textwrap.fill(title(row.method), 32), (row.x, row.quality), (1.02, height),
            textcoords=axes.get_yaxis_transform(), va="center", fontsize=9,
            arrowprops={"arrowstyle": "-", "color": "#999999", "lw": 0.6},
        )  # fmt: skip

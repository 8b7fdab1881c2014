"""The leaderboard page: every system on every question set over the filings side by side, with costs and run files.

The table is plain HTML, whole without a script; ``book/_static/leaderboard.js`` folds, filters and chooses columns.
"""

from typing import NamedTuple

import pandas as pd

from lib.book.board import COSTS, SHOWN, K, board
from lib.book.downloads import ZIP, folder_of
from lib.book.submissions import MOST_MIB
from lib.book.templates import filled
from lib.methods import METHODS, NEEDS
from lib.show.display import number, seconds, with_interval
from lib.show.markup import as_csv
from lib.study import Study

#: Columns of each question set, and then of all: name, head, and what a reader chooses to see it.
OF_A_SET = (
    ("rank", "Rank", ""),
    ("page_recall", "Page recall", ""),
    ("doc_recall", "Filing found", ""),
    ("reported", "Page recall, reported", ""),
    ("given", "Page recall, filing given", "more"),
    ("page_recall_pooled", "Page recall, pooled", "more"),
    ("mrr", "MRR of pages", "more"),
    ("ndcg", "nDCG of pages", "more"),
    ("run_s", "Seconds, all questions", "costs"),
)
OF_ALL = (
    ("needs", "Needs", ""),
    ("parameters", "Parameters, millions", ""),
    ("peak_mib", "Memory, MiB", ""),
    ("question_s", "Seconds per question", ""),
    ("tokens_written", "Tokens written", "costs"),
    ("tokens_read", "Tokens read", "costs"),
    ("pairs_scored", "Pairs scored", "costs"),
    ("index_s", "Seconds to index", "costs"),
)
GROUPS = {"types": "by question type", "forms": "by form", "more": "other measures", "costs": "all costs"}


class Column(NamedTuple):
    """A column of the page."""

    name: str  # of :func:`board`
    head: str
    group: str = ""  # of GROUPS; none where it is shown from the start
    of: str = ""  # the question set; none where it is of all


class Cell(NamedTuple):
    """A cell of the page."""

    text: str
    value: float | str | None  # that it sorts by; None where that is the text
    bar: str = ""  # of a share: its style, the value and the ends of its interval
    more: str = ""  # its interval


def columns_of(found: pd.DataFrame) -> list[Column]:
    """The columns of the page behind rank and method: those of each question set, then those of all."""
    columns = []
    for place, name in enumerate(dict.fromkeys(found["set"])):
        part = found[found["set"] == name].dropna(axis=1, how="all")
        kinds_of = [(one, one.partition(": ")[2], one.partition(": ")[0]) for one in part if ": " in one]
        wanted = [*(OF_A_SET[1:] if place == 0 else OF_A_SET), *kinds_of]
        columns += [Column(*one, name) for one in wanted if one[0] in part]
    return columns + [Column(*one) for one in OF_ALL if found[one[0]].notna().any()]


def cell(column: Column, row: dict) -> Cell:
    """The cell of a row of :func:`board` in a column of the page; a dash where there is no value."""
    name, value = column.name, row.get(column.name)
    if name == "needs":
        return Cell(value or "–", None)
    if value is None or pd.isna(value):
        return Cell("–", "")
    if name in SHOWN:
        ends = [row[f"{name}_low"], row[f"{name}_high"]]
        bar = "--v:{:.0%};--l:{:.0%};--h:{:.0%}".format(value, *ends)
        text, _, interval = with_interval(value, *ends).partition(" ")
        return Cell(text, value, bar, interval)
    if name in COSTS:
        return Cell(seconds(value), value)
    if name in ("rank", "run_s", "peak_mib", "parameters"):
        return Cell(f"{value:,.0f}", value)
    return Cell(number(value), value, f"--v:{value:.0%}")


def leaderboard_page(study: Study) -> str:
    """The page as MyST, with the table in HTML; its data are ``tables/leaderboard.csv``."""
    found = board(study)
    study.write("tables/leaderboard.csv", as_csv(found))
    columns, rows = columns_of(found), []
    for name, part in found.groupby("method", sort=False):
        by_set, shared = {one["set"]: one for one in part.to_dict("records")}, part.iloc[0].to_dict()
        runs = [(of, command(study, name, of), f"../_static/{folder_of(of, study)}/{name}.trec.gz") for of in by_set]
        cells = [cell(column, by_set.get(column.of, {}) if column.of else shared) for column in columns]
        rank = by_set.get(study.dataset.name, {}).get("rank", "–")
        rows.append(shared | {"rank": rank, "runs": runs, "cells": cells})
    given = {"columns": columns, "groups": GROUPS, "needs": NEEDS, "k": K, "zip": ZIP}
    sets = [*found.groupby("set", sort=False)["n"].first().items()]
    given |= {"set": study.dataset.name, "most_mib": MOST_MIB}
    return filled("leaderboard", rows=rows, sets=sets, n_families=found["family"].nunique(), **given)


def command(study: Study, method: str, question_set: str) -> str:
    """The command that remakes a row on a question set; none for a run from outside."""
    if method not in METHODS:
        return ""
    if question_set == study.dataset.name:
        return f"make notebook NB=03_baselines PARAMS='-p methods \"[{method}]\"'"
    return f"make measure DATASET={study.dataset.collection} QUESTIONS={question_set} METHODS={method}"

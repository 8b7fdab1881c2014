"""Which method to build, by what is there: metadata, labelled questions, a budget in tokens, questions that quote.

The tree was written by people who had seen these scores, so that those of its leaves are somewhat optimistic; each leaf
has its page recall on every question set that measures it, from :func:`lib.analysis.budget.by_budget`.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from lib.analysis.budget import CHUNKS, TOKENS
from lib.analysis.measured import times
from lib.analysis.reading import TESTED_AT
from lib.study import Study


class Leaf(NamedTuple):
    """A method of the table with the budget that it reads."""

    method: str
    unit: str = CHUNKS
    budget: int = 5


class Fork(NamedTuple):
    """A question about the reader's case."""

    question: str
    yes: "Fork | Leaf"
    no: "Fork | Leaf"


RANKER = "Can a trained ranker run: the one in this repository, or one trained on labelled questions?"
SHORT = f"Can {TESTED_AT:,} tokens of short chunks be read, and pages be opened where a chunk is not enough?"


def after_match(short: str, ranked: str, plain: str) -> Fork:
    """The branch of filings that a metadata match finds: short chunks, else a trained ranker, else neither."""
    return Fork(SHORT, yes=Leaf(short, TOKENS, TESTED_AT), no=Fork(RANKER, yes=Leaf(ranked), no=Leaf(plain)))


TREE = Fork(
    "Do the filings have metadata: company, fiscal year and form?",
    yes=after_match("fixed_128_records", "ahead", "parent_child_records"),
    no=Fork(
        "Do questions name a company and a year, and do the filings' cover pages?",
        yes=after_match("fixed_128_covers", "ahead_covers", "parent_child_covers"),
        no=Fork(
            "Do questions repeat words of the page, as when they were written from it?",
            yes=Leaf("bm25"),
            no=Leaf("fixed_128", TOKENS, TESTED_AT),
        ),
    ),
)
COLUMNS = ["when", "method", "title", "unit", "budget", "question_s", "command"]


def paths(tree: Fork | Leaf, before: tuple[tuple[str, bool], ...] = ()) -> Iterator[tuple[tuple, Leaf]]:
    """Each leaf with the questions that lead to it and their answers, from left to right."""
    if isinstance(tree, Leaf):
        yield before, tree
    else:
        yield from paths(tree.yes, (*before, (tree.question, True)))
        yield from paths(tree.no, (*before, (tree.question, False)))


def measuring(study: Study, methods: Iterable[str]) -> str:
    """The command that measures rows of a study."""
    return f'make measure{study.names.make_variables(study.dataset.collection)} METHODS="{" ".join(methods)}"'


def leaves(study: Study, budgets: pd.DataFrame) -> pd.DataFrame:
    """COLUMNS of each leaf of TREE that a set measures, and for each set of ``budgets`` (of
    :func:`lib.analysis.budget.by_budget`) page recall with its interval: ``<set>``, ``<set>_low``, ``<set>_high``, NaN
    where it was not measured.

    ``question_s`` is what a question took where the study was timed; ``command`` measures the row again.
    """
    keys, rows = [*Leaf._fields], []
    seconds = times(study).set_index("method")["question_s"]
    for when, leaf in paths(TREE):
        of_leaf = budgets[(budgets[keys] == list(leaf)).all(axis=1)]
        if of_leaf.empty:
            continue
        row = leaf._asdict() | {"when": when, "title": of_leaf["title"].iloc[0]}
        row |= {"question_s": seconds.get(leaf.method, float("nan"))}
        row["command"] = measuring(study, [leaf.method])
        for found in of_leaf.itertuples():
            row |= {found.set: found.page_recall, f"{found.set}_low": found.low, f"{found.set}_high": found.high}
        rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else COLUMNS)

"""Searching for each line item of a question's formula, without a language model.

A ratio needs rows of several statements, and so several pages. Question decomposition (Ammann, Golde & Akbik, ACL SRW
2025) searches for the parts of a question beside the question itself; here the parts are the items of its formula
(:mod:`lib.statements`). A question whose formula names fewer than two items keeps its ranking.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib import runs
from lib.files import digest_of_file
from lib.filings.identity import Identity, asked_period, filings_named
from lib.method import Search, memoized
from lib.retrievers import matched
from lib.retrievers.rewritten import hybrid_scores
from lib.retrievers.tables import sheet_of
from lib.statements.asked import Wanted, asked_for
from lib.statements.formulas import data_files, items, names_in
from lib.statements.labels import kinds
from lib.statements.reading import Reader
from lib.statements.rows import Sheet

STATEMENTS = {"income": "income statement", "balance": "balance sheet", "cash_flow": "cash flow statement"}
#: The run of one text in place of each question of some rows.
Rank = Callable[[np.ndarray, Sequence[str]], pd.DataFrame]


class Parts(NamedTuple):
    """What a question is searched for."""

    wanted: Wanted
    filings: frozenset[str]  # of the company that it names, by doc_name
    queries: dict[str, str]  # by line item, in the formula's order; none for fewer than two items


def parts_of(question: str, filings: Sequence[Identity]) -> Parts:
    """The parts of a question over some filings."""
    (named,) = filings_named([question], filings)
    wanted = asked_for(question, sorted(set(chain(*named.values()))))
    company = next((one.company for one in filings if one.doc_name in named), "")
    about, names = asked_period(question)._replace(company=company).header, names_in(wanted.formula)
    queries = {name: query_of(name, wanted, about) for name in names if len(names) > 1}
    return Parts(wanted, frozenset(named), queries)


def query_of(name: str, wanted: Wanted, about: str) -> str:
    """A line item as a query: ``Oskarvale 2023: capital expenditures, cash flow statement``."""
    words = words_of(name, wanted.rows.get(name, ""))
    return ", ".join(filter(None, [f"{about}: {words}", STATEMENTS.get(items().get(name, {}).get("kind"))]))


def words_of(name: str, otherwise: str = "") -> str:
    """A line item as statements call it, else in other words or by its name."""
    of_statement = kinds().get(items().get(name, {}).get("kind"), {"items": {}})["items"].get(name)
    return of_statement["asked"][0] if of_statement else otherwise or name.replace("_", " ")


@memoized
def parts(search: Search) -> list[Parts]:
    """The parts of each question."""
    filings = matched.identities(search, False)
    return [parts_of(question, filings) for question in search.questions["question"]]


def inputs(search: Search) -> list:
    """What the search for items depends on beside the questions and settings, JSON-able."""
    return [[one.queries for one in parts(search)], list(map(digest_of_file, data_files()))]


def has_row(sheet: Sheet, name: str, wanted: Wanted) -> bool:
    """Whether a page's tables have a line item in the year that is asked for."""
    return bool(Reader([sheet], wanted).cells(name, wanted.year or 0))


def item_runs(search: Search, rank: Rank) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """By turns the first item of every question that has one, the second and so on: the items by question id, and
    their run."""
    ids, queries = search.questions["question_id"].to_numpy(), [[*one.queries.items()] for one in parts(search)]
    for turn in range(max(map(len, queries), default=0)):
        rows = np.flatnonzero([turn < len(part) for part in queries])
        names, texts = zip(*(queries[row][turn] for row in rows), strict=True)
        yield dict(zip(ids[rows], names, strict=True)), rank(rows, texts)


def apart(search: Search, first: pd.DataFrame, rank: Rank) -> pd.DataFrame:
    """The run of the questions and those of their items as one, by each chunk's best rank, ties in this order: the
    first chunk of every list stands before all second ones, and one that two lists have counts once."""
    ranked = pd.concat([first, *(run for _, run in item_runs(search, rank))], ignore_index=True)
    return placed(ranked)


def again(search: Search, first: pd.DataFrame, rank: Rank, k: int) -> pd.DataFrame:
    """The run of the questions in which an item that no page of the first k chunks has is searched for: the first of
    the item's own k chunks whose page has it takes the last of these places; where none has it, nothing changes."""
    about = dict(zip(search.questions["question_id"], parts(search), strict=True))

    def has(row: tuple, name: str) -> bool:
        wanted, filings, _ = about[row.question_id]
        is_named = not filings or row.doc_name in filings
        return is_named and has_row(sheet_of(search, row.doc_name, row.page), name, wanted)

    def best(run: pd.DataFrame) -> dict[str, list]:
        top = run[run["rank"] <= k].sort_values(["question_id", "rank"])
        return {id: [*part.itertuples()] for id, part in top.groupby("question_id")}

    shown, found = best(first), []
    for item_of, run in item_runs(search, rank):
        for id, rows in best(run).items():
            if not any(has(row, item_of[id]) for row in shown.get(id, [])):
                found += [row for row in rows if has(row, item_of[id])][:1]
    new = first.loc[[]] if not found else pd.DataFrame(found)[list(first)].drop_duplicates(["question_id", "chunk_id"])
    turn = new.groupby("question_id").cumcount()
    new = new[turn < k - 1]
    n_new = new.groupby("question_id")["rank"].transform("size")
    return placed(pd.concat([new.assign(rank=k - n_new + 0.5), first], ignore_index=True))


def placed(ranked: pd.DataFrame) -> pd.DataFrame:
    """Rows as a run, by falling rank, equal ones in the given order, each chunk once at its best."""
    run = ranked.sort_values("rank", kind="stable").drop_duplicates(["question_id", "chunk_id"], ignore_index=True)
    return run.assign(rank=run.groupby("question_id").cumcount() + 1)


def scores(search: Search, first: pd.DataFrame, rank: Rank, k: int) -> np.ndarray:
    """Minus the rank, shape (n_questions, n_chunks), :func:`again` for a number of places, :func:`apart` for 0."""
    run = again(search, first, rank, k) if k else apart(search, first, rank)
    return runs.to_matrix(run, search.questions, search.chunks, -run["rank"].to_numpy(np.float32))


def score(search: Search, candidates: np.ndarray, *, first_stage: str, k: int = 0) -> np.ndarray:
    """:func:`scores` of ``first_stage``, a hybrid search of the filings that fit best by their records."""
    depth, about = search.profile.run.depth, (search.questions, search.chunks)

    def rank(rows: np.ndarray, texts: Sequence[str]) -> pd.DataFrame:
        asked = search.questions["question"].to_numpy(object, copy=True)
        asked[rows] = texts
        within = lambda allowed: runs.rank(hybrid_scores(search, asked, allowed), *about, depth)  # noqa: E731
        run = matched.run_within(search, candidates, False, within)
        return run[run["question_id"].isin(search.questions["question_id"].iloc[rows])]

    return scores(search, search.run(first_stage), rank, k)

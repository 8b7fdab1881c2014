"""What a method does that plain search does not: the families of the leaderboard, from the method table."""

import inspect

from lib.method import GENERAL, MATCHED, ORDERED
from lib.methods import METHODS, RECORDS

AHEAD, SCORERS, CHUNKS = "Ahead", "Page scorers", "Other chunks"
#: By the module that scores a row.
BY_MODULE = {
    "ahead.search": AHEAD,
    "page_scorer.search": SCORERS,
    "retrievers.rerank": "Rerankers",
    "retrievers.judged": "Chunks read by a language model",
    "retrievers.fusion": "Fusion",
    "retrievers.convex": "Fusion",
    "retrievers.contextual": "Context before each chunk",
    "retrievers.spans": "Context before each chunk",
    "retrievers.hyde": "Query rewriting",
    "retrievers.rewritten": "Query rewriting",
    "retrievers.expansion": "Query rewriting",
}
PLAIN = "One plain search"
#: Chunk tables that cut pages in another way; others write tables and titles in another way.
SIZES = ("fixed_", "elements")
TABLES = "Tables and titles as text"


def purpose(method: str) -> str:
    """The family of a row of the method table: after a metadata match, what else it does does not count, but for
    trained rows."""
    row = METHODS[method]
    name = inspect.getmodule(row.score).__name__.removeprefix("lib.")
    if row.uses and purpose(row.uses[0]) in (AHEAD, SCORERS):
        return purpose(row.uses[0])
    if row.family == MATCHED:
        return "Metadata match" if RECORDS in row.needs else "Metadata match from cover pages"
    if row.chunking:
        return CHUNKS if row.chunking.startswith(SIZES) else TABLES
    return CHUNKS if "parent_child" in row.settings else BY_MODULE.get(name, PLAIN)


def is_designed_here(method: str) -> bool:
    """Whether whoever designed a row had seen FinanceBench's questions: Ahead, the metadata match and page scorers with
    another order. Rows of papers and their settings are not, nor are standard ones."""
    row = METHODS[method]
    return purpose(method) == AHEAD or row.family in (MATCHED, ORDERED, GENERAL)

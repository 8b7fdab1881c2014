"""What the leaderboard says of a row of the method table beside its numbers."""

from lib.method import AHEAD, GENERAL, MATCHED, ORDERED
from lib.methods import METHODS


def purpose(method: str) -> str:
    """The family of a method on the leaderboard: what it does that plain search does not."""
    return METHODS[method].purpose


def is_designed_here(method: str) -> bool:
    """Whether whoever designed a row had seen FinanceBench's questions: Ahead, the metadata match and page scorers with
    another order. Rows of papers and their settings are not, nor are standard ones."""
    row = METHODS[method]
    return row.purpose == AHEAD or row.family in (MATCHED, ORDERED, GENERAL)

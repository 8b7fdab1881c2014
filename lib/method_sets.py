"""Sets of methods: those of a family, those that were asked for, and those that a profile measures."""

import re
from collections.abc import Sequence

import pandas as pd

from lib.method import APART, GENERAL, MAIN, MATCHED, OWN, SCORERS, unknown_method
from lib.methods import METHODS
from lib.metrics.frame import best
from lib.profile import Settings
from lib.schema import Condition, StudyError

#: Trained methods that the breakdowns and the answers look at beside the best baseline.
TRAINED = ("page_scorer", "ahead")

RERANKER = "reranker"
#: Rows that add something after the metadata match: what, and the matched row without it.
ADDED = {
    "dense_records_rerank": (RERANKER, "dense_records"),
    "hybrid_rrf_records_rerank": (RERANKER, "hybrid_rrf_records"),
    "multi_hyde_records_rerank": (RERANKER, "multi_hyde_records"),
    "dense_covers_rerank": (RERANKER, "dense_covers"),
    "hybrid_rrf_covers_rerank": (RERANKER, "hybrid_rrf_covers"),
    "multi_hyde_covers_rerank": (RERANKER, "multi_hyde_covers"),
    "multi_hyde_records": ("HyDE, several passages", "dense_records"),
    "contextual_hybrid_records": ("written contexts", "hybrid_rrf_records"),
    "multi_hyde_covers": ("HyDE, several passages", "dense_covers"),
    "contextual_hybrid_covers": ("written contexts", "hybrid_rrf_covers"),
}


def of_family(family: str = MAIN) -> list[str]:
    """The methods of the study itself, or those of one sibling study."""
    return [name for name, row in METHODS.items() if row.family == family]


def chosen(
    names: Sequence[str] | str | None, otherwise: Sequence[str] | None = None, what: str = "methods"
) -> list[str]:
    """The methods that were asked for, each once, or all of ``otherwise`` (by default those of the study itself).

    Names may come as one text, such as ``bm25 dense`` or ``[bm25, dense]``, as papermill passes lists. A StudyError
    names one that the table does not have, or the parameter, ``what``, that names none.
    """
    if names is None:
        return of_family() if otherwise is None else list(otherwise)
    names = re.findall(r"[\w-]+", names) if isinstance(names, str) else names
    if not names or not isinstance(names, (list, tuple)):
        raise StudyError(f"{what} is {names!r}: give names with spaces between, such as bm25 dense")
    if unknown := [name for name in names if name not in list(METHODS)]:
        raise unknown_method(unknown[0], METHODS)
    return list(dict.fromkeys(names))


def baselines() -> list[str]:
    """The study's own methods that are not trained on questions."""
    return [name for name in of_family() if not METHODS[name].is_trained]


def best_standard(means: pd.Series) -> str:
    """The standard method with the highest of some means by method, see :func:`lib.metrics.frame.best`.

    This is a choice on the test questions, as in the reproduced study: it flatters that method a little.
    """
    return best(means[means.index.isin(baselines())])


def siblings(profile: Settings) -> list[str]:
    """The sibling studies' methods that a profile runs: ``rows`` (``all`` or names) but for those of ``without``."""
    wanted, unwanted = profile.siblings.rows, profile.siblings.without
    names = [name for name, row in METHODS.items() if row.family not in OWN and name not in unwanted]
    return names if wanted == "all" else [name for name in names if name in wanted]


def measured(profile: Settings) -> list[tuple[str, Condition]]:
    """Every run of a study under a profile: name and condition; none of ``siblings.without``."""
    own = [name for family in OWN for name in of_family(family) if name not in profile.siblings.without]
    return [(name, condition) for name in own + siblings(profile) for condition in METHODS[name].conditions]


def over_all_filings(profile: Settings) -> list[str]:
    """The methods that a profile runs over all filings, in the order of :func:`measured`."""
    return [name for name, condition in measured(profile) if condition == "standard"]


def in_comparisons() -> list[str]:
    """The methods that are compared with one another: without those that repeat one (APART)."""
    return [name for name, row in METHODS.items() if row.family not in APART]


def compared(profile: Settings) -> list[tuple[str, Condition]]:
    """The runs of :func:`measured` that are compared with one another."""
    return [run for run in measured(profile) if METHODS[run[0]].family not in APART]


def added_behind(matched: Sequence[str], available: Sequence[str]) -> dict[str, tuple[str, str]]:
    """What available rows add after the metadata match: name → what, and the matched row that lacks it."""
    return {
        name: (what, base)
        for name, (what, base) in ADDED.items()
        if {name, base} <= {*available} and (what != RERANKER or base in matched)
    }


def by_knowledge(names: Sequence[str]) -> dict[str, list[str]]:
    """Groups of rows by what they know beside the question, from one of which the book names the best; a row may be in
    two, and is sorted by name."""
    groups = {
        "Standard methods": lambda row: row.name in baselines(),
        "All untrained methods, no metadata match": lambda row: (
            not row.is_trained and row.family not in (MATCHED, GENERAL)
        ),
        "Untrained, after the metadata match": lambda row: row.family == MATCHED,
        "Page scorers": lambda row: row.is_trained and row.purpose == SCORERS,
    }
    members = {group: sorted(name for name in names if is_in(METHODS[name])) for group, is_in in groups.items()}
    return {group: names for group, names in members.items() if names}

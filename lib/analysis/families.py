"""Which tests are corrected together (Holm, 1979): a contrast belongs to one family, so it has one p in every chapter.

Claims are in families by source, variants apart (chapter 8). A family of retrieval is a list of contrasts, a run beside
another in page recall, two-sided: the steps of Ahead (*ladder*), page scorers and their *rivals*, and the rows of each
of FAMILIES beside those that they change; *changes* are in none of these. A table that shows a whole family corrects
over its own rows; what shows single contrasts takes their p from :func:`corrected`.
"""

from collections.abc import Iterable
from itertools import pairwise, product

import pandas as pd

from lib.analysis.ladder import LADDER
from lib.method import MATCHED, ORDERED
from lib.method_sets import baselines, of_family
from lib.methods import METHODS
from lib.metrics.frame import Metrics, Run
from lib.stats import Resampling

FAMILIES = (MATCHED, "akarsu2026", "kim2025", "yepes2024")  # of rows of the method table
RUNG = "rung_page_recall/"  # before the name of a step of the ladder
RIVALS: list[Run] = ["dense_records", "parent_child_records", ("dense", "oracle-document")]
Contrast = tuple[Run, Run]


def family_of(form: str, base: str) -> str:
    """The family of a contrast of two rows, or of two steps of the ladder."""
    if form.startswith(RUNG):
        return "ladder" if (form, base) in members("ladder") else "changes"
    row = METHODS[form]
    if row.family == ORDERED and form.endswith("_records") and base in RIVALS:
        return "rivals"
    if row.changes != base or (row.family == MATCHED and base not in baselines()):
        return "changes"
    return row.family if row.family in FAMILIES else "changes"


def members(family: str) -> list[Contrast]:
    """The contrasts of a family of rows, or of the steps of the ladder."""
    if family == "ladder":
        climbed = "dense_records", *(RUNG + rung.name for rung in LADDER[1:])  # the untrained step is no part of it
        return [(form, base) for base, form in pairwise(climbed)]
    if family == "rivals":
        return list(product((name for name in of_family(ORDERED) if name.endswith("_records")), RIVALS))
    changing = [(name, row.changes) for name, row in METHODS.items() if row.changes]
    return [pair for pair in changing if family_of(*pair) == family]


def rival_titles(scorer: str, rival: Run) -> tuple[str, str]:
    """A pair of the family *rivals* as tables print it; all of them have their filings matched by records, or given."""
    known = "Dense, filing given" if isinstance(rival, tuple) else METHODS[rival].title
    short = METHODS[scorer].title.partition(", filings")[0]
    return short, known.replace("filings matched by records", "same match")


def corrected(draws: Resampling, metrics: Metrics, contrasts: Iterable[Contrast], k: int) -> pd.Series:
    """Holm's p of contrasts of page recall at k, each within its family, by contrast; of a family that is wider than
    the contrasts, those of its members count that were measured."""

    def values(one: Run) -> pd.Series:
        is_rung = isinstance(one, str) and one.startswith(RUNG)
        return metrics[("ahead", one, k) if is_rung else (one, "page_recall", k)]

    wanted, parts = list(contrasts), []
    for family in dict.fromkeys(family_of(*pair) for pair in wanted):
        pairs = dict.fromkeys([*(pair for pair in wanted if family_of(*pair) == family), *members(family)])
        pairs = [pair for pair in pairs if all(len(values(one)) for one in pair)]
        own, base = ({pair: values(pair[side]) for pair in pairs} for side in (0, 1))
        parts.append(draws.compare(base, own)["p_holm"])
    return pd.concat(parts).reindex(pd.Index(wanted, tupleize_cols=False))

"""Which tests are corrected together (Holm, 1979): a contrast belongs to one family, so it has one p in every chapter.

Claims are in families by source, variants apart (chapter 8). A family of retrieval is a list of contrasts, a run beside
another in page recall, two-sided: the steps of Ahead (*ladder*), page scorers and their *rivals*, and the rows of each
of FAMILIES beside those that they change; *changes* are in none of these. A table that shows a whole family corrects
over its own rows; what shows single contrasts takes their p from :func:`corrected`. A step of Ahead has the name of its
rung (:data:`lib.analysis.ladder.LADDER`), which is no method's.
"""

from collections.abc import Iterable
from itertools import pairwise, product

import pandas as pd

from lib.analysis.ladder import LADDER
from lib.method import MATCHED, ORDERED
from lib.method_sets import baselines, of_family
from lib.methods import METHODS
from lib.metrics.frame import Metrics, Run
from lib.stats import Resampling, compare_pairs

FAMILIES = (MATCHED, "akarsu2026", "kim2025", "yepes2024")  # of rows of the method table
RUNGS = [rung.name for rung in LADDER]
RIVALS: list[Run] = ["dense_records", "parent_child_records", ("dense", "oracle-document")]
Contrast = tuple[Run, Run]


def family_of(form: str, base: str) -> str:
    """The family of a contrast of two rows, or of two steps of the ladder."""
    if form in RUNGS:
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
        return [(form, base) for base, form in pairwise(["dense_records", *RUNGS[1:]])]  # without the untrained step
    if family == "rivals":
        return list(product((name for name in of_family(ORDERED) if name.endswith("_records")), RIVALS))
    changing = [(name, row.changes) for name, row in METHODS.items() if row.changes]
    return [pair for pair in changing if family_of(*pair) == family]


def rival_titles(scorer: str, rival: Run) -> tuple[str, str]:
    """A pair of the family *rivals* as tables print it, all after the metadata match or with the filing given."""
    known = "Dense, filing given" if isinstance(rival, tuple) else METHODS[rival].title
    short = METHODS[scorer].title.partition(", metadata match")[0]
    return short, known.replace("metadata match", "same match")


def page_recalls(metrics: Metrics, k: int) -> pd.DataFrame:
    """Page recall at k of every run that was measured: questions × runs."""
    found = {}
    for method, condition in metrics.runs:
        values = metrics[(method, condition), "page_recall", k]
        if len(values):
            found[method if condition == "standard" else (method, condition)] = values
    return pd.DataFrame(found)


def corrected(draws: Resampling, values: pd.DataFrame, contrasts: Iterable[Contrast]) -> pd.Series:
    """Holm's p of contrasts, each within its family, by contrast.

    ``values`` are :func:`page_recalls`, and of the ladder :func:`lib.analysis.ladder.rung_recalls`; of a family that is
    wider than the contrasts, those of its members count that were measured.
    """
    wanted, parts = list(contrasts), [pd.Series(dtype=float)]
    for family in dict.fromkeys(family_of(*pair) for pair in wanted):
        pairs = dict.fromkeys([*(pair for pair in wanted if family_of(*pair) == family), *members(family)])
        measured = [pair for pair in pairs if all(one in values for one in pair)]
        parts.append(compare_pairs(values, measured, draws)["p_holm"])
    return pd.concat(parts[1:] or parts).reindex(pd.Index(wanted, tupleize_cols=False))

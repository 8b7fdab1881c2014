"""How much it flatters a row to be the best of several: nested cross-validation (Varma & Simon, 2006).

A row that is chosen on the questions that it is scored on owes a part of its mean to luck with these. Here it is chosen
on all folds but one and scored on that one, with no company in two folds: the mean of the choice, not of a row.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.folds import assign_folds
from lib.method import GENERAL, MATCHED
from lib.method_sets import baselines
from lib.methods import METHODS

N_FOLDS, N_DRAWS = 5, 200


class Selection(NamedTuple):
    """The best of several rows, and what the choice finds on companies that it was not made on."""

    n_rows: int
    best: str  # on all questions; ties go to the first name
    mean: float  # of the best row
    nested: float  # of the rows that the other folds choose, over all draws; NaN where there is one company


def select(values: pd.DataFrame, company: Sequence[str], n_draws: int = N_DRAWS) -> Selection:
    """The :class:`Selection` among the columns of ``values``, questions × rows, with the company of each question."""
    values = values[sorted(values)]
    means, nested = values.mean().round(12), np.nan
    if len(set(company)) > 1:
        folds = np.stack([assign_folds(company, N_FOLDS, seed) for seed in range(n_draws)])
        is_tested = (folds[:, None] == np.arange(folds.max() + 1)[:, None]).reshape(-1, len(values))
        tested = is_tested.astype(float) @ values.to_numpy(float)  # sums, shape (n_draws · N_FOLDS, n_rows)
        best = (values.to_numpy(float).sum(axis=0) - tested).round(9).argmax(axis=1)
        nested = float(np.take_along_axis(tested, best[:, None], axis=1).sum() / folds.size)
    return Selection(values.shape[1], means.idxmax(), float(means.max()), nested)


def groups(rows: Sequence[str]) -> dict[str, list[str]]:
    """The rows by what they know beside the question, without empty groups; a row may be in two."""
    known = {name: METHODS[name] for name in rows}
    found = {
        "Baselines": [name for name in rows if name in baselines()],
        "All untrained rows, filings not matched": [
            name for name, row in known.items() if not row.is_trained and row.family not in (MATCHED, GENERAL)
        ],
        "Untrained, filings matched first": [name for name, row in known.items() if row.family == MATCHED],
        "Page scorers": [name for name, row in known.items() if row.is_trained and name.startswith("page_scorer")],
    }
    return {group: names for group, names in found.items() if names}

"""The weight of dense against BM25, swept from 0 to 1 by 0.025 (Kim et al., 2025).

It is swept under both normalisations of :mod:`lib.retrievers.convex`, as the best weight belongs to one of them. The
best one over all questions is a peek: it was chosen by the questions it is scored on. What the choice is worth is what
it gives in folds by company, whose test questions had no part in it.
"""

import pandas as pd

from lib.method import stored
from lib.metrics import METRICS
from lib.retrievers import convex
from lib.retrievers.convex import Normalisation
from lib.study import Study

#: Metrics of the sweep to their titles.
SWEPT = {name: f"{METRICS[name].title}@{k}" for name, k in zip(convex.METRICS, (5, 5, 10), strict=True)}
#: Rows whose weight is chosen in folds, by the normalisation of their scores.
CHOOSING: dict[Normalisation, str] = {"min_max": "convex_folds", "softmax": "convex_softmax_folds"}


def sweep(study: Study, normalisation: Normalisation = "min_max") -> pd.DataFrame:
    """What every ``alpha`` gives each question under the standard condition, as :mod:`lib.retrievers.convex` has it."""
    return _sweep(study, normalisation, study.profile.run.depth, list(convex.ALPHAS), convex.N_DENSE)


@stored("siblings/alpha", ["chunks", "questions"], ["embedder", "bm25"], version=2, public=True)
def _sweep(study: Study, normalisation: Normalisation, depth: int, alphas: list[float], n_dense: int) -> pd.DataFrame:
    return convex.alpha_values(study, study.candidates("standard"), normalisation)


def by_weight(values: pd.DataFrame) -> pd.DataFrame:
    """The values that choose a weight, questions × weights, of :func:`sweep`."""
    return values.pivot(index="question_id", columns="alpha", values=convex.CHOSEN_BY)

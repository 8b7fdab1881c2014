"""The weight of dense against BM25, swept from 0 to 1 by 0.025 (Kim et al., 2025).

It is swept under both normalisations of :mod:`lib.retrievers.convex`, as the best weight belongs to one of them. The
best one over all questions is tuned on test questions: those that it is scored on. What the choice is worth is what
it gives in folds by company, whose test questions had no part in it.
"""

from collections.abc import Mapping

import pandas as pd

from lib.folds import Fold, make_folds
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.retrievers import convex
from lib.retrievers.convex import Normalisation
from lib.stats import Resampling
from lib.study import Study

#: Metrics of the sweep to their titles.
SWEPT = {name: f"{METRICS[name].title}@{k}" for name, k in zip(convex.METRICS, (5, 5, 10), strict=True)}
#: Rows whose weight is chosen in folds, by the normalisation of their scores.
CHOOSING: dict[Normalisation, str] = {"min_max": "convex_folds", "softmax": "convex_softmax_folds"}
#: What the normalisations do, in words.
NORMALISED: dict[Normalisation, str] = {"min_max": "min-max scaled", "softmax": "softmax, first 100 by dense"}


def sweep(study: Study, normalisation: Normalisation = "min_max") -> pd.DataFrame:
    """What every ``alpha`` gives each question under the standard condition (:func:`convex.alpha_values`); stored."""
    params = {"normalisation": normalisation, "depth": study.profile.run.depth}
    params |= {"alphas": list(convex.ALPHAS), "n_dense": convex.N_DENSE}
    params |= {"chunks": study.digest("chunks"), "questions": study.digest("questions")}
    params["settings"] = study.settings_of(("embedder", "bm25"))

    def make() -> pd.DataFrame:
        return convex.alpha_values(study, study.candidates("standard"), normalisation)

    return study.store.frame("siblings/alpha", params, make, 2, public=True)


def by_weight(values: pd.DataFrame) -> pd.DataFrame:
    """The values that choose a weight, questions × weights, of :func:`sweep`."""
    return values.pivot(index="question_id", columns="alpha", values=convex.CHOSEN_BY)


def curves(swept: Mapping[str, pd.DataFrame], draws: Resampling) -> pd.DataFrame:
    """The mean of the metric that chooses a weight, by weight: normalisation, alpha, mean, low and high."""
    rows = []
    for name, values in swept.items():
        rows += [(name, alpha, *draws.interval(column)[:3]) for alpha, column in by_weight(values).items()]
    return pd.DataFrame(rows, columns=["normalisation", "alpha", "mean", "low", "high"])


def folds_of(study: Study) -> list[Fold]:
    """The folds by company in which the rows of CHOOSING choose their weight."""
    return make_folds(study.questions, study.filings, "company", **METHODS["convex_folds"].options)


def in_folds(values: pd.DataFrame, folds: list[Fold], question_ids: pd.Series) -> pd.DataFrame:
    """What each question gets under the weight that the other companies' questions choose: alpha and SWEPT, by
    ``question_id``, of :func:`sweep`."""
    chosen = pd.Series(0.0, question_ids)
    for fold, alpha in zip(folds, convex.chosen_alphas(values, folds, question_ids), strict=True):
        chosen.iloc[list(fold.test)] = alpha
    own = values[values["alpha"] == values["question_id"].map(chosen)]
    return own.set_index("question_id").loc[question_ids, ["alpha", *SWEPT]]


def ways_to_choose(
    swept: Mapping[Normalisation, pd.DataFrame], folds: list[Fold], question_ids: pd.Series
) -> pd.DataFrame:
    """The means of alpha and SWEPT for fixed weights, for the best one over all questions, and for those that folds
    choose: what, alpha, SWEPT, n and normalisation (in words); of each :func:`sweep`, no rows without folds."""
    parts = []
    for name, values in swept.items() if folds else ():
        fixed = {
            "BM25 alone": 0.0,
            "dense alone": 1.0,
            "best over all questions (tuned on test questions)": convex.best_alpha(values),
        }
        found = {what: values[values["alpha"] == alpha][["alpha", *SWEPT]].mean() for what, alpha in fixed.items()}
        found["chosen in folds by company"] = in_folds(values, folds, question_ids).mean()
        means = pd.DataFrame(found).T.rename_axis("what").reset_index()
        parts.append(means.assign(n=len(question_ids), normalisation=NORMALISED[name]))
    return pd.concat(parts) if parts else pd.DataFrame(columns=["what", "alpha", *SWEPT, "n", "normalisation"])

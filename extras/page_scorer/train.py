"""Training the folds of the page scorer ahead of the book, one by one where that is wanted."""

from collections.abc import Sequence

from lib.folds import By
from lib.page_scorer.full import fold_model, scores_entry, scores_of_model
from lib.page_scorer.pages import folds
from lib.study import Study


def train_folds(study: Study, by: Sequence[By] = ("company", "filing"), number: int | None = None) -> None:
    """Train and score the folds, or the one with a number; stored results are not computed again."""
    for kind in by:
        for fold in folds(study, kind):
            if number in (None, fold.number):
                scores_of_model(study, fold_model(study, fold), fold.test)
        if number is None:
            scores_entry(study, kind)

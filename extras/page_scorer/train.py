"""Training the folds of the page scorer ahead of the book, one by one where that is wanted."""

from collections.abc import Sequence

from lib.folds import By
from lib.page_scorer.full import fold_entry, scores_entry
from lib.page_scorer.pages import folds
from lib.study import Study


def train_folds(study: Study, by: Sequence[By] = ("company", "filing"), number: int | None = None) -> None:
    """Train and score the folds, or the one with a number; stored results are not computed again.

    ``make publish`` takes each fold that is scored, so that another machine goes on with the others.
    """
    for kind in by:
        for fold in folds(study, kind):
            if number in (None, fold.number):
                fold_entry(study, fold)
        if number is None:
            scores_entry(study, kind)

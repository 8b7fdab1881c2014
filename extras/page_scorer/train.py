"""Training the folds of the page scorer ahead of the book, one by one where that is wanted."""

from collections.abc import Sequence

from lib.folds import By
from lib.page_scorer.full import fold_model, scores_entry
from lib.page_scorer.pages import folds
from lib.study import Study


def train_folds(study: Study, by: Sequence[By] = ("company", "filing"), number: int | None = None) -> None:
    """Train the fold with a number, or train and score all; stored results are not computed again."""
    for kind in by:
        if number is None:
            scores_entry(study, kind)
        for fold in [] if number is None else folds(study, kind)[number : number + 1]:
            fold_model(study, fold)

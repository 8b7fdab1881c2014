"""Training the folds of the page scorer ahead of the book, one by one where that is wanted."""

from collections.abc import Iterator, Sequence

from lib.folds import By
from lib.page_scorer.experiments import cell_ranks, cells, fold_of_cell, recalls, recipe_of
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


def train_cells(
    study: Study, names: Sequence[str] = (), seeds: Sequence[int] = (), fold: int | None = None
) -> Iterator[str]:
    """Train cells of the experiment, see :mod:`lib.page_scorer.experiments`; yields a line of results for each.

    Args:
        study: whose questions.
        names: of cells, by default the profile's grid.
        seeds: by default the profile's.
        fold: only the fold with this number.
    """
    names = names or cells(study)
    for cell in names:
        recipe_of(study, cell, 0)  # a wrong name is found before hours of training
    for seed in seeds or study.profile.page_scorer_experiments.seeds:
        for cell in names:
            ranks = cell_ranks(study, cell, seed) if fold is None else fold_of_cell(study, cell, seed, fold)
            last = ranks[ranks["pool"] == "all"]
            means = recalls(last, (5, 20)).groupby(["metric", "k", "route"], sort=False)["value"].mean()
            page = ", ".join(f"{k[2]} @{k[1]} {mean:.3f}" for k, mean in means.loc[["page_recall"]].items())
            seconds = ranks[ranks["what"].isin(["train_s", "score_s"])].groupby("what")["value"].sum()
            yield f"{cell}, seed {seed}: page recall by route: {page}; {seconds.round().to_dict()}"

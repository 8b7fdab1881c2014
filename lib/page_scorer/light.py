"""The light page scorer: frozen page vectors and a small trained map, for people without a GPU.

The map is in :mod:`lib.page_scorer.residual_map`. How many steps of which size it takes, and whether pages are mapped too,
 is chosen inside the training questions of each fold, by folds of the same kind.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from lib.folds import By, Fold, assign_folds
from lib.models.weights import weights_hash
from lib.page_scorer.full import checked_pairs, folds
from lib.page_scorer.residual_map import LightScorer, Plan, gold_loss, plans, training
from lib.page_scorer.scores import load_scores, stored_scores
from lib.page_scorer.vectors import base_vectors, page_rows, page_texts
from lib.store import Entry


@dataclass(frozen=True)
class Vectors:
    """All that the light scorer reads: frozen vectors and which page is gold for which question."""

    questions: np.ndarray
    pages: np.ndarray
    gold: np.ndarray
    readable: np.ndarray

    def train(self, rows: Sequence[int], settings, plan: Plan, n_copies: int = 0):
        """:func:`training` on some questions, over the readable pages."""
        rows = list(rows)
        gold = self.gold[rows][:, self.readable]
        return training(self.questions[rows], self.pages[self.readable], gold, settings, plan, n_copies)


def fold_vectors(study, fold: Fold, without_page_zero: bool = False) -> Vectors:
    """The vectors of a fold; ``readable`` are the pages of its training filings.

    A page with the text of a gold page counts as gold, so that it is not learned to be wrong.
    """
    questions, pages = base_vectors(study)
    texts, row_of = np.array(page_texts(study), object), page_rows(study)
    gold = np.zeros((len(questions), len(pages)), bool)
    for row, question in zip(gold, study.questions.itertuples(), strict=True):
        for page in question.gold_pages:
            if page or not without_page_zero:
                row |= texts == texts[row_of[question.doc_name, page]]
    readable = study.pages["doc_name"].isin(fold.train_filings).to_numpy() & (texts != "")
    return Vectors(questions, pages, gold, readable)


def choose(
    vectors: Vectors, rows: Sequence[int], groups: Sequence[str], settings
) -> tuple[Plan, list[tuple[Plan, float]]]:
    """The plan, chosen on training questions alone.

    The questions are cut into inner folds by the same groups; each part's loss, among all readable pages, is measured
    under the maps trained on the others, and the plan with the least mean loss is taken (the earliest of equals).

    Args:
        vectors: a fold's vectors.
        rows: its training questions.
        groups: the group of each of them.
        settings: the profile's section ``page_scorer_light``.

    Returns:
        The plan, and the inner loss of each that was tried.
    """
    rows, inner = np.asarray(rows), assign_folds(groups, settings.inner_folds, settings.seed)
    losses: dict[Plan, float] = {}
    pages = torch.as_tensor(vectors.pages[vectors.readable])
    for plan in plans(settings):
        for number in range(inner.max() + 1):
            held_out = rows[inner == number]
            questions, gold = vectors.questions[held_out], vectors.gold[held_out][:, vectors.readable]
            for done, scorer in vectors.train(rows[inner != number], settings, plan):
                with torch.no_grad():
                    loss = gold_loss(scorer.scores(torch.as_tensor(questions), pages), torch.as_tensor(gold))
                losses[done] = losses.get(done, 0.0) + loss.item() * len(held_out) / len(rows)
    return min(losses, key=losses.get), list(losses.items())


def scorer_of(vectors: Vectors, rows: Sequence[int], settings, plan: Plan, n_copies: int = 0) -> LightScorer:
    """The scorer that a plan gives on the given questions."""
    return [scorer for _, scorer in vectors.train(rows, settings, plan, n_copies)][-1]


def fold_scores(study, fold: Fold) -> tuple[np.ndarray, dict]:
    """Train one fold; the scores of every page for its test questions (n_test, n_pages), and what was chosen.

    Raises:
        LeakError: the training data holds something of the test fold.
    """
    _, record = checked_pairs(study, fold)
    settings, vectors = study.profile.page_scorer_light, fold_vectors(study, fold)
    plan, losses = choose(vectors, fold.train, groups_of(study, fold.train, fold.by), settings)
    scorer = scorer_of(vectors, fold.train, settings, plan)
    curve = [tried._asdict() | {"loss": round(loss, 5)} for tried, loss in losses]
    return score_rows(scorer, vectors, fold.test), record | {"plan": plan._asdict(), "curve": curve}


def score_rows(scorer: LightScorer, vectors: Vectors, rows: Sequence[int]) -> np.ndarray:
    """The cosine of every page for the given questions, float32, shape (n_rows, n_pages)."""
    with torch.no_grad():
        return scorer.scores(
            torch.as_tensor(vectors.questions[list(rows)]), torch.as_tensor(vectors.pages)
        ).numpy()


def groups_of(study, rows: Sequence[int], by: By) -> list[str]:
    """The filing or company of the given questions."""
    doc_names = study.questions["doc_name"].iloc[list(rows)]
    if by == "filing":
        return doc_names.tolist()
    return doc_names.map(study.filings.set_index("doc_name")["company"]).tolist()


def page_scores(study, by: By) -> np.ndarray:
    """The score of every page for every question, as :func:`lib.page_scorer.full.page_scores` gives it."""
    return load_scores(study, scores_entry(study, by))


def choices(study, by: By) -> list[dict]:
    """Each fold's record: the check, the ``plan`` chosen inside its training questions, and the ``curve``."""
    return json.loads((scores_entry(study, by).path / "folds.json").read_text())


def scores_entry(study, by: By) -> Entry:
    """The stored scores and records of all folds, computed if they are not there."""
    parts = folds(study, by)
    params = {
        "settings": study.settings_of(("page_scorer_light",)),
        "weights": weights_hash(study.profile.embedder.weights),
        "precision": study.profile.embedder.precision,
        "by": by,
    }
    entry = stored_scores(study, f"page_scorer_light/scores/{by}", params, parts, partial(fold_scores, study))
    study.show(entry.path / "folds.json", f"folds/page_scorer_light-{by}.json")
    return entry

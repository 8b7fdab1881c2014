"""The light page scorer: frozen page vectors and a small trained map, for people without a GPU.

A residual map of low rank, ``x + B A x``, turns the question's vector (and, if that helps, the pages') so that the gold
pages come first among *all* pages that training may read, not among those of a batch (full softmax; cf. Henderson et
al., 2017, who sample it). The map starts as the identity. How many steps of which size it takes, and whether pages are
mapped too, is chosen inside the training questions of each fold, by folds of the same kind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, starmap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lib.folds import By, Fold, assign_folds
from lib.page_scorer.full import checked_pairs
from lib.page_scorer.pages import base_vectors, page_texts, scores_in_folds, text_by_page
from lib.profile import Settings
from lib.store import Entry
from lib.study import Study

if TYPE_CHECKING:
    from torch import Tensor

    from lib.page_scorer.residual import LightScorer


class Plan(NamedTuple):
    """How a map is trained: ``sides`` (SIDES of :mod:`lib.page_scorer.residual`), Adam's learning rate, and steps on
    all questions at once."""

    sides: str
    learning_rate: float
    steps: int


def plans(settings: Settings) -> list[Plan]:
    """The longest plan for each combination of sides and learning rate that a fold may choose from."""
    return list(starmap(Plan, product(settings.sides, settings.learning_rates, [settings.max_steps])))


@dataclass(frozen=True)
class FoldData:
    """All that the light scorer reads in a fold: frozen vectors, and which page is gold for which question."""

    questions: np.ndarray  # unit vectors, shape (n_questions, d)
    pages: np.ndarray  # unit vectors, shape (n_pages, d)
    gold: np.ndarray  # boolean, shape (n_questions, n_pages)
    readable: np.ndarray  # the pages that training may read, boolean, shape (n_pages,)
    groups: np.ndarray  # the filing or company of each question
    settings: Settings  # the profile's section ``page_scorer_light``

    def part(self, rows: Sequence[int]) -> tuple["Tensor", "Tensor", "Tensor"]:
        """The given questions, the readable pages, and which of these are gold."""
        import torch  # takes seconds

        rows = list(rows)
        parts = self.questions[rows], self.pages[self.readable], self.gold[rows][:, self.readable]
        return tuple(map(torch.as_tensor, parts))

    def train(self, rows: Sequence[int], plan: Plan, n_copies: int = 0) -> Iterator[tuple[Plan, "LightScorer"]]:
        """Train on the given questions at once with Adam; yields the state at 0 and every ``check_every`` steps."""
        from torch.optim import Adam

        from lib.page_scorer.residual import LightScorer, gold_loss

        questions, pages, gold = self.part(rows)
        scorer = LightScorer(questions.shape[1], self.settings.rank, plan.sides, self.settings.seed)
        optimizer = Adam(scorer.parameters(), lr=plan.learning_rate)
        yield plan._replace(steps=0), scorer
        for step in range(1, plan.steps + 1):
            optimizer.zero_grad()
            gold_loss(scorer(questions, pages), gold, n_copies).backward()
            optimizer.step()
            if step % self.settings.check_every == 0:
                yield plan._replace(steps=step), scorer

    def trained(self, rows: Sequence[int], plan: Plan, n_copies: int = 0) -> "LightScorer":
        """The scorer at the end of a plan."""
        return [scorer for _, scorer in self.train(rows, plan, n_copies)][-1]

    def scores(self, scorer: "LightScorer", rows: Sequence[int]) -> np.ndarray:
        """The cosine of every page for the given questions, float32, shape (n_rows, n_pages)."""
        import torch

        with torch.no_grad():
            return scorer(torch.as_tensor(self.questions[list(rows)]), torch.as_tensor(self.pages)).numpy()

    def choose(self, rows: Sequence[int]) -> tuple[Plan, list[tuple[Plan, float]]]:
        """The plan, chosen on the given training questions alone, and the inner loss of each that was tried.

        The questions are cut into inner folds by their groups; each part's loss, among all readable pages, is measured
        under the maps trained on the others, and the plan with the least mean loss is taken (the earliest of equals).
        """
        from lib.page_scorer.residual import gold_loss

        rows, losses = np.asarray(rows), {}
        inner = assign_folds(self.groups[rows].tolist(), self.settings.inner_folds, self.settings.seed)
        for plan, number in product(plans(self.settings), range(inner.max() + 1)):
            held_out = rows[inner == number]
            questions, pages, gold = self.part(held_out)
            for done, scorer in self.train(rows[inner != number], plan):
                loss = gold_loss(scorer(questions, pages), gold)
                losses[done] = losses.get(done, 0.0) + loss.item() * len(held_out) / len(rows)
        return min(losses, key=losses.get), list(losses.items())


def fold_data(study: Study, fold: Fold, without_page_zero: bool = False) -> FoldData:
    """The data of a fold; ``readable`` are the pages of its training filings that have text.

    A page with the text of a gold page counts as gold, so that it is not learned to be wrong.
    """
    questions, pages = base_vectors(study)
    texts, text_of = np.array(page_texts(study), object), text_by_page(study)
    gold = np.zeros((len(questions), len(pages)), bool)
    for row, question in zip(gold, study.questions.itertuples(), strict=True):
        for page in question.gold_pages:
            if page or not without_page_zero:
                row |= texts == text_of[question.doc_name, page]
    readable = study.pages["doc_name"].isin(fold.train_filings).to_numpy() & (texts != "")
    groups = study.questions["doc_name"]
    if fold.by == "company":
        groups = groups.map(study.filings.set_index("doc_name")["company"])
    return FoldData(questions, pages, gold, readable, groups.to_numpy(), study.profile.page_scorer_light)


def score_fold(study: Study, fold: Fold) -> tuple[np.ndarray, dict]:
    """Train one checked fold; the scores of every page for its test questions (n_test, n_pages), and a record."""
    _, record = checked_pairs(study, fold)
    data = fold_data(study, fold)
    plan, losses = data.choose(fold.train)
    curve = [tried._asdict() | {"loss": round(loss, 5)} for tried, loss in losses]
    found = data.scores(data.trained(fold.train, plan), fold.test)
    return found, record | {"plan": plan._asdict(), "curve": curve}


def scores_entry(study: Study, by: By) -> Entry:
    """The stored scores of all folds and their records, with the chosen ``plan``; computed if they are missing."""
    params = {"settings": dict(study.profile.page_scorer_light)}
    return scores_in_folds(study, f"page_scorer_light/scores/{by}", by, score_fold, params, public=True)

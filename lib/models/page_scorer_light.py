"""The light page scorer: frozen page vectors and a small trained map, for people without a GPU.

A residual map of low rank, ``x + B A x``, turns the question's vector (and, if that helps, the pages') so that the gold
pages come first among *all* pages that training may read, not among those of a batch (full softmax; cf. Henderson et
al., 2017, who sample it). The map starts as the identity. How many steps of which size it takes, and whether pages are
mapped too, is chosen inside the training questions of each fold, by folds of the same kind.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from lib.folds import By, Fold, assign_folds
from lib.models.page_scorer import checked_pairs, folds
from lib.models.page_scores import load_scores, stored_scores
from lib.models.page_vectors import base_vectors, page_rows, page_texts
from lib.models.weights import weights_hash
from lib.store import Entry

SCALE = 20.0
SIDES = ("question", "both")


class ResidualMap(torch.nn.Module):
    """``x + B A x``, then unit length; B starts at zero, so an untrained map changes nothing.

    Args:
        dimension: of the vectors.
        rank: of the change.
        seed: of A's first values.
    """

    def __init__(self, dimension: int, rank: int, seed: int):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.down = torch.nn.Parameter(torch.randn(rank, dimension, generator=generator) / dimension**0.5)
        self.up = torch.nn.Parameter(torch.zeros(dimension, rank))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Map unit vectors (n, dimension) to unit vectors."""
        return torch.nn.functional.normalize(vectors + vectors @ self.down.T @ self.up.T, dim=1)


@dataclass
class LightScorer:
    """A map for each side; ``None`` leaves the pages as they are."""

    question: ResidualMap
    page: ResidualMap | None

    @classmethod
    def new(cls, dimension: int, rank: int, sides: str, seed: int) -> "LightScorer":
        """An untrained scorer that maps the ``question`` side or ``both``."""
        if sides not in SIDES:
            raise ValueError(f"sides {sides!r}: say one of {', '.join(SIDES)}")
        return cls(
            ResidualMap(dimension, rank, seed),
            ResidualMap(dimension, rank, seed + 1) if sides == "both" else None,
        )

    def scores(self, questions: torch.Tensor, pages: torch.Tensor) -> torch.Tensor:
        """The cosine of every page for every question, shape (n_questions, n_pages)."""
        return self.question(questions) @ (self.page(pages) if self.page else pages).T

    def parameters(self) -> list[torch.nn.Parameter]:
        """All that is trained."""
        return [*self.question.parameters(), *(self.page.parameters() if self.page else ())]


def gold_loss(scores: torch.Tensor, gold: torch.Tensor, n_copies: int = 0) -> torch.Tensor:
    """The mean over questions of the mean over their gold pages of ``-log softmax``, other gold pages left out.

    Args:
        scores: cosines, shape (n_questions, n_pages).
        gold: which pages are gold, boolean, same shape, one a row at least.
        n_copies: how often each gold page also stands among its question's negatives; 0 is right. More shows what
            pairs that are sampled several times into a batch do.
    """
    logits = SCALE * scores
    row, column = gold.nonzero(as_tuple=True)
    found = logits[row, column]
    rivals = torch.logaddexp(found, logits.masked_fill(gold, -torch.inf).logsumexp(dim=1)[row])
    if n_copies:
        copies = logits.masked_fill(~gold, -torch.inf).logsumexp(dim=1)[row]
        rivals = torch.logaddexp(rivals, copies + math.log(n_copies))
    return ((rivals - found) / gold.sum(dim=1)[row]).sum() / len(gold)


class Plan(NamedTuple):
    """How a map is trained.

    Attributes:
        sides: what is mapped, one of SIDES.
        learning_rate: Adam's.
        steps: steps on all questions at once.
    """

    sides: str
    learning_rate: float
    steps: int


def training(
    questions: np.ndarray, pages: np.ndarray, gold: np.ndarray, settings, plan: Plan, n_copies: int = 0
) -> Iterator[tuple[Plan, LightScorer]]:
    """Train on all questions at once with Adam; yields what was done so far, at 0 and every ``check_every`` steps.

    Args:
        questions: unit vectors, shape (n_questions, d).
        pages: unit vectors of every page that training may read, shape (n_pages, d).
        gold: boolean, shape (n_questions, n_pages).
        settings: the profile's section ``page_scorer_light``.
        plan: sides, learning rate and the number of steps.
        n_copies: see :func:`gold_loss`.
    """
    questions, pages, gold = torch.as_tensor(questions), torch.as_tensor(pages), torch.as_tensor(gold)
    scorer = LightScorer.new(questions.shape[1], settings.rank, plan.sides, settings.seed)
    optimizer = torch.optim.Adam(scorer.parameters(), lr=plan.learning_rate)
    yield plan._replace(steps=0), scorer
    for step in range(1, plan.steps + 1):
        optimizer.zero_grad()
        gold_loss(scorer.scores(questions, pages), gold, n_copies).backward()
        optimizer.step()
        if step % settings.check_every == 0:
            yield plan._replace(steps=step), scorer


def plans(settings) -> list[Plan]:
    """The longest plan for each combination of sides and learning rate that a fold may choose from."""
    return [
        Plan(sides, rate, settings.max_steps) for sides in settings.sides for rate in settings.learning_rates
    ]


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
    """The score of every page for every question, as :func:`lib.models.page_scorer.page_scores` gives it."""
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

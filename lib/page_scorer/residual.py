"""The residual map of :mod:`lib.page_scorer.light`, its loss, and how it is trained in a fold, in torch."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import torch

from lib.folds import assign_folds
from lib.profile import Settings

SCALE = 20.0


class ResidualMap(torch.nn.Module):
    """``x + B A x``, then unit length; B starts at zero, so an untrained map changes nothing."""

    def __init__(self, dimension: int, rank: int, seed: int):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.down = torch.nn.Parameter(torch.randn(rank, dimension, generator=generator) / dimension**0.5)
        self.up = torch.nn.Parameter(torch.zeros(dimension, rank))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Unit vectors (n, dimension) as unit vectors."""
        return torch.nn.functional.normalize(vectors + vectors @ self.down.T @ self.up.T, dim=1)


class LightScorer(torch.nn.Module):
    """Cosines between mapped questions and pages; ``sides`` says what is mapped: ``question`` or ``both``."""

    def __init__(self, dimension: int, rank: int, sides: str, seed: int):
        super().__init__()
        self.question = ResidualMap(dimension, rank, seed)
        self.page = ResidualMap(dimension, rank, seed + 1) if sides == "both" else torch.nn.Identity()

    def forward(self, questions: torch.Tensor, pages: torch.Tensor) -> torch.Tensor:
        """The cosine of every page for every question, shape (n_questions, n_pages)."""
        return self.question(questions) @ self.page(pages).T


def gold_loss(scores: torch.Tensor, gold: torch.Tensor, n_copies: int = 0) -> torch.Tensor:
    """The mean over questions of the mean over their gold pages of ``-log softmax``, other gold pages left out.

    ``scores`` are cosines, (n_questions, n_pages); ``gold`` has one page or more in each row; ``n_copies`` says how
    often a gold page is also among its question's negatives: more than 0 is a mistake.
    """
    logits = SCALE * scores
    row, column = gold.nonzero(as_tuple=True)
    gold_logits = logits[row, column]
    rivals = torch.logaddexp(gold_logits, logits.masked_fill(gold, -torch.inf).logsumexp(dim=1)[row])
    if n_copies:
        copies = logits.masked_fill(~gold, -torch.inf).logsumexp(dim=1)[row]
        rivals = torch.logaddexp(rivals, copies + math.log(n_copies))
    return ((rivals - gold_logits) / gold.sum(dim=1)[row]).sum() / len(gold)


class Plan(NamedTuple):
    """How a map is trained."""

    sides: str
    learning_rate: float  # Adam's
    steps: int  # each on all questions


@dataclass(frozen=True)
class FoldData:
    """All that the light page scorer reads in a fold."""

    questions: np.ndarray  # unit vectors, shape (n_questions, d)
    pages: np.ndarray  # unit vectors, shape (n_pages, d)
    gold: np.ndarray  # boolean, shape (n_questions, n_pages)
    readable: np.ndarray  # the pages that training may read, boolean, shape (n_pages,)
    groups: np.ndarray  # the filing or company of each question
    settings: Settings  # the profile's section ``page_scorer_light``
    twins: np.ndarray | None = None  # those of a held-out question leave inner training too, (n_questions, n_questions)

    def part(self, rows: Sequence[int]) -> tuple[torch.Tensor, ...]:
        """The given questions, the readable pages, and which of these are gold."""
        rows = list(rows)
        parts = self.questions[rows], self.pages[self.readable], self.gold[rows][:, self.readable]
        return tuple(map(torch.as_tensor, parts))

    def train(self, rows: Sequence[int], plan: Plan, n_copies: int = 0) -> Iterator[tuple[Plan, LightScorer]]:
        """Train on the given questions at once with Adam; yields the state at 0 and every ``check_every`` steps."""
        questions, pages, gold = self.part(rows)
        scorer = LightScorer(questions.shape[1], self.settings.rank, plan.sides, self.settings.seed)
        optimizer = torch.optim.Adam(scorer.parameters(), lr=plan.learning_rate)
        yield plan._replace(steps=0), scorer
        for step in range(1, plan.steps + 1):
            optimizer.zero_grad()
            gold_loss(scorer(questions, pages), gold, n_copies).backward()
            optimizer.step()
            if step % self.settings.check_every == 0:
                yield plan._replace(steps=step), scorer

    def trained(self, rows: Sequence[int], plan: Plan, n_copies: int = 0) -> LightScorer:
        """The scorer at the end of a plan."""
        return [scorer for _, scorer in self.train(rows, plan, n_copies)][-1]

    def scores(self, scorer: LightScorer, rows: Sequence[int]) -> np.ndarray:
        """The cosine of every page for the given questions, float32, shape (n_rows, n_pages)."""
        with torch.no_grad():
            return scorer(torch.as_tensor(self.questions[list(rows)]), torch.as_tensor(self.pages)).numpy()

    def choose(self, rows: Sequence[int]) -> tuple[Plan, list[tuple[Plan, float]]]:
        """The plan with the least mean loss in inner folds of the given questions, and the loss of each one tried."""
        rows, losses, settings = np.asarray(rows), {}, self.settings
        inner = assign_folds(self.groups[rows].tolist(), settings.inner_folds, settings.seed)
        for sides, rate, number in product(settings.sides, settings.learning_rates, range(inner.max() + 1)):
            held_out, learnt = rows[inner == number], rows[inner != number]
            if self.twins is not None:
                learnt = learnt[~self.twins[learnt][:, held_out].any(axis=1)]
            questions, pages, gold = self.part(held_out)
            for done, scorer in self.train(learnt, Plan(sides, rate, settings.max_steps)):
                loss = gold_loss(scorer(questions, pages), gold)
                losses[done] = losses.get(done, 0.0) + loss.item() * len(held_out) / len(rows)
        return min(losses, key=losses.get), list(losses.items())

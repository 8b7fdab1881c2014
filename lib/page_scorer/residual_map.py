"""A small trained map over frozen vectors, and how it is trained.

A residual map of low rank, ``x + B A x``, turns the question's vector (and, if that helps, the pages') so that the gold
pages come first among *all* pages that training may read, not among those of a batch (full softmax; cf. Henderson et
al., 2017, who sample it). The map starts as the identity.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

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

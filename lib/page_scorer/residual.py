"""The residual map of :mod:`lib.page_scorer.light` and its loss, in torch."""

import math

import torch

SCALE = 20.0
SIDES = ("question", "both")  # what is mapped


class ResidualMap(torch.nn.Module):
    """``x + B A x``, then unit length; B starts at zero, so an untrained map changes nothing."""

    def __init__(self, dimension: int, rank: int, seed: int):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.down = torch.nn.Parameter(torch.randn(rank, dimension, generator=generator) / dimension**0.5)
        self.up = torch.nn.Parameter(torch.zeros(dimension, rank))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Map unit vectors (n, dimension) to unit vectors."""
        return torch.nn.functional.normalize(vectors + vectors @ self.down.T @ self.up.T, dim=1)


class LightScorer(torch.nn.Module):
    """Cosines between mapped questions and pages; ``sides`` (SIDES) says whether pages are mapped too."""

    def __init__(self, dimension: int, rank: int, sides: str, seed: int):
        super().__init__()
        if sides not in SIDES:
            raise ValueError(f"sides {sides!r}: choose one of {', '.join(SIDES)}")
        self.question = ResidualMap(dimension, rank, seed)
        self.page = ResidualMap(dimension, rank, seed + 1) if sides == "both" else torch.nn.Identity()

    def forward(self, questions: torch.Tensor, pages: torch.Tensor) -> torch.Tensor:
        """The cosine of every page for every question, shape (n_questions, n_pages)."""
        return self.question(questions) @ self.page(pages).T


def gold_loss(scores: torch.Tensor, gold: torch.Tensor, n_copies: int = 0) -> torch.Tensor:
    """The mean over questions of the mean over their gold pages of ``-log softmax``, other gold pages left out.

    Args:
        scores: cosines, shape (n_questions, n_pages).
        gold: which pages are gold, boolean, same shape, at least one per row.
        n_copies: how often each gold page is also among its question's negatives; 0 is right, more is a mistake.
    """
    logits = SCALE * scores
    row, column = gold.nonzero(as_tuple=True)
    found = logits[row, column]
    rivals = torch.logaddexp(found, logits.masked_fill(gold, -torch.inf).logsumexp(dim=1)[row])
    if n_copies:
        copies = logits.masked_fill(~gold, -torch.inf).logsumexp(dim=1)[row]
        rivals = torch.logaddexp(rivals, copies + math.log(n_copies))
    return ((rivals - found) / gold.sum(dim=1)[row]).sum() / len(gold)

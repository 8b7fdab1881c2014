"""Batches of (question, gold page) pairs in which no gold page is another pair's negative."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from sentence_transformers.base.sampler import DefaultBatchSampler


def false_negatives(pairs: pd.DataFrame) -> np.ndarray:
    """Which pairs must not meet in a batch, since one's page is (or reads as) a gold page of the other's question.

    Returns:
        Symmetric boolean matrix (n_pairs, n_pairs), false on the diagonal.
    """
    texts_of = pairs.groupby("question")["text"].agg(set)
    gold = [texts_of[question] for question in pairs["question"]]
    clash = np.array([[text in wanted for text in pairs["text"]] for wanted in gold]).reshape(
        len(pairs), len(pairs)
    )
    clash |= clash.T
    np.fill_diagonal(clash, False)
    return clash


class GoldAwareBatches(DefaultBatchSampler):
    """Batches without false negatives: each epoch holds every pair once, in batches as equal as can be.

    Pairs that clash with others are laid first, each into the emptiest batch that holds none of the others; so many
    batches are taken that this always succeeds: a pair finds at most its clashes' batches and the full ones closed.
    The size of an epoch therefore never changes, which the trainer's schedule relies on.

    Args:
        clash: which pairs must not meet, (n_pairs, n_pairs).
        batch_size: pairs a batch, at most.
        seed: the batches of epoch ``e`` are those of ``seed + e``.
    """

    def __init__(self, clash: np.ndarray, batch_size: int, seed: int = 0):
        super().__init__(range(len(clash)), batch_size=batch_size, drop_last=False, seed=seed)
        self.clash = clash
        degrees = clash.sum(axis=1)
        n_clashing = int((degrees > 0).sum())
        closed = int(degrees.max()) + 1 + max(n_clashing - 1, 0) // batch_size if n_clashing else 0
        self.n_batches = min(len(clash), max(-(-len(clash) // batch_size), closed))

    def __len__(self) -> int:
        return self.n_batches

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.clash), generator=generator).numpy()
        order = order[np.argsort(~self.clash.any(axis=1)[order], kind="stable")]
        batches: list[list[int]] = [[] for _ in range(self.n_batches)]
        for pair in order.tolist():
            open_ones = [b for b in batches if len(b) < self.batch_size and not self.clash[pair, b].any()]
            min(open_ones, key=len).append(pair)
        for index in torch.randperm(self.n_batches, generator=generator).tolist():
            yield batches[index]


def gold_aware_batches(pairs: pd.DataFrame, batch_size: int, seed: int) -> GoldAwareBatches:
    """The batches of :class:`GoldAwareBatches` for pairs."""
    return GoldAwareBatches(false_negatives(pairs), batch_size, seed)

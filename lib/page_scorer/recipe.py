"""How an encoder is trained and what it reads meanwhile; :mod:`lib.page_scorer.training` does it."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from lib.profile import Settings

if TYPE_CHECKING:
    from lib.page_scorer.layers import Inputs, Trainee

NEGATIVES = ("batch", "filing", "all")
PUBLISHED = ("epochs", "max_tokens", "learning_rate", "batch_size", "warmup", "seed", "train_precision")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How an encoder is trained. What has a default is as published by default.

    Attributes:
        epochs: passes over the pairs, of each source.
        max_tokens: read of a page and of a question.
        learning_rate, batch_size, warmup, seed: AdamW's highest rate, pairs a step, share of the steps before it.
        train_precision: ``bfloat16``, ``float32`` or ``auto``.
        negatives: ``batch``; ``filing``: drawn from the gold page's filing and from the same page of other years too;
            ``all``: every page that training may read.
        n_negatives: pages encoded for each pair of a batch beside its gold page, unless ``negatives`` is ``batch``.
        header: whether company, period and form stand before a page's text.
        frozen_layers: see :class:`lib.page_scorer.layers.Trainee`.
        dropout: likewise.
        sources: ``gold`` or ``silver`` questions, or both, one after the other.
        silver_epochs: passes over the silver pairs.
    """

    epochs: int
    max_tokens: int
    learning_rate: float
    batch_size: int
    warmup: float
    seed: int
    train_precision: str
    negatives: str = "batch"
    n_negatives: int = 0
    header: bool = False
    frozen_layers: int = 0
    dropout: bool = True
    sources: tuple[str, ...] = ("gold",)
    silver_epochs: int = 1

    def __post_init__(self):
        for value, known in (
            (self.negatives, NEGATIVES),
            *((one, ("gold", "silver")) for one in self.sources),
        ):
            if value not in known:
                raise ValueError(f"{value!r} in a recipe: choose one of {', '.join(known)}")

    @classmethod
    def of(cls, section: Settings, **changes: object) -> Self:
        """The recipe of a section of the profile, which may lack what has a default."""
        given = {one.name: section[one.name] for one in fields(cls) if one.name in section} | changes
        return cls(**given | {"sources": tuple(given.get("sources", ("gold",)))})

    def params(self) -> dict:
        """What a trained model depends on, JSON-able; the published recipe has no other settings than PUBLISHED."""
        defaults = {one.name: one.default for one in fields(self) if one.name not in PUBLISHED}
        given = asdict(self) | {"sources": list(self.sources)}
        return {name: given[name] for name in given if getattr(self, name) != defaults.get(name)}

    def trainee(self, weights: Path) -> "Trainee":
        """The encoder of a directory, to be trained so."""
        from lib.page_scorer.layers import Trainee  # loads torch, which takes seconds

        return Trainee(weights, self.max_tokens, self.train_precision, self.frozen_layers, self.dropout)


class Phase(NamedTuple):
    """The pairs of one source. Pages are rows of the texts that training reads.

    Attributes:
        questions: of each pair.
        pages: the gold page of each pair, shape (n_pairs,).
        gold: all pages that are gold for the pair's question.
        negatives: pages that may be drawn as its negatives.
        epochs: passes over the pairs.
    """

    questions: list[str]
    pages: np.ndarray
    gold: list[frozenset[int]]
    negatives: list[np.ndarray]
    epochs: int

    def clashes(self) -> np.ndarray:
        """Which pairs must not meet in a batch, since one's page is gold for the other's question.

        The matrix (n_pairs, n_pairs) is boolean, symmetric, and false on the diagonal.
        """
        clash = np.array([np.isin(self.pages, list(gold)) for gold in self.gold])
        clash |= clash.T
        np.fill_diagonal(clash, False)
        return clash


class Reading(NamedTuple):
    """All that a training reads.

    Attributes:
        pages: the texts of pages.
        phases: the pairs, source by source.
        known: rows of the pages that negatives ``all`` are from, and their vectors (n_known, d) before training.
    """

    pages: "Inputs"
    phases: list[Phase]
    known: tuple[np.ndarray, np.ndarray] | None = None

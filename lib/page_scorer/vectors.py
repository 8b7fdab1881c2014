"""Pages as one vector each: normalised, cut, and encoded by the base encoder or by a fold's model."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

from lib.models.encoders import Encoder, Role
from lib.models.weights import fetch, weights_hash
from lib.store import digest_of


def normalise_page(text: str, max_characters: int = 2000) -> str:
    """The page with whitespace collapsed, cut at ``max_characters`` (M = 2000 in the published study)."""
    return " ".join(text.split())[:max_characters]


def page_texts(study) -> list[str]:
    """The normalised text of every page, in the order of ``study.pages``."""
    limit = study.profile.page_scorer.max_characters

    def normalise() -> list[str]:
        return [normalise_page(text, limit) for text in study.pages["text"]]

    return study.memo(("page_texts", limit), normalise)


def page_rows(study) -> dict[tuple[str, int], int]:
    """From (doc_name, page) to the page's row in ``study.pages``."""

    def rows() -> dict[tuple[str, int], int]:
        return {
            key: row for row, key in enumerate(zip(study.pages["doc_name"], study.pages["page"], strict=True))
        }

    return study.memo("page_rows", rows)


def encode_with(
    study,
    stage: str,
    weights: Callable[[], Path],
    digest: str,
    texts: Sequence[str],
    role: Role,
    window: int | None = None,
) -> np.ndarray:
    """Unit vectors of texts by a model, stored shard by shard; equal texts are encoded once.

    Args:
        study: gives the settings and the store.
        stage: name of the stage.
        weights: gives the directory of the model; called only when something is not stored yet.
        digest: what identifies the model.
        texts: what to encode.
        role: ``query`` or ``document``.
        window: tokens read of a text; the trained scorer's if not given.

    Returns:
        float32, shape (n_texts, dimension).
    """
    settings, window = study.profile.embedder, window or study.profile.page_scorer.max_tokens
    distinct = list(dict.fromkeys(texts))
    params = {
        "weights": digest,
        "window": window,
        "precision": settings.precision,
        "role": role,
        "texts": digest_of(distinct),
    }

    @cache
    def encoder() -> Encoder:
        return Encoder(weights(), window, settings.precision, settings.batch_size)

    entry = study.store.shards(stage, params, distinct, lambda part: encoder().encode(part, role))
    row_of = {text: row for row, text in enumerate(distinct)}
    return np.load(entry.path / "rows.npy")[[row_of[text] for text in texts]]


def base_vectors(study) -> tuple[np.ndarray, np.ndarray]:
    """The untrained encoder's vectors: of the questions (n_questions, d) and of the pages (n_pages, d)."""
    name, window = study.profile.embedder.weights, study.profile.page_scorer_light.max_tokens
    model = partial(fetch, name), weights_hash(name)
    questions = study.questions["question"].tolist()
    return (
        encode_with(study, "embeddings/page_questions", *model, questions, "query", window),
        encode_with(study, "embeddings/pages", *model, page_texts(study), "document", window),
    )

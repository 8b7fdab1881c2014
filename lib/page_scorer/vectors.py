"""Pages as one vector each: normalised, cut, and encoded by the base encoder or by a fold's model."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lib.models.encoders import Role
from lib.models.index import encode_with
from lib.models.weights import fetch, weights_hash
from lib.study import Study

PageKey = tuple[str, int]


def normalise_page(text: str, max_characters: int = 2000) -> str:
    """The page with whitespace collapsed, cut at ``max_characters`` (M = 2000 in the published study)."""
    return " ".join(text.split())[:max_characters]


def page_texts(study: Study) -> list[str]:
    """The normalised text of every page, in the order of ``study.pages``."""
    limit = study.profile.page_scorer.max_characters
    return study.memo(
        ("page_texts", limit), lambda: [normalise_page(text, limit) for text in study.pages["text"]]
    )


def page_rows(study: Study) -> dict[PageKey, int]:
    """From (doc_name, page) to the page's row in ``study.pages``."""
    columns = ["doc_name", "page"]
    return study.memo(
        "page_rows",
        lambda: {key: row for row, key in enumerate(study.pages[columns].itertuples(index=False, name=None))},
    )


def text_by_page(study: Study) -> dict[PageKey, str]:
    """From (doc_name, page) to the page's normalised text."""
    return dict(zip(page_rows(study), page_texts(study), strict=True))


def encode_pages(
    study: Study,
    stage: str,
    weights: Callable[[], Path],
    digest: str,
    texts: Sequence[str],
    role: Role,
    window: int | None = None,
) -> np.ndarray:
    """Unit vectors of pages or questions, each different text encoded once, shape (n_texts, dimension).

    Args:
        study, stage, weights, digest, texts, role: see :func:`lib.models.index.encode_with`.
        window: tokens read of a text; by default those of the fine-tuned scorer.
    """
    row_of = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    window = window or study.profile.page_scorer.max_tokens
    return encode_with(study, stage, weights, digest, list(row_of), role, window)[
        [row_of[text] for text in texts]
    ]


def base_vectors(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """The untrained encoder's vectors: of the questions (n_questions, d) and of the pages (n_pages, d)."""
    name, window = study.profile.embedder.weights, study.profile.page_scorer_light.max_tokens

    def encode(stage: str, texts: list[str], role: Role) -> np.ndarray:
        return encode_pages(study, stage, lambda: fetch(name), weights_hash(name), texts, role, window)

    return (
        encode("embeddings/page_questions", study.questions["question"].tolist(), "query"),
        encode("embeddings/pages", page_texts(study), "document"),
    )

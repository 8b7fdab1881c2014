"""Page scores as they are kept: of every question its best pages, and all pages of its own filing for the oracles.

They are small and hold no text, so they are published: fewer pages can be searched without training again.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lib.folds import Fold
from lib.page_scorer.vectors import page_texts
from lib.store import Entry, digest_of
from lib.words import StudyError

KEPT = 200
VERSION = 2


def stored_scores(study, stage: str, params: dict, parts: Sequence[Fold], score_fold: Callable) -> Entry:
    """Page scores filled fold by fold.

    Args:
        study: gives the pages, the questions and the store.
        stage: the store's stage.
        params: what the scores depend on besides pages, questions and folds.
        parts: the folds.
        score_fold: from a fold to the scores of its test questions (n_test, n_pages) and a record.

    Returns:
        An entry with ``scores.npz``, read by :func:`load_scores`, and ``folds.json``, the records.
    """

    def compute(target: Path) -> None:
        scores, records = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32), []
        for fold in parts:
            scores[list(fold.test)], record = score_fold(fold)
            records.append(record)
        question, page = np.nonzero(kept(study, scores))
        places = {"question": question.astype(np.int32), "page": page.astype(np.int32)}
        np.savez_compressed(target / "scores.npz", value=scores[question, page], **places)
        (target / "folds.json").write_text(json.dumps(records, indent=1))

    return study.shared(stage, lambda: scores_params(study, params, parts), compute, VERSION)


def kept(study, scores: np.ndarray) -> np.ndarray:
    """Which scores are kept, boolean, shape (n_questions, n_pages); of equal scores the first page's."""
    own = study.pages["doc_name"].to_numpy() == study.questions["doc_name"].to_numpy()[:, None]
    best = np.argsort(-scores, axis=1, kind="stable")[:, :KEPT]
    np.put_along_axis(own, best, True, axis=1)
    return own


def load_scores(study, entry: Entry) -> np.ndarray:
    """Kept scores as float32, shape (n_questions, n_pages), ``-inf`` where none was kept."""
    scores = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32)
    with np.load(entry.path / "scores.npz") as arrays:
        scores[arrays["question"], arrays["page"]] = arrays["value"]
    return scores


def check_n_pages(n_pages: int) -> int:
    """The number of pages to search.

    Raises:
        StudyError: less than one, or more than are kept.
    """
    if not 1 <= n_pages <= KEPT:
        raise StudyError(f"pages is {n_pages}: say a number from 1 to {KEPT}, as many as page scores keep")
    return n_pages


def scores_params(study, params: dict, parts: Sequence[Fold]) -> dict:
    """All that stored page scores depend on: ``params``, the pages, the questions and the folds."""
    return params | {
        "tests": [list(fold.test) for fold in parts],
        "questions": study.questions_digest,
        "pages": digest_of(page_texts(study)),
        "max_tokens": study.profile.page_scorer.max_tokens,
    }

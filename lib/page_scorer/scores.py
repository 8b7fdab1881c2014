"""Page scores as they are stored: per question its best pages, and all pages of its own filing for the oracles.

They are small and without text, so they are published: fewer pages can be searched without training again.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lib.folds import By, Fold, make_folds
from lib.store import Entry
from lib.study import Study
from lib.words import StudyError

KEPT = 200
VERSION = 2


def folds(study: Study, by: By) -> list[Fold]:
    """The study's folds by filing or by company."""
    settings = study.profile.page_scorer
    return make_folds(study.questions, study.filings, by, settings.n_folds, settings.seed)


def scores_in_folds(
    study: Study,
    stage: str,
    by: By,
    score_fold: Callable[[Study, Fold], tuple[np.ndarray, dict]],
    params: dict,
    public: bool = False,
) -> Entry:
    """Page scores, computed fold by fold.

    Args:
        study: the pages, the questions and the store.
        stage: the store's stage.
        by: what the folds hold out.
        score_fold: from a fold to the scores of its test questions (n_test, n_pages) and a record.
        params: what the scores depend on besides pages, questions and folds.
        public: whether the scores are published.

    Returns:
        An entry with ``scores.npz``, read by :func:`load_scores`, and ``folds.json``, read by :func:`load_records`.
    """
    parts = folds(study, by)

    def compute(target: Path) -> None:
        scores, records = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32), []
        for fold in parts:
            scores[list(fold.test)], record = score_fold(study, fold)
            records.append(record)
        question, page = np.nonzero(kept(study, scores))
        places = {"question": question.astype(np.int32), "page": page.astype(np.int32)}
        np.savez_compressed(target / "scores.npz", value=scores[question, page], **places)
        (target / "folds.json").write_text(json.dumps(records, indent=1))

    params = params | {  # computable without the text of a filing or a question
        "folds": [{"test": list(fold.test), "filings": sorted(fold.test_filings)} for fold in parts],
        "questions": study.digest("questions"),
        "pages": study.digest("pages"),
        "max_characters": study.profile.page_scorer.max_characters,
    }
    return study.store.get(stage, params, compute, VERSION, public)


def kept(study: Study, scores: np.ndarray) -> np.ndarray:
    """Which scores are kept, boolean, shape (n_questions, n_pages); of equal scores the first page's."""
    own = study.pages["doc_name"].to_numpy() == study.questions["doc_name"].to_numpy()[:, None]
    best = np.argsort(-scores, axis=1, kind="stable")[:, :KEPT]
    np.put_along_axis(own, best, True, axis=1)
    return own


def load_scores(study: Study, entry: Entry) -> np.ndarray:
    """Kept scores as float32, rows and columns as ``study.questions`` and ``study.pages``, ``-inf`` if not kept."""
    scores = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32)
    with np.load(entry.path / "scores.npz") as arrays:
        scores[arrays["question"], arrays["page"]] = arrays["value"]
    return scores


def load_records(entry: Entry) -> list[dict]:
    """One record per fold: the leak check, and what was trained or chosen."""
    return json.loads((entry.path / "folds.json").read_text())


def check_n_pages(n_pages: int) -> int:
    """The number of pages to search.

    Raises:
        StudyError: less than one, or more than are kept.
    """
    if not 1 <= n_pages <= KEPT:
        raise StudyError(f"pages is {n_pages}: choose a number from 1 to {KEPT}, as many as page scores keep")
    return n_pages

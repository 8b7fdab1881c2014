"""What all page scorers share: pages as texts and as vectors, folds, and page scores as they are stored."""

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lib.filings import templates
from lib.folds import By, Fold, make_folds
from lib.method import Search, memoized
from lib.models.vectors import encode_texts
from lib.models.weights import weights_hash
from lib.retrievers import matched
from lib.retrievers.places import PageKey, page_rows
from lib.store import Entry

STORED_PAGES = 200  # the best pages of a question, whose scores are stored
VERSION = 2
ScoreFold = Callable[[Search, Fold], tuple[np.ndarray, dict]]


@memoized
def page_texts(search: Search) -> list[str]:
    """Every page with whitespace collapsed, cut as published at M = ``page_scorer.max_characters``."""
    limit = search.profile.page_scorer.max_characters
    return [" ".join(text.split())[:limit] for text in search.pages["text"]]


def headers(search: Search) -> dict[str, str]:
    """Company, period and form of each filing's record, by doc_name."""
    return {identity.doc_name: identity.header for identity in matched.identities(search, False)}


@memoized
def headed_texts(search: Search) -> list[str]:
    """:func:`page_texts` behind :func:`headers`; a page without text stays so."""
    header_of, pages = headers(search), zip(search.pages["doc_name"], page_texts(search), strict=True)
    return [text and f"{header_of[doc_name]}. {text}" for doc_name, text in pages]


def text_by_page(search: Search, texts: Callable[[Search], list[str]] = page_texts) -> dict[PageKey, str]:
    """From (doc_name, page) to the page's text."""
    return dict(zip(page_rows(search), texts(search), strict=True))


@memoized
def base_vectors(search: Search, section: str = "page_scorer_light") -> tuple[np.ndarray, np.ndarray]:
    """The untrained encoder's vectors of questions (n_questions, d) and of as much of pages as a section says."""
    encode = partial(encode_texts, search, window=search.profile[section].max_tokens, is_pinned=True)
    questions = encode("embeddings/page_questions", search.questions["question"].tolist(), "query")
    return questions, encode("embeddings/pages", page_texts(search))


@memoized
def question_twins(search: Search) -> np.ndarray:
    """Which two of the study's questions share a template, boolean, shape (n_questions, n_questions)."""
    return templates.twins(search.questions, matched.identities(search, False))


def folds(search: Search, by: By) -> list[Fold]:
    """The study's folds by filing, by company or by template."""
    settings, twins = search.profile.page_scorer, question_twins(search) if by == "template" else None
    return make_folds(search.questions, search.filings, by, settings.n_folds, settings.seed, twins)


def params_of_folds(search: Search, parts: Sequence[Fold], params: dict) -> dict:
    """What the scores of folds depend on, computable without the text of a filing or a question."""
    profile = search.profile
    return params | {
        "precision": profile.embedder.precision,
        "weights": weights_hash(profile.embedder.weights),
        "folds": [{"test": list(fold.test), "filings": sorted(fold.test_filings)} for fold in parts],
        "questions": search.digest("questions"),
        "pages": search.digest("pages"),
        "max_characters": profile.page_scorer.max_characters,
    }


def scores_in_folds(
    search: Search, stage: str, parts: Sequence[Fold], score_fold: ScoreFold, params: dict, public: bool = False
) -> Entry:
    """The stored scores of each question's STORED_PAGES best pages and of all pages of its own filing, and the records.

    ``score_fold`` gives the scores of a fold's test questions (n_test, n_pages), and a record, an output if ``public``;
    ``params`` are what scores depend on besides the encoder, pages, questions and folds.
    """

    def compute(target: Path) -> None:
        scores, records = np.full((len(search.questions), len(search.pages)), -np.inf, np.float32), []
        for fold in parts:
            scores[list(fold.test)], record = score_fold(search, fold)
            records.append(record)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :STORED_PAGES]  # of equal scores the first page's
        is_stored = search.pages["doc_name"].to_numpy() == search.questions["doc_name"].to_numpy()[:, None]
        np.put_along_axis(is_stored, best, True, axis=1)
        question, page = np.nonzero(is_stored & (scores > -np.inf))
        places = {"question": question.astype(np.int32), "page": page.astype(np.int32)}
        np.savez_compressed(target / "scores.npz", value=scores[question, page], **places)
        (target / "folds.json").write_text(json.dumps(records, indent=1), encoding="utf-8")

    entry = search.store.files(stage, params_of_folds(search, parts, params), compute, VERSION, public)
    if public:
        search.write(f"folds/{stage.split('/')[0]}-{parts[0].by}.json", entry.read("folds.json"))
    return entry


def load_scores(search: Search, entry: Entry) -> np.ndarray:
    """Kept scores, float32, shape (n_questions, n_pages), ``-inf`` if not kept."""
    scores = np.full((len(search.questions), len(search.pages)), -np.inf, np.float32)
    with np.load(io.BytesIO(entry.read("scores.npz"))) as arrays:
        scores[arrays["question"], arrays["page"]] = arrays["value"]
    return scores


def load_records(entry: Entry) -> list[dict]:
    """One record per fold: the leak check, and what was trained or chosen."""
    return json.loads(entry.read("folds.json"))

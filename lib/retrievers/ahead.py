"""Pages ranked by a small learnt combiner of cheap evidence: whose filing, what kind of page, windows, heads and words.

Every page of the collection is described once. A question picks its candidates by identity and windows, and the combiner
orders them. On the dataset that the combiner was made with, each question is scored by a fold that has seen nothing of
its company; elsewhere the saved combiner is used as it is.
"""

import json
from functools import partial
from pathlib import Path

import numpy as np

from lib.ahead.combiner import Combiner
from lib.ahead.features import Pool, identity_features, identity_score, make_pool, routed
from lib.ahead.nested import fold_combiner
from lib.ahead.views import described_pages, identities, pages_of_chunks, view_scores
from lib.folds import make_folds
from lib.models import index
from lib.models.page_vectors import page_rows
from lib.retrievers.dense import best_window_scores
from lib.store import digest_of
from lib.words import StudyError

SAVED = Path(__file__).resolve().parent.parent / "ahead" / "model"
"""Where the combiner for other datasets lies."""


def page_pool(study, questions: list[str], allowed: np.ndarray | None = None, encode=index.encode_queries) -> Pool:
    """The pairs of question and page that the combiner orders.

    Args:
        study: gives the pages.
        questions: the texts.
        allowed: which pages may be chosen, boolean, shape (n_questions, n_pages); None for all.
        encode: see :func:`lib.ahead.views.view_scores`.
    """
    pages, filings = described_pages(study), identities(study)
    views = view_scores(study, questions, encode)
    pair = identity_features(questions, filings)
    chosen = routed(views, identity_score(pair), pages.filing)
    if allowed is not None:
        chosen = np.where(allowed, chosen, -np.inf)
    return make_pool(questions, views, pages, filings, pair, chosen, study.profile.ahead.pool)


def training_pool(study) -> Pool:
    """The pool of the study's own questions over all pages."""
    return study.memo("ahead_pool", lambda: page_pool(study, study.questions["question"].tolist()))


def gold_pages(study) -> np.ndarray:
    """Which page is gold for which question, boolean, shape (n_questions, n_pages)."""
    gold, row_of = np.zeros((len(study.questions), len(study.pages)), bool), page_rows(study)
    for row, question in zip(gold, study.questions.itertuples(), strict=True):
        row[[row_of[question.doc_name, page] for page in question.gold_pages]] = True
    return gold


def saved_record() -> dict:
    """What the saved combiner was trained on, and its choices.

    Raises:
        StudyError: there is none.
    """
    path = SAVED / "combiner.json"
    if not path.is_file():
        raise StudyError(f"{path} is not there; train it with: python -m lib.ahead.train")
    return json.loads(path.read_text())


def is_own_dataset(study) -> bool:
    """Whether the saved combiner was trained on questions of this study, which it may then not answer."""
    if not (SAVED / "combiner.json").is_file():
        return True
    return bool(set(saved_record()["question_ids"]) & set(study.questions["question_id"]))


def fold_combiners(study, fold_seed: int | None = None) -> list[tuple[tuple[int, ...], Combiner]]:
    """For each fold by company the questions that it tests and its combiner, trained if it is not stored.

    Args:
        study: with gold pages.
        fold_seed: of the folds; by default the first of the profile's.
    """
    settings = study.profile.ahead
    seed = settings.fold_seeds[0] if fold_seed is None else fold_seed
    folds = make_folds(study.questions, study.filings, "company", settings.n_folds, seed)
    found = []
    for fold in folds:
        entry = study.store.get("ahead/folds", training_params(study) | {"seed": seed, "fold": fold.number}, partial(_train, study, fold))
        study.show(entry.path / "fold.json", f"folds/ahead-{seed}-{fold.number}.json")
        found.append((fold.test, Combiner.load(entry.path)))
    return found


def training_params(study) -> dict:
    """What a trained combiner depends on."""
    from lib.ahead import (
        asking,
        combiner,
        features,
        identity,
        linear,
        names,
        nested,
        page_kinds,
        periods,
        terms,
        views,
    )
    from lib.methods import code_hash

    modules = (asking, combiner, features, identity, linear, names, nested, page_kinds, periods, terms, views)
    return {
        "chunks": study.chunks_digest,
        "questions": study.questions_digest,
        "filings": digest_of([list(map(str, row)) for row in study.filings.itertuples(index=False)]),
        "settings": study.settings_of(("ahead", "embedder", "bm25")),
        "code": [code_hash(module) for module in modules],
        "kinds": digest_of(page_kinds.kinds()),
    }


def _train(study, fold, target: Path) -> None:
    pool, gold = training_pool(study), gold_pages(study)
    truth = gold[pool.rows, pool.columns]
    names, asked = study.pages["doc_name"].to_numpy(), study.questions["doc_name"]
    settings = study.profile.ahead
    combiner, record = fold_combiner(pool, truth, gold.sum(axis=1), fold, study.filings, names, asked, settings)
    combiner.save(target, {"fold": fold.number})
    (target / "fold.json").write_text(json.dumps(record, indent=1))


def pool_scores(study, pool: Pool, fold_seed: int | None = None) -> np.ndarray:
    """The combiner's score of each pair, shape (n_pairs,): each question's by a combiner that may answer it."""
    if not is_own_dataset(study):
        return Combiner.load(SAVED).scores(pool)
    scores = np.full(len(pool.rows), -np.inf)
    for test, combiner in fold_combiners(study, fold_seed):
        mine = np.isin(pool.rows, test)
        part = Pool(pool.rows[mine], pool.columns[mine], pool.table[mine])
        scores[mine] = combiner.scores(part) if mine.any() else scores[mine]
    return scores


def spread_pages(pool: Pool, scores: np.ndarray, chunk_scores: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """Chunk scores that follow the pages' order: the best chunk of each page first, then the second ones.

    Args:
        pool: pairs of question and page.
        scores: of each pair.
        chunk_scores: what orders the chunks of a page, shape (n_questions, n_chunks); ``-inf`` for no candidate.
        pages: the page of each chunk, shape (n_chunks,).

    Returns:
        float32, shape (n_questions, n_chunks): minus the place in that order, ``-inf`` for pages outside the pool. Top
        chunks are thus from distinct pages, as another chunk of a page brings no new page.
    """
    result = np.full(chunk_scores.shape, -np.inf, np.float32)
    for row in range(len(chunk_scores)):
        mine = np.flatnonzero(pool.rows == row)
        columns = pool.columns[mine[np.argsort(-scores[mine], kind="stable")]]
        rank = np.full(pages.max(initial=0) + 1, -1)
        rank[columns] = np.arange(len(columns))
        chunks = np.flatnonzero((rank[pages] >= 0) & np.isfinite(chunk_scores[row]))
        order = chunks[np.lexsort((-chunk_scores[row, chunks], rank[pages[chunks]]))]
        first = np.flatnonzero(np.r_[True, pages[order][1:] != pages[order][:-1]])[: len(order)]
        turn = np.arange(len(order)) - np.repeat(first, np.diff(np.r_[first, len(order)]))
        final = order[np.lexsort((rank[pages[order]], turn))]
        result[row, final] = -np.arange(len(final))
    return result


def chunk_order(study, candidates: np.ndarray, encode=index.encode_queries, questions: list[str] | None = None) -> np.ndarray:
    """The cosine of each candidate chunk's best window, ``-inf`` for others, shape (n_questions, n_chunks)."""
    owners, windows = index.window_vectors(study)
    vectors = encode(study, questions or study.questions["question"].tolist())
    cosines = best_window_scores(vectors, windows, owners, len(study.chunks))
    return np.where(candidates, np.where(np.isfinite(cosines), cosines, -2), -np.inf)


def allowed_pages(study, candidates: np.ndarray) -> np.ndarray:
    """The pages on which a candidate chunk lies, boolean, shape (n_questions, n_pages)."""
    pages = pages_of_chunks(study)
    allowed = np.zeros((len(candidates), len(study.pages)), bool)
    for row, open_chunks in zip(allowed, candidates, strict=True):
        row[pages[open_chunks]] = True
    return allowed


def score(study, candidates: np.ndarray) -> np.ndarray:
    """The learnt order of pages, as chunk scores of shape (n_questions, n_chunks)."""
    pool = page_pool(study, study.questions["question"].tolist(), allowed_pages(study, candidates))
    return spread_pages(pool, pool_scores(study, pool), chunk_order(study, candidates), pages_of_chunks(study))

"""Ahead as a search: which ranker may score which question, and the order of chunks that pages give."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from lib import runs
from lib.ahead import ranker
from lib.ahead.pool import Pool
from lib.ahead.ranker import FROM_COVERS, WHOLE, WITH_KINDS, Ranker, mixed, without_twins
from lib.ahead.sets import all_questions
from lib.ahead.views import study_pool, untrained
from lib.data.download import checksums
from lib.files import digest_of, digest_of_file
from lib.filings import templates
from lib.folds import By
from lib.method import Search, memoized
from lib.retrievers import items, spans
from lib.retrievers.places import pages_of_chunks

SAVED = Path(__file__).with_name("model")  # folder of the saved rankers
LEARNT_FROM = "learnt_from.json"  # beside them, see :func:`learnt_from`; made of the same questions as their records
MIN_COMPANIES = 5
BLANK_COSINE = -2.0  # of a page without a span, which may be a gold page; below every cosine


def inputs(search: Search, *, kinds: bool = False, trained: bool = True, by: By = "company") -> list:
    """What the scores depend on beside settings: what trained rankers do, the saved rankers, and the rule of twins."""
    saved = [digest_of_file(SAVED / name) for name in ("kinds.json", "kinds.txt", "plain.json", "plain.txt")]
    withheld = (
        ["known by its words, filings or companies"] if trained and not has_ids(search) and is_known(search) else []
    )
    rule = [templates.VERSION] if by == "template" else []
    return [*ranker.inputs(search), kinds, *([saved] if trained else []), *withheld, *rule]


def spread_pages(pool: Pool, scores: np.ndarray, chunk_scores: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """Minus the place of each chunk: the best chunk of every page in the pages' order, then the second ones.

    Args:
        pool, scores: pairs of question and page, and their scores.
        chunk_scores: order the chunks of a page, shape (n_questions, n_chunks); ``-inf`` for no candidate, as in what
            is returned, where chunks outside the pool have it too.
        pages: the page of each chunk.
    """
    spread = np.full(chunk_scores.shape, -np.inf, np.float32)
    for row, values in enumerate(chunk_scores):
        mine = pool.rows == row
        ordered = pool.columns[mine][np.argsort(-scores[mine], kind="stable")]
        rank = pd.Series(np.arange(len(ordered)), ordered).reindex(pages).to_numpy()
        chunks = pd.DataFrame({"rank": rank, "value": values})[np.isfinite(rank) & np.isfinite(values)]
        chunks = chunks.sort_values("value", ascending=False, kind="stable")
        chunks = chunks.assign(turn=chunks.groupby("rank").cumcount()).sort_values(["turn", "rank"])
        spread[row, chunks.index] = -np.arange(len(chunks))
    return spread


def saved_ranker(name: str) -> Ranker:
    """A ranker for other datasets, trained on every question, by the name of its file, see ``model/README.md``."""
    return ranker.read_ranker(SAVED / f"{name}.txt", SAVED / f"{name}.json")


def scored_by(search: Search) -> Literal["saved", "folds", "untrained"]:
    """What may order the pages: the saved ranker where it learnt nothing of the study's questions, their filings and
    companies, else folds by company, else, where companies are too few or in no fold, nothing that was trained."""
    if not (has_ids(search) or is_known(search)):
        return "saved"
    companies = set(search.questions["company"])
    is_in_folds = search.dataset.name == search.dataset.collection or not search.dataset.has_text
    is_in_folds = is_in_folds or companies <= set(all_questions(search)["company"])
    return "folds" if len(companies) >= MIN_COMPANIES and is_in_folds else "untrained"


def has_ids(search: Search) -> bool:
    """Whether the saved rankers learnt from a question with an id of the study's."""
    ids = json.loads((SAVED / "kinds.json").read_text(encoding="utf-8"))["question_ids"]
    return not set(ids).isdisjoint(search.questions["question_id"])


@memoized
def is_known(search: Search) -> bool:
    """Whether the saved rankers learnt from a question of these words, or from a filing or company that is asked about,
    by LEARNT_FROM and the bytes of FinanceBench's filings; False without the texts."""
    if not (search.dataset.has_text and (SAVED / LEARNT_FROM).is_file()):
        return False
    learnt, asked = json.loads((SAVED / LEARNT_FROM).read_text(encoding="utf-8")), search.questions
    companies, doc_names = set(map(company_words, asked["company"])), set(asked["doc_name"])
    return bool(
        doc_names & set(learnt["filings"])
        or any(f"{one} ".startswith(f"{name} ") for one in companies for name in learnt["companies"])
        or set(map(digest_of_words, asked["question"])) & set(learnt["questions"])
        or set(map(digest_of_file, map(search.dataset.source, doc_names))) & set(checksums().values())
    )


def learnt_from(questions: pd.DataFrame) -> dict[str, list[str]]:
    """What LEARNT_FROM has of training questions: digests of their words, the filings and the companies asked about."""
    asked = {"questions": map(digest_of_words, questions["question"]), "filings": questions["doc_name"]}
    asked |= {"companies": map(company_words, questions["company"])}
    return {name: sorted(set(values)) for name, values in asked.items()}


def digest_of_words(text: str) -> str:
    """A digest of a text's letters and digits, 16 hex digits, whatever their case and what stands between them."""
    return digest_of("".join(filter(str.isalnum, text.casefold())))[:16]


def company_words(name: str) -> str:
    """A company's name as words in lower case, without signs and a leading article: ``amazon com inc``."""
    return " ".join(re.findall(r"[^\W_]+", name.casefold())).removeprefix("the ")


def pool_scores(
    search: Search, pool: Pool, kinds: bool = False, covers: bool = False, by: By = "company"
) -> np.ndarray:
    """The score of each pair of the study's questions by a ranker that may answer them."""
    if (how := scored_by(search)) == "untrained":
        return pool.table["plain"].to_numpy(float)
    if how == "saved":
        _, booster, share = saved_ranker("kinds" if kinds else "plain")
        return mixed(booster, share, pool)
    companies = search.questions["doc_name"].map(search.filings.set_index("doc_name")["company"]).to_numpy()
    variant = FROM_COVERS if covers else WITH_KINDS if kinds else WHOLE
    variant = without_twins(variant) if by == "template" else variant
    rankers = ranker.fold_rankers(search, variant, search.profile.ahead.fold_seeds[0])
    return ranker.nested_scores(rankers, companies, pool)


def score(
    search: Search,
    candidates: np.ndarray,
    *,
    kinds: bool = False,
    trained: bool = True,
    covers: bool = False,
    by: By = "company",
) -> np.ndarray:
    """The order of the chunks on the ranked pages, shape (n_questions, n_chunks); a page's own by their best spans.

    ``kinds``: the ranker reads the hand-written kinds. ``covers``: filings are known by their first pages alone.
    ``by``: what the folds of a ranker that is trained here hold out, ``company`` or ``template``.
    Without training, pages are ordered by the untrained sum.
    """
    rows = np.arange(len(search.questions))
    return score_texts(search, rows, search.questions["question"], candidates, kinds, trained, covers, by)


def score_texts(
    search: Search,
    rows: np.ndarray,
    texts: Iterable[str],
    candidates: np.ndarray,
    kinds: bool,
    trained: bool = True,
    covers: bool = False,
    by: By = "company",
) -> np.ndarray:
    """As :func:`score`, with one text in place of each question of these rows; the other rows are ``-inf``."""
    pages, asked = pages_of_chunks(search), list(texts)
    allowed = np.stack([np.bincount(pages[row], minlength=len(search.pages)) > 0 for row in candidates[rows]])
    chunks = np.full(candidates.shape, -np.inf, np.float32)
    chunks[rows] = np.maximum(spans.score_texts(search, asked), BLANK_COSINE)
    if trained:
        pool = study_pool(search, asked, allowed, kinds, covers)
        pool = replace(pool, rows=rows[pool.rows])
        scores = pool_scores(search, pool, kinds, covers, by)
    else:
        of_row, columns = np.nonzero(allowed)
        pool = Pool(rows[of_row], columns, pd.DataFrame())
        scores = untrained(search, asked)[of_row, columns]
    return spread_pages(pool, scores, np.where(candidates, chunks, -np.inf), pages)


def score_items(search: Search, candidates: np.ndarray, *, first_stage: str, k: int = 0) -> np.ndarray:
    """:func:`lib.retrievers.items.scores` of ``first_stage``, Ahead with the hand-written kinds."""
    depth, about = search.profile.run.depth, (search.questions, search.chunks)

    def rank(rows: np.ndarray, texts: Sequence[str]) -> pd.DataFrame:
        return runs.rank(score_texts(search, rows, texts, candidates, kinds=True), *about, depth)

    return items.scores(search, search.run(first_stage), rank, k)

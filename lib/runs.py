"""Runs: ranked chunks per question as frames (RUN_COLUMNS), TREC's format for other programs, which chunks compete."""

import numpy as np
import pandas as pd

from lib.schema import RUN_COLUMNS, Condition


def rank(scores: np.ndarray, questions: pd.DataFrame, chunks: pd.DataFrame, depth: int) -> pd.DataFrame:
    """A score matrix (n_questions, n_chunks) as a run of ``depth`` chunks or fewer for each question.

    By question in the given order, then by falling score, ties by chunk id; ``-inf`` means not retrieved. A ValueError
    names the question that has NaN as a score, which is none.
    """
    by_id = np.argsort(chunks["chunk_id"].to_numpy(), kind="stable")
    chunks, parts = chunks[["chunk_id", "doc_name", "page"]].iloc[by_id], []
    for question_id, row in zip(questions["question_id"], np.asarray(scores, np.float32)[:, by_id], strict=True):
        if np.isnan(row).any():
            raise ValueError(f"question {question_id}: a score is NaN; -inf means that a chunk is not retrieved")
        order = np.argsort(-row, kind="stable")[:depth]
        order = order[row[order] > -np.inf]
        ranks, falling = np.arange(1, len(order) + 1), strictly_decreasing(row[order])
        parts.append(chunks.iloc[order].assign(question_id=question_id, rank=ranks, score=falling))
    return pd.concat(parts, ignore_index=True)[list(RUN_COLUMNS)]


def strictly_decreasing(scores: np.ndarray) -> np.ndarray:
    """Falling scores with every tie broken by the smallest float32 step, since trec_eval orders ties its own way."""
    strict = np.asarray(scores, np.float32).copy()
    for i in range(1, len(strict)):
        strict[i] = min(strict[i], np.nextafter(strict[i - 1], np.float32(-np.inf)))
    return strict


def trec_lines(run: pd.DataFrame, tag: str) -> bytes:
    """The run as TREC lines: ``question_id Q0 chunk_id rank score tag``; equal runs give equal bytes."""
    rows = zip(*(run[name].tolist() for name in ("question_id", "chunk_id", "rank", "score")), strict=True)
    return "".join([f"{asked} Q0 {chunk} {rank} {score:.9g} {tag}\n" for asked, chunk, rank, score in rows]).encode()


def placed(chunk_ids: pd.Series) -> pd.DataFrame:
    """chunk_id, and the doc_name and page that it names; a ValueError where one is no chunk id."""
    place = chunk_ids.str.extract(r"^(?P<doc_name>.+)#p(?P<page>\d+)#c\d+$")
    if (wrong := chunk_ids[place["page"].isna()]).size:
        raise ValueError(f"{wrong.iloc[0]!r} is no chunk id, such as 3M_2018_10K#p0049#c00")
    return place.assign(chunk_id=chunk_ids.to_numpy(), page=place["page"].astype(int))


def qrels(questions: pd.DataFrame) -> bytes:
    """Gold pages in TREC's format."""
    pages = [(one.question_id, one.doc_name, page) for one in questions.itertuples() for page in one.gold_pages]
    return "".join(f"{question_id} 0 {doc_name}#p{page:04d} 1\n" for question_id, doc_name, page in pages).encode()


def to_matrix(run: pd.DataFrame, questions: pd.DataFrame, chunks: pd.DataFrame, values=None) -> np.ndarray:
    """A run's scores, or other ``values`` of its rows, as a float32 matrix (n_questions, n_chunks), else ``-inf``.

    A KeyError where the run has a question or a chunk that the frames do not have.
    """
    matrix = np.full((len(questions), len(chunks)), -np.inf, np.float32)
    rows = pd.Series(range(len(questions)), questions["question_id"])[run["question_id"]]
    columns = pd.Series(range(len(chunks)), chunks["chunk_id"])[run["chunk_id"]]
    matrix[rows, columns] = run["score"].to_numpy() if values is None else values
    return matrix


def candidates(condition: Condition, questions: pd.DataFrame, chunks: pd.DataFrame) -> np.ndarray:
    """Which chunks may be retrieved for which question, boolean of shape (n_questions, n_chunks).

    Every chunk under ``standard``, the gold filing's under ``oracle-document``, the gold pages' under ``oracle-page``.
    """
    if condition == "standard":
        return np.ones((len(questions), len(chunks)), bool)
    allowed = questions["doc_name"].to_numpy()[:, None] == chunks["doc_name"].to_numpy()
    if condition == "oracle-page":
        allowed &= [np.isin(chunks["page"], pages) for pages in questions["gold_pages"]]
    return allowed

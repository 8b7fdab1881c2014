"""Runs: ranked chunks per question, in memory as a frame and on disk in TREC's format; and which chunks compete."""

import csv
import gzip
import io
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from lib.words import CONDITIONS, RUN_COLUMNS, Condition, StudyError


def rank(scores: np.ndarray, questions: pd.DataFrame, chunks: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Turn a score matrix into a run.

    Args:
        scores: shape (n_questions, n_chunks); ``-inf`` or NaN means not retrieved.
        questions: one row a matrix row, with ``question_id``.
        chunks: one row a matrix column, with ``chunk_id``, ``doc_name``, ``page``.
        depth: chunks kept for each question.

    Returns:
        RUN_COLUMNS; by question in the given order, then by falling score, ties by chunk id.
    """
    if scores.shape != (len(questions), len(chunks)):
        raise ValueError(f"scores have shape {scores.shape}, not {(len(questions), len(chunks))}")
    by_id = np.argsort(chunks["chunk_id"].to_numpy(), kind="stable")
    parts = []
    for question_id, row in zip(questions["question_id"], np.asarray(scores, np.float32)[:, by_id], strict=True):
        order = np.argsort(-np.where(np.isnan(row), -np.inf, row), kind="stable")[:depth]
        order = order[np.isfinite(row[order])]
        part = chunks.iloc[by_id[order]][["chunk_id", "doc_name", "page"]].reset_index(drop=True)
        part.insert(0, "question_id", question_id)
        part.insert(1, "rank", np.arange(1, len(part) + 1))
        part["score"] = strictly_decreasing(row[order])
        parts.append(part)
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


def to_trec(run: pd.DataFrame, tag: str) -> bytes:
    """:func:`trec_lines`, gzipped."""
    packed = io.BytesIO()
    # keys depend on these bytes, which are others than those of gzip.compress
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write(trec_lines(run, tag))
    return packed.getvalue()


def read_trec(path: Path) -> pd.DataFrame:
    """The run of a file of :func:`to_trec`.

    Raises:
        StudyError: the file is no TREC run.
    """
    try:
        table = pd.read_csv(
            path,
            sep=" ",
            names=["question_id", "q0", "chunk_id", "rank", "score", "tag"],
            dtype={"question_id": str, "chunk_id": str, "score": np.float32, "rank": np.int64},
            compression="gzip",
            keep_default_na=False,
            quoting=csv.QUOTE_NONE,
        )
        place = placed(table["chunk_id"])
        return table.assign(doc_name=place["doc_name"], page=place["page"])[list(RUN_COLUMNS)]
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise StudyError(f"{path} is no TREC run ({error}); remove it and run again") from None


def placed(chunk_ids: pd.Series) -> pd.DataFrame:
    """chunk_id, and the doc_name and page that it names."""
    place = chunk_ids.str.extract(r"^(?P<doc_name>.+)#p(?P<page>\d+)#c\d+$")
    return place.assign(chunk_id=chunk_ids.to_numpy(), page=place["page"].astype(int))


def to_matrix(run: pd.DataFrame, questions: pd.DataFrame, chunks: pd.DataFrame, values=None) -> np.ndarray:
    """A run's scores as a matrix.

    Args:
        run: RUN_COLUMNS.
        questions, chunks: give the matrix's rows and columns.
        values: taken in place of the run's own scores, one per row of the run.

    Returns:
        float32, shape (n_questions, n_chunks), ``-inf`` where nothing was retrieved.

    Raises:
        ValueError: the run has a question or a chunk that the frames do not have.
    """
    matrix = np.full((len(questions), len(chunks)), -np.inf, np.float32)
    rows = pd.Index(questions["question_id"]).get_indexer(run["question_id"])
    columns = pd.Index(chunks["chunk_id"]).get_indexer(run["chunk_id"])
    for name, found in (("question_id", rows), ("chunk_id", columns)):
        if (found < 0).any():
            raise ValueError(f"the run has an unknown {name}: {run[name][found < 0].iloc[0]}")
    matrix[rows, columns] = run["score"].to_numpy() if values is None else values
    return matrix


def candidates(condition: Condition, questions: pd.DataFrame, chunks: pd.DataFrame) -> np.ndarray:
    """The candidate matrix of a condition: which chunks may be retrieved for which question.

    Args:
        condition: ``standard`` (every chunk), ``oracle-document`` (the gold filing's chunks) or ``oracle-page``
            (the gold pages' chunks).
        questions: with ``doc_name`` and ``gold_pages`` (page indices from 0).
        chunks: with ``doc_name`` and ``page``.

    Returns:
        Boolean, shape (n_questions, n_chunks).

    Raises:
        ValueError: an unknown condition.
    """
    if condition not in CONDITIONS:
        raise ValueError(f"unknown condition {condition!r}: say one of {', '.join(CONDITIONS)}")
    allowed = np.ones((len(questions), len(chunks)), bool)
    if condition == "standard":
        return allowed
    doc_names, pages = chunks["doc_name"].to_numpy(), chunks["page"].to_numpy()
    for row, question in zip(allowed, questions.itertuples(), strict=True):
        row &= doc_names == question.doc_name
        if condition == "oracle-page":
            row &= np.isin(pages, question.gold_pages)
    return allowed

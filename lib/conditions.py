"""Conditions: which chunks may be candidates for a question (standard, oracle document, oracle page)."""

import numpy as np
import pandas as pd

from lib.words import CONDITIONS, Condition


def candidates(condition: Condition, questions: pd.DataFrame, chunks: pd.DataFrame) -> np.ndarray:
    """The candidate matrix of a condition.

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

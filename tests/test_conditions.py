"""Conditions: which chunks each lets through, by hand."""

import pandas as pd
import pytest

from lib.conditions import candidates
from lib.words import CONDITIONS

CHUNKS = pd.DataFrame({"doc_name": ["A", "A", "A", "A", "B", "B"], "page": [0, 0, 1, 2, 0, 1]})
QUESTIONS = pd.DataFrame({"doc_name": ["A", "A", "B"], "gold_pages": [[0], [0, 2], [7]]})


def allowed(condition: str) -> list[str]:
    return ["".join("01"[bit] for bit in row.astype(int)) for row in candidates(condition, QUESTIONS, CHUNKS)]


def test_standard_lets_every_chunk_through():
    assert allowed("standard") == ["111111", "111111", "111111"]


def test_oracle_document_lets_the_gold_filing_through():
    assert allowed("oracle-document") == ["111100", "111100", "000011"]


def test_oracle_page_lets_every_gold_page_through_and_page_0_is_a_page():
    assert allowed("oracle-page")[:2] == ["110000", "110100"]


def test_a_gold_page_without_chunks_has_no_candidates():
    assert allowed("oracle-page")[2] == "000000"


def test_each_condition_lets_through_no_more_than_the_one_before():
    wide, document, page = (candidates(condition, QUESTIONS, CHUNKS) for condition in CONDITIONS)
    assert (document <= wide).all()
    assert (page <= document).all()


def test_unknown_condition_lists_the_known():
    with pytest.raises(
        ValueError, match="unknown condition 'oracle': say one of standard, oracle-document, oracle-p"
    ):
        candidates("oracle", QUESTIONS, CHUNKS)

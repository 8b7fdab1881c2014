"""Kinds of pages by phrases, and the kinds that a question needs."""

import numpy as np
import pytest

from lib.ahead.page_kinds import (
    STATEMENTS,
    PhraseCounter,
    kind_columns,
    page_strengths,
    question_kinds,
    stems,
)

from .conftest import BALANCE, CASH, INCOME, LEGAL


def test_phrases_are_counted_by_stems_and_whole_words():
    counter = PhraseCounter([["dividends paid", "net sales"], ["sale"]])
    counts = counter.counts(stems("Dividend paid. Net-sales, wholesale sales."))
    assert counts == {(0, 0): 1, (0, 1): 1, (1, 0): 2}


def test_each_statement_is_strongest_in_its_own_kind():
    titles, items = page_strengths([BALANCE, INCOME, CASH, LEGAL, ""])
    strength = (3 * titles + items)[:3, kind_columns()]
    assert strength.argmax(axis=0).tolist() == strength.argmax(axis=1).tolist() == [0, 1, 2]
    assert not np.any([titles[4], items[4]])


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("What is the quick ratio?", {"balance"}),
        ("What is capex as a share of cash from operations?", {"cashflow"}),
        ("Using the balance sheet, what is the inventory turnover?", {"balance"}),
        ("From the P&L statement and the statement of cash flows: EBITDA margin?", {"income", "cashflow"}),
        ("Who chairs the board?", set()),
    ],
)
def test_statements_that_a_question_needs(question, statements):
    asked, implied = question_kinds([question])
    needed = (asked | implied)[0, kind_columns()]
    assert {name for name, is_needed in zip(STATEMENTS, needed, strict=True) if is_needed} == statements

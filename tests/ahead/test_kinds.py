"""Kinds of pages by phrases, the kinds that a question needs, and pages within their filings."""

import numpy as np
import pytest

from lib.ahead import kinds
from lib.ahead.kinds import PRIMARY, STATEMENTS, page_strengths, question_kinds
from lib.ahead.pool import FilingGroups

from .conftest import BALANCE, CASH, INCOME, LEGAL

GROUPS = FilingGroups(np.array([0, 0, 0, 1, 1]))
VALUES = np.array([[1.0, 3.0, 2.0, 5.0, 5.0]])


def test_phrases_are_counted_by_stems_and_whole_words(monkeypatch):
    phrases = {"cash": {"some": ("dividends paid", "net sales")}, "income": {"some": ("sale",)}}
    monkeypatch.setattr(kinds, "kinds", lambda: phrases)
    counts = kinds.phrase_counts("Dividend paid. Net-sales, wholesale sales.", "some")
    assert counts == {(0, "dividends paid"): 1, (0, "net sales"): 1, (1, "sale"): 2}


def test_statements_are_the_first_kinds():
    assert tuple(kinds.kinds())[: len(STATEMENTS)] == STATEMENTS


def test_each_statement_is_strongest_in_its_own_kind():
    titles, items = page_strengths([BALANCE, INCOME, CASH, LEGAL, ""])
    strength = (3 * titles + items)[:3, PRIMARY]
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
    needed = (asked | implied)[0, PRIMARY]
    assert {name for name, is_needed in zip(STATEMENTS, needed, strict=True) if is_needed} == statements


def test_ranks_best_and_standing_are_within_the_filing():
    assert GROUPS.ranks(VALUES).tolist() == [[2, 0, 1, 0, 1]]
    assert GROUPS.best(VALUES).tolist() == [[3, 3, 3, 5, 5]]
    deviation = np.std([1, 2, 3])
    assert np.allclose(GROUPS.standing(VALUES), [[-1 / deviation, 1 / deviation, 0, 0, 0]], atol=1e-4)


def test_neighbours_do_not_cross_filings():
    assert GROUPS.neighbours(VALUES).tolist() == [[3, 2, 3, 5, 5]]
    assert FilingGroups(np.array([0, 1])).neighbours(np.array([[4.0, 7.0]])).tolist() == [[4, 4]]

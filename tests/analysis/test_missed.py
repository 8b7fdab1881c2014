"""The sorting of gold pages that a run misses."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis.missed import SORTS, figures, sort_missed

QUESTIONS = pd.DataFrame(
    {
        "question_id": ["q1", "q2"],
        "question_type": ["domain-relevant"] * 2,
        "doc_type": ["10-K"] * 2,
        "doc_name": ["A", "B"],
        "gold_pages": [(1,), (1, 3)],
        "answer": ["$535", "30 and 60"],
    }
)
TEXTS = [(name, page, "assets of 535" if page == 2 else "") for name in "AB" for page in range(4)]
STUDY = SimpleNamespace(questions=QUESTIONS, pages=pd.DataFrame(TEXTS, columns=["doc_name", "page", "text"]))


def run_of(**keys) -> pd.DataFrame:
    rows = [(name, n, *key) for name, found in keys.items() for n, key in enumerate(found, 1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "doc_name", "page"])


def test_figures_of_an_answer_are_numbers_of_three_characters_that_are_no_years():
    assert figures("$1,577.0 million in 2018, 24.5%, up 12 and 7") == {"1577.0", "24.5"}


@pytest.mark.parametrize(
    ("first", "second", "k", "sorts"),
    [
        ([("B", 1)], [("B", 2), ("B", 3)], 2, [0, 1]),
        ([("B", 1), ("A", 2)], [("B", 3), ("B", 1)], 2, [2]),
        ([("A", 3), ("A", 1)], [("B", 3), ("B", 1)], 1, [3, 1]),
        ([("A", 3), ("A", 0), ("A", 1)], [("B", 3), ("B", 1)], 1, [4, 1]),
    ],
)
def test_each_question_has_the_first_sort_that_holds(first, second, k, sorts):
    found = sort_missed(STUDY, run_of(q1=first, q2=second), k, next_k=2)
    assert found["sort"].tolist() == [SORTS[sort] for sort in sorts]


def test_rank_of_the_best_missed_page_and_an_empty_table_if_nothing_is_missed():
    run = run_of(q1=[("A", 3), ("A", 1)], q2=[("B", 3), ("B", 1)])
    assert sort_missed(STUDY, run, 1, 20)["best_rank"].tolist() == [2, 2]
    assert sort_missed(STUDY, run, 2, 20).empty

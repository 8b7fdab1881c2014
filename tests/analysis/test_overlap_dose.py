"""Overlap as an intervention: the words of doses by hand, and what a dose does to toy rankings."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import overlap_dose as doses
from lib.metrics.retrieval import page_recall
from lib.stats import Resampling
from tests.small import open_small, small_folder

__all__ = ["open_small", "small_folder"]  # fixtures

RARE = "alder birch cedar damson elder fir gorse hazel"


def filing(*texts: str, name: str = "A") -> pd.DataFrame:
    return pd.DataFrame({"doc_name": name, "page": range(len(texts)), "text": texts})


def asked(question: str, *gold: int, doc_name: str = "A") -> pd.DataFrame:
    return pd.DataFrame([{"question_id": "q", "question": question, "doc_name": doc_name, "gold_pages": [*gold]}])


def test_a_word_is_three_letters_or_more_and_nothing_else():
    text = "What were 3M's net sales in Q2, $1,577 or 4.2%, of the p&l at Year-end? NET Sales, of T"
    assert doses.words_of(text) == {"net", "sales"}


@pytest.mark.parametrize(
    ("question", "words", "left"),
    [
        ("Net sales, net of tax (in USD)?", {"net", "usd"}, "sales, of tax (in )?"),
        ("Is year-end net-debt 3M's?", {"net", "year", "end", "debt"}, "Is year-end net-debt 3M's?"),
        ("What?", set(), "What?"),
    ],
)
def test_words_are_deleted_wherever_they_stand_and_whole(question, words, left):
    assert doses.without(question, words) == left


def test_words_of_doses():
    pages = filing(
        "lease pension pension goodwill",  # gold
        f"lease pension {RARE} yew",  # the control's: eight words that another page has
        f"lease {RARE}",  # gold, too: none of its words is the control's
        "lease pension",
        "goodwill",
    )
    (found,) = doses.pools(asked("The goodwill and lease of tax?", 0), pages)
    assert found["deleted"] == ["goodwill", "lease"], "on two pages, and on four"
    assert found["appended"] == ["pension"], "the words that the question lacks"
    assert found["control"] == sorted(RARE.split()), "of a page with enough, 1 or 2"
    (found,) = doses.pools(asked("The goodwill and lease of tax?", 0, 2), pages)
    assert found["control"] == [], "the only page with enough words has no others than a gold page"


def test_questions_at_each_dose_have_at_most_so_many_words():
    pages = filing("lease pension goodwill", "lease pension goodwill tax", "pension")
    found = doses.dosed(asked("Goodwill  or tax?", 0), pages).set_index(["kind", "dose"])
    assert len(found) == len(doses.KINDS) * len(doses.DOSES)
    assert found.loc[("deleted", 8), ["n_words", "question"]].tolist() == [1, "or tax?"]
    assert found.loc[("appended", 1), ["n_words", "question"]].tolist() == [1, "Goodwill  or tax? lease"]
    assert found.loc[("appended", 4), ["n_words", "question"]].tolist() == [2, "Goodwill  or tax? lease pension"]
    assert found.loc["control", "n_words"].tolist() == [0] * 5
    unchanged = found[found["n_words"] == 0]
    assert set(unchanged["question"]) == {"Goodwill  or tax?"}


def test_recall_of_each_dose_is_that_of_its_questions_and_contains_no_text(open_small, tmp_path, monkeypatch):
    study, seen = open_small(tmp_path), []
    n = len(study.questions)

    def nothing_but_the_last(given, texts):
        seen.append(texts)
        return np.eye(len(given.chunks))[[-1] * n]

    monkeypatch.setattr(doses.dense, "score_texts", nothing_but_the_last)
    found = doses.measured(study, 1)
    assert [*found] == ["question_id", "kind", "dose", "n_words", "method", "value"]
    assert len(found) == n * len(doses.KINDS) * len(doses.DOSES) * 2
    assert set(found["question_id"]) == set(study.questions["question_id"])
    of = found.set_index(["method", "kind", "dose", "question_id"])["value"].sort_index()
    assert of["dense"].groupby("question_id").mean().to_dict() == {"q1": 0, "q2": 1, "q3": 0}, "Bolt's last page"
    own = page_recall(study.run("bm25"), study.questions, 1)
    for kind in doses.KINDS:
        assert of["bm25", kind, 0].to_dict() == own.to_dict()
    assert seen[0] == study.questions["question"].tolist()


def measured(appended: list[list[float]], deleted: list[list[float]]) -> pd.DataFrame:
    """What BM25 finds of each question by dose, where dense finds 0.5 of each; the control has nothing."""
    rows = []
    for kind, values in (("appended", appended), ("deleted", deleted), ("control", np.zeros((len(appended), 5)))):
        for number, of in enumerate(values):
            for dose, value in zip(doses.DOSES, of, strict=True):
                about = {"question_id": f"q{number}", "kind": kind, "dose": dose, "n_words": min(dose, 3)}
                rows += [about | {"method": "bm25", "value": value}, about | {"method": "dense", "value": 0.5}]
    return pd.DataFrame(rows)


def draws_of(n: int) -> Resampling:
    return Resampling(pd.Series([*"abcdefgh"[:n]], [f"q{number}" for number in range(n)]), 500)


@pytest.mark.parametrize(
    ("appended", "deleted", "dose", "low", "high"),
    [
        # behind: .3 short of .5 with 1 word, .1 more with 2, so a quarter short of 2
        ([[0, 0.2, 0.6, 1, 1]] * 2, [[0.0] * 5] * 2, 1.75, 1.75, 1.75),
        # ahead: .1 more with 4 deleted, .1 less with 8
        ([[1.0] * 5] * 2, [[1, 1, 1, 0.6, 0.4]] * 2, -6, -6, -6),
        # one company is level at 1, the other never
        ([[0, 0.5, 1, 1, 1], [0, 0.2, 0.4, 0.4, 0.4]], [[0.0] * 5] * 2, 1 + 0.15 / 0.35, 1, 8),
        ([[0, 0, 0, 0, 0.4]] * 2, [[0.0] * 5] * 2, np.nan, np.nan, np.nan),
        # level without any word
        ([[0.5, 0, 0, 0, 0]] * 2, [[0.5, 0, 0, 0, 0]] * 2, 0, 0, 0),
    ],
)
def test_the_dose_at_which_both_find_equally_much(appended, deleted, dose, low, high):
    found = doses.crossing(measured(appended, deleted), draws_of(2))
    assert found[:3] == pytest.approx((dose, low, high), nan_ok=True)
    assert found[3:] == (2, 2)

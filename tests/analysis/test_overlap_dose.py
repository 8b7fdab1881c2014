"""Overlap as an intervention: the words of doses by hand, and what a dose does to toy rankings."""

import numpy as np
import pandas as pd

from lib.analysis import overlap_dose as doses
from lib.metrics.retrieval import page_recall
from tests.small import open_small, small_folder

__all__ = ["open_small", "small_folder"]  # fixtures

RARE = "alder birch cedar damson elder fir gorse hazel"


def filing(*texts: str) -> pd.DataFrame:
    return pd.DataFrame({"doc_name": "A", "page": range(len(texts)), "text": texts})


def asked(question: str, *gold: int) -> pd.DataFrame:
    return pd.DataFrame([{"question_id": "q", "question": question, "doc_name": "A", "gold_pages": [*gold]}])


def test_a_word_is_three_letters_or_more_and_is_deleted_wherever_it_stands_and_whole():
    text = "What were 3M's net sales in Q2, $1,577 or 4.2%, of the p&l at Year-end? NET Sales, of T"
    assert doses.words_of(text) == {"net", "sales"}
    assert doses.without("Net sales, net of tax (in USD)?", {"net", "usd"}) == "sales, of tax (in )?"
    whole = "Is year-end net-debt 3M's?"
    assert doses.without(whole, {"net", "year", "end", "debt"}) == whole


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
    assert set(found.loc[found["n_words"] == 0, "question"]) == {"Goodwill  or tax?"}


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
    of = found.set_index(["method", "kind", "dose", "question_id"])["value"].sort_index()
    assert of["dense"].groupby("question_id").mean().to_dict() == {"q1": 0, "q2": 1, "q3": 0}, "Bolt's last page"
    own = page_recall(study.run("bm25"), study.questions, 1)
    for kind in doses.KINDS:
        assert of["bm25", kind, 0].to_dict() == own.to_dict()
    assert seen[0] == study.questions["question"].tolist()

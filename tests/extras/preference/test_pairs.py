"""Which questions give a pair, what is in it, and that no company is trained on and tested."""

import re

import pytest

from lib.analysis.preference import fold_pairs, folds, is_right, pairs
from lib.answers.answers import SYSTEM
from lib.folds import LeakError
from lib.schema import StudyError
from tests.retrievers.conftest import Rule


def answer(prompt: str) -> str | None:
    """Questions of one company are answered right, one of another is not, and the rest is $1."""
    asked = prompt.split("Question:")[1]
    right = "It was $2020.50, or $2021.50." if "ash" in asked else "It was $1.00."
    return None if "birch_2020" in asked else right


@pytest.fixture
def study(make_study):
    study = make_study()
    study.make_generator = lambda: Rule(answer)
    return study


@pytest.mark.parametrize(
    ("question_type", "answer", "written", "right"),
    [
        ("metrics-generated", "$1577.00", "It was $1,577 in 2018.", True),
        ("metrics-generated", "$1577.00", "It was $1,677 in 2018.", False),
        ("domain-relevant", "Sales fell", "sales fell sharply", True),  # F1 = 2 * 2 / (2 + 3) = 0.8
        ("domain-relevant", "Sales fell", "Sales rose by far", False),  # 2 * 1 / (2 + 4) = 0.33
        ("domain-relevant", "Sales fell by 12", "12 it was of all that they sold", False),  # a number is not all
    ],
)
def test_an_answer_is_right_by_its_number_or_by_its_words(question_type, answer, written, right):
    assert is_right(question_type, "What were sales in USD?", answer, written, 0.5) is right


def test_a_wrong_answer_gives_a_pair_and_the_others_are_counted(study):
    found = pairs(study)
    assert dict(found.counts) == {"right": 2, "missing": 1, "pair": 5}
    first, *others = found.table.to_dict("records")
    assert [one["question_id"] for one in others] == "cedar_2020 cedar_2021 dogwood_2020 dogwood_2021".split()
    assert (first["question_id"], first["chosen"], first["rejected"]) == ("birch_2021", "$2121.50", "It was $1.00.")
    system, user = first["messages"]
    assert system == {"role": "system", "content": SYSTEM}
    assert user["content"].startswith("Context:\nbirch sales 2121 cash\n\nQuestion:")  # the gold page alone


def test_no_company_is_in_both_parts_of_a_fold(study):
    company_of, tested = study.questions.set_index("question_id")["company"], set()
    for fold in folds(study):
        table, record = fold_pairs(study, fold)
        test = set(study.questions["company"].iloc[list(fold.test)])
        assert not {*company_of[table["question_id"]], *record["train_companies"]} & test
        assert record["n_train_pairs"] == len(table) > 0
        assert not re.search("|".join(rf"\b{name}[_ ]" for name in test), str(table["messages"].tolist()))
        tested |= test
    assert tested == set(company_of)


def ask_the_same(folder):
    for line in folder.questions:
        line["question"] = "What were net sales?"


@pytest.mark.parametrize(
    ("spoil", "changes", "error", "told"),
    [
        (ask_the_same, {}, LeakError, "near copy in training"),
        (lambda folder: None, {"context": "best-baseline"}, StudyError, "say oracle-document or oracle-page"),
        # with F1 from 0 every answer is right
        (lambda folder: [line.update(question_type="t") for line in folder.questions],
         {"right_from": 0.0, "rejected": "none"}, StudyError, "fold 0 by company: no training question gives a pair"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_on_is_refused(make_study, spoil, changes, error, told):
    study = make_study(spoil, **changes)
    study.make_generator = lambda: Rule(answer)
    with pytest.raises(error, match=told):
        fold_pairs(study, folds(study)[0])

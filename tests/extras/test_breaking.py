"""The campaign judges its cases as a reader would, and what it breaks quickly is broken here too."""

import pytest

from extras.breaking import hostile, publication
from extras.breaking.cases import Case, judge, run_cases
from lib.data.dataset import read_dataset
from lib.data.pages import check_gold, extract_pages
from lib.words import StudyError


def told(sentence: str):
    """An attempt that ends in a sentence."""

    def attempt() -> None:
        raise StudyError(sentence)

    return attempt


@pytest.mark.parametrize(
    ("case", "is_good"),
    [
        (Case("p", "told, and names what is wrong", told("a.csv is missing"), "a.csv"), True),
        (Case("p", "told of something else", told("b.csv is missing"), "a.csv"), False),
        (Case("p", "told without need", told("a.csv is missing"), None), False),
        (Case("p", "told at length", told("a.csv " * 9000), "a.csv"), False),
        (Case("p", "harmless", lambda: True, None), True),
        (Case("p", "silent, and right", lambda: True, "a.csv"), False),
        (Case("p", "silent, and right, as may be", lambda: True, "a.csv", may_work=True), True),
        (Case("p", "silent, and wrong", lambda: False, None), False),
        (Case("p", "a traceback", lambda: {}["a.csv"], "a.csv"), False),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else "",
)
def test_a_case_is_good_when_its_fault_is_told_or_harmless(case, is_good):
    assert judge(case).is_good == is_good


def test_the_table_counts_by_part_and_ends_with_the_bad_ones():
    said = []
    run_cases([Case("one", "a", lambda: True, None), Case("two", "b", lambda: False, None)], said.append)
    assert [line.split()[:3] for line in said[3:6]] == [
        ["one", "1", "0"],
        ["two", "1", "1"],
        ["all", "2", "1"],
    ]
    assert said[-1] == "BAD  | two | b | SILENT: a wrong result"


@pytest.mark.parametrize("part", ["of_manifests", "of_store", "of_texts", "of_commands"])
def test_what_is_broken_quickly_is_told_or_harmless(part, tmp_path):
    outcomes = [judge(case) for case in getattr(publication, part)(tmp_path)]
    assert len(outcomes) > 5
    assert [one for one in outcomes if not one.is_good] == []


def test_every_field_of_the_hostile_dataset_is_hostile_and_the_dataset_is_read(tmp_path):
    secret = hostile.write_secret(tmp_path)
    found = read_dataset(hostile.write_dataset(tmp_path / "mine", secret), "mine")
    said = [*hostile.texts(secret), *hostile.texts(secret, in_line=True)]
    for name in ("question", "answer", "question_type", "company", "doc_type", "evidence"):
        assert all(any(text in value for text in said) for value in found.questions[name]), name
    assert all(any(text in value for text in said) for value in found.filings["sector"])
    assert check_gold(found, extract_pages(found))  # the pieces of evidence stand on their pages

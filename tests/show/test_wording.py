"""Words that follow a test."""

import pytest

from lib.show.wording import FEW, follows, worded


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        ("gain", "helps"),
        ("likely gain", "helps"),
        ("loss", "hurts"),
        ("likely loss", "hurts"),
        ("inconclusive", "open"),
        ("–", "open"),
        (float("nan"), "open"),
    ],
)
def test_the_words_are_those_of_the_verdict(verdict, word):
    assert worded(verdict, "helps", "hurts", "open") == word


def test_numbers_follow_recall_only_where_the_whole_interval_says_so_of_enough_questions():
    assert follows(0.99, 0.94, 52) == "yes"
    assert follows(0.99, 0.94, FEW - 1) == "few"
    assert follows(0.14, 0.02, 52) == "no"
    assert follows(-0.99, 0.94, 52) == "no"
    assert follows(float("nan"), float("nan"), 52) == "no"

"""Whether a reading is right: of two figures, both."""

import pytest

from extras.sure import all_right

GOLD = "$65.5 million ($65,490 thousand), 34.05% less than the $99.3 million of FY2021."


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("$65,490 (in thousands)", True),
        ("$65,490 (in thousands) and -34.05%", True),
        ("$65,490 (in thousands) and $33 (in millions)", False),
        ("$65,490 (in thousands) and 30%", False),
        ("$70,000 (in thousands) and -34.05%", False),
    ],
)
def test_every_figure_of_an_answer_is_checked(text, right):
    question = "How much was spent on research in FY2022 and by what percentage did that change?"
    assert all_right(text, "$65.5 million", GOLD, question) is right

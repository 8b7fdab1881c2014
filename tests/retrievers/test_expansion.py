"""Query expansion: every entry of the lexicon on word boundaries and case, and fiscal years however written."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.retrievers import expansion
from lib.retrievers.expansion import LEXICON, expand

NAMES = LEXICON["acronym"].tolist()


def other_case(word: str) -> str:
    return word.lower() if word != word.lower() else word.upper()


def test_an_acronym_is_spelt_out_where_it_is_a_word_and_in_another_case_where_it_is_no_other_word():
    assert len(set(NAMES)) == len(NAMES)
    for row in LEXICON.itertuples():
        frames = dict.fromkeys(("{}", "3M's {}, please", "({})", "“{}”", "two {}s", "non-{}", "{}/X"), True)
        frames |= dict.fromkeys(("x{}", "{}x", "3{}", "{}3", "_{}", "{}_", "X&{}", "{}&X"), False)
        asked = {frame.format(row.acronym): is_spelt_out for frame, is_spelt_out in frames.items()}
        asked[f"the {other_case(row.acronym)} of 3M"] = {"any": True, "exact": False}[row.case]
        assert {one: row.expansion in expand(one).removeprefix(one) for one in asked} == asked


@pytest.mark.parametrize(
    ("question", "expanded"),
    [
        ("CapEx and PP&E?", "CapEx and PP&E? (capital expenditure; property plant and equipment)"),
        ("PPE over PP&E", "PPE over PP&E (property plant and equipment)"),  # once
        ("FY99 and FY70", "fiscal year 1999 and fiscal year 1970"),
        ("FY00, FY69", "fiscal year 2000, fiscal year 2069"),
        ("FY2018-FY2020", "fiscal year 2018-fiscal year 2020"),
        ("Q2FY18", "Q2 fiscal year 2018 (second quarter)"),
        ("FY18Q2", "fiscal year 2018 Q2 (second quarter)"),
        *((text, "fiscal year 2018") for text in "FY2018;FY18;FY '18;FY’18;FY 18;fy2018;fiscal '18".split(";")),
        *((text, "fiscal year 2018") for text in ("fiscal 2018", "Fiscal 2018", "fiscal  year 2018")),
        *((text, text) for text in ("Days payable outstanding (DPO)", "What did AT&T sell?", "JIFFY18")),
        ("ar ap it pe ppe sec nav spac ni asp roe fy Ar Ap It",) * 2,  # common words in lower case
        *((text, text) for text in ("FY20181", "FY18,000", "FY201", "fiscal 18 months", "fiscal 2018.5")),
    ],
)
def test_years_are_written_one_way_and_expansions_appended_once(question, expanded):
    assert expand(question) == expanded
    if expanded == "fiscal year 2018":
        assert expand(f"Sales in ({question}), please.") == f"Sales in ({expanded}), please."


pieces = [*NAMES, *map(other_case, NAMES), "FY18", "FY '22", "fiscal 2019", "Q3", "net", "of", "&", "?", "'", "7"]
pieces = st.sampled_from(pieces)


@given(st.lists(pieces, max_size=8).map(" ".join) | st.lists(pieces, max_size=5).map("".join) | st.text(max_size=60))
def test_expanding_twice_changes_nothing(question):
    assume(not re.search(r"\dFY", question, re.I))  # of two years that touch only the first is rewritten
    once = expand(question)
    assert expand(once) == once


def test_the_expanded_questions_are_searched(written_study):
    assert expansion.score(written_study(["FCF?"], ["net sales", "cash"]), None).tolist() == [[0, 1]]

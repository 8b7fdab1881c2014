"""Questions that are expanded, and texts written in place of one or beside it; what a missing one does."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.retrievers import bm25, dense, expansion, fusion, hyde, rewritten
from lib.retrievers.expansion import LEXICON, expand
from lib.retrievers.hyde import written_passages
from lib.retrievers.prompts import asked, prompt, write
from lib.retrievers.rewritten import different, hybrid_scores, lengthened, numbered, one_line, queries, terms
from tests.retrievers.conftest import Rule

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


def test_the_prompt_is_the_published_one_and_keeps_braces():
    text = "Please write a short financial report excerpt (1 paragraph) that precisely answers the question below. "
    text += "Do not introduce the text, just write the excerpt.\n\nQuestion: {x} costs {}?\nPassage:"
    assert prompt("hyde", {"question": "{x} costs {}?"}).messages == [{"role": "user", "content": text}]


def test_passages_are_seeded_by_their_number_and_a_missing_one_has_a_reason(written_study):
    """What is written is the question and the seed."""

    def rule(text: str) -> str | None:
        said = f"{text.split('Question: ')[1].splitlines()[0]} {text.split()[0]}"
        return None if said == "CAPEX? 13" else said

    study = written_study(["sales?", "CAPEX?"], ["chunk"], Rule(rule, shows_seed=True), **{"hyde.n_passages": 2})
    assert written_passages(study) == [["sales? 13", "sales? 14"], ["CAPEX? 14"]]
    assert write(study, "hyde", asked(study)).missing == {"q1/0": "it died"}
    n_asked = len(study.generator.asked)
    assert written_passages(study, "hyde_akarsu") == [["sales? 13"], ["CAPEX?"]]  # it is searched as it is
    sampled = [(one.sampling.temperature, one.sampling.max_tokens) for one in study.generator.asked]
    assert (sampled[:n_asked], sampled[n_asked:]) == ([(0.7, 200)] * n_asked, [(0.0, 150)] * 2)
    assert all("Include numbers" in one.prompt.user for one in study.generator.asked[n_asked:])


def test_the_passages_are_searched_as_documents_by_the_first_or_the_direction_of_their_sum(written_study):
    texts = {"13": "net sales", "14": "net"}
    rule = Rule(lambda text: texts[text.split()[0]] if "profit" in text else None, shows_seed=True)
    study = written_study(["profit", "cash"], ["sales", "net", "cash"], rule, **{"hyde.n_passages": 2})
    assert hyde.score(study, None) == pytest.approx(np.array([[2**-0.5, 2**-0.5, 0], [0, 0, 1]]))
    mean = np.array([2**-0.5, 2**-0.5 + 1])  # of sales and net
    wanted = np.array([[*mean / np.linalg.norm(mean), 0], [0, 0, 1]])
    assert hyde.score_multi(study, None) == pytest.approx(wanted)
    assert {role for role, _ in study.encoder.seen} == {"document"}


CHUNKS = ["net sales", "cash flow", "profit"]
EVERY = np.ones((2, 3), bool)


def test_multi_query_fuses_the_question_and_its_different_rewrites_among_the_candidates(written_study):
    rewrites = "1. Profit\n2. net\n3. profit\n4. cash"
    study = written_study(["net", "profit"], CHUNKS, lambda asked: rewrites if "net" in asked else None)
    assert queries(study) == [["net", "Profit"], ["profit"]]  # of three lines, without copies
    # each of q0's texts has its own chunk first; the other two tie, and then the smaller id is second
    by_hand = [1 / 61 + 1 / 62, 1 / 62 + 1 / 63, 1 / 63 + 1 / 61]
    alone = [1 / 62, 1 / 63, 1 / 61]  # no rewrite: the question's own list
    assert rewritten.score_multi_query(study, EVERY) == pytest.approx(np.array([by_hand, alone]))
    allowed = np.array([[False, True, True], [False, False, False]])
    assert (np.isfinite(rewritten.score_multi_query(study, allowed)) == allowed).all()
    assert list(write(study, "rewrites", asked(study)).missing) == ["q1"]
    assert sum("net" in request.prompt.user for request in study.generator.asked) == 1  # it is written once
    sampling = study.generator.asked[0].sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.seed) == (100, 0.0, 13)
    assert "3 paraphrases" in study.generator.asked[0].prompt.user


def test_terms_stand_behind_the_question_and_pull_the_search(written_study):
    said = "cash flow, cash, Cash"
    study = written_study(["net", "net sales"], CHUNKS, lambda asked: None if "sales" in asked else said)
    assert lengthened(study, "keywords") == lengthened(study, "expansion") == ["net cash flow, cash", "net sales"]
    assert rewritten.score_lengthened(study, EVERY, kind="keywords").argmax(axis=1).tolist() == [1, 0]
    # "flow," is no word of the encoder: one of "net" and two of "cash", of five
    wanted = [[1 / 10**0.5, 2 / 10**0.5, 0], [1, 0, 0]]
    assert rewritten.score_lengthened_dense(study, EVERY, kind="expansion") == pytest.approx(np.array(wanted))


def test_the_questions_themselves_give_what_hybrid_rrf_gives(written_study):
    questions = ["net sales profit", "cash flow"]
    study = written_study(questions, [*CHUNKS, "net cash", "sales", "net profit in the year", "net cash"])
    study.chunks.loc[6, "key"] = study.chunks.loc[3, "key"]
    allowed = np.random.default_rng(0).random((2, 7)) < 0.8
    study.scores = {"dense": dense.score(study, allowed), "bm25": bm25.score(study, allowed)}
    np.testing.assert_array_equal(hybrid_scores(study, questions, allowed), fusion.score(study, allowed), strict=True)


@pytest.mark.parametrize(
    ("cleaned", "text", "expected"),
    [
        (numbered, "1. one\n2. two\n3. three\n4. four", ["one", "two", "three"]),
        (numbered, 'Here they are:\nQuery 1: "one"\n\n2) two\n3.\n', ["one", "two"]),
        (numbered, "2018 sales of 3M\n\ntwo", ["2018 sales of 3M", "two"]),  # a year is no number of a list
        (numbered, "", []),
        (different, ["Net sales", "net  sales", "cash"], ["Net sales", "cash"]),
        (terms, "Key terms: sales, - capex\n2. Sales\n- $1,577", "sales, capex, $1,577"),
        (terms, "", ""),
        (one_line, '"Query: net\n sales"', "net sales"),
    ],
)
def test_texts_are_freed_of_copies_numbers_leads_bullets_and_quotes(cleaned, text, expected):
    assert (cleaned(text, 3) if cleaned is numbered else cleaned(text)) == expected

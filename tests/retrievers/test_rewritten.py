"""Questions that are expanded, and texts written in place of one or beside it; what a missing one does."""

import numpy as np
import pytest

from lib.retrievers import bm25, dense, expansion, fusion, hyde, rewritten
from lib.retrievers.expansion import LEXICON, expand
from lib.retrievers.hyde import written_passages
from lib.retrievers.prompts import asked, prompt, write
from lib.retrievers.rewritten import hybrid_scores, lengthened, numbered, one_line, queries, terms
from tests.retrievers.conftest import Rule


def test_every_acronym_is_spelt_out_as_a_word_of_its_own_alone():
    for row in LEXICON.itertuples():
        for text in (f"3M's {row.acronym}, please", f"two {row.acronym}s", f"({row.acronym})"):
            assert row.expansion in expand(text).removeprefix(text)
        for text in (f"x{row.acronym}", f"{row.acronym}3", f"X&{row.acronym}"):
            assert row.expansion not in expand(text).removeprefix(text)


@pytest.mark.parametrize(
    ("question", "expanded"),
    [
        ("CapEx and PP&E?", "CapEx and PP&E? (capital expenditure; property plant and equipment)"),
        ("FY99 and FY70", "fiscal year 1999 and fiscal year 1970"),
        ("FY2018-FY2020", "fiscal year 2018-fiscal year 2020"),
        ("Q2FY18", "Q2 fiscal year 2018 (second quarter)"),
        ("FY18Q2", "fiscal year 2018 Q2 (second quarter)"),
        *((text, "fiscal year 2018") for text in "FY2018;FY '18;FY’18;FY 18;fy2018;fiscal '18".split(";")),
        *((text, text) for text in ("Days payable outstanding (DPO)", "What did AT&T sell?", "JIFFY18")),
        ("ar ap it pe ppe sec nav spac ni asp roe fy Ar Ap It",) * 2,  # common words in lower case
        *((text, text) for text in ("FY20181", "FY18,000", "FY201", "fiscal 18 months", "fiscal 2018.5")),
    ],
)
def test_years_are_written_one_way_and_expansions_appended_once(question, expanded):
    assert expand(question) == expanded
    assert expand(expanded) == expanded


def test_the_expanded_questions_are_searched(written_study):
    assert expansion.score(written_study(["FCF?"], ["net sales", "cash"]), None).tolist() == [[0, 1]]


def test_a_prompt_keeps_braces():
    (message,) = prompt("hyde", {"question": "{x} costs {}?"}).messages
    assert "Question: {x} costs {}?" in message["content"]


def test_passages_are_seeded_by_their_number_and_a_missing_one_has_a_reason(written_study):
    """What is written is the question and the seed."""

    def rule(text: str) -> str | None:
        written = f"{text.split('Question: ')[1].splitlines()[0]} {text.split()[0]}"
        return None if written == "CAPEX? 13" else written

    study = written_study(["sales?", "CAPEX?"], ["chunk"], Rule(rule, shows_seed=True), **{"hyde.n_passages": 2})
    assert written_passages(study) == [["sales? 13", "sales? 14"], ["CAPEX? 14"]]
    assert write(study, "hyde", asked(study)).missing == {"q1/0": "it died"}
    n_asked = len(study.generator.asked)
    assert written_passages(study, "hyde_akarsu") == [["sales? 13"], ["CAPEX?"]]  # it is searched as it is
    sampled = [(one.sampling.temperature, one.sampling.max_tokens) for one in study.generator.asked]
    assert (sampled[:n_asked], sampled[n_asked:]) == ([(0.7, 200)] * n_asked, [(0.0, 150)] * 2)


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


def test_terms_stand_behind_the_question_and_pull_the_search(written_study):
    terms_written = "cash flow, cash, Cash"
    study = written_study(["net", "net sales"], CHUNKS, lambda asked: None if "sales" in asked else terms_written)
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
    ("text", "lines"),
    [
        ("1. one\n2. two\n3. three\n4. four", ["one", "two", "three"]),
        ('Here they are:\nQuery 1: "one"\n\n2) two\n3.\n', ["one", "two"]),
        ("2018 sales of 3M\n\ntwo", ["2018 sales of 3M", "two"]),  # a year is no number of a list
    ],
)
def test_lists_are_read_without_numbers_leads_quotes_and_bullets(text, lines):
    assert numbered(text, 3) == lines
    assert terms("Key terms: sales, - capex\n2. Sales\n- $1,577") == "sales, capex, $1,577"
    assert one_line('"Query: net\n sales"') == "net sales"

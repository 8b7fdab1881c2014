"""Rewritten and lengthened questions: which lists are fused, and what a missing text does."""

import numpy as np
import pytest

from lib.retrievers import bm25, dense, fusion, rewritten
from lib.retrievers.prompts import asked, write
from lib.retrievers.rewritten import different, hybrid_scores, lengthened, numbered, one_line, queries, terms

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
    assert (sampling.max_tokens, sampling.temperature, sampling.seed) == (60, 0.0, 13)
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

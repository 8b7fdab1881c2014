"""Rewritten and lengthened questions: which lists are fused, and what a missing text does."""

import numpy as np
import pytest

from lib.retrievers import bm25, dense, fusion, rewritten
from lib.retrievers.fusion import fused_scores
from lib.retrievers.prompts import asked, write
from lib.retrievers.rewritten import dense_run, different, hybrid_scores, numbered, one_line, queries, terms

CHUNKS = ["net sales", "cash flow", "profit"]
EVERY = np.ones((2, 3), bool)


def first(scores: np.ndarray) -> list[int]:
    return scores.argmax(axis=1).tolist()


def test_multi_query_fuses_the_question_and_its_different_rewrites(judged_study):
    study = judged_study(
        ["net", "profit"], CHUNKS, lambda asked: "1. profit\n2. net\n3. cash" if "net" in asked else None
    )
    scores = rewritten.score_multi_query(study, EVERY)
    # each of q0's texts has its own chunk first; the other two tie, and then the smaller id is second
    by_hand = [1 / 61 + 1 / 62 + 1 / 62, 1 / 62 + 1 / 63 + 1 / 61, 1 / 63 + 1 / 61 + 1 / 63]
    assert scores[0].tolist() == pytest.approx(by_hand)
    assert scores[1].tolist() == pytest.approx([1 / 62, 1 / 63, 1 / 61])  # no rewrite: the question's own list
    assert rewritten.queries(study) == [["net", "profit", "cash"], ["profit"]]


def test_fusion_sums_over_the_lists_that_hold_the_question(judged_study):
    study = judged_study(["net", "profit"], CHUNKS, lambda asked: None)
    only_first = np.array([[True] * 3, [False] * 3])
    lists = [dense_run(study, ["net", "profit"], EVERY), dense_run(study, ["cash", "net"], only_first)]
    fused = fused_scores(study, lists, 60)
    assert fused[0].tolist() == pytest.approx([1 / 61 + 1 / 62, 1 / 62 + 1 / 61, 1 / 63 + 1 / 63])
    assert fused[1].tolist() == pytest.approx([1 / 62, 1 / 63, 1 / 61])


def test_chunks_with_one_key_are_fused_as_the_first_of_them(judged_study):
    study = judged_study(["net"], [*CHUNKS, "net sales"], lambda asked: None)
    study.chunks["key"] = ["a", "b", "c", "a"]
    fused = fused_scores(study, [dense_run(study, ["net"], np.ones((1, 4), bool))], 60)
    assert fused[0, 0] == pytest.approx(1 / 61)
    assert fused[0, 3] == -np.inf


def test_terms_stand_behind_the_question_and_pull_the_search(judged_study):
    study = judged_study(
        ["net", "net sales"], CHUNKS, lambda asked: None if "sales" in asked else "cash flow, cash, Cash"
    )
    assert rewritten.lengthened(study, "keywords") == ["net cash flow, cash", "net sales"]
    assert first(rewritten.score_lengthened(study, EVERY, kind="keywords")) == [1, 0]
    assert rewritten.lengthened(study, "expansion") == rewritten.lengthened(study, "keywords")


def test_lengthened_questions_are_searched_densely_alone(judged_study):
    study = judged_study(["net", "profit"], CHUNKS, lambda asked: "cash flow" if "net" in asked else None)
    scores = rewritten.score_lengthened_dense(study, EVERY, kind="expansion")
    # "net cash flow" shares one of three words with "net sales" and two with "cash flow"; "profit" is a chunk itself
    assert scores[0] == pytest.approx([1 / 6**0.5, 2 / 6**0.5, 0])
    assert scores[1] == pytest.approx([0, 0, 1])


def test_only_candidates_are_retrieved(judged_study):
    study = judged_study(["net", "profit"], CHUNKS, lambda asked: "cash")
    allowed = np.array([[False, True, True], [False, False, False]])
    for scores in (
        rewritten.score_multi_query(study, allowed),
        rewritten.score_lengthened(study, allowed, kind="expansion"),
    ):
        assert (np.isfinite(scores) == allowed).all()


def test_the_questions_themselves_give_what_hybrid_rrf_gives(judged_study):
    questions = ["net sales profit", "cash flow"]
    texts = [*CHUNKS, "net cash", "sales", "net profit in the year", "net cash"]
    study = judged_study(questions, texts, lambda asked: None)
    study.chunks.loc[6, "key"] = study.chunks.loc[3, "key"]
    allowed = np.random.default_rng(0).random((2, 7)) < 0.8
    study.scores = {"dense": dense.score(study, allowed), "bm25": bm25.score(study, allowed)}
    np.testing.assert_array_equal(hybrid_scores(study, questions, allowed), fusion.score(study, allowed), strict=True)


QUESTIONS = ["net sales?", "cash flow?"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. one\n2. two\n3. three", ["one", "two", "three"]),
        ('Here they are:\n1) "one"\n\n2) two', ["one", "two"]),
        ("Query 1: one\nQuery 2: two", ["one", "two"]),
        ("one\ntwo", ["one", "two"]),
        ("1. one\n2. two\n3. three\n4. four", ["one", "two", "three"]),
        ("1. one\n2.\n", ["one"]),
        ("2018 sales of 3M", ["2018 sales of 3M"]),  # a year is no number of a list
        ("", []),
    ],
)
def test_numbered_lines(text, expected):
    assert numbered(text, 3) == expected


def test_copies_are_left_out_whatever_their_case_and_spaces():
    assert different(["Net sales", "net  sales", "cash"]) == ["Net sales", "cash"]


def test_terms_are_parted_by_commas_and_lines_and_come_once():
    assert terms("Key terms: sales, - capex\n2. Sales\n- $1,577") == "sales, capex, $1,577"
    assert terms("") == ""


def test_one_line_has_no_lead_and_no_quotes():
    assert one_line('"Query: net\n sales"') == "net sales"


def test_rewrites_hold_neither_copies_nor_what_was_not_written(judged_study):
    study = judged_study(
        QUESTIONS, ["net"], lambda asked: None if "cash" in asked else "1. Net sales?\n2. sales\n3. sales"
    )
    assert queries(study) == [["net sales?", "sales"], ["cash flow?"]]


def test_texts_are_written_once_with_the_settings_of_their_kind(judged_study):
    study = judged_study(QUESTIONS, ["net"], lambda asked: asked.split("Question: ")[1])
    first, again = (write(study, "rewrites", asked(study)) for _ in range(2))
    assert first.texts == again.texts == {"q0": "net sales?", "q1": "cash flow?"}
    assert len(study.generator.asked) == 2
    sampling = study.generator.asked[0].sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.seed) == (60, 0.0, 13)
    assert "3 paraphrases" in study.generator.asked[0].prompt.user


def test_what_is_missing_is_counted(judged_study):
    study = judged_study(QUESTIONS, ["net"], lambda asked: None if "cash" in asked else "x")
    found = write(study, "keywords", asked(study))
    assert (found.texts, list(found.missing)) == ({"q0": "x"}, ["q1"])

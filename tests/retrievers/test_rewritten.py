"""Rewritten and lengthened questions: which lists are fused, and what a missing text does."""

import numpy as np
import pytest

from lib.retrievers import bm25, dense, fusion, rewritten
from lib.retrievers.fusion import fused_scores
from lib.retrievers.rewritten import dense_run, hybrid_scores

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
    assert scores[1].tolist() == pytest.approx(
        [1 / 62, 1 / 63, 1 / 61]
    )  # no rewrite: the question's own list
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
    np.testing.assert_array_equal(
        hybrid_scores(study, questions, allowed), fusion.score(study, allowed), strict=True
    )

"""Reciprocal rank fusion: the sums by hand, and fusion of chunks that share a key."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.retrievers import fusion
from lib.retrievers.fusion import reciprocal_rank_fusion


def run(question_id: str, chunk_ids: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {"question_id": question_id, "chunk_id": chunk_ids, "rank": range(1, len(chunk_ids) + 1)}
    )


def same(chunk_ids: str) -> pd.Series:
    """Keys equal to the ids: no two chunks are the same."""
    return pd.Series(list(chunk_ids), index=list(chunk_ids))


def scores(fused: dict, question_id: str) -> dict[str, float]:
    return {key: score for (asked, key), score in fused.items() if asked == question_id}


def test_rrf_sums_reciprocal_ranks():
    fused = reciprocal_rank_fusion([run("q1", ["a", "b"]), run("q1", ["b", "c"])], same("abc"))
    assert scores(fused, "q1") == {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}


def test_rrf_with_another_constant():
    fused = reciprocal_rank_fusion([run("q1", ["a", "b"]), run("q1", ["b"])], same("ab"), k_rrf=1)
    assert scores(fused, "q1") == {"a": 1 / 2, "b": 1 / 3 + 1 / 2}


def test_rrf_keeps_questions_apart():
    runs = [pd.concat([run("q1", ["a", "b"]), run("q2", ["b", "a"])])] * 2
    fused = reciprocal_rank_fusion(runs, same("ab"))
    assert scores(fused, "q1") == {"a": 2 / 61, "b": 2 / 62}
    assert scores(fused, "q2") == {"b": 2 / 61, "a": 2 / 62}


def test_rrf_counts_a_text_once_in_a_list_at_its_best_rank():
    keys = pd.Series({"a": "K", "a-again": "K", "b": "L"})
    fused = reciprocal_rank_fusion([run("q1", ["a", "a-again", "b"]), run("q1", ["a-again", "b"])], keys)
    assert scores(fused, "q1") == {"K": 1 / 61 + 1 / 61, "L": 1 / 62 + 1 / 62}


def test_rrf_refuses_runs_over_other_questions():
    with pytest.raises(ValueError, match="the runs do not cover the same questions"):
        reciprocal_rank_fusion([run("q1", ["a"]), run("q2", ["a"])], same("a"))


@given(st.lists(st.permutations("abcdef"), min_size=1, max_size=4), st.integers(1, 100))
def test_rrf_does_not_depend_on_the_order_of_lists(orders, k_rrf):
    lists = [run("q1", list(order)) for order in orders]
    fused = reciprocal_rank_fusion(lists, same("abcdef"), k_rrf)
    assert reciprocal_rank_fusion(lists[::-1], same("abcdef"), k_rrf) == pytest.approx(fused)
    for chunk_id in "abcdef":
        assert fused["q1", chunk_id] == pytest.approx(
            sum(1 / (k_rrf + 1 + order.index(chunk_id)) for order in orders)
        )


def test_score_fuses_dense_and_bm25_among_the_candidates(fake_study):
    matrices = {"dense": np.array([[0.9, 0.8, 0.1]]), "bm25": np.array([[1.0, 2.0, 9.0]])}
    study = fake_study(["?"], ["a", "b", "c"], {"hybrid_rrf": {"k_rrf": 60, "depth": 10}}, matrices)
    allowed = np.array([[True, True, False]])
    got = fusion.score(study, allowed)
    assert got[0, :2] == pytest.approx([1 / 61 + 1 / 62, 1 / 62 + 1 / 61])
    assert got[0, 2] == -np.inf


def test_score_reads_no_deeper_than_the_profile_says(fake_study):
    matrices = {"dense": np.array([[0.9, 0.8, 0.1]]), "bm25": np.array([[1.0, 2.0, 9.0]])}
    study = fake_study(["?"], ["a", "b", "c"], {"hybrid_rrf": {"k_rrf": 60, "depth": 1}}, matrices)
    got = fusion.score(study, np.ones((1, 3), bool))
    assert got[0].tolist() == [np.float32(1 / 61), -np.inf, np.float32(1 / 61)]


def test_score_gives_equal_texts_of_a_page_one_place(fake_study):
    matrices = {"dense": np.array([[0.9, 0.8, 0.1]]), "bm25": np.array([[0.5, 0.6, 0.1]])}
    study = fake_study(["?"], ["a", "a", "c"], {"hybrid_rrf": {"k_rrf": 60, "depth": 10}}, matrices)
    study.chunks["key"] = ["K", "K", "L"]
    got = fusion.score(study, np.ones((1, 3), bool))
    assert got[0].tolist() == [np.float32(2 / 61), -np.inf, np.float32(2 / 62)]

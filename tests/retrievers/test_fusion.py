"""Reciprocal rank fusion: the sums by hand, and fusion of chunks that share a key."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.retrievers import fusion
from lib.retrievers.fusion import reciprocal_rank_fusion, standardised


def run(question_id: str, chunk_ids: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"question_id": question_id, "chunk_id": chunk_ids, "rank": range(1, len(chunk_ids) + 1)})


def fuse(runs: list[pd.DataFrame], keys: dict[str, str] | str, k_rrf: int = 60) -> dict[str, dict[str, float]]:
    """The fused scores by question and chunk id; keys are the ids where only these are given."""
    keys = keys if isinstance(keys, dict) else dict(zip(keys, keys, strict=True))
    asked = sorted({question_id for run in runs for question_id in run["question_id"]})
    chunks = pd.DataFrame({"chunk_id": list(keys), "key": list(keys.values())})
    fused = reciprocal_rank_fusion(runs, pd.DataFrame({"question_id": asked}), chunks, k_rrf)
    rows = [{name: score for name, score in zip(keys, row, strict=True) if np.isfinite(score)} for row in fused]
    return dict(zip(asked, rows, strict=True))


def about(scores: dict[str, float]):
    return pytest.approx(scores, rel=1e-6)


def test_rrf_sums_reciprocal_ranks():
    fused = fuse([run("q1", ["a", "b"]), run("q1", ["b", "c"])], "abc")
    assert fused["q1"] == about({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})


def test_rrf_with_another_constant():
    fused = fuse([run("q1", ["a", "b"]), run("q1", ["b"])], "ab", k_rrf=1)
    assert fused["q1"] == about({"a": 1 / 2, "b": 1 / 3 + 1 / 2})


def test_rrf_keeps_questions_apart():
    fused = fuse([pd.concat([run("q1", ["a", "b"]), run("q2", ["b", "a"])])] * 2, "ab")
    assert fused["q1"] == about({"a": 2 / 61, "b": 2 / 62})
    assert fused["q2"] == about({"b": 2 / 61, "a": 2 / 62})


def test_rrf_counts_a_text_once_in_a_list_at_its_best_rank():
    keys = {"a": "K", "a-again": "K", "b": "L"}
    fused = fuse([run("q1", ["a", "a-again", "b"]), run("q1", ["a-again", "b"])], keys)
    assert fused["q1"] == about({"a": 1 / 61 + 1 / 61, "b": 1 / 62 + 1 / 62})


def test_a_list_without_a_question_adds_nothing_to_it():
    fused = fuse([run("q1", ["b"]), run("q2", ["a"]), run("q1", ["b", "a"])], "ab")
    assert fused["q1"] == about({"a": 1 / 62, "b": 2 / 61})
    assert fused["q2"] == about({"a": 1 / 61})


@given(st.lists(st.permutations("abcdef"), min_size=1, max_size=4), st.integers(1, 100))
def test_rrf_does_not_depend_on_the_order_of_lists(orders, k_rrf):
    lists = [run("q1", list(order)) for order in orders]
    fused = fuse(lists, "abcdef", k_rrf)["q1"]
    assert fuse(lists[::-1], "abcdef", k_rrf)["q1"] == about(fused)
    wanted = {name: sum(1 / (k_rrf + 1 + order.index(name)) for order in orders) for name in "abcdef"}
    assert fused == about(wanted)


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


@pytest.fixture
def any_study(fake_study):
    rng = np.random.default_rng(5)
    matrices = {name: rng.normal(size=(6, 30)) for name in ("dense", "bm25")}
    made = fake_study(["?"] * 6, ["text"] * 30, {"hybrid_rrf": {"k_rrf": 60, "depth": 10}}, matrices)
    made.chunks.loc[7, "key"] = made.chunks.loc[3, "key"]
    return made


def test_the_profile_s_constant_is_taken_where_none_is_given(any_study):
    allowed = np.random.default_rng(6).random((6, 30)) < 0.8
    given, other = (fusion.score(any_study, allowed, k_rrf=k) for k in (60, 10))
    np.testing.assert_array_equal(given, fusion.score(any_study, allowed))
    assert not np.array_equal(given, other)


def test_a_small_constant_prefers_one_first_rank_to_two_middle_ones(fake_study):
    matrices = {"dense": np.array([[9.0, 8, 7, 6]]), "bm25": np.array([[1.0, 8, 9, 7]])}
    study = fake_study(["?"], list("abcd"), {"hybrid_rrf": {"k_rrf": 60, "depth": 10}}, matrices)
    every = np.ones((1, 4), bool)
    small, large = (fusion.score(study, every, k_rrf=k)[0] for k in (1, 100))
    assert small[:2] == pytest.approx([1 / 2 + 1 / 5, 1 / 3 + 1 / 3])
    assert small[0] > small[1]
    assert large[:2] == pytest.approx([1 / 101 + 1 / 104, 1 / 102 + 1 / 102])
    assert large[0] < large[1]


def test_standardised_rows_have_mean_zero_and_deviation_one_and_equal_values_are_zero():
    found = standardised(np.array([[1.0, 3.0], [2.0, 2.0]]))
    assert found == pytest.approx(np.array([[-1, 1], [0, 0]]), abs=1e-5)

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


@pytest.mark.parametrize(
    ("lists", "keys", "fused"),
    [
        ([("q1", "ab"), ("q1", "bc")], "abc", {"q1": {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}}),
        # a text counts once in a list, at its best rank
        ([("q1", "axb"), ("q1", "xb")], {"a": "K", "x": "K", "b": "L"}, {"q1": {"a": 2 / 61, "b": 2 / 62}}),
        # a list without a question adds nothing to it
        ([("q1", "b"), ("q2", "a"), ("q1", "ba")], "ab", {"q1": {"a": 1 / 62, "b": 2 / 61}, "q2": {"a": 1 / 61}}),
    ],
)
def test_rrf_sums_reciprocal_ranks(lists, keys, fused):
    found = fuse([run(question_id, list(ids)) for question_id, ids in lists], keys)
    assert found == {question_id: pytest.approx(scores, rel=1e-6) for question_id, scores in fused.items()}


def test_rrf_keeps_questions_of_one_list_apart():
    fused = fuse([pd.concat([run("q1", ["a", "b"]), run("q2", ["b", "a"])])] * 2, "ab")
    first, second = pytest.approx(2 / 61, rel=1e-6), pytest.approx(2 / 62, rel=1e-6)
    assert fused == {"q1": {"a": first, "b": second}, "q2": {"b": first, "a": second}}


@given(st.lists(st.permutations("abcdef"), min_size=1, max_size=4), st.integers(1, 100))
def test_rrf_does_not_depend_on_the_order_of_lists(orders, k_rrf):
    lists = [run("q1", list(order)) for order in orders]
    wanted = {name: sum(1 / (k_rrf + 1 + order.index(name)) for order in orders) for name in "abcdef"}
    for given_lists in (lists, lists[::-1]):
        assert fuse(given_lists, "abcdef", k_rrf)["q1"] == pytest.approx(wanted, rel=1e-6)


NONE = -np.inf


@pytest.mark.parametrize(
    ("depth", "keys", "allowed", "scores"),
    [
        (10, "abc", [True, True, False], [1 / 61 + 1 / 62, 1 / 62 + 1 / 61, NONE]),  # among the candidates
        (1, "abc", [True] * 3, [1 / 61, NONE, 1 / 61]),  # no deeper than the profile says
        (10, "aac", [True] * 3, [1 / 61 + 1 / 62, NONE, 1 / 62 + 1 / 61]),  # equal texts of a page have one place
    ],
)
def test_score_fuses_dense_and_bm25(fake_study, depth, keys, allowed, scores):
    matrices = {"dense": np.array([[0.9, 0.8, 0.1]]), "bm25": np.array([[1.0, 2.0, 9.0]])}
    study = fake_study(["?"], ["a", "b", "c"], {"hybrid_rrf": {"k_rrf": 60, "depth": depth}}, matrices)
    study.chunks["key"] = list(keys)
    assert fusion.score(study, np.array([allowed]))[0] == pytest.approx(np.array(scores))


def test_a_small_constant_prefers_one_first_rank_to_two_middle_ones_and_the_profile_s_is_the_default(fake_study):
    matrices = {"dense": np.array([[9.0, 8, 7, 6]]), "bm25": np.array([[1.0, 8, 9, 7]])}
    study = fake_study(["?"], list("abcd"), {"hybrid_rrf": {"k_rrf": 100, "depth": 10}}, matrices)
    every = np.ones((1, 4), bool)
    assert fusion.score(study, every, k_rrf=1)[0, :2] == pytest.approx([1 / 2 + 1 / 5, 1 / 3 + 1 / 3])
    assert fusion.score(study, every)[0, :2] == pytest.approx([1 / 101 + 1 / 104, 1 / 102 + 1 / 102])


def test_standardised_rows_have_mean_zero_and_deviation_one_and_equal_values_are_zero():
    found = standardised(np.array([[1.0, 3.0], [2.0, 2.0]]))
    assert found == pytest.approx(np.array([[-1, 1], [0, 0]]), abs=1e-5)

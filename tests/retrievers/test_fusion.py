"""Reciprocal rank fusion: the sums by hand, and fusion of chunks that share a key."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.retrievers import fusion
from lib.retrievers.fusion import reciprocal_rank_fusion, standardised

NONE = -np.inf


def run(**ranked: str) -> pd.DataFrame:
    """A run that ranks the chunks of a question in this order, such as ``q1="ab"``."""
    return pd.DataFrame(
        [(name, one) for name, ids in ranked.items() for one in ids], columns=["question_id", "chunk_id"]
    )


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
        ([run(q1="ab"), run(q1="bc")], "abc", {"q1": {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}}),
        # a text counts once in a list, at its best rank
        ([run(q1="axb"), run(q1="xb")], {"a": "K", "x": "K", "b": "L"}, {"q1": {"a": 2 / 61, "b": 2 / 62}}),
        # a list without a question adds nothing to it
        ([run(q1="b"), run(q2="a"), run(q1="ba")], "ab", {"q1": {"a": 1 / 62, "b": 2 / 61}, "q2": {"a": 1 / 61}}),
        ([run(q1="ab", q2="ba")] * 2, "ab", {"q1": {"a": 2 / 61, "b": 2 / 62}, "q2": {"a": 2 / 62, "b": 2 / 61}}),
    ],
)
def test_rrf_sums_reciprocal_ranks(lists, keys, fused):
    assert fuse(lists, keys) == {name: pytest.approx(scores, rel=1e-6) for name, scores in fused.items()}


@given(st.lists(st.permutations("abcdef"), min_size=1, max_size=4), st.integers(1, 100))
def test_rrf_does_not_depend_on_the_order_of_lists(orders, k_rrf):
    lists = [run(q1=order) for order in orders]
    wanted = {name: sum(1 / (k_rrf + 1 + order.index(name)) for order in orders) for name in "abcdef"}
    for given_lists in (lists, lists[::-1]):
        assert fuse(given_lists, "abcdef", k_rrf)["q1"] == pytest.approx(wanted, rel=1e-6)


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


def test_a_row_s_constant_stands_before_the_profile_s(fake_study):
    matrices = {"dense": np.array([[9.0, 8]]), "bm25": np.array([[8.0, 9]])}
    study = fake_study(["?"], list("ab"), {"hybrid_rrf": {"k_rrf": 100, "depth": 10}}, matrices)
    assert fusion.score(study, np.ones((1, 2), bool), k_rrf=1)[0] == pytest.approx([1 / 2 + 1 / 3] * 2)
    assert fusion.score(study, np.ones((1, 2), bool))[0] == pytest.approx([1 / 101 + 1 / 102] * 2)


def test_standardised_rows_have_mean_zero_and_deviation_one_and_equal_values_are_zero():
    found = standardised(np.array([[1.0, 3.0], [2.0, 2.0]]))
    assert found == pytest.approx(np.array([[-1, 1], [0, 0]]), abs=1e-5)

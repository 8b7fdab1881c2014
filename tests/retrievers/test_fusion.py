"""Reciprocal rank fusion: the sums by hand, and fusion of chunks that share a key."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.retrievers import fusion
from lib.retrievers.fusion import reciprocal_rank_fusion, standardised

NONE = -np.inf


def fuse(runs: list[dict[str, str]], ids: str, keys: str = "", k_rrf: int = 60) -> list[list[float]]:
    """The fused scores of the questions, by id, of runs such as ``{"q1": "ab"}``; keys are the ids unless given."""
    pairs = [[(question, one) for question, ranked in run.items() for one in ranked] for run in runs]
    frames = [pd.DataFrame(run, columns=["question_id", "chunk_id"]) for run in pairs]
    asked = pd.DataFrame({"question_id": sorted({question for run in runs for question in run})})
    chunks = pd.DataFrame({"chunk_id": list(ids), "key": list(keys or ids)})
    return reciprocal_rank_fusion(frames, asked, chunks, k_rrf).tolist()


@pytest.mark.parametrize(
    ("lists", "chunks", "fused"),
    [
        # a text counts once in a list, at its best rank
        ([{"q1": "axb"}, {"q1": "xb"}], ("axb", "KKL"), [[2 / 61, NONE, 2 / 62]]),
        # a list without a question adds nothing to it
        ([{"q1": "b"}, {"q2": "a"}, {"q1": "ba"}], ("ab",), [[1 / 62, 2 / 61], [1 / 61, NONE]]),
    ],
)
def test_rrf_sums_reciprocal_ranks(lists, chunks, fused):
    assert fuse(lists, *chunks) == [pytest.approx(row) for row in fused]


@given(st.lists(st.permutations("abcdef"), min_size=1, max_size=4), st.integers(1, 100))
def test_rrf_does_not_depend_on_the_order_of_lists(orders, k_rrf):
    wanted = [sum(1 / (k_rrf + 1 + order.index(name)) for order in orders) for name in "abcdef"]
    for lists in (orders, orders[::-1]):
        assert fuse([{"q1": order} for order in lists], "abcdef", k_rrf=k_rrf)[0] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "keys", "allowed", "options", "scores"),
    [
        ((60, 10), "abc", [True, True, False], {}, [1 / 61 + 1 / 62, 1 / 62 + 1 / 61, NONE]),  # among the candidates
        ((60, 1), "abc", [True] * 3, {}, [1 / 61, NONE, 1 / 61]),  # no deeper than the profile says
        ((60, 10), "aac", [True] * 3, {}, [1 / 61 + 1 / 62, NONE, 1 / 62 + 1 / 61]),  # equal texts have one place
        ((100, 1), "abc", [True] * 3, {"k_rrf": 1}, [1 / 2, NONE, 1 / 2]),  # a row's constant before the profile's
        ((100, 1), "abc", [True] * 3, {}, [1 / 101, NONE, 1 / 101]),
    ],
)
def test_score_fuses_dense_and_bm25(fake_study, settings, keys, allowed, options, scores):
    matrices = {"dense": np.array([[0.9, 0.8, 0.1]]), "bm25": np.array([[1.0, 2.0, 9.0]])}
    profile = {"hybrid_rrf": dict(zip(("k_rrf", "depth"), settings, strict=True))}
    study = fake_study(["?"], ["a", "b", "c"], profile, matrices)
    study.chunks["key"] = list(keys)
    assert fusion.score(study, np.array([allowed]), **options)[0] == pytest.approx(np.array(scores))


def test_standardised_rows_have_mean_zero_and_deviation_one_and_equal_values_are_zero():
    found = standardised(np.array([[1.0, 3.0], [2.0, 2.0]]))
    assert found == pytest.approx(np.array([[-1, 1], [0, 0]]), abs=1e-5)

"""Reranking to a depth: how many chunks are read, of which first stage, and that only their heads are."""

import numpy as np
import pytest

from lib.retrievers import rerank_depth

EVERY = np.ones((1, 4), bool)


class Counting:
    """Scores a passage by how often it says cash; notes what it read."""

    def __init__(self):
        self.read = []

    def scores(self, pairs) -> np.ndarray:
        self.read += [passage for _, passage in pairs]
        return np.array([passage.split().count("cash") for _, passage in pairs], float)


@pytest.fixture
def study(fake_study, tokenizer_folder, monkeypatch):
    monkeypatch.setattr(rerank_depth, "HEAD_TOKENS", 32)
    late = "net " * 60 + "cash cash cash"
    first_stages = {"dense": np.array([[0.9, 0.8, 0.7, 0.6]]), "bm25": np.array([[1.0, 2.0, 3.0, 4.0]])}
    made = fake_study(
        ["cash"],
        ["net", late, "cash cash", "cash"],
        {"rerank": {"weights": str(tokenizer_folder), "window": 64}},
        first_stages,
    )
    made.kept["cross_encoder", 32] = Counting()
    return made


def test_the_first_n_are_read_and_the_rest_is_not_retrieved(study):
    assert rerank_depth.score(study, EVERY, n=3).tolist() == [[0, 0, 2, -np.inf]]


def test_another_first_stage_gives_other_chunks(study):
    assert rerank_depth.score(study, EVERY, n=2, first_stage="bm25").tolist() == [[-np.inf, -np.inf, 2, 1]]


def test_a_deeper_row_reads_only_what_a_shallower_did_not(study):
    rerank_depth.score(study, EVERY, n=2)
    study.kept["cross_encoder", 32].read.clear()
    rerank_depth.score(study, EVERY, n=4)
    assert study.kept["cross_encoder", 32].read == ["cash cash", "cash"]


def test_only_candidates_are_read(study):
    allowed = np.array([[False, True, False, True]])
    assert rerank_depth.score(study, allowed, n=1).tolist() == [[-np.inf, 0, -np.inf, -np.inf]]

"""The pairs that the rerank depths need: each once, the shallow ones first, so that a killed run has whole depths."""

import numpy as np
import pytest

from lib.analysis import depths


@pytest.fixture
def study(fake_study):
    rng = np.random.default_rng(2)
    matrices = {name: rng.normal(size=(3, 200)) for name in depths.POOLS}
    made = fake_study(["?"] * 3, ["text"] * 200, {}, matrices)
    made.candidates = lambda condition: np.ones((3, 200), bool)
    return made


def test_every_pair_is_there_once(study):
    pairs = depths.pool(study, "standard")
    keys = set(zip(pairs["question_id"], pairs["chunk_id"], strict=True))
    assert len(keys) == len(pairs)
    for name, n in depths.POOLS.items():
        run = study.rank_method(name, study.candidates("standard"), n)
        assert set(zip(run["question_id"], run["chunk_id"], strict=True)) <= keys


def test_shallow_pairs_come_first(study):
    ranks = depths.pool(study, "standard")["rank"].to_numpy()
    assert (np.diff(ranks) >= 0).all()
    assert ranks[-1] == 100

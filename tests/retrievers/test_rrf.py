"""RRF with other constants: the study's own constant gives hybrid_rrf, a small one lets the first ranks decide."""

import numpy as np
import pytest

from lib.retrievers import fusion, rrf


@pytest.fixture
def study(fake_study):
    rng = np.random.default_rng(5)
    matrices = {name: rng.normal(size=(6, 30)) for name in ("dense", "bm25")}
    made = fake_study(["?"] * 6, ["text"] * 30, {"hybrid_rrf": {"k_rrf": 60, "depth": 10}}, matrices)
    made.chunks.loc[7, "key"] = made.chunks.loc[3, "key"]
    return made


def test_the_studys_constant_gives_hybrid_rrf(study):
    allowed = np.random.default_rng(6).random((6, 30)) < 0.8
    np.testing.assert_array_equal(rrf.score(study, allowed, k_rrf=60), fusion.score(study, allowed))


def test_a_small_constant_prefers_one_first_rank_to_two_middle_ones(fake_study):
    matrices = {"dense": np.array([[9.0, 8, 7, 6]]), "bm25": np.array([[1.0, 8, 9, 7]])}
    study = fake_study(["?"], list("abcd"), {"hybrid_rrf": {"k_rrf": 60, "depth": 10}}, matrices)
    every = np.ones((1, 4), bool)
    small, large = (rrf.score(study, every, k_rrf=k)[0] for k in (1, 100))
    assert small[:2] == pytest.approx([1 / 2 + 1 / 5, 1 / 3 + 1 / 3])
    assert small[0] > small[1]
    assert large[:2] == pytest.approx([1 / 101 + 1 / 104, 1 / 102 + 1 / 102])
    assert large[0] < large[1]

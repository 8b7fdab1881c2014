"""The linear ranker, the trees, their sum, and the files that they are saved in."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from lib.ahead.combiner import FEATURES, Combiner, fit_combiner, fit_linear, linear_scores, per_question
from lib.ahead.pool import Pool
from lib.profile import load_profile


def made_pool(n_questions: int = 20, n_pages: int = 12) -> Pool:
    """Pairs in which the gold page is the one whose ``window`` is largest."""
    values = np.random.default_rng(0).normal(size=(n_questions * n_pages, len(FEATURES)))
    table = pd.DataFrame(values, columns=list(FEATURES)).astype(np.float32)
    rows, columns = np.divmod(np.arange(n_questions * n_pages), n_pages)
    best = table["window"].to_numpy().reshape(n_questions, n_pages).argmax(axis=1)
    return Pool(rows, columns, table, columns == best[rows])


@pytest.fixture(scope="module")
def fit():
    """Fit a combiner of a few trees on made pairs."""

    def fit(*seeds: int) -> Combiner:
        changes = {"ahead.min_pages": 5, "ahead.seeds": list(seeds)}
        return fit_combiner(made_pool(), load_profile("default").replaced(changes).ahead, 5, 0.5)

    return fit


def test_linear_scores_are_weights_times_standardised_values():
    numbers = {"mean": [1.0, 0.0], "scale": [2.0, 1.0], "weights": [3.0, -1.0]}
    table = pd.DataFrame({"a": [5.0, np.nan], "b": [1.0, 9.0]})
    assert linear_scores(pd.DataFrame({"features": ["a", "b"], **numbers}), table).tolist() == [
        3 * 2 - 1,
        3 * -0.5 - 5,
    ]  # 9 is clipped at 5


def test_linear_ranker_finds_what_decides():
    assert FEATURES[fit_linear(made_pool(), 0.001)["weights"].argmax()] == "window"


def test_questions_without_gold_are_left_out():
    pool = made_pool()
    kept = pool.rows >= 5
    without = fit_linear(dataclasses.replace(pool, gold=pool.gold & kept), 0.1)["weights"]
    assert np.allclose(without, fit_linear(pool.part(kept), 0.1)["weights"], atol=0.05)


def test_per_question_has_mean_zero_and_deviation_one():
    scores = per_question(np.array([1.0, 3.0, 10.0, 10.0]), np.array([4, 4, 7, 7]))
    assert np.allclose(scores, [-1, 1, 0, 0])


def test_a_saved_combiner_gives_the_same_scores(tmp_path, fit):
    combiner, pool = fit(13, 14), made_pool()
    combiner.save(tmp_path / "model", {"question_ids": ["q1"]})
    assert np.array_equal(Combiner.load(tmp_path / "model").scores(pool), combiner.scores(pool))
    assert json.loads((tmp_path / "model" / "combiner.json").read_text())["question_ids"] == ["q1"]
    assert {path.suffix for path in (tmp_path / "model").iterdir()} == {".json", ".txt"}


def test_same_data_gives_the_same_trees(fit):
    pool = made_pool()
    assert np.array_equal(fit(13).scores(pool), fit(13).scores(pool))

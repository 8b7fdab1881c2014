"""The linear ranker, the trees, their sum, and the files they are kept in."""

import json

import numpy as np
import pandas as pd
import pytest

from lib.ahead.combiner import Combiner, fit_combiner, per_question
from lib.ahead.features import Pool
from lib.ahead.linear import FEATURES, LinearRanker, fit_linear
from lib.profile import load_profile


@pytest.fixture(scope="module")
def settings():
    return load_profile("default").replaced({"ahead.min_pages": 5}).ahead


def made_pool(n_questions: int = 20, n_pages: int = 12, seed: int = 0) -> tuple[Pool, np.ndarray]:
    """Pairs in which the gold page is the one whose ``window`` is largest."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n_questions), n_pages)
    table = pd.DataFrame(rng.normal(size=(len(rows), len(FEATURES))), columns=list(FEATURES)).astype(
        np.float32
    )
    best = table["window"].to_numpy().reshape(n_questions, n_pages).argmax(axis=1)
    gold = np.tile(np.arange(n_pages), n_questions) == best[rows]
    return Pool(rows, np.tile(np.arange(n_pages), n_questions), table), gold


def test_linear_scores_are_weights_times_standardised_values():
    ranker = LinearRanker(("a", "b"), (1.0, 0.0), (2.0, 1.0), (3.0, -1.0))
    table = pd.DataFrame({"a": [5.0, np.nan], "b": [1.0, 9.0]})
    assert ranker.scores(table).tolist() == [3 * 2 - 1, 3 * -0.5 - 5]


def test_linear_ranker_finds_what_decides():
    pool, gold = made_pool()
    ranker = fit_linear(pool.table, gold, pool.rows, 0.001)
    weights = dict(zip(ranker.features, ranker.weights, strict=True))
    assert max(weights, key=weights.get) == "window"


def test_questions_without_gold_are_left_out():
    pool, gold = made_pool()
    without = np.where(pool.rows < 5, False, gold)
    kept = pool.rows >= 5
    both = [
        fit_linear(pool.table, without, pool.rows, 0.1).weights,
        fit_linear(pool.table[kept], gold[kept], pool.rows[kept], 0.1).weights,
    ]
    assert np.allclose(*both, atol=0.05)


def test_per_question_has_mean_zero_and_deviation_one():
    scores = per_question(np.array([1.0, 3.0, 10.0, 10.0]), np.array([4, 4, 7, 7]))
    assert np.allclose(scores, [-1, 1, 0, 0])


def test_combiner_survives_its_files(tmp_path, settings):
    pool, gold = made_pool()
    combiner = fit_combiner(pool.table, gold, pool.rows, settings, 10, 0.5, (13, 14))
    combiner.save(tmp_path / "model", {"question_ids": ["q1"]})
    loaded = Combiner.load(tmp_path / "model")
    assert np.array_equal(loaded.scores(pool), combiner.scores(pool))
    assert json.loads((tmp_path / "model" / "combiner.json").read_text())["question_ids"] == ["q1"]
    assert {path.suffix for path in (tmp_path / "model").iterdir()} == {".json", ".txt"}


def test_same_data_gives_the_same_trees(settings):
    pool, gold = made_pool()
    first, second = (fit_combiner(pool.table, gold, pool.rows, settings, 5, 0.0, (13,)) for _ in range(2))
    assert np.array_equal(first.scores(pool), second.scores(pool))

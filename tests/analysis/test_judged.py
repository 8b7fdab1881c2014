"""Judged measures beside gold ones: the table's means and the correlation's arithmetic."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from lib.analysis import judged
from lib.profile import Settings

COMPANIES = np.repeat(np.arange(20), 3)


@pytest.fixture
def pair() -> tuple[pd.Series, pd.Series]:
    rng = np.random.default_rng(3)
    a = pd.Series(rng.integers(0, 5, 60).astype(float))
    return a, a + rng.normal(0, 2, 60).round()


def test_rank_correlation_is_spearman_s_within_its_interval(pair):
    value, low, high = judged.rank_correlation(*pair, COMPANIES, 500, 0)
    assert value == pytest.approx(spearmanr(*pair).statistic)
    assert -1 <= low < value < high <= 1


def test_rank_correlation_draws_whole_companies(pair):
    """Companies that are each a copy of one pattern all have its correlation: no draw differs."""
    pattern = pd.Series([0.0, 1.0, 2.0] * 20), pd.Series([1.0, 0.0, 2.0] * 20)
    value, low, high = judged.rank_correlation(*pattern, COMPANIES, 200, 0)
    assert (low, high) == pytest.approx((value, value))
    alone = judged.rank_correlation(*pattern, np.arange(60), 200, 0)
    assert alone[2] - alone[1] > 0.1


def test_a_constant_measure_has_no_correlation():
    found = judged.rank_correlation(pd.Series([0.0] * 60), pd.Series(range(60)), COMPANIES, 50, 0)
    assert np.isnan(found).all()


def test_the_table_has_both_means_of_every_name(pair):
    a, b = pair
    ids = [f"q{n}" for n in range(60)]
    values = pd.DataFrame({"name": "Dense", "question_id": ids, "judged": a, "gold": b})
    values = pd.concat([values, values.assign(name="BM25", judged=0.5)], ignore_index=True)
    questions = pd.DataFrame({"question_id": ids, "company": COMPANIES})
    profile = Settings({"significance": Settings({"n_draws": 50, "seed": 0})})
    study = SimpleNamespace(questions=questions, profile=profile)
    table = judged.judged_table(study, values, "Chunks of", judged.PRECISION)
    assert table["Chunks of"].tolist() == ["Dense", "BM25"]
    assert table["Judged by the model"].str[:4].tolist() == [f"{a.mean():.2f}", "0.50"]
    assert table["Judged by gold pages"].str[:4].tolist() == [f"{b.mean():.2f}"] * 2
    assert table["n"].tolist() == [60, 60]
    assert table.loc[1, "Rank correlation"] == "–"


def test_labels_are_counted_beside_gold_pages():
    questions = pd.DataFrame({"question_id": ["q0"], "doc_name": ["A"], "gold_pages": [[0]]})
    pairs = pd.DataFrame({"question_id": "q0", "doc_name": "A", "page": [0, 1, 2], "chunk_id": list("abc")})
    labelled = pairs.assign(label=["RELEVANT", "RELEVANT", "IRRELEVANT"])
    table = judged.labels_table(SimpleNamespace(questions=questions), labelled).set_index("Label")
    assert table.loc["relevant"].tolist() == [2, "67", 1, "50.0"]
    assert table.loc["irrelevant", "On a gold page"] == 0

"""Who is worth it: the frontier of made-up points, what was timed, and labels that keep apart."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.analysis.frontier import TIME_COLUMNS, TIMES, costs, on_frontier
from lib.metrics.frame import Metrics
from lib.show.figures import spread_labels

QUALITY = {"dense": 0.40, "bm25": 0.30, "query_expansion": 0.42, "hyde": 0.10}


@pytest.mark.parametrize(
    ("cost", "quality", "best"),
    [
        ([1, 2, 2, 5, 5], [0.2, 0.4, 0.3, 0.4, 0.5], [True, True, False, False, True]),
        ([1, 1.5, 2.1], [0.4, 0.5, 0.5], [True, True, False]),
        ([1, 1], [0.5, 0.5], [True, True]),
        ([np.nan, 1], [0.9, 0.2], [False, True]),  # a point without a cost beats none
    ],
)
def test_a_point_is_off_the_frontier_when_another_is_cheaper_and_as_good(cost, quality, best):
    assert list(on_frontier(cost, quality)) == best


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_frontier_is_never_empty_and_rises_with_what_is_spent(points):
    cost, quality = np.array(points, float).T
    best = on_frontier(cost, quality)
    assert best.any()
    for i, j in itertools.permutations(np.flatnonzero(best), 2):
        assert cost[i] >= cost[j] or quality[i] < quality[j]


@pytest.fixture
def study(tmp_path):
    """A study of which three rows were timed: expansion costs more than dense, BM25 less without a timed index."""
    rows = [
        ("dense", 20, 0.021, 0.020, 0.023, 0, 0, 0, 100.0, "2 cores"),
        ("bm25", 20, 0.005, 0.004, 0.006, 0, 0, 0, np.nan, "2 cores"),
        ("query_expansion", 20, 0.022, 0.019, 0.024, 0, 0, 0, 150.0, "2 cores"),
        ("hyde", 20, 5.0, 4.5, 5.5, 66.7, 101.4, 0, 100.0, "2 cores"),
    ]
    pd.DataFrame(rows, columns=TIME_COLUMNS).to_csv(tmp_path / TIMES, index=False)
    return SimpleNamespace(home=tmp_path, published=None)


ABOUT = {"condition": "standard", "question_id": "q1", "metric": "page_recall", "k": 5}
METRICS = Metrics(pd.DataFrame({"method": list(QUALITY), "value": list(QUALITY.values())}).assign(**ABOUT))


def test_rows_are_compared_by_the_median_of_their_seconds(study):
    table = costs(study, METRICS, QUALITY, "page_recall", 5).set_index("method")
    assert table["quality"].to_dict() == QUALITY
    assert table["is_best"].to_dict() == {"dense": True, "bm25": True, "query_expansion": True, "hyde": False}


def test_only_rows_that_were_timed_or_published_and_are_wanted_have_costs(study, tmp_path):
    wanted = ["bm25", "splade"]
    assert costs(study, METRICS, wanted, "page_recall", 5)["method"].tolist() == ["bm25"]
    published = SimpleNamespace(manifest={"files": {TIMES: ""}}, file=tmp_path.joinpath)
    elsewhere = SimpleNamespace(home=tmp_path / "none", published=published)
    assert len(costs(elsewhere, METRICS, QUALITY, "page_recall", 5)) == 4
    (study.home / TIMES).unlink()
    assert costs(study, METRICS, wanted, "page_recall", 5).empty


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15))
def test_labels_keep_their_gap_and_their_order_and_stay_if_they_are_apart(heights):
    placed = spread_labels(heights, 0.1)
    assert (np.diff(placed[np.argsort(heights, kind="stable")]) > 0.1 - 1e-9).all()
    assert spread_labels([0.9, 0.1, 0.5], 0.2) == pytest.approx([0.9, 0.1, 0.5])
    assert spread_labels([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])

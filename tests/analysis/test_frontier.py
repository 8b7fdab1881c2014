"""Who is worth it: the frontier of made-up points, what a row costs, and labels that keep apart."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from lib.analysis.frontier import cost, frontier_of, on_frontier
from lib.methods import METHODS, Method
from lib.profile import Settings
from lib.show.scoreboard import cost_and_quality, spread_labels


def test_a_point_is_off_the_frontier_when_another_is_cheaper_and_as_good():
    seconds = [1.0, 2.0, 2.0, 5.0, 5.0]
    quality = [0.2, 0.4, 0.3, 0.4, 0.5]
    assert list(on_frontier(seconds, quality)) == [True, True, False, False, True]


def test_equal_points_are_both_on_the_frontier():
    assert list(on_frontier([1.0, 1.0], [0.5, 0.5])) == [True, True]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_frontier_is_never_empty_and_rises(points):
    seconds, quality = np.array(points, float).T
    best = on_frontier(seconds, quality)
    assert best.any()
    order = np.lexsort((quality[best], seconds[best]))
    assert (np.diff(quality[best][order]) >= 0).all()


def test_a_lower_bound_is_no_candidate():
    table = pd.DataFrame(
        {"question_s": [1.0, 0.1], "question_missing": ["", "embeddings/queries"], "quality": [0.2, 0.9]}
    )
    assert list(frontier_of(table, "question")) == [True, False]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Two questions; a row ``written`` over ``first``, for which a model wrote two texts of three seconds."""
    rows = {
        "first": Method("first", "First", "", "", None),
        "written": Method("written", "Written", "", "", None, uses=("first",), writes={"text": 0.5}),
        "other": Method("other", "Rerank", "", "", None, ("rerank",), ("first",), {"n": 8}),
        "sized": Method("sized", "Sized", "", "", None, chunking="small"),
    }
    for name, row in rows.items():
        monkeypatch.setitem(METHODS, name, row)
    records = [
        {"kind": "text", "seconds": 3.0},
        {"kind": "text", "seconds": 3.0},
        {"kind": "answer", "seconds": 9},
    ]
    (tmp_path / "generations.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "benchmarks.csv").write_text("part,variant,value,unit\nReranking,ours,4.0,pairs a second\n")
    asked = {
        "first": ["vectors"],
        "written": ["vectors", "embeddings/queries", "runs/standard/first"],
        "other": ["vectors", "runs/standard/first"],
        "sized": ["small vectors"],
    }
    seconds = {"vectors": 100.0, "embeddings/queries": 2.0, "small vectors": 70.0}
    seconds |= {f"runs/standard/{name}": 1.0 for name in rows}

    def record(reference: str) -> dict | None:
        stage = reference.rpartition("/")[0]
        return {"wall_s": seconds[stage]} if stage in seconds else None

    def run_entry(name: str) -> SimpleNamespace:
        stages = tuple(f"{stage}/k" for stage in asked[name])
        return SimpleNamespace(stage=f"runs/standard/{name}", key="k", asked=stages)

    return SimpleNamespace(
        home=tmp_path,
        memo=lambda key, make: make(),
        published=None,
        seconds=seconds,
        questions=range(2),
        profile=Settings({"rerank": Settings({"n": 20})}),
        run_entry=run_entry,
        store=SimpleNamespace(record=record),
    )


def test_a_row_pays_for_what_it_reads_and_for_its_texts(study):
    found = cost(study, "written")
    assert found.index_s == 100.0
    assert found.question_s == pytest.approx((2 + 1 + 1 + 6 * 0.5) / 2)
    assert found.question_missing == ()
    assert cost(study, "written", stages_only=True).question_s == (2 + 1 + 1) / 2


def test_a_reranker_pays_for_its_candidates(study):
    assert cost(study, "other").question_s == pytest.approx((1 + 1) / 2 + 8 / 4.0)


def test_another_chunk_table_has_stages_of_its_own(study):
    assert cost(study, "sized").index_s == 70.0
    del study.seconds["small vectors"]
    assert cost(study, "sized").index_missing == ("small vectors",)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15))
def test_labels_keep_their_gap_and_their_order(heights):
    placed = spread_labels(heights, 0.1)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(placed[order]) > 0.1 - 1e-9).all()


def test_labels_that_are_apart_stay():
    assert spread_labels([0.9, 0.1, 0.5], 0.2) == pytest.approx([0.9, 0.1, 0.5])
    assert spread_labels([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])


def test_the_labels_of_the_picture_do_not_overlap():
    names = list(METHODS)[:6]
    table = pd.DataFrame(
        {
            "method": names,
            "question_s": np.arange(1.0, 7.0),
            "index_s": np.arange(1.0, 7.0),
            "question_missing": "",
            "index_missing": "",
            "quality": [0.300, 0.301, 0.302, 0.303, 0.304, 0.9],
        }
    )
    drawn = cost_and_quality(table, "page recall@5")
    drawn.canvas.draw()
    for axes in drawn.axes:
        boxes = [Text.get_window_extent(text) for text in axes.texts]
        boxes = sorted(boxes, key=lambda box: box.y0)
        assert len(boxes) == 6
        assert all(low.y1 <= high.y0 + 1 for low, high in itertools.pairwise(boxes))

"""Figures: parts that several plots share, a layout for a phone, and pages of filings as pictures."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.data.locate import open_dataset
from lib.show import figures
from lib.show.drawn import OF_DEMO, OF_FILING, PHONE_WIDTH, for_phone
from lib.show.pictures import marked_lines, page_pair


@pytest.mark.parametrize(("collection", "gid"), [("demo", OF_DEMO), ("mine", OF_FILING)])
def test_a_page_of_the_demo_alone_may_be_published(collection, gid):
    dataset = replace(open_dataset("demo"), collection=collection)
    study = SimpleNamespace(dataset=dataset, need_filings=lambda what: None)
    gold, other = ("TARNBECK_2022_10K", np.int64(11)), ("TARNBECK_2022_10K", 12)
    drawn = page_pair(study, gold, "Gross profit", other, "retrieved")
    heads = ["gold: TARNBECK_2022_10K, page 12", "retrieved: TARNBECK_2022_10K, page 13"]
    assert [axes.get_title() for axes in drawn.axes] == heads
    assert [axes.get_gid() for axes in drawn.axes] == [gid] * 2


def test_lines_that_are_mostly_evidence_get_a_bar_and_a_long_page_is_cut():
    shown = marked_lines("the cover page\nnet sales rose\n2018\nthe end of it", "net sales rose", width=14)
    assert shown.splitlines() == ["  the cover page", "▌ net sales rose", "  2018 the end", "  of it"]
    shown = marked_lines("word " * 100, "", width=20, n_lines=3)
    assert shown.splitlines() == ["  word word word word"] * 3 + ["  …"]


def test_a_bar_of_what_is_lost_adds_to_one_and_small_parts_have_no_number():
    rows = [("dense", 0.25, 0.5, 0.25), ("Mine", 0.75, 0.24, 0.01)]
    (axes,) = figures.lost_bars(pd.DataFrame(rows, columns=["method", "found", "page", "document"])).axes
    texts = {one.get_text() for one in axes.texts}
    assert {round(bar.get_x() + bar.get_width(), 9) for bar in axes.containers[-1]} == {1.0}
    assert {text for text in texts if text.isdigit()} == {"24", "25", "50", "75"}


def test_a_phone_has_panels_below_each_other_and_no_layout_of_a_figure_whose_texts_would_overlap(two_panels):
    drawn, panels = two_panels
    assert for_phone(drawn)
    upper, lower = (axes.get_window_extent() for axes in panels)
    assert (drawn.get_figwidth(), lower.y1 < upper.y0) == (PHONE_WIDTH, True)
    assert (panels[1].get_legend(), len(drawn.legends)) == (None, 1)
    crowded, axes = plt.subplots(figsize=(7.6, 2))
    for place in (0, 0.3, 0.6):
        axes.text(place, 0.5, "a name beside its point")
    assert not for_phone(crowded)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15))
def test_labels_keep_their_gap_and_their_order(heights):
    placed = figures.spread_labels(heights, 0.1)
    assert (np.diff(placed[np.argsort(heights, kind="stable")]) > 0.1 - 1e-9).all()


def test_labels_stay_where_they_are_apart():
    assert figures.spread_labels([0.9, 0.1, 0.5], 0.2) == pytest.approx([0.9, 0.1, 0.5])
    assert figures.spread_labels([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])

"""Plots of frames: lines without names, panels of dots, shares beside shares, and pairs below zero."""

import pandas as pd

from lib.analysis.calibration import given_to, panels
from lib.analysis.judged import drawn_kappas
from lib.show import plot
from lib.show.tables import reported_versions

DOTS = pd.DataFrame({"mean": [0.2, 0.6], "low": [-0.1, 0.5], "high": [0.4, 0.7]}, ["dense", "mine"])


def test_curves_have_a_panel_per_value_and_a_line_per_other_value():
    rows = [("company", fold, epoch, 1 / epoch) for fold in range(5) for epoch in (1, 2)]
    frame = pd.DataFrame([*rows, ("filing", 0, 1, 1.0)], columns=["folds by", "fold", "epoch", "loss"])
    figure = plot.curves(frame, "epoch", "loss", "folds by", "fold")
    assert [axes.get_title() for axes in figure.axes] == ["folds by company", "folds by filing"]
    assert [len(axes.lines) for axes in figure.axes] == [5, 1]
    assert plot.curves(frame.iloc[:0], "epoch", "loss", "folds by", "fold") is None


def test_panels_of_dots_share_their_rows_and_some_are_hollow():
    figure = plot.dot_panels({"κ, number": DOTS.assign(filled=[True, False]), "κ, text": DOTS})
    first, second = figure.axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["Dense", "mine"]
    assert [len({*map(tuple, axes.collections[-1].get_facecolors())}) for axes in (first, second)] == [2, 1]
    assert len(first.lines) == 1, "at zero, as an interval reaches below it"
    assert plot.dot_panels({}) is None
    assert plot.dot_panels({"κ": DOTS.iloc[:0]}) is None


def test_equal_shares_are_on_the_diagonal():
    frame = pd.DataFrame({"people": [0.5, 0.2, 0.1], "measure": [0.5, 0.3, 0.1], "given": ["a search", "", "a search"]})
    (axes,) = plot.agreement(frame, "people", "measure", "given").axes
    assert [len(dots.get_offsets()) for dots in axes.collections] == [2, 1]
    assert plot.agreement(frame.iloc[:0], "people", "measure", "given") is None


def test_pairs_begin_at_zero_unless_one_is_below_it():
    left = [plot.pairs(one, one).axes[0].get_xlim()[0] for one in (DOTS, DOTS.clip(lower=0.1))]
    assert left[0] < -0.1
    assert left[1] == 0


def test_kappas_are_laid_out_by_kind_and_by_labelling():
    agreed = pd.DataFrame(
        [("f1", "text", 3, 0.2), ("f1", "number", 2, 0.5), ("right", "number", 2, 0.9), ("f1", "all", 5, 0)]
    )
    agreed = agreed.set_axis(["metric", "kind", "n", "kappa"], axis=1).assign(kappa_low=0.0, kappa_high=1.0)
    found = panels(agreed)
    assert [*found] == ["κ, text (n = 3)", "κ, number (n = 2)"]
    assert found["κ, number (n = 2)"]["filled"].to_dict() == {"f1": False, "right": True}
    assert found["κ, text (n = 3)"]["mean"].isna().tolist() == [False, True]
    rows = pd.DataFrame({"labelling": ["judge", "gold page"], "hand": "useful", "kappa": [0.0, 0.4]})
    assert drawn_kappas(rows)["filled"].to_dict() == {"judge – useful": False, "gold page – useful": True}


def test_what_a_system_was_given_is_in_its_name():
    found = [given_to(name) for name in ("gpt4_closedBook", "llama2_sharedStore", "gpt4_inContext", "gpt4_oracle", "x")]
    assert found == ["no filing", "a search", "the whole filing", "the gold pages", ""]


def test_the_versions_of_the_reproduced_study_report_the_same_contexts():
    found = reported_versions("financebench").set_index("context")
    assert found.loc["pages given", ["Numeric match, English", "Numeric match, French"]].tolist() == [0.34, 0.70]
    assert reported_versions("demo").empty

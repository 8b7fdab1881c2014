"""What the chapter on question sets shows of small frames."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis.claims import claims
from lib.analysis.question_sets import WITH_GOLD, Kind
from lib.show import question_sets as show
from lib.stats import Interval, Resampling

IDS = ["q1", "q2", "q3", "q4"]


def test_leaderboards_have_the_first_sets_best_row_first_and_the_finding_what_bm25_finds_more():
    tables = {
        "one": pd.DataFrame({"bm25": [0.0, 0, 0, 1], "dense": [1.0, 1, 0, 0]}, IDS),
        "two": pd.DataFrame({"bm25": [1.0, 1, 1, 1], "dense": [0.0, 0, 0, 0]}, IDS),
    }
    draws = {name: {"company": Resampling(pd.Series(list("aabb"), IDS), 100)} for name in tables}
    shown = show.leaderboards(tables, draws)
    assert shown["Method"].tolist() == ["Dense", "BM25"]
    assert [cell[:4] for cell in shown["one, by company"]] == ["0.50", "0.25"]
    assert [cell[:4] for cell in shown["two, by company"]] == ["0.00", "1.00"]
    said = show.finding(tables, draws)
    assert said.startswith("BM25 minus dense search, in page recall: -0.25 [-1.00, +0.50] on one")
    assert show.finding({}, {}).endswith("not measured.")


def test_a_feature_that_was_left_out_has_a_dash_and_shares_are_in_percent():
    whole = pd.DataFrame({"feature": WITH_GOLD, "mean": 0.5, "low": 0.4, "high": 0.6})
    shown = show.coefficients_table({"one": whole, "two": whole[whole["feature"] != "names_company"]})
    row = shown.set_index("Feature").loc["names its company"]
    assert row.tolist() == ["0.50 [0.40, 0.60]", "–"]
    assert len(shown) == len(WITH_GOLD)
    means = pd.DataFrame(dict.fromkeys(WITH_GOLD, 0.254) | {"n": 150}, ["one"])
    row = show.described_table(means).iloc[0]
    assert row["Share of its rare words on a gold page (%)"] == "25"
    assert "length" not in " ".join(row.index)


def test_a_contradiction_has_a_row_per_claim_with_what_was_measured():
    first, second = claims()[0], claims()[1]
    board = pd.DataFrame(
        {"verdict": ["holds", "not measured"], "estimate": [0.2, np.nan], "low": 0.1, "high": 0.3},
        [first.id, second.id],
    )
    found = pd.DataFrame([{"about": "words", "first": first.id, "second": second.id, "resolved": "open"}])
    shown = show.contradictions_table(found, {"one": board})
    assert shown["Claim"].tolist() == [first.claim, second.claim]
    assert shown["one"].tolist() == ["holds: 0.20 [0.10, 0.30]", "not measured"]


def test_what_to_expect_says_whether_it_can_be_relied_on():
    rows = pd.DataFrame(
        [("bm25", 0.7, 0.3, 0.2, 0.4, 0.1)], columns=["method", "recall", "gain", "low", "high", "error"]
    )
    sure, unsure = (show.kind_sentences(Kind(0.9, 0.05, rows.assign(error=error))) for error in (0.1, 0.35))
    assert "90 % of the questions are nearer" in sure
    assert "BM25 is expected to find most, with +0.30" in sure
    assert ", more than" in sure
    assert ", no more than" in unsure


def test_pictures_have_a_line_for_each_row_and_set():
    means = pd.DataFrame({"one": [0.1, 0.2], "two": [0.4, 0.3]}, ["bm25", "dense"])
    drawn = show.bump(means)
    assert [list(line.get_ydata()) for line in drawn.axes[0].lines] == [[2, 1], [1, 2]]
    found = pd.DataFrame({"set": ["one", "two"], "overlap": [0.2, 0.8], "mean": 0.1, "low": 0.0, "high": 0.2})
    labels = show.gains_by_overlap(found).axes[0].get_legend_handles_labels()[1]
    assert labels == ["one", "two"]
    plt.close("all")


def test_doses_are_one_line_per_set_with_its_control_and_its_crossing():
    rows = [("deleted", 0, -0.1), ("deleted", 1, -0.2), ("appended", 0, -0.1), ("appended", 1, 0.1), ("control", 1, 0)]
    found = pd.DataFrame(rows, columns=["kind", "dose", "mean"]).assign(low=-0.3, high=0.3, set="one")
    level = {"one": Interval(0.5, 0.0, 1.0, 4, 2), "two": Interval(np.nan, np.nan, np.nan, 4, 2)}
    axes = show.gains_by_dose(found, level).axes[0]
    dots = [line.get_xydata().tolist() for line in axes.lines]
    assert [[-1, -0.2], [0, -0.1], [1, 0.1]] in dots
    assert [[1, 0]] in dots
    assert [[0.5, 0]] in dots
    assert {"one", "words of another page", "+0.5"} <= {text.get_text() for text in axes.texts}
    assert show.dose_finding(level) == "at +0.5 [+0.0, +1.0] words on one, at no dose on two"
    recalls = found[found["kind"] == "deleted"].assign(bm25=[0.8, 0.2], dense=[0.5, 0.1])
    assert show.most_deleted(recalls) == "BM25 0.80 → 0.20 and dense 0.50 → 0.10 on one"
    plt.close("all")

"""Chapter 04's measurements on a tiny study, and the tables made of them."""

import numpy as np
import pandas as pd
import pytest

from lib.metrics.frame import HEADLINE
from lib.page_scorer import mistakes
from lib.page_scorer.measured import MISTAKE, PAGES, SCORERS, ablation, measurements
from lib.show import page_scorer as report

QUESTIONS = [f"q{n}" for n in range(4)]


@pytest.fixture(scope="module")
def measured(make_study):
    study = make_study(epochs=1)
    return study, measurements(study, k=3)


def metrics_of(**values: list[float]) -> pd.DataFrame:
    rows = [
        (method, "standard", question, "page_recall", 5, value)
        for method, column in values.items()
        for question, value in zip(QUESTIONS, column, strict=True)
    ]
    return pd.DataFrame(rows, columns=["method", "condition", "question_id", "metric", "k", "value"])


def test_every_scorer_is_measured_at_every_number_of_pages(measured):
    study, frame = measured
    for part in ("pages", "ablation"):
        table = report.recall_table(study, frame, part)
        assert len(table) == len(SCORERS)
        assert (table["n"] == 12).all()
    ceiling = frame[
        (frame["part"] == "pages") & (frame["metric"] == "page_recall") & (frame["k"] == max(PAGES))
    ]
    assert (ceiling["value"] == 1).all()  # there are 48 pages


def test_more_pages_never_hide_a_gold_page(measured):
    _, frame = measured
    own = frame[(frame["part"] == "pages") & (frame["metric"] == "page_recall")]
    wide = own.pivot(index=["scorer", "by", "item"], columns="k", values="value")
    assert (np.diff(wide[list(PAGES)].to_numpy(), axis=1) >= 0).all()


def test_training_is_reported_fold_by_fold(measured):
    _, frame = measured
    table = report.training_table(frame)
    assert table["Folds by"].tolist() == ["company"] * 3 + ["filing"] * 3
    assert table["Questions held out"].tolist() == [4] * 6
    assert (table["Filings in both"] == 0).all()
    assert table["Companies in both"].iloc[:3].tolist() == ["0 of 2"] * 3


def test_more_tokens_are_compared_on_the_first_fold(measured):
    study, frame = measured
    table = report.tokens_table(study, frame)
    assert table["Tokens of a page"].tolist() == [16, 16, 32, 32, 256]
    assert table["Page scorer"].tolist() == ["Untrained encoder", "Fine-tuned"] * 2 + ["Untrained encoder"]
    assert (table["n"] == 4).all()


def test_measuring_twice_gives_the_stored_frame(measured):
    study, frame = measured
    again = measurements(study, k=3)
    pd.testing.assert_frame_equal(again, frame)


def test_mistakes_are_reported_for_the_light_scorer_and_not_trained_for_the_other(measured):
    study, frame = measured
    table = report.mistakes_table(study, frame)
    assert table["Scorer"].unique().tolist() == ["Light map"]
    assert table["Added by the mistake"].tolist()[0] == "–"
    assert table["n"].tolist() == [12, 6, 12, 12, 12]
    takeaway = report.mistakes_takeaway(study, frame)
    largest = table["Added by the mistake"].iloc[1:].str[:5].astype(float).max()
    assert takeaway.startswith(f"Light map: most is added ({largest:+.2f}) where ")
    assert "its interval is above 0 for: " in takeaway
    assert "`python -m lib mistakes`" in takeaway


def test_mistakes_are_not_measured_again_for_another_number_of_pages(measured, monkeypatch):
    study, frame = measured
    monkeypatch.setattr(mistakes, "measure_light", lambda *_: pytest.fail("measured again"))
    other = measurements(study.with_changes({"page_scorer.pages": 2}), k=3)
    before, after = (table[table["part"].str.startswith(MISTAKE)] for table in (frame, other))
    assert len(before)
    assert before.reset_index(drop=True).equals(after.reset_index(drop=True))
    assert (other.loc[other["part"] == "page order", "k"] == 2).all()


def test_the_ablation_has_the_recall_of_the_measurements_and_table_6_beside_it(measured, monkeypatch):
    study, frame = measured
    of_filing = frame[(frame["part"] == "ablation") & (frame["scorer"] == "full") & (frame["by"] == "filing")]
    there = of_filing.groupby(["metric", "k"])["value"].mean()
    found = ablation(study, k=3)
    here = found.groupby(["metric", "n_pages"])["value"].mean()
    for metric in ("doc_recall", "page_recall"):
        np.testing.assert_allclose(here[metric], there[metric], atol=1e-5)
    assert set(found["metric"]) == {*HEADLINE}
    assert report.REPORTED not in report.kept_table(study, found)
    monkeypatch.setattr(
        report, "reported_rows", lambda *_: {"P=5": {"doc_recall": 0.92, "page_recall": 0.48}}
    )
    table = report.kept_table(study, found)
    assert table["P"].tolist() == [*PAGES]
    assert table[report.REPORTED].tolist() == ["0.92 / 0.48 / – / –", "–", "–", "–"]


def test_folds_have_a_mean_and_a_spread():
    frame = pd.DataFrame({"part": "fold", "by": "company", "item": QUESTIONS, "value": [0, 0, 1, 1]})
    row = report.folds_table(frame, metrics_of(dense=[1, 0, 1, 1]), {"dense": "company"}, k=5).iloc[0]
    assert row[["Fold 0", "Fold 1", "Mean", "SD", "n"]].tolist() == ["0.50", "1.00", "0.75", "0.35", 4]


def test_gains_and_losses_are_counted_by_question_type():
    metrics = metrics_of(dense=[1, 0, 0.5, 0], bm25=[0, 0, 1, 0])
    questions = pd.DataFrame({"question_id": QUESTIONS, "question_type": ["a", "a", "b", "b"]})
    table = report.gains_table(metrics, questions, "dense", "bm25", k=5).set_index("Question type")
    assert table.loc["all", ["Gains", "Same", "Loses", "n"]].tolist() == [1, 2, 1, 4]
    assert table["Mean difference"].tolist() == ["+0.50", "-0.25", "+0.12"]
    assert report.gained_and_lost(metrics, ["dense", "bm25"], k=5)["question_id"].tolist() == ["q0", "q2"]

"""Chapter 04's measurements on a tiny study, and the tables made of them."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib.analysis import mistakes
from lib.analysis.page_scorer import (
    BEST,
    CHOICES,
    IDENTITIES,
    MISTAKE,
    PAGES,
    SCORERS,
    TRAINED,
    ablation,
    choices,
    measurements,
    setups,
)
from lib.metrics.frame import HEADLINE, Metrics
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer.search import ORDERS
from lib.show import page_scorer as report
from lib.show.page_scorer import RIVALS
from tests.made import values

ALL = [*TRAINED, *BEST]


@pytest.fixture(scope="module")
def measured(make_study):
    study = make_study(epochs=1)
    return study, measurements(study, k=3)


def metrics_of(*rows: tuple) -> Metrics:
    """Page recall at k of rows of method, condition, k, and values by question."""
    parts = [values(numbers.index, numbers, "page_recall", k, *place) for *place, k, numbers in rows]
    return Metrics(pd.concat(parts))


def test_every_scorer_is_measured_at_every_number_of_pages(measured):
    study, frame = measured
    for part in ("pages", "ablation"):
        assert report.recall_table(study, frame, part)["n"].tolist() == [12] * len(SCORERS)
    own = frame[(frame["part"] == "pages") & (frame["metric"] == "page_recall")]
    wide = own.pivot(index=["scorer", "by", "item"], columns="k", values="value")[list(PAGES)]
    assert (wide[max(PAGES)] == 1).all()  # there are 48 pages
    assert (np.diff(wide.to_numpy(), axis=1) >= 0).all()  # more pages never hide a gold page


def test_training_is_reported_fold_by_fold_and_more_tokens_on_the_first(measured):
    study, frame = measured
    table = report.training_table(frame)
    assert table["Folds by"].tolist() == ["company"] * 3 + ["filing"] * 3
    assert table["Questions held out"].tolist() == [4] * 6
    assert (table["Filings in both"] == 0).all()
    assert table["Companies in both"].iloc[:3].tolist() == ["0 of 2"] * 3
    table = report.tokens_table(study, frame)
    assert table["Tokens of a page"].tolist() == [16, 16, 32, 32, 256]
    assert table["Page scorer"].tolist() == ["Untrained encoder", "Fine-tuned"] * 2 + ["Untrained encoder"]
    assert (table["n"] == 4).all()


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


def test_measurements_are_stored_and_mistakes_not_measured_again_for_another_number_of_pages(measured, monkeypatch):
    study, frame = measured
    pd.testing.assert_frame_equal(measurements(study, k=3), frame)
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
    monkeypatch.setattr(report, "reported_rows", lambda *_: {"P=5": {"doc_recall": 0.92, "page_recall": 0.48}})
    table = report.kept_table(study, found)
    assert table["P"].tolist() == [*PAGES]
    assert table[report.REPORTED].tolist() == ["0.92 / 0.48 / – / –", "–", "–", "–"]


@pytest.fixture(scope="module")
def every_setup(measured):
    study, _ = measured
    return study, setups(study, k=3)


def test_a_set_up_of_the_method_table_has_the_recall_of_its_run(every_setup):
    study, frame = every_setup
    assert len(frame.columns) == 2 + len(ALL) * len(ORDERS) * len(IDENTITIES)
    for method, parts in {
        "page_scorer": ("full", "company", "base", "none"),
        "page_scorer_sum": ("full", "company", "sum", "none"),
        "page_scorer_light_order_covers": ("light", "company", "page", "covers"),
        "page_scorer_light_sum_records": ("light", "company", "sum", "records"),
        "page_scorer_filing": ("full", "filing", "base", "none"),
        "page_scorer_best_order_records": ("best", "company", "page", "records"),
    }.items():
        for metric in (doc_recall, page_recall):
            wanted = metric(study.run(method), study.questions, 3)
            found = report.of_setup(frame, *parts, metric=metric.__name__)
            assert found.to_dict() == pytest.approx(wanted.to_dict(), abs=1e-6), method
    given = [name for name in frame if name.endswith("/given")]
    assert (frame.loc[frame["metric"] == "doc_recall", given] == 1).all(axis=None)


def test_every_set_up_is_shown_and_a_difference_changes_one_part_of_it(every_setup):
    study, frame = every_setup
    shown = report.setups_table(study, frame)
    assert len(shown) == len(ALL) * len(ORDERS)
    assert shown["Filing given"].str.endswith(" (1.00)").all()
    table = report.differences(study, frame)
    assert len(table) == 2 * len(report.DIFFERENCES)
    rows = table.set_index(["name", "around"])
    page, base = (report.of_setup(frame, "full", "company", order, "none").mean() for order in ("page", "base"))
    assert rows.loc[("Chunks in page order", "as published"), ["without", "with"]].tolist() == [base, page]
    np.testing.assert_allclose(table["difference"], table["with"] - table["without"])
    assert report.differences_table(table)["n"].tolist() == [12] * len(report.DIFFERENCES)


def test_one_chunk_of_each_page_never_exceeds_all_of_them(measured):
    study, _ = measured
    found = choices(study, k=3)
    several = found[found["metric"] == "several"]
    assert len(several) == 12
    assert several["value"].between(0, 1).all()
    table = found[found["metric"] != "several"].set_index(["metric", "k", "question_id", "choice"])["value"].unstack()
    assert set(table) == {*CHOICES}
    assert (table.drop(columns="all").le(table["all"] + 1e-9, axis=0)).all(axis=None)
    assert report.choices_table(study, found, 3)["n"].tolist() == [12] * len(CHOICES)


def with_kinds(study) -> SimpleNamespace:
    """The study's first two questions are metrics questions."""
    questions = study.questions.assign(question_type=["metrics-generated"] * 2 + ["other"] * 10)
    return SimpleNamespace(profile=study.profile, questions=questions)


def test_a_method_is_compared_with_its_rivals_over_all_and_over_metrics_questions(measured):
    study = with_kinds(measured[0])
    half, none = (pd.Series(values * 6, study.questions["question_id"]) for values in ([1.0, 0], [0.0, 0]))
    given = (("dense", "standard", 5, half), ("bm25", "standard", 5, none), ("bm25", "oracle-document", 5, half))
    rivals = {"dense": [("bm25", "standard"), ("bm25", "oracle-document")]}
    tests = report.rivals_tests(study, metrics_of(*given), rivals, 5)
    assert report.told_apart(tests.assign(**{"p (Holm)": [0.049, 0.051]})) == {"all": 1, "metrics": 0, "pairs": 2}
    table = report.tests_table(tests)
    assert table["Rival"].tolist() == ["BM25", "BM25, filing given"]
    assert table["Mean, metrics"].tolist() == ["0.50", "0.50"]
    assert table["Difference"].str[:4].tolist() == ["0.50", "0.00"]
    assert table["p (Holm), metrics"].iloc[1] == "1.000"


def test_the_claim_about_metrics_questions_is_tested_for_every_set_up(every_setup):
    study, frame = every_setup
    table = report.metrics_table(with_kinds(study), frame, pd.Series(0.0, study.questions["question_id"]))
    assert table["n"].tolist() == [2] * len(ALL) * len(ORDERS) * 2
    first = report.of_setup(frame, "light", "filing", "base", "none").iloc[:2].mean()
    assert table["Difference, metrics"].iloc[0].startswith(f"{first:.2f} [")
    none = report.metrics_table(study, frame, pd.Series(0.0, study.questions["question_id"]))
    assert set(none["p (Holm), metrics"]) == {"–"}  # no question of the type


def test_the_figure_has_a_mark_for_each_rival(every_setup):
    study, frame = every_setup
    asked = study.questions["question_id"]
    rows = [(*RIVALS[one], 3, pd.Series(0.25 * place, asked)) for place, one in enumerate(IDENTITIES)]
    drawn = report.setups_figure(study, frame, metrics_of(*rows), 3, 0.55)
    (marks,) = (part for part in drawn.axes[0].collections if part.get_label().startswith("dense"))
    assert [segment[0][0] for segment in marks.get_segments()] == [0, 0.25, 0.5, 0.75]
    plt.close(drawn)


def test_folds_have_a_mean_and_a_spread():
    frame = pd.DataFrame({"part": "fold", "by": "company", "item": list("abcd"), "value": [0, 0, 1, 1]})
    metrics = metrics_of(("dense", "standard", 5, pd.Series([1.0, 0, 1, 1], list("abcd"))))
    row = report.folds_table(frame, metrics, {"dense": "company"}, k=5).iloc[0]
    assert row[["Fold 0", "Fold 1", "Mean", "SD", "n"]].tolist() == ["0.50", "1.00", "0.75", "0.35", 4]

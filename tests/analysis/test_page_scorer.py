"""The measurements of page scorers and of two encoders side by side, on a tiny study."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis import encoders, mistakes, page_scorer
from lib.analysis.page_scorer import BEST, IDENTITIES, MISTAKE, PAGES, SCORERS, TRAINED, measurements, setups
from lib.methods import METHODS
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer import trainer
from lib.page_scorer.search import ORDERS

ALL = [*TRAINED, *BEST]


@pytest.fixture(scope="module")
def measured(make_study):
    study = make_study(epochs=1)
    return study, measurements(study, k=3)


def test_every_scorer_is_measured_at_every_number_of_pages_every_fold_and_mistake_and_more_tokens_on_one(measured):
    _, frame = measured
    both = frame[frame["part"].isin(["pages", "ablation"]) & (frame["metric"] == "page_recall")]
    assert (both.groupby(["part", "scorer", "by", "k"]).size() == 12).all()
    assert len(both) == 2 * len(SCORERS) * len(PAGES) * 12
    own = frame[(frame["part"] == "pages") & (frame["metric"] == "page_recall")]
    wide = own.pivot(index=["scorer", "by", "item"], columns="k", values="value")[list(PAGES)]
    assert (wide[max(PAGES)] == 1).all()  # there are 48 pages
    assert (np.diff(wide.to_numpy(), axis=1) >= 0).all()  # more pages never hide a gold page
    training = frame[frame["part"] == "training"].pivot(index=["by", "item"], columns="metric", values="value")
    assert training["n_questions"].to_list() == [4] * 6
    assert (training["n_shared_filings"] == 0).all()
    assert (training.loc["company", "n_shared_companies"] == 0).all()
    assert (training.loc["company", "n_test_companies"] == 2).all()
    tokens = frame[(frame["part"] == "tokens") & (frame["metric"] == "page_recall_both")]
    counted = tokens.groupby(["k", "scorer"]).size().to_dict()
    trained = {(n, scorer): 4 for n in (16, 32) for scorer in ("full", "untrained")}
    assert counted == trained | {(256, "untrained"): 4}
    slips = frame[frame["part"].str.startswith(MISTAKE) & (frame["metric"] == "page_recall")]
    assert set(slips["scorer"]) == {"light"}
    assert slips.groupby("part", sort=False).size().to_list() == [12, 6, 12, 12, 12]
    recall = slips.groupby("part")["value"].mean()
    assert recall[f"{MISTAKE}epoch"] >= recall[f"{MISTAKE}{mistakes.HONEST}"]  # the length is chosen on the test fold


def test_measurements_are_stored_and_mistakes_not_measured_again_for_another_number_of_pages(measured, monkeypatch):
    study, frame = measured
    pd.testing.assert_frame_equal(measurements(study, k=3), frame)
    monkeypatch.setattr(mistakes, "measure_light", lambda *_: pytest.fail("measured again"))
    other = measurements(study.with_changes({"page_scorer.pages": 2}), k=3)
    before, after = (table[table["part"].str.startswith(MISTAKE)] for table in (frame, other))
    assert len(before)
    assert before.reset_index(drop=True).equals(after.reset_index(drop=True))
    assert (other.loc[other["part"] == "page order", "k"] == 2).all()
    monkeypatch.setattr(trainer, "train", lambda *_, **__: pytest.fail("trained"))
    assert page_scorer.measured_mistakes(study, "full", 3) is None  # unless the command has measured them


def test_a_set_up_of_the_method_table_has_the_recall_of_its_run(measured):
    frame = setups(study := measured[0], k=3)
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
            found = frame[frame["metric"] == metric.__name__].set_index("question_id")["/".join(parts)]
            assert found.to_dict() == pytest.approx(wanted.to_dict(), abs=1e-6), method
    given = [name for name in frame if name.endswith("/given")]
    assert (frame.loc[frame["metric"] == "doc_recall", given] == 1).all(axis=None)


def test_a_cell_is_the_run_of_its_row_where_there_is_one(measured):
    found = encoders.cells(study := measured[0])
    rows = {"none": "page_then_chunk", "training": "page_scorer_light", "order+training": "page_scorer_light_order"}
    rows |= {"match+order+training": "page_scorer_light_order_records"}
    assert len(found.columns) == 1 + 2**3
    for cell, row in rows.items():
        values = page_recall(study.run(row), study.questions, 5)
        pd.testing.assert_series_equal(found.set_index("question_id")[cell], values, check_names=False)
    assert encoders.pairs(study) == {}  # of which nothing is published


def test_losses_and_what_is_found_are_all_there_is(measured, make_study, monkeypatch):
    second = make_study(epochs=1)
    second.profile.embedder["window"] = 8  # reads less of a chunk
    runs = [(name, one) for name in ("bm25", "dense", "dense_records") for one in METHODS[name].conditions]
    monkeypatch.setattr(encoders, "measured", lambda profile: runs)
    table = encoders.changes(measured[0], second, 5)
    assert {*table["method"]} == {"dense", "dense_records"}  # no encoder changes BM25
    for name in ("first", "second"):
        assert table[[f"{what}_{name}" for what in encoders.LOSSES]].sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert (table.loc[table["searched"] == encoders.GIVEN, ["lost_first", "lost_second"]] == 0).all(axis=None)
    differences = table[[f"{what}_difference" for what in encoders.LOSSES]].sum(axis=1)
    assert differences.to_numpy() == pytest.approx(0.0)


def test_kept_pages_are_a_column_per_part_scorer_folds_and_number_of_pages(measured):
    _, frame = measured
    kept = page_scorer.kept_pages(frame)
    assert kept.shape == (12, len(SCORERS) * (2 * len(PAGES) + 1))
    rows = frame[(frame["part"] == "pages") & (frame["metric"] == "page_recall") & (frame["k"] == 5)]
    rows = rows[(rows["scorer"] == "light") & (rows["by"] == "company")].set_index("item")["value"]
    assert kept["pages", "light", "company", 5].to_dict() == rows.to_dict()
    assert kept.columns[0] == ("pages", "untrained", "", 5)  # in the order of the measurements


def test_values_are_averaged_in_the_fold_that_tests_a_question_and_these_means_are_averaged():
    folds = [("fold", "", "company", item, "fold", 0, fold) for item, fold in zip("abcd", (0, 0, 0, 1), strict=True)]
    measured, values = (
        pd.DataFrame(folds, columns=page_scorer.COLUMNS),
        pd.DataFrame({"x": [1.0, 0, 0.5, 1]}, [*"abcd"]),
    )
    found = page_scorer.by_fold(measured, values, {"x": "company"}).loc["x"]
    assert found.to_dict() == {
        "Folds by": "company",
        "Fold 0": 0.5,
        "Fold 1": 1.0,
        "mean": 0.75,
        "SD": pytest.approx(0.125**0.5),
        "n": 4,
    }
    assert page_scorer.by_fold(measured[:0], values, {"x": "company"}).empty


def test_the_reason_why_no_scorer_is_trained_is_a_sentence(measured):
    study, frame = measured
    assert page_scorer.why_untrained(study, frame) == ""
    reason = page_scorer.why_untrained(study, frame[:0])
    assert reason.startswith("No scorer is trained here")
    assert reason.endswith(".")


def test_each_change_is_of_a_set_up_that_is_measured():
    setup = {"scorer": "full", "by": "company", "order": "base", "identity": "none"}
    for change in page_scorer.CHANGES.values():
        scorer, by, order, identity = (setup | change).values()
        assert (scorer, by) in ALL
        assert order in ORDERS
        assert identity in IDENTITIES

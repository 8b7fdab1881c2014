"""The measurements of page scorers and of two encoders side by side: made up, and of a tiny study."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from lib.analysis import encoders, mistakes, page_scorer
from lib.analysis.encoders import FACTORS, combination, shapley, subsets
from lib.analysis.page_scorer import LOSSES, PAGES, SCORERS, TOKENS, UNMEASURED, measurements, setups
from lib.methods import METHODS
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer import trainer
from lib.stats import DIFFERENCE, Resampling

DRAWS = Resampling(pd.Series([*"aabb"], ["q0", "q1", "q2", "q3"]), 500)


@pytest.fixture(scope="module")
def measured(make_study):
    study = make_study(epochs=1)
    return study, measurements(study, k=3)


def test_every_scorer_is_measured_at_every_number_of_pages_and_every_fold_mistake_and_number_of_tokens(measured):
    study, found = measured
    assert found.kept.shape == (12, len(SCORERS) * (2 * len(PAGES) + 1))
    of_pages = found.kept["pages"].to_numpy().reshape(12, len(SCORERS), len(PAGES))
    assert (of_pages[..., -1] == 1).all()  # there are 48 pages
    assert (np.diff(of_pages, axis=2) >= 0).all()  # more pages never hide a gold page
    folds = page_scorer.trained_folds(found).set_index("by")
    assert folds["n_questions"].to_list() == [4] * 6
    assert (folds["n_shared_filings"] == 0).all()
    assert folds.loc["company", ["n_shared_companies", "n_test_companies"]].to_numpy().tolist() == [[0, 2]] * 3
    tokens = page_scorer.by_tokens(found, Resampling.of(study))
    trained = {(n, scorer) for n in (16, 32) for scorer in ("full", "untrained")}
    assert {*zip(tokens["tokens"], tokens["scorer"], strict=True)} == trained | {(256, "untrained")}
    assert [*found.mistakes] == ["light"]
    recall = found.mistakes["light"]
    assert recall.count().to_list() == [12, 6, 12, 12, 12]
    assert recall["epoch"].mean() >= recall[mistakes.HONEST].mean()  # the length is chosen on the test fold
    assert page_scorer.why_untrained(study, found) == ""
    assert page_scorer.why_untrained(study, UNMEASURED)
    assert page_scorer.trained_folds(UNMEASURED).empty
    assert page_scorer.by_tokens(UNMEASURED, DRAWS).empty


def test_what_stage_two_loses_is_the_gain_of_stage_one_less_that_of_both(measured):
    study, found = measured
    frame = setups(study, k=3)
    recall = frame[frame["metric"] == "page_recall"].set_index("question_id").drop(columns="metric")
    stages = page_scorer.by_stage(study, found, recall, 3)
    untrained = page_recall(study.run("page_then_chunk"), study.questions, 3).mean()
    both = recall["full/company/base/none"].mean() - untrained
    assert stages.loc["lost", "difference"] == pytest.approx(stages.loc["stage one", "difference"] - both)


def test_measurements_are_stored_and_mistakes_not_measured_again_for_another_number_of_pages(measured, monkeypatch):
    study, found = measured
    monkeypatch.setattr(mistakes, "measure_light", lambda *_: pytest.fail("measured again"))
    pd.testing.assert_frame_equal(measurements(study, k=3).kept, found.kept)
    other = measurements(study.with_changes({"page_scorer.pages": 2}), k=3)
    pd.testing.assert_frame_equal(other.mistakes["light"], found.mistakes["light"])
    assert {*other.kept["page order"].columns.get_level_values("pages")} == {2}
    monkeypatch.setattr(trainer, "train", lambda *_, **__: pytest.fail("trained"))
    assert page_scorer.measured_mistakes(study, "full", 3) is None  # unless the command has measured them


def test_a_fold_has_its_last_loss_and_minutes_and_a_number_of_tokens_the_means_of_both_stages():
    training = pd.DataFrame([{"by": "company", "fold": 0, "wall_s": 90.0, "light_steps": 50}])
    losses = pd.DataFrame([("company", 0, 1, 0.9), ("company", 0, 2, 0.4)], columns=LOSSES)
    tokens = [("full", 128, "q0", 1.0, 0.5, 0.5), ("full", 128, "q1", 0.0, 0.0, 0.5)]
    found = UNMEASURED._replace(training=training, losses=losses, tokens=pd.DataFrame(tokens, columns=TOKENS))
    (fold,) = page_scorer.trained_folds(found).to_dict("records")
    assert (fold["fold"], fold["last_loss"], fold["minutes"]) == (0, 0.4, 1.5)
    row = page_scorer.by_tokens(found, DRAWS).iloc[0]
    assert (row["minutes"], row["recall_of_kept_pages"], row["page_recall"], row["n"]) == (0.5, 0.5, 0.25, 2)


def test_a_mistake_adds_its_mean_less_the_honest_one_and_a_question_without_gold_is_left_out():
    values = {"none": [0.0, 0.0, 1.0, 1.0], "page-zero": [0.0, np.nan, 1.0, 1.0], "epoch": [1.0, 0.0, 1.0, 1.0]}
    found = mistakes.added({"light": pd.DataFrame(values, DRAWS.company.index)}, DRAWS).set_index("mistake")
    assert found["n"].tolist() == [4, 3, 4]
    assert found["difference"].tolist() == pytest.approx([0, 1 / 6, 1 / 4])
    assert found.loc["none", DIFFERENCE[1:]].tolist() == [0, 0]
    assert found.loc["epoch", DIFFERENCE[1:]].tolist() == [0, 0.5]  # company b has none of it, a all
    # of both companies 2 of 3 are found in place of 2 of 4
    assert found.loc["page-zero", DIFFERENCE[1:]].tolist() == pytest.approx([0, 2 / 3 - 2 / 4])
    assert mistakes.added({}, DRAWS).empty


def test_values_are_averaged_in_the_fold_that_tests_a_question_and_these_means_are_averaged():
    fold_of = pd.DataFrame({"company": [0, 0, 0, 1]}, [*"abcd"])
    values = pd.DataFrame({"x": [1.0, 0, 0.5, 1]}, [*"abcd"])
    found = page_scorer.by_fold(fold_of, values, {"x": "company"}).loc["x"]
    assert found.tolist() == ["company", 0.5, 1.0, 0.75, pytest.approx(0.125**0.5), 4]
    assert page_scorer.by_fold(fold_of[:0], values, {"x": "company"}).empty


def test_a_set_up_of_the_method_table_has_the_recall_of_its_run(measured):
    study, _ = measured
    frame = setups(study, k=3)
    for method, setup in {
        "page_scorer": "full/company/base/none",
        "page_scorer_light_order_covers": "light/company/page/covers",
        "page_scorer_light_sum_records": "light/company/sum/records",
        "page_scorer_filing": "full/filing/base/none",
        "page_scorer_best_order_records": "best/company/page/records",
    }.items():
        for metric in (doc_recall, page_recall):
            found = frame[frame["metric"] == metric.__name__].set_index("question_id")[setup]
            assert found.to_dict() == pytest.approx(metric(study.run(method), study.questions, 3).to_dict(), abs=1e-6)
    given = [name for name in frame if name.endswith("/given")]
    assert (frame.loc[frame["metric"] == "doc_recall", given] == 1).all(axis=None)


def test_a_cell_is_the_run_of_its_row_where_there_is_one(measured):
    study, _ = measured
    found = encoders.cells(study).set_index("question_id")
    rows = {"none": "page_then_chunk", "training": "page_scorer_light", "order+training": "page_scorer_light_order"}
    rows |= {"match+order+training": "page_scorer_light_order_records"}
    for cell, row in rows.items():
        values = page_recall(study.run(row), study.questions, 5)
        pd.testing.assert_series_equal(found[cell], values, check_names=False)
    assert encoders.pairs(study) == {}  # of which nothing is published


def test_losses_and_what_is_found_are_all_there_is(measured, make_study, monkeypatch):
    second = make_study(epochs=1)
    second.profile.embedder["window"] = 8  # reads less of a chunk
    runs = [(name, one) for name in ("bm25", "dense", "dense_records") for one in METHODS[name].conditions]
    monkeypatch.setattr(encoders, "measured", lambda profile: runs)
    table = encoders.changes(measured[0], second, 5)
    assert {*table["method"]} == {"dense", "dense_records"}  # no encoder changes BM25
    for name, total in (("first", 1.0), ("second", 1.0), ("difference", 0.0)):
        sums = table[[f"{what}_{name}" for what in encoders.LOSSES]].sum(axis=1)
        assert sums.to_numpy() == pytest.approx(total)
    assert (table.loc[table["searched"] == encoders.GIVEN, ["lost_first", "lost_second"]] == 0).all(axis=None)


def test_the_worth_of_a_change_is_the_mean_of_what_it_adds_in_all_orders():
    names = [combination(changes) for changes in subsets(FACTORS)]
    values = pd.DataFrame(np.random.default_rng(0).random((6, 16)), columns=names)
    found = shapley(values, Resampling(pd.Series(range(6)), 50)).set_index("factor")
    means = values.mean()
    for factor in FACTORS:
        others = combination({*FACTORS} - {factor})
        before = [order[: order.index(factor)] for order in permutations(FACTORS)]
        added = [means[combination([*one, factor])] - means[combination(one)] for one in before]
        assert found.at[factor, "worth"] == pytest.approx(np.mean(added))
        assert found.at[factor, "worth_low"] < found.at[factor, "worth"] < found.at[factor, "worth_high"]
        assert found.at[factor, "alone"] == pytest.approx(means[factor] - means["none"])
        assert found.at[factor, "last"] == pytest.approx(means[combination(FACTORS)] - means[others])

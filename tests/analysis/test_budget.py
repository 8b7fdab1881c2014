from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis import budget
from lib.analysis.budget import CHUNKS, TOKENS, by_budget, with_other_sets
from lib.published import Published
from lib.studies import open_study


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    study = open_study("", artifacts=tmp_path_factory.mktemp("artifacts"), say=lambda line: None)
    return with_other_sets(study)


def test_recalls_are_those_that_are_published_for_each_set(sets):
    assert [*sets] == ["financebench", "page-questions", "unseen-companies"]
    found = by_budget(sets).set_index(["set", "method", "unit", "budget"])
    for name in sets:
        summary = pd.read_csv(Published.of(name, "default").file("summary.csv"))
        is_wanted = (summary["metric"] == "page_recall") & (summary["condition"] == "standard")
        published = summary[is_wanted].set_index(["method", "k"])
        for method, k in (("dense", 1), ("dense_records", 5), ("bm25", 20)):
            row = found.loc[(name, method, CHUNKS, k)]
            expected = published.loc[(method, k), ["mean", "low", "high"]].tolist()
            assert row[["page_recall", "low", "high"]].tolist() == pytest.approx(expected, abs=2e-3)
            assert row["n"] == len(sets[name].questions)


def test_more_is_never_less_and_needs_are_those_of_the_rows(sets):
    found = by_budget(sets)
    rises = found.sort_values("budget").groupby(["set", "method", "unit"])["page_recall"].diff().dropna()
    assert (rises >= -0.03).all(), "but for the draws of folds"
    needs = found.drop_duplicates("method").set_index("method")[["metadata", "labels", "language_model"]]
    assert needs.loc["ahead"].tolist() == [True, True, False]
    assert needs.loc["multi_hyde_rerank"].tolist() == [False, False, True]
    assert not needs.loc["fixed_128_covers"].any()


def test_trained_rows_have_their_strictest_folds_at_every_depth_or_at_none(monkeypatch):
    questions = pd.Index(["q1", "q2"])
    monkeypatch.setattr(
        budget, "evaluate_all", lambda *given: {("ahead", "page_recall", k): pd.Series(0.9, questions) for k in (1, 5)}
    )
    monkeypatch.setattr(budget.reading, "values", lambda *given: pd.DataFrame())
    monkeypatch.setattr(budget.reading, "within", lambda *given: pd.DataFrame())
    study = SimpleNamespace(profile=SimpleNamespace(metrics=SimpleNamespace(ks=[1, 5])))
    strict = {1: {"ahead": pd.DataFrame({"page_recall": [0.1, 0.1]}, questions)}, 5: {}}
    monkeypatch.setattr(budget, "strictest_of", lambda study, names, k: strict[k])
    assert [budget.recalls(study, ["ahead"])[CHUNKS, k]["ahead"].mean() for k in (1, 5)] == [0.9, 0.9]
    strict[5] = {"ahead": pd.DataFrame({"page_recall": [0.3, 0.3]}, questions)}
    assert [budget.recalls(study, ["ahead"])[CHUNKS, k]["ahead"].mean() for k in (1, 5)] == [0.1, 0.3]
    assert TOKENS in {unit for unit, _ in budget.recalls(study, ["ahead"])}

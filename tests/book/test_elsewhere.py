"""Runs that others published: the outside scorer's numbers, the study's rows on the same questions, and the page."""

import pandas as pd
import pytest

from lib.analysis.strict_folds import strictest_of
from lib.book.elsewhere import FOLDER, files_of, labelled_systems, measured_elsewhere, published_runs
from lib.book.leaderboard import elsewhere_section
from lib.metrics.frame import Metrics
from lib.published import METRICS_FILE, Published
from lib.schema import K
from lib.studies import open_study

#: Filing found and page recall by a scorer that shares no code with the study, over the questions that a run answers.
SCORED = {
    "kobeissi_shared_mpnet1024": (150, 0.7533, 0.3500),
    "kobeissi_shared_mpnet128tok": (150, 0.5733, 0.2333),
    "kobeissi_single_mpnet1024": (150, 1.0, 0.6078),
    "mganayim_bge_small": (100, 0.8400, 0.3400),
    "joao_bge_base_rerank": (96, 0.7917, 0.1250),
}


@pytest.fixture(scope="module")
def financebench(tmp_path_factory):
    """FinanceBench as it is published, without filings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lib.studies.is_here", lambda *_: False)
        found = open_study("", artifacts=tmp_path_factory.mktemp("artifacts"), say=lambda line: None)
    found.write(METRICS_FILE, found.published.file(METRICS_FILE).read_bytes())
    return found


@pytest.fixture(scope="module")
def measured(financebench) -> pd.DataFrame:
    return measured_elsewhere(financebench)


def test_a_run_has_the_numbers_of_an_outside_scorer(measured):
    runs = measured[measured["is_run"]].set_index("method")
    assert {*runs.index} == {*SCORED}
    for name, expected in SCORED.items():
        row = runs.loc[name]
        assert (row["n"], *row[["doc_recall", "page_recall"]].astype(float).round(4)) == expected, name
        assert row["page_recall_all"] == pytest.approx(row["page_recall"] * row["n"] / 150)
        assert row["page_recall_low"] < row["page_recall"] < row["page_recall_high"]


def test_rows_beside_a_run_are_the_published_ones_on_its_questions_under_its_condition(financebench, measured):
    metrics = Metrics(Published.of("financebench", "default").metrics)
    for _, group in measured.groupby("group"):
        name, condition = group[["method", "condition"]].iloc[0]
        lines = pd.read_json(FOLDER / f"{name}.jsonl.gz", lines=True)
        rows = group[~group["is_run"]].set_index("method")
        best, more = ("multi_hyde_rerank", {"dense_records"}) if condition == "standard" else ("parent_child", set())
        assert {*rows.index} == {"dense", best, "ahead"} | more
        assert rows.index[rows["is_best"]].tolist() == [best]
        strict = strictest_of(financebench, ["ahead"]) if condition == "standard" else {}
        for method, row in rows.iterrows():
            values = metrics[(method, condition), "page_recall", K]
            values = strict[method]["page_recall"] if method in strict else values
            assert row["page_recall"] == pytest.approx(values[lines["question_id"]].mean())
            assert row["page_recall_all"] == pytest.approx(values.mean())


def test_every_run_is_offered_with_address_and_licence_and_without_text(financebench):
    page = elsewhere_section(financebench)
    offered = {path.name for path in files_of(financebench)}
    for run in published_runs(financebench):
        assert f'<a href="{run.repository}/blob/{run.commit}/{run.source}">{run.title}</a>' in page
        assert f'<a href="../_static/elsewhere/{run.name}.jsonl.gz" download>' in page
        assert {f"{run.name}.jsonl.gz", run.licence_file} <= offered
        assert "MIT License" in (FOLDER / run.licence_file).read_text()
        lines = pd.read_json(run.file, lines=True)
        assert {*lines} == {"question_id", "results"}
        assert {key for row in lines["results"].explode() for key in row} == {"document", "page", "rank"}


def test_every_labelled_answer_of_a_system_is_right_wrong_or_refused(financebench):
    systems = labelled_systems(financebench)
    assert systems[["right", "wrong", "refused"]].sum(axis=1).tolist() == pytest.approx([1] * 16)
    gpt = systems[systems["given"] == "a search over all filings"].iloc[0]
    assert (gpt["system"], gpt["n"]) == ("GPT-4-1106-preview", 150)
    assert gpt[["right", "wrong", "refused"]].tolist() == [29 / 150, 20 / 150, 101 / 150]


def test_a_set_of_other_questions_does_not_have_the_section(study):
    assert (elsewhere_section(study), files_of(study)) == ("", [])

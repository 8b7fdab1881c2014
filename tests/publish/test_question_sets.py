"""A question set that was measured without a book: published without its texts, looked up and verified by its name."""

import json
from pathlib import Path

import pandas as pd
import pytest

from extras.measure import measure
from extras.publish import verify
from lib import studies
from lib.data import locate
from lib.data.dataset import read_dataset, read_questions
from lib.evaluation import evaluate, means_at, read_summary
from lib.methods import METHODS
from lib.published import METRICS_FILE, RUNS_FILE, Published
from lib.schema import Names, StudyError
from lib.study import Study
from tests.conftest import write_questions
from tests.small import add_texts, generation

TEXTS = {
    "s1": "By how much did the net sales of Acme rise in the year 2020?",
    "s2": "Which purchases does the cash flow of the company Bolt contain?",
}


@pytest.fixture
def folder(tmp_path) -> Path:
    """A set of two questions over the small study's filings, without answers and evidence texts."""
    places = {"s1": {"doc_name": "ACME_2020_10K", "pages": [2]}, "s2": {"doc_name": "BOLT_2021_10K", "pages": [1]}}
    records = ({"financebench_id": name, "question": TEXTS[name]} | place for name, place in places.items())
    return write_questions(tmp_path / "second", *records)


@pytest.fixture
def lines() -> list[str]:
    """What measuring said."""
    return []


@pytest.fixture
def measured_set(study, folder, repository, lines) -> Study:
    """The set's study, measured."""
    dataset = read_questions(folder, "second", study.dataset)
    found = Study(dataset, study.profile, METHODS, {}, study.home.parents[1], chapter="measure")
    quoting = generation("s1", f"Twice: {TEXTS['s2']}", "hyde")
    add_texts(found, [generation("ACME_2020_10K", "Acme makes anvils."), quoting])
    measure(found, say=lines.append)
    return found


@pytest.fixture
def results(measured_set, publish_study) -> Published:
    return publish_study(measured_set)


def test_a_set_is_published_without_text_and_opened(results, measured_set, no_filings, tmp_path):
    listed = results.manifest
    assert (listed["collection"], listed["lacks"]) == ("financebench", ["answer", "evidence"])
    assert {"questions.csv", "filings.csv", "summary.csv", METRICS_FILE, RUNS_FILE} <= set(listed["files"])
    assert [record["text"] for record in results.generations(measured_set.questions)] == ["Acme makes anvils."]
    found = studies.open_study(questions="second", artifacts=tmp_path / "elsewhere", say=lambda line: None)
    assert (found.dataset.name, found.dataset.collection, found.has_text) == ("second", "financebench", False)
    assert found.questions["company"].tolist() == ["Acme", "Bolt"]
    expected = evaluate(measured_set, "bm25")
    pd.testing.assert_frame_equal(evaluate(found, "bm25").astype(expected.dtypes), expected)


def test_each_method_is_said_with_its_recall_and_the_number_of_questions(measured_set, lines):
    recall = means_at(read_summary(measured_set.outputs), "page_recall")["bm25"]
    assert lines[0].startswith(f"bm25: page recall@5 {recall:.2f}, n = {len(measured_set.questions)}, ")


def test_methods_are_added_to_what_was_measured_and_the_command_for_it_is_named(measured_set, publish_study):
    path = measured_set.outputs / "manifest.json"
    before = json.loads(path.read_text())
    more = before["runs"] | {"standard/other": {"key": "k", "sha256": "s"}}
    path.write_text(json.dumps(before | {"runs": more}))
    for names, expected in (("bm25", more), ("all", before["runs"])):
        measure(measured_set, names, say=lambda line: None)
        assert list(json.loads(path.read_text())["runs"]) == sorted(expected)
    path.unlink()
    with pytest.raises(StudyError, match="make measure DATASET=financebench QUESTIONS=second"):
        publish_study(measured_set)


def test_a_set_is_verified_with_and_without_its_questions(results, measured_set, folder, small_folder, monkeypatch):
    own, reports = read_dataset(small_folder, "financebench"), []
    monkeypatch.setattr(locate, "_open_collection", lambda *given: own)
    monkeypatch.setattr(locate, "financebench_root", lambda: own.root)
    monkeypatch.setattr(verify, "load_profile", lambda name: measured_set.profile)
    assert verify.verify(Names("financebench", questions=str(folder), results="fresh"), ["bm25"], reports.append)
    assert reports[-1].endswith(" equal, 0 within, 0 differs")
    assert verify.verify(Names("financebench", questions="second"), ["bm25"], reports.append)
    assert "no method is run again" in "".join(reports)
    with pytest.raises(StudyError, match="published of third"):
        verify.verify(Names(questions="third"), None)

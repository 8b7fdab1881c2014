"""Publishing: a whole run goes out, nothing of the dataset's text does, and what is not whole is refused."""

import json
import subprocess

import pandas as pd
import pytest

from lib.book import manifest
from lib.book.results import write_results
from lib.publish import publish, readme
from lib.publish.publish import publish as publish_study
from lib.published import Published, from_pieces
from lib.words import NeedsFilings, StudyError

QUESTION = "What were the net sales of Acme in the fiscal year 2020, in millions?"


def commit(root) -> None:
    for command in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "a step"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A clean git repository that stands for the project's own."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "README.md").write_text(f"before\n{readme.BEGIN}\nas it was\n{readme.END}\nafter\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    commit(root)
    for module in (manifest, publish):
        monkeypatch.setattr(module, "ROOT", root)
    return root


@pytest.fixture
def published(study, repository, tmp_path) -> Published:
    manifest.write_manifest(study)
    said = []
    root = publish_study(study, tmp_path / "results", repository / "README.md", said.append)
    assert said == ["publish: 1 cells' outputs, 1 left out because they show the dataset's text or pages"]
    return Published(root)


def refusal(study, repository, tmp_path) -> str:
    with pytest.raises(StudyError) as caught:
        publish_study(study, tmp_path / "results", repository / "README.md", lambda line: None)
    assert not (tmp_path / "results" / "financebench" / "default").exists()
    return str(caught.value)


def test_published_files_hold_ids_and_numbers_but_no_text(published, study):
    names = {
        path.relative_to(published.root).as_posix() for path in published.root.rglob("*") if path.is_file()
    }
    assert {"questions.csv", "filings.csv", "metrics.csv.gz", "summary.csv", "manifest.json"} < names
    assert {f"runs/{c}/bm25.trec.gz" for c in ("standard", "oracle-document", "oracle-page")} < names
    table = pd.read_csv(published.root / "questions.csv")
    assert list(table) == ["question_id", "question_type", "doc_name", "doc_type", "company", "gold_pages"]
    for path in published.root.rglob("*"):
        if path.is_file() and path.suffix != ".gz":
            assert "net sales of acme" not in path.read_text().lower(), path


def test_an_echo_of_the_question_is_published_as_a_reference_and_restored(published, study, tmp_path):
    first = json.loads(published.generations.read_text().splitlines()[0])
    assert first["text"] == "The answer to “[…]?” is 1,577."
    assert from_pieces(first["pieces"], QUESTION) == f"The answer to “{QUESTION.upper()}” is 1,577."
    whole = published.whole_generations(study.questions, tmp_path / "whole.jsonl")
    assert [json.loads(line) for line in whole.read_text().splitlines()] == [
        json.loads(line) for line in (study.view / "generations.jsonl").read_text().splitlines()
    ]


def test_an_output_that_quotes_a_question_stays_here(published):
    assert [outputs[0][:18] for outputs in published.shown.values()] == ["::::{table} Counts"]
    assert (published.root / "shown" / "tables" / "counts.csv").read_text() == "n\n3\n"


def test_the_readme_gets_the_headline_table(published, repository):
    text = (repository / "README.md").read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| BM25 (best baseline) |" in text
    assert "as it was" not in text


def test_uncommitted_changes_are_refused(study, repository, tmp_path):
    manifest.write_manifest(study)
    (repository / "changed.py").write_text("x = 1\n")
    assert "uncommitted changes; commit or remove them" in refusal(study, repository, tmp_path)


def test_results_of_another_commit_are_refused(study, repository, tmp_path):
    assert "not by this one; run make book DATASET=financebench" in refusal(study, repository, tmp_path)


def test_a_run_that_is_missing_is_refused(study, repository, tmp_path):
    manifest.write_manifest(study)
    (study.view / "runs" / "oracle-page" / "bm25.trec.gz").unlink()
    assert "the run of bm25 under oracle-page is missing" in refusal(study, repository, tmp_path)


def test_metrics_that_leave_a_question_out_are_refused(study, repository, tmp_path):
    manifest.write_manifest(study)
    metrics = pd.read_csv(study.view / "metrics.csv.gz")
    metrics[(metrics["question_id"] != "q2") | (metrics["condition"] != "standard")].to_csv(
        study.view / "metrics.csv.gz"
    )
    assert "the metrics of bm25 under standard do not cover every question" in refusal(
        study, repository, tmp_path
    )


def test_text_of_a_question_anywhere_is_refused(study, repository, tmp_path):
    made = manifest.write_manifest(study)
    study.write("manifest.json", json.dumps(made | {"machine": QUESTION}))
    assert "manifest.json holds text of the dataset: “what were the net sales" in refusal(
        study, repository, tmp_path
    )


def test_a_refused_run_leaves_what_was_published(published, study, repository, tmp_path):
    before = (published.root / "metrics.csv.gz").read_bytes()
    commit(repository)
    study.write("manifest.json", json.dumps(manifest.write_manifest(study) | {"commit": "0000"}))
    with pytest.raises(StudyError, match="made by commit 0000"):
        publish_study(study, tmp_path / "results", repository / "README.md")
    assert (published.root / "metrics.csv.gz").read_bytes() == before


def test_published_results_cannot_be_published_again(study, repository, tmp_path, monkeypatch):
    monkeypatch.setattr(type(study), "has_filings", False)
    with pytest.raises(NeedsFilings, match="publishing needs the filings"):
        publish_study(study, tmp_path / "results", repository / "README.md")


def test_results_are_written_again_to_the_same_bytes(study):
    before = {name: (study.view / name).read_bytes() for name in ("metrics.csv.gz", "summary.csv")}
    write_results(study)
    assert before == {name: (study.view / name).read_bytes() for name in before}

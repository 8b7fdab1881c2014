"""Publishing: a whole run goes out, the same bytes each time; no text of the dataset, nothing that is not whole."""

import gzip
import json
import re
import textwrap
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest

from extras.publish import publish
from lib.analysis.growth import GROWTH
from lib.analysis.measured import TIME_COLUMNS, TIMES, times
from lib.book import manifest
from lib.data.layout import Dataset
from lib.evaluation import ANSWER_COLUMNS, merge_answers, read_metrics
from lib.published import ANSWERS_FILE, GENERATIONS_FILE, METRICS_FILE, RUNS_FILE, from_pieces
from lib.typed import table_bytes
from lib.words import CONDITIONS, NeedsFilings, StudyError
from tests.small import ECHO, QUESTIONS, add_texts, generation, write_whole

from .conftest import commit


def files(root: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def lines_of(root: Path) -> list[dict]:
    """The published texts of a language model."""
    return list(map(json.loads, gzip.decompress((root / GENERATIONS_FILE).read_bytes()).splitlines()))


@pytest.fixture
def refusal(study, repository, publish_study):
    """Why a study is not published; what was published stays as it is."""

    def refused() -> str:
        root = repository / "book" / "results" / "financebench" / "default"
        root.mkdir(parents=True)
        (root / "summary.csv").write_text("of before")
        with pytest.raises(StudyError) as caught:
            publish_study(study)
        assert files(root) == {"summary.csv": b"of before"}
        return str(caught.value)

    return refused


def test_published_files_hold_ids_and_numbers_but_no_text_and_the_manifest_lists_them(results):
    found = files(results.root)
    assert {"questions.csv", "filings.csv", METRICS_FILE, RUNS_FILE, "summary.csv", "manifest.json"} < set(found)
    assert set(results.runs) == {(c, "bm25") for c in CONDITIONS}
    asked = results.runs.table["question_id"]
    assert (asked != asked.shift()).sum() == len(QUESTIONS), "a question's rows are together: a smaller file"
    assert not [name for name, content in found.items() if b"net sales of acme" in content.lower()]
    assert not [path for path in results.root.parent.iterdir() if path.name.startswith(".")]
    assert set(results.manifest["files"]) == set(found) - {"manifest.json"}
    stages = {record["stage"]: record for record in results.manifest["stages"]}
    assert stages["runs/standard/bm25"]["files"] == stages["metrics/standard/bm25"]["files"] == {}
    assert stages["digests/chunks"]["files"]["value.json"]["path"] == "stored/digests/chunks/value.json.gz"
    assert stages["summary"]["files"]["summary.csv"]["path"] == "summary.csv"
    assert "files" not in stages["pages"]
    assert files(results.root / "shown") == {"tables/counts.csv": b"n\n3\n"}  # another table quotes a question


def test_answers_and_times_that_were_measured_are_published_and_read_there(study, results, publish_study):
    assert not {ANSWERS_FILE, TIMES} & results.manifest["files"].keys()
    answers = [("none", "plain", "small", "q1", "answer_right", 1.0)]
    merge_answers(study, pd.DataFrame(answers, columns=ANSWER_COLUMNS))
    row = ["bm25", 20, 0.02, 0.01, 0.03, 0, 0, 0, 7.0, "2 cores"]
    pd.DataFrame([row], columns=TIME_COLUMNS).to_csv(study.home / TIMES, index=False)
    study.corpus.published = again = publish_study(study)
    assert pd.read_csv(again.file(ANSWERS_FILE)).to_numpy().tolist() == [[*one] for one in answers]
    assert again.file(TIMES).read_bytes() == (study.home / TIMES).read_bytes()
    study.corpus.home = study.home / "elsewhere"
    assert times(study).loc[0, TIME_COLUMNS].tolist() == row


def test_publishing_twice_gives_the_same_bytes_also_from_the_store_after_a_commit(
    study, results, repository, publish_study, open_small
):
    before, readme = files(results.root), (repository / "README.md").read_text()
    assert re.fullmatch(r"before\n.*the best ordinary method \(BM25, first 5 chunks\).*after\n", readme, re.S)
    assert "as it was" not in readme
    commit(repository)
    again = open_small(study.home.parents[1], results)
    (again.outputs / "stages.jsonl").unlink()
    write_whole(again)
    assert {entry.origin for entry in again.store.log.values()} == {"reused"}
    assert files(publish_study(again).root) == before
    assert (repository / "README.md").read_text() == readme


def test_a_publication_from_an_empty_store_loses_no_file(study, repository, publish_study, open_small, tmp_path):
    def ask(asked, make):
        asked.store.kept("analysis/outer", {}, make, public=True)

    ask(study, lambda: study.store.kept("analysis/inner", {}, lambda: 1, public=True))
    (study.home / GROWTH).write_bytes(gzip.compress(b"of another machine"))
    manifest.write_manifest(study)
    first = publish_study(study)
    before = set(files(first.root))
    assert any("inner" in name for name in before)
    commit(repository)
    again = open_small(tmp_path / "elsewhere", first)
    ask(again, None)
    write_whole(again)
    again.corpus.published = first
    assert set(files(publish_study(again).root)) >= before


def test_two_results_of_one_stage_are_both_published_and_what_other_sessions_looked_up_is_not(study, publish_study):
    for number in (1, 2):
        study.store.kept("analysis/number", {"n": number}, lambda n=number: n, public=True)
    study.corpus.chapter = "interactive"
    study.store.kept("analysis/other", {}, lambda: 1, public=True)
    manifest.write_manifest(study)
    found = publish_study(study)
    assert "analysis/other" not in {record["stage"] for record in found.manifest["stages"]}
    records = [record for record in found.manifest["stages"] if record["stage"] == "analysis/number"]
    paths = [record["files"]["value.json"]["path"] for record in records]
    assert sorted(gzip.decompress((found.root / path).read_bytes()) for path in paths) == [b"1\n", b"2\n"]
    assert len(set(paths)) == 2


def test_an_echo_of_the_question_is_published_as_a_reference_and_restored(results, study):
    records = lines_of(results.root)
    first = next(record for record in records if record["question_id"] == "q1")
    assert first["text"] == "[…]"  # it still said that the answer is 1,577
    assert from_pieces(first["pieces"], QUESTIONS["q1"]) == ECHO
    written = [json.loads(line) for line in (study.home / "generations.jsonl").read_text().splitlines()]
    in_order = sorted(written, key=lambda record: (record["kind"], record["question_id"]))
    assert results.generations(study.questions) == in_order


def test_what_was_written_of_a_filing_is_published_and_what_is_of_nothing_stays(study, tmp_path):
    add_texts(study, [generation("ACME_2020_10K", "Acme makes anvils."), generation("q99", "Of no question.")])
    reports = []
    publish.write_generations(study, tmp_path, publish.quotations_of(study), reports.append)
    assert {record["question_id"] for record in lines_of(tmp_path)} == {"q1", "q2", "ACME_2020_10K"}
    assert reports[0].startswith("publish: 1 texts that quote a filing at length or another question, or are of no")


def test_a_drawing_that_quotes_a_question_in_two_lines_stays_here_and_is_seen(study, tmp_path):
    drawn, axes = plt.subplots()
    axes.set_title(textwrap.fill(QUESTIONS["q1"], 40))
    (tmp_path / "quoting").mkdir()
    drawn.savefig(tmp_path / "quoting" / "asked.svg")
    plt.close(drawn)
    quotes = publish.quotations_of(study)
    with pytest.raises(StudyError, match="asked.svg contains text of the dataset: “what were the net sales"):
        publish.check_texts(tmp_path / "quoting", quotes)
    (tmp_path / "quoting" / "asked.svg").replace(study.write("figures/asked.svg", ""))
    shown = nbformat.v4.new_output("display_data", {"text/markdown": "::::{figure} ../figures/asked.svg\n::::"})
    cell = nbformat.v4.new_code_cell("figure(study)", outputs=[shown])
    study.write("notebooks/01_data.ipynb", nbformat.writes(nbformat.v4.new_notebook(cells=[cell])))
    publish.write_shown(study, tmp_path / "to", quotes, lambda line: None)
    assert not (tmp_path / "to").exists()


def leave_out(study):
    metrics = read_metrics(study.outputs / METRICS_FILE)
    kept = metrics[(metrics["question_id"] != "q2") | (metrics["condition"] != "standard")]
    study.write(METRICS_FILE, table_bytes(kept))


def double(study):
    study.memo(("run", study.run_entry("bm25", "oracle-page").key), None)["score"] *= 2


def with_manifest(study, **changes: str):
    made = json.loads((study.outputs / "manifest.json").read_text())
    study.write("manifest.json", json.dumps(made | changes))


def keep_texts(study):
    study.store.kept("analysis/texts", {}, lambda: study.questions[["question_id", "question"]], public=True)
    manifest.write_manifest(study)


REFUSED = {
    "there is nothing to publish; run make book DATASET=financebench PROFILE=default first": lambda study: (
        study.outputs / "manifest.json"
    ).unlink(),
    "the results were made by commit 0000": partial(with_manifest, commit="0000"),
    "the results were made from other files of financebench": partial(with_manifest, fingerprint="0000"),
    "uncommitted changes of the code (git status lists them); commit or remove them": lambda study: (
        publish.ROOT.joinpath("lib/changed.py").write_text("x = 1\n")
    ),
    "the run of bm25 under oracle-page is missing": double,
    "the metrics of bm25 under standard do not cover every question": leave_out,
    "manifest.json contains text of the dataset: “what were the net sales": partial(
        with_manifest, machine=QUESTIONS["q1"]
    ),
    "manifest.json contains a path of this machine": lambda study: with_manifest(study, machine=f"{publish.ROOT}/lib"),
    "stored/analysis/texts/frame.csv.gz contains text of the dataset": keep_texts,
}


@pytest.mark.parametrize("told", REFUSED)
def test_what_is_not_whole_or_has_text_is_refused(study, repository, refusal, told):
    manifest.write_manifest(study)
    REFUSED[told](study)
    assert told in refusal()


def test_without_filings_nothing_can_be_published(study, publish_study, monkeypatch):
    monkeypatch.setattr(Dataset, "has_text", False)
    with pytest.raises(NeedsFilings, match="publishing needs the filings"):
        publish_study(study)

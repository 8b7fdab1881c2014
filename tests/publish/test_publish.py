"""Publishing: a whole run goes out, the same bytes each time; no text of the dataset, nothing that is not whole."""

import gzip
import json
import re
import shutil
import textwrap
from functools import partial
from operator import itemgetter
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest

from extras.publish import publish
from lib.book import manifest
from lib.evaluation import ANSWER_COLUMNS, merge_answers, read_metrics
from lib.frames import table_bytes
from lib.page_scorer import full
from lib.page_scorer.pages import folds, load_scores
from lib.published import ANSWERS_FILE, GENERATIONS_FILE, METRICS_FILE, RUNS_FILE, from_pieces
from lib.schema import CONDITIONS, StudyError
from tests.small import ECHO, QUESTIONS, add_texts, generation, write_whole

from .conftest import commit


def files(root: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def texts_of(root: Path) -> dict[str, dict]:
    """The published texts of a language model, by what they are of; the last of each."""
    lines = gzip.decompress((root / GENERATIONS_FILE).read_bytes()).splitlines()
    return {record["question_id"]: record for record in map(json.loads, lines)}


def test_published_files_hold_ids_and_numbers_but_no_text_and_the_manifest_lists_them(results, study):
    contents, listed = files(results.root), results.manifest
    assert {"questions.csv", "filings.csv", METRICS_FILE, RUNS_FILE, "summary.csv", "manifest.json"} < set(contents)
    assert set(listed["files"]) == set(contents) - {"manifest.json"}
    assert set(results.runs) == {(c, "bm25") for c in CONDITIONS}
    assert not [name for name, content in contents.items() if b"net sales of acme" in content.lower()]
    assert not [path for path in results.root.parent.iterdir() if path.name.startswith(".")]
    stages = {record["stage"]: record for record in listed["stages"]}
    assert stages["runs/standard/bm25"]["files"] == stages["metrics/standard/bm25"]["files"] == {}
    assert stages["digests/chunks"]["files"]["value.json"]["path"] == "stored/digests/chunks/value.json.gz"
    assert "files" not in stages["pages"]
    assert files(results.root / "shown") == {"tables/counts.csv": b"n\n3\n"}  # another table quotes a question
    first = texts_of(results.root)["q1"]
    assert first["text"] == "[…]"  # the echo of the question still said that the answer is 1,577
    assert from_pieces(first["pieces"], QUESTIONS["q1"]) == ECHO
    written = [json.loads(line) for line in (study.home / "generations.jsonl").read_text().splitlines()]
    assert results.generations(study.questions) == sorted(written, key=itemgetter("kind", "question_id"))


def test_publishing_again_from_the_store_gives_the_same_bytes(study, results, repository, publish_study, open_small):
    before, readme = files(results.root), (repository / "README.md").read_text()
    assert re.fullmatch(r"before\n.*BM25.*after\n", readme, re.S)
    assert "as it was" not in readme
    commit(repository)
    again = open_small(study.home.parents[1], results)
    (again.outputs / "stages.jsonl").unlink()
    write_whole(again)
    assert {entry.origin for entry in again.store.log.values()} == {"reused"}
    assert files(publish_study(again).root) == before
    assert (repository / "README.md").read_text() == readme


def test_what_was_measured_once_stays_in_the_next_publication_of_the_dataset(study, repository, publish_study):
    names = [name for name in publish.BESIDE if name != ANSWERS_FILE]
    measured = {name: gzip.compress(b"n", mtime=0) if name.endswith(".gz") else b"n" for name in names}
    for name, content in measured.items():
        (study.home / name).write_bytes(content)
    manifest.write_manifest(study)
    first = publish_study(study)
    commit(repository)
    study.home, study.published = study.home / "elsewhere", first
    manifest.write_manifest(study)
    again = publish_study(study)
    assert {name: again.file(name).read_bytes() for name in names} == measured
    (again.root / "manifest.json").write_text(json.dumps(again.manifest | {"fingerprint": "of another dataset"}))
    commit(repository)
    study.published = None
    manifest.write_manifest(study)
    assert not {*names} & publish_study(study).manifest["files"].keys()


def test_stored_values_and_answers_of_a_publication_outlive_an_empty_store(
    study, repository, publish_study, open_small, tmp_path
):
    def ask(asked, make):
        asked.store.frame("analysis/outer", {}, make, public=True)
        for number in (1, 2):
            asked.store.frame("analysis/number", {"n": number}, lambda n=number: n, public=True)

    ask(study, lambda: study.store.frame("analysis/inner", {}, lambda: 1, public=True))
    study.chapter = "interactive"
    study.store.frame("analysis/other", {}, lambda: 1, public=True)
    answers = [("none", "plain", "small", "q1", "answer_right", 1.0)]
    merge_answers(study, pd.DataFrame(answers, columns=ANSWER_COLUMNS))
    manifest.write_manifest(study)
    study.published = first = publish_study(study)
    stages = {record["stage"] for record in first.manifest["stages"] if "files" in record}
    assert {"analysis/inner", "analysis/outer"} < stages
    assert "analysis/other" not in stages, "of another session"
    numbers = (first.root / "stored/analysis").glob("number*/value.json.gz")
    assert sorted(gzip.decompress(path.read_bytes()) for path in numbers) == [b"1\n", b"2\n"]
    assert pd.read_csv(first.file(ANSWERS_FILE)).to_numpy().tolist() == [[*one] for one in answers]
    before = set(files(first.root))
    commit(repository)
    again = open_small(tmp_path / "elsewhere", first)
    ask(again, None)
    write_whole(again)
    again.published = first
    assert set(files(publish_study(again).root)) >= before


def test_a_fold_is_published_before_the_last_is_trained(study, publish_study, open_small, tmp_path, monkeypatch):
    def score(study, fold, **_):
        return np.random.default_rng(5).normal(size=(len(fold.test), len(study.pages))).astype(np.float32), {}

    monkeypatch.setattr(full, "score_fold", score)
    entry = full.fold_entry(study, folds(study, "company")[0])
    record = study.store.record(f"{entry.stage}/{entry.key}") | {"public": True}
    monkeypatch.setattr(publish, "finished_folds", lambda _: [record])
    manifest.write_manifest(study)
    elsewhere = open_small(tmp_path / "elsewhere", publish_study(study))
    found = full.fold_entry(elsewhere, folds(elsewhere, "company")[0])
    assert (found.origin, found.digest) == ("published", entry.digest)
    assert np.array_equal(load_scores(elsewhere, found), load_scores(study, entry))


def test_texts_of_a_filing_are_published_and_those_of_nothing_stay(study, tmp_path):
    add_texts(study, [generation("ACME_2020_10K", "Acme makes anvils."), generation("q99", "Of no question.")])
    reports = []
    publish.write_generations(study, tmp_path, publish.quotations_of(study), reports.append)
    assert set(texts_of(tmp_path)) == {"q1", "q2", "ACME_2020_10K"}
    assert reports[0].startswith("publish: 1 texts")


def test_a_drawing_that_quotes_a_question_in_two_lines_is_seen(study, tmp_path):
    quotes = publish.quotations_of(study)
    drawn, axes = plt.subplots()
    axes.set_title(textwrap.fill(QUESTIONS["q1"], 40))
    path = study.write("figures/asked.svg", "")
    drawn.savefig(path)
    plt.close(drawn)
    with pytest.raises(StudyError, match="asked.svg contains text"):
        publish.check_texts(path.parent, quotes)
    shown = nbformat.v4.new_output("display_data", {"text/markdown": "::::{figure} ../figures/asked.svg\n::::"})
    cell = nbformat.v4.new_code_cell("figure(study)", outputs=[shown])
    study.write("notebooks/01_data.ipynb", nbformat.writes(nbformat.v4.new_notebook(cells=[cell])))
    publish.write_shown(study, tmp_path / "to", quotes, lambda line: None)
    assert not (tmp_path / "to").exists()


def leave_out(study):
    metrics = read_metrics(study.outputs / METRICS_FILE)
    others = metrics[(metrics["question_id"] != "q2") | (metrics["condition"] != "standard")]
    study.write(METRICS_FILE, table_bytes(others))


def double(study):
    study.memo(("run", study.run_entry("bm25", "oracle-page").key), None)["score"] *= 2


def with_manifest(study, **changes: str):
    made = json.loads((study.outputs / "manifest.json").read_text())
    study.write("manifest.json", json.dumps(made | changes))


def keep_texts(study):
    study.store.frame("analysis/texts", {}, lambda: study.questions[["question_id", "question"]], public=True)
    manifest.write_manifest(study)


#: What the error names, and what was done to a study that could be published.
REFUSED = {
    "nothing to publish; run make book DATASET=financebench": lambda study: (study.outputs / "manifest.json").unlink(),
    "made by commit 0000": partial(with_manifest, commit="0000"),
    "other files of financebench": partial(with_manifest, fingerprint="0000"),
    "uncommitted changes": lambda study: publish.ROOT.joinpath("lib/changed.py").write_text("x = 1\n"),
    "no git": lambda study: shutil.rmtree(publish.ROOT / ".git"),
    "needs the filings": lambda study: setattr(study, "has_text", False),
    "the run of bm25 under oracle-page": double,
    "the metrics of bm25 under standard": leave_out,
    "manifest.json contains text of the dataset": partial(with_manifest, machine=QUESTIONS["q1"]),
    "manifest.json contains a path": lambda study: with_manifest(study, machine=f"{publish.ROOT}/lib"),
    "stored/analysis/texts/frame.csv.gz contains text": keep_texts,
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_whole_or_has_text_is_refused_and_nothing_changes(study, repository, publish_study, words):
    manifest.write_manifest(study)
    REFUSED[words](study)
    root = repository / "book" / "results" / "financebench" / "default"
    root.mkdir(parents=True)
    (root / "summary.csv").write_text("of before")
    with pytest.raises(StudyError, match=words):
        publish_study(study)
    assert files(root) == {"summary.csv": b"of before"}

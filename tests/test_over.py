"""Rows over another chunk table, and rows that are one function with several options."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from lib import methods
from lib.book.manifest import stages_of
from lib.chunkings.table import CHUNKINGS, Chunking
from lib.data.chunks import chunk_key
from lib.data.dataset import read_dataset
from lib.evaluation import evaluate
from lib.profile import load_profile
from lib.study import Study
from lib.words import StudyError


def sentences(study) -> pd.DataFrame:
    """Every line of a page is a chunk."""
    rows = [
        (f"{page.doc_name}#p{page.page:04d}#c{number:02d}", chunk_key(line, page.doc_name, page.page))
        + (page.doc_name, page.page, line, -1, -1)
        for page in study.pages.itertuples()
        for number, line in enumerate(page.text.splitlines())
        if line.strip()
    ]
    return pd.DataFrame(rows, columns=["chunk_id", "key", "doc_name", "page", "text", "start", "end"])


@pytest.fixture
def study(tmp_path, dataset_folder, tokenizer_folder, monkeypatch):
    """Two filings; BM25 over their chunks, over their lines, and with another k1."""
    folder = dataset_folder(tmp_path / "tiny")
    folder.pdf("ACME_2020_10K", "Annual report\nof Acme", "Net sales rose\nCash flow was 45")
    folder.pdf("BOLT_2020_10K", "Annual report\nof Bolt", "Net sales fell\nCash flow was 7")
    folder.question(
        "q0", "ACME_2020_10K", (1, "Cash flow was 45"), question="What was Acme's cash flow of 45?"
    )
    settings = load_profile("default").replaced({"embedder.weights": str(tokenizer_folder)})
    settings["name"] = "default"
    monkeypatch.setitem(CHUNKINGS, "lines", Chunking(sentences))
    row = methods.METHODS["bm25"]
    for name, changes in {
        "bm25_lines": {"chunking": "lines"},
        "bm25_flat": {"score": weighted, "options": {"weight": 0.0}},
        "bm25_steep": {"score": weighted, "options": {"weight": 2.0}},
    }.items():
        changed = dataclasses.replace(
            row, name=name, family="somebody2026", conditions=("standard",), **changes
        )
        monkeypatch.setitem(methods.METHODS, name, changed)
    found = Study(read_dataset(folder.write(), "tiny"), settings, tmp_path / "artifacts")
    found.store.say = lambda line: None
    return found


def weighted(study, candidates, *, weight):
    """The length of each chunk times a weight."""
    return np.tile(study.chunks["text"].str.len().to_numpy() * weight, (len(study.questions), 1))


def test_a_row_searches_its_own_chunk_table(study):
    run = study.run("bm25_lines")
    lines = study.over("lines").chunks.set_index("chunk_id")["text"]
    assert lines[run["chunk_id"].iloc[0]] == "Cash flow was 45"
    assert len(lines) == 8 > len(study.chunks) == 4
    assert (study.view / "corpora" / "lines.parquet").is_file()


def test_the_study_s_own_chunks_stay_as_they_are(study):
    before = study.chunks_digest
    over = study.over("lines")
    assert over.chunks_digest != before == study.chunks_digest
    assert over.over("") is study
    assert over.over("lines") is over is study.over("lines")


def test_the_overlap_is_measured_on_the_texts_that_were_searched(study):
    metrics = evaluate(study, "bm25_lines").set_index(["metric", "k"])["value"]
    assert metrics["ctx_rouge_l", 1] == pytest.approx(1.0)
    assert metrics["page_recall", 1] == 1.0
    assert evaluate(study, "bm25").set_index(["metric", "k"])["value"]["ctx_rouge_l", 1] < 1.0


def test_options_reach_the_function_and_tell_runs_apart(study):
    flat, steep = study.run("bm25_flat"), study.run("bm25_steep")
    assert np.ptp(flat["score"]) < 1e-6
    assert np.ptp(steep["score"]) >= 2
    assert study.run_entry("bm25_flat", "standard").key != study.run_entry("bm25_steep", "standard").key


def test_an_unknown_chunking_lists_the_known(study):
    with pytest.raises(StudyError, match="no chunking 'words': say one of .*lines"):
        study.over("words")


def test_siblings_are_neither_baselines_nor_chosen_unasked(study):
    assert not {"bm25_lines", "bm25_flat"} & {*methods.baselines(), *methods.chosen(None)}
    assert methods.chosen(["bm25_flat"]) == ["bm25_flat"]
    assert ("bm25_flat", "oracle-page") not in methods.measured(study.profile)
    assert ("bm25_flat", "standard") in methods.measured(study.profile)
    few = study.profile.replaced({"siblings.rows": ["bm25_steep"]})
    assert [name for name, _ in methods.measured(few) if name.startswith("bm25_")] == ["bm25_steep"]


def test_what_a_stage_took_is_known_when_nothing_needs_it_any_more(study, tmp_path):
    study.store.get("embeddings/windows", {"a": 1}, lambda target: (target / "x").write_text("x"))
    (study.view / "stages.jsonl").unlink()  # as every book begins
    again = Study(study.dataset, study.profile, tmp_path / "artifacts")
    assert again.seconds.keys() >= {"embeddings/windows"}
    [record] = [record for record in stages_of(again) if record["stage"] == "embeddings/windows"]
    assert record["origin"] == "reused"
    assert "embeddings/windows" not in {stage for stage, _ in again.store.log}

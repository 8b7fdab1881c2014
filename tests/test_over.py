"""Rows over another chunk table, and rows that are one function with several options."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from lib import methods
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
    """Two filings; BM25 over their chunks, over their lines, and two rows of one function."""
    folder = dataset_folder(tmp_path / "tiny")
    folder.pdf("ACME_2020_10K", "Annual report\nof Acme", "Net sales rose\nCash flow was 45")
    folder.pdf("BOLT_2020_10K", "Annual report\nof Bolt", "Net sales fell\nCash flow was 7")
    folder.question(
        "q0", "ACME_2020_10K", (1, "Cash flow was 45"), question="What was Acme's cash flow of 45?"
    )
    settings = load_profile("default").replaced({"embedder.weights": str(tokenizer_folder)})
    for name, changes in {
        "bm25_lines": {"chunking": "lines"},
        "bm25_flat": {"score": weighted, "options": {"weight": 0.0}},
        "bm25_steep": {"score": weighted, "options": {"weight": 2.0}},
    }.items():
        changes |= {"name": name, "family": "somebody2026", "conditions": ("standard",)}
        changed = dataclasses.replace(methods.METHODS["bm25"], **changes)
        monkeypatch.setitem(methods.METHODS, name, changed)
    chunkings = {**CHUNKINGS, "lines": Chunking(sentences)}
    dataset = read_dataset(folder.write(), "tiny")
    found = Study(dataset, settings, methods.METHODS, chunkings, tmp_path / "artifacts")
    found.store.say = lambda line: None
    return found


def weighted(study, candidates, *, weight):
    """The length of each chunk times a weight."""
    return np.tile(study.chunks["text"].str.len().to_numpy() * weight, (len(study.questions), 1))


def test_a_row_searches_its_own_chunk_table(study):
    run = study.run("bm25_lines")
    lines = study.with_chunks("lines").chunks.set_index("chunk_id")["text"]
    assert lines[run["chunk_id"].iloc[0]] == "Cash flow was 45"
    assert len(lines) == 8 > len(study.chunks) == 4
    assert (study.outputs / "chunkings" / "lines.parquet").is_file()


def test_the_study_s_own_chunks_stay_as_they_are(study):
    before, over = study.digest("chunks"), study.with_chunks("lines")
    assert over.digest("chunks") != before == study.digest("chunks") == over.original.digest("chunks")
    assert over.with_chunks("lines") is over
    pd.testing.assert_frame_equal(over.original.chunks, study.chunks)


def test_the_overlap_is_measured_on_the_texts_that_were_searched(study):
    metrics = evaluate(study, "bm25_lines").set_index(["metric", "k"])["value"]
    assert metrics["ctx_rouge_l", 1] == pytest.approx(1.0)
    assert metrics["page_recall", 1] == 1.0
    assert evaluate(study, "bm25").set_index(["metric", "k"])["value"]["ctx_rouge_l", 1] < 1.0


def test_options_reach_the_function_and_tell_runs_apart(study):
    flat, steep = study.run("bm25_flat"), study.run("bm25_steep")
    assert np.ptp(flat["score"]) < 1e-6
    assert np.ptp(steep["score"]) >= 2
    assert study.run_entry("bm25_flat").key != study.run_entry("bm25_steep").key


def test_an_unknown_chunking_lists_the_known(study):
    with pytest.raises(StudyError, match="no chunk table 'words': say one of .*lines"):
        study.with_chunks("words")


def test_chunk_ids_that_occur_twice_are_an_error(study):
    study.chunkings["twice"] = Chunking(lambda study: pd.concat([sentences(study)] * 2))
    with pytest.raises(ValueError, match="twice: chunk ids occur twice"):
        _ = study.with_chunks("twice").chunks


def test_siblings_are_neither_baselines_nor_chosen_unasked(study):
    assert not {"bm25_lines", "bm25_flat"} & {*methods.baselines(), *methods.chosen(None)}
    assert methods.chosen(["bm25_flat"]) == ["bm25_flat"]
    assert ("bm25_flat", "oracle-page") not in methods.measured(study.profile)
    assert ("bm25_flat", "standard") in methods.measured(study.profile)
    few = study.profile.replaced({"siblings.rows": ["bm25_steep"]})
    assert [name for name, _ in methods.measured(few) if name.startswith("bm25_")] == ["bm25_steep"]

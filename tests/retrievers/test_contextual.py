"""Contextual retrieval: windows that fit with their context, lose nothing, and are found by the context's words."""

import numpy as np
import pytest

from lib.models import index
from lib.retrievers import contextual
from lib.retrievers.contextual import prefixed_windows

WINDOW, OVERLAP = 48, 4
CONTEXTS = {"ACME": "acme profit", "BOLT": "bolt cash flow"}
LONG = " ".join(f"net sales rose {number}" for number in range(60))
QUESTIONS = ["bolt net sales", "acme net sales"]


class WordCounts:
    """Encodes a text as how often it has each of a few words, as a unit vector."""

    WORDS = ("acme", "bolt", "net", "sales", "cash", "profit")

    def encode(self, texts, role) -> np.ndarray:
        counts = np.array([[text.split().count(word) for word in self.WORDS] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True).clip(1e-9)


@pytest.fixture
def study(fake_study, tokenizer_folder, monkeypatch):
    """Two chunks of Acme and one of Bolt, two of them with equal texts."""
    embedder = {
        "weights": str(tokenizer_folder),
        "window": WINDOW,
        "window_overlap": OVERLAP,
        "precision": "float32",
        "batch_size": 4,
    }
    profile = {
        "embedder": embedder,
        "bm25": {"k1": 1.5, "b": 0.75},
        "hybrid_rrf": {"k_rrf": 60, "depth": 10},
    }
    made = fake_study(QUESTIONS, ["net sales", LONG, "net sales", "cash flow", "profit"], profile)
    made.chunks["doc_name"] = ["ACME", "ACME", "BOLT", "BOLT", "ACME"]
    monkeypatch.setattr(contextual, "contexts", lambda study, context: CONTEXTS)
    monkeypatch.setattr(index, "_encoder", lambda study: WordCounts())
    return made


EVERY = np.ones((2, 5), bool)


def test_a_window_fits_the_encoder_with_its_context(study, wordpiece):
    table = prefixed_windows(study, "header")
    lengths = [len(wordpiece.encode(text).ids) for text in table["text"]]
    assert max(lengths) == WINDOW  # special tokens counted
    assert table["chunk"].value_counts()[1] > 2


def test_every_window_stands_for_its_chunk_and_no_word_is_lost(study):
    table = prefixed_windows(study, "header")
    assert table["chunk"].is_monotonic_increasing
    for row, texts in table.groupby("chunk")["text"]:
        prefix = CONTEXTS[study.chunks["doc_name"][row]] + "\n"
        assert texts.str.startswith(prefix).all()
        read = {word for text in texts for word in text.removeprefix(prefix).split()}
        assert read == set(study.chunks["text"][row].split())


def test_a_long_context_leaves_room_for_the_chunk(study, monkeypatch, wordpiece):
    monkeypatch.setattr(contextual, "MAX_PREFIX", 8)
    monkeypatch.setattr(contextual, "contexts", lambda *_: dict.fromkeys(CONTEXTS, "cash " * 40))
    table = prefixed_windows(study, "written")
    assert table["text"][0] == "cash " * 7 + "cash\nnet sales"
    assert max(len(wordpiece.encode(text).ids) for text in table["text"]) <= WINDOW


def test_of_equal_chunks_the_one_of_the_asked_filing_is_found(study):
    scores = contextual.score_dense(study, EVERY, context="header")
    assert scores[0].argmax() == 2
    assert scores[1].argmax() in (0, 1)
    assert scores[1, 0] > scores[1, 2]


def test_vectors_are_stored_under_the_contexts_own_stage(study):
    contextual.score_dense(study, EVERY, context="written")
    assert {stage for stage, _ in study.store.log} == {"embeddings/contextual-written", "embeddings/queries"}


def test_bm25_reads_the_context(study):
    model = contextual.bm25_index(study, "header")
    scores = model.scores(["bolt"])
    assert (scores[[2, 3]] > 0).all()
    assert (scores[[0, 1, 4]] == 0).all()


def test_the_hybrid_fuses_both_among_the_candidates(study):
    allowed = np.array([[True, False, True, False, False], [True, False, True, False, False]])
    scores = contextual.score_hybrid(study, allowed, context="header")
    first, second = np.float32(2 / 61), np.float32(2 / 62)
    none = -np.inf
    assert scores[0].tolist() == [second, none, first, none, none]
    assert scores[1].tolist() == [first, none, second, none, none]


def test_rows_depend_on_the_contexts(study):
    assert contextual.header_inputs(study) == contextual.written_inputs(study) == CONTEXTS


def test_the_filings_of_neighbouring_chunks_may_alternate(study):
    study.chunks = study.chunks.iloc[[3, 4, 1, 0, 2]].reset_index(drop=True)
    table = prefixed_windows(study, "header")
    assert table.loc[table["chunk"] == 0, "text"].tolist() == ["bolt cash flow\ncash flow"]

"""Contextual retrieval: windows that fit with their context, lose nothing, and are found by the context's words."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.cache import Cache
from lib.models import index
from lib.models.prompts import Generation, GenerationError
from lib.models.written import GenerationLog, Model
from lib.retrievers import contextual
from lib.retrievers.contextual import contexts, excerpt, facts, prefixed_windows, written
from lib.retrievers.identity import sentences
from lib.retrievers.prompts import CONTEXT, prompt

WINDOW, OVERLAP = 48, 4
PREFIXES = {"ACME": "acme profit", "BOLT": "bolt cash flow"}
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
    profile = {"embedder": embedder, "bm25": {"k1": 1.5, "b": 0.75}, "hybrid_rrf": {"k_rrf": 60, "depth": 10}}
    made = fake_study(QUESTIONS, ["net sales", LONG, "net sales", "cash flow", "profit"], profile)
    made.chunks["doc_name"] = ["ACME", "ACME", "BOLT", "BOLT", "ACME"]
    monkeypatch.setattr(contextual, "contexts", lambda study, context: PREFIXES)
    monkeypatch.setattr(index, "load_encoder", lambda *args: WordCounts())
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
        prefix = PREFIXES[study.chunks["doc_name"][row]] + "\n"
        assert texts.str.startswith(prefix).all()
        read = {word for text in texts for word in text.removeprefix(prefix).split()}
        assert read == set(study.chunks["text"][row].split())


def test_a_long_context_leaves_room_for_the_chunk(study, monkeypatch, wordpiece):
    monkeypatch.setattr(contextual, "MAX_PREFIX", 8)
    monkeypatch.setattr(contextual, "contexts", lambda *_: dict.fromkeys(PREFIXES, "cash " * 40))
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


def test_the_filings_of_neighbouring_chunks_may_alternate(study):
    study.chunks = study.chunks.iloc[[3, 4, 1, 0, 2]].reset_index(drop=True)
    table = prefixed_windows(study, "header")
    assert table.loc[table["chunk"] == 0, "text"].tolist() == ["bolt cash flow\ncash flow"]


FILINGS = pd.DataFrame(
    [("ACME_2018_10K", "Acme", "Tools", "10-K", 2018), ("BOLT_8K", "Bolt", None, "8-K", None)],
    columns=["doc_name", "company", "sector", "doc_type", "doc_period"],
)
HEADER = "Acme 10-K of fiscal year 2018 (Tools)."
BUSINESS = "Acme provides products and services to customers in four segments of its markets."
PLAIN = "We have had the same small office in the old town for many years now."
COVER = "Acme Inc.\nFor the fiscal year ended\nDecember 31, 2018"


class Writer:
    """Writes a text, or fails for one company."""

    def __init__(self, text: str, fails: str = ""):
        self.text, self.fails, self.n_asked = text, fails, 0

    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            self.n_asked += 1
            failed = self.fails and self.fails in request.prompt.user
            answer = Generation(self.text, 90, CONTEXT.max_tokens, "length", 0.1)
            on_done(number, GenerationError("it died") if failed else answer)


@pytest.fixture
def study_with(tmp_path):
    """A study of two filings whose contexts are written by the given writer."""

    def make(writer: Writer) -> SimpleNamespace:
        rows = [("ACME_2018_10K", 1, BUSINESS), ("ACME_2018_10K", 0, COVER), ("BOLT_8K", 0, "Bolt")]
        cache = Cache(tmp_path / "cache.sqlite")
        log = GenerationLog(tmp_path / "log.jsonl", cache, Model("tiny", "ab12"), say=lambda line: None)
        return SimpleNamespace(
            filings=FILINGS,
            pages=pd.DataFrame(rows, columns=["doc_name", "page", "text"]),
            generation_log=lambda: log,
            make_generator=lambda: writer,
            memo=lambda key, compute: compute(),
        )

    return make


def test_the_header_says_what_the_metadata_has():
    assert sentences(FILINGS) == {"ACME_2018_10K": HEADER, "BOLT_8K": "Bolt 8-K."}


def test_the_excerpt_is_what_is_said_of_the_business():
    assert excerpt([COVER, f"{PLAIN} {BUSINESS}"]) == BUSINESS


@pytest.mark.parametrize(
    "sentence",
    [
        "The registrant provides products and services to its customers in many markets.",
        "Our products may fail to satisfy the customers of all our segments and markets.",
        "Products 1 2 3 services 4 5 6 segments 7 8 9 customers 10 11 12.",
        "Products and services.",
    ],
)
def test_boilerplate_figures_and_scraps_are_no_business(sentence):
    assert excerpt([COVER, f"{sentence} {BUSINESS}"]) == BUSINESS


def test_the_best_sentences_keep_their_order_and_repeat_nothing():
    richer = "Acme also manufactures brands that leading stores and platforms announced to customers worldwide."
    assert excerpt([f"{BUSINESS} {richer}", BUSINESS]) == f"{BUSINESS} {richer}"


def test_later_pages_are_not_read():
    assert excerpt([COVER] * contextual.FIRST_PAGES + [BUSINESS]) == " ".join(COVER.split())


def test_an_excerpt_is_short():
    assert len(excerpt([" ".join(f"{BUSINESS[:-1]} {word}." for word in "ab cd ef gh".split()) * 9])) <= 700
    assert len(excerpt(["word " * 1000])) == 700


def test_the_prompt_dates_the_filing_by_its_first_page():
    asked = prompt("filing_context", facts("Acme", HEADER, [COVER, BUSINESS])).user
    assert asked.startswith(f"{HEADER} Dated December 31, 2018.\nExcerpt: {BUSINESS}\n")
    assert "say what Acme does" in asked


def test_a_filing_without_a_date_has_none():
    asked = prompt("filing_context", facts("Bolt", "Bolt 8-K.", ["Bolt {x}"])).user
    assert asked.startswith("Bolt 8-K. \nExcerpt: Bolt {x}\n")


def test_a_written_context_begins_with_the_header_and_ends_with_its_last_whole_sentence(study_with):
    study = study_with(Writer("Acme makes tools in many countries.\nIt also"))
    assert contexts(study, "written")["ACME_2018_10K"] == f"{HEADER} Acme makes tools in many countries."


def test_a_text_of_one_unfinished_sentence_is_kept(study_with):
    study = study_with(Writer("Acme Co. makes tools and also very many other things that"))
    assert contexts(study, "written")["BOLT_8K"] == (
        "Bolt 8-K. Acme Co. makes tools and also very many other things that"
    )


def test_a_filing_without_a_written_context_has_its_header(study_with):
    study = study_with(Writer("It makes tools.", fails="Bolt"))
    assert contexts(study, "written") == {"ACME_2018_10K": f"{HEADER} It makes tools.", "BOLT_8K": "Bolt 8-K."}
    assert written(study).missing == {"BOLT_8K": "it died"}


def test_what_is_written_is_kept(study_with):
    writer = Writer("It makes tools.")
    contexts(study_with(writer), "written")
    again = written(study_with(writer))
    assert (writer.n_asked, again.origins["reused"]) == (2, 2)


def test_headers_need_no_model(study_with):
    writer = Writer("It makes tools.")
    assert contexts(study_with(writer), "header") == sentences(FILINGS)
    assert writer.n_asked == 0

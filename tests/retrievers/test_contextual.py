"""Chunks with more than their own text: the context of their filing, or keywords, a summary and a caption."""

import numpy as np
import pandas as pd
import pytest

from lib.chunkings.elements import merge
from lib.retrievers import contextual, element_metadata
from lib.retrievers.contextual import contexts, excerpt, prefixed_windows, written
from lib.retrievers.element_metadata import metadata_of, represent, score
from tests.chunkings.conftest import element_table
from tests.made import make_study

WINDOW = 48
PREFIXES = {"ACME": "acme profit", "BOLT": "bolt cash flow"}
LONG = " ".join(f"net sales rose {number}" for number in range(60))


@pytest.fixture
def study(written_study, monkeypatch):
    """Three chunks of Acme and two of Bolt, two of them with equal texts."""
    texts = ["net sales", LONG, "net sales", "cash flow", "profit"]
    window = {"embedder.window": WINDOW, "embedder.window_overlap": 4}
    made = written_study(["bolt net sales", "acme net sales"], texts, **window)
    made.chunks["doc_name"] = ["ACME", "ACME", "BOLT", "BOLT", "ACME"]
    monkeypatch.setattr(contextual, "contexts", lambda study, context: PREFIXES)
    return made


def test_every_window_fits_with_its_context_stands_for_its_chunk_and_no_word_is_lost(study, wordpiece):
    study.chunks = study.chunks.iloc[[3, 4, 1, 0, 2]].reset_index(drop=True)
    table = prefixed_windows(study, "header")
    assert max(len(wordpiece.encode(text).ids) for text in table["text"]) == WINDOW  # special tokens counted
    assert table["chunk"].is_monotonic_increasing
    for row, texts in table.groupby("chunk")["text"]:
        prefix = PREFIXES[study.chunks["doc_name"][row]] + "\n"
        assert texts.str.startswith(prefix).all()
        assert (len(texts) > 2) == (row == 2)
        assert {*" ".join(texts.str.removeprefix(prefix)).split()} == {*study.chunks["text"][row].split()}


def test_a_long_context_leaves_room_for_the_chunk(study, wordpiece, monkeypatch):
    monkeypatch.setattr(contextual, "MAX_PREFIX", 8)
    monkeypatch.setattr(contextual, "contexts", lambda *_: dict.fromkeys(PREFIXES, "cash " * 40))
    table = prefixed_windows(study, "written")
    assert table["text"].iloc[0] == "cash " * 7 + "cash\nnet sales"
    assert max(len(wordpiece.encode(text).ids) for text in table["text"]) <= WINDOW


def test_of_equal_chunks_the_one_of_the_asked_filing_is_found_and_the_hybrid_fuses_among_the_candidates(study):
    allowed = np.array([[True, False, True, False, False]] * 2)
    dense = contextual.score_dense(study, allowed, context="header")
    assert (dense[:, 2] > dense[:, 0]).tolist() == [True, False]
    assert {stage for stage, _ in study.store.log} == {"embeddings/contextual-header", "embeddings/queries"}
    scores = contextual.score_hybrid(study, allowed, context="header")
    first, second, none = np.float32(2 / 61), np.float32(2 / 62), -np.inf  # BM25 knows "bolt" of the context alone
    assert scores.tolist() == [[second, none, first, none, none], [first, none, second, none, none]]


BUSINESS = "Acme provides products and services to customers in four segments of its markets."
RICHER = "Acme also manufactures brands that leading stores and platforms announced to customers worldwide."
COVER = "Acme Inc.\nFor the fiscal year ended\nDecember 31, 2018"
NO_BUSINESS = [
    "We have had the same small office in the old town for many years now.",
    "The registrant provides products and services to its customers in many markets.",
    "Our products may fail to satisfy the customers of all our segments and markets.",
    "Products 1 2 3 services 4 5 6 segments 7 8 9 customers 10 11 12.",
    "Products and services.",
]


@pytest.mark.parametrize(
    ("pages", "found"),
    [
        ([COVER, " ".join([*NO_BUSINESS, BUSINESS])], BUSINESS),
        ([f"{BUSINESS} {RICHER}", BUSINESS], f"{BUSINESS} {RICHER}"),  # in their order, none twice
        ([COVER] * contextual.FIRST_PAGES + [BUSINESS], " ".join(COVER.split())),
        (["word " * 1000], ("word " * 1000)[:700]),
    ],
)
def test_the_excerpt_is_what_the_first_pages_say_of_the_business(pages, found):
    assert excerpt(pages) == found


FILINGS = [("ACME_2018_10K", "Acme", "Tools", "10-K", 2018), ("BOLT_8K", "Bolt", None, "8-K", None)]
FILINGS = pd.DataFrame(FILINGS, columns=["doc_name", "company", "sector", "doc_type", "doc_period"])
HEADER = "Acme 10-K of fiscal year 2018 (Tools)."
CUT = "Acme Co. makes tools and also very many other things that"  # its last sentence is more than half of it


@pytest.mark.parametrize(
    ("text", "sentences"),
    [("It makes tools in many countries.\nIt", "It makes tools in many countries."), (CUT, CUT), (None, "")],
)
def test_a_written_context_is_the_header_and_whole_sentences_or_the_header_alone(written_study, text, sentences):
    study = written_study([], [], lambda asked: None if "Bolt" in asked else text)
    rows = [("ACME_2018_10K", 1, BUSINESS), ("ACME_2018_10K", 0, COVER), ("BOLT_8K", 0, "Bolt {x}")]
    study.filings, study.pages = FILINGS, pd.DataFrame(rows, columns=["doc_name", "page", "text"])
    assert contexts(study, "header") == {"ACME_2018_10K": HEADER, "BOLT_8K": "Bolt 8-K."}
    assert not study.generator.asked
    assert contexts(study, "written") == {"ACME_2018_10K": f"{HEADER} {sentences}".strip(), "BOLT_8K": "Bolt 8-K."}
    assert written(study).missing["BOLT_8K"] == "it died"
    acme, bolt, *_ = (request.prompt.user for request in study.generator.asked)
    assert f"{HEADER} Dated December 31, 2018." in acme
    assert BUSINESS in acme
    assert "Bolt {x}" in bolt


ELEMENTS = element_table(
    (0, "title", "Balance sheet\n"),
    (0, "title", "(Millions)\n"),
    (0, "table", "Cash 5 6\nDebt 7 8\n"),
    (0, "text", "Cash rose. Debt fell. Sales rose.\n"),
    (0, "table", "Sales 1 2\nCosts 3 4\n"),
    (1, "table", "Fees 1 2\nTaxes 3 4"),
)


def test_keywords_are_the_six_heaviest_terms_and_a_summary_the_three_different_sentences_nearest_to_the_text():
    text = "fees " * 5 + "equity cash " * 3 + "hedges " * 2 + "goodwill debt assets"
    assert metadata_of([text]).loc[0, "keywords"] == "fees, cash, equity, hedges, assets, debt"  # ties by name
    # the text has rain once, silver three times and gold five times
    found = metadata_of(["Rain. Gold gold silver. Silver. Gold gold silver. Gold.", "1,577 2018"])
    assert found["summary"].tolist() == ["Gold gold silver. Silver. Gold.", "1,577 2018"]
    assert found.loc[1, "keywords"] == ""


def test_a_chunk_scores_as_its_nearest_representation_of_which_a_caption_is_the_titles_before_a_table(monkeypatch):
    """Four element chunks; questions and texts are vectors of two made-up dimensions."""
    seen, study = {}, make_study(chunks=merge(ELEMENTS), with_chunks=lambda name: None)

    def vectors(study, table, chunks, texts):
        assert list(chunks) == list(range(len(texts)))
        seen[table] = list(texts)
        value = {"keywords": 0.5, "summary": 0.25, "prefix": 0.75}[table.rpartition("_")[2]]
        return np.tile(np.float32([value, 1 - value]), (len(texts), 1))

    monkeypatch.setattr(element_metadata, "elements", lambda study: ELEMENTS)
    monkeypatch.setattr(element_metadata, "chunk_vectors", vectors)
    monkeypatch.setattr(element_metadata, "question_vectors", lambda study: np.eye(2, dtype=np.float32))
    assert score(study, None, kinds=["keywords"]).tolist() == [[0.5] * 4, [0.5] * 4]
    assert score(study, None, kinds=["keywords", "summary", "prefix"]).tolist() == [[0.75] * 4, [0.75] * 4]
    first = ["Balance sheet (Millions)", "Cash rose. Debt fell.", "(Millions)", "Fees 1 2 Taxes 3 4"]
    assert seen["element_prefix"] == first
    # a chunk without a term is represented by its text
    study.chunks = pd.DataFrame({"doc_name": "DOC", "page": 2, "text": ["1,577 2018"], "start": 0, "end": 10})
    assert represent(study).to_numpy().tolist() == [["1,577 2018"] * 3]

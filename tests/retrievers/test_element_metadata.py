"""Metadata of element chunks: keywords, summary and prefix by hand; what represents a chunk, and how it is scored."""

import numpy as np
import pandas as pd

from lib.chunkings.elements import ELEMENT_COLUMNS, merge
from lib.retrievers import element_metadata
from lib.retrievers.element_metadata import captions, metadata_of, represent, score, sentences_of
from tests.made import make_study

PIECES = [
    (0, "title", "Balance sheet\n"),
    (0, "title", "(Millions)\n"),
    (0, "table", "Cash 5 6\nDebt 7 8\n"),
    (0, "text", "Cash rose. Debt fell. Sales rose.\n"),
    (0, "table", "Sales 1 2\nCosts 3 4\n"),
    (1, "table", "Fees 1 2\nTaxes 3 4"),
]
FOUND = pd.DataFrame(PIECES, columns=["page", "kind", "text"])  # each begins where the one before ended
FOUND["end"] = FOUND["text"].str.len().groupby(FOUND["page"]).cumsum()
FOUND["start"] = FOUND["end"] - FOUND["text"].str.len()
FOUND = FOUND.assign(doc_name="DOC", rows="", is_placed=True)[list(ELEMENT_COLUMNS)]


def test_keywords_are_the_six_heaviest_terms_and_a_summary_the_three_different_sentences_nearest_to_the_text():
    assert sentences_of("Net  sales\nrose. Cash fell.\n\nNotes") == ["Net sales rose.", "Cash fell.", "Notes"]
    assert [len(one) for one in sentences_of("a" * 500)] == [200]
    text = "fees " * 5 + "equity cash " * 3 + "hedges " * 2 + "goodwill debt assets"
    assert metadata_of([text]).loc[0, "keywords"] == "fees, cash, equity, hedges, assets, debt"  # ties by name
    # the text has rain once, silver three times and gold five times
    found = metadata_of(["Rain. Gold gold silver. Silver. Gold gold silver. Gold.", "1,577 2018"])
    assert found["summary"].tolist() == ["Gold gold silver. Silver. Gold.", "1,577 2018"]
    assert found.loc[1, "keywords"] == ""


def test_a_chunk_scores_as_its_nearest_representation_of_which_a_caption_is_the_titles_before_a_table(monkeypatch):
    """Four element chunks; questions and texts are vectors of two made-up dimensions."""
    seen, study = {}, make_study(chunks=merge(FOUND), over=lambda name: None)

    def vectors(study, stage, texts):
        seen[stage] = list(texts)
        value = {"keywords": 0.5, "summary": 0.25, "prefix": 0.75}[stage.rpartition("_")[2]]
        return np.tile(np.float32([value, 1 - value]), (len(texts), 1))

    monkeypatch.setattr(element_metadata, "elements", lambda study: FOUND)
    monkeypatch.setattr(element_metadata, "text_vectors", vectors)
    monkeypatch.setattr(element_metadata, "question_vectors", lambda study: np.eye(2, dtype=np.float32))
    assert captions(study.chunks, FOUND) == {0: "Balance sheet (Millions)", 2: "(Millions)", 3: ""}
    assert score(study, None, kinds=["keywords"]).tolist() == [[0.5] * 4, [0.5] * 4]
    assert score(study, None, kinds=["keywords", "summary", "prefix"]).tolist() == [[0.75] * 4, [0.75] * 4]
    first = ["Balance sheet (Millions)", "Cash rose. Debt fell.", "(Millions)", "Fees 1 2 Taxes 3 4"]
    assert seen["embeddings/element_prefix"] == represent(study)["prefix"].tolist() == first
    # a chunk without a term is represented by its text
    study.chunks = pd.DataFrame({"doc_name": "DOC", "page": 2, "text": ["1,577 2018"], "start": 0, "end": 10})
    assert represent(study).to_numpy().tolist() == [["1,577 2018"] * 3]

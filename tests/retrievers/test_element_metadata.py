"""Metadata of element chunks: keywords, summary and prefix by hand; what represents a chunk, and how it is scored."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.chunkings.elements import ELEMENT_COLUMNS, merge
from lib.retrievers import element_metadata
from lib.retrievers.element_metadata import captions, metadata_of, represent, score, sentences_of


def test_sentences_are_cut_and_freed_of_blanks():
    assert sentences_of("Net  sales\nrose. Cash fell.\n\nNotes") == ["Net sales rose.", "Cash fell.", "Notes"]
    assert [len(one) for one in sentences_of("a" * 500)] == [200]


def test_keywords_are_the_six_heaviest_terms_of_equal_ones_the_first():
    text = "fees " * 5 + "equity cash " * 3 + "hedges " * 2 + "goodwill debt assets"
    assert metadata_of([text]).loc[0, "keywords"] == "fees, cash, equity, hedges, assets, debt"


def test_a_summary_is_the_three_different_sentences_nearest_to_the_text_in_its_order():
    # the text has rain once, silver three times and gold five times
    found = metadata_of(["Rain. Gold gold silver. Silver. Gold gold silver. Gold."])
    assert found.loc[0, "summary"] == "Gold gold silver. Silver. Gold."


def test_keywords_and_summary_of_texts():
    filler = "The company sells what it makes. Buyers pay for it. Prices rise. Costs fall."
    own = f"Impairment of goodwill was large. Goodwill fell. {filler} Impairment, impairment of goodwill!"
    found = metadata_of([own, "1,577 2018", *[filler] * 9])
    assert found.loc[0, "keywords"].startswith("goodwill, impairment, ")
    assert found.loc[0, "summary"].endswith("Goodwill fell. Impairment, impairment of goodwill!")
    assert found.loc[1].tolist() == ["", "1,577 2018"]
    assert metadata_of(["", " "]).to_numpy().tolist() == [["", ""]] * 2


def page(*pieces: tuple[str, str], number: int = 0) -> list[tuple]:
    """Elements of a page of ``DOC``, each beginning where the one before ended."""
    ends = zip(pieces, np.cumsum([len(text) for _, text in pieces]), strict=True)
    return [("DOC", number, kind, text, end - len(text), end, "", True) for (kind, text), end in ends]


FOUND = pd.DataFrame(
    page(
        ("title", "Balance sheet\n"),
        ("title", "(Millions)\n"),
        ("table", "Cash 5 6\nDebt 7 8\n"),
        ("text", "Cash rose. Debt fell. Sales rose.\n"),
        ("table", "Sales 1 2\nCosts 3 4\n"),
    )
    + page(("table", "Fees 1 2\nTaxes 3 4"), number=1),
    columns=list(ELEMENT_COLUMNS),
)


def test_a_caption_is_the_titles_before_the_table_else_the_last_title_of_the_page():
    chunks = merge(FOUND)
    assert [text.split()[0] for text in chunks["text"]] == ["Balance", "Cash", "Sales", "Fees"]
    assert captions(chunks, FOUND) == {0: "Balance sheet (Millions)", 2: "(Millions)", 3: ""}


@pytest.fixture
def study(monkeypatch):
    """Four element chunks; questions and texts are vectors of two made-up dimensions."""
    monkeypatch.setattr(element_metadata, "elements", lambda study: FOUND)
    made = SimpleNamespace(chunks=merge(FOUND), memo=lambda key, compute: compute())
    made.over, made.seen = lambda name: made, {}

    def vectors(study, stage, texts):
        made.seen[stage] = list(texts)
        value = {"keywords": 0.5, "summary": 0.25, "prefix": 0.75}[stage.rpartition("_")[2]]
        return np.tile(np.float32([value, 1 - value]), (len(texts), 1))

    monkeypatch.setattr(element_metadata, "text_vectors", vectors)
    monkeypatch.setattr(element_metadata, "question_vectors", lambda study: np.eye(2, dtype=np.float32))
    return made


def test_every_chunk_has_three_representations(study):
    found = represent(study)
    first = ["Balance sheet (Millions)", "Cash rose. Debt fell.", "(Millions)", "Fees 1 2 Taxes 3 4"]
    assert found["prefix"].tolist() == first
    assert (found[["keywords", "summary", "prefix"]] != "").all(axis=None)
    assert found.loc[3, "keywords"].split(", ") == ["fees", "taxes"]


def test_a_chunk_scores_as_its_nearest_representation_and_is_there_once(study):
    assert score(study, None, kinds=["keywords"]).tolist() == [[0.5] * 4, [0.5] * 4]
    assert score(study, None, kinds=["keywords", "summary", "prefix"]).tolist() == [[0.75] * 4, [0.75] * 4]
    assert [*study.seen] == ["embeddings/element_keywords", "embeddings/element_summary", "embeddings/element_prefix"]
    assert study.seen["embeddings/element_prefix"] == represent(study)["prefix"].tolist()

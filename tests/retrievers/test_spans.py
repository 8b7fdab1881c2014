"""Spans of chunks behind Item, Note and heading, and their search."""

import pytest

from lib.retrievers import spans

PROSE = "The mill was closed because its orders fell for three years, and the looms were sold to a neighbour abroad."
COVER = "FORM 10-K\nFor the period ended December 31, 2021\nOSKARVALE PLC\n(Exact name of registrant)"


@pytest.fixture
def study(folder, open_words):
    """One report: a cover, a page with a heading, and one that goes on below it."""
    folder.pdf("OSKARVALE_2021_10K", COVER, f"Item 7. Discussion\nMill Closures\n{PROSE}", "Looms were cheap.", "")
    folder.question(
        "q1", "OSKARVALE_2021_10K", (2, "Looms"), question="Answer in a word. What became of Oskarvale's looms?"
    )
    return open_words(name="spans", changes={"spans.size": 40, "spans.overlap": 8})


def test_a_span_stands_behind_what_its_filing_prints_above_it(study):
    found = spans.spans(study)
    pages = study.chunks["page"].to_numpy()[found["chunk"]]
    context = "Item 7 Discussion | Mill Closures: "
    assert found["text"][pages == 0].iloc[0].startswith("FORM 10-K")
    assert found["text"][pages == 2].tolist() == [f"{context}Looms were cheap."]
    assert (pages == 1).sum() > 1
    assert found["text"][pages == 1].iloc[-1].startswith(context)
    assert not (pages == 3).any()


def test_a_chunk_scores_as_its_best_span_for_what_the_question_asks(study):
    asked = spans.asked_of_spans(study.questions["question"], spans.named_filings(study))
    assert asked == ["What became of the company's looms?"]
    owners, vectors = spans.span_vectors(study)
    [query] = spans.question_vectors(study, study.questions["question"])
    scores = spans.score(study, study.candidates("standard"))
    for chunk in range(len(study.chunks)):
        assert scores[0, chunk] == pytest.approx((vectors[owners == chunk] @ query).max(), abs=1e-6)

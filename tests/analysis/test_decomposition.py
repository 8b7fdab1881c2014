"""The decomposition: exact parts on a run one can check by eye, and the identities on any run."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.analysis.decomposition import (
    METRIC_OF,
    STEPS,
    decompose,
    decomposition,
    evidence_words,
    gold_found,
    locate,
    recovery,
    step_of,
)
from lib.evaluation import METRIC_COLUMNS
from lib.metrics.retrieval import doc_recall, page_recall
from tests.made import make_study

TEXTS = ["cover", "net sales rose by ten percent while costs fell", "cash", "net sales of another company"]
PAGES = pd.DataFrame({"doc_name": list("AAAB"), "page": [0, 1, 2, 0], "text": TEXTS})
CHUNKS = pd.DataFrame(
    [
        ("A#p0000#c00", "A", 0, 0, 5),
        ("A#p0001#c00", "A", 1, 0, 30),  # net sales rose by ten percent, up to the first letter of while
        ("A#p0001#c01", "A", 1, 18, 46),  # … ten percent while costs fell
        ("A#p0002#c00", "A", 2, 0, 4),
        ("B#p0000#c00", "B", 0, 0, 28),
    ],
    columns=["chunk_id", "doc_name", "page", "start", "end"],
)
QUESTIONS = pd.DataFrame({"question_id": ["q"], "doc_name": ["A"], "gold_pages": [[1]]})


def evidence_of(*pieces: tuple[int, str]) -> pd.DataFrame:
    return pd.DataFrame(pieces, columns=["page", "text"]).assign(question_id="q", doc_name="A")


def run_of(*chunk_ids: str) -> pd.DataFrame:
    place = CHUNKS.set_index("chunk_id").loc[list(chunk_ids), ["doc_name", "page"]].reset_index()
    return place.assign(question_id="q", rank=range(1, len(chunk_ids) + 1))


def test_evidence_is_found_where_it_stands():
    assert locate("Net sales rose!", "sales of 2019 and net sales rose") == [18, 22, 28]  # not alone
    assert locate("net profit fell", "the net loss fell") == [4, 13]  # words that the page lacks are left out


THREE = [(1, "net sales"), (1, "ten"), (1, "costs fell")]  # ten is in both chunks; the second has three of five words


@pytest.mark.parametrize(
    ("retrieved", "evidence", "k", "expected"),
    [
        (["A#p0001#c01"], [(1, "while costs fell")], 5, [1, 0, 0, 0]),
        (["A#p0001#c00"], [(1, "while costs fell")], 5, [0, 1, 0, 0]),  # the chunk ends before the first word
        (["A#p0001#c01"], THREE, 5, [3 / 5, 2 / 5, 0, 0]),  # the rest is lost at the chunk step
        (["A#p0001#c01", "A#p0001#c00"], THREE, 5, [1, 0, 0, 0]),
        (["B#p0000#c00", "A#p0002#c00"], [(1, "net sales")], 5, [0, 0, 1, 0]),  # another page of the filing
        (["B#p0000#c00"], [(1, "net sales")], 5, [0, 0, 0, 1]),  # another filing
        (["B#p0000#c00", "A#p0001#c00"], [(1, "net sales")], 1, [0, 0, 0, 1]),  # below k
        (["B#p0000#c00", "A#p0001#c00"], [(1, "net sales")], 2, [1, 0, 0, 0]),
        (["A#p0001#c01"], [(1, "zzz")], 5, [1, 0, 0, 0]),  # not located: found with any chunk of its page
        ([], [(1, "net sales")], 5, [0, 0, 0, 1]),
    ],
)
def test_each_word_of_the_evidence_is_found_or_lost_at_one_step(retrieved, evidence, k, expected):
    words = evidence_words(evidence_of(*evidence), PAGES, CHUNKS)
    found = decompose(run_of(*retrieved), QUESTIONS, words, k).loc["q", [*STEPS]]
    assert found.tolist() == pytest.approx(expected)


def test_the_decomposition_of_runs_are_metrics():
    study = make_study(questions=QUESTIONS, pages=PAGES, chunks=CHUNKS, run=lambda *_: run_of("A#p0001#c01"))
    study.dataset.evidence = evidence_of(*THREE)
    table = decomposition(study, ["dense"], ["standard"], 5)
    assert list(table) == METRIC_COLUMNS
    assert table.set_index("metric")["value"].to_dict() == dict(zip(METRIC_OF.values(), [0.6, 0.4, 0, 0], strict=True))


def test_each_gold_page_is_followed_from_all_filings_to_the_given_one():
    questions = QUESTIONS.assign(gold_pages=[[0, 1, 2]])
    runs = {"standard": ["A#p0000#c00", "B#p0000#c00"], "oracle-document": ["A#p0000#c00", "A#p0001#c00"]}
    study = make_study(questions=questions, run=lambda _, condition: run_of(*runs[condition]))
    pages = gold_found(study, "dense", 2)
    assert pages.index.tolist() == [("q", "A", 0), ("q", "A", 1), ("q", "A", 2)]
    assert pages.to_dict("list") == {"reached": [True] * 3, "found": [True, False, False], "given": [True, True, False]}
    assert step_of(pages).tolist() == ["found", "page", "page"]
    shares = recovery(study, ["dense"], 2).loc["dense"]
    assert shares[shares > 0].to_dict() == pytest.approx(dict.fromkeys(["page_back", "found_back", "page_lost"], 1 / 3))


PIECES = [(0, "cover"), (1, "net sales rose"), (1, "by ten percent"), (1, "costs fell"), (2, "cash"), (2, "zzz")]


@settings(max_examples=50)
@given(
    gold=st.sets(st.integers(0, 3), min_size=1),  # no chunk is of page 3
    pieces=st.lists(st.sampled_from(PIECES), max_size=4),
    retrieved=st.lists(st.sampled_from(CHUNKS["chunk_id"].tolist()), unique=True),
    k=st.integers(1, 6),
)
def test_for_any_run_the_parts_add_to_one_and_agree_with_the_recalls(gold, pieces, retrieved, k):
    questions, run = QUESTIONS.assign(gold_pages=[sorted(gold)]), run_of(*retrieved)
    words = evidence_words(evidence_of(*(piece for piece in pieces if piece[0] in gold)), PAGES, CHUNKS)
    split = decompose(run, questions, words, k)
    assert ((split >= 0) & (split <= 1)).all(axis=None)
    assert np.allclose(split.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.allclose(1 - split["document"], doc_recall(run, questions, k))
    assert np.allclose(split["found"] + split["chunk"], page_recall(run, questions, k))

"""Sparse scores: BM25 by rank_bm25 and its formula, a tokenizer that keeps what finance writes, products of SPLADE."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from lib.models.sparse import TERM, to_matrix
from lib.retrievers import bm25, splade
from lib.text.tokens import tokenize

TERMS = st.sampled_from(["net", "sales", "rose", "$", "1,577", "cash", "zero"])
TEXTS = st.lists(st.lists(TERMS, max_size=8), min_size=1, max_size=12)
QUERY = st.lists(TERMS | st.sampled_from(["unknown", "other"]), max_size=8)


@given(TEXTS, QUERY, st.floats(0.1, 3), st.floats(0, 0.99), st.booleans())  # at b = 1 the library divides 0 by 0
def test_scores_are_those_of_rank_bm25(texts, query, k1, b, has_common):
    """A term in every text has a negative idf, which the library lifts to a share of the mean."""
    if has_common:
        texts, query = [["net", *text] for text in texts], ["net", "net", *query]
    assume(any(texts))  # the library divides by the number of terms
    wanted = BM25Okapi(texts, k1=k1, b=b).get_scores(query)
    np.testing.assert_array_equal(bm25.BM25(texts, k1, b, is_sound=False).get_scores(query), wanted)


@given(TEXTS, QUERY, st.floats(0.1, 3), st.floats(0, 0.99))  # at b = 1 an empty text gives 0 by 0
def test_sound_scores_are_those_of_the_formula(texts, query, k1, b):
    mean = sum(map(len, texts)) / len(texts) or 1
    wanted = np.zeros(len(texts))
    for term in query:
        n = sum(term in text for text in texts)
        for column, text in enumerate(texts):
            saturated = text.count(term) * (k1 + 1) / (text.count(term) + k1 * (1 - b + b * len(text) / mean))
            wanted[column] += np.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) * saturated
    np.testing.assert_allclose(bm25.BM25(texts, k1, b).get_scores(query), wanted, rtol=1e-12)


@pytest.mark.parametrize("texts", [[], [[]], [[], []]])
@pytest.mark.parametrize("is_sound", [True, False])
def test_without_terms_every_score_is_zero(texts, is_sound):
    assert bm25.BM25(texts, is_sound=is_sound).get_scores(["cash"]).tolist() == [0.0] * len(texts)


def test_tokens():
    tokens = {"$ 1,577 and $1577; $1,234.5": "$ 1,577 1577 and $1577 1577 $1,234.5 1234.5"}
    tokens |= {"4.2% 4.2 % (370) P&L at year-end": "4.2% 4.2 4.2 % 370 p&l at year-end"}
    tokens |= {"3M's 10-K for FY2018": "3 m's 10 k for fy 2018", "1,2,3 12,34 profit. 5. \n—•": "1 2 3 12 34 profit 5"}
    assert {text: " ".join(tokenize(text)) for text in tokens} == tokens


@pytest.mark.parametrize(("form", "tokens"), [("rank_bm25", tokenize), ("rank_bm25, white space", str.split)])
def test_sound_scores_leave_empty_words_out_and_a_paper_s_weights_have_an_index_each(fake_study, form, tokens):
    texts = ["net sales rose", "equipment $ (1,577)", "cash flow", "the year of the year", "we sold goods"]
    study = fake_study(["net sales in the year", "was it $1577?"], texts, {"bm25": {"k1": 1.5, "b": 0.75}})
    assert (bm25.score(study, None) > 0).tolist() == [[True, False, False, True, False], [False, True] + [False] * 3]
    assert bm25.text_scores(bm25.index(study), ["the"]).tolist() == [[0] * 5]
    for k1 in (1.2, 2.0):
        reference = BM25Okapi([tokens(text) for text in texts], k1=k1, b=0.75)
        expected = [reference.get_scores(tokens(question)) for question in study.questions["question"]]
        np.testing.assert_array_equal(bm25.score(study, None, k1=k1, form=form), expected)


def test_scores_are_dot_products_and_unused_places_are_no_terms(fake_study, monkeypatch):
    """Texts are records (term, weight), 0 where unused."""
    texts = [[(2, 0.5), (0, 0)], [(0, 3.0), (1, 9.0)], [(1, 1.0), (0, 0)]], [[(0, 1.0), (2, 2.0)], [(7, 2.0), (0, 0)]]
    chunks, queries = (to_matrix(np.array(rows, TERM)) for rows in texts)
    assert chunks.nnz == 4
    vectors = {"sparse/queries": queries, "sparse/chunks": chunks}
    monkeypatch.setattr(splade, "sparse_vectors", lambda study, stage, *_, **__: vectors[stage])
    scores = splade.score(fake_study(["?", "?"], ["a", "b", "c"], {}), None)
    assert scores.tolist() == [[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    assert scores.dtype == np.float32

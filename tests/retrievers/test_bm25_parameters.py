"""BM25 with other parameters equals rank_bm25 with them."""

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from lib.retrievers import bm25_parameters
from lib.retrievers.bm25 import tokenize

TEXTS = ["net sales rose", "capex fell", "cash flow", "the year of the year", "we sold goods"]


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4)])
def test_scores_are_those_of_the_reference(fake_study, k1, b):
    study = fake_study(["net sales in the year", "cash"], TEXTS, {})
    reference = BM25Okapi([tokenize(text) for text in TEXTS], k1=k1, b=b)
    expected = [reference.get_scores(tokenize(question)) for question in study.questions["question"]]
    np.testing.assert_allclose(bm25_parameters.score(study, np.ones((2, 5), bool), k1=k1, b=b), expected)


def test_rows_with_other_parameters_do_not_share_an_index(fake_study):
    study, every = fake_study(["the year"], TEXTS, {}), np.ones((1, 5), bool)
    first, second = (bm25_parameters.score(study, every, k1=k1, b=0.75) for k1 in (1.2, 2.0))
    assert not np.allclose(first, second)

"""Variants of the page ranker by question set."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.ahead.ranker import UNTRAINED, WHOLE
from lib.analysis import compare
from lib.analysis.ladder import LADDER
from lib.profile import load_profile
from lib.words import NeedsFilings
from tests.made import make_study

STUDY = make_study(
    200,
    profile=load_profile("default").replaced({"significance.n_draws": 200}),
    dataset=SimpleNamespace(collection="financebench", name="financebench"),
)


@pytest.fixture
def measured(monkeypatch):
    """The untrained sum finds nothing; a trained ranker finds everything under the first seed and half of it later."""

    def recalls(study, variant, seed, sets):
        found = {"untrained": 0.0, "without words": 0.25}.get(variant.name, 1.0 if seed == 13 else 0.5)
        about = {"question_id": list("abcd"), "set": ["financebench"] * 3 + ["page-questions"]}
        about |= {"question_type": list("xxyz"), "company": ["ash", "birch", "cedar", "ash"]}
        return pd.DataFrame(about | {"doc_recall": 1.0, "page_recall": found})

    monkeypatch.setattr(compare, "nested_recalls", recalls)


@pytest.mark.parametrize(("variant", "seeds", "mean"), [(WHOLE, [13, 14, 15], 2 / 3), (UNTRAINED, [13], 0)])
def test_recalls_are_means_over_the_seeds(measured, variant, seeds, mean):
    assert compare.seeds_of(STUDY, variant) == seeds
    assert compare.mean_recalls(STUDY, variant)["page_recall"].tolist() == pytest.approx([mean] * 4)


def test_rankers_are_compared_with_the_untrained_sum_and_ablations_with_the_whole_ranker(measured):
    found = compare.by_set(STUDY).set_index(["variant", "set"])
    assert len(found) == 2 * (len(compare.MEASURED) + 2)
    trained = found.loc[("trained on page-questions alone", "financebench")]
    assert trained[["n", "companies", "seeds"]].tolist() == [3, 3, 3]
    assert trained["difference"] == pytest.approx(2 / 3)
    assert pd.isna(found.loc[(compare.BASE, "page-questions"), "difference"])
    ablation = found.loc[("trained, without words", "financebench")]
    assert ablation["reference"] == compare.TRAINED
    assert ablation["difference"] == pytest.approx(0.25 - 2 / 3)
    assert ablation["p_holm"] >= ablation["p"]
    steps = pd.DataFrame({"title": [LADDER[-1].title], "p_holm": [0.0123]})
    again = compare.by_set(STUDY, steps).set_index(["variant", "set"])["p_holm"]
    assert again[compare.KINDS, "financebench"] == 0.0123  # a step of the ladder has its p, and no part in the family
    assert again[compare.KINDS, "page-questions"] == found["p_holm"][compare.KINDS, "page-questions"]


def test_what_is_neither_stored_nor_published_is_left_out(monkeypatch):
    def refuse(*_):
        raise NeedsFilings("no filings")

    monkeypatch.setattr(compare, "nested_recalls", refuse)
    assert compare.by_set(STUDY).empty

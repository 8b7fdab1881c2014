"""Variants of the page ranker by question set: mean over seeds, differences from the untrained sum, the sentence."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.ahead.ranker import UNTRAINED, WHOLE
from lib.analysis import ahead_sets
from lib.profile import load_profile
from lib.show import ahead_sets as show
from lib.words import NeedsFilings


@pytest.fixture
def study() -> SimpleNamespace:
    dataset = SimpleNamespace(collection="financebench")
    return SimpleNamespace(dataset=dataset, profile=load_profile("default"))


@pytest.fixture
def measured(monkeypatch):
    """The untrained sum finds nothing; a trained ranker finds everything under the first seed and half of it later."""

    def recalls(study, variant, seed, sets):
        found = {"untrained": 0.0, "without words": 0.25}.get(variant.name, 1.0 if seed == 13 else 0.5)
        about = {"question_id": list("abcd"), "set": ["financebench"] * 3 + ["page-questions"]}
        about |= {"question_type": list("xxyz"), "company": ["ash", "birch", "cedar", "ash"]}
        return pd.DataFrame(about | {"doc_recall": 1.0, "page_recall": found})

    monkeypatch.setattr(ahead_sets, "nested_recalls", recalls)


def test_recalls_are_means_over_the_seeds(study, measured):
    assert ahead_sets.seeds_of(study, WHOLE) == [13, 14, 15]
    assert ahead_sets.seeds_of(study, UNTRAINED) == [13]
    assert ahead_sets.mean_recalls(study, WHOLE)["page_recall"].tolist() == pytest.approx([2 / 3] * 4)


def test_rankers_are_compared_with_the_untrained_sum_and_ablations_with_the_whole_ranker(study, measured):
    found = ahead_sets.by_set(study).set_index(["variant", "set"])
    assert len(found) == 2 * (len(ahead_sets.MEASURED) + 2)
    trained = found.loc[("trained on page-questions alone", "financebench")]
    assert trained[["n", "companies", "seeds"]].tolist() == [3, 3, 3]
    assert trained["difference"] == pytest.approx(2 / 3)
    assert pd.isna(found.loc[(ahead_sets.BASE, "page-questions"), "difference"])
    ablation = found.loc[("trained, without words", "financebench")]
    assert ablation["reference"] == ahead_sets.TRAINED
    assert ablation["difference"] == pytest.approx(0.25 - 2 / 3)
    assert ablation["p_holm"] >= ablation["p"]
    said = show.finding(found.reset_index())
    assert "On financebench, the untrained sum finds 0.00 of the gold pages, the trained ranker 0.67" in said
    assert len(show.sets_table(found.reset_index())) == len(found)


def test_types_have_a_row_each_with_their_number(study, measured):
    found = ahead_sets.by_type(study)
    assert found[["question_type", "n"]].to_numpy().tolist() == [["x", 2], ["y", 1], ["z", 1]]
    shown = show.types_table(found)
    assert shown[show.TRAINED].tolist() == ["0.67"] * 3


def test_what_is_neither_stored_nor_published_is_left_out(study, monkeypatch):
    def refuse(*_):
        raise NeedsFilings("no filings")

    monkeypatch.setattr(ahead_sets, "nested_recalls", refuse)
    assert ahead_sets.by_set(study).empty
    assert ahead_sets.by_type(study).empty

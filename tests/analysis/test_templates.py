"""Trained rows by what their folds hold out: the strictest counts, and each is compared in groups of questions."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis import templates
from lib.stats import Resampling

IDS = [f"q{number}" for number in range(12)]
COMPANY = pd.Series(list("AABBCCDDEEFF"), IDS)
TYPES = ["metrics", "novel"] * 6


def both(values: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"doc_recall": 1.0, "page_recall": values}, IDS)


@pytest.fixture
def study(monkeypatch) -> SimpleNamespace:
    """Twelve questions of six companies: a twin is found by folds by company alone."""
    of = {"ahead": {"company": both([1.0] * 12), "template": both([0.0, 1.0] * 6)}, "page_scorer_light": {}}
    monkeypatch.setattr(templates, "recalls", lambda study, method, k: of.get(method, {}))
    twins = pd.DataFrame({"question_id": IDS, "n_twins": [3, 0] * 6})
    monkeypatch.setattr(templates, "of_questions", lambda study: twins)
    return SimpleNamespace(questions=pd.DataFrame({"question_id": IDS, "question_type": TYPES}))


def test_the_strictest_folds_are_the_headline_and_a_row_without_folds_has_none(study):
    by, recalls = templates.strictest(study, "ahead")
    assert (by, recalls["page_recall"].mean()) == ("template", 0.5)
    assert templates.strictest(study, "page_scorer_light") is None


def test_each_kind_of_folds_is_compared_with_the_match_and_with_folds_by_company_in_every_group(study):
    matches = pd.DataFrame({"dense_records": [0.5] * 12}, IDS)
    found = templates.held_out(study, Resampling(COMPANY, n_draws=200), matches)
    assert list(found) == templates.HELD_OUT
    cells = found.set_index(["reference", "group", "folds"])["difference"].to_dict()
    assert cells["dense_records", "all", "company"] == 0.5
    assert cells["dense_records", "all", "template"] == 0
    for group in ("metrics", templates.TWIN):
        assert cells["company", group, "template"] == -1
    for group in ("novel", templates.NO_TWIN):
        assert cells["company", group, "template"] == 0
    assert ("company", "all", "company") not in cells
    assert templates.held_out(study, Resampling(COMPANY), matches.iloc[:, :0])["reference"].unique() == ["company"]

"""Trained rows by what their folds hold out: the strictest counts, and each is compared in groups of questions."""

from types import SimpleNamespace

import pandas as pd

from lib.analysis import strict_folds
from lib.stats import Resampling

IDS = [f"q{number}" for number in range(12)]
COMPANY = pd.Series(list("AABBCCDDEEFF"), IDS)


def test_the_strictest_folds_count_and_each_kind_is_compared_in_every_group(monkeypatch):
    # A twin is found by folds by company alone.
    pages = {"company": [1.0] * 12, "template": [0.0, 1.0] * 6}
    of = {by: pd.DataFrame({"doc_recall": 1.0, "page_recall": values}, IDS) for by, values in pages.items()}
    monkeypatch.setattr(strict_folds, "recalls", lambda study, method, k: of if method == "ahead" else {})
    twins = pd.DataFrame({"question_id": IDS, "n_twins": [3, 0] * 6})
    monkeypatch.setattr(strict_folds, "question_templates", lambda study: twins)
    questions = pd.DataFrame({"question_id": IDS, "question_type": ["metrics", "novel"] * 6})
    study = SimpleNamespace(questions=questions)

    by, recalls = strict_folds.strictest(study, "ahead")
    assert (by, recalls["page_recall"].mean()) == ("template", 0.5)
    assert strict_folds.strictest(study, "page_scorer_light") is None

    matches = pd.DataFrame({"dense_records": [0.5] * 12}, IDS)
    found = strict_folds.held_out(study, Resampling(COMPANY, n_draws=200), matches)
    cells = found.set_index(["reference", "group", "folds"])["difference"].to_dict()
    assert cells["dense_records", "all", "company"] == 0.5
    assert cells["dense_records", "all", "template"] == 0
    for group, difference in {"metrics": -1, strict_folds.TWIN: -1, "novel": 0, strict_folds.NO_TWIN: 0}.items():
        assert cells["company", group, "template"] == difference
    assert ("company", "all", "company") not in cells

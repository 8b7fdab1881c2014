"""Silver questions as training questions: their pool, what a fold leaves out, and how they are weighed."""

from types import SimpleNamespace

import numpy as np
import pytest

from lib.ahead import ranker, silver
from lib.ahead.ranker import WHOLE, WITH_SILVER
from lib.ahead.sets import union_of
from lib.tokens import bare


@pytest.fixture
def companies(study):
    return sorted(study.filings["company"])


@pytest.fixture
def known(study, monkeypatch):
    """A study whose silver questions are its own."""
    made = SimpleNamespace(questions=study.questions, filings=study.filings, pages=study.pages)
    monkeypatch.setattr(silver, "read_silver", lambda study: made)
    monkeypatch.setattr(silver, "BATCH", 2)
    return study


def test_the_pool_has_every_question_once_with_its_gold_pages_and_no_encoder(known):
    pool, of_question, of_page = silver.silver_pool(known)
    assert sorted(set(pool.rows)) == [0, 1, 2]
    assert pool.gold.sum() == known.questions["gold_pages"].map(len).sum()
    assert not any(name.split("_")[0] in ("window", "core", "heads") for name in pool.table)
    assert len(of_page) == len(known.pages)
    wanted = known.questions["doc_name"].map(known.filings.set_index("doc_name")["company"]).map(bare)
    assert sorted(of_question) == sorted(wanted)


def test_a_fold_s_companies_are_in_no_pair(known, companies):
    pool, of_question, of_page = silver.silver_pool(known)
    kept = silver.without(known, companies[:1])
    assert 0 < len(kept.rows) < len(pool.rows)
    assert bare(companies[0]) not in {*of_question[kept.rows], *of_page[kept.columns]}
    assert set(kept.rows) == set(kept.rows[kept.gold])


def test_silver_questions_weigh_as_one_more_set(known, companies, monkeypatch):
    given = {}
    monkeypatch.setattr(
        ranker, "fit_trees", lambda pool, settings, weights: given.update(pool=pool, weights=weights)
    )
    union, everyone = union_of(known), set(companies)
    ranker.fit(known, union, everyone, ("words",), WHOLE)
    n_own = len(given["weights"])
    ranker.fit(known, union, everyone, ("words",), WITH_SILVER)
    pool, weights = given["pool"], given["weights"]
    assert len(weights) > n_own
    per_question = dict(zip(pool.rows, weights, strict=True))
    rows = np.unique(pool.rows)
    is_silver = rows >= len(union.questions)
    totals = [sum(per_question[row] for row in rows[mask]) for mask in (~is_silver, is_silver)]
    assert totals[0] == pytest.approx(totals[1])
    assert not any(name.startswith("window") for name in pool.table)

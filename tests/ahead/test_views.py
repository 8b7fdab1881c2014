"""The pool of pages in every view, and what the views are made of."""

import numpy as np
import pytest

from lib.ahead import views
from lib.ahead.terms import core, pairs, terms
from lib.ahead.views import VIEWS, PageViews, needs, page_views, study_pool, untrained
from lib.data.rows import kinds
from lib.models import index


@pytest.mark.parametrize(
    ("question", "statements", "items"),
    [
        ("What is the current ratio?", {"balance"}, {"current_assets", "current_liabilities"}),
        ("From the income statement: what are inventories?", {"income"}, {"inventories"}),
        ("What is the inventory turnover?", {"income", "balance"}, {"cost_of_sales", "inventories"}),
        ("Who chairs the board?", set(), set()),
    ],
)
def test_statements_that_a_question_needs_and_items_that_it_names(question, statements, items):
    [needed], [named] = needs([question])
    assert set(np.array([*kinds()])[needed]) == statements
    assert set(np.array([*views.items()])[named > 0]) == items


def test_pool_has_features_of_every_view_and_the_untrained_sum(study):
    questions = study.questions["question"].tolist()
    pool, summed = study_pool(study, questions), untrained(study, questions)
    assert {name.split("_")[0] for name in pool.table} == {"plain", "page", *VIEWS}
    assert np.allclose(pool.table["plain"], summed[pool.rows, pool.columns])
    assert len(pool.rows) == len(questions) * len(study.pages)  # fewer than a pool has room for
    assert not np.isnan(pool.table["words"]).any()
    with_kinds = study_pool(study, questions, has_kinds=True).table
    assert {name.split("_")[0] for name in set(with_kinds) - set(pool.table)} == {"kinds"}
    allowed = np.arange(len(study.pages)) == 2
    assert study_pool(study, questions[:1], allowed[None]).columns.tolist() == [2]


def test_the_untrained_sum_needs_no_encoder_and_gives_no_filing_where_none_is_named(study, monkeypatch):
    monkeypatch.setattr(index, "encode_texts", lambda *_, **__: pytest.fail("texts were encoded"))
    [summed] = untrained(study, ["Is there any lawsuit?"])
    of_same_text = [summed[study.pages["page"] == page] for page in (1, 2, 3)]
    assert all(np.allclose(values, values[0]) for values in of_same_text)


def test_cover_is_the_share_of_weight_and_years_are_those_of_the_page(study):
    known, is_balance = page_views(study, False), study.pages["page"] == 1
    assert known.cover(["lawsuit"]).max() == pytest.approx(1)
    assert not known.cover(["unheard"]).any()
    assert (known.asked_years("In FY2021 and 2019?")[:, is_balance] == 0.5).all()
    assert np.isnan(known.asked_years("When?")).all()


def test_pages_described_for_one_question_give_it_the_same_scores(study):
    question = study.questions["question"].iloc[0]
    about = study.filings, study.pages, study.profile.bm25
    whole, one = PageViews(*about), PageViews(*about, [question])
    assert len(one.words.vocabulary) < len(whole.words.vocabulary)
    asked, asked_pairs = whole.topic(question), pairs(terms(core(question)))
    assert one.topic(question) == asked
    scores = [
        [known.words.scores(asked), known.labels.scores(asked), known.pairs.scores(asked_pairs)]
        + [known.best_passage(asked), known.cover(asked)]
        for known in (one, whole)
    ]
    np.testing.assert_array_equal(*scores)

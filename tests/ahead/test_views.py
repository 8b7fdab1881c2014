"""What questions need by accounting knowledge, pairs of words, and the pool of pages in every view."""

import numpy as np
import pytest

from lib.ahead import views
from lib.ahead.terms import core, pairs, terms
from lib.ahead.views import VIEWS, PageViews, needs, page_views, study_pool, untrained
from lib.data.rows import kinds
from lib.models import index


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("What is the quick ratio?", {"balance"}),
        ("From the income statement: what are inventories?", {"income"}),
        ("What is the inventory turnover?", {"income", "balance"}),
        ("Who chairs the board?", set()),
    ],
)
def test_statements_that_a_question_needs(question, statements):
    [needed], _ = needs([question])
    assert {kind for kind, is_needed in zip(kinds(), needed, strict=True) if is_needed} == statements


def test_items_that_a_question_names_are_those_of_its_measure():
    _, [named] = needs(["What is the current ratio?"])
    found = {name for name, is_named in zip(views.items(), named, strict=True) if is_named}
    assert found == {"current_assets", "current_liabilities"}


def test_pool_has_features_of_every_view_and_the_untrained_sum(study):
    questions = study.questions["question"].tolist()
    pool, summed = study_pool(study, questions), untrained(study, questions)
    assert {name.split("_")[0] for name in pool.table} == {"plain", "page", *VIEWS}
    assert np.allclose(pool.table["plain"], summed[pool.rows, pool.columns])
    assert len(pool.rows) == len(questions) * len(study.pages)  # fewer than a pool has room for
    assert not np.isnan(pool.table["words"]).any()
    with_kinds = study_pool(study, questions, has_kinds=True).table
    assert {name.split("_")[0] for name in set(with_kinds) - set(pool.table)} == {"kinds"}


def test_only_allowed_pages_are_in_the_pool(study):
    allowed = np.arange(len(study.pages)) == 2
    assert study_pool(study, ["What is net income?"], allowed[None]).columns.tolist() == [2]


def test_a_question_that_names_no_filing_has_the_same_identity_everywhere(study):
    [summed] = untrained(study, ["Is there any lawsuit?"])
    of_same_text = [summed[study.pages["page"] == page] for page in (1, 2, 3)]
    assert all(np.allclose(values, values[0]) for values in of_same_text)


def test_cover_is_the_share_of_weight_and_years_are_those_of_the_page(study):
    known, is_balance = page_views(study), study.pages["page"] == 1
    assert known.cover(["lawsuit"]).max() == pytest.approx(1)
    assert not known.cover(["unheard"]).any()
    assert (known.asked_years("In FY2021 and 2019?")[:, is_balance] == 0.5).all()
    assert np.isnan(known.asked_years("When?")).all()


def test_the_untrained_sum_needs_no_encoder(study, monkeypatch):
    monkeypatch.setattr(index, "encode_texts", lambda *_, **__: pytest.fail("texts were encoded"))
    assert untrained(study, ["What are total assets?"]).shape == (1, len(study.pages))


def test_pages_described_for_one_question_give_it_the_same_scores(study):
    question = study.questions["question"].iloc[0]
    about = study.filings, study.pages, study.profile.bm25
    whole, one = PageViews(*about), PageViews(*about, [question])
    assert len(one.words.vocabulary) < len(whole.words.vocabulary)
    asked = whole.topic(question)
    assert one.topic(question) == asked
    for score in (
        lambda known: known.words.scores(asked),
        lambda known: known.labels.scores(asked),
        lambda known: known.pairs.scores(pairs(terms(core(question)))),
        lambda known: known.best_passage(asked),
        lambda known: known.cover(asked),
    ):
        np.testing.assert_array_equal(score(one), score(whole))

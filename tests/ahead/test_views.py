"""What a question asks, the statements and kinds of pages that it needs, and the pool of pages in every view."""

import numpy as np
import pytest

from lib.ahead import kinds, views
from lib.ahead.kinds import PRIMARY, STATEMENTS, page_strengths, question_kinds
from lib.ahead.pool import FilingGroups
from lib.ahead.terms import pairs, terms, topic
from lib.ahead.views import VIEWS, PageViews, Vectors, needs, page_views, span_signals, study_pool, untrained
from lib.statements import labels
from lib.text.sentences import asking_sentences

from .conftest import BALANCE, CASH, INCOME, LEGAL


def test_words_of_a_question_are_without_instructions_and_its_topic_without_names_and_years():
    asked = "What is Oskarvale Inc. Ltd.'s net PP&E?"
    assert asking_sentences(f"Assume you are an analyst. Here it is: {asked} In USD.") == asked
    assert asking_sentences("Tell me about dividends.") == "Tell me about dividends."
    found = terms("The dividends of 1,200 were acquired")
    assert found == ["dividend", "1200", "acquir"]
    assert pairs(found) == ["dividend 1200", "1200 acquir"]
    asked = terms("What did Oskarvale's dividends cost in FY2021?")
    assert topic(asked, terms("Oskarvale plc")) == ["dividend", "cost"]


def test_phrases_are_counted_by_stems_and_each_statement_is_strongest_in_its_own_kind(monkeypatch):
    titles, items = page_strengths([BALANCE, INCOME, CASH, LEGAL, ""])
    strength = (3 * titles + items)[:3, PRIMARY]
    assert strength.argmax(axis=0).tolist() == strength.argmax(axis=1).tolist() == [0, 1, 2]
    assert not np.any([titles[4], items[4]])
    phrases = {"cash": {"some": ("dividends paid", "net sales")}, "income": {"some": ("sale",)}}
    monkeypatch.setattr(kinds, "kinds", lambda: phrases)
    counts = kinds.phrase_counts("Dividend paid. Net-sales, wholesale sales.", "some")
    assert counts == {(0, "dividends paid"): 1, (0, "net sales"): 1, (1, "sale"): 2}


@pytest.mark.parametrize(
    ("question", "statements", "items"),
    [
        ("From the balance sheet: what is the inventory turnover?", {"balance"}, {"cost_of_sales", "inventories"}),
        ("What is the inventory turnover?", {"income", "balance"}, {"cost_of_sales", "inventories"}),
        ("From the income statement and the cash flow statement: what is capex?", {"income", "cashflow"}, {"capex"}),
        ("Who chairs the board?", set(), set()),
    ],
)
def test_statements_that_a_question_needs_by_phrases_and_by_items_that_it_names(question, statements, items):
    [by_phrases], [by_items], [named] = np.logical_or(*question_kinds([question]))[:, PRIMARY], *needs([question])
    assert set(np.array(STATEMENTS)[by_phrases]) == statements
    assert {name.replace("_", "") for name in np.array([*labels.kinds()])[by_items]} == statements
    assert set(np.array([*views.items()])[named > 0]) == items


def test_pages_are_compared_within_their_filing():
    groups, values = FilingGroups(np.array([0, 0, 0, 1, 1])), np.array([[1.0, 3.0, 2.0, 5.0, 5.0]])
    assert groups.ranks(values).tolist() == [[2, 0, 1, 0, 1]]
    assert groups.best(values).tolist() == [[3, 3, 3, 5, 5]]
    deviation = np.std([1, 2, 3])
    assert np.allclose(groups.standing(values), [[-1 / deviation, 1 / deviation, 0, 0, 0]], atol=1e-4)
    assert groups.neighbours(values).tolist() == [[3, 2, 3, 5, 5]]
    assert FilingGroups(np.array([0, 1])).neighbours(np.array([[4.0, 7.0]])).tolist() == [[4, 4]]


def test_pool_has_features_of_every_view_and_the_untrained_sum(study):
    questions = study.questions["question"].tolist()
    pool, summed = study_pool(study, questions), untrained(study, questions)
    assert {name.split("_")[0] for name in pool.table} == {"plain", "page", *VIEWS}
    assert np.allclose(pool.table["plain"], summed[pool.rows, pool.columns])
    assert len(pool.rows) == len(questions) * len(study.pages)  # fewer than a pool has room for
    with_kinds = study_pool(study, questions, has_kinds=True).table
    assert {name.split("_")[0] for name in set(with_kinds) - set(pool.table)} == {"kinds"}
    allowed = np.arange(len(study.pages)) == 2
    assert study_pool(study, questions[:1], allowed[None]).columns.tolist() == [2]
    mine, alone = pool.part(pool.rows == 1), study_pool(study, questions[1:2])
    assert mine.columns.tolist() == alone.columns.tolist()
    assert np.allclose(mine.table, alone.table, atol=1e-4, equal_nan=True)


def test_words_cover_a_share_of_their_weight_and_years_are_looked_for_on_the_page(study):
    views_of_pages, is_balance = page_views(study, False), study.pages["page"] == 1
    assert views_of_pages.cover(["lawsuit"]).max() == pytest.approx(1)  # the share of weight
    assert not views_of_pages.cover(["unheard"]).any()
    assert (views_of_pages.asked_years("In FY2021 and 2019?")[:, is_balance] == 0.5).all()
    assert np.isnan(views_of_pages.asked_years("When?")).all()


def test_a_page_has_its_best_span_its_best_two_neighbours_and_its_first():
    east, north = np.eye(2, dtype=np.float32)
    spans = np.stack([east, north, north, -east])  # pages of three spans, of none, of one
    found = span_signals(Vectors(np.stack([north, east]), np.array([0, 0, 0, 2]), spans), 3)
    np.testing.assert_allclose(found["span"], [[1, -1, 0], [1, -1, -1]], atol=1e-6)
    np.testing.assert_allclose(found["stretch"], [[1, -1, 0], [np.sqrt(0.5), -1, -1]], atol=1e-6)
    np.testing.assert_allclose(found["head"], [[0, -1, 0], [1, -1, -1]], atol=1e-6)


def test_pages_described_for_one_question_give_it_the_same_scores(study):
    question, about = study.questions["question"].iloc[0], (study.filings, study.pages, study.profile.bm25)
    whole, one = PageViews(*about), PageViews(*about, [question])
    assert len(one.words.vocabulary) < len(whole.words.vocabulary)
    asked, in_pairs = whole.topic(question), pairs(terms(asking_sentences(question)))
    for name in ("words", "labels", "pairs"):
        query = in_pairs if name == "pairs" else asked
        np.testing.assert_array_equal(getattr(one, name).get_scores(query), getattr(whole, name).get_scores(query))
    np.testing.assert_array_equal(one.best_passage(asked), whole.best_passage(asked))
    np.testing.assert_array_equal(one.cover(asked), whole.cover(asked))

"""Search for the line items of a question's formula: queries, lists merged, and items that are missing."""

import numpy as np
import pandas as pd
import pytest

from lib.filings.identity import Identity
from lib.retrievers import items

ACME = Identity(2020, None, [], "10-K", "ACME_2020_10K", "Acme", ("Acme", "Acme Corp"))
TURNOVER = "What was Acme's inventory turnover in FY2020?"
INCOME = "(In millions)\nYears ended December 31,\n2020\n2019\nNet sales\n500\n400\nCost of sales\n(300)\n(250)"
BALANCE = "(In millions)\nDecember 31,\n2020\n2019\nInventories\n60\n40\nTotal assets\n700\n600"
OLDER = "(In millions)\nDecember 31,\n2018\n2017\nInventories\n30\n20"
LEGAL = "Legal proceedings. A class action is before the court."
PAGES = {"income": 1, "balance": 2, "older": 3, "legal": 4}


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        (TURNOVER, ["Acme 2020: cost of sales, income statement", "Acme 2020: inventories, balance sheet"]),
        (
            "What is Acme's Q2 2020 10-Q coverage? Coverage is defined as: operating cash flow / pledged orders.",
            ["Acme 2020 Q2 10-Q: net cash provided by operating activities, cash flow statement"]
            + ["Acme 2020 Q2 10-Q: pledged orders"],
        ),
        ("What is Acme's net income in FY2020?", []),
        ("Who audits Acme?", []),
    ],
)  # fmt: skip
def test_a_question_has_a_query_for_each_of_two_items_or_more(question, queries):
    assert [*items.parts_of(question, [ACME]).queries.values()] == queries


@pytest.fixture
def search(folder, open_words):
    """A filing of five pages, a question about two items and one about none."""
    folder.pdf("ACME_2020_10K", "Annual report of Acme", INCOME, BALANCE, OLDER, LEGAL)
    folder.question("q1", "ACME_2020_10K", (2, BALANCE), question=TURNOVER)
    folder.question("q2", "ACME_2020_10K", (4, LEGAL), question="Is there a lawsuit against Acme?")
    return open_words(name="words")


def ranked(search, rows, texts, **orders):
    """The run of pages in an order that the words of a text choose."""
    chunk_of = search.chunks.set_index("page")["chunk_id"]
    parts = []
    for id, text in zip(search.questions["question_id"].iloc[rows], texts, strict=True):
        pages = next(order for word, order in orders.items() if word in text).split()
        rows = [(id, rank, chunk_of[PAGES[page]], "ACME_2020_10K", PAGES[page]) for rank, page in enumerate(pages, 1)]
        parts += rows
    return pd.DataFrame(parts, columns=["question_id", "rank", "chunk_id", "doc_name", "page"]).assign(score=0.0)


@pytest.mark.parametrize(
    ("k", "orders", "found"),
    [
        # best ranks: legal 1, income 1 (of the second list), balance 1 (of the third), older 2
        (0, {"cost": "income legal", "inventories": "balance older"}, "legal income balance older"),
        # no page of the first two has inventories of 2020: the first that does takes the second place
        (2, {"cost": "income", "inventories": "older balance"}, "legal balance income older"),
        (2, {"cost": "income", "inventories": "older legal balance"}, "legal income older"),  # not in its first two
        (4, {"cost": "income", "inventories": "older balance"}, "legal income older balance"),
    ],
)
def test_lists_of_items_are_merged_and_missing_items_take_the_last_places(search, k, orders, found):
    orders |= {"turnover": "legal income older", "lawsuit": "legal income older"}
    rank = lambda rows, texts: ranked(search, rows, texts, **orders)  # noqa: E731
    scores = items.scores(search, rank([0, 1], search.questions["question"]), rank, k)
    order = [[search.chunks["page"].iloc[n] for n in np.argsort(-row) if np.isfinite(row[n])] for row in scores]
    assert order[0] == [PAGES[page] for page in found.split()]
    assert order[1] == [PAGES[page] for page in ("legal", "income", "older")]  # no two items


@pytest.mark.parametrize("name", ["items_apart_records", "items_again_records"])
def test_a_row_searches_every_condition_s_candidates_alone(search, name):
    allowed = search.candidates("oracle-page")
    run = search.rank_method(name, allowed, 5)
    assert run.groupby("question_id")["page"].agg(list).to_dict() == {"q1": [2], "q2": [4]}
    assert items.inputs(search)[0][0] == items.parts(search)[0].queries

"""Akarsu's kinds of failures: each rule by hand, the primary kind, and the counts."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis.failure_kinds import (
    KINDS,
    RULES,
    facts,
    failure_table,
    figure_share,
    kinds_of,
    stands_in,
    term_share,
)

NUMBERS = " ".join(f"1,{i:03d}" for i in range(30))
BALANCE = f"ACME Consolidated Balance Sheets Total assets {NUMBERS}"
PROSE = "Legal proceedings are described in the note on contingencies."
TEXTS = {
    ("ACME_2018_10K", 0): PROSE,
    ("ACME_2018_10K", 5): BALANCE,
    ("ACME_2017_10K", 5): BALANCE,
    ("ACME_2017_10K", 0): PROSE,
    ("BOLT_2018_10K", 5): BALANCE,
}
FILINGS = pd.DataFrame(
    [("ACME_2018_10K", "Acme", 200), ("ACME_2017_10K", "Acme", 100), ("BOLT_2018_10K", "Bolt", 90)],
    columns=["doc_name", "company", "n_pages"],
)


def study_of(gold_page: int = 5, question: str = "What are Acme's total assets?") -> SimpleNamespace:
    questions = pd.DataFrame(
        {
            "question_id": ["q"],
            "question": [question],
            "answer": ["$1,007 million"],
            "evidence": ["Total assets of the company stood at 1,007 then"],
            "doc_name": ["ACME_2018_10K"],
            "gold_pages": [[gold_page]],
        }
    )
    pages = pd.DataFrame(
        [(*place, text) for place, text in TEXTS.items()], columns=["doc_name", "page", "text"]
    )
    memo = lambda key, compute: compute()  # noqa: E731
    return SimpleNamespace(questions=questions, pages=pages, filings=FILINGS, memo=memo)


def run_of(*places: tuple[str, int]) -> pd.DataFrame:
    rows = [("q", rank, f"{doc}#p{page:04d}#c00", doc, page) for rank, (doc, page) in enumerate(places, 1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "chunk_id", "doc_name", "page"])


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Sales 1,577 (12)", 2 / 3),
        ("$1,577.0 4.2% 2018 (3.1)%", 1),
        ("Note 12a FY2018 10-K", 0),
        ("", 0),
    ],
)
def test_figures_are_words_of_digits_and_signs(text, share):
    assert figure_share(text) == pytest.approx(share)


@pytest.mark.parametrize(
    ("answer", "evidence", "is_there"),
    [
        ("$1577.00", "Purchases of property, plant and equipment (1,577) (1,373)", True),
        ("$1.577 billion", "in millions: 1,577", True),
        ("65.4%", "gross margin was 65.4 % of sales", True),
        ("0.66", "Net sales 1,200 Total assets 1,800", False),
        ("$8.70", "8,738", True),  # billions, in a table in millions
        ("$8.70", "8,838 and 8.9", False),
        ("Yes, it did.", "Sales rose by 12", True),
        ("12", "nothing in figures", False),
        ("2018", "the year 2017", True),  # a year is no quantity
    ],
)
def test_a_number_stands_in_the_evidence_up_to_scale_and_sign(answer, evidence, is_there):
    assert stands_in(answer, evidence, "What is it?") is is_there


def test_terms_are_counted_without_company_and_year_on_the_best_page():
    question = "What was Acme's FY2018 inventory turnover?"
    assert term_share(question, "Acme", ["Acme in 2018", "inventories by turnover", "inventory"]) == 1
    assert term_share(question, "Acme", ["Acme's inventory in 2018"]) == 0.5
    assert term_share("Acme 2018?", "Acme", ["nothing"]) == 1


def test_facts_of_a_failure_with_a_twin():
    known = facts(study_of(), run_of(("ACME_2017_10K", 5), ("ACME_2018_10K", 0)), 5).loc["q"]
    assert (known["is_found"], known["has_twin"], known["has_filing"], known["n_pages"]) == (
        False,
        True,
        True,
        200,
    )


@pytest.mark.parametrize(
    ("shown", "has_twin"),
    [
        ([("ACME_2017_10K", 0)], False),  # another kind of page
        ([("BOLT_2018_10K", 5)], False),  # another company
        ([("ACME_2018_10K", 0)], False),  # the same filing
        ([("BOLT_2018_10K", 5), ("ACME_2017_10K", 5)], True),
        ([], False),
    ],
)
def test_a_twin_is_the_same_kind_of_page_in_another_filing_of_the_company(shown, has_twin):
    assert facts(study_of(), run_of(*shown), 5).loc["q", "has_twin"] == has_twin


def test_only_the_top_k_counts():
    run = run_of(("BOLT_2018_10K", 5), ("ACME_2018_10K", 5), ("ACME_2017_10K", 5))
    one, two = (facts(study_of(), run, k).loc["q"] for k in (1, 2))
    assert (one["is_found"], one["has_filing"], one["has_twin"]) == (False, False, False)
    assert (two["is_found"], two["has_filing"], two["has_twin"]) == (True, True, False)


def known(**changes) -> pd.DataFrame:
    """Two found questions with term shares of 0.4 and 0.6, and a failure that has no kind unless changed."""
    plain = {
        "is_found": False,
        "figure_share": 0.1,
        "stands_in": True,
        "term_share": 0.9,
        "n_pages": 50,
        "has_filing": True,
        "has_twin": False,
    }
    found = [plain | {"is_found": True, "term_share": share, "n_pages": 500} for share in (0.4, 0.6)]
    return pd.DataFrame([*found, plain | changes], index=["f0", "f1", "q"])


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, ["none of these"]),
        ({"figure_share": 0.3}, ["table structure"]),
        ({"stands_in": False}, ["numerical reasoning"]),
        ({"term_share": 0.45}, ["vocabulary"]),
        ({"term_share": 0.5}, ["none of these"]),  # the median itself is not below it
        ({"has_twin": True}, ["ambiguous"]),
        ({"n_pages": 101}, ["long document"]),
        ({"n_pages": 100}, ["none of these"]),  # the median of the filings
        ({"n_pages": 101, "has_filing": False}, ["none of these"]),
        (
            {"has_twin": True, "figure_share": 0.5, "term_share": 0.1},
            ["table structure", "vocabulary", "ambiguous"],
        ),
    ],
)
def test_the_rules_that_hold_and_the_first_is_primary(changes, kinds):
    held = kinds_of(known(**changes), FILINGS).loc["q"]
    assert [kind for kind in KINDS if held[kind]] == kinds
    assert held["primary"] == kinds[0]


def test_what_came_instead_is_asked_of_failures_only():
    held = kinds_of(known(is_found=True, has_twin=True, n_pages=500), FILINGS).loc["q"]
    assert not held[["ambiguous", "long document"]].any()


def test_the_table_counts_every_failure_once_as_primary():
    table = failure_table(study_of(), run_of(("ACME_2017_10K", 5), ("ACME_2018_10K", 0))).set_index("kind")
    assert tuple(table.index) == KINDS == tuple(RULES)
    assert table["primary"].sum() == 1
    assert (table["n_failed"] == 1).all()
    assert table.loc["ambiguous", ["primary", "any", "share_failed"]].tolist() == [1, 1, 1]
    assert table.loc["long document", ["primary", "any"]].tolist() == [0, 1]
    assert np.isnan(table.loc["ambiguous", "share_found"])


def test_a_run_without_failures_has_an_empty_table():
    table = failure_table(study_of(), run_of(("ACME_2018_10K", 5)))
    assert table["any"].tolist() == [0] * len(KINDS)
    assert table["share_found"].notna().sum() == 3

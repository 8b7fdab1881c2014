"""Failures: what came instead of a missed gold page, and the rule that names it."""

import pandas as pd
import pytest

from lib.analysis import failures
from lib.analysis.failures import OF_PAGES, SORTS, missed_pages
from tests.made import make_study

NUMBERS = " ".join(f"1,{i:03d}" for i in range(30))
BALANCE = f"ACME Consolidated Balance Sheets 2018 2017 Total assets {NUMBERS}"
INCOME = f"ACME Consolidated Statements of Operations 2018 Net income {NUMBERS}"
SUMMARY = f"Item 6. Selected Financial Data {NUMBERS}"
PROSE = "We sell things in many countries and expect to go on."

ACME, BEFORE, OTHER, SHORT = "ACME_2018_10K", "ACME_2017_10K", "OTHER_2018_10K", "ACME_2018_8K"
TEXTS = {ACME: {0: PROSE, 1: SUMMARY, 5: BALANCE, 6: INCOME, 8: BALANCE, 9: PROSE}, BEFORE: {0: PROSE, 5: BALANCE}}
TEXTS |= {SHORT: {0: PROSE}, OTHER: {5: BALANCE, 0: PROSE}}
PLACES = [(name, page, text) for name, pages in TEXTS.items() for page, text in pages.items()]
PAGES = pd.DataFrame(PLACES, columns=["doc_name", "page", "text"])
FILINGS = {"doc_name": [ACME, BEFORE, SHORT, OTHER], "company": ["Acme", "Acme", "Acme", "Other"]}
FILINGS = pd.DataFrame(FILINGS | {"doc_type": ["10-K", "10-K", "8-K", "10-K"], "doc_period": [2018, 2017, 2018, 2018]})


def run_of(*places: tuple[str, int], question_id: str = "q") -> pd.DataFrame:
    rows = [(question_id, rank, *place) for rank, place in enumerate(places, 1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "doc_name", "page"])


def study_of(gold: list[int], *places: tuple[str, int]):
    """One question about a filing of Acme, by its gold pages, and the pages that its run has, best first."""
    asked = {"question": "What are Acme's total assets?", "answer": "$1,007 million"}
    asked |= {"question_id": "q", "doc_name": ACME, "evidence": "Total assets of the company stood at 1,007 then"}
    questions = pd.DataFrame([asked]).assign(gold_pages=[gold])
    return make_study(pages=PAGES, questions=questions, filings=FILINGS, run=lambda name: run_of(*places))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (BALANCE, "balance sheet"),
        (INCOME, "income statement"),
        (f"Consolidated Statement of Cash Flow s Operating activities {NUMBERS}", "cash flow statement"),
        (SUMMARY, "summary"),
        (PROSE, "other"),
        ("Consolidated Balance Sheets Total assets " + "2018 " * 30, "other"),  # years are no numbers
        (f"{'Fair values are shown. ' * 20} consolidated balance sheets, total assets {NUMBERS}", "other"),
        (f"See the consolidated balance sheets for leases. {NUMBERS}", "other"),  # no line item
    ],
)
def test_a_page_is_what_its_head_says_if_it_holds_a_table(text, kind):
    assert failures.page_kind(text) == kind


@pytest.mark.parametrize(
    ("gold", "retrieved", "kind", "shown"),
    [
        ([5, 8], [(ACME, 8)], "other gold page only", 8),  # a gold page is shown only where there is no other
        ([5, 6], [(ACME, 6), (ACME, 0)], "other gold page only", 0),
        ([5], [(ACME, 0), (ACME, 6)], "neighbour page", 0),
        ([5], [(OTHER, 0), (ACME, 1)], "summary instead of statement", 1),
        ([5], [(ACME, 8)], "same statement elsewhere", 8),
        ([8], [(ACME, 6)], "other statement", 6),
        ([5], [(ACME, 0)], "text or note instead of statement", 0),
        ([0], [(ACME, 9)], "right filing, other part", 9),
        ([5], [(BEFORE, 5)], "wrong year", 5),
        ([5], [(SHORT, 0)], "other type of filing", 0),
        ([5], [(OTHER, 5)], "same statement of another company", 5),
        ([5], [(OTHER, 0), (OTHER, 5)], "other company", 0),
        ([5], [(OTHER, 0)] * 5 + [(ACME, 5)], "other company", 0),  # below the top 5
        ([5], [], "nothing retrieved", pd.NA),
    ],
)
def test_each_kind_of_failure(gold, retrieved, kind, shown):
    found = missed_pages(study_of(gold, *retrieved), "dense", 5).set_index("page").loc[gold[0]]
    assert (found["kind"], found["step"]) == (kind, OF_PAGES[kind].step)
    assert found["shown_page"] is shown or found["shown_page"] == shown


def test_the_typology_lists_every_rule_and_counts_every_miss():
    found, nothing = (missed_pages(study_of([5, 6], *run), "dense", 5) for run in ([(ACME, 0)], [(ACME, 6), (ACME, 5)]))
    table = failures.typology({"Dense": found, "BM25": nothing})
    assert table["kind"].tolist() == list(OF_PAGES)
    assert (table["Dense"].sum(), table["BM25"].sum()) == (2, 0)


def test_figures_are_words_of_digits_and_signs_and_terms_are_counted_without_company_and_year_on_the_best_page():
    texts = ("Sales 1,577 (12)", "$1,577.0 4.2% 2018 (3.1)%", "Note 12a FY2018 10-K", "")
    assert [*map(failures.figure_share, texts)] == pytest.approx([2 / 3, 1, 0, 0])
    assert failures.figures("$1,577.0 million in 2018, 24.5%, up 12 and 7") == {"1577.0", "24.5"}
    question = "What was Acme's FY2018 inventory turnover?"
    assert failures.term_share(question, "Acme", ["Acme in 2018", "inventories by turnover", "inventory"]) == 1
    assert failures.term_share(question, "Acme", ["Acme's inventory in 2018"]) == 0.5
    assert failures.term_share("Acme 2018?", "Acme", ["nothing"]) == 1


def test_questions_are_found_or_not_and_have_the_shares_of_their_evidence_and_their_best_gold_page():
    for place, is_found in ((BEFORE, False), (ACME, True)):
        known = failures.failed_questions(study_of([0, 5], (place, 5)), "dense").to_dict("records")
        assert known == [{"question_id": "q", "is_found": is_found, "figure_share": 1 / 9, "term_share": 1.0}]


ASKED = pd.DataFrame({"question_id": ["q1", "q2"], "doc_name": ["A", "B"], "answer": ["$535", "30 and 60"]})
ASKED = ASKED.assign(question_type="domain-relevant", doc_type="10-K", gold_pages=[(1,), (1, 3)])
MOST_TEXTS = [(name, page, "assets of 535" if page == 2 else "") for name in "AB" for page in range(4)]
MOST = pd.DataFrame(MOST_TEXTS, columns=["doc_name", "page", "text"])


@pytest.mark.parametrize(
    ("first", "second", "k", "sorts", "ranks"),
    [
        ([("B", 1)], [("B", 2), ("B", 3)], 2, [0, 1], [pd.NA, pd.NA]),
        ([("B", 1), ("A", 2)], [("B", 3), ("B", 1)], 2, [2], [pd.NA]),
        ([("A", 3), ("A", 1)], [("B", 3), ("B", 1)], 1, [3, 1], [2, 2]),
        ([("A", 3), ("A", 0), ("A", 1)], [("B", 3), ("B", 1)], 1, [4, 1], [3, 2]),
        ([("A", 3), ("A", 1)], [("B", 3), ("B", 1)], 2, [], []),
    ],
)
def test_each_question_has_the_first_sort_that_holds(first, second, k, sorts, ranks):
    run = pd.concat([run_of(*first, question_id="q1"), run_of(*second, question_id="q2")])
    found = failures.missed(make_study(questions=ASKED, pages=MOST, run=lambda name: run), "dense", k, next_k=2)
    assert found["sort"].tolist() == [SORTS[sort] for sort in sorts]
    assert found["best_rank"].fillna(-1).tolist() == [-1 if rank is pd.NA else rank for rank in ranks]

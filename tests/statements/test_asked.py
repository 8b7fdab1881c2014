"""What questions ask for, in many wordings, and why some get no answer."""

import ast
import time
from datetime import date
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.files import read_yaml
from lib.filings.identity import Identity, filings_named
from lib.statements.asked import asked_for
from lib.statements.formulas import canonical, formulas, items, names_in
from lib.statements.grammar import TOO_LONG, NotRead, formula_in
from lib.statements.vetoes import explained, vetoes

WORDINGS = read_yaml(Path(__file__).with_name("wordings.yaml"))
FILINGS = [
    Identity(2021, None, [], "10-K", f"{name.upper()}_2021_10K", f"{name} {kind}", (f"{name} {kind}", name.upper()))
    for name, kind in (("Tarnbeck", "Machinery"), ("Orvellow", "Foods"))
]


def read(question: str):
    """What is wanted, and the vetoes, over an archive of two companies."""
    (named,) = filings_named([question], FILINGS)
    names = sorted(set(chain(*named.values())))
    wanted = asked_for(question, names)
    return wanted, vetoes(question, wanted, names, FILINGS)


@pytest.mark.parametrize(("formula", "wordings"), WORDINGS.items(), ids=WORDINGS)
def test_five_wordings_ask_for_the_same(formula, wordings):
    assert len(wordings) == 5
    for wording in wordings:
        wanted, against = read(wording.format(c="Tarnbeck", y=2021))
        assert (wanted.formula, wanted.year, against) == (formula, 2021, []), wording


DEFINITIONS = {
    "revenue divided by total assets": "revenue / total_assets",
    "net sales plus interest income less cost of sales": "revenue + interest_income - cost_of_sales",
    "(cash + receivables) / current liabilities": "(cash + receivables) / current_liabilities",
    "365 x average accounts payable over cost of goods sold": "365 * avg(payables) / cost_of_sales",
    "average of revenue and net income": "(revenue + net_income) / 2",
    "the average of the inventories at the start and at the end of the year": "avg(inventories)",
    "cash and cash equivalents, marketable securities and trade receivables over total current liabilities":
        "(cash + short_investments + receivables) / current_liabilities",
    "1 minus dividends over net income": "1 - dividends / net_income",  # not (1 - dividends) / net income
    "long-term debt over long-term debt plus equity": "long_debt / (long_debt + equity)",
    "the cash inflow from operating activities less purchases of PP&E and of intangible assets":
        "operating_cash - (capex + intangible_purchases)",
    "total current assets excluding inventories": "current_assets - inventories",
    "EBITDA (operating income plus depreciation) / revenue": "(operating_income + depreciation) / revenue",
    "FY2020 COGS + change in inventory between FY2019 and FY2020":
        "at(cost_of_sales, 2020) + (at(inventories, 2020) - at(inventories, 2019))",
    "average accounts payable between FY2019 and FY2020": "(at(payables, 2020) + at(payables, 2019)) / 2",
    "operating income x (1 - 25%)": "operating_income * (1 - 25 / 100)",
}  # fmt: skip


@pytest.mark.parametrize(("definition", "formula"), DEFINITIONS.items())
def test_a_definition_in_words_is_a_formula(definition, formula):
    assert canonical(formula_in(definition, True)[0].formula) == canonical(formula)


UNREADABLE = {
    "revenue over": "not read as an operation",
    "1 + revenue": "an amount and a number",
    "revenue times net income": "neither an amount nor a ratio",
    "operating income excluding depreciation": "not clear",
    " + ".join(["cash"] * 3000): TOO_LONG,
    "(" * 900 + "cash + debt" + ")" * 900: TOO_LONG,
    "- " * 5000: TOO_LONG,
}


@pytest.mark.parametrize(("definition", "why"), UNREADABLE.items())
def test_what_is_no_formula_has_a_reason_in_seconds(definition, why):
    start = time.process_time()
    with pytest.raises(NotRead, match=why):
        formula_in(definition, True)
    assert time.process_time() - start < 5
    wanted = asked_for(f"What was Acme's leverage in 2020, defined as {definition[:3900]}?", ["Acme"])
    assert wanted.source != "question"
    assert wanted.problem or wanted.unread


TOKENS = "average of revenue over and plus less ( ) cash ratio to share 365 , fy2020 excluding more than".split()


@given(st.text("ab+-*/() 1%,", max_size=16) | st.lists(st.sampled_from(TOKENS)).map(" ".join))
def test_any_text_is_a_formula_or_not_read(text):
    for is_defined in (True, False):
        try:
            node, tokens = formula_in(text, is_defined)
        except NotRead:
            continue
        ast.parse(node.formula, mode="eval")
        assert set(names_in(node.formula)) <= items().keys() | tokens.rows.keys()


@given(st.text(max_size=80))
def test_any_question_is_read_and_vetoed_or_not(question):
    wanted, against = read(question)
    ast.parse(wanted.formula, mode="eval")
    assert all(isinstance(reason, str) for reason in against)


@pytest.mark.parametrize("text", ["(a) ", "cash + ", "(", "net ", "what is revenue? ", "is defined as cash over "])
def test_the_longest_question_is_read_in_seconds(text):
    start = time.process_time()
    read((text * 4000)[:4000])
    assert time.process_time() - start < 10


PERIODS = {
    "What was Tarnbeck's revenue growth from FY2020 to FY2021?": ("revenue / at(revenue, 2020) - 1", "percent"),
    "By what percent did Tarnbeck's revenue grow in 2021?": ("revenue / prev(revenue) - 1", "percent"),
    "How much lower was Tarnbeck's revenue in 2021 than in 2020?": ("at(revenue, 2020) - revenue", ""),
    "By how many percentage points did Tarnbeck's gross margin change in 2021?":
        ("gross_profit / revenue - prev(gross_profit / revenue)", "percent"),
    "What was the sum of Tarnbeck's net income for 2020 to 2021?":
        ("at(net_income, 2021) + at(net_income, 2020)", ""),
    "What dividends did Tarnbeck pay together in 2020 and 2021?": ("at(dividends, 2021) + at(dividends, 2020)", ""),
    "What was Tarnbeck's two-year average of capex from FY2020 to FY2021?":
        ("(at(capex, 2021) + at(capex, 2020)) / 2", ""),
    "What was the CAGR of Tarnbeck's revenue from 2018 to 2021?":
        ("(revenue / at(revenue, 2018)) ** (1 / 3) - 1", "percent"),
    "What was Tarnbeck's net income in the year before 2022?": ("net_income", ""),
    "According to the 2022 10-K, what was Tarnbeck's net income in 2021?": ("net_income", ""),
    "How much more did Tarnbeck spend on R&D than on capex in 2021?": ("research - capex", ""),
    "By how many percent was Tarnbeck's revenue higher in 2021 than in 2020?":
        ("revenue / at(revenue, 2020) - 1", "percent"),
    "By what percentage was Tarnbeck's revenue lower in 2020 than in 2021?":
        ("-(at(revenue, 2020) / revenue - 1)", "percent"),
    "What was Tarnbeck's operating income % margin in 2021?": ("operating_income / revenue", "percent"),
    "By what percentage did Tarnbeck's revenue shrink from 2020 to 2021?":
        ("-(revenue / at(revenue, 2020) - 1)", "percent"),
    "How much did Tarnbeck's total assets increase from 2020 to 2021?": ("total_assets - at(total_assets, 2020)", ""),
    "What is the ratio of goodwill to equity at Tarnbeck in 2021?": ("goodwill / equity", "ratio"),
    "For every dollar of depreciation in 2021, how many dollars of capex did Tarnbeck spend?":
        ("capex / depreciation", "ratio"),
    "What was Tarnbeck's EBITDA less capex in 2021? Define EBITDA as net income + interest expense + depreciation.":
        ("net_income + interest_expense + depreciation - capex", ""),
    "What was Tarnbeck's EBITDA % margin in 2021? Calculate EBITDA using operating income and depreciation.":
        ("(operating_income + depreciation) / revenue", "percent"),
    "What was Tarnbeck's ROA in 2021? ROA = net income / total assets": ("net_income / total_assets", "percent"),
    "What was Tarnbeck's long-term debt issued in 2021?": ("debt_issued", ""),
    "What is the share of goodwill in Tarnbeck's total assets in 2021?": ("goodwill / total_assets", "percent"),
    "What share of Tarnbeck's total assets was goodwill in 2021?": ("goodwill / total_assets", "percent"),
    "What was Tarnbeck's income tax provision (or benefit) over its income (or loss) before taxes in 2021?":
        ("income_tax / pretax_income", "ratio"),
}  # fmt: skip


@pytest.mark.parametrize(("question", "asked"), PERIODS.items())
def test_a_formula_is_over_the_periods_that_are_asked_about(question, asked):
    wanted, against = read(question)
    assert (wanted.formula, wanted.form) == asked
    assert (wanted.year, against) == (2021, [])


DETAILS = {
    "total assets at January 31, 2022": {"end": date(2022, 1, 31)},
    "revenue for the year ended 31 December 2021": {"end": date(2021, 12, 31)},
    "inventories at the end of June 2021": {"end": date(2021, 6, 30)},
    "net sales in Q1 2022": {"quarter": 1, "months": 3, "end": None},
    "net sales in the second quarter of fiscal 2022": {"quarter": 2, "months": 3},
    "net sales in the 26 weeks ended July 30, 2022": {"months": 6, "end": date(2022, 7, 30)},
    "gross margin in 2021, to one decimal": {"end": None, "digits": 1},
    "revenue in 2021 in euros": {"currency": "EUR"},
    "revenue in 2021 in USD millions": {"currency": "USD", "unit": 1e6},
}


@pytest.mark.parametrize(("question", "asked"), DETAILS.items())
def test_a_day_a_quarter_and_a_currency_are_kept(question, asked):
    wanted, against = read(f"What was Tarnbeck's {question}?")
    assert {name: getattr(wanted, name) for name in asked} == asked
    assert against == []


VETOED = {
    "What was FY2021 net income for Apple?": "Apple",
    "What was revenue in 2021?": "no company",
    "How did Tarnbeck's revenue compare with Orvellow's in 2021?": "several companies",
    "What was the revenue of Tarnbeck's competitors in 2021?": "other companies",
    "What was Tarnbeck's goodwill from the Corrandale deal in 2021?": "Corrandale",
    "How much goodwill did Tarnbeck impair in 2021?": "impair",
    "How much cash did Tarnbeck generate in 2021?": "cash",
    "What was Tarnbeck's revenue per share in 2021?": "per share",
    "What was Tarnbeck's machinery segment operating income in 2021?": "segment, product or region",
    "What was Tarnbeck's net income in the prior year?": "the period is named by another",
    "What was Tarnbeck's revenue in calendar 2021?": "calendar",
    "What was Tarnbeck's revenue between January and March 2021?": "several dates",
    "What were Tarnbeck's opening inventories for 2021?": "the start of a period",
    "What was Tarnbeck's operating income excluding restructuring in 2021?": "left out",
    "What was Tarnbeck's net income in 2021? Exclude the restructuring.": "left out",
    "What was Tarnbeck's revenue in 2021 before acquisitions?": "not read as an operation",
    "What was Tarnbeck's non-GAAP net income in FY2021?": "adjusted",
    "What is Tarnbeck's expected revenue for 2023?": "forecast",
    "Why did Tarnbeck's gross margin fall in 2021?": "why",
    "Did Tarnbeck's revenue grow in 2021?": "yes or no",
    "In which year was Tarnbeck's revenue highest?": "choice",
    "How many employees did Tarnbeck have in 2021?": "counted",
    "How much revenue did Tarnbeck not recognise in 2021?": "negation",
    "What was the statutory tax rate of Tarnbeck in 2021?": "another measure",
    "What was Tarnbeck's net income attributable to noncontrolling interests in 2021?": "part",
    "What were Tarnbeck's revenue and net income in 2021?": "two figures",
    "What was Tarnbeck's revenue in 2021? What was its net income in 2021?": "several questions",
    "What was Tarnbeck's gross margin in 2021 and how did it change from 2020?": "two questions",
    "What was Tarnbeck's revenue in 2020 and 2021?": "several years",
    "What was Tarnbeck's average net income in 2021?": "average",
    "How much has Tarnbeck's revenue increased since 2019?": "two years",
    "By what percent did Tarnbeck's gross margin change in 2021?": "two things",
    "What was Tarnbeck's operating income percent in 2021?": "not of what",
    "What was Tarnbeck's percentage of net income in 2021?": "not read as an operation",
    "How much did Tarnbeck pay for inventories in 2021?": "balance",
    "What did Tarnbeck pay for income taxes in 2021?": "expense",
    "What was the increase in Tarnbeck's receivables in its 2021 cash flow statement?": "cash flow",
    "What was Tarnbeck's net loss in 2021?": "loss",
    "How many days of payables had Tarnbeck in 2021? Use average accounts payable, net sales and 365 days.": "used",
}


@pytest.mark.parametrize(("question", "reason"), VETOED.items())
def test_what_was_not_read_or_changes_the_meaning_gets_no_answer(question, reason):
    assert reason in "; ".join(read(question)[1])


def test_words_that_the_row_explains_are_read():
    wanted, against = read("What was Tarnbeck's interest revenue in 2021?")
    assert "interest" in "; ".join(against)
    assert explained(wanted, ["Interest revenues", "Revenues"]).unread == ()
    assert explained(wanted, ["Net revenues"]).unread == ("interest",)


def test_every_item_is_known_by_labels_names_and_statement_and_every_formula_is_over_items_and_has_a_source():
    for name, item in items().items():
        assert item["labels"], name
        assert item["kind"] in ("income", "balance", "cash_flow"), name
        assert item["names"], name
    for name, about in formulas().items():
        assert set(names_in(about["is"])) <= items().keys(), name
        assert about["source"] in ("robinson", "penman", "sec"), name
        assert about["form"] in ("percent", "ratio", "money", "days"), name

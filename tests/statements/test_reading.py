"""Statements read by rules: rows of tables, formulas, what a question asks for, answers, and how sure one is."""

import pandas as pd
import pytest

from lib.analysis.answered import OUTCOMES, outcomes
from lib.answers.prompt_context import Context
from lib.profile import Settings
from lib.statements.asked import asked_for
from lib.statements.columns import head_of_text
from lib.statements.formulas import Unknown, calculate
from lib.statements.grid import Cell, GridRow
from lib.statements.labels import labels_of
from lib.statements.reading import read
from lib.statements.rows import Sheet, lines_of
from lib.statements.sure import KINDS, fitted, reading
from tests.made import make_study

INCOME = """($ in millions)|Years ended December 31,|2020|2019|Net sales|500|400|Interest revenue|6|7
Cost of sales|(300)|(250)|Income before income taxes|120|100|Income tax benefit (expense)|(30)|(20)|Net income|90|80"""
BALANCE = """($ in millions)|December 31,|2020|2019|Inventories|60|40|Accounts payable|30|20
Diluted shares outstanding|7|8"""
TURNOVER = "What was Acme's inventory turnover in FY2020?"
VALUES = {("a", 2020): 6.0, ("a", 2019): 3.0, ("b", 2020): 2.0}


def sheet(text: str, page: int = 0, doc: str = "ACME_2020_10K", kind: str | None = "income") -> Sheet:
    return Sheet(doc, page, kind, 2020, lines_of(text.replace("|", "\n")))


def asked(question: str):
    return asked_for(question, ["Acme"])


def bind(name: str, year: int) -> float:
    if (name, year) not in VALUES:
        raise Unknown(name)
    return VALUES[name, year]


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("a / b - 1", 2.0),
        ("prev(a) + avg(a)", 7.5),
        ("at(a, 2019) ** 2", 9.0),
        ("-a + opt(c) + opt(b)", -4.0),
        ("a / (b - b)", (Unknown, "divisor is 0")),
        ("a + c", (Unknown, "^c$")),
        ("(b - a) ** (1 / 2)", (Unknown, "root of a negative")),
        *((form, (ValueError, "no arithmetic")) for form in ("__import__('os')", "a.b", "[a]", "'a'", "a(b)")),
    ],
)
def test_formulas_are_calculated_or_an_error_names_why_not(formula, value):
    if isinstance(value, float):
        assert calculate(formula, bind, 2020) == value
        return
    with pytest.raises(value[0], match=value[1]):
        calculate(formula, bind, 2020)


JANUARY = INCOME.replace("December 31", "January 30").replace("2020", "2021").replace("2019", "2020")
TWO = [sheet(INCOME), sheet(BALANCE, 1, kind="balance")]


@pytest.mark.parametrize(
    ("question", "sheets", "answer"),
    [
        ("What was Acme's COGS in 2020, in USD billions?", TWO, "$0.30 billion"),
        ("What was Acme's interest revenue in 2020?", TWO, "$6 (in millions)"),
        ("What was Acme's gross margin in FY2020? Round to one decimal.", TWO, "40.0%"),  # no row: (500 - 300) / 500
        (TURNOVER, TWO, "6.00"),  # 300 / ((60 + 40) / 2)
        ("What was Acme's effective tax rate in 2020?", TWO, "25.00%"),  # shown in parentheses: 120 - 30 = 90
        ("What was Acme's revenue in FY2020?", [sheet(JANUARY)], "$500 (in millions)"),  # named after the year before
        ("What was Acme's goodwill in 2020?", TWO[:1], ("", "no row of goodwill in 2020")),
        ("What was Acme's goodwill in 2020?", [], ("", "no page has a table")),
    ],
)
def test_answers_are_read_and_calculated_or_it_is_said_what_is_missing(question, sheets, answer):
    found = read(asked(question), sheets)
    assert answer in (found.text, found[:2])


def test_a_derivation_has_the_cells_which_are_of_one_filing_where_one_has_all():
    found = read(asked("What was Acme's gross margin in FY2019?"), [sheet(INCOME, 4)])
    cells = [(cell.label, cell.year, cell.shown, cell.page) for cell in found.cells]
    assert cells == [("Net sales", 2019, 400, 4), ("Cost of sales", 2019, 250, 4)]
    other = sheet(BALANCE.replace("60", "90"), doc="ACME_2021_10K", kind="balance")
    found = read(asked(TURNOVER), [other, sheet(INCOME), sheet(BALANCE, 1)])
    assert {cell.doc_name for cell in found.cells} == {"ACME_2020_10K"}
    assert read(asked(TURNOVER), TWO, has_formulas=False)[:2] == ("", "a formula is needed")


def test_a_wrong_answer_has_the_first_thing_that_went_wrong():
    ids, answers = list("abcde"), ["$500"] * 4 + ["$600"]
    questions = pd.DataFrame({"question_id": ids, "answer": answers, "gold_pages": [[1]] * 5})
    run = pd.DataFrame({"question_id": ids, "rank": 1, "doc_name": list("DEDDD"), "page": [1, 1, 2, 1, 1]})
    study = make_study(
        questions=questions.assign(question="Sales?", question_type="t", doc_name="D"),
        pages=pd.DataFrame({"doc_name": "D", "page": [1, 2], "text": ["Sales were $500.", ""]}),
        run=lambda method, condition: run,
        profile=Settings(answers=Settings(n_chunks=5)),
    )
    found = outcomes(study, Context("dense", "dense"), pd.Series([1.0, 0, 0, 0, 0], ids))
    assert found["outcome"].tolist() == [*OUTCOMES]


NAMED = {"ACME_2020_10K": ("Acme",)}
REVENUE = "What was Acme's revenue in 2020?"
OTHER = INCOME.replace("500", "900")
BALANCES = [sheet(BALANCE, kind="balance")]


def test_every_kind_of_reading_has_its_share_and_only_high_ones_are_sure():
    model = fitted()
    assert [*model["kinds"]] == [*KINDS]
    assert model["least"] >= 0.95


@pytest.mark.parametrize(
    ("question", "sheets", "kind", "veto"),
    [
        (REVENUE, [sheet(INCOME)], "item", ""),
        (REVENUE, [sheet(INCOME), sheet(INCOME, 1)], "item on several pages", ""),
        (REVENUE, [sheet(INCOME), sheet(OTHER, 1)], "vetoed", "900"),
        (REVENUE, [sheet(INCOME, kind=None)], "vetoed", "beside its statement"),
        (REVENUE, [sheet(INCOME, kind=None), sheet(INCOME, 1, kind=None)], "item on several pages", ""),
        (REVENUE.replace("?", " in euros?"), [sheet(INCOME)], "vetoed", "USD"),
        ("What was Acme's revenue from batteries in Asia in 2020?", [sheet(INCOME)], "vetoed", "batteries"),
        ("What was Acme's interest revenue in 2020?", [sheet(INCOME)], "row by words", ""),
        ("What was Acme's revenue in Q2 2020?", [sheet(INCOME)], "vetoed", "no row"),
        ("What was Acme's inventory in Q2 2020?", BALANCES, "vetoed", "quarter"),
        ("What was Acme's inventory at June 30, 2020?", BALANCES, "vetoed", "another month"),
    ],
)  # fmt: skip
def test_a_reading_is_of_a_kind_and_what_speaks_against_it_is_a_veto(question, sheets, kind, veto):
    found = reading(question, NAMED, sheets)
    assert found.kind == kind
    assert veto in f"{'; '.join(found.vetoes)} {found.result.why_not}"
    assert found.is_sure == kind.startswith("item")


def test_what_is_not_read_is_not_sure():
    one = reading("What was Acme's goodwill in 2020?", NAMED, BALANCES)
    assert (one.result.text, one.sure, one.is_sure) == ("", 0.0, False)


def test_only_filings_that_are_named_are_read_where_any_is():
    other = sheet(OTHER, doc="BOLT_2020_10K")
    assert reading(REVENUE, NAMED, [other, sheet(INCOME)]).result.text == "$500 (in millions)"
    assert reading("What was revenue in 2020?", {}, [other]).result.text == "$900 (in millions)"


STATEMENT = """(In millions)|Three months ended June 30,|Six months ended June 30,|2023|2022|2023|2022|Revenues:
Net sales|$|5 %|4|9|8|Goodwill|7""".replace("|", "\n")


def test_columns_of_text_have_year_months_and_month():
    (line,) = lines_of(STATEMENT)  # Goodwill has one value for four columns
    assert (line.label, line.values, line.section) == ("Net sales", (5, 4, 9, 8), "Revenues")
    assert [column[:3] for column in line.columns] == [(2023, 3, 6), (2022, 3, 6), (2023, 6, 6), (2022, 6, 6)]
    assert (line.is_share, line.money.unit) == (True, "")
    assert labels_of(STATEMENT.replace("Six months ended June 30,", "As of\n12")) == ["Net sales", "Goodwill"]


def test_a_title_that_names_the_years_adds_no_columns():
    title, heads = GridRow("Years ended May 31, 2019, 2018"), GridRow("May 31,", (Cell("2019"), Cell("2018")))
    assert [column.year for column in head_of_text([title, heads], []).columns] == [2019, 2018]

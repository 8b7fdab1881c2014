"""A quarterly report on Form 10-Q."""

from tools.demo import discussion, segments, statements
from tools.demo.company import Company
from tools.demo.economics import Period
from tools.demo.forms.covers import boilerplate, commission_cover, securities, signatures
from tools.demo.forms.draft import Draft
from tools.demo.ledger import Books, add_up
from tools.demo.notes import Ledger
from tools.demo.pdf import Row, Sheets
from tools.demo.quarter_slots import quarter_slots


def quarterly_report(company: Company, ledger: Ledger, period: Period) -> Sheets:
    """Draw the report for a second quarter: three and six months, with those of the year before."""
    year, quarter = period
    filled = quarter_slots(company, ledger, period)
    title = f"{company.name} 10-Q {year} Q{quarter}"
    draft = Draft(company, year, filled, "interim", title, "Table of Contents")
    end = company.end_of(period)
    commission_cover(draft.sheets, company, "10-Q", f"For the quarterly period ended {end}")
    securities(draft.sheets, company, period)
    boilerplate(draft.sheets, ledger[period])
    _statements(draft, ledger, period)
    _notes(draft, ledger, period)
    _discussion(draft, ledger, period)
    draft.sheets.section("Items 3 and 4. Market Risk; Controls and Procedures", new_page=False)
    draft.text("interim_controls")
    draft.sheets.section("Part II. Other Information", new_page=False)
    draft.text("interim_risk", "forward_looking")
    chief, finance = company.wording["chief"], company.wording["finance"]
    signatures(draft.sheets, company, f"the month after {end}", chief, finance)
    return draft.sheets


def half_year(ledger: Ledger, year: int) -> Books:
    return add_up([ledger[year, 1], ledger[year, 2]])


def _ends(company: Company, period: Period) -> list[str]:
    return [company.end_of(period), company.end_of((period[0] - 1, period[1]))]


def _statements(draft: Draft, ledger: Ledger, period: Period) -> None:
    company, (year, quarter), name = draft.company, period, draft.company.name.upper()
    ends = _ends(company, period)
    quarters = [ledger[period], ledger[year - 1, quarter]]
    halves = [half_year(ledger, year), half_year(ledger, year - 1)]
    draft.sheets.section("Part I, Item 1. Financial Statements (unaudited)")
    title = (name, "CONDENSED CONSOLIDATED STATEMENTS OF INCOME", "Three months ended")
    body = statements.income_statement(company, quarters)
    draft.table(ends, body, "income", title, 100, has_shares=True)
    body = statements.income_statement(company, halves)
    draft.table(ends, body, "income_half", ("Six months ended",), 100, has_shares=True)
    draft.sheets.new_page()
    dates = [period, (year - 1, 4), (year - 1, quarter)]
    columns, heads = [ledger[date] for date in dates], [company.end_of(date) for date in dates]
    title = (name, "CONDENSED CONSOLIDATED BALANCE SHEETS")
    draft.table(heads, statements.assets(company, columns), "assets", title, 94)
    draft.table(heads, statements.liabilities_and_equity(company, columns), "liabilities", (), 94)
    draft.sheets.new_page()
    title = (name, "CONDENSED CONSOLIDATED STATEMENTS OF CASH FLOWS", "Six months ended")
    draft.table(ends, statements.cash_flow_statement(company, halves), "cash_flow", title, 100)


def _notes(draft: Draft, ledger: Ledger, period: Period) -> None:
    company, ends = draft.company, _ends(draft.company, period)
    quarters = [ledger[period], ledger[period[0] - 1, period[1]]]
    draft.sheets.section("Notes to Condensed Consolidated Financial Statements (unaudited)")
    for heading, section in (
        ("Note 1. Basis of presentation and seasonality", "basis"),
        ("Note 2. Merchandise inventories", "merchandise"),
        ("Note 3. Income taxes", "interim_tax"),
        ("Note 4. Repurchases of stock", "interim_buyback"),
    ):
        draft.sheets.heading(heading)
        draft.text(section)
    body = segments.segment_results(company, quarters)
    draft.table(ends, body, "segments", (), 100, "Note 5. Segments, three months ended")
    draft.table(ends, segments.regions(company, quarters), "regions", (), 100, "Note 6. Sales by country")
    draft.sheets.heading("Note 7. Legal matters")
    draft.text("interim_legal")


def _discussion(draft: Draft, ledger: Ledger, period: Period) -> None:
    company, ends = draft.company, _ends(draft.company, period)
    now, prior = ledger[period], ledger[period[0] - 1, period[1]]
    draft.sheets.section("Item 2. Management's Discussion and Analysis")
    brief = "+revenue =gross_profit =operating_income +net_income"
    results = statements.lines(company, brief, [now, prior])
    draft.table(ends, results, "results_table", ("Three months ended",), 100)
    draft.write(
        discussion.sales(company, now, prior, "the second quarter", "the same quarter of the prior year")
    )
    draft.write(discussion.margins(company, now, prior))
    draft.write(discussion.below_the_line(company, now, prior))
    draft.sheets.heading("Stores")
    draft.text("stores")
    stores = stores_table(company, draft.year)
    draft.sheets.table(ends, stores, "stores_table", "(number of stores)", column_width=100)
    draft.sheets.heading("Liquidity and capital resources")
    draft.text("interim_liquidity")


def stores_table(company: Company, year: int) -> list[Row]:
    """How many stores there are and what came and went in the twelve months before; it adds up."""
    columns = []
    for when in (year, year - 1):
        now, before = company.figure("stores", when), company.figure("stores", when - 1)
        opened = company.figure("opened", when)
        columns.append((before, opened, now - before - opened, now))
    names = ("A year earlier", "Opened", "Closed", "At the end of the quarter")
    return [
        Row(name, tuple(map(statements.figure, values)), "total" if name.startswith("At") else "item")
        for name, values in zip(names, zip(*columns, strict=True), strict=True)
    ]

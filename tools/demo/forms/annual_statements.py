"""The second part of an annual report: the statements and their notes."""

from tools.demo import notes, obligations, segments, statements
from tools.demo.forms.draft import Draft
from tools.demo.notes import Ledger
from tools.demo.pdf import Row

_CLOSING_LINE = "The accompanying notes are an integral part of these statements."


def draw_statements(draft: Draft, ledger: Ledger) -> None:
    """Income, comprehensive income, balance sheet, cash flows, equity; marks named after their tables."""
    company, sheets, name = draft.company, draft.sheets, draft.company.name.upper()
    years = [draft.year, draft.year - 1, draft.year - 2]
    three = [ledger[year, 4] for year in years]
    ended = f"Years ended {company.end_of((draft.year, 4)).split(',')[0]}"

    sheets.section("Item 8. Financial Statements: Consolidated Statements of Income")
    title = (name, "CONSOLIDATED STATEMENTS OF INCOME", ended)
    draft.table(years, statements.income_statement(company, three), "income", title, has_shares=True)
    sheets.paragraph(_CLOSING_LINE)
    title = (name, "CONSOLIDATED STATEMENTS OF COMPREHENSIVE INCOME", ended)
    draft.table(years, statements.comprehensive_income(three), "comprehensive_income", title)

    sheets.section("Consolidated Balance Sheets")
    heads = [company.end_of((year, 4)) for year in years[:2]]
    title = (name, "CONSOLIDATED BALANCE SHEETS")
    draft.table(heads, statements.assets(company, three[:2]), "assets", title, 100)
    title = ()
    if company.key == "ORVELLOW":  # one company's balance sheet goes on over the page
        draft.text("balance_sheet_foot")
        sheets.new_page()
        title = (name, "CONSOLIDATED BALANCE SHEETS (CONTINUED)")
    draft.table(heads, statements.liabilities_and_equity(company, three[:2]), "liabilities", title, 100)
    sheets.paragraph(_CLOSING_LINE)
    draft.text("equity_foot")

    sheets.section("Consolidated Statements of Cash Flows")
    title = (name, "CONSOLIDATED STATEMENTS OF CASH FLOWS", ended)
    draft.table(years, statements.cash_flow_statement(company, three), "cash_flow", title)
    sheets.paragraph(_CLOSING_LINE)
    draft.text("cash_flow_foot")

    sheets.section("Consolidated Statements of Shareholders' Equity")
    movements = statements.equity_movements([(year, ledger[year, 4]) for year in reversed(years)])
    title = (name, "CONSOLIDATED STATEMENTS OF SHAREHOLDERS' EQUITY", ended)
    heads = ("Capital", "Retained", "Treasury", "Other loss", "Total")
    draft.table(heads, movements, "equity_movements", title, 66)
    sheets.paragraph(_CLOSING_LINE)


def draw_notes(draft: Draft, ledger: Ledger) -> None:
    """Notes 1 to 12; a company without restructuring has no note 10."""
    company, sheets, year = draft.company, draft.sheets, draft.year
    years, pair = [year, year - 1, year - 2], [year, year - 1]
    three, two = [ledger[y, 4] for y in years], [ledger[y, 4] for y in pair]

    sheets.section("Notes to Consolidated Financial Statements")
    sheets.heading("Note 1. Significant accounting policies")
    draft.text("policies", "new_standards")
    for heading, heads, body, mark in (
        ("Note 2. Segments", years, segments.segment_results(company, three), "segments"),
        ("Note 3. Sales by region", years, segments.regions(company, three), "regions"),
        ("Note 4. Inventories", pair, notes.inventories(company, two), "inventory_note"),
        ("Note 5. Property, plant and equipment", pair, notes.property_plant(company, two), "property_note"),
        ("Note 6. Accrued liabilities", pair, notes.accrued(company, two), "accrued_note"),
    ):
        draft.table(heads, body, mark, heading=heading)
    sheets.heading("Note 7. Leases")
    draft.text("leases")
    leases = obligations.lease_maturities(two[0], year)
    draft.table([company.end_of((year, 4))], leases, "lease_maturities", column_width=110)
    debt = obligations.notes_outstanding(company, ledger, [(y, 4) for y in pair])
    draft.table(pair, debt, "debt_table", heading="Note 8. Debt")
    draft.text("debt")
    due = [Row(when, (statements.figure(value),)) for when, value in obligations.debt_by_year(company, year)]
    draft.table(["Principal due"], due, "debt_due")
    draft.table(years, notes.tax_reconciliation(three), "tax", heading="Note 9. Income taxes")
    draft.text("tax_text")
    if any(books["restructuring"] or books["restructuring_reserve"] for books in three):
        heading = f"Note 10. Restructuring: the {company.wording['program']} program"
        draft.table(years, notes.restructuring_reserve(ledger, years), "restructuring_note", heading=heading)
    sheets.heading("Note 11. Commitments and contingencies")
    draft.text("contingencies")
    draft.own_text("legal", is_marked=False)
    sheets.heading("Note 12. Retirement and stock-based compensation")
    draft.text("retirement")

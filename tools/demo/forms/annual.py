"""An annual report on Form 10-K: cover, business, risks, and management's discussion."""

from tools.demo import discussion, notes, obligations, statements
from tools.demo.company import Company
from tools.demo.forms.annual_statements import draw_notes, draw_statements
from tools.demo.forms.covers import boilerplate, commission_cover, securities, signatures
from tools.demo.forms.draft import Draft
from tools.demo.notes import Ledger
from tools.demo.pdf import Row, Sheets
from tools.demo.slots import last_months, slots
from tools.demo.text import rows
from tools.demo.typeset import ITALIC


def annual_report(company: Company, ledger: Ledger, year: int) -> Sheets:
    """Draw the report for a fiscal year, with the two years before it for comparison."""
    draft = Draft(
        company,
        year,
        slots(company, ledger, year),
        "annual",
        f"{company.name} 10-K {year}",
        "Table of Contents",
    )
    commission_cover(draft.sheets, company, "10-K", f"For the fiscal year ended {company.end_of((year, 4))}")
    securities(draft.sheets, company, (year, 4))
    boilerplate(draft.sheets, ledger[year, 4])
    draft.sheets.contents_page()
    _business(draft)
    _properties(draft)
    _market(draft, ledger)
    _discussion(draft, ledger)
    if year % 2:  # some years the printer leaves a page between the two parts
        draft.sheets.blank_page()
    draft.sheets.section("Report of Independent Registered Public Accounting Firm")
    draft.text("audit")
    draw_statements(draft, ledger)
    draw_notes(draft, ledger)
    _end(draft)
    return draft.sheets


def _business(draft: Draft) -> None:
    draft.sheets.section("Item 1. Business")
    draft.own_text("business")
    draft.sheets.section("Item 1A. Risk Factors")
    # The order changes with the year, as lawyers change it: the same words stand on other pages.
    draft.text("risk_intro", *(("risk_a", "risk_b") if draft.year % 2 else ("risk_b", "risk_a")))


def _properties(draft: Draft) -> None:
    sheets, sites = draft.sheets, rows(draft.company.key.lower(), "properties")
    sheets.section("Item 2. Properties")
    draft.text("properties")
    body = [Row(name, (tenure, area)) for name, _, tenure, area in sites]
    sheets.table(("Tenure", "Area"), body, caption="(thousand square feet)", mark="properties")
    for name, places, *_ in sites:
        sheets.paragraph(f"{name}: {places}.")
    sheets.section("Item 3. Legal Proceedings", new_page=False)
    draft.own_text("legal")
    sheets.section("Item 4. Mine Safety Disclosures", new_page=False)
    sheets.paragraph("Not applicable.")


def _market(draft: Draft, ledger: Ledger) -> None:
    company, year, sheets = draft.company, draft.year, draft.sheets
    sheets.section("Item 5. Market for Common Equity and Issuer Purchases of Equity Securities")
    draft.text("market_equity")
    bought = notes.quarter_purchases(company, ledger, year, last_months(company, (year, 4)))
    heads = ("Shares bought", "Average price", "Left ($ million)")
    sheets.table(heads, bought, mark="purchases", column_width=92)
    sheets.section("Item 6. Selected Financial Data", new_page=False)
    five = [year - back for back in range(5)]
    selected = notes.selected_data(company, [ledger[y, 4] for y in five])
    draft.table(five, selected, "selected_data", column_width=64, has_shares=True)


def _discussion(draft: Draft, ledger: Ledger) -> None:
    company, year = draft.company, draft.year
    years = [year, year - 1, year - 2]
    three = [ledger[y, 4] for y in years]
    now, prior = three[:2]
    draft.sheets.section("Item 7. Management's Discussion and Analysis")
    draft.text("overview")
    brief = (
        "+revenue cost_of_sales =gross_profit selling research restructuring =operating_income +net_income"
    )
    results = statements.lines(company, brief, [now, prior])
    draft.table(years[:2], results, "results_table", heading="Results of operations")
    draft.write(discussion.sales(company, now, prior, f"fiscal {year}", f"fiscal {year - 1}"))
    draft.write(discussion.margins(company, now, prior))
    draft.write(discussion.below_the_line(company, now, prior))
    draft.own_text("events")
    draft.sheets.heading("Liquidity and capital resources")
    draft.text("liquidity")
    brief = "operating_cash investing_cash financing_cash"
    draft.table(years, statements.lines(company, brief, three), "cash_summary")
    heads, body = obligations.obligations(company, ledger, year)
    draft.table(heads, body, "obligations", column_width=68, heading="Contractual obligations")
    draft.sheets.heading("Critical accounting estimates")
    draft.text("critical")
    draft.sheets.section(
        "Item 7A. Quantitative and Qualitative Disclosures About Market Risk", new_page=False
    )
    draft.text("market_risk")


def _end(draft: Draft) -> None:
    sheets = draft.sheets
    sheets.section("Items 9A to 14. Controls and Procedures; Directors; Compensation; Accountant")
    draft.text("controls")
    sheets.section("Item 15. Exhibits", new_page=False)
    for number, text in rows("annual", "exhibits"):
        sheets.paragraph(f"{number}   {text}")
    if draft.year % 2 == 0:
        sheets.new_page()
        sheets.centered("(This page has been left blank intentionally.)", ITALIC)
    when = f"the second month after {draft.slots['year_end']}"
    signatures(sheets, draft.company, when, draft.slots["chief"], draft.slots["finance"])

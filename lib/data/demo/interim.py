"""A quarterly report on Form 10-Q."""

from lib.data.demo import discussion, statements
from lib.data.demo.company import Company
from lib.data.demo.covers import boilerplate, commission_cover, securities, signatures
from lib.data.demo.economics import Period
from lib.data.demo.ledger import Books, add_up
from lib.data.demo.notes import Ledger, remaining_buyback
from lib.data.demo.pdf import Row, Sheets
from lib.data.demo.slots import money, percent
from lib.data.demo.text import paragraphs


def quarterly_report(company: Company, ledger: Ledger, period: Period) -> Sheets:
    """Draw the report for a second quarter: three and six months, with those of the year before."""
    year, quarter = period
    now, prior = ledger[period], ledger[year - 1, quarter]
    half, prior_half = half_year(ledger, year), half_year(ledger, year - 1)
    ends = [company.end_of(period), company.end_of((year - 1, quarter))]
    filled = quarter_slots(company, ledger, period)
    unit = f"(in {company.economics.unit}, except per share amounts)"
    sheets = Sheets(f"{company.name} 10-Q {year} Q{quarter}", "Table of Contents")

    def text(section: str) -> None:
        for item in paragraphs("interim", section, year, filled):
            sheets.paragraph(item.text, item.mark)

    commission_cover(sheets, company, "10-Q", f"For the quarterly period ended {ends[0]}")
    securities(sheets, company, period)
    boilerplate(sheets, company, now, year)

    name = company.name.upper()
    sheets.section("Part I, Item 1. Financial Statements (unaudited)")
    title = (name, "CONDENSED CONSOLIDATED STATEMENTS OF INCOME", "Three months ended")
    sheets.table(ends, statements.income_statement(company, [now, prior]), "income", unit, title, 100)
    sheets.table(
        ends, statements.income_statement(company, [half, prior_half]), "income_half", unit, ("Six months ended",), 100
    )
    sheets.new_page()
    dates = [period, (year - 1, 4), (year - 1, quarter)]
    columns, heads = [ledger[date] for date in dates], [company.end_of(date) for date in dates]
    title = (name, "CONDENSED CONSOLIDATED BALANCE SHEETS")
    sheets.table(heads, statements.assets(company, columns), "assets", unit, title, 94)
    sheets.table(heads, statements.liabilities_and_equity(company, columns), "liabilities", "", (), 94)
    sheets.new_page()
    title = (name, "CONDENSED CONSOLIDATED STATEMENTS OF CASH FLOWS", "Six months ended")
    sheets.table(ends, statements.cash_flow_statement(company, [half, prior_half]), "cash_flow", unit, title, 100)

    sheets.section("Notes to Condensed Consolidated Financial Statements (unaudited)")
    for number, (heading, section) in enumerate(
        (("Basis of presentation and seasonality", "basis"), ("Merchandise inventories", "merchandise"),
         ("Income taxes", "interim_tax"), ("Repurchases of stock", "interim_buyback")), start=1
    ):  # fmt: skip
        sheets.heading(f"Note {number}. {heading}")
        text(section)
    results = statements.segment_results(company, [now, prior])
    sheets.table(ends, results, "segments", unit, column_width=100, heading="Note 5. Segments, three months ended")
    regions = statements.regions(company, [now, prior])
    sheets.table(ends, regions, "regions", unit, column_width=100, heading="Note 6. Sales by country")
    sheets.heading("Note 7. Legal matters")
    text("interim_legal")

    sheets.section("Item 2. Management's Discussion and Analysis")
    sheets.table(
        ends, statements.lines(company, "+revenue =gross_profit =operating_income +net_income", [now, prior]),
        "results_table", unit, ("Three months ended",), 100,
    )  # fmt: skip
    for item in (
        *discussion.sales(company, now, prior, "the second quarter", "the same quarter of the prior year"),
        *discussion.margins(company, now, prior),
        *discussion.below_the_line(company, now, prior),
    ):
        sheets.paragraph(item.text, item.mark)
    sheets.heading("Stores")
    text("stores")
    sheets.table(
        ends, stores_table(company, year), "stores_table", "(number of stores)", column_width=100
    )
    sheets.heading("Liquidity and capital resources")
    text("interim_liquidity")
    sheets.section("Items 3 and 4. Market Risk; Controls and Procedures", new_page=False)
    text("interim_controls")
    sheets.section("Part II. Other Information", new_page=False)
    text("interim_risk")
    text("forward_looking")
    signatures(sheets, company, f"the month after {ends[0]}", company.wording["chief"], company.wording["finance"])
    return sheets


def half_year(ledger: Ledger, year: int) -> Books:
    return add_up([ledger[year, 1], ledger[year, 2]])


def stores_table(company: Company, year: int) -> list[Row]:
    """How many stores there are and what came and went in the twelve months before; it adds up."""
    found = []
    for when in (year, year - 1):
        now, before, opened = (
            company.figure("stores", when), company.figure("stores", when - 1), company.figure("opened", when)
        )  # fmt: skip
        found.append([before, opened, now - before - opened, now])
    names = ("A year earlier", "Opened", "Closed", "At the end of the quarter")
    styles = ("item", "item", "item", "total")
    return [
        Row(name, tuple(map(statements.figure, values)), style)
        for name, values, style in zip(names, zip(*found, strict=True), styles, strict=True)
    ]


def quarter_slots(company: Company, ledger: Ledger, period: Period) -> dict[str, str]:
    """The slots of ``text/interim.txt``."""
    year, quarter = period
    now, prior = ledger[period], ledger[year - 1, quarter]
    half, prior_half = half_year(ledger, year), half_year(ledger, year - 1)
    stores, before = company.figure("stores", year), company.figure("stores", year - 1)
    opened = company.figure("opened", year)
    return {
        "year": str(year),
        "prior": str(year - 1),
        "period_end": company.end_of(period),
        "stores": f"{stores:.0f}",
        "prior_stores": f"{before:.0f}",
        "opened": f"{opened:.0f}",
        "closed": f"{before + opened - stores:.0f}",
        "space": company.printed("space", year),
        "tax_rate": percent(now["income_tax"], now["pretax"]),
        "prior_tax_rate": percent(prior["income_tax"], prior["pretax"]),
        "repurchases": money(company, now["repurchases"]),
        "repurchased_shares": f"{now['repurchased_shares']:.2f}",
        "average_price": f"${now['share_price']:.2f}",
        "authorized_amount": f"${company.buyback(year)[1]:,} million",
        "remaining": money(company, remaining_buyback(company, ledger, period)),
        "cash": money(company, now["cash"]),
        "operating_cash": _cash_words(company, half["operating_cash"]),
        "prior_operating_cash": _cash_words(company, prior_half["operating_cash"]),
        "capex": money(company, half["capex"]),
        "capex_outlook": money(company, 2.2 * half["capex"]),
        **company.chronicle[year],
    }


def _cash_words(company: Company, amount: float) -> str:
    return f"{'provided' if amount >= 0 else 'used'} {money(company, abs(amount))}"

"""Earnings releases and a current report: short documents that say again what the statements say, in other words."""

from lib.data.demo import discussion, statements
from lib.data.demo.company import Company
from lib.data.demo.covers import commission_cover, securities, signatures
from lib.data.demo.economics import Period
from lib.data.demo.interim import half_year, quarter_slots, stores_table
from lib.data.demo.ledger import Books
from lib.data.demo.notes import Ledger
from lib.data.demo.pdf import BOLD, Row, Sheets
from lib.data.demo.slots import money, percent, slots
from lib.data.demo.statements import figure
from lib.data.demo.text import paragraphs

INSURANCE_GAIN = {("ORVELLOW", 2022): 11}
_QUARTER_OF_SALES = {2022: 0.262, 2021: 0.254}


def full_year_release(company: Company, ledger: Ledger, year: int) -> Sheets:
    """A release on the fourth quarter and the year, with statements and reconciliations."""
    now, prior = ledger[year, 4], ledger[year - 1, 4]
    quarter, prior_quarter = fourth_quarter(company, now, year), fourth_quarter(company, prior, year - 1)
    filled = slots(company, ledger, year) | {
        "quarter_sales": money(company, quarter["revenue"]),
        "quarter_growth": _signed(quarter["revenue"] / prior_quarter["revenue"] - 1),
        "growth": _signed(now["revenue"] / prior["revenue"] - 1),
        "ebitda_low": money(company, round(1.02 * adjusted_ebitda(company, now, year), -1)),
        "ebitda_high": money(company, round(1.07 * adjusted_ebitda(company, now, year), -1)),
    }
    years, unit = [str(year), str(year - 1)], f"(in {company.economics.unit}, except per share amounts)"
    sheets = _release(company, year, f"{company.short} reports results of fiscal {year}", "orvellow_release", filled)
    sheets.new_page()
    results = statements.segment_results(company, [quarter, prior_quarter])
    sheets.table(years, results, "segments_quarter", unit, ("SEGMENTS", "Fourth quarter"), 90)
    results = statements.segment_results(company, [now, prior])
    sheets.table(years, results, "segments", unit, ("Full year",), 90)
    _comment(sheets, company, now, prior, f"fiscal {year}", f"fiscal {year - 1}")
    _statements(sheets, company, [quarter, prior_quarter], [now, prior], ("Three months", "Twelve months"), years)
    title = (company.name.upper(), "RECONCILIATION OF NET INCOME TO ADJUSTED EBITDA")
    sheets.new_page()
    sheets.table(years, ebitda_rows(company, [now, prior], [year, year - 1]), "ebitda", unit, title, 90)
    title = ("GROWTH OF NET SALES BY CAUSE", f"Fiscal {year} against fiscal {year - 1}, in percent")
    heads = ("Reported", "Currency", "Acquisitions", "Organic")
    sheets.table(heads, organic_growth(company, now, prior), "organic", "", title, 76)
    free = [(books["operating_cash"] - books["capex"]) for books in (now, prior)]
    rows = [*statements.lines(company, "operating_cash -capex", [now, prior])]
    rows.append(Row("Free cash flow", tuple(map(figure, free)), "grand"))
    sheets.table(years, rows, "free_cash_flow", unit, ("FREE CASH FLOW",), 90)
    return sheets


def quarter_release(company: Company, ledger: Ledger, period: Period) -> Sheets:
    """A release on a second quarter."""
    year, quarter = period
    now, prior = ledger[period], ledger[year - 1, quarter]
    filled = quarter_slots(company, ledger, period) | {
        "company": company.name,
        "ticker": company.ticker,
        "chief": company.wording["chief"],
        "finance": company.wording["finance"],
        "revenue": money(company, now["revenue"]),
        "growth": _signed(now["revenue"] / prior["revenue"] - 1),
        "operating_income": money(company, now["operating_income"]),
        "prior_operating_income": money(company, prior["operating_income"]),
        "eps_diluted": f"{now['eps_diluted']:.2f}",
        "prior_eps_diluted": f"{prior['eps_diluted']:.2f}",
        "dividends_per_share": f"{now['dividends_per_share']:.2f}",
    }
    heads = [company.end_of(period), company.end_of((year - 1, quarter))]
    title = f"{company.short} reports results of the second quarter of fiscal {year}"
    sheets = _release(company, year, title, "haddenmoor_release", filled)
    sheets.new_page()
    unit = f"(in {company.economics.unit}, except per share amounts)"
    results = statements.segment_results(company, [now, prior])
    sheets.table(heads, results, "segments", unit, ("SEGMENTS", "Second quarter"), 100)
    title = ("COMPARABLE SALES", "Change against the second quarter of the prior year, in percent")
    sheets.table([str(year), str(year - 1)], comparable_sales(company, ledger, year), "comparable", "", title, 80)
    sheets.table(heads, stores_table(company, year), "stores_table", "(number of stores)", column_width=100)
    _comment(sheets, company, now, prior, "the second quarter", "the same quarter of the prior year")
    halves = [half_year(ledger, year), half_year(ledger, year - 1)]
    _statements(sheets, company, [now, prior], halves, ("Three months", "Six months"), heads)
    return sheets


def _release(company: Company, year: int, title: str, section: str, filled: dict[str, str]) -> Sheets:
    sheets = Sheets(title)
    sheets.centered("NEWS RELEASE", BOLD, 10)
    sheets.centered(title, BOLD, 15)
    sheets.space(10)
    for section_name in (section, "non_gaap", "forward_looking"):
        for item in paragraphs("interim", section_name, year, filled):
            if item.is_heading:
                sheets.heading(item.text)
            else:
                sheets.paragraph(item.text, item.mark)
    return sheets


def _comment(sheets: Sheets, company: Company, now: Books, prior: Books, period: str, before: str) -> None:
    for item in (*discussion.sales(company, now, prior, period, before), *discussion.margins(company, now, prior)):
        sheets.paragraph(item.text, item.mark)


def _statements(
    sheets: Sheets,
    company: Company,
    short: list[Books],
    long: list[Books],
    spans: tuple[str, str],
    heads: list[str],
) -> None:
    """The three statements; marks ``income``, ``income_long``, ``assets``, ``liabilities``, ``cash_flow``."""
    unit, name = f"(in {company.economics.unit}, except per share amounts)", company.name.upper()
    sheets.new_page()
    title = (name, "CONSOLIDATED STATEMENTS OF INCOME (unaudited)", spans[0])
    sheets.table(heads, statements.income_statement(company, short), "income", unit, title, 100)
    sheets.table(heads, statements.income_statement(company, long), "income_long", unit, (spans[1],), 100)
    sheets.new_page()
    title = (name, "CONSOLIDATED BALANCE SHEETS (unaudited)")
    sheets.table(heads, statements.assets(company, long), "assets", unit, title, 100)
    sheets.table(heads, statements.liabilities_and_equity(company, long), "liabilities", "", (), 100)
    sheets.new_page()
    title = (name, "CONSOLIDATED STATEMENTS OF CASH FLOWS (unaudited)", spans[1])
    sheets.table(heads, statements.cash_flow_statement(company, long), "cash_flow", unit, title, 100)


def current_report(company: Company, ledger: Ledger, year: int) -> Sheets:
    """Form 8-K on an agreement to buy a business and a change of officers; its news starts on the cover."""
    filled = slots(company, ledger, year)
    filled["break_fee"] = money(company, 0.04 * ledger[year, 4]["acquisition"])
    sheets = Sheets(f"{company.name} 8-K {year}")

    def text(section: str) -> None:
        for item in paragraphs("interim", section, year, filled):
            if item.is_heading:
                sheets.heading(item.text)
            else:
                sheets.paragraph(item.text, item.mark)

    commission_cover(sheets, company, "8-K", "Date of report (date of earliest event reported): March 11, 2022")
    securities(sheets, company, (year - 1, 4))
    sheets.paragraph(
        "Check the appropriate box below if the filing is intended to simultaneously satisfy the filing obligation of "
        "the registrant: [ ] Written communications pursuant to Rule 425  [ ] Soliciting material pursuant to Rule "
        "14a-12  [ ] Pre-commencement communications pursuant to Rule 14d-2(b)  [ ] Pre-commencement communications "
        "pursuant to Rule 13e-4(c)"
    )
    sheets.paragraph("This is a demonstration document: the registrant, its business and its figures are invented.")
    text("veyloria_8k_cover")
    sheets.new_page()
    text("veyloria_8k")
    sheets.new_page()
    text("forward_looking")
    signatures(sheets, company, "March 14, 2022", company.wording["chief"], "Lionel Abernethy-Voss")
    sheets.new_page()
    sheets.centered("Exhibit 99.1", BOLD)
    text("veyloria_8k_release")
    return sheets


def fourth_quarter(company: Company, books: Books, year: int) -> Books:
    """A fourth quarter that fits into the year's books: each line is a share of the year's."""
    share = _QUARTER_OF_SALES[year]
    found = dict(books)
    for segment in company.economics.segments:
        found[f"revenue:{segment.name}"] = round(books[f"revenue:{segment.name}"] * share)
    found["revenue"] = sum(found[f"revenue:{segment.name}"] for segment in company.economics.segments)
    for line in ("cost_of_sales", "selling", "research", "restructuring", "interest", "other_income"):
        found[line] = round(books[line] * (share if line in ("cost_of_sales", "selling", "research") else 0.25))
    found["gross_profit"] = found["revenue"] - found["cost_of_sales"]
    spent = found["selling"] + found["research"] + found["restructuring"]
    found["operating_income"] = found["gross_profit"] - spent
    found["pretax"] = found["operating_income"] - found["interest"] + found["other_income"]
    found["income_tax"] = round(found["pretax"] * books["income_tax"] / books["pretax"])
    found["net_income"] = found["pretax"] - found["income_tax"]
    for name, shares in (("eps_basic", "average_shares"), ("eps_diluted", "diluted_shares")):
        found[name] = found["net_income"] / found["units_a_million"] / books[shares]
    return found


def adjusted_ebitda(company: Company, books: Books, year: int) -> float:
    lines = ("net_income", "income_tax", "interest", "depreciation_amortization", "restructuring", "stock_compensation")
    return sum(books[line] for line in lines) - INSURANCE_GAIN.get((company.key, year), 0)


def ebitda_rows(company: Company, columns: list[Books], years: list[int]) -> list[Row]:
    spec = "net_income income_tax interest depreciation_amortization restructuring stock_compensation"
    gains = [INSURANCE_GAIN.get((company.key, year), 0) for year in years]
    totals = [adjusted_ebitda(company, books, year) for books, year in zip(columns, years, strict=True)]
    margin = [f"{percent(total, books['revenue'])}%" for total, books in zip(totals, columns, strict=True)]
    return [
        *statements.lines(company, spec, columns),
        Row("Gain from insurance", tuple(figure(-gain) for gain in gains)),
        Row("Adjusted EBITDA", tuple(map(figure, totals)), "grand"),
        Row("As a share of net sales", tuple(margin)),
    ]


def growth_by_cause(company: Company, now: Books, prior: Books) -> dict[str, tuple[float, ...]]:
    """Segment -> growth in percent: reported, from currency, from acquisitions, organic (what is left)."""
    acquired = {"Snacks": 0.104 * now["acquisition"]}
    currency = {"Frozen Meals": -0.011, "Snacks": -0.004, "Foodservice": -0.007}
    found = {}
    for segment in company.economics.segments:
        line = f"revenue:{segment.name}"
        reported = round(100 * (now[line] / prior[line] - 1), 1)
        bought = round(100 * acquired.get(segment.name, 0) / prior[line], 1)
        exchange = round(100 * currency[segment.name], 1)
        found[segment.name] = (reported, exchange, bought, round(reported - exchange - bought, 1))
    return found


def organic_growth(company: Company, now: Books, prior: Books) -> list[Row]:
    return [
        Row(name, tuple(figure(value, 1) for value in values))
        for name, values in growth_by_cause(company, now, prior).items()
    ]


def comparable_growth(company: Company, ledger: Ledger, year: int) -> dict[str, float]:
    """Segment -> change in percent of the sales of stores open for a year: new stores add about a point."""
    now, prior = ledger[year, 2], ledger[year - 1, 2]
    lines = {segment.name: f"revenue:{segment.name}" for segment in company.economics.segments}
    return {name: round(100 * (now[line] / prior[line] - 1) - 0.9, 1) for name, line in lines.items()}


def comparable_sales(company: Company, ledger: Ledger, year: int) -> list[Row]:
    now, before = comparable_growth(company, ledger, year), comparable_growth(company, ledger, year - 1)
    return [Row(name, (figure(now[name], 1), figure(before[name], 1))) for name in now]


def _signed(change: float) -> str:
    return f"{'up' if change > 0 else 'down'} {abs(100 * change):.1f}"

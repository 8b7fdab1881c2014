"""Earnings releases: short documents that say again what the statements say, in other words."""

from collections.abc import Mapping, Sequence

from tools.demo import discussion, reconciliations, segments, statements
from tools.demo.company import Company
from tools.demo.economics import Period
from tools.demo.forms.draft import Draft
from tools.demo.forms.interim import half_year, stores_table
from tools.demo.ledger import Books, add_up
from tools.demo.notes import Ledger
from tools.demo.pdf import Sheets
from tools.demo.quarter_slots import quarter_slots
from tools.demo.slots import money, slots
from tools.demo.typeset import BOLD

_Pair = Sequence[Books]  # this period and the same one a year before


def full_year_release(company: Company, ledger: Ledger, year: int) -> Sheets:
    """A release on the fourth quarter and the year, with statements and reconciliations."""
    years = [year, year - 1]
    annual = [ledger[y, 4] for y in years]
    quarters = [reconciliations.fourth_quarter(company, ledger[y, 4], y) for y in years]
    ebitda = reconciliations.adjusted_ebitda(company, annual[0], year)
    filled = slots(company, ledger, year) | {
        "quarter_sales": money(company, quarters[0]["revenue"]),
        "quarter_growth": _growth(quarters),
        "growth": _growth(annual),
        "ebitda_low": money(company, round(1.02 * ebitda, -1)),
        "ebitda_high": money(company, round(1.07 * ebitda, -1)),
    }
    title = f"{company.short} reports results of fiscal {year}"
    draft = _open(company, year, filled, title, "orvellow_release")
    body = segments.segment_results(company, quarters)
    draft.table(years, body, "segments_quarter", ("SEGMENTS", "Fourth quarter"), 90)
    draft.table(years, segments.segment_results(company, annual), "segments", ("Full year",), 90)
    _comment(draft, annual, f"fiscal {year}", f"fiscal {year - 1}")
    _statements(draft, quarters, annual, ("Three months", "Twelve months"), years)

    draft.sheets.new_page()
    title = (company.name.upper(), "RECONCILIATION OF NET INCOME TO ADJUSTED EBITDA")
    draft.table(years, reconciliations.ebitda_rows(company, annual, years), "ebitda", title, 90)
    title = ("GROWTH OF NET SALES BY CAUSE", f"Fiscal {year} against fiscal {year - 1}")
    heads = ("Reported", "Currency", "Acquisitions", "Organic")
    causes = reconciliations.organic_growth(company, *annual)
    draft.sheets.table(heads, causes, "organic", "(in percent)", title, 76)
    free = reconciliations.free_cash_flow(company, annual)
    draft.table(years, free, "free_cash_flow", ("FREE CASH FLOW",), 90)
    return draft.sheets


def quarter_release(company: Company, ledger: Ledger, period: Period) -> Sheets:
    """A release on a second quarter."""
    year, quarter = period
    pair = [ledger[period], ledger[year - 1, quarter]]
    filled = quarter_slots(company, ledger, period) | _headlines(company, pair) | _guidance(ledger, year)
    title = f"{company.short} reports results of the second quarter of fiscal {year}"
    draft = _open(company, year, filled, title, "haddenmoor_release")
    heads = [company.end_of(period), company.end_of((year - 1, quarter))]
    body = segments.segment_results(company, pair)
    draft.table(heads, body, "segments", ("SEGMENTS", "Second quarter"), 100)
    title = ("COMPARABLE SALES", "Change against the second quarter of the prior year")
    comparable = reconciliations.comparable_sales(company, ledger, year)
    draft.sheets.table([str(year), str(year - 1)], comparable, "comparable", "(in percent)", title, 80)
    stores = stores_table(company, year)
    draft.sheets.table(heads, stores, "stores_table", "(number of stores)", column_width=100)
    _comment(draft, pair, "the second quarter", "the same quarter of the prior year")
    halves = [half_year(ledger, year), half_year(ledger, year - 1)]
    _statements(draft, pair, halves, ("Three months", "Six months"), heads)
    return draft.sheets


def _open(company: Company, year: int, filled: Mapping[str, str], title: str, section: str) -> Draft:
    """The first page: headline, news, outlook, and what lawyers add; then a fresh page."""
    draft = Draft(company, year, filled, "interim", title)
    draft.sheets.centered("NEWS RELEASE", BOLD, 10)
    draft.sheets.centered(title, BOLD, 15)
    draft.sheets.space(10)
    draft.text(section, "non_gaap", "forward_looking")
    draft.sheets.new_page()
    return draft


def _comment(draft: Draft, pair: _Pair, period: str, before: str) -> None:
    draft.write(discussion.sales(draft.company, *pair, period, before))
    draft.write(discussion.margins(draft.company, *pair))


def _statements(
    draft: Draft, short: _Pair, long: _Pair, spans: tuple[str, str], heads: Sequence[object]
) -> None:
    """The three statements; marks ``income``, ``income_long``, ``assets``, ``liabilities``, ``cash_flow``."""
    company, name = draft.company, draft.company.name.upper()
    draft.sheets.new_page()
    title = (name, "CONSOLIDATED STATEMENTS OF INCOME (unaudited)", spans[0])
    draft.table(heads, statements.income_statement(company, short), "income", title, 100, has_shares=True)
    body = statements.income_statement(company, long)
    draft.table(heads, body, "income_long", (spans[1],), 100, has_shares=True)
    draft.sheets.new_page()
    title = (name, "CONSOLIDATED BALANCE SHEETS (unaudited)")
    draft.table(heads, statements.assets(company, long), "assets", title, 100)
    draft.table(heads, statements.liabilities_and_equity(company, long), "liabilities", (), 100)
    draft.sheets.new_page()
    title = (name, "CONSOLIDATED STATEMENTS OF CASH FLOWS (unaudited)", spans[1])
    draft.table(heads, statements.cash_flow_statement(company, long), "cash_flow", title, 100)


def _headlines(company: Company, pair: _Pair) -> dict[str, str]:
    now, prior = pair
    return {
        "company": company.name,
        "ticker": company.ticker,
        "chief": company.wording["chief"],
        "finance": company.wording["finance"],
        "revenue": money(company, now["revenue"]),
        "growth": _growth(pair),
        "operating_income": money(company, now["operating_income"]),
        "prior_operating_income": money(company, prior["operating_income"]),
        "eps_diluted": f"{now['eps_diluted']:.2f}",
        "prior_eps_diluted": f"{prior['eps_diluted']:.2f}",
        "dividends_per_share": f"{now['dividends_per_share']:.2f}",
    }


def _guidance(ledger: Ledger, year: int) -> dict[str, str]:
    """Old and new outlook for a year's earnings per share, around what the year will bring."""
    centre = round(add_up([ledger[year, quarter] for quarter in (1, 2, 3, 4)])["eps_diluted"], 1)
    shifts = {"eps_low": -0.15, "eps_high": 0.15, "old_eps_low": 0.35, "old_eps_high": 0.65}
    return {name: f"{centre + shift:.2f}" for name, shift in shifts.items()}


def _growth(pair: _Pair) -> str:
    change = pair[0]["revenue"] / pair[1]["revenue"] - 1
    return f"{'up' if change > 0 else 'down'} {abs(100 * change):.1f}"

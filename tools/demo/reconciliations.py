"""Measures that a release adds to the statements: a derived quarter, adjusted EBITDA, growth by cause."""

from tools.demo import statements
from tools.demo.company import Company
from tools.demo.ledger import Books
from tools.demo.notes import Ledger
from tools.demo.pdf import Row
from tools.demo.slots import percent
from tools.demo.statements import figure

INSURANCE_GAIN = {("ORVELLOW", 2022): 11}
_FOURTH_QUARTER = {2021: 0.254, 2022: 0.262}  # its share of the year's sales
_EBITDA = "net_income income_tax interest depreciation_amortization restructuring stock_compensation"


def fourth_quarter(company: Company, books: Books, year: int) -> Books:
    """A fourth quarter that fits into the year's books: each line is a share of the year's."""
    share = _FOURTH_QUARTER[year]
    found = dict(books)
    for segment in company.economics.segments:
        found[f"revenue:{segment.name}"] = round(books[f"revenue:{segment.name}"] * share)
    found["revenue"] = sum(found[f"revenue:{segment.name}"] for segment in company.economics.segments)
    for line in ("cost_of_sales", "selling", "research"):
        found[line] = round(books[line] * share)
    for line in ("restructuring", "interest", "other_income"):
        found[line] = round(books[line] / 4)
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
    """Net income before taxes, interest, depreciation, restructuring and stock pay, without insurance gains."""
    return sum(books[line] for line in _EBITDA.split()) - INSURANCE_GAIN.get((company.key, year), 0)


def ebitda_rows(company: Company, columns: list[Books], years: list[int]) -> list[Row]:
    gains = [INSURANCE_GAIN.get((company.key, year), 0) for year in years]
    totals = [adjusted_ebitda(company, books, year) for books, year in zip(columns, years, strict=True)]
    margin = [f"{percent(total, books['revenue'])}%" for total, books in zip(totals, columns, strict=True)]
    return [
        *statements.lines(company, _EBITDA, columns),
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


def free_cash_flow(company: Company, columns: list[Books]) -> list[Row]:
    free = tuple(figure(books["operating_cash"] - books["capex"]) for books in columns)
    rows = statements.lines(company, "operating_cash -capex", columns)
    return [*rows, Row("Free cash flow", free, "grand")]


def comparable_growth(company: Company, ledger: Ledger, year: int) -> dict[str, float]:
    """Segment -> change in percent of the sales of stores open for a year: new stores add about a point."""
    now, prior = ledger[year, 2], ledger[year - 1, 2]
    lines = {segment.name: f"revenue:{segment.name}" for segment in company.economics.segments}
    return {name: round(100 * (now[line] / prior[line] - 1) - 0.9, 1) for name, line in lines.items()}


def comparable_sales(company: Company, ledger: Ledger, year: int) -> list[Row]:
    now, before = comparable_growth(company, ledger, year), comparable_growth(company, ledger, year - 1)
    return [Row(name, (figure(now[name], 1), figure(before[name], 1))) for name in now]

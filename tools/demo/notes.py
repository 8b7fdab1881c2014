"""Tables that break lines of the statements down: each one adds up to the line it explains."""

from collections.abc import Sequence

from tools.demo.company import Company
from tools.demo.economics import Period
from tools.demo.ledger import Books
from tools.demo.pdf import Row
from tools.demo.statements import figure, label, lines

Ledger = dict[Period, Books]


def shares_of(totals: Sequence[float], shares: Sequence[tuple[str, float]]) -> list[tuple[str, list[float]]]:
    """Split totals by fixed shares; the last one takes what rounding leaves."""
    split = [(name, [round(total * share) for total in totals]) for name, share in shares[:-1]]
    left = [total - sum(values[i] for _, values in split) for i, total in enumerate(totals)]
    return [*split, (shares[-1][0], left)]


def _split(totals: Sequence[float], shares: Sequence[tuple[str, float]]) -> list[Row]:
    return [Row(name, tuple(map(figure, values))) for name, values in shares_of(totals, shares)]


def grand(name: str, values: Sequence[float]) -> Row:
    return Row(name, tuple(map(figure, values)), "grand")


def property_plant(company: Company, columns: Sequence[Books]) -> list[Row]:
    gross = [books["ppe"] + books["accumulated_depreciation"] for books in columns]
    kinds = (("Land", 0.034), ("Buildings and improvements", 0.271), ("Machinery and equipment", 0.638),
             ("Construction in progress", 0.057))  # fmt: skip
    return [
        *_split(gross, kinds),
        Row("Gross amount", tuple(map(figure, gross)), "total"),
        Row(
            "Accumulated depreciation", tuple(figure(-books["accumulated_depreciation"]) for books in columns)
        ),
        grand(label(company, "ppe"), [books["ppe"] for books in columns]),
    ]


def inventories(company: Company, columns: Sequence[Books]) -> list[Row]:
    totals = [books["inventories"] for books in columns]
    kinds = (("Raw materials and supplies", 0.33), ("Work in process", 0.21), ("Finished goods", 0.46))
    return [*_split(totals, kinds), grand(label(company, "inventories"), totals)]


def accrued(company: Company, columns: Sequence[Books]) -> list[Row]:
    totals = [books["accrued"] for books in columns]
    kinds = (("Employee compensation and benefits", 0.37), ("Customer rebates and advances", 0.29),
             ("Interest and taxes other than income taxes", 0.12), ("Other", 0.22))  # fmt: skip
    return [*_split(totals, kinds), grand(label(company, "accrued"), totals)]


def tax_reconciliation(columns: Sequence[Books]) -> list[Row]:
    """From tax at the federal rate of 21 percent to the provision; "Other" takes what is left."""
    statutory = [round(0.21 * books["pretax"]) for books in columns]
    known = {
        "Tax at the federal statutory rate of 21%": statutory,
        "State taxes, net of federal benefit": [round(0.022 * books["pretax"]) for books in columns],
        "Foreign rate differences": [round(-0.013 * books["pretax"]) for books in columns],
        "Research credits": [round(-0.07 * books["research"]) for books in columns],
    }
    other = [b["income_tax"] - sum(v[i] for v in known.values()) for i, b in enumerate(columns)]
    rows = [Row(name, tuple(map(figure, values))) for name, values in known.items() if any(values)]
    rates = tuple(f"{100 * books['income_tax'] / books['pretax']:.1f}%" for books in columns)
    provision = grand("Provision for income taxes", [books["income_tax"] for books in columns])
    return [*rows, Row("Other", tuple(map(figure, other))), provision, Row("Effective tax rate", rates)]


def restructuring_reserve(ledger: Ledger, years: Sequence[int]) -> list[Row]:
    now = [ledger[year, 4] for year in years]
    return [
        Row(
            "Accrued at beginning of year",
            tuple(figure(ledger[y - 1, 4]["restructuring_reserve"]) for y in years),
        ),
        Row("Charges", tuple(figure(books["restructuring"]) for books in now)),
        Row("Payments and other", tuple(figure(-books["restructuring_paid"]) for books in now)),
        grand("Accrued at end of year", [books["restructuring_reserve"] for books in now]),
    ]


def remaining_buyback(company: Company, ledger: Ledger, period: Period) -> float:
    """What may still be spent under the authorization in force, in reporting units."""
    since, amount = company.buyback(period[0])
    spent = sum(books["repurchases"] for when, books in ledger.items() if (since, 0) <= when <= period)
    return amount * company.economics.units_a_million - spent


def quarter_purchases(company: Company, ledger: Ledger, year: int, months: Sequence[str]) -> list[Row]:
    """Shares bought in each month of the fourth quarter; the last month ends at the remaining authorization."""
    books = ledger[year, 4]
    left = remaining_buyback(company, ledger, (year, 4)) / company.economics.units_a_million
    shares = books["repurchased_shares"] * 1e6 * 0.23
    found, bought, spent = [], 0, 0.0
    for month, share, premium in zip(reversed(months), (0.27, 0.34, 0.39), (1.02, 0.99, 1.01), strict=True):
        count, price = round(shares * share), books["share_price"] * premium
        found.insert(0, Row(month, (figure(count), figure(price, 2), figure(left + spent, 1))))
        bought, spent = bought + count, spent + count * price / 1e6
    average = spent * 1e6 / bought
    return [*found, Row("Total", (figure(bought), figure(average, 2), figure(left, 1)), "total")]


def selected_data(company: Company, columns: Sequence[Books]) -> list[Row]:
    """Five years of figures that the statements also show: the same numbers on another page."""

    def ratio(name: str, top: str, bottom: str) -> Row:
        return Row(name, tuple(f"{100 * books[top] / books[bottom]:.1f}%" for books in columns))

    return [
        Row("Results", style="head"),
        *lines(company, "revenue gross_profit operating_income net_income", columns),
        Row("Diluted earnings per share", tuple(figure(books["eps_diluted"], 2) for books in columns)),
        Row(
            "Dividends declared per share",
            tuple(figure(books["dividends_per_share"], 2) for books in columns),
        ),
        ratio("Operating margin", "operating_income", "revenue"),
        Row("Financial position at year-end", style="head"),
        *lines(company, "cash ppe total_assets long_term_debt equity", columns),
        Row("Cash flows", style="head"),
        *lines(company, "operating_cash capex depreciation_amortization dividends", columns),
    ]

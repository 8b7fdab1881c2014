"""The values that fill the slots of a filing's text."""

from tools.demo.company import Company
from tools.demo.economics import Period, wobble
from tools.demo.ledger import Books
from tools.demo.notes import Ledger, remaining_buyback

_PER_SHARE = ("dividends_per_share", "eps_basic", "eps_diluted", "share_price")

# Amounts that no statement shows: a share of a line that one does, and how far it strays from year to year.
_AMOUNTS = {
    "allowance": ("receivables", 0.019, 0.004),
    "backlog": ("revenue", 0.440, 0.070),
    "capex_high": ("capex", 1.160, 0.020),
    "capex_low": ("capex", 1.020, 0.020),
    "debt_fair_value": ("long_term_debt", 1.010, 0.030),
    "environment": ("revenue", 0.005, 0.002),
    "foreign_cash": ("cash", 0.380, 0.060),
    "fx_sensitivity": ("pretax", 0.034, 0.008),
    "guarantees": ("revenue", 0.014, 0.003),
    "input_sensitivity": ("cost_of_sales", 0.021, 0.004),
    "lease_cost": ("leases", 0.260, 0.020),
    "letters_of_credit": ("revenue", 0.009, 0.002),
    "purchase_next": ("cost_of_sales", 0.083, 0.0),
    "purchase_obligations": ("cost_of_sales", 0.136, 0.0),
    "retirement": ("revenue", 0.007, 0.001),
    "uncertain_tax": ("income_tax", 0.310, 0.080),
    "undistributed": ("retained", 0.220, 0.040),
    "unvested": ("stock_compensation", 1.300, 0.200),
    "warranty": ("revenue", 0.008, 0.002),
}

# Other numbers of the text: the usual value, how far it strays, decimals.
_NUMBERS = {
    "covenant": (3.75, 0.0, 2),
    "discount_high": (10.3, 0.5, 1),
    "discount_low": (7.8, 0.4, 1),
    "foreign_cash_share": (38, 6, 0),
    "headroom": (24, 9, 0),
    "lease_rate": (3.4, 0.4, 1),
    "lease_term": (6.4, 0.8, 1),
    "maintenance_share": (57, 6, 0),
    "vesting": (1.8, 0.2, 1),
}


def money(company: Company, value: float) -> str:
    """``$385 million``; companies that count in thousands give one decimal of a million."""
    units = company.economics.units_a_million
    return f"${value / units:,.{0 if units == 1 else 1}f} million"


def percent(part: float, whole: float, places: int = 1) -> str:
    return f"{100 * part / whole:.{places}f}"


def invented_amount(company: Company, ledger: Ledger, name: str, year: int) -> float:
    """One of the amounts that no statement shows, in reporting units."""
    line, share, spread = _AMOUNTS[name]
    key = "foreign_cash_share" if name == "foreign_cash" else name
    return ledger[year, 4][line] * (share + spread * wobble(company.key, key, year))


def slots(company: Company, ledger: Ledger, year: int) -> dict[str, str]:
    """Every slot of an annual report's text, for a fiscal year.

    A figure of the books or of the company is there three times: for the year, and with ``prior_`` and ``before_``
    for the two years ahead of it. Slots of the chronicle that the year lacks are empty.
    """
    found = {name: "" for chronicle in company.chronicle.values() for name in chronicle} | dict(
        company.wording
    )
    for prefix, shift in (("", 0), ("prior_", 1), ("before_", 2)):
        books = ledger[year - shift, 4]
        for name, value in books.items():
            found[prefix + name] = f"{value:.2f}" if name in _PER_SHARE else money(company, value)
        for name in _AMOUNTS:
            found[prefix + name] = money(company, invented_amount(company, ledger, name, year - shift))
        for name in company.figures:
            found[prefix + name] = company.printed(name, year - shift)
        found[prefix + "tax_rate"] = percent(books["income_tax"], books["pretax"])
        found[prefix + "research_share"] = percent(books["research"], books["revenue"])
    for name, (usual, spread, places) in _NUMBERS.items():
        found[name] = f"{usual + spread * wobble(company.key, name, year):.{places}f}"
    now = ledger[year, 4]
    found |= _calendar(company, year) | _liquidity(company, now, ledger[year - 1, 4])
    found["repurchased_shares"] = f"{now['repurchased_shares']:.2f}"
    found["remaining"] = money(company, remaining_buyback(company, ledger, (year, 4)))
    for number, segment in enumerate(company.economics.segments):
        found[f"share_{number}"] = percent(now[f"revenue:{segment.name}"], now["revenue"], 0)
    found["dividend_policy"] = found["dividend_policy"].format_map(found)
    return found | {name: text.format_map(found) for name, text in company.chronicle[year].items()}


def _calendar(company: Company, year: int) -> dict[str, str]:
    end = company.end_of((year, 4))
    return {
        "company": company.name,
        "ticker": company.ticker,
        "unit": company.economics.unit,
        "year": str(year),
        "prior": str(year - 1),
        "before": str(year - 2),
        "next": str(year + 1),
        "year_end": end,
        "prior_year_end": company.end_of((year - 1, 4)),
        "year_end_day": end.split(",")[0],
        "record_date": f"the last trading day of the month that followed {end},",
        "open_tax_year": str(year - 4),
        "revolver_year": str(year + 3),
        "dividend_years": str(year - 2009),
    }


def _liquidity(company: Company, now: Books, prior: Books) -> dict[str, str]:
    def cash_effect(name: str) -> str:
        amount = now[f"change_{name}"]
        return f"{'released' if amount >= 0 else 'took up'} {money(company, abs(amount))}"

    debt = now["current_debt"] + now["long_term_debt"]
    earnings = now["operating_income"] + now["depreciation_amortization"] + now["stock_compensation"]
    change = now["operating_cash"] - prior["operating_cash"]
    words = {f"{name}_change": cash_effect(name) for name in ("receivables", "inventories", "payables")}
    return words | {
        "total_debt": money(company, debt),
        "goodwill_and_intangibles": money(company, now["goodwill"] + now["intangibles"]),
        "leverage": f"{max(debt - now['cash'], 0) / earnings:.1f}",
        "operating_cash_change": f"{'increased' if change > 0 else 'decreased'} by {money(company, abs(change))} "
        f"to {money(company, now['operating_cash'])}",
        "acquisition_spend": f" We paid {money(company, now['acquisition'])} for acquisitions."
        if now["acquisition"]
        else "",
        "revolver_drawn": "nothing was drawn",
    }


def last_months(company: Company, period: Period) -> list[str]:
    """Names of the three months that end with a period: ``October 2021``."""
    names = "January February March April May June July August September October November December".split()
    end = company.end_of(period)
    last, year = names.index(end.split()[0]), int(end.split()[-1])
    return [f"{names[(last - back) % 12]} {year - (back > last)}" for back in (2, 1, 0)]

"""The values that fill the slots of a quarterly report's text."""

from tools.demo.company import Company
from tools.demo.economics import Period
from tools.demo.ledger import add_up
from tools.demo.notes import Ledger, remaining_buyback
from tools.demo.slots import money, percent


def quarter_slots(company: Company, ledger: Ledger, period: Period) -> dict[str, str]:
    """The slots of ``text/interim.txt``."""
    year, quarter = period
    now, prior = ledger[period], ledger[year - 1, quarter]
    half, prior_half = (add_up([ledger[y, 1], ledger[y, 2]]) for y in (year, year - 1))
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

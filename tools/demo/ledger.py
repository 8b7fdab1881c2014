"""Coherent books of an invented company, rolled forward one period at a time.

Every period starts from the balance sheet of the one before it. Cash is what the cash flow statement leaves, so
assets equal liabilities plus equity in every period once they do in the opening one (retained earnings are the plug
there, and nowhere else). Amounts are whole reporting units; shares are millions; per-share figures are dollars.
"""

from tools.demo.economics import FIRST_YEAR, Economics, Period
from tools.demo.entries import Books, cash_flow, debt, income, per_share, totals

# Lines that a period earns or spends, which add up over quarters. Everything else is a balance at its end.
FLOWS = frozenset(
    "revenue cost_of_sales gross_profit selling research restructuring operating_income interest other_income pretax "
    "income_tax net_income depreciation amortization depreciation_amortization stock_compensation deferred_tax "
    "change_receivables change_inventories change_prepaid change_payables change_accrued change_other operating_cash "
    "capex disposals acquisition change_securities investing_cash debt_issued debt_repaid dividends_per_share "
    "dividends repurchases repurchased_shares options financing_cash fx net_change restructuring_paid".split()
)
_FOLLOW_REVENUE = (
    "receivables inventories prepaid securities leases other_assets payables accrued other_liabilities"
).split()


def keep_books(economics: Economics) -> dict[Period, Books]:
    """The books of every period from FIRST_YEAR to LAST_YEAR, and the opening balances before them."""
    period = (FIRST_YEAR - 1, 4)
    ledger = {period: _opening(economics, period)}
    for following in economics.periods:
        ledger[following] = roll_forward(economics, ledger[period], following)
        period = following
    return ledger


def add_up(parts: list[Books]) -> Books:
    """Books of several consecutive periods: flows are summed, balances are those at the end."""
    total = dict(parts[-1])
    for name in total:
        if name in FLOWS or name.startswith("revenue:"):
            total[name] = sum(books[name] for books in parts)
    total["opening_cash"] = parts[0]["opening_cash"]
    total["average_shares"] = sum(books["average_shares"] for books in parts) / len(parts)
    return total | per_share(total)


def _opening(economics: Economics, period: Period) -> Books:
    revenue = sum(segment.revenue for segment in economics.segments)
    books = {"retained": 0.0, "restructuring_reserve": 0} | dict(economics.opening)
    books |= {name: round(revenue * economics.driver(name, period)) for name in _FOLLOW_REVENUE}
    books |= debt(economics, period) | {"units_a_million": economics.units_a_million}
    books |= totals(books)
    books["retained"] = books["total_assets"] - books["total_liabilities"] - books["equity"]
    return books | totals(books)


def roll_forward(economics: Economics, previous: Books, period: Period) -> Books:
    """The next period's books; its cash flow statement explains the whole change in cash.

    Drivers are fractions of revenue, except ``depreciation``, ``amortization`` and ``disposals`` (a year, of the
    opening balance), ``tax_rate`` and ``deferred_tax`` (of pretax income and of the tax), and the amounts
    ``restructuring``, ``other_income``, ``acquisition``, ``fx``, ``dividends_per_share``, ``share_price``.
    """

    def driver(name: str) -> float:
        return economics.driver(name, period)

    share, units = economics.share_of_year, economics.units_a_million
    books = {"units_a_million": units} | income(economics, period)
    revenue = books["revenue"]
    for name in ("capex", "stock_compensation", "repurchases", "options"):
        books[name] = round(revenue * driver(name))
    books |= {name: round(revenue / economics.season(period) * driver(name)) for name in _FOLLOW_REVENUE}
    books |= debt(economics, period)

    books["depreciation"] = round(previous["ppe"] * driver("depreciation") * share)
    books["amortization"] = round(previous["intangibles"] * driver("amortization") * share)
    books["depreciation_amortization"] = books["depreciation"] + books["amortization"]
    books["disposals"] = round(previous["ppe"] * driver("disposals") * share)
    books["ppe"] = previous["ppe"] + books["capex"] - books["depreciation"] - books["disposals"]
    books["accumulated_depreciation"] = previous["accumulated_depreciation"] + books["depreciation"]
    books["acquisition"] = round(driver("acquisition") * share)
    books["acquired_goodwill"] = round(books["acquisition"] * 0.62)
    books["goodwill"] = previous["goodwill"] + books["acquired_goodwill"]
    acquired_intangibles = books["acquisition"] - books["acquired_goodwill"]
    books["intangibles"] = previous["intangibles"] + acquired_intangibles - books["amortization"]
    books["deferred_tax"] = round(books["income_tax"] * driver("deferred_tax"))
    books["deferred_taxes"] = previous["deferred_taxes"] + books["deferred_tax"]
    books["lease_gap"] = previous["lease_gap"]

    books["dividends_per_share"] = round(driver("dividends_per_share") * share, 3)
    books["dividends"] = round(books["dividends_per_share"] * previous["shares"] * units)
    books["fx"] = round(driver("fx") * share)
    books["paid_in"] = previous["paid_in"] + books["stock_compensation"] + books["options"]
    books["retained"] = previous["retained"] + books["net_income"] - books["dividends"]
    books["treasury"] = previous["treasury"] - books["repurchases"]
    books["aoci"] = previous["aoci"] + books["fx"]
    books["share_price"] = round(driver("share_price"), 2)
    books["repurchased_shares"] = books["repurchases"] / books["share_price"] / units
    books["shares"] = previous["shares"] * (1 + 0.003 * share) - books["repurchased_shares"]
    books["average_shares"] = (previous["shares"] + books["shares"]) / 2

    reserve = previous["restructuring_reserve"]
    books["restructuring_reserve"] = round(0.2 * reserve + 0.4 * books["restructuring"])
    books["restructuring_paid"] = reserve + books["restructuring"] - books["restructuring_reserve"]
    books |= cash_flow(previous, books)
    return books | per_share(books) | totals(books)

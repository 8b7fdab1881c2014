"""The parts of a period's books: income, debt, cash flows, per-share figures and totals."""

from tools.demo.economics import Economics, Period

Books = dict[str, float]


def income(economics: Economics, period: Period) -> Books:
    share = economics.share_of_year
    books = {f"revenue:{s.name}": economics.segment_revenue(s, period) for s in economics.segments}
    revenue = books["revenue"] = sum(books.values())
    books["cost_of_sales"] = round(revenue * (1 - economics.driver("gross_margin", period)))
    books["gross_profit"] = revenue - books["cost_of_sales"]
    books["selling"] = round(revenue * economics.driver("selling", period))
    books["research"] = round(revenue * economics.driver("research", period))
    books["restructuring"] = round(economics.driver("restructuring", period) * share)
    books["operating_income"] = (
        books["gross_profit"] - books["selling"] - books["research"] - books["restructuring"]
    )
    coupons = sum(n.coupon / 100 * n.principal for n in economics.notes if n.bears_interest(period))
    books["interest"] = round(coupons * share)
    books["other_income"] = round(economics.driver("other_income", period) * share)
    books["pretax"] = books["operating_income"] - books["interest"] + books["other_income"]
    books["income_tax"] = round(books["pretax"] * economics.driver("tax_rate", period))
    books["net_income"] = books["pretax"] - books["income_tax"]
    return books


def debt(economics: Economics, period: Period) -> Books:
    year, quarter = period
    notes = economics.notes
    is_first = quarter == 1 or len(economics.seasons) == 1
    return {
        "current_debt": sum(n.principal for n in notes if n.is_current(period)),
        "long_term_debt": sum(
            n.principal for n in notes if n.is_outstanding(period) and not n.is_current(period)
        ),
        "debt_issued": sum(n.principal for n in notes if n.issued == year) if is_first else 0,
        "debt_repaid": sum(n.principal for n in notes if n.matures == year) if quarter == 4 else 0,
    }


def cash_flow(before: Books, now: Books) -> Books:
    def rise(*names: str) -> float:
        return sum(now[name] - before[name] for name in names)

    flow = {
        "change_receivables": -rise("receivables"),
        "change_inventories": -rise("inventories"),
        "change_prepaid": -rise("prepaid"),
        "change_payables": rise("payables"),
        "change_accrued": rise("accrued"),
        "change_other": rise("other_liabilities") - rise("other_assets"),
        "change_securities": -rise("securities"),
    }
    earned = ("net_income", "depreciation_amortization", "stock_compensation", "deferred_tax")
    flow["operating_cash"] = (
        sum(now[name] for name in earned) + sum(flow.values()) - flow["change_securities"]
    )
    flow["investing_cash"] = now["disposals"] - now["capex"] - now["acquisition"] + flow["change_securities"]
    flow["financing_cash"] = (
        now["debt_issued"] - now["debt_repaid"] - now["dividends"] - now["repurchases"] + now["options"]
    )
    flow["net_change"] = flow["operating_cash"] + flow["investing_cash"] + flow["financing_cash"] + now["fx"]
    return flow | {"opening_cash": before["cash"], "cash": before["cash"] + flow["net_change"]}


def per_share(books: Books) -> Books:
    basic = books["average_shares"]
    diluted = basic * 1.011
    income = books["net_income"] / books["units_a_million"]
    return {"diluted_shares": diluted, "eps_basic": income / basic, "eps_diluted": income / diluted}


def totals(books: Books) -> Books:
    current_leases = round((books["leases"] + books["lease_gap"]) * 0.2)
    total = {"current_leases": current_leases}
    total["long_term_leases"] = books["leases"] + books["lease_gap"] - current_leases
    total["current_assets"] = sum(
        books[name] for name in ("cash", "securities", "receivables", "inventories", "prepaid")
    )
    total["total_assets"] = total["current_assets"] + sum(
        books[name] for name in ("ppe", "leases", "goodwill", "intangibles", "other_assets")
    )
    total["current_liabilities"] = current_leases + sum(
        books[name] for name in ("payables", "accrued", "current_debt")
    )
    total["total_liabilities"] = (
        total["current_liabilities"]
        + total["long_term_leases"]
        + sum(books[name] for name in ("long_term_debt", "deferred_taxes", "other_liabilities"))
    )
    total["equity"] = sum(books[name] for name in ("paid_in", "retained", "treasury", "aoci"))
    total["total_funding"] = total["total_liabilities"] + total["equity"]
    return total

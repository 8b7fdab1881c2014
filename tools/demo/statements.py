"""The three statements as tables, and the notes that break their lines down."""

from collections.abc import Iterable, Sequence

from tools.demo.company import Company
from tools.demo.ledger import Books
from tools.demo.pdf import Row
from tools.demo.text import rows

LABELS = dict(rows("labels", "statements"))

_INCOME = (
    "+revenue cost_of_sales =gross_profit selling research restructuring =operating_income interest other_income "
    "=pretax income_tax +net_income"
)
_ASSETS = (
    "cash securities receivables inventories prepaid =current_assets ppe leases goodwill intangibles other_assets "
    "+total_assets"
)
_LIABILITIES = (
    "payables accrued current_debt current_leases =current_liabilities long_term_debt long_term_leases "
    "deferred_taxes other_liabilities =total_liabilities"
)
_EQUITY = "paid_in retained treasury aoci =equity +total_funding"
_OPERATING = (
    "net_income depreciation_amortization stock_compensation deferred_tax change_receivables change_inventories "
    "change_prepaid change_payables change_accrued change_other =operating_cash"
)
_INVESTING = "-capex disposals -acquisition change_securities =investing_cash"
_FINANCING = "debt_issued -debt_repaid -dividends -repurchases options =financing_cash"


def figure(value: float, places: int = 0) -> str:
    """``1,234``, ``(1,234)`` if negative, ``-`` if nothing."""
    if not round(value, places):
        return "-"
    return f"({-value:,.{places}f})" if value < 0 else f"{value:,.{places}f}"


def caption(company: Company, has_shares: bool = False) -> str:
    """What stands above a table: the unit of its figures."""
    return f"(in {company.economics.unit}{', except per share amounts' if has_shares else ''})"


def label(company: Company, line: str) -> str:
    return company.labels.get(line, LABELS[line])


def lines(company: Company, spec: str, columns: Sequence[Books]) -> list[Row]:
    """Rows of a statement. In ``spec`` ``=`` marks a total, ``+`` a grand total, ``-`` money spent.

    A line that is nothing in every column is left out.
    """
    found = []
    for word in spec.split():
        name = word.lstrip("=+-")
        values = [books[name] * (-1 if word[0] == "-" else 1) for books in columns]
        if any(values):
            style = {"=": "total", "+": "grand"}.get(word[0], "item")
            found.append(Row(label(company, name), tuple(map(figure, values)), style))
    return found


def income_statement(company: Company, columns: Sequence[Books]) -> list[Row]:
    return [
        *lines(company, _INCOME, columns),
        Row("Earnings per share:", style="head"),
        _plain("Basic", (books["eps_basic"] for books in columns), 2),
        _plain("Diluted", (books["eps_diluted"] for books in columns), 2),
        Row("Weighted average shares (in millions):", style="head"),
        _plain("Basic", (books["average_shares"] for books in columns), 1),
        _plain("Diluted", (books["diluted_shares"] for books in columns), 1),
    ]


def assets(company: Company, columns: Sequence[Books]) -> list[Row]:
    return [Row("ASSETS", style="head"), *lines(company, _ASSETS, columns)]


def liabilities_and_equity(company: Company, columns: Sequence[Books]) -> list[Row]:
    return [
        Row("LIABILITIES AND SHAREHOLDERS' EQUITY", style="head"),
        *lines(company, _LIABILITIES, columns),
        Row("Shareholders' equity:", style="head"),
        *lines(company, _EQUITY, columns),
    ]


def cash_flow_statement(company: Company, columns: Sequence[Books]) -> list[Row]:
    return [
        Row("Cash flows from operating activities:", style="head"),
        *lines(company, _OPERATING, columns),
        Row("Cash flows from investing activities:", style="head"),
        *lines(company, _INVESTING, columns),
        Row("Cash flows from financing activities:", style="head"),
        *lines(company, _FINANCING, columns),
        *lines(company, "fx =net_change opening_cash", columns),
        Row("Cash and cash equivalents at end of period", tuple(figure(b["cash"]) for b in columns), "grand"),
    ]


def comprehensive_income(columns: Sequence[Books]) -> list[Row]:
    return [
        Row("Net income", tuple(figure(books["net_income"]) for books in columns)),
        Row(
            "Other comprehensive income (loss): currency translation",
            tuple(figure(books["fx"]) for books in columns),
        ),
        Row("Comprehensive income", tuple(figure(b["net_income"] + b["fx"]) for b in columns), "grand"),
    ]


def equity_movements(years: Sequence[tuple[int, Books]]) -> list[Row]:
    """From the balance before the first year to the one after the last, by component of equity."""
    parts = ("paid_in", "retained", "treasury", "aoci")

    def row(name: str, moves: dict[str, float], style: str = "item") -> Row:
        values = [moves.get(part, 0) for part in parts]
        return Row(name, tuple(map(figure, [*values, sum(values)])), style)

    first = years[0][1]
    opening = {
        "paid_in": first["paid_in"] - first["stock_compensation"] - first["options"],
        "retained": first["retained"] - first["net_income"] + first["dividends"],
        "treasury": first["treasury"] + first["repurchases"],
        "aoci": first["aoci"] - first["fx"],
    }
    found = [row(f"Balance before fiscal {years[0][0]}", opening, "total")]
    for year, books in years:
        moves = {
            "Net income": {"retained": books["net_income"]},
            "Currency translation": {"aoci": books["fx"]},
            "Dividends": {"retained": -books["dividends"]},
            "Stock-based compensation": {"paid_in": books["stock_compensation"]},
            "Exercise of options": {"paid_in": books["options"]},
            "Repurchases": {"treasury": -books["repurchases"]},
        }
        found += [row(name, move) for name, move in moves.items() if any(move.values())]
        found.append(row(f"Balance at end of fiscal {year}", books, "grand"))
    return found


def _plain(name: str, values: Iterable[float], places: int) -> Row:
    return Row(name, tuple(figure(value, places) for value in values))

"""Tables of what a company owes, and when: notes, leases and purchases."""

from collections.abc import Sequence

from tools.demo.company import Company
from tools.demo.economics import Period
from tools.demo.ledger import Books
from tools.demo.notes import Ledger, grand, shares_of
from tools.demo.pdf import Row
from tools.demo.statements import figure, label


def notes_outstanding(company: Company, ledger: Ledger, periods: Sequence[Period]) -> list[Row]:
    found = []
    for note in company.economics.notes:
        values = [note.principal if note.is_outstanding(period) else 0 for period in periods]
        if any(values):
            found.append(
                Row(f"{note.coupon:.2f}% senior notes due {note.matures}", tuple(map(figure, values)))
            )
    books = [ledger[period] for period in periods]
    found.append(
        Row("Total debt", tuple(figure(b["current_debt"] + b["long_term_debt"]) for b in books), "total")
    )
    found.append(Row("Less: current portion", tuple(figure(-b["current_debt"]) for b in books)))
    return [*found, grand(label(company, "long_term_debt"), [b["long_term_debt"] for b in books])]


def debt_by_year(company: Company, year: int) -> list[tuple[str, float]]:
    """Principal that falls due in each of the next five fiscal years, and later."""
    left = [note for note in company.economics.notes if note.is_outstanding((year, 4))]
    due = [(str(y), sum(n.principal for n in left if n.matures == y)) for y in range(year + 1, year + 6)]
    return [*due, ("Later", sum(n.principal for n in left if n.matures > year + 5))]


def obligations(company: Company, ledger: Ledger, year: int) -> tuple[list[str], list[Row]]:
    """Columns and rows of what is owed under contracts, by when it falls due."""
    books = ledger[year, 4]
    due = [amount for _, amount in debt_by_year(company, year)]
    principal = [due[0], due[1] + due[2], due[3] + due[4], due[5]]
    leases = [value for _, value in _lease_payments(books)]
    owed = {
        "Senior notes": principal,
        "Interest on senior notes": _interest_due(company, year),
        "Operating leases": [leases[0], leases[1] + leases[2], leases[3] + leases[4], leases[5]],
        "Purchase obligations": [
            round(books["cost_of_sales"] * share) for share in (0.083, 0.041, 0.012, 0.0)
        ],
    }
    totals = [sum(values) for values in zip(*owed.values(), strict=True)]
    body = [Row(name, tuple(map(figure, [sum(values), *values]))) for name, values in owed.items()]
    heads = ["Total", str(year + 1), f"{year + 2}-{year + 3}", f"{year + 4}-{year + 5}", f"After {year + 5}"]
    return heads, [*body, grand("Total", [sum(totals), *totals])]


def _interest_due(company: Company, year: int) -> list[int]:
    notes = [note for note in company.economics.notes if note.is_outstanding((year, 4))]
    spans = (
        range(year + 1, year + 2),
        range(year + 2, year + 4),
        range(year + 4, year + 6),
        range(year + 6, 2061),
    )
    return [
        round(sum(n.coupon / 100 * n.principal for n in notes for y in span if y <= n.matures))
        for span in spans
    ]


def _lease_payments(books: Books) -> list[tuple[str, float]]:
    """Undiscounted payments, 11 percent above the liability."""
    owed = round(1.11 * (books["current_leases"] + books["long_term_leases"]))
    parts = (
        ("first", 0.21),
        ("second", 0.18),
        ("third", 0.15),
        ("fourth", 0.12),
        ("fifth", 0.09),
        ("later", 0.25),
    )
    return [(name, values[0]) for name, values in shares_of([owed], parts)]


def lease_maturities(books: Books, year: int) -> list[Row]:
    payments = [value for _, value in _lease_payments(books)]
    names = [*(f"Fiscal {year + i}" for i in range(1, 6)), "Later"]
    liability = books["current_leases"] + books["long_term_leases"]
    return [
        *(Row(name, (figure(value),)) for name, value in zip(names, payments, strict=True)),
        Row("Total lease payments", (figure(sum(payments)),), "total"),
        Row("Less: interest", (figure(liability - sum(payments)),)),
        grand("Operating lease liabilities", [liability]),
    ]

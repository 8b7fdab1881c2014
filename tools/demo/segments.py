"""Revenue and operating income by segment, revenue by region."""

from collections.abc import Sequence

from tools.demo.company import Company
from tools.demo.ledger import Books
from tools.demo.pdf import Row
from tools.demo.statements import figure, label


def segment_results(company: Company, columns: Sequence[Books]) -> list[Row]:
    """Revenue and operating income by segment; what no segment earns is "Corporate and unallocated"."""
    segments = company.economics.segments
    found = [Row(label(company, "revenue"), style="head")]
    found += [Row(s.name, tuple(figure(b[f"revenue:{s.name}"]) for b in columns)) for s in segments]
    found.append(Row("Total", tuple(figure(b["revenue"]) for b in columns), "grand"))
    found.append(Row("Operating income", style="head"))
    found += [
        Row(s.name, tuple(figure(segment_income(company, b, s.name)) for b in columns)) for s in segments
    ]
    rest = [
        b["operating_income"] - sum(segment_income(company, b, s.name) for s in segments) for b in columns
    ]
    found.append(Row("Corporate and unallocated", tuple(map(figure, rest))))
    found.append(Row("Total", tuple(figure(b["operating_income"]) for b in columns), "grand"))
    return found


def segment_income(company: Company, books: Books, segment: str) -> int:
    """A segment's margin moves with that of the company."""
    margin = next(s.margin for s in company.economics.segments if s.name == segment)
    drift = 0.8 * (books["gross_profit"] / books["revenue"] - company.economics.drivers["gross_margin"][0])
    return round(books[f"revenue:{segment}"] * (margin + drift))


def regions(company: Company, columns: Sequence[Books]) -> list[Row]:
    """Revenue by region; the last region takes what rounding leaves."""
    found, rest = [], [books["revenue"] for books in columns]
    for number, (name, share) in enumerate(company.regions):
        is_last = number == len(company.regions) - 1
        values = [r if is_last else round(b["revenue"] * share) for b, r in zip(columns, rest, strict=True)]
        rest = [r - value for r, value in zip(rest, values, strict=True)]
        found.append(Row(name, tuple(map(figure, values))))
    return [*found, Row("Total", tuple(figure(books["revenue"]) for books in columns), "grand")]

"""The twelve filings: who filed what for when, drawn as PDFs, with the spans that questions may point at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pymupdf

from tools.demo.companies import COMPANIES
from tools.demo.company import Company
from tools.demo.forms.annual import annual_report
from tools.demo.forms.current import current_report
from tools.demo.forms.interim import quarterly_report
from tools.demo.forms.releases import full_year_release, quarter_release
from tools.demo.ledger import keep_books
from tools.demo.notes import Ledger
from tools.demo.pdf import Sheets, Span

_Draw = Callable[[Company, Ledger], Sheets]


@dataclass(frozen=True)
class Filing:
    """One PDF. ``doc_type`` is spelled as in FinanceBench: "10k", "10q", "8k", "Earnings"."""

    doc_name: str
    company: Company
    doc_type: str
    doc_period: int
    pdf: bytes
    marks: dict[str, list[Span]]

    @cached_property
    def pages(self) -> list[str]:
        """The text of each page, as PyMuPDF reads it."""
        with pymupdf.open(stream=self.pdf, filetype="pdf") as document:
            return [page.get_text() for page in document]


def ledgers() -> dict[str, Ledger]:
    """Company key -> its books."""
    return {key: keep_books(company.economics) for key, company in COMPANIES.items()}


def filings(books: dict[str, Ledger]) -> list[Filing]:
    """Draw all filings, in the order of their names."""
    drawn = []
    for name, (doc_type, year, draw) in sorted(_plan().items()):
        company = COMPANIES[name.split("_")[0]]
        sheets = draw(company, books[company.key])
        drawn.append(Filing(name, company, doc_type, year, sheets.finish(), dict(sheets.marks)))
    return drawn


def _plan() -> dict[str, tuple[str, int, _Draw]]:
    plan: dict[str, tuple[str, int, _Draw]] = {
        "VEYLORIA_2022_8K_dated-2022-03-14": ("8k", 2022, lambda c, books: current_report(c, books, 2022)),
        "ORVELLOW_2022Q4_EARNINGS": ("Earnings", 2022, lambda c, books: full_year_release(c, books, 2022)),
        "HADDENMOOR_2022Q2_EARNINGS": (
            "Earnings",
            2022,
            lambda c, books: quarter_release(c, books, (2022, 2)),
        ),
    }
    for year in (2021, 2022):
        plan[f"HADDENMOOR_{year}Q2_10Q"] = ("10q", year, _quarterly(year))
    for key, years in (
        ("TARNBECK", (2020, 2021, 2022)),
        ("ORVELLOW", (2021, 2022)),
        ("VEYLORIA", (2021, 2022)),
    ):
        plan |= {f"{key}_{year}_10K": ("10k", year, _annual(year)) for year in years}
    return plan


def _annual(year: int) -> _Draw:
    return lambda company, books: annual_report(company, books, year)


def _quarterly(year: int) -> _Draw:
    return lambda company, books: quarterly_report(company, books, (year, 2))

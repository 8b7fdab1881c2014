"""The company, period and type of each filing, and those that a question asks about.

A filing's identity comes from the dataset's records, else from its name, else from its first pages, so that a folder of
PDFs without records has identities too. A question's comes from its words alone.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd

from lib.ahead.names import core_words, cover_names, name_matches
from lib.ahead.periods import dates_in, quarters_in, years_in
from lib.data.identity import heading

TYPES = ("10-K", "10-Q", "8-K", "earnings")
TYPE_IN_NAME = {"10-K": r"10-?K|annual", "10-Q": r"10-?Q", "8-K": r"8-?K", "earnings": r"earnings|results"}
TYPE_ON_COVER = {
    "10-K": r"form\s+(?:10-k|20-f|40-f)|annual\s+report",
    "10-Q": r"form\s+10-q|quarterly\s+report",
    "8-K": r"form\s+(?:8-k|6-k)|current\s+report",
    "earnings": r"(?:reports|announces|reported)[^.]{0,80}(?:results|quarter|earnings)",
}
TYPE_ASKED = {
    "10-K": r"\b10-?K\b|annual report",
    "10-Q": r"\b10-?Q\b|quarterly report",
    "8-K": r"\b8-?K\b|current report",
    "earnings": r"earnings (?:release|call|report)|press release|guidance",
}
PERIOD_ENDED = re.compile(
    r"(?:period|year|quarter|weeks|months)\s+ended[\s:]*([A-Za-z]+\.?\s+\d{1,2},?\s+\d{4})", re.I
)
AS_OF = re.compile(r"\bas of\b[^,.;?]{2,30}(?:, (?:19|20)\d\d)?", re.I)
END_OF_STEM = re.compile(r"[_\s-]*(?:19|20)\d\d|[_\s-](?:10-?K|10-?Q|8-?K|earnings)", re.I)
COVER_CHARACTERS = 4000
COVER_DATE_CHARACTERS = 1500


@dataclass(frozen=True)
class FilingIdentity:
    """A filing's company, period and type.

    Attributes:
        company: as in the records or on the cover.
        names: all its written forms.
        year: fiscal year, or None if it is not known.
        quarter: 1 to 4 for a report on a quarter, else None.
        doc_type: one of TYPES, or ``other``.
        dates: the dates in its name and on its cover.
    """

    doc_name: str
    company: str
    names: tuple[str, ...]
    year: int | None
    quarter: int | None
    doc_type: str
    dates: tuple[date, ...]

    @property
    def header(self) -> str:
        """The identity in one line: ``Oskarvale 2023 Q2 10-Q``."""
        return heading(self.company, self.year, self.quarter, self.doc_type)


@dataclass(frozen=True)
class AskedPeriod:
    """The period and type of filing that a question names; None for what it does not name.

    Attributes:
        year: the latest year after ``as of``, else of all; a filing of that year shows the earlier ones too.
        quarter: the last one named.
        dates: full dates.
        doc_type: one of TYPES.
    """

    year: int | None
    quarter: int | None
    dates: tuple[date, ...]
    doc_type: str | None


def asked_period(question: str) -> AskedPeriod:
    """Read a question."""
    years = years_in(" ".join(AS_OF.findall(question))) or years_in(question)
    types = (kind for kind, pattern in TYPE_ASKED.items() if re.search(pattern, question, re.I))
    return AskedPeriod(
        _first(years[::-1]), _first(quarters_in(question)[::-1]), tuple(dates_in(question)), _first(types)
    )


def _first(values: Iterable) -> object:
    return next(iter(values), None)


def filing_identity(
    doc_name: str, company: object, doc_type: str, doc_period: object, cover: str
) -> FilingIdentity:
    """The identity of one filing.

    Args:
        doc_name, company, doc_type, doc_period: the dataset's record; missing parts are read from the others.
        cover: the text of its first pages.
    """
    cover, spaced_name = cover[:COVER_CHARACTERS], re.sub(r"[_\s]+", " ", doc_name)
    stem, printed = END_OF_STEM.split(doc_name)[0], cover_names(cover)
    known = company if isinstance(company, str) and company.strip() else (printed or [stem])[0]
    kind = doc_type if doc_type in TYPES else _type_of(doc_name, cover)
    recorded = re.search(r"(?:19|20)\d\d", str(doc_period))
    period_ends = [end for text in PERIOD_ENDED.findall(cover) for end in dates_in(text)]
    cover_years = [day.year for day in period_ends or dates_in(cover)] or years_in(cover)[::-1]
    year = int(recorded[0]) if recorded else _first(years_in(spaced_name) or cover_years)
    quarter = None
    if kind in ("10-Q", "earnings"):
        ending = [(end.month - 1) // 3 + 1 for end in period_ends]
        quarter = _first(quarters_in(spaced_name) or quarters_in(cover) or ending)
    names = dict.fromkeys(name for name in (known, stem.replace("_", " "), *printed) if name)
    dates = dict.fromkeys([*dates_in(spaced_name), *dates_in(cover[:COVER_DATE_CHARACTERS])])
    return FilingIdentity(doc_name, known, tuple(names), year, quarter, kind, tuple(dates))


def _type_of(doc_name: str, cover: str) -> str:
    for patterns, text in ((TYPE_IN_NAME, doc_name), (TYPE_ON_COVER, cover)):
        found = [(m.start(), kind) for kind, p in patterns.items() if (m := re.search(p, text, re.I))]
        if found:
            return min(found)[1]
    return "other"


def filing_identities(filings: pd.DataFrame, pages: pd.DataFrame) -> list[FilingIdentity]:
    """The identity of every filing, in the order of ``filings``."""
    covers = pages[pages["page"] < 2].groupby("doc_name", sort=False)["text"].agg("\n".join)
    return [
        filing_identity(row.doc_name, row.company, row.doc_type, row.doc_period, covers.get(row.doc_name, ""))
        for row in filings.itertuples()
    ]


def company_match(questions: Sequence[str], identities: Sequence[FilingIdentity]) -> np.ndarray:
    """How surely each question names each filing's company, shape (n_questions, n_filings).

    Filings whose companies have equal names share all written forms.
    """
    keys = [" ".join(core_words(identity.company)) for identity in identities]
    names: dict[str, dict[str, None]] = {}
    for key, identity in zip(keys, identities, strict=True):
        names.setdefault(key, {}).update(dict.fromkeys(identity.names))
    column = {key: number for number, key in enumerate(names)}
    return name_matches(questions, [list(forms) for forms in names.values()])[
        :, [column[key] for key in keys]
    ]

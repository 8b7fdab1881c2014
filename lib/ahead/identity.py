"""Whose filing it is and for when, and what a question says about that.

A filing's identity comes from the dataset's records, else from its name, else from its first pages, so that a folder of
PDFs without records has identities too. A question's comes from its words alone.
"""

import re
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd

from lib.ahead.names import core_words, cover_names, match_all
from lib.ahead.periods import dates_in, quarters_in, years_in

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
COVER_CHARACTERS = 4000


@dataclass(frozen=True)
class FilingIdentity:
    """Whose filing it is and for when.

    Attributes:
        company: as the records or the cover give it.
        names: all its written forms.
        year: fiscal year, or None if nothing tells.
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
        """One line that says it: ``Oskarvale 2023 Q2 10-Q``."""
        quarter = f"Q{self.quarter}" if self.quarter else ""
        kind = {"earnings": "earnings release", "other": ""}.get(self.doc_type, self.doc_type)
        return " ".join(str(part) for part in (self.company, self.year or "", quarter, kind) if part)


@dataclass(frozen=True)
class Asked:
    """What a question says about the filing.

    Attributes:
        years: named in an ``as of``, else all that are named.
        quarter: the last one named.
        dates: full dates.
        doc_type: the type that it names, or None.
    """

    years: tuple[int, ...]
    quarter: int | None
    dates: tuple[date, ...]
    doc_type: str | None

    @property
    def year(self) -> int | None:
        """The latest year named; a filing of that year shows the earlier ones too."""
        return max(self.years, default=None)


def asked(question: str) -> Asked:
    """Read a question."""
    as_of = " ".join(AS_OF.findall(question))
    years = years_in(as_of) or years_in(question)
    quarters, dates = quarters_in(question), tuple(dates_in(question))
    said = [kind for kind, pattern in TYPE_ASKED.items() if re.search(pattern, question, re.I)]
    return Asked(tuple(years), quarters[-1] if quarters else None, dates, said[0] if said else None)


def filing_identity(
    doc_name: str, company: object, doc_type: str, doc_period: object, cover: str
) -> FilingIdentity:
    """The identity of one filing.

    Args:
        doc_name, company, doc_type, doc_period: the dataset's record; missing parts are read from the others.
        cover: the text of its first pages.
    """
    cover = cover[:COVER_CHARACTERS]
    spoken = re.sub(r"[_\s]+", " ", doc_name)
    kind = doc_type if doc_type in TYPES else _type_of(doc_name, cover)
    stem = re.split(r"[_\s-]*(?:19|20)\d\d|[_\s-](?:10-?K|10-?Q|8-?K|earnings)", doc_name, flags=re.I)[0]
    printed = cover_names(cover)
    known = company if isinstance(company, str) and company.strip() else (printed or [stem])[0]
    year = _year(doc_period) or (years_in(spoken) or [_cover_year(cover)])[0]
    quarter = None
    if kind in ("10-Q", "earnings"):
        quarter = (quarters_in(spoken) or quarters_in(cover) or [_cover_quarter(cover)])[0]
    names = dict.fromkeys(name for name in (known, stem.replace("_", " "), *printed) if name)
    dates = tuple(dict.fromkeys([*dates_in(spoken), *dates_in(cover[:1500])]))
    return FilingIdentity(doc_name, known, tuple(names), year, quarter, kind, dates)


def _year(period: object) -> int | None:
    found = re.search(r"(?:19|20)\d\d", str(period))
    return int(found.group()) if found else None


def _type_of(doc_name: str, cover: str) -> str:
    for patterns, text in ((TYPE_IN_NAME, doc_name), (TYPE_ON_COVER, cover)):
        found = [(m.start(), kind) for kind, p in patterns.items() if (m := re.search(p, text, re.I))]
        if found:
            return min(found)[1]
    return "other"


def _period_end(cover: str) -> date | None:
    ends = [found for text in PERIOD_ENDED.findall(cover) for found in dates_in(text)]
    return ends[0] if ends else None


def _cover_year(cover: str) -> int | None:
    if dates := [end for end in (_period_end(cover), *dates_in(cover)) if end]:
        return dates[0].year
    return max(years_in(cover), default=None)


def _cover_quarter(cover: str) -> int | None:
    end = _period_end(cover)
    return (end.month - 1) // 3 + 1 if end else None


def filing_identities(filings: pd.DataFrame, pages: pd.DataFrame) -> list[FilingIdentity]:
    """The identity of every filing, in the order of ``filings``; companies of equal names share all their names."""
    covers = pages[pages["page"] < 2].groupby("doc_name", sort=False)["text"].agg("\n".join)
    return [
        filing_identity(row.doc_name, row.company, row.doc_type, row.doc_period, covers.get(row.doc_name, ""))
        for row in filings.itertuples()
    ]


def company_match(questions: list[str], identities: list[FilingIdentity]) -> np.ndarray:
    """How surely each question names each filing's company, shape (n_questions, n_filings)."""
    keys = [" ".join(core_words(identity.company)) for identity in identities]
    names: dict[str, dict[str, None]] = {}
    for key, identity in zip(keys, identities, strict=True):
        names.setdefault(key, {}).update(dict.fromkeys(identity.names))
    matches = match_all(questions, [list(forms) for forms in names.values()])
    column = {key: number for number, key in enumerate(names)}
    return matches[:, [column[key] for key in keys]]

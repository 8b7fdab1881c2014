"""The company, period and type of each filing, those that a question asks about, and how well they fit.

A filing's identity comes from the dataset's records, else from its name, else from its first pages; a question's from
its words alone. Published results depend on two wordings of records: a sentence before a chunk, words that BM25 finds.
"""

import re
from calendar import month_abbr, month_name, monthrange
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.filings.names import core_words, cover_names, name_matches

A_YEAR = r"(?:19[89]|20[0-4])\d"
#: What follows a number that counts; after "in" or "during" it is a year all the same.
COUNTED = "stores|shops|restaurants|hotels|locations|employees|people|workers|customers|countries|vehicles|shares|units"
YEAR = re.compile(
    rf"(?<![\d.,$]){A_YEAR}(?![\d%]|[.,]\d)(?:(?<=\bin \d{{4}})|(?<=\bduring \d{{4}})|(?!\s+(?:{COUNTED})\b))", re.I
)
LONG_YEAR = re.compile(rf"(?:FY|CY|[1-4]Q|Q[1-4]|H[12])\s?['’]?({A_YEAR})", re.I)
SHORT_YEAR = re.compile(r"\b(?:FY|CY|fiscal(?: year)?|[1-4]Q|Q[1-4]|[HQ][12])\s?['’]?(\d{2})\b(?![\d%,.]\d)", re.I)
MONTHS = [name.lower() for name in month_abbr]  # from 1
QUARTER = re.compile(r"(?<![A-Za-z])Q([1-4])|\b([1-4])Q(?=\d|\b)", re.I)
ORDINAL_QUARTER = re.compile(r"\b(first|second|third|fourth)(?:[ -]fiscal)?[ -]quarter", re.I)
HALF = re.compile(r"\bH([12])\b|\b(first|second)[ -]half\b", re.I)
WRITTEN_DATE = re.compile(
    rf"\b({'|'.join([*month_name[1:], *month_abbr[1:]])})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+({A_YEAR})\b", re.I
)
ISO_DATE = re.compile(rf"({A_YEAR})-(\d{{2}})-(\d{{2}})")
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
#: Types of filings, as a file's name, a cover and a question write them.
TYPES = {
    "10-K": (r"10-?K|annual", r"form\s+(?:10-k|20-f|40-f)|annual\s+report", r"\b10-?K\b|annual report"),
    "10-Q": (r"10-?Q", r"form\s+10-q|quarterly\s+report", r"\b10-?Q\b|quarterly report"),
    "8-K": (r"8-?K", r"form\s+(?:8-k|6-k)|current\s+report", r"\b8-?K\b|current report"),
    "earnings": (
        r"earnings|results",
        r"(?:reports|announces|reported)[^.]{0,80}(?:results|quarter|earnings)",
        r"earnings (?:release|call|report)|press release|guidance",
    ),
}
#: A form as a cover and a file's name write it, and which of TYPES those of foreign companies count as.
FORM = re.compile(r"\bform\s+((?:10-?K(?:405|T)?|10-?Q|20-?F|40-?F|8-?K|6-?K)(?:/A)?)(?![A-Za-z0-9])", re.I)
FORM_IN_NAME = re.compile(r"(?<![A-Za-z0-9])(10-?K|10-?Q|20-?F|40-?F|8-?K|6-?K)(?![A-Za-z0-9])", re.I)
FOREIGN_FORMS = {"20-F": "10-K", "40-F": "10-K", "6-K": "8-K"}
REPORTS = {"10-K": "annual report", "10-Q": "quarterly report", "8-K": "current report"}
PERIOD_ENDED = re.compile(r"(?:period|year|quarter|weeks|months)\s+ended[\s:]*([A-Za-z]+\.?\s+\d{1,2},?\s+\d{4})", re.I)
AS_OF = re.compile(r"\bas of\b[^,.;?]{2,30}(?:, (?:19|20)\d\d)?", re.I)
END_OF_STEM = re.compile(r"[_\s-]*(?:19|20)\d\d|[_\s-](?:10-?K|10-?Q|8-?K|earnings)", re.I)
COVER_CHARACTERS, COVER_DATE_CHARACTERS = 4000, 1500
MAX_YEAR_GAP, DAYS_SCALE = 3.0, 7


def years_in(text: str) -> list[int]:
    """The years that a text names, ascending: ``FY22``, ``Q2'23``, ``Q22023``, ``2021``; no money, no counts."""
    years = {int(year) for pattern in (YEAR, LONG_YEAR) for year in pattern.findall(text)}
    short = (int(digits) for digits in SHORT_YEAR.findall(text))
    return sorted(years | {2000 + year if year < 50 else 1900 + year for year in short})


def quarters_in(text: str) -> list[int]:
    """The quarters that a text names, in order of mention; a first half ends with quarter 2, a second with 4."""
    quarters = [(m.start(), int(m[1] or m[2])) for m in QUARTER.finditer(text)]
    quarters += [(m.start(), ORDINALS[m[1].lower()]) for m in ORDINAL_QUARTER.finditer(text)]
    quarters += [(m.start(), 2 * int(m[1] or ORDINALS[m[2].lower()])) for m in HALF.finditer(text)]
    return list(dict.fromkeys(quarter for _, quarter in sorted(quarters)))


def dates_in(text: str) -> list[date]:
    """The full dates that a text names, in order: ``July 1, 2022``, ``2022-07-01``; impossible ones are left out."""
    written = WRITTEN_DATE.finditer(text)
    dates = [(m.start(), int(m[3]), MONTHS.index(m[1].lower()[:3]), int(m[2])) for m in written]
    dates += [(m.start(), *map(int, m.groups())) for m in ISO_DATE.finditer(text)]
    return [date(y, m, d) for _, y, m, d in sorted(dates) if 1 <= m <= 12 and 1 <= d <= monthrange(y, m)[1]]


class Identity(NamedTuple):
    """What is known of a filing, or asked for by a question; the type is one of TYPES, ``other`` or none."""

    year: int | None
    quarter: int | None
    dates: list[date]
    doc_type: str
    doc_name: str = ""
    company: str = ""
    names: tuple[str, ...] = ()
    form: str = ""  # as it is printed, such as 20-F, where it is shown; the type is what is matched

    @property
    def header(self) -> str:
        """A filing in one line, without what is unknown: ``Oskarvale 2023 Q2 10-Q``."""
        kind = {"earnings": "earnings release", "other": ""}.get(self.doc_type, self.doc_type)
        kind = self.form or kind
        parts = self.company, self.year, f"Q{self.quarter}" if self.quarter else "", kind
        return " ".join(str(part) for part in parts if part)


def _first(values: Sequence) -> object:
    return values[0] if values else None


def asked_period(question: str) -> Identity:
    """The period and type of filing that a question names; the year is the latest one after ``as of``, else of all."""
    years = years_in(" ".join(AS_OF.findall(question))) or years_in(question)
    types = [kind for kind, (*_, asked) in TYPES.items() if re.search(asked, question, re.I)]
    year, quarter = _first(years[::-1]), _first(quarters_in(question)[::-1])
    return Identity(year, quarter, dates_in(question), _first(types) or "")


def filing_identity(doc_name: str, company: object, doc_type: str, doc_period: object, cover: str) -> Identity:
    """The identity of a filing by its record; missing parts are read from its name or its first pages' text."""
    cover, spaced_name = cover[:COVER_CHARACTERS], re.sub(r"[_\s]+", " ", doc_name)
    stem, printed = END_OF_STEM.split(doc_name)[0], cover_names(cover)
    recorded_company = company if isinstance(company, str) and company.strip() else (printed or [stem])[0]
    types = [
        (place, match.start(), name)
        for place, text in enumerate((doc_name, cover))
        for name, patterns in TYPES.items()
        if (match := re.search(patterns[place], text, re.I))
    ]
    kind = doc_type if doc_type in TYPES else min(types, default=(0, 0, "other"))[-1]
    recorded = re.search(r"(?:19|20)\d\d", str(doc_period))
    period_ends = [end for text in PERIOD_ENDED.findall(cover) for end in dates_in(text)]
    cover_years = [day.year for day in period_ends or dates_in(cover)] or years_in(cover)[::-1]
    year = int(recorded[0]) if recorded else _first(years_in(spaced_name) or cover_years)
    endings = [(end.month - 1) // 3 + 1 for end in period_ends]
    quarters = quarters_in(spaced_name) or quarters_in(cover) or endings
    quarter = _first(quarters) if kind in ("10-Q", "earnings") else None
    names = dict.fromkeys(name for name in (recorded_company, stem.replace("_", " "), *printed) if name)
    dates = dict.fromkeys([*dates_in(spaced_name), *dates_in(cover[:COVER_DATE_CHARACTERS])])
    return Identity(year, quarter, list(dates), kind, doc_name, recorded_company, tuple(names))


def printed_form(doc_name: str, doc_type: str, cover: str) -> str:
    """The form that a filing's cover, else its name, has for its type: ``20-F`` or ``10-K/A``; else the kind of report.

    Empty where the type is none of a form.
    """
    if doc_type not in REPORTS:
        return ""
    for form in (*FORM.findall(cover[:COVER_CHARACTERS]), *FORM_IN_NAME.findall(doc_name.replace("_", " "))):
        form = re.sub(r"^(\d+)-?", r"\1-", form.upper())
        if FOREIGN_FORMS.get(form.removesuffix("/A"), form).startswith(doc_type):
            return form
    return REPORTS[doc_type]


def with_fiscal_year(filing: Identity, cover: str, fiscal_years: Mapping[date, int]) -> Identity:
    """A filing's identity with the fiscal year that the filing gives the end date on its cover, where it gives one."""
    ends = [end for text in PERIOD_ENDED.findall(cover[:COVER_CHARACTERS]) for end in dates_in(text)]
    years = [fiscal_years[end] for end in ends if end in fiscal_years]
    return filing._replace(year=years[0]) if years else filing


def without_records(filings: pd.DataFrame) -> pd.DataFrame:
    """The filings with company, form and period unknown."""
    return filings.assign(company=None, doc_type="", doc_period=None)


def filing_identities(filings: pd.DataFrame, pages: pd.DataFrame, is_from_covers: bool = False) -> list[Identity]:
    """The identity of every filing, in their order: from records, names of files and first pages, or these alone."""
    covers = pages[pages["page"] < 2].groupby("doc_name", sort=False)["text"].agg("\n".join)
    records = without_records(filings) if is_from_covers else filings
    rows = records[["doc_name", "company", "doc_type", "doc_period"]].itertuples(index=False, name=None)
    return [filing_identity("" if is_from_covers else name, *row, covers.get(name, "")) for name, *row in rows]


def company_match(questions: Sequence[str], identities: Sequence[Identity]) -> np.ndarray:
    """:func:`name_matches` by filing; filings whose companies have equal names share all written forms."""
    companies = pd.Series([" ".join(core_words(identity.company)) for identity in identities])
    numbers, names = companies.factorize()[0], {}
    for number, identity in zip(numbers, identities, strict=True):
        names.setdefault(number, []).extend(identity.names)
    return name_matches(questions, list(names.values()))[:, numbers]


def filings_named(questions: Sequence[str], filings: Sequence[Identity]) -> list[dict[str, tuple[str, ...]]]:
    """The filings of the company that each question names, with the company's names; none where it names none."""
    names = [(*one.names, *(" ".join(core_words(name)) for name in one.names)) for one in filings]
    match = company_match(questions, filings)
    is_named = (match == match.max(axis=1, initial=0, keepdims=True)) & (match > 0)
    return [
        {one.doc_name: forms for one, forms, is_one in zip(filings, names, row, strict=True) if is_one}
        for row in is_named
    ]


def identity_features(questions: Sequence[str], identities: Sequence[Identity]) -> dict[str, np.ndarray]:
    """How well each filing's identity fits each question, each of shape (n_questions, n_filings); unknown is NaN.

    company is 0 to 1, company_named the best company's, year_gap the years that the filing is later, quarter_fit -1, 0
    or 1, days those between nearest dates, identity the sum of all by untrained weights.
    """
    company, asked = company_match(questions, identities), [asked_period(question) for question in questions]
    of_questions, of_filings = (pd.DataFrame(them, columns=Identity._fields) for them in (asked, identities))
    years, quarters, types = (of_questions[[name]].to_numpy() for name in ("year", "quarter", "doc_type"))
    year_gap = (of_filings["year"].to_numpy(float) - years.astype(float)).astype(np.float32)
    is_same = np.where(of_filings["quarter"].isna(), 0, np.where(of_filings["quarter"].to_numpy() == quarters, 1, -1))
    quarter_fit = np.where(pd.isna(quarters), np.nan, is_same).astype(np.float32)
    type_fit = np.where(types == "", np.nan, of_filings["doc_type"].to_numpy() == types).astype(np.float32)
    apart = [[[abs((a - b).days) for a in one.dates for b in it.dates] for it in identities] for one in asked]
    days = np.array([[min(gaps, default=np.nan) for gaps in row] for row in apart], np.float32)
    distance, near_date = np.minimum(np.abs(year_gap), MAX_YEAR_GAP), np.exp(-days / DAYS_SCALE)
    identity = 4.0 * company - 1.5 * np.nan_to_num(distance) + np.nan_to_num(quarter_fit)
    identity = (identity + 0.5 * np.nan_to_num(type_fit) + np.nan_to_num(near_date)).astype(np.float32)
    return {
        "company": company,
        "company_named": np.broadcast_to(company.max(axis=1, initial=0, keepdims=True), company.shape),
        "year_gap": year_gap,
        "quarter_fit": quarter_fit,
        "type_fit": type_fit,
        "days": days,
        "identity": identity,
        "identity_gap": identity - identity.max(axis=1, keepdims=True),
        "same_year": year_gap == 0,
        "near_year": MAX_YEAR_GAP / 2 - np.nan_to_num(distance, nan=MAX_YEAR_GAP / 2),
        "near_date": np.nan_to_num(near_date),
    }


def sentences(filings: pd.DataFrame) -> dict[str, str]:
    """The metadata of each filing as one sentence: ``3M 10-K of fiscal year 2018 (Industrials).``, by doc_name."""
    sentence_of = {}
    for row in filings.itertuples():
        period = "" if pd.isna(row.doc_period) else f" of fiscal year {int(row.doc_period)}"
        sector = "" if pd.isna(row.sector) else f" ({row.sector})"
        sentence_of[row.doc_name] = f"{row.company} {row.doc_type}{period}{sector}."
    return sentence_of

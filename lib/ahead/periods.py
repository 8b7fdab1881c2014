"""Years, quarters and dates as questions and filings write them."""

import re
from calendar import monthrange
from datetime import date

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = r"(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber"
YEAR = re.compile(r"(?<![\d.,$])(?:19[89]\d|20[0-4]\d)(?![\d%]|[.,]\d)")
LONG_YEAR = re.compile(r"(?:FY|CY|[1-4]Q|Q[1-4]|H[12])\s?['’]?((?:19[89]|20[0-4])\d)", re.I)
SHORT_YEAR = re.compile(
    r"\b(?:FY|CY|fiscal(?: year)?|[1-4]Q|Q[1-4]|[HQ][12])\s?['’]?(\d{2})\b(?![\d%,.]\d)", re.I
)
QUARTER = re.compile(r"(?<![A-Za-z])Q([1-4])|\b([1-4])Q(?=\d|\b)", re.I)
ORDINAL_QUARTER = re.compile(r"\b(first|second|third|fourth)(?:[ -]fiscal)?[ -]quarter", re.I)
HALF = re.compile(r"\bH([12])\b|\b(first|second)[ -]half\b", re.I)
WRITTEN_DATE = re.compile(
    rf"\b({_MONTH}|{'|'.join(MONTHS)})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+((?:19[89]|20[0-4])\d)\b", re.I
)
ISO_DATE = re.compile(r"((?:19[89]|20[0-4])\d)-(\d{2})-(\d{2})")
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def years_in(text: str) -> list[int]:
    """The years that a text names, ascending: ``FY2018``, ``FY22``, ``Q2'23``, ``4Q22``, ``Q22023``, ``2021``.

    A number that is money or part of a larger number (``$2,018``) is not a year.
    """
    found = {int(year) for pattern in (YEAR, LONG_YEAR) for year in pattern.findall(text)}
    short = (int(digits) for digits in SHORT_YEAR.findall(text))
    return sorted(found | {2000 + year if year < 50 else 1900 + year for year in short})


def quarters_in(text: str) -> list[int]:
    """The quarters that a text names, in order of mention; a first half ends with quarter 2, a second with 4."""
    found = [(m.start(), int(m[1] or m[2])) for m in QUARTER.finditer(text)]
    found += [(m.start(), ORDINALS[m[1].lower()]) for m in ORDINAL_QUARTER.finditer(text)]
    found += [(m.start(), 2 * (int(m[1]) if m[1] else ORDINALS[m[2].lower()])) for m in HALF.finditer(text)]
    return list(dict.fromkeys(quarter for _, quarter in sorted(found)))


def dates_in(text: str) -> list[date]:
    """The full dates that a text names, in order: ``July 1, 2022``, ``2022-07-01``; impossible ones are left out."""
    found = [
        (m.start(), int(m[3]), 1 + MONTHS.index(m[1].lower()[:3]), int(m[2]))
        for m in WRITTEN_DATE.finditer(text)
    ]
    found += [(m.start(), *map(int, m.groups())) for m in ISO_DATE.finditer(text)]
    return [date(y, m, d) for _, y, m, d in sorted(found) if 1 <= m <= 12 and 1 <= d <= monthrange(y, m)[1]]

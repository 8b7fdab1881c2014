"""Years, quarters and dates as questions and filings write them."""

import re
from datetime import date

MONTHS = (
    "january february march april may june july august september october november december".split()
)  # fmt: skip
_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
YEAR = re.compile(r"(?<![\d.,$])(?:19[89]\d|20[0-4]\d)(?![\d%]|[.,]\d)")
SHORT_YEAR = re.compile(
    r"\b(?:FY|CY|fiscal(?: year)?|[1-4]Q|Q[1-4]|[HQ][12])\s?['’]?(\d{2})\b(?![\d%,.]\d)", re.I
)
LONG_YEAR = re.compile(r"(?:FY|CY|[1-4]Q|Q[1-4]|H[12])\s?['’]?((?:19[89]|20[0-4])\d)", re.I)
QUARTER = re.compile(r"(?<![A-Za-z])Q([1-4])|\b([1-4])Q(?=\d|\b)", re.I)
ORDINAL_QUARTER = re.compile(r"\b(first|second|third|fourth)(?:[ -]fiscal)?[ -]quarter", re.I)
HALF = re.compile(r"\bH([12])\b|\b(first|second)[ -]half\b", re.I)
WRITTEN_DATE = re.compile(
    rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+((?:19[89]|20[0-4])\d)\b", re.I
)
ISO_DATE = re.compile(r"((?:19[89]|20[0-4])\d)-(\d{2})-(\d{2})")
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def years_in(text: str) -> list[int]:
    """The years that a text names, ascending: ``FY2018``, ``FY22``, ``Q2'23``, ``4Q22``, ``Q22023``, ``2021``.

    A number in a year's place that is money or part of a larger number (``$2,018``) is not a year.
    """
    found = {int(year) for year in YEAR.findall(text)} | {int(year) for year in LONG_YEAR.findall(text)}
    for digits in SHORT_YEAR.findall(text):
        found.add(2000 + int(digits) if int(digits) < 50 else 1900 + int(digits))
    return sorted(found)


def quarters_in(text: str) -> list[int]:
    """The quarters that a text names, in order of mention; a first half ends with quarter 2, a second with 4."""
    found = [(m.start(), int(m.group(1) or m.group(2))) for m in QUARTER.finditer(text)]
    found += [(m.start(), ORDINALS[m.group(1).lower()]) for m in ORDINAL_QUARTER.finditer(text)]
    for m in HALF.finditer(text):
        found.append((m.start(), 2 * (int(m.group(1)) if m.group(1) else ORDINALS[m.group(2).lower()])))
    return list(dict.fromkeys(quarter for _, quarter in sorted(found)))


def dates_in(text: str) -> list[date]:
    """The full dates that a text names, in order: ``July 1, 2022``, ``2022-07-01``; impossible ones are left out."""
    found = []
    for m in WRITTEN_DATE.finditer(text):
        month = next(n for n, name in enumerate(MONTHS, 1) if name.startswith(m.group(1).lower()[:3]))
        found.append((m.start(), int(m.group(3)), month, int(m.group(2))))
    found += [(m.start(), *map(int, m.groups())) for m in ISO_DATE.finditer(text)]
    return [date(y, m, d) for _, y, m, d in sorted(found) if 1 <= m <= 12 and 1 <= d <= _days(y, m)]


def _days(year: int, month: int) -> int:
    return (date(year + month // 12, month % 12 + 1, 1) - date(year, month, 1)).days

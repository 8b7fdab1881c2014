"""The fiscal years of a filing's own end dates: a year that ended on January 28, 2024, may be fiscal 2023.

A filing says so itself, as in "Our fiscal 2023 is the 52 weeks ended January 28, 2024".
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from lib.filings.identity import A_YEAR, dates_in

DATE = r"[A-Z][A-Za-z]{2,8}\.? \d{1,2},? (?:19|20)\d\d\b"
#: Words between a fiscal year and the end of its period, and none that compare or begin another thought.
LINKS = (
    r"(?:[\s,():–—“”\"'’‘-]|\b(?:is|was|are|were|the|a|an|our|we|which|that|year|years|fiscal|period|periods|consist(?:s|ed)"
    r"|compris(?:es|ed|ing)|of|include[sd]?|including|contain(?:s|ed)|represent(?:s|ed)|means?|refers?|referred|to|as|for|on"
    r"|and|weeks?|months?|1[1-4]|26|39|5[23]|fifty|two|three|twelve|thirteen|end(?:s|ed|ing)|herein|hereinafter)\b)"
)
NAMED_BEFORE = re.compile(
    rf"\bfiscal(?:\s+year)?\s+({A_YEAR})\b{LINKS}{{1,40}}?\bend(?:s|ed|ing)\s+(?:on\s+)?({DATE})", re.I
)
NAMED_BEHIND = re.compile(
    rf"\bend(?:s|ed|ing)\s+(?:on\s+)?({DATE})\s*,?\s*(?:(?:is|are|was|as|(?:is\s+|are\s+)?referred\s+to\s+as)\s+|\(\s*)"
    rf"[“\"'‘]?(?:our\s+|the\s+)?fiscal(?:\s+year)?\s+({A_YEAR})\b",
    re.I,
)
#: "fiscal years 2023, 2022 and 2021 ended on January 28, 2024, January 29, 2023 and January 30, 2022".
LISTED = re.compile(
    rf"\bfiscal(?:\s+years?)?\s+((?:{A_YEAR}(?:,\s+and\s+|,\s+|\s+and\s+)?){{2,5}})\s*(?:\w+\s+){{0,4}}?end(?:ed|ing)\s+(?:on\s+)?"
    rf"((?:{DATE}(?:,\s+and\s+|,\s+|\s+and\s+)?){{2,5}})",
    re.I,
)
FISCAL = re.compile(rf"\bfiscal(?:\s+year)?\s+({A_YEAR})\b", re.I)
YEAR_ENDED = re.compile(rf"\byear\s+ended[\s:]*({DATE})", re.I)
LAST_DAY = (2, 10)  # month and day up to which a year may be named after the year before
DAYS_APART = 8  # of a year's end from the same day of another year: years of 52 or 53 weeks


def fiscal_years(texts: Sequence[str]) -> dict[date, int]:
    """The fiscal year of each end date for which a filing's pages give one.

    They do so in sentences, for the same day in other years, and, where the year on the cover ends by LAST_DAY and no
    sentence says more, by naming the year before more often.
    """
    flat = [" ".join(text.split()) for text in texts]
    told = Counter(pair for text in flat for pair in _told(text))
    years: dict[date, int] = {}
    for (end, year), _ in told.most_common():
        others = [_years_apart(known, end) in (None, known_year - year) for known, known_year in years.items()]
        if abs(end.year - year) <= 1 and end not in years and all(others):
            years[end] = year
    years |= _named_more_often(flat, years)
    return dict(sorted((years | _same_days(flat, years)).items()))


def _told(text: str) -> Iterator[tuple[date, int]]:
    """End dates and fiscal years that sentences join."""
    if "iscal" not in text and "ISCAL" not in text:
        return
    for match in NAMED_BEFORE.finditer(text):
        yield from ((end, int(match[1])) for end in dates_in(match[2]))
    for match in NAMED_BEHIND.finditer(text):
        yield from ((end, int(match[2])) for end in dates_in(match[1]))
    for match in LISTED.finditer(text):
        years, ends = re.findall(A_YEAR, match[1]), dates_in(match[2])
        if len(years) == len(ends):
            yield from zip(ends, map(int, years), strict=True)


def _named_more_often(texts: Sequence[str], told: dict[date, int]) -> dict[date, int]:
    """The year before, for the end date on the cover that is by LAST_DAY, where the filing names it more often."""
    ends = [end for text in texts[:2] for period in YEAR_ENDED.findall(text) for end in dates_in(period)]
    ends = [end for end in ends if (end.month, end.day) <= LAST_DAY and end not in told]
    if not ends:
        return {}
    named = Counter(int(year) for text in texts for year in FISCAL.findall(text))
    return {end: end.year - 1 for end in ends if named[end.year - 1] > named[end.year]}


def _same_days(texts: Sequence[str], years: dict[date, int]) -> dict[date, int]:
    """The fiscal years of other dates of the filing that are on the days of those known, in other years."""
    if not years:
        return {}
    found = {}
    for end in {end for text in texts for end in dates_in(text)} - years.keys():
        for known, year in years.items():
            if n_years := _years_apart(known, end):
                found.setdefault(end, year - n_years)
    return found


def _years_apart(later: date, end: date) -> int | None:
    """By how many years a date is later than another one on about the same day of the year; None on other days."""
    n_days = (later - end).days
    n_years = round(n_days / 365.25)
    return n_years if abs(n_days - n_years * 365.25) <= DAYS_APART else None

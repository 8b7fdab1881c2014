"""Whose filing it is and for when, as lines of text, and the years that a text names.

The lines differ in wording, as published results depend on each: a sentence that is put before a chunk, and words that
BM25 finds.
"""

import re

import pandas as pd

A_YEAR = r"(?:19[89]|20[0-4])\d"
#: What follows a number that counts; after "in" or "during" it is a year all the same.
COUNTED = "stores|shops|restaurants|hotels|locations|employees|people|workers|customers|countries|vehicles|shares|units"
YEAR = re.compile(
    rf"(?<![\d.,$]){A_YEAR}(?![\d%]|[.,]\d)(?:(?<=\bin \d{{4}})|(?<=\bduring \d{{4}})|(?!\s+(?:{COUNTED})\b))",
    re.I,
)
LONG_YEAR = re.compile(rf"(?:FY|CY|[1-4]Q|Q[1-4]|H[12])\s?['’]?({A_YEAR})", re.I)
SHORT_YEAR = re.compile(
    r"\b(?:FY|CY|fiscal(?: year)?|[1-4]Q|Q[1-4]|[HQ][12])\s?['’]?(\d{2})\b(?![\d%,.]\d)", re.I
)


def sentences(filings: pd.DataFrame) -> dict[str, str]:
    """The metadata of each filing as one sentence: ``3M 10-K of fiscal year 2018 (Industrials).``, by doc_name."""
    made = {}
    for row in filings.itertuples():
        period = "" if pd.isna(row.doc_period) else f" of fiscal year {int(row.doc_period)}"
        sector = "" if pd.isna(row.sector) else f" ({row.sector})"
        made[row.doc_name] = f"{row.company} {row.doc_type}{period}{sector}."
    return made


def search_words(filings: pd.DataFrame) -> pd.Series:
    """The metadata of each filing as a question may word them: ``3M 2018 fy2018 10-K``, by doc_name."""
    filings = filings.set_index("doc_name")
    period = filings["doc_period"].map(lambda year: "" if pd.isna(year) else f"{int(year)} fy{int(year)}")
    return filings["company"] + " " + period + " " + filings["doc_type"]


def years_in(text: str) -> list[int]:
    """The years that a text names, ascending: ``FY2018``, ``FY22``, ``Q2'23``, ``4Q22``, ``Q22023``, ``2021``.

    A number that is money, part of a larger number (``$2,018``) or counts (``2000 stores``) is not a year.
    """
    found = {int(year) for pattern in (YEAR, LONG_YEAR) for year in pattern.findall(text)}
    short = (int(digits) for digits in SHORT_YEAR.findall(text))
    return sorted(found | {2000 + year if year < 50 else 1900 + year for year in short})

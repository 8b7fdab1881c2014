"""Whose filing it is and for when, as lines of text, and the years that a text names.

The lines differ in wording, as published results depend on each: a sentence that is put before a chunk, and words that
BM25 finds.
"""

import re

import pandas as pd

YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)|(?i:\bFY\s?'?(\d{2})\b)")


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


def years_named(text: str) -> set[int]:
    """The years that a text names: four digits, or two after ``FY``."""
    return {2000 + int(match[1]) if match[1] else int(match[0][-4:]) for match in YEAR.finditer(text)}

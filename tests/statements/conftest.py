"""Answers from pages of one invented filing."""

from lib.statements.rows import sheet
from lib.statements.sure import Reading, reading

NORVANE = {"NORVANE_2023_10K": ("Norvane",)}


def norvane(question: str, text: str, **about) -> Reading:
    """The reading of a question from one page of Norvane's annual report."""
    return reading(question, NORVANE, [sheet("NORVANE_2023_10K", 3, 2023, text, **about)])

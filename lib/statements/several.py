"""A question that asks for two figures, as two questions that each stand alone, and one answer to both."""

import re
from collections.abc import Sequence

from lib.filings.identity import asked_period
from lib.metrics.answers import asked_unit
from lib.statements.asked import OPERATORS, Wanted, asked_for, end_of, months_of, sentences_of, without_names
from lib.statements.formulas import spoken
from lib.statements.grammar import clean, tokens_in
from lib.statements.reading import Result, read
from lib.statements.rows import Sheet

#: Where the second question begins.
SECOND = re.compile(
    r",?\s+and\s+(?:also\s+)?(?=(?:by\s+)?(?:how|what)\b)|[?]\s+(?:and\s+)?(?=(?:by\s+)?(?:how|what)\b)", re.I
)
THAT = re.compile(r"\b(?:that(?: figure| amount| number)?|this|it|they|those|these)\b", re.I)
HALF = re.compile(r"\bhalf\b|\bh[12]\b", re.I)
IN_SHARES = re.compile(r"percent|%|share|times", re.I)
#: Tokens that make more of a question than one line item or formula in one period.
JOINING = OPERATORS | {"SHARE", "COVER", "COVERED_BY", "PER_DOLLAR", "DIFFERENCE", "SUM", "MARGIN", "MORE", "LESS"}
JOINING |= {"TOGETHER", "GROWTH", "MOVE", "COMPOUND", "YEARS_AVERAGE"}
ORDINALS = ("first", "second", "third", "fourth")


def questions_in(question: str, names: Sequence[str]) -> list[str]:
    """The questions that a text asks: two where a second one is of the only thing that the first one names, or names
    another; else the text itself. The second gets the year or quarter of the first where it names none; where a period
    of another kind, or a unit, holds for both, they are not taken apart."""
    matches = [*SECOND.finditer(question)]
    if len(matches) != 1:
        return [question]
    (match,) = matches
    first = f"{question[: match.start()]}?"
    second, _, rest = question[match.end() :].partition("?")
    about = [token for one in sentences_of(without_names(first, names)) for token in tokens_in(clean(one))]
    subjects = [token for token in about if token.kind == "NAME"]
    is_named = any(token.kind == "NAME" for token in tokens_in(clean(without_names(second, names))))
    if not is_named:
        is_one = len(subjects) == 1 and not JOINING & {token.kind for token in about}
        if not (is_one and THAT.search(second)):
            return [question]
        second = THAT.sub(subjects[0].text, second, count=1)
    period = period_of(first, second)
    if not subjects or period is None or (asked_unit(first) > 1 and not IN_SHARES.search(second)):
        return [question]
    if names and not any(name.lower() in second.lower() for name in names):
        second = f"{second} at {max(names, key=len)}"
    return [f"{first}{rest}", f"{period}{second}?{rest}"]


def period_of(first: str, second: str) -> str | None:
    """The words for the first question's year or quarter, where the second one has none of its own or one to compare
    with; None where the first one has no year, or is of other months or of a day."""
    period, other = asked_period(first), asked_period(second)
    is_quarter = bool(period.quarter) and not HALF.search(first)
    length = months_of(spoken(first), first)
    if period.year is None or end_of(first, period.year) or not (length in (None, 12) or (length == 3 and is_quarter)):
        return None
    if period.year == other.year:
        return ""
    quarter = f"the {ORDINALS[period.quarter - 1]} quarter of " if period.quarter else ""
    return f"In {quarter}{period.year}, "  # in front, as what comes after *than* is the other one


def answer_to(
    question: str, names: Sequence[str], sheets: Sequence[Sheet], has_formulas: bool = True
) -> tuple[Wanted, Result]:
    """What a question about a company with these names asks for, first, and the answer to all of it from pages' tables,
    best page first."""
    parts = [asked_for(one, names) for one in questions_in(question, names)]
    results = [read(one, sheets, has_formulas) for one in parts]
    return parts[0], results[0] if len(results) == 1 else both(results)


def both(results: Sequence[Result]) -> Result:
    """The answers to all parts as one; where a part was not read, those that were, and why it was not."""
    read = [one for one in results if one.text]
    cells = tuple(dict.fromkeys(cell for one in read for cell in one.cells))
    why_not = "" if read else next((one.why_not for one in results if one.why_not), "")
    return Result(" and ".join(one.text for one in read), why_not, "; ".join(one.formula for one in results), cells)

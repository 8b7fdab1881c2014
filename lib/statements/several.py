"""A question that asks for two figures, as two questions that each stand alone, and one answer to both."""

import re
from collections.abc import Sequence

from lib.filings.identity import asked_period
from lib.statements.asked import Wanted, asked_for, sentences_of, without_names
from lib.statements.grammar import Token, clean, tokens_in
from lib.statements.reading import Result, read
from lib.statements.rows import Sheet

#: Where the second question begins.
SECOND = re.compile(
    r",?\s+and\s+(?:also\s+)?(?=(?:by\s+)?(?:how|what)\b)|[?]\s+(?:and\s+)?(?=(?:by\s+)?(?:how|what)\b)", re.I
)
THAT = re.compile(r"\b(?:that(?: figure| amount| number)?|this|it|they|those|these)\b", re.I)
ORDINALS = ("first", "second", "third", "fourth")


def questions_in(question: str, names: Sequence[str]) -> list[str]:
    """The questions that a text asks: two where a second one is of what the first one names, or names another; else the
    text itself. The second gets the period of the first where it names none."""
    matches = [*SECOND.finditer(question)]
    if len(matches) != 1:
        return [question]
    (match,) = matches
    first = f"{question[: match.start()]}?"
    second, _, rest = question[match.end() :].partition("?")
    about = [*map(named, sentences_of(without_names(first, names)))]
    subject = next(filter(None, about), None)
    if subject is None:
        return [question]
    if not named(without_names(second, names)):
        if not THAT.search(second):
            return [question]
        second = THAT.sub(subject.text, second, count=1)
    if names and not any(name.lower() in second.lower() for name in names):
        second = f"{second} at {max(names, key=len)}"
    return [f"{first}{rest}", f"{second}{period_of(first, second)}?{rest}"]


def named(sentence: str) -> Token | None:
    """The first line item or formula that a sentence names."""
    return next((token for token in tokens_in(clean(sentence)) if token.kind == "NAME"), None)


def period_of(first: str, second: str) -> str:
    """The words for the first question's period, where the second has no year of its own or one to compare with."""
    period, other = asked_period(first), asked_period(second)
    if period.year is None or period.year == other.year:
        return ""
    quarter = f"the {ORDINALS[period.quarter - 1]} quarter of " if period.quarter else ""
    return f" in {quarter}{period.year}"


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

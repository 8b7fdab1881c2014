"""Printed figures: numbers in the styles of the world, dashes, per cents and marks of footnotes."""

import re
from calendar import month_name
from collections.abc import Iterable

from lib.text.characters import plain

#: Signs that stand for a minus, and spaces within a number.
MINUS, SPACES = "-−–—‒‑", "    "
_SIGN, _GAP = f"[{MINUS}]", f"[ {SPACES}]"
_DIGITS = rf"\d{{1,3}}(?:{_GAP}\d{{3}})+(?:[.,]\d+)?|\d(?:[\d.,'’]*\d)?|[.,]\d+"
FIGURE = re.compile(
    rf"(?P<open>\()?{_GAP}*(?P<sign>{_SIGN})?{_GAP}*(?P<digits>{_DIGITS}){_GAP}*(?P<behind>{_SIGN}(?!\d))?{_GAP}*%?"
    rf"{_GAP}*(?P<close>\))?{_GAP}*%?"
)
DASH = re.compile(rf"{_SIGN}+|(?:nil|n/?[am]|nm)\.?", re.I)
#: A mark of a footnote that stands as a cell of its own.
#: or the number of a note with letters, such as 4(a) and F1.
MARK = re.compile(
    r"(?:\((?:\d{1,2}|[a-z]{1,3})\)|[*†‡§¹²³]|\[\d{1,2}\]|\d{1,2}(?:\.\d{1,2})?(?:\([a-z]{1,3}\)|[a-e])|"
    r"[A-FI-PR-Z]\d{1,2}(?:\.\d{1,2})?(?:\([a-z]{1,3}\))?),?\s*"
)
RAISED = re.compile(r"(?<=[\d)%])[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[,⁾][⁰¹²³⁴⁵⁶⁷⁸⁹]+)*")
NUMBERED = re.compile(r"\(\d{1,2}\)")
_DATE = re.compile(r"(?<![\w/.-])(\d{1,2})([/.])(\d{1,2})\2((?:19|20)\d\d)\d?(?![\w/]|[.-]\d)")
_FROM_TO = re.compile(
    rf"(?<![\w/.-])1\.(\d{{1,2}})\.(?:(?:19|20)\d\d)?{_GAP}*{_SIGN}{_GAP}*"
    r"(?=\d{1,2}\.(\d{1,2})\.(?:19|20)\d\d)"
)
_LENGTHS = {3: "Three", 6: "Six", 9: "Nine", 12: "Twelve"}
ENGLISH, CONTINENTAL = ",.", ".,"  # thousands' sign, decimal sign
_IS_ENGLISH = re.compile(r"\d{1,3}(?:,\d{3}){2,}|\d,\d{3}\.\d+|(?<![\d.,])\d+\.\d{1,2}(?!\d)")
_IS_CONTINENTAL = re.compile(r"\d{1,3}(?:\.\d{3}){2,}|\d\.\d{3},\d+|(?<![\d.,])\d+,\d{1,2}(?!\d)")
_THOUSANDS = {
    ENGLISH: re.compile(r"\d{1,3}(?:,\d{3})+"),
    CONTINENTAL: re.compile(r"\d{2,3}(?:\.\d{3})+|\d{1,3}(?:\.\d{3}){2,}"),
}


def is_figure(text: str) -> bool:
    """Whether a cell is one figure or a dash, without its currency."""
    return bool(FIGURE.fullmatch(text) or DASH.fullmatch(text))


def style_of(texts: Iterable[str]) -> tuple[str, bool]:
    """The signs for thousands and decimals of a page's figures, and whether they are sure: some figures can be read in
    one style only, or most have whole thousands in it."""
    texts = list(texts)
    english, continental = (sum(bool(sure.search(text)) for text in texts) for sure in (_IS_ENGLISH, _IS_CONTINENTAL))
    if english == continental:
        plain = [text.strip("()- %") for text in texts]
        english, continental = (sum(bool(whole.fullmatch(text)) for text in plain) for whole in _THOUSANDS.values())
    return CONTINENTAL if continental > english else ENGLISH, english != continental


def is_ambiguous(text: str) -> bool:
    """Whether a figure is thousands in one style and has three decimals in the other: ``1.234``."""
    return bool(re.fullmatch(r"\(?\D?\d{1,3}\.\d{3}\D*", text))


def number(text: str, style: str = ENGLISH) -> float | None:
    """The value of a printed figure: negative in parentheses or with a minus before or behind it; 0 for a dash, None
    for what is no figure."""
    if DASH.fullmatch(text):
        return 0.0 if text[0] in MINUS else None
    if (match := FIGURE.fullmatch(text)) is None:
        return None
    thousands, decimal = style
    digits = re.sub(rf"[{SPACES}'’ ]", "", match["digits"])
    if not re.fullmatch(
        rf"\d{{1,3}}(?:[{thousands}]\d{{2,3}})*[{thousands}]\d{{3}}(?:[{decimal}]\d+)?|\d*(?:[{decimal}]\d+)?", digits
    ):
        return None
    digits = digits.replace(thousands, "").replace(decimal, ".")
    is_negative = bool(match["open"] and match["close"]) or bool(match["sign"] or match["behind"])
    return -float(digits) if is_negative else float(digits)


def readable(text: str) -> str:
    """A text in plain characters with one kind of space, dates of numbers in words, and without the raised marks of
    footnotes behind figures."""
    text = RAISED.sub("", re.sub(r"[^\S\n]", " ", plain(text)))
    return _DATE.sub(_date_in_words, _FROM_TO.sub(_period_in_words, text))


def _period_in_words(match: re.Match) -> str:
    """``1.1.-31.12.2022`` as Twelve months ended and its last day."""
    length = (int(match[2]) - int(match[1])) % 12 + 1
    return f"{_LENGTHS[length]} months ended " if length in _LENGTHS else match[0]


def _date_in_words(match: re.Match) -> str:
    """``3/25/2023`` as March 25, 2023, ``31.12.2022`` as December 31, 2022; the year alone where the month is open. The
    mark of a footnote may stand behind the year."""
    first, point, second, year = int(match[1]), match[2], int(match[3]), match[4]
    day, month = (first, second) if point == "." or first > 12 else (second, first)
    is_open = point == "/" and first != second and max(first, second) <= 12
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match[0]
    return year if is_open else f"{month_name[month]} {day}, {year}"

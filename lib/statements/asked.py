"""What a question asks for: a formula over line items, a period, a unit and how many digits.

By rules: a definition that the question gives comes first, then a share or a ratio of two things, a formula of the
library, a line item; what is none of these is looked for among the rows' labels, word by word.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path

from lib.files import read_yaml
from lib.filings.identity import asked_period, quarters_in, years_in
from lib.metrics.answers import asked_unit
from lib.statements.formulas import (
    at,
    formula_named,
    in_symbols,
    item_named,
    names_in,
    previous,
    ratio,
    spoken,
    with_ending_balances,
)

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}
MONTHS = {"three": 3, "six": 6, "nine": 9, "twelve": 12}
UNSAID = "what is asked"
#: Words before an item that leave it what it is.
WIDER = {*"total net gross consolidated overall annual full actual average operating year end s".split()}
_FILE = read_yaml(Path(__file__).with_name("asked.yaml"))
OF_TWO = [(form, "".join(pieces)) for form, *pieces in _FILE.pop("of_two")]
_PATTERNS = {name: re.compile("".join(pieces), re.I) for name, pieces in _FILE.items()}
DEFINED, BRACKETED, FILLER, SAID, LEGAL = map(_PATTERNS.get, "defined bracketed filler said legal".split())
GROWTH, CHANGE, AVERAGE, COMPOUND = map(_PATTERNS.get, "growth change average compound".split())
AT_END, DIGITS, IN_PERCENT = map(_PATTERNS.get, "at_end digits in_percent".split())
_SYMBOL = re.compile(r"[×÷*/+]|\s[-–−]\s|\b(?:plus|minus|less|divided)\b")


@dataclass(frozen=True)
class Wanted:
    """What is asked for; ``rows`` are the words to look for by name in the formula, of items beside their labels."""

    formula: str
    year: int | None
    months: int | None
    form: str  # percent, ratio, money or days; empty for what a row has
    unit: float | None  # in which an amount is asked for
    digits: int | None
    rows: dict[str, str] = field(default_factory=dict)
    source: str = ""  # question, library, two, item or row
    quarter: int | None = None  # of the fiscal year
    end: date | None = None  # of the period
    currency: str = ""  # ISO 4217


def asked_for(question: str, names: Sequence[str]) -> Wanted:
    """What a question asks for; the company's names are no part of that."""
    rows: dict[str, str] = {}
    name_of = partial(formula_of, names=names, rows=rows)
    text, definition, source = spoken(question), definition_in(question), ""
    if definition and (formula := in_symbols(definition, partial(name_of, is_defined=True))):
        form, source = "", "question"
    else:
        rows.clear()
        formula, form, source = named(asking_sentence(question, names), partial(name_of, is_defined=False))
    if AT_END.search(text) and source != "question":
        formula = with_ending_balances(formula)
    years = years_in(question.replace(definition, " ") if definition else question) or years_in(question)
    formula, form = over_time(text, formula, form, years, bool(definition))
    if source == "question" and "/" in formula:
        form = "percent" if IN_PERCENT.search(text.partition("defined")[0]) else "ratio"
    unit, period = asked_unit(question), asked_period(question)
    return Wanted(
        formula=formula,
        year=years[-1] if years and (COMPOUND.search(text) or len(years) > 1) else period.year,
        months=months_of(text, question),
        form=form,
        unit=unit if unit > 1 else None,
        digits=n_digits(text),
        rows={name: words for name, words in rows.items() if name in names_in(formula)},
        source=source,
        quarter=period.quarter,
        end=period.dates[-1] if period.dates else None,
    )


def asking_sentence(question: str, names: Sequence[str]) -> str:
    """The spoken sentence that asks: of those that name a formula or an item, else of all, the first with a ``?``."""
    sentences = [part for part in re.split(r"(?<=[?!;])\s+|(?<=[.])\s+(?=[A-Z])", question) if part.strip()]
    read = [(without(spoken(part), names), part) for part in sentences] or [(spoken(question), question)]
    return min(read, key=lambda one: (not (formula_named(one[0]) or item_named(one[0])), "?" not in one[1]))[0]


def definition_in(question: str) -> str | None:
    """The words in which a question defines what it asks for; None where it defines nothing."""
    definitions = [match["what"] for match in DEFINED.finditer(question)] + BRACKETED.findall(question)
    return max(filter(_SYMBOL.search, definitions), key=len, default=None)


def n_digits(text: str) -> int | None:
    """Digits behind the point that a spoken question asks for."""
    if (match := DIGITS.search(text)) is None:
        return None
    number, place = match.groups()
    if number:
        return int(number) if number.isdigit() else {"one": 1, **NUMBERS}[number]
    return {"tenth": 1, "hundredth": 2}.get(place, 0)


def months_of(text: str, question: str) -> int | None:
    """The length of the period that is asked about, where a question names one."""
    if match := re.search(r"\b(three|six|nine|twelve) months?\b", text):
        return MONTHS[match[1]]
    if re.search(r"\b(?:first|second) half\b|\bh[12]\b", text):
        return 6
    if re.search(r"\byear to date\b|\bytd\b", text):
        return None
    if quarters_in(question) or "quarter" in text:
        return 3
    return 12 if re.search(r"\b(?:fy|fiscal|annual)", text) else None


def without(text: str, names: Sequence[str]) -> str:
    """A spoken text without a company's names and what names a statement."""
    for name in sorted(map(spoken, names), key=len, reverse=True):
        text = re.sub(rf"\b{re.escape(name)}(?: s)?\b", " ", text) if len(name) > 1 else text
    return " ".join(LEGAL.sub(" ", SAID.sub(" ", text)).split())


def named(text: str, name_of: Callable[[str], str]) -> tuple[str, str, str]:
    """The formula that a spoken question asks for, its form and its source."""
    formula, form, words = formula_named(text) or ("", "", "")
    for form_of_two, pattern in OF_TWO:
        if match := re.search(pattern, text):
            top, bottom = (match[part].strip() or UNSAID for part in ("top", "bottom"))
            is_formula = formula and words in top and form != "money"
            if not is_formula and (item_named(top) or formula) and item_named(bottom):
                return ratio(name_of(top), name_of(bottom)), form_of_two, "two"
    if formula:
        return formula, form, "library"
    formula = name_of(text or UNSAID)
    return formula, "", "row" if formula.startswith("row_") else "item"


def formula_of(phrase: str, names: Sequence[str], rows: dict[str, str], is_defined: bool) -> str:
    """A phrase as a formula: a number, a formula of the library, a line item, or a row by its words. In a definition
    ``average ...`` and ``change in ...`` are of two periods, and years within the phrase are kept."""
    if re.fullmatch(r"[\d,.]+%?", phrase.strip()):
        return phrase.strip(" %").replace(",", "")
    text, years = without(spoken(phrase), names), years_in(phrase)
    item, formula = item_named(text), formula_named(text)
    if formula and len(formula[2]) >= len(item[1] if item else ""):
        name = f"({formula[0]})"
    else:
        name = item[0] if item and is_whole(item[1], text) else f"row_{len(rows)}"
        rows[name] = " ".join(FILLER.sub(" ", text).split())
    if not is_defined:
        return name
    last, first = at(name, years[-1]) if years else name, at(name, years[0]) if len(years) > 1 else ""
    if re.search(r"\b(?:change|increase|decrease) in\b", text):
        return f"{last} - {first}" if first else f"{name} - {previous(name)}"
    if re.search(r"\b(?:average|mean)\b", text):
        return f"({last} + {first}) / 2" if first else f"avg({name})"
    return last


def is_whole(item: str, text: str) -> bool:
    """Whether no word before an item's makes it another: *deferred revenue* and *interest revenue* are no *revenue*."""
    before = text.partition(item)[0].split()
    return not before or FILLER.fullmatch(before[-1]) is not None or before[-1] in WIDER


def over_time(text: str, formula: str, form: str, years: Sequence[int], is_defined: bool) -> tuple[str, str]:
    """The formula over the periods that are asked about, and its form: growth, change, average, compound growth."""
    first, last = (years[0], years[-1]) if len(years) > 1 else (None, None)
    before = at(formula, first) if first else previous(formula)
    if COMPOUND.search(text) and first:
        return f"({ratio(formula, before)}) ** (1 / {last - first}) - 1", "percent"
    if (average := AVERAGE.search(text)) and first and not is_defined:
        number = NUMBERS.get(average[1], average[1] or "")
        n_years = min(int(number), 10) if str(number).isdigit() else last - first + 1
        return f"({' + '.join(at(formula, last - back) for back in range(n_years))}) / {n_years}", form
    if is_defined or ("prev(" in formula and form != "days"):
        return formula, form
    if GROWTH.search(text) and form != "percent":
        return f"{ratio(formula, before)} - 1", "percent"
    if CHANGE.search(text) and (first or GROWTH.search(text) or not form):
        return f"({formula}) - ({before})", form
    return formula, form

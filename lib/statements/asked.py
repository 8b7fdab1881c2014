"""What a question asks for: a formula over line items, a period, a unit and how many digits.

By rules: a definition that the question gives comes first, then the grammar reads the sentence that asks. Words that no
rule knows are kept as ``unread``, and what cannot be one formula is said in ``problem``: :mod:`lib.statements.vetoes`
gives no answer for them.
"""

import re
from calendar import month_abbr, monthrange
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from lib.files import read_yaml
from lib.filings.identity import asked_period, quarters_in, years_in
from lib.filings.names import COMMON_ACRONYMS, alphanumeric, forms
from lib.metrics.answers import asked_unit
from lib.statements.columns import months_of_weeks
from lib.statements.formulas import (
    at,
    canonical,
    formulas,
    items,
    names_in,
    previous,
    ratio,
    spoken,
    with_ending_balances,
)
from lib.statements.grammar import LISTED, Node, NotRead, Token, clean, formula_in, prepared, tokens_in
from lib.statements.money import currency_of

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}
MONTHS = {"three": 3, "six": 6, "nine": 9, "twelve": 12}
MONTH_NUMBERS = {name.lower(): number for number, name in enumerate(month_abbr) if name}
UNSAID, UNKNOWN = "what is asked", "unknown"  # in place of a row's words; of a term that is no line item or formula
LAST_YEARS = 10  # of an average
MOST_ASIDES, BESIDE = 20, 80  # brackets of a sentence that are looked at; characters before one
_FILE = read_yaml(Path(__file__).with_name("asked.yaml"))
_PATTERNS = {name: re.compile("".join(pieces), re.I) for name, pieces in _FILE.items()}
DEFINED, TERMS, FILLER = map(_PATTERNS.get, "defined terms filler".split())
DIGITS, IN_PERCENT, DATE, FRAMING = map(_PATTERNS.get, "digits in_percent date framing".split())
#: Words of a change downwards, which is asked for as a positive amount, and of one upwards or of either.
FALLS = re.compile(
    r"\b(?:decreas\w+|declin\w+|dropp?\w*|falls?|fell|fallen|shr[aiu]nk\w*|reduc\w+|(?:went|gone) down)\b"
)
RISES = re.compile(r"\b(?:increas\w+|ris(?:e|es|en|ing)|rose|gr[eo]w\w*|chang\w+|improv\w+|went up|or)\b")
ENDING = re.compile(r"\b(?:year|period)[ -]end\b|\b(?:ending|closing)\b", re.I)
USING = re.compile(r"\s(?:using|based on|by adding)\s", re.I)
CLAUSE = re.compile(r"[:,]\s+(?=(?:what|how (?:much|many|high|large)|which)\b)", re.I)
YEAR_BEFORE, YEAR_AFTER, OF_FILING = map(_PATTERNS.get, "year_before year_after of_filing".split())
#: Signs that make a text in words a formula.
OPERATORS = {
    "PLUS",
    "MINUS",
    "STAR",
    "SLASH",
    "TIMES",
    "OVER",
    "AVERAGE",
    "CHANGE_IN",
    "DIVIDE",
    "SUBTRACT",
    "AS_SHARE",
}
OPERATORS |= {"EXCEPT", "RATIO"}
#: Tokens which join nothing: a name that stands among them twice is one thing.
PLAIN = {"NAME", "WORD", "YEAR", "PASSED", "NUMBER", "COMMA", "LPAR", "RPAR", "AND"}


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
    quarter: int | None = None  # the one with which a first or second half ends, too
    end: date | None = None  # the day with which the period ends; a month's last day where no day is named
    currency: str | None = None  # by its code
    unread: tuple[str, ...] = ()  # words that nothing but a row's label or section can explain
    problem: str = ""  # why the question is no formula, in one sentence
    named: str = ""  # the words that name a formula of the library


class Definition(NamedTuple):
    """A definition that a question gives: its formula, its tokens, and the text that it stands in."""

    node: Node
    tokens: list[Token]
    unread: list[str]
    rows: dict[str, str]
    text: str
    with_what: str  # "with year-end balances"
    term: str  # the formula or the line item that is defined, where it has a name


@dataclass
class Draft:
    """What was read of a question so far; ``problem`` is the first reason why it is no formula."""

    sentences: list[str]  # without what a definition says
    asking: str  # the sentence that asks
    years: list[int]
    definition: Definition | None
    node: Node  # of the sentence that asks
    flags: set[str]
    rows: dict[str, str]
    unread: list[str]
    problem: str
    formula: str = ""
    form: str = ""
    source: str = ""

    def __post_init__(self):
        self.formula, self.form, self.source = self.node.formula, self.node.form, source_of(self.node)

    def refuse(self, why: str) -> None:
        """Keep a reason why the question is no formula, if it is the first."""
        self.problem = self.problem or why

    @property
    def is_timed(self) -> bool:
        """Whether a definition says of which years its parts are."""
        return bool(self.definition) and any(token.kind in ("CHANGE_IN", "YEAR") for token in self.definition.tokens)


def asked_for(question: str, names: Sequence[str]) -> Wanted:
    """What a question asks for; the company's names are no part of that."""
    settled = in_years(question)
    draft = drafted(settled, names)
    define(draft)
    put_in_periods(draft)
    period, unit, years = asked_period(settled), asked_unit(question), draft.years
    year = years[-1] if years and (len(years) > 1 or "COMPOUND" in draft.flags) else period.year
    quarters, all_text = quarters_in(settled), spoken(settled)
    is_of_library = draft.source == "library" and draft.formula == draft.node.formula
    at_year = rf"\bat\((\w+), {year}\)"
    return Wanted(
        formula=canonical(re.sub(at_year, r"\1", draft.formula) if draft.is_timed else draft.formula),
        year=year,
        months=months_of(all_text, settled),
        form=draft.form,
        unit=unit if unit > 1 else None,
        digits=n_digits(all_text),
        rows={name: words for name, words in draft.rows.items() if name in names_in(draft.formula)},
        source=draft.source,
        quarter=quarters[-1] if quarters else None,
        end=end_of(settled, year),
        currency=currency_of(question) or None,
        unread=tuple(dict.fromkeys(draft.unread)),
        problem=draft.problem,
        named=formula_words(draft.asking) if is_of_library else "",
    )


def drafted(settled: str, names: Sequence[str]) -> Draft:
    """The sentences of a question, its definition, and what the sentence that asks and the others have."""
    sentences = sentences_of(without_names(settled, names))
    definition, problem = definition_in(sentences)
    rest = [sentence.replace(definition.text, " ") for sentence in sentences] if definition else sentences
    years = years_in(" ".join(rest)) or years_in(settled)
    asking = asking_of(rest)
    node, flags, rows, unread, why = read_sentence(asking, len(years))
    draft = Draft(rest, asking, years, definition, node, flags, rows, unread, problem)
    if not definition or is_list(definition.node):
        draft.refuse(why)
    if not definition and sum("?" in one and has_name(one) for one in rest) > 1:
        draft.refuse("several questions are asked at once")
    for other in (sentence for sentence in rest if sentence is not asking):
        more = prepared(other, False)
        if "?" in other and more.flags:
            draft.refuse("several questions are asked at once")
        draft.flags |= more.flags & {"AT_END", "BOTH_ENDS"}
        if not is_framing(other):
            kinds = ("WORD",) if definition else ("WORD", "NAME")
            draft.unread += [token.text for token in more.read if token.kind in kinds]
    return draft


def define(draft: Draft) -> None:
    """Put in what a definition says, or the form of a formula that the sentence itself has."""
    definition, node, text = draft.definition, draft.node, " ".join(draft.sentences)
    if definition:
        found, why = part_of(definition, node) or combined(definition, node)
        draft.refuse(why)
        draft.formula, draft.source, draft.form = found.formula, "question", form_of(found, node, text)
        draft.rows |= {} if is_list(definition.node) else definition.rows
        draft.unread = [word for word in draft.unread if not TERMS.fullmatch(word)] + definition.unread
    elif node.parts:
        draft.refuse("two figures are asked for at once")
    elif re.fullmatch(r"avg\((\w+)\)", draft.formula) and items().get(draft.formula[4:-1], {}).get("kind") != "balance":
        draft.refuse("an average of what flows needs the years")
    elif draft.source == "two":
        draft.form = ("percent" if IN_PERCENT.search(text) else node.form) if node.power == 0 else ""
    words = draft.rows.get(draft.formula, "")
    if draft.source == "item" and draft.formula == "net_income" and re.fullmatch("net loss(?:es)?", words):
        draft.refuse("a loss is asked for, and rows have profits or losses")
        draft.formula = f"-{draft.formula}"


def put_in_periods(draft: Draft) -> None:
    """Put in the periods that a question compares, adds or averages, and balances of a year's end."""
    definition = draft.definition
    averages = bool(definition) and any(token.kind == "AVERAGE" for token in definition.tokens)
    if "AT_END" in draft.flags and not averages:
        draft.formula = with_ending_balances(draft.formula)
    if draft.is_timed:
        draft.refuse("more than two years are named" if len(draft.years) > 2 else "")
        return
    about = draft.flags, draft.years, clean(draft.asking), bool(definition)
    draft.formula, draft.form, why = over_time(draft.formula, draft.form, *about)
    draft.refuse(why)


def formula_words(sentence: str) -> str:
    """The words of a sentence that name a formula of the library."""
    return next((one.text for one in tokens_in(clean(sentence)) if one.name.startswith("(")), "")


def in_years(question: str) -> str:
    """A question with "the year before 2022" as 2021, and without the year of a filing that it names beside another."""
    question = re.sub(r"\b([1-4])Q(?=\b|\d)", r"Q\1 ", question, flags=re.I)
    for pattern, step in ((YEAR_BEFORE, -1), (YEAR_AFTER, 1)):
        question = pattern.sub(lambda match, step=step: str(int(match["year"]) + step), question)
    other = OF_FILING.sub(" ", question)
    return other if years_in(other) else question


def without_names(question: str, names: Sequence[str]) -> str:
    """A question without a company's names, whole, by their first own word or shortened, and without legal forms."""
    known = [forms(name) for name in names]
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1:
            question = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s|['’])?(?!\w)", " ", question, flags=re.I)

    def is_name(word: str) -> bool:
        token = alphanumeric(re.sub(r"['’]s?$", "", word))
        is_short = sum(map(str.isupper, word)) > 1 and token not in COMMON_ACRONYMS
        return bool(token) and any(
            (word[0].isupper() and token in (first, *whole)) or (is_short and short.fullmatch(token) is not None)
            for first, whole, _, short in known
        )

    question = re.sub(r"[A-Za-z0-9&.]+(?:['’]s?)?", lambda match: " " if is_name(match[0]) else match[0], question)
    return re.sub(
        r"\b(?:Inc|Corp|Corporation|Co|Company|Ltd|Limited|PLC|plc|LLC|L\.?P|Holdings|Group)\b\.?", " ", question
    )


def sentences_of(question: str) -> list[str]:
    """The sentences of a question; points of abbreviations end none."""
    text = re.sub(
        r"\b(i)\.\s?(e)\.|\b(e)\.\s?(g)\.|\b(U)\.(S)\.", lambda m: "".join(filter(None, m.groups())), question
    )
    text = re.sub(r"\b(vs|inc|corp|approx|no)\.", r"\1", text, flags=re.I)
    parts = [part for part in re.split(r"(?<=[?!;])\s+|(?<=[.])\s+(?=[A-Z(])", text) if part.strip()] or [text]
    return [clause for part in parts for clause in clauses_of(part)]


def clauses_of(sentence: str) -> list[str]:
    """A sentence, apart from a clause that only says from what to answer: ``Based on the filing, what ...``."""
    match = CLAUSE.search(sentence)
    before = sentence[: match.start()] if match else ""
    return [before, sentence[match.end() :]] if match and is_framing(before) else [sentence]


def is_framing(sentence: str) -> bool:
    """Whether a sentence only says how or from what to answer."""
    return bool(FRAMING.search(sentence)) and "?" not in sentence and not has_name(sentence)


def has_name(sentence: str) -> bool:
    """Whether a sentence names a line item or a formula."""
    return any(token.kind == "NAME" for token in tokens_in(clean(sentence)))


def asking_of(sentences: Sequence[str]) -> str:
    """The sentence that asks: of those that name a formula or an item, else of all, the first with a ``?``."""
    return min(sentences, key=lambda one: (not has_name(one), "?" not in one))


def definition_in(sentences: Sequence[str]) -> tuple[Definition | None, str]:
    """The first definition that sentences give, and what was wrong with one that could not be read."""
    problem = ""
    for sentence in sentences:
        for match in DEFINED.finditer(sentence):
            about, what = parts_of(match)
            kinds = [token.kind for token in tokens_in(clean(what))]
            if "NAME" not in kinds and not (OPERATORS & {*kinds} - {"AVERAGE", "EXCEPT", "RATIO"} and "WORD" in kinds):
                continue
            if not OPERATORS & {*kinds} and not ("AND" in kinds and kinds.count("NAME") > 1):
                continue
            try:
                node, tokens = formula_in(what, True)
            except NotRead as error:
                problem = problem or str(error)
                continue
            term = sentence[: match.start()] if not re.search(r"[?]|\b(?:what|how|which)\b", sentence, re.I) else ""
            if node.is_made or is_list(node):
                text = (term + match[0][: match.start("what") - match.start()] + within_brackets(match["what"])).strip()
                of_term = tokens_in(clean(f"{term} {about}"))
                names = [token.name for token in of_term if token.kind == "NAME"]
                words = [token for token in of_term if token.kind == "WORD" and not TERMS.fullmatch(token.text)]
                name = names[0] if len(names) == 1 else UNKNOWN if words and not names else ""
                return Definition(node, tokens.read, tokens.unread, tokens.rows, text, match["rest"] or "", name), ""
    return None, problem


def parts_of(match: re.Match) -> tuple[str, str]:
    """The words of a definition that name what is defined, and those that say as what: ``EBITDA using ...``."""
    before, what = match[0][: match.start("what") - match.start()], within_brackets(match["what"]).strip(" .,:")
    using = USING.search(what)
    if using and [token.kind for token in tokens_in(clean(what[: using.start()]))].count("NAME") == 1:
        return before + what[: using.start()], what[using.end() :]
    return before, what


def within_brackets(text: str) -> str:
    """A text up to a bracket that closes one before it."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return text[:place]
    return text


def is_list(node: Node) -> bool:
    """Whether a text names things without saying what is done with them: ``average inventories and 365 days``."""
    return node.power == LISTED or bool(node.parts) or re.fullmatch(r"avg\(\w+\)", node.formula) is not None


def read_sentence(sentence: str, n_years: int) -> tuple[Node, set[str], dict[str, str], list[str], str]:
    """What a sentence asks for, its flags, rows and unread words, and why it is not one formula."""
    sentence = without_asides(sentence)
    try:
        node, tokens = formula_in(sentence, False, n_years)
    except NotRead as error:
        tokens = prepared(sentence, False, n_years)
        named = max((one for one in tokens.read if one.kind == "NAME"), key=lambda one: len(one.text), default=None)
        words = [one.text for one in tokens.read if one.kind == "WORD"]
        node = Node(named.name, int(named.form in ("", "money")), form=named.form) if named else Node("row_0")
        rows = {"row_0": " ".join(words) or UNSAID} if named is None else {}
        is_same = len({one.name for one in tokens.read if one.kind == "NAME"}) == 1
        is_plain = is_same and all(one.kind in PLAIN or one.kind in tokens.flags for one in tokens.read)
        why = str(error) if named or words else "nothing is named that could be looked for"
        return node, tokens.flags, rows, words, "" if is_plain else why
    return node, tokens.flags, dict(tokens.rows), list(tokens.unread), ""


def without_asides(sentence: str) -> str:
    """A sentence without brackets that only name again what stands before them, or a unit or a period."""
    for match in reversed([*re.finditer(r"\([^()]*\)", sentence)][:MOST_ASIDES]):
        inside = {token.kind for token in tokens_in(clean(match[0][1:-1]))}
        before = tokens_in(clean(sentence[max(0, match.start() - BESIDE) : match.start()]))[-1:]
        is_again = "NAME" not in inside or (before and before[0].kind == "NAME")
        if is_again and not inside & (OPERATORS | {"WORD"}):
            sentence = f"{sentence[: match.start()]} {sentence[match.end() :]}"
    return sentence


def source_of(node: Node) -> str:
    """Where a sentence's formula is from: library, two, item or row."""
    if node.is_made:
        return "two"
    if node.formula.startswith("("):
        return "library"
    return "row" if node.formula.startswith("row_") else "item"


def part_of(definition: Definition, asked: Node) -> tuple[Node, str] | None:
    """What is asked for, where the definition is of a part of it: of the term as it is defined, or of line items that
    the formula of the library has, too; None where the definition is of the whole."""
    term, listed = definition.term, {*names_in(definition.node.formula)}
    inner = term[1:-1] if term.startswith("(") else term  # a formula of the library has brackets around it
    if asked.formula in (term, inner):
        return None
    if is_list(definition.node):
        has_all = asked.is_made and listed <= {*names_in(asked.formula)}
        return (asked, "") if has_all and "avg(" not in definition.node.formula + asked.formula else None
    of_term = re.compile(rf"\b{re.escape(inner)}\b" if inner.isidentifier() else re.escape(inner))
    if inner and of_term.search(asked.formula):
        changed = of_term.sub(f"({definition.node.formula})", asked.formula)
        return replace(asked, formula=changed, is_made=True), ""
    if term and not asked.formula.startswith("row_"):
        return asked, "the definition is of something else than what is asked for"
    is_whole = not asked.is_made or {*names_in(asked.formula)} <= listed
    return None if is_whole else (asked, "the definition is of a part of what is asked for")


def combined(definition: Definition, asked: Node) -> tuple[Node, str]:
    """A definition's formula. Where it is a list of what a formula of the library is made of, that formula with the
    averages and the days that the list has; else why there is none."""
    node = definition.node
    flags = prepared(definition.with_what, False).flags
    if ENDING.search(definition.text) and not any(token.kind == "AVERAGE" for token in definition.tokens):
        flags = flags | {"AT_END"}
    if not is_list(node):
        return (replace(node, formula=with_ending_balances(node.formula)) if "AT_END" in flags else node), ""
    listed = set(names_in(node.formula))
    about = next((one for one in formulas().values() if f"({one['is']})" == asked.formula), None)
    for formula in (about["is"], about.get("or")) if about else ():
        if formula and (set(names_in(formula)) == listed or (len(listed) == 1 and listed < set(names_in(formula)))):
            for name in listed:
                if f"avg({name})" in node.formula and f"avg({name})" not in formula:
                    formula = re.sub(rf"\b{name}\b", f"avg({name})", formula)
            days = re.search(r"\b36[05]\b", node.formula)
            formula = re.sub(r"\b365\b", days[0], formula) if days else formula
            formula = with_ending_balances(formula) if "AT_END" in flags else formula
            return Node(formula, asked.power, form=asked.form), ""
    return asked, "the things that the question wants to be used are not those of the formula that is known"


def form_of(defined: Node, asked: Node, text: str) -> str:
    """The form of an answer to a definition: as the question says, else that of the formula which it names."""
    if defined.power == 1:
        return ""
    if IN_PERCENT.search(text):
        return "percent"
    if asked.form in ("percent", "ratio", "days"):
        return asked.form
    return "days" if re.search(r"\b36[05]\b", defined.formula) else defined.form or "ratio"


def over_time(
    formula: str, form: str, flags: set[str], years: Sequence[int], text: str, is_defined: bool
) -> tuple[str, str, str]:
    """The formula over the periods that are asked about, its form, and why it is none."""
    first, last = (years[0], years[-1]) if len(years) > 1 else (None, None)
    base, before = formula, at(formula, first) if first else previous(formula)
    if "COMPOUND" in flags:
        if not first:
            return formula, form, "compound growth needs a first and a last year"
        return f"({ratio(formula, before)}) ** (1 / {last - first}) - 1", "percent", ""
    is_moving = bool(flags & {"MOVE", "GROWTH", "POINTS", "MORE", "LESS", "CHANGE_IN"})
    if "YEARS_AVERAGE" in flags or ("TOGETHER" in flags and first and not is_moving):
        number = re.search(r"\b(two|three|four|five|ten|\d+) (?:fiscal )?years? (?:fiscal )?(?:average|mean)", text)
        size = NUMBERS.get(number[1]) or int(number[1]) if number else 0
        last = last or (years[-1] if years else None)
        if last is None or not (size or first):
            return formula, form, "an average over years needs the years"
        is_listed = len(years) > 2 or re.search(r"\d and (?:fy ?|fiscal (?:year )?|in )*\d", text)
        span = [*years] if is_listed and "between" not in text else [*range(first or last, last + 1)]
        span = [*range(last - min(size, LAST_YEARS) + 1, last + 1)] if size else span
        if len(span) > LAST_YEARS:
            return formula, form, f"more than {LAST_YEARS} years are asked about"
        total = " + ".join(at(formula, year) for year in reversed(span))
        return (f"({total}) / {len(span)}", form, "") if "YEARS_AVERAGE" in flags else (total, form, "")
    if is_moving and len(years) > 2:
        return formula, form, "more than two years are named"
    if is_moving and len(years) < 2 and (flags & {"MORE", "LESS"} or re.search(r"\bsince\b", text)):
        return formula, form, "a comparison needs two years"
    if is_moving and "prev(" in base and form != "days":
        return formula, form, "the change of a formula over two periods is not read"
    if is_moving:
        changed, form, why = change_over(formula, before, form, flags, text)
        is_fall = FALLS.search(text) and not RISES.search(text)
        return f"-({changed})" if is_fall and not flags & {"MORE", "LESS"} else changed, form, why
    kinds = {items().get(name, {}).get("kind") for name in names_in(formula)}
    if first and re.search(r"\btotal\b.*\b(?:over|during|across)\b", text) and kinds <= {"income", "cash_flow"}:
        return " + ".join(at(formula, year) for year in range(last, first - 1, -1)), form, ""
    is_amount = form in ("", "money") and not is_defined and "/" not in formula
    if "PERCENT" in flags and is_amount and formula.isidentifier() and formula in items():
        return formula, form, "a percentage is asked for, but not of what"
    if first and not is_defined:
        return formula, form, "several years are named, and not what is to be done with them"
    return formula, form, ""


def change_over(formula: str, before: str, form: str, flags: set[str], text: str) -> tuple[str, str, str]:
    """The change of a formula from a period before, as a share or an amount, its form, and why it is none."""
    if form == "percent" and flags & {"MOVE", "GROWTH"} and flags & {"GROWTH", "PERCENT"}:
        is_open = "PERCENT" in flags and "POINTS" not in flags
        return f"({formula}) - ({before})", form, "a change of a percentage in percent may be two things" * is_open
    compared = flags & {"MORE", "LESS"}
    years = [int(year) for year in re.findall(r"(?:19|20)\d\d", text)]
    is_turned = bool(compared) and len(years) > 1 and years[0] < years[1]  # higher in 2022 than in 2023
    one, base = (before, formula) if is_turned else (formula, before)
    if "GROWTH" in flags or ("PERCENT" in flags and form != "percent" and (compared or "MOVE" in flags)):
        share = f"{ratio(one, base)} - 1"
        return f"-({share})" if compared == {"LESS"} else share, "percent", ""
    return f"({base}) - ({one})" if compared == {"LESS"} else f"({one}) - ({base})", form, ""


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
    if match := re.search(r"\b(\d\d) weeks?\b", text):
        return months_of_weeks(int(match[1]))
    if re.search(r"\b(?:first|second) half\b|\bh[12]\b", text):
        return 6
    if re.search(r"\byear to date\b|\bytd\b", text):
        return None
    if quarters_in(question) or "quarter" in text:
        return 3
    return 12 if re.search(r"\b(?:fy|fiscal|annual)", text) else None


def end_of(question: str, year: int | None) -> date | None:
    """The last day that a question names: a month without a day is its last, without a year of the year asked for."""
    ends = []
    for match in DATE.finditer(question):
        found = {key.rstrip("23"): value for key, value in match.groupdict().items() if value}
        is_word = match[0].lower() == "may" or (match["month"] and not found.get("day") and not found.get("year"))
        of_year = int(found["year"]) if "year" in found else year
        if is_word or of_year is None:
            continue
        month = MONTH_NUMBERS.get(found["month"].lower()[:3]) or int(found["month"])
        if 1 <= month <= 12:
            last = monthrange(of_year, month)[1]
            day = int(found.get("day", last))
            ends += [date(of_year, month, day)] if 1 <= day <= last else []
    return max(ends, default=None)

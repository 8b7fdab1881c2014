"""Definitions and questions as formulas, by a grammar (``grammar.lark``, words in ``grammar.yaml``) over line items.

A text becomes tokens: names of line items and formulas, the longest ones first, then operators and numbers; words that
say nothing are passed, and the others are kept as not read. The parser is LALR, so that time is linear in tokens.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lark import Lark, Transformer, v_args
from lark import Token as LarkToken
from lark.exceptions import UnexpectedInput
from lark.lexer import Lexer

from lib.files import read_yaml
from lib.filings.identity import years_in
from lib.statements.formulas import at, formulas, items, names_in, previous, ratio

MOST_SIGNS = 100  # operators and brackets of a definition; beyond a few hundred Python cannot parse a formula
TOO_LONG = f"the definition has more than {MOST_SIGNS} signs; write a shorter one"
WORD = re.compile(r"\d[\d,]*\d(?:\.\d+)?%?|\d+(?:\.\d+)?|[a-z0-9]+|%|[-+*/×÷−–()\[\],]")
A_YEAR = (
    r"(?:(?:fiscal|financial|calendar)(?: years?)? |fy ?|cy ?)?(?:19[89]|20[0-4])\d|"
    r"(?:fiscal (?:year )?|fy ?|cy ?)\d\d(?!\d)"
)
LISTED = 99  # the power of a list of amounts and numbers, which is no formula
#: Line items that an expense is taken off: what "excluding" an expense does to them depends on who speaks.
INCOMES = {"gross_profit", "operating_income", "pretax_income", "net_income", "operating_cash", "comprehensive_income"}
#: Line items that a margin may be of, and those that formulas of such are made of.
OF_MARGINS = INCOMES | {"depreciation", "capex", "cost_of_sales", "research", "selling_admin"}
#: Words before a name that leave it what it is, beside those that are passed.
WIDER = {*"unadjusted total consolidated overall full annual average year end".split()}
#: Operators whose words are others in a definition or beside one name alone.
ONLY_WITH = {"DOLLARS": "PER_DOLLAR", "TO": "RATIO", "BY": "DIVIDE", "FROM": "SUBTRACT", "THAN": "MORE"}


class NotRead(ValueError):
    """A text that is no formula; the message is one sentence that says why."""


class Token(NamedTuple):
    """A part of a text: NAME, WORD, YEAR, NUMBER, PASSED, a flag or an operator."""

    kind: str
    text: str
    name: str = ""  # the line item, or the formula of the library
    form: str = ""
    place: int = 0


@dataclass(frozen=True)
class Node:
    """A part of a formula: the power of an amount (0 a share, 1 an amount, None unknown), and what "and" joins."""

    formula: str
    power: int | None = 1
    parts: tuple["Node", ...] = ()
    form: str = ""
    is_made: bool = False  # whether an operator of the text made it
    years: tuple[int, ...] = ()


@dataclass
class Tokens:
    """A text's tokens and what was seen in it; ``unread`` are words that no rule knows, ``rows`` the words by name."""

    read: list[Token]
    flags: set[str]
    rows: dict[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    several: bool = False


def clean(text: str) -> str:
    """A text in lower case as words, figures and signs: ``R&D / sales`` is ``r and d / sales``."""
    text = re.sub(r"['’]s\b|['’]", "", text.lower())
    text = re.sub(r"\band/or\b", "or", text.replace("&", " and "))
    text = re.sub(r"/?\s*\((?:or )?(?:net )?(?:loss(?:es)?|benefit|deficit|credit|gain)\)", " ", text)
    text = re.sub(r"(?<=[^\W\d_])[/](?=[^\W\d_]\b)|(?<=\w)[-–](?=\w)|_", " ", text)
    text = " ".join(re.sub(r"(?<=\d),(?=\d{3})", "", part) for part in WORD.findall(text))
    text = re.sub(r"\bone(?= (?:minus|plus|less)\b)", "1", text)
    return re.sub(r"(?<=[\d)]) x (?=[a-z(])|(?<=[a-z)]) x (?=[\d(])", " × ", text)


def alternatives(pattern: str) -> list[str]:
    """The alternatives of a regular expression outside of its brackets, to be matched alone: the longest counts."""
    parts, depth = [""], 0
    for sign in re.findall(r"\\.|\[(?:\\.|[^\]\\])+\]|.", pattern):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


@cache
def vocabulary() -> list[tuple[int, str, str, str, re.Pattern]]:
    """Every pattern with its priority at equal length, kind, name and form; a comma may stand within a name."""
    file = read_yaml(Path(__file__).with_name("grammar.yaml"))
    entries = {
        f"formula {name}": (5, "NAME", f"({about['is']})", about["form"], about["names"])
        for name, about in formulas().items()
    }
    entries |= {f"item {name}": (4, "NAME", name, "", item["names"]) for name, item in items().items()}
    entries |= {f"sign {kind}": (3, kind, "", "", "|".join(words)) for kind, words in file["operators"].items()}
    entries |= {f"flag {kind}": (2, kind, "", "", "|".join(words)) for kind, words in file["flags"].items()}
    entries |= {"year": (6, "YEAR", "", "", A_YEAR), "passed": (1, "PASSED", "", "", "|".join(file["passed"]))}
    return [
        (priority, kind, name, form, re.compile(rf"(?<![^ ])(?:{one.replace(' ', '(?: ,)? ')})(?![^ ])"))
        for priority, kind, name, form, pattern in entries.values()
        for one in alternatives(pattern)
    ]


@cache
def flag_kinds() -> frozenset[str]:
    """The tokens that say over which periods or in which form."""
    return frozenset(read_yaml(Path(__file__).with_name("grammar.yaml"))["flags"])


def tokens_in(text: str) -> list[Token]:
    """A clean text's tokens from left to right: of what overlaps, the longest; then what is a name."""
    matches = []
    for priority, kind, name, form, pattern in vocabulary():
        matches += [(m.end() - m.start(), priority, -m.start(), kind, name, form) for m in pattern.finditer(text)]
    taken, found = bytearray(len(text) + 1), []
    for length, _, start, kind, name, form in sorted(matches, reverse=True):
        if length and not any(taken[-start : length - start]):
            taken[-start : length - start] = b"\1" * length
            found.append(Token(kind, text[-start : length - start], name, form, -start))
    for word in re.finditer(r"\S+", text):
        if not taken[word.start()]:
            is_number = re.fullmatch(r"\d+(?:\.\d+)?%?", word[0])
            found.append(Token("NUMBER" if is_number else "WORD", word[0], place=word.start()))
    return sorted(found, key=lambda token: token.place)


def prepared(text: str, is_defined: bool, n_years: int = 0) -> Tokens:
    """A text's tokens without what is no operator where it stands; flags apart."""
    read, flags = tokens_in(clean(text)), set()
    kinds = {token.kind for token in read}
    n_names = sum(token.kind == "NAME" for token in read)
    kept = []
    for place, token in enumerate(read):
        kind = token.kind
        if kind in ("MINUS", "SLASH", "AND", "COMMA") and is_between_years(read, place):
            kind = "PASSED"
        if kind == "OVER" and read[place + 1 : place + 2] and read[place + 1].kind == "YEAR":
            kind = "PASSED"
        if kind in ONLY_WITH and ONLY_WITH[kind] not in kinds and not (kind == "THAN" and "LESS" in kinds):
            kind = "PASSED"
        if not is_defined and kind == "CHANGE_IN":
            kind = "MOVE"
        if not is_defined and n_names < 2 and kind in ("DIFFERENCE", "MORE", "LESS", "SUM", "THAN"):
            kind = {"DIFFERENCE": "MOVE", "SUM": "TOGETHER"}.get(kind, kind)
            flags.add(kind)
            kind = "PASSED"
        if not is_defined and n_names < 2 and n_years > 1 and kind == "AVERAGE":
            kind = "YEARS_AVERAGE"
        if kind in flag_kinds():
            flags.add(kind)
            kept.append(token._replace(kind="PASSED"))
        else:
            kept.append(token._replace(kind=kind))
    if "SHARE" in kinds:
        kept = [token._replace(kind="IN") if is_part_of(kept, place) else token for place, token in enumerate(kept)]
    return Tokens(kept, flags)


def is_part_of(tokens: Sequence[Token], place: int) -> bool:
    """Whether an "in" stands between two names alone: the share of goodwill in total assets."""
    after = next((one.kind for one in tokens[place + 1 :] if one.text not in ("the", "its", "all")), "")
    return tokens[place].text in ("in", "within") and [one.kind for one in tokens[place - 1 : place]] + [after] == [
        "NAME",
        "NAME",
    ]


def is_between_years(tokens: Sequence[Token], place: int) -> bool:
    """Whether a sign stands between two years, as in ``FY2018 - FY2020``."""
    return [one.kind for one in (*tokens[max(0, place - 1) : place], *tokens[place + 1 : place + 2])] == [
        "YEAR",
        "YEAR",
    ]


def joins(tokens: Sequence[Token], place: int) -> bool:
    """Whether an "and" or a comma joins two things: names, numbers or brackets stand beside it."""

    def beside(part: Sequence[Token]) -> str:
        passed = ("PASSED", "YEAR", "AND", "COMMA", "AVERAGE", "WORD")
        return next((one.kind for one in part if one.kind not in passed), "")

    before, after = beside(tokens[:place][::-1]), beside(tokens[place + 1 :])
    if tokens[place].kind == "COMMA":
        rest = [one.kind for one in tokens[place + 1 :]]
        has_and = "AND" in rest[: next((n for n, kind in enumerate(rest) if kind in ("OVER", "SLASH", "LPAR")), None)]
        near = {one.text for one in tokens[place + 1 :][:2] if one.kind == "PASSED"} <= {"the", "its", "of"}
        if not (has_and and near):
            return False
    return before in ("NAME", "NUMBER", "RPAR") and after in ("NAME", "NUMBER", "LPAR", "SUM")


def operands(tokens: Tokens, is_defined: bool, has_rows: bool) -> list[LarkToken]:
    """The tokens of the grammar: phrases, numbers and operators. Words beside no name are rows' where ``has_rows``."""
    out: list[LarkToken] = []
    piece: list[Token] = []
    tokens.rows, tokens.unread = {}, []

    def flush() -> None:
        out.extend(phrases(piece, tokens, is_defined, has_rows))
        piece.clear()

    for place, token in enumerate(tokens.read):
        if token.kind in ("NAME", "WORD", "YEAR", "PASSED", "NUMBER"):
            piece.append(token)
        elif token.kind in ("AND", "COMMA"):
            if joins(tokens.read, place):
                flush()
                out.append(LarkToken("AND", token.text))
            else:
                piece.append(token._replace(kind="PASSED"))
        else:
            flush()
            out.append(LarkToken(token.kind, token.text))
    flush()
    return tidy(out)


def phrases(piece: Sequence[Token], tokens: Tokens, is_defined: bool, has_rows: bool) -> Iterator[LarkToken]:
    """The operands of the words between two operators: one for each name, else a number, else a row by its words."""
    names = [place for place, token in enumerate(piece) if token.kind == "NAME"]
    if not names:
        numbers = [token for token in piece if token.kind == "NUMBER"]
        words = [token.text for token in piece if token.kind == "WORD"]
        if words and has_rows:
            yield LarkToken("PHRASE", row(words, tokens, years_of(piece) if is_defined else ()))
        else:
            tokens.unread += words
            for number in numbers[:1]:
                yield LarkToken("NUMBER", number.text)
        return
    bounds = [0, *names[1:], len(piece)]
    for n, place in enumerate(names):
        part = piece[bounds[n] : bounds[n + 1]]
        name, before = piece[place], []
        for token in reversed(piece[bounds[n] if n == 0 else names[n - 1] + 1 : place]):
            if token.kind != "WORD":
                break
            before.insert(0, token.text)
        own = [token.text for token in part if token.kind in ("WORD", "NUMBER")]
        years = years_of(part) if is_defined else ()
        if before and before[-1] not in WIDER:
            yield LarkToken("PHRASE", row([*before, *name.text.split()], tokens, years))
            tokens.unread += [word for word in own if word not in before]
            continue
        tokens.unread += own
        if not name.name.startswith("("):
            tokens.rows[name.name] = " ".join([name.text, *own])
        yield LarkToken("PHRASE", Node(name.name, power_of(name), form=name.form, years=years))


def years_of(piece: Sequence[Token]) -> tuple[int, ...]:
    """The years that stand beside a name, ascending."""
    return tuple(sorted(year for token in piece if token.kind == "YEAR" for year in years_in(token.text)))


def row(words: Sequence[str], tokens: Tokens, years: tuple[int, ...]) -> Node:
    """A row that is looked for by its words."""
    name = f"row_{sum(key.startswith('row_') for key in tokens.rows)}"
    tokens.rows[name] = " ".join(words)
    tokens.unread += words
    is_share = bool({*words} & {"rate", "rates", "ratio", "margin", "percent", "percentage", "yield", "shares"})
    return Node(name, None if is_share else 1, years=years)


def power_of(token: Token) -> int:
    """1 for an amount of money, 0 for a share, a ratio or days."""
    return int(token.form in ("", "money"))


def tidy(out: Sequence[LarkToken]) -> list[LarkToken]:
    """Tokens without brackets around nothing, and with brackets around what is averaged or summed together."""
    kept: list[LarkToken] = []
    for token in out:
        if token.type == "RPAR" and kept and kept[-1].type == "LPAR":
            kept.pop()
        else:
            kept.append(token)
    return grouped(kept)


def grouped(tokens: Sequence[LarkToken]) -> list[LarkToken]:
    """Tokens with brackets around what is joined by "and" after "average of", "sum of": the whole is meant."""
    out: list[LarkToken] = []
    place = 0
    while place < len(tokens):
        out.append(tokens[place])
        place += 1
        if out[-1].type in ("AVERAGE", "SUM"):
            end = place
            while [one.type for one in tokens[end : end + 2]] == ["PHRASE", "AND"]:
                end += 2
            if end > place and tokens[end : end + 1] and tokens[end].type == "PHRASE":
                out += [LarkToken("LPAR", "("), *tokens[place : end + 1], LarkToken("RPAR", ")")]
                place = end + 1
    return out


class Formula(Transformer):
    """Parts of a formula from the grammar's rules."""

    def number(self, token: LarkToken) -> Node:
        text = str(token)
        return Node(f"({text[:-1]} / 100)" if text.endswith("%") else text, 0)

    def phrase(self, token: LarkToken) -> Node:
        node = token.value
        return replace(node, formula=at(node.formula, node.years[-1])) if node.years else node

    def margin(self, token: LarkToken, _sign) -> Node:
        part = self.phrase(token)
        if part.power != 1 or not {*names_in(part.formula)} <= OF_MARGINS:
            raise NotRead("the margin is of no line item that is known")
        return Node(f"({ratio(part.formula, 'revenue')})", 0, form="percent", is_made=True)

    def explained(self, token: LarkToken, _left, inner: Node, _right) -> Node:
        is_formula = inner.is_made
        return replace(inner, formula=f"({inner.formula})", form=token.value.form) if is_formula else self.phrase(token)

    def bracketed(self, _left, inner: Node, _right) -> Node:
        return replace(inner, formula=f"({inner.formula})")

    def plus(self, left: Node, _sign, right: Node) -> Node:
        return sum_of(left, "+", right)

    def minus(self, left: Node, _sign, right: Node) -> Node:
        return sum_of(left, "-", right)

    def both(self, left: Node, _and, right: Node) -> Node:
        parts = (*(left.parts or (left,)), right)
        return replace(sum_of(left, "+", right, is_joined=True), parts=parts)

    def negative(self, _sign, one: Node) -> Node:
        return replace(one, formula=f"(-({one.formula}))", is_made=True, parts=())

    def times(self, left: Node, _sign, right: Node) -> Node:
        left, right = total(left), total(right)
        power = None if None in (left.power, right.power) else left.power + right.power
        return Node(f"({left.formula}) * ({right.formula})", power, is_made=True)

    def over(self, top: Node, _sign, bottom: Node) -> Node:
        top, bottom = total(top), total(bottom)
        power = None if None in (top.power, bottom.power) else top.power - bottom.power
        return Node(ratio(top.formula, bottom.formula), power, is_made=True, form="ratio")

    def under(self, bottom: Node, sign, top: Node) -> Node:
        return self.over(top, sign, bottom)

    def per_dollar(self, sign, bottom: Node, _dollars, top: Node) -> Node:
        return self.over(top, sign, bottom)

    def share(self, sign, whole: Node, part: Node) -> Node:
        return replace(self.over(part, sign, whole), form="percent")

    def share_in(self, sign, part: Node, _in, whole: Node) -> Node:
        return self.share(sign, whole, part)

    def as_share(self, part: Node, sign, whole: Node) -> Node:
        if part.power == 0 and part.formula.endswith(f"/ {whole.formula})"):
            return part  # gross margin as a percentage of revenue
        return replace(self.over(part, sign, whole), form="percent")

    def ratio_of(self, sign, top: Node, _to, bottom: Node) -> Node:
        return self.over(top, sign, bottom)

    def ratio_to(self, top: Node, sign, bottom: Node, _ratio) -> Node:
        return self.over(top, sign, bottom)

    def ratio_between(self, sign, both: Node) -> Node:
        if len(both.parts) != 2:
            return both
        return self.over(both.parts[0], sign, both.parts[1])

    def taken_from(self, sign, less: Node, _from, base: Node) -> Node:
        return sum_of(base, "-", less)

    def difference(self, _sign, both: Node) -> Node:
        if len(both.parts) != 2:
            raise NotRead("a difference is asked for, but not of two things")
        return sum_of(both.parts[0], "-", both.parts[1])

    def more_than(self, sign: LarkToken, one: Node, _than, other: Node) -> Node:
        return sum_of(one, "-", other) if sign.type == "MORE" else sum_of(other, "-", one)

    def more_than_after(self, one: Node, sign: LarkToken, than, other: Node) -> Node:
        return self.more_than(sign, one, than, other)

    def without(self, whole: Node, _sign, less: Node) -> Node:
        names = set(names_in(less.formula))
        if not names <= items().keys():
            raise NotRead("what is excluded is no line item that is known")
        if INCOMES & set(names_in(whole.formula)):
            raise NotRead("what excluding an expense does to an income is not clear")
        return sum_of(whole, "-", less)

    def average(self, _sign, one: Node) -> Node:
        if len(one.parts) > 1:
            if any(part.power != one.parts[0].power for part in one.parts):
                raise NotRead("an average of an amount and a number is none")
            return Node(f"({total(one).formula}) / {len(one.parts)}", one.power, is_made=True)
        if len(one.years) > 1:
            base = base_of(one)
            return replace(one, formula=f"({at(base, one.years[-1])} + {at(base, one.years[0])}) / 2", is_made=True)
        return replace(one, formula=f"avg({one.formula})", is_made=True)

    def change(self, _sign, one: Node) -> Node:
        base = base_of(one)
        last = at(base, one.years[-1]) if one.years else base
        first = at(base, one.years[0]) if len(one.years) > 1 else previous(last)
        return replace(one, formula=f"({last} - {first})", is_made=True)

    def total(self, _sign, one: Node) -> Node:
        return replace(total(one), is_made=one.is_made or bool(one.parts))

    def nothing(self, *_tokens) -> Node:
        raise NotRead("a ratio is asked for, but not of what")

    def start(self, whole: Node) -> Node:
        return whole


def base_of(node: Node) -> str:
    """The formula of a phrase without its year."""
    return re.sub(r"^at\((.*), \d{4}\)$", r"\1", node.formula)


def total(node: Node) -> Node:
    """What "and" joins, as a sum."""
    return replace(node, parts=())


def sum_of(left: Node, sign: str, right: Node, is_joined: bool = False) -> Node:
    """A sum or a difference; NotRead where one is an amount and the other a number."""
    if LISTED in (left.power, right.power) and not is_joined:
        raise NotRead("a list of an amount and a number is added")
    if None not in (left.power, right.power) and left.power != right.power and not is_joined:
        raise NotRead("an amount and a number are added")
    if is_joined and left.power != right.power:
        return Node(f"({left.formula}) + ({right.formula})", LISTED)
    power = left.power if right.power is None else right.power
    return Node(f"({left.formula}) {sign} ({right.formula})", power, is_made=True)


class _Given(Lexer):
    """Passes tokens that are made already."""

    def __init__(self, conf: object):
        pass

    def lex(self, data: Sequence[LarkToken]) -> Iterator[LarkToken]:
        yield from data


@cache
def parser() -> Lark:
    """The parser of ``grammar.lark``."""
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=_Given, transformer=v_args(inline=True)(Formula)())


def parsed(tokens: Sequence[LarkToken]) -> Node:
    """A formula from operands and operators, "divided by" first as a sign, then as what binds least; NotRead where
    neither is one, adds an amount to a number, or is no amount, ratio or number in the end."""
    why, listed = "the words between the line items were not read as an operation", None
    for is_sign in (True, False):
        kinds = {"OVER": "SLASH", "TIMES": "STAR"} if is_sign else {}
        given = [LarkToken(kinds.get(token.type, token.type), token.value) for token in tokens]
        try:
            node = parser().parse(given)
        except UnexpectedInput:
            continue
        except NotRead as error:
            why = str(error)
            continue
        if node.power in (0, 1, None):
            return node
        if node.power == LISTED:
            listed = listed or node
            continue
        why = "the formula is neither an amount nor a ratio"
    if listed:
        return listed
    raise NotRead(why)


def formula_in(text: str, is_defined: bool, n_years: int = 0) -> tuple[Node, Tokens]:
    """The formula that a definition or a question's sentence gives, and what was seen in it; NotRead where none."""
    tokens = prepared(text, is_defined, n_years)
    n_signs = sum(token.kind not in ("NAME", "WORD", "YEAR", "PASSED", "NUMBER") for token in tokens.read)
    if n_signs > MOST_SIGNS:
        raise NotRead(TOO_LONG)
    why: NotRead | None = None
    has_names = any(token.kind == "NAME" for token in tokens.read)
    for has_rows in (True,) if is_defined or not has_names else (False, True):
        try:
            return parsed(operands(tokens, is_defined, has_rows)), tokens
        except NotRead as error:
            why = why or error
    raise why

"""Formulas of ``formulas.yaml``, those that a question defines itself, and their calculation without ``eval``.

A formula is a Python expression over names of line items, of arithmetic and four functions of a name's period alone:
``prev``, ``avg``, ``opt`` and ``at``.
"""

import ast
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from operator import add, mul, sub, truediv
from pathlib import Path

from lib.files import read_yaml
from lib.statements.labels import kinds, plain

OPERATORS = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv, ast.Pow: pow}
#: Operators as a definition in words writes them; a minus sign stands between spaces, as hyphens do not.
IN_WORDS = {
    "*": r"[×*]|\b(?:times|multiplied by)\b",
    "/": r"[÷/](?!\w*\bor\b)|\b(?:divided by|over(?= (?:the |its |average )?(?:total|net|average|revenue|sales)))\b",
    "+": r"\+|\bplus\b",
    "-": r"\s[-–−]\s|\b(?:minus|less|net of)\b",
}
_OPERATOR = re.compile("|".join(f"({pattern})" for pattern in IN_WORDS.values()), re.I)
ROUND = str.maketrans("[]", "()")
MOST_SIGNS = 100  # operators and brackets of a definition; beyond a few hundred Python cannot parse it
_BRACKET = re.compile(r"\(([^()]*)\)")


class Unknown(Exception):
    """A formula needs something that was not found; the message says what."""


@cache
def library() -> dict[str, dict]:
    """The formulas, further items and substitutes of ``formulas.yaml``."""
    return read_yaml(Path(__file__).with_name("formulas.yaml"))


@cache
def items() -> dict[str, dict]:
    """Every line item: the patterns of its rows' labels, the names that questions give it, and its statement."""
    more, by_name = library()["items"], {}
    for kind, about in kinds().items():
        for name, item in about["items"].items():
            labels, names = (filter(None, [more.get(name, {}).get(key)]) for key in ("labels", "names"))
            asked = "|".join([*names, *(re.escape(spoken(one)) for one in item["asked"])])
            by_name[name] = item | {"kind": kind, "labels": [item["labels"], *labels], "names": asked}
    for name, item in more.items():
        by_name.setdefault(name, item | {"labels": [item["labels"]]} if "labels" in item else item)
    return by_name


def spoken(text: str) -> str:
    """A text in lower case, words and figures alone: ``R&D-expense`` is ``r and d expense``."""
    text = re.sub(r"['’]s\b", " of ", text.lower().replace("&", " and ")).replace("'", "").replace("’", "")
    return " ".join(re.sub(r"[^a-z0-9%]+", " ", text).split())


def longest(text: str, names: dict[str, str]) -> tuple[str, str] | None:
    """The name whose pattern matches the longest part of a spoken text, and that part."""
    matches = [
        (len(match[0]), -match.start(), name, match[0])
        for name, pattern in names.items()
        for match in re.finditer(rf"\b(?:{pattern})(?![\w%])", text)
    ]
    return max(matches)[2:] if matches else None


def item_named(text: str) -> tuple[str, str] | None:
    """The line item that a spoken text names, and the words that do so."""
    return longest(text, {name: item["names"] for name, item in items().items()})


def formula_named(text: str) -> tuple[str, str, str] | None:
    """The formula of the library that a spoken text names, its form, and the words that name it."""
    formulas = library()["formulas"]
    name, words = longest(text, {name: about["names"] for name, about in formulas.items()}) or ("", "")
    return (formulas[name]["is"], formulas[name]["form"], words) if name else None


def is_row_of(item: str, label: str) -> bool:
    """Whether a row's label is one of a line item's."""
    return any(re.fullmatch(pattern, plain(label)) for pattern in items()[item]["labels"])


def calculate(formula: str, bind: Callable[[str, int], float], year: int) -> float:
    """The value of a formula in a year; ``bind`` gives that of a name. Unknown where something was not found or has no
    value, as with a divisor of 0; ValueError where the formula has something else than arithmetic."""

    def value(node: ast.AST, year: int) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name):
                return bind(name, year)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left, year), value(right, year))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand, year)
            case ast.Call(func=ast.Name(id="prev"), args=[one]):
                return value(one, year - 1)
            case ast.Call(func=ast.Name(id="avg"), args=[one]):
                return (value(one, year) + value(one, year - 1)) / 2
            case ast.Call(func=ast.Name(id="at"), args=[one, ast.Constant(value=int() as other)]):
                return value(one, other)
            case ast.Call(func=ast.Name(id="opt"), args=[one]):
                with suppress(Unknown):
                    return value(one, year)
                return 0.0
        raise ValueError(f"{ast.unparse(node)} is no arithmetic")

    try:
        result = value(ast.parse(formula, mode="eval").body, year)
    except ZeroDivisionError:
        raise Unknown("a divisor is 0") from None
    if isinstance(result, complex):
        raise Unknown("a root of a negative number")
    return result


def at(formula: str, year: int) -> str:
    """A formula's value in a given year, as a formula."""
    return f"at({formula}, {year})"


def previous(formula: str) -> str:
    """A formula's value a year before, as a formula."""
    return f"prev({formula})"


def ratio(top: str, bottom: str) -> str:
    """One formula over another."""
    return f"({top}) / ({bottom})"


def with_ending_balances(formula: str) -> str:
    """A formula with balances of the year's end where it takes the average of a name over two years."""
    return re.sub(r"avg\((\w+)\)", r"\1", formula)


def names_in(formula: str) -> list[str]:
    """The names of line items in a formula, each once, from left to right."""
    nodes = [node for node in ast.walk(ast.parse(formula, mode="eval")) if isinstance(node, ast.Name)]
    names = dict.fromkeys(node.id for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)))
    return [name for name in names if name not in ("prev", "avg", "at", "opt")]


def in_symbols(definition: str, name_of: Callable[[str], str]) -> str | None:
    """A definition in words, such as ``(total debt - cash) / EBITDA``, as a formula; None where it is not whole.
    ``name_of`` gives the formula of a phrase between operators."""
    text, symbols = without_asides(definition).translate(ROUND), dict(enumerate(IN_WORDS, 1))
    written, at, signs = [], 0, [*re.finditer(rf"{_OPERATOR.pattern}|[()]|\Z", text, re.I)]
    if len(signs) > MOST_SIGNS:
        return None
    for match in signs:
        if phrase := text[at : match.start()].strip(" ,:;.\"'"):
            written.append(f"({name_of(phrase)})")
        written.append(symbols.get(match.lastindex, match[0]))
        at = match.end()
    formula = " ".join(written).strip()
    try:
        with suppress(Unknown):  # the ones of the trial may give a divisor of 0
            calculate(formula, lambda name, year: 1.0, 0)
    except (SyntaxError, ValueError):
        return None
    return formula


def without_asides(text: str) -> str:
    """A definition without what explains a phrase in brackets behind it, or without a phrase that brackets define."""
    for match in reversed([*_BRACKET.finditer(text)]):
        before, after = text[: match.start()], text[match.end() :]
        phrase = _OPERATOR.split(before.rpartition("(")[2])[-1]
        if re.search(r"\w\s*$", phrase):
            is_formula = _OPERATOR.search(match[1]) and not item_named(spoken(phrase))
            text = f"{before.removesuffix(phrase)} {match[0]} {after}" if is_formula else f"{before}  {after}"
    return text

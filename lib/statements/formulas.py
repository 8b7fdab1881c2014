"""Formulas of ``formulas.yaml``, line items with all their names, and the calculation of formulas without ``eval``.

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


class Unknown(Exception):
    """A formula needs something that was not found; the message says what."""


def data_files() -> list[Path]:
    """The files of words and rules that a reading of tables depends on."""
    return sorted(path for path in Path(__file__).parent.iterdir() if path.suffix in (".yaml", ".lark"))


@cache
def library() -> dict[str, dict]:
    """The formulas, further items and substitutes of ``formulas.yaml``."""
    return read_yaml(Path(__file__).with_name("formulas.yaml"))


@cache
def synonyms() -> dict[str, dict]:
    """Further names of line items and formulas, and further items, of ``synonyms.yaml``."""
    return read_yaml(Path(__file__).with_name("synonyms.yaml"))


@cache
def items() -> dict[str, dict]:
    """Every line item: the patterns of its rows' labels, the names that questions give it, and its statement.

    Labels and names of ``items.yaml``, of ``formulas.yaml`` and of ``synonyms.yaml`` are joined.
    """
    sources = [library()["items"], synonyms()["items"]]
    of_statements = {
        name: item | {"kind": kind, "names": [spoken(one) for one in item["asked"]]}
        for kind, about in kinds().items()
        for name, item in about["items"].items()
    }
    by_name: dict[str, dict] = {}
    for name in dict.fromkeys([*of_statements, *sources[0], *sources[1]]):
        parts = [part[name] for part in (of_statements, *sources) if name in part]
        joined = {key: value for part in reversed(parts) for key, value in part.items()}
        labels, names = ([one for part in parts for one in listed(part.get(key))] for key in ("labels", "names"))
        by_name[name] = joined | {"labels": labels, "names": "|".join(names)}
    return by_name


@cache
def formulas() -> dict[str, dict]:
    """Every formula of ``formulas.yaml``, with the names that ``synonyms.yaml`` adds, and the formulas that it adds."""
    known, more = library()["formulas"], synonyms()["formulas"]
    by_name = {}
    for name in dict.fromkeys([*known, *more]):
        parts = [part[name] for part in (known, more) if name in part]
        by_name[name] = (
            parts[-1] | parts[0] | {"names": "|".join(one for part in parts for one in listed(part["names"]))}
        )
    return by_name


def listed(value: str | list[str] | None) -> list[str]:
    """A value of a data file as a list: one text is a list of itself, nothing is an empty list."""
    return [value] if isinstance(value, str) else value or []


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
    name, words = longest(text, {name: about["names"] for name, about in formulas().items()}) or ("", "")
    return (formulas()[name]["is"], formulas()[name]["form"], words) if name else None


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


def canonical(formula: str) -> str:
    """A formula in one spelling: without brackets that change nothing."""
    return ast.unparse(ast.parse(formula, mode="eval"))


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

"""Numbers and tables as the book prints them, and what a cell shows: MyST for the book, HTML elsewhere."""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lib.methods import METHODS
from lib.metrics import METRIC_TITLES
from lib.schema import IN_WORDS
from lib.show.html import as_html
from lib.show.markup import Markup, escape

UNBROKEN = re.compile(r"(\[[^\s,]+,|^likely|^not) (?=[^\s,]+\]$|gain$|loss$|shown$)")  # an interval, and a verdict
SIGN = re.compile(r"(?<![^\s\[(])-(?=\d)")  # of a number, which no letter or digit is before
NO_SIGN = re.compile(r"(?<![^\s\[(])[-+−](?=0\.0+(?![\d%]))")
QUANTITY = re.compile(r"[-+]?\d[\d.,]*(?: \[[-+\d., ]+\])?")  # with its interval
pd.options.display.precision = 3  # of frames that a cell shows as they are


def number(value: float, digits: int = 2) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if pd.isna(value) else f"{value:.{digits}f}"


def p_value(value: float) -> str:
    """A p-value with three digits, ``< 0.001`` for what these round to nothing; a dash where nothing was tested."""
    return "< 0.001" if value < 0.0005 else number(value, digits=3)


def with_interval(mean: float, low: float, high: float) -> str:
    """``0.46 [0.38, 0.54]``; a dash where there is no mean."""
    return "–" if pd.isna(mean) else f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def seconds(value: float) -> str:
    """Seconds with two significant digits; a dash where they were not measured."""
    return "–" if pd.isna(value) else f"{value:#.2g}".rstrip(".") if value < 10 else f"{value:,.0f}"


def typeset(text: str) -> str:
    """A text whose numbers have a minus sign in place of a hyphen, and no sign where they round to zero."""
    return SIGN.sub("−", NO_SIGN.sub("", text))


HEADS = {"n": "n", "k": "k", "p": "p", "p_holm": "p (Holm)"} | METRIC_TITLES
#: What the words of these columns are printed as.
TITLES = ({name: row.title for name, row in METHODS.items()}, METRIC_TITLES, IN_WORDS)


def markdown_table(frame: pd.DataFrame, plain: bool = False) -> Markup:
    """A pipe table of the frame's columns (not its index); numbers right-aligned, text escaped unless ``plain``."""
    form = str if plain else escape_cell
    rows = [map(escape_cell, frame), *(map(form, row) for row in frame.itertuples(index=False))]
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|" + "|".join("--:" if _is_numeric(frame[column]) else "---" for column in frame) + "|"
    return Markup("\n".join([head, rule, *body]))


def escape_cell(cell: object) -> str:
    """A cell's text: missing values as a dash, code in backticks left alone."""
    text = cell if isinstance(cell, str) else "–" if pd.isna(cell) else str(cell)
    text = typeset(text) if QUANTITY.fullmatch(text) else text
    return text if re.fullmatch(r"`[\w.#-]+`", text) else UNBROKEN.sub(r"\1&nbsp;", escape(text))


def _is_numeric(column: pd.Series) -> bool:
    filled = [str(cell) for cell in column if str(cell) not in ("", "–", "nan", "None")]
    is_written = bool(filled) and all(re.match(r"[-+−]?[\d.]", cell) for cell in filled)
    return is_written or pd.api.types.is_numeric_dtype(column)


class Shown(NamedTuple):
    """Something that a cell shows: MyST for the book, HTML elsewhere; ``outputs`` is the folder of its figures."""

    markdown: str
    outputs: Path | None = None

    def __repr__(self) -> str:
        return self.markdown  # without the folder, which is one machine's

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/markdown": self.markdown, "text/html": as_html(self.markdown, self.outputs)}

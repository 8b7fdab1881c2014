"""What a dataset says, as text of a page, of a figure, and of a spreadsheet that computes nothing."""

import html
import re
import textwrap
from urllib.parse import quote, urlencode

import pandas as pd

LONGEST_LABEL = 80
PLACEHOLDER = re.compile(r"(?<!\\)\{(\w+)(?::([^{}]*))?\}")  # not escaped
MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|$~^@&:-])")
FIRST = re.compile(r"^(\d+(?=\.(?:\s|$))|(?=[%=]))")  # of a list, a comment or a heading
CONTROL = re.compile(r"[\x00-\x1f\x7f]+|\s+")
FORMULA = re.compile(r"\s*[=+@＝＋＠－-]")  # begins what a spreadsheet computes
QUANTITY = re.compile(r"[-+]?[\d.,]*(?:e[-+]?\d+)?\s*%?(?:\s*\[[-+\d., ]*\])?", re.IGNORECASE)


class Markup(str):
    """Text that is MyST already, and that :func:`escape` leaves alone."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Text that MyST shows as it is: no markup, no math, no role, one line. What a dataset contains reaches the book's
    tables, captions and pages through this function alone."""
    if isinstance(text, Markup):
        return text
    return Markup(FIRST.sub(r"\1\\", MARKUP.sub(r"\\\1", CONTROL.sub(" ", str(text)).strip())))


def explorer_link(text: str, **filters: str) -> Markup:
    """A link to the question explorer with these filters, for a page in a folder of the book; a dash without any."""
    address = f"../book/explorer.html#{urlencode(filters, quote_via=quote)}"
    return Markup(f'<a href="{html.escape(address)}">{html.escape(text)}</a>' if filters else "–")


def label(text: object) -> str:
    """Text as a figure shows it: no math, one line, short."""
    return textwrap.shorten(CONTROL.sub(" ", str(text)), LONGEST_LABEL, placeholder="…").replace("$", r"\$")


def as_csv(frame: pd.DataFrame) -> str:
    """A frame without its index as CSV; text that a spreadsheet would compute has an apostrophe before it."""
    safe = frame.rename(columns=_not_computed)
    for place, dtype in enumerate(frame.dtypes):
        if pd.api.types.is_object_dtype(dtype):
            safe.isetitem(place, pd.Series([*map(_not_computed, frame.iloc[:, place])], frame.index, object))
    return safe.to_csv(index=False)


def is_computed(text: str) -> bool:
    """Whether a spreadsheet would take a text for a formula; ``-0.5`` and ``+0.10 [0.02, 0.18]`` are numbers."""
    return bool(FORMULA.match(text)) and not QUANTITY.fullmatch(text)


def _not_computed(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and is_computed(cell) else cell

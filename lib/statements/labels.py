"""The labels of a page's rows from its text of one cell a line, its statement by title, and line items by label.

The features of Ahead's pages are made of these (:mod:`lib.ahead.facts`), so that its saved rankers depend on them; the
tables that answers are read from are those of :mod:`lib.statements.rows`.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from lib.files import read_yaml

MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
MONTHS = {name[:3]: number for number, name in enumerate(MONTH.split("|"), 1)}
#: Possessive, as a long number could be taken apart in exponentially many ways.
VALUE = re.compile(r"\(\s*+\d[\d,]*+(?:\.\d++)?+\s*+\)?+|\d[\d,]*+(?:\.\d++)?+|[—–-]")
VALUES = re.compile(rf"(?:{VALUE.pattern}|\s|\))++")
INLINE_VALUES = range(2, 6)  # on a label's own line: one number alone may belong to the label
MARKS = " :.·"  # around a label
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
NOTES = re.compile(r"\([^()]*\)|\bnotes? \d+[a-z]?|\bsee note.*", re.I)
UNFINISHED = re.compile(rf"(?:^|\b(?:{MONTH}|of|and|at|as of|to))$", re.I)  # a date or amount within a label
OTHER_STATEMENTS = re.compile(r"parenthetical|schedule i|pro forma|condensed (financial|consolidating)", re.I)
HEAD_CHARACTERS, LABELS_KEPT = 500, 200_000


class Entry(NamedTuple):
    """A line of a page as it is read."""

    label: str
    figures: tuple[str, ...] = ()  # as printed
    is_share: bool = False  # whether any has a ``%``


@cache
def accounting() -> dict[str, dict]:
    """The line items of each statement and the measures over them, of ``items.yaml``."""
    return read_yaml(Path(__file__).with_name("items.yaml"))


@cache
def kinds() -> dict[str, dict]:
    """Title, anchor and items of each primary statement: income, balance, cash_flow."""
    return {kind: about for kind, about in accounting().items() if kind != "measures"}


@cache
def item_of(kind: str, label: str) -> str | None:
    """The line item that a row's label names on a statement of this kind."""
    items = kinds()[kind]["items"].items()
    return next((name for name, item in items if re.fullmatch(item["labels"], label)), None)


def kind_of(text: str) -> str | None:
    """The primary statement whose title a page's head has first; none on other pages."""
    head = " ".join(text.split())[:HEAD_CHARACTERS]
    titles = {kind: re.search(about["title"], head, re.I) for kind, about in kinds().items()}
    places = [(title.start(), kind) for kind, title in titles.items() if title]
    return min(places)[1] if places and not OTHER_STATEMENTS.search(head) else None


@lru_cache(maxsize=LABELS_KEPT)
def plain(label: str) -> str:
    """A label in lower case without notes, parentheses and signs: ``Inventories, net (Note 3)``."""
    words = label.lower().replace("&", " and ")
    words = re.sub(r"\((loss|benefit|deficit|used \w+|provision)\)", r"\1", words)
    return " ".join(re.sub(r"[^a-z ]", " ", re.sub(r"['’]", "", NOTES.sub(" ", words))).split())


def entries_of(text: str) -> list[Entry]:
    """The lines of a page's text: labels, on one or more lines, with the figures on their line or the next ones."""
    entries: list[Entry] = []
    label, figures, is_share = "", [], False
    for raw in text.splitlines():
        line = " ".join(raw.replace("$", " ").replace("%", " ").split())
        if VALUES.fullmatch(line):
            figures += VALUE.findall(line)
            is_share |= "%" in raw
        elif line in ("", "."):
            is_share |= "%" in raw and bool(figures)
        else:
            words, inline = split_values(line)
            if label and not figures and label[-1] not in ":." and (words[0].islower() or words[0] == "("):
                words = f"{label} {words}"
            else:
                entries.append(Entry(label, tuple(figures), is_share))
            label, figures, is_share = words, inline, "%" in raw
    return [*entries, Entry(label, tuple(figures), is_share)]


def labels_of(text: str) -> list[str]:
    """The labels of a page's rows: of lines with figures, unless a date or an amount breaks off in them."""
    labels = [entry.label.strip(MARKS) for entry in entries_of(text) if entry.figures]
    return [label for label in labels if not UNFINISHED.search(label)]


def split_values(line: str) -> tuple[str, list[str]]:
    """A line's words, and the values at its end: ``Goodwill 5 6`` is ``Goodwill`` and two values."""
    tokens, n = re.sub(r"\s+\)", ")", re.sub(r"\(\s+", "(", line)).split(), 0
    while n < len(tokens) - 1 and VALUE.fullmatch(tokens[-1 - n]):
        n += 1
    return (" ".join(tokens[:-n]), tokens[-n:]) if n in INLINE_VALUES else (line, [])

"""Pages whose text was read column by column: labels in one block, then the figures of each period in others.

Some conversions of PDFs give such text. The order says which figure is of which label where the counts agree, and sums
that the table itself has must come out; else the page is left as it is.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import NamedTuple

from lib.statements.columns import is_head
from lib.statements.figures import number, readable, style_of
from lib.statements.grid import GridRow, figures_in, goes_on, without_signs
from lib.statements.labels import MONTH, YEAR
from lib.statements.money import money_of

LONGEST_RUN = 12  # figures below one another that may be of one label
MOST_NOISE = 6  # numbers of pages and footnotes beside the figures
LEAST_SUMS, MOST_TERMS = 2, 20  # sums that must come out; rows of one
LEAST_ROWS = 5
OFF = 0.51  # of a sum's last digit
_SUM = re.compile(
    r"\btotal\b|\bgross (?:profit|margin)|\boperating (?:income|profit|loss)|"
    r"\bnet (?:cash|income|earnings|loss|revenue)|\bbefore .*tax|"
    r"\bat (?:the )?end of|\bcomprehensive income|, net$|\bprofit\b", re.I
)  # fmt: skip
_FOOTER = re.compile(
    r"(?:see|refer to|the accompanying|table of contents)\b|.*\bintegral part of\b|\(?unaudited\)?$", re.I
)
_TITLE = re.compile(r"\bstatements? of\b|\bbalance sheets?\b|\bincome statements?\b", re.I)
_DAY = re.compile(rf"(?:{MONTH})(?: \d{{1,2}})?,?", re.I)
_HEADING = re.compile(
    r"(?:(?:current|non-?current|other|total)? ?(?:assets|liabilities)|.*\bequity|liabilities and .*equity|"
    r"(?:cash flows? (?:from|provided by|used in).*|operating|investing|financing) activities.*|"
    r"(?:net )?revenues?|(?:operating |costs and )?expenses|commitments and contingencies.*|supplement.*information.*)",
    re.I,
)  # fmt: skip


class Label(NamedTuple):
    """A line of words; ``group`` counts the blank lines above it."""

    text: str
    group: int


def unfolded(text: str) -> tuple[str, frozenset[str] | None]:
    """A page that was read column by column as one of labels with their figures, a cell a line, and the labels of its
    sums, which alone are sure: between two of them a heading may pass for a row. Others as they are, and None."""
    lines = [" ".join(line.split()) for line in readable(text).splitlines()]
    figures = [[cell.text for cell in figures_in(line)[0]] for line in lines]
    if longest_run(lines, figures) <= LONGEST_RUN:
        return text, None
    years = list(dict.fromkeys(one for of_line in figures for one in of_line if YEAR.fullmatch(one)))
    values = [one for of_line in figures for one in of_line if not YEAR.fullmatch(one)]
    above, labels = apart(labels_in(lines, figures))
    rows, summed = arranged(labels, values, len(years)) if len(years) > 1 else ([], frozenset())
    if not rows:
        return text, None
    body = (line for label, of_row in rows for line in (label, *of_row))
    return "\n".join([*above, *years, *body]), summed


def longest_run(lines: Sequence[str], figures: Sequence[Sequence[str]]) -> int:
    """The most figures that stand below one another without words between them."""
    longest = now = 0
    for line, found in zip(lines, figures, strict=True):
        now = now + len(found) if found or not without_signs(line) else 0
        longest = max(longest, now)
    return longest


def labels_in(lines: Sequence[str], figures: Sequence[Sequence[str]]) -> list[Label]:
    """The lines of words: one that begins in lower case or with a bracket goes on from the line before."""
    labels: list[Label] = []
    group = 0
    for line, found in zip(lines, figures, strict=True):
        group += not line
        if found or not without_signs(line):
            continue
        last = labels[-1] if labels else None
        if last and goes_on(last.text, line):
            labels[-1] = last._replace(text=f"{last.text} {line}")
        else:
            labels.append(Label(line, group))
    return labels


def apart(labels: Sequence[Label]) -> tuple[list[str], list[Label]]:
    """What stands above a table, as its periods and unit, and its labels with their headings; footers are left out."""
    above, rest = [], []
    for label in labels:
        text = label.text
        if _FOOTER.match(text):
            continue
        is_above = is_head(GridRow(text)) or money_of(text).unit or _TITLE.search(text) or _DAY.fullmatch(text)
        if is_above:
            above.append(text)
        else:
            rest.append(label)
    return above, rest


def is_heading(label: str) -> bool:
    """Whether a label certainly stands above rows and has no figure."""
    return label[-1] == ":" or (label.isupper() and not label.startswith("TOTAL"))


def may_be_heading(label: str) -> bool:
    """Whether a label stands above rows in most statements."""
    return bool(_HEADING.fullmatch(label)) and not label.lower().startswith("total")


def arranged(labels: Sequence[Label], values: Sequence[str], n: int) -> tuple[list[tuple[str, list[str]]], frozenset]:
    """Labels with their figures in ``n`` columns, none for headings: the arrangement in which most sums come out, and
    the labels of these; nothing where fewer than LEAST_SUMS do, or as many in another arrangement."""
    style, _ = style_of(values)
    best: list[tuple[int, dict, frozenset]] = []
    for places in selections(labels):
        extra = len(values) - n * len(places)
        if len(places) < LEAST_ROWS or not 0 <= extra <= MOST_NOISE:
            continue
        names, groups = [labels[place].text for place in places], [labels[place].group for place in places]
        by_group = [len([*part]) for _, part in groupby(groups)]
        for start, sizes in product(range(extra + 1), ([len(places)], by_group)):
            columns = columns_of(values[start:], sizes, n)
            found = sums(names, [[number(one, style) for one in column] for column in columns])
            rows = dict(zip(places, zip(*columns, strict=True), strict=True))
            if len(found) >= LEAST_SUMS and rows not in [one for _, one, _ in best]:
                best.append((len(found), rows, frozenset(names[place] for place in found)))
    best.sort(key=lambda one: -one[0])
    if not best or (len(best) > 1 and best[0][0] == best[1][0]):
        return [], frozenset()
    _, rows, summed = best[0]
    return [(label.text, [*rows.get(place, ())]) for place, label in enumerate(labels)], summed


def columns_of(values: Sequence[str], sizes: Sequence[int], n: int) -> list[list[str]]:
    """Values as ``n`` columns, which were read one after the other in each of some groups of rows."""
    columns: list[list[str]] = [[] for _ in range(n)]
    start = 0
    for size in sizes:
        for column in columns:
            column += values[start : start + size]
            start += size
    return columns


def selections(labels: Sequence[Label]) -> Iterator[list[int]]:
    """Which labels may have figures, by their place: all but headings, with or without those that may be headings, and
    without some lines above the first one or below the last, as names are."""
    all_places = [place for place, label in enumerate(labels) if not is_heading(label.text)]
    likely = [place for place in all_places if not may_be_heading(labels[place].text)]
    for places in (likely, all_places) if likely != all_places else (likely,):
        for first in range(min(MOST_NOISE, len(places))):
            for last in range(min(MOST_NOISE, len(places) - first)):
                yield places[first : len(places) - last]


def sums(labels: Sequence[str], columns: Sequence[Sequence[float | None]]) -> list[int]:
    """The rows that are, in every column, the sum of the rows above them, or what is left of one above them."""
    return [place for place, label in enumerate(labels) if _SUM.search(label) and _is_sum(place, columns)]


def _is_sum(place: int, columns: Sequence[Sequence[float | None]]) -> bool:
    ends = [column[place] or 0.0 for column in columns]
    off = OFF * min(map(last_digit, ends))
    for n_terms in range(2, min(MOST_TERMS, place) + 1) if any(ends) else ():
        terms = [[value or 0.0 for value in column[place - n_terms : place]] for column in columns]
        if all(abs(sum(of) - end) <= off for of, end in zip(terms, ends, strict=True)):
            return True
        if all(abs(of[0] - sum(of[1:]) - end) <= off for of, end in zip(terms, ends, strict=True)):
            return True
    return False


def last_digit(value: float) -> float:
    """One unit of the last digit of a printed value, of two behind the point at most."""
    return next((unit for unit in (1.0, 0.1) if abs(value / unit - round(value / unit)) < 1e-6), 0.01)

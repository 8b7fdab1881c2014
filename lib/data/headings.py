"""Where a text stands in its filing: the Item, the Note and the heading that were last printed above it.

They are read from the text alone, line by line, and carried forward to the pages that continue them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

ITEM = re.compile(r"\s*(?:part\s+[iv]+[,.\s-]+)?item\s*(\d{1,2}[ab]?)\b[.:\s—–-]*(.*)$", re.I)
NOTE = re.compile(r"\s*note\s+(\d{1,2}|[a-z])\b\s*[.:—–-]?\s*(.*)$", re.I)
EXHIBIT = re.compile(r"\s*(?:exhibit|ex)[\s-]+\d+(?:\.\d+)?[a-z]?\b", re.I)
WORD = re.compile(r"[A-Za-z][A-Za-z’'&-]*")
WHOLE = re.compile(r"[A-Z][\w’'&-]+(?: [\w’'&-]+)+\.")  # a heading that ends in a full stop
NO_HEADING = re.compile(r"refer to|see|total|•|\(", re.I)
SMALL = frozenset("a an and as at by for from in of on or the to with our your its their is are was be not".split())
MOST_ITEMS = 4  # on a page; one with more lists the contents
LONGEST, LONGEST_TITLE = 90, 120  # characters of a heading, and of an Item's or a Note's title
WRAPPED = 45  # characters of a line that may run on
FOLLOWED_BY = 80  # characters of prose in the two lines below a heading
MOST_DIGITS = 0.15  # of those
RUNNING, LEAST_RUNNING = 0.12, 3  # share and number of pages whose running head a line is
HEAD_LINES = 4
CUT = 80  # characters of an Item and of a Note in a place


class Place(NamedTuple):
    """A place in a filing; empty where nothing was printed above it."""

    item: str = ""
    note: str = ""
    heading: str = ""

    def __str__(self) -> str:
        return " | ".join(filter(None, (self.item[:CUT], self.note[:CUT], self.heading)))


def places(texts: Sequence[str]) -> Iterator[list[tuple[int, Place]]]:
    """For each page of one filing, in order: from which character on a place holds, the first from 0."""
    pages = [_lines(text) for text in texts]
    seen = Counter(line for page in pages for line in {_letters(line) for _, line in page if len(line) <= LONGEST})
    limit = max(LEAST_RUNNING, RUNNING * len(pages))
    running = {line for line, n_pages in seen.items() if n_pages > limit}
    place = Place()
    for page in pages:
        lines = [line for _, line in page]
        is_contents = len({match[1] for line in lines if (match := ITEM.match(line))}) > MOST_ITEMS
        if any(map(EXHIBIT.match, lines[:HEAD_LINES])):
            place = Place("Exhibit")
        found = [(0, place)]
        for number, (start, line) in enumerate(page):
            before, after = lines[number - 1] if number else "", lines[number + 1 : number + 3]
            if len(before) > WRAPPED and before[-1] not in '.:;!?)”"':  # a sentence runs on
                continue
            if opened := None if is_contents else _opened(line, after, place):
                place = opened
            elif _letters(line) not in running and _is_heading(line, " ".join(after)):
                place = place._replace(heading=line)
            else:
                continue
            found.append((start, place))
        yield found


def place_at(found: Sequence[tuple[int, Place]], character: int) -> Place:
    """The place that holds at a character of a page."""
    return next(place for start, place in reversed(found) if start <= character)


def _lines(text: str) -> list[tuple[int, str]]:
    """Where each line that is not blank starts, and its words."""
    starts, at = [], 0
    for line in text.split("\n"):
        if words := " ".join(line.split()):
            starts.append((at, words))
        at += len(line) + 1
    return starts


def _letters(line: str) -> str:
    return re.sub(r"[\d\W_]+", " ", line).strip().lower()


def _opened(line: str, after: Sequence[str], place: Place) -> Place | None:
    """The Item or Note that a line opens, whose title may stand in the next line; None where it opens none."""
    match = ITEM.match(line) or NOTE.match(line)
    title = match[2] or "".join(after[:1]) if match else ""
    if not ((title[:1].isupper() or title[:1] == "[") and len(title) <= LONGEST_TITLE):
        return None
    if match.re is ITEM:
        return Place(f"Item {match[1].upper()} {title}")
    return Place(place.item, f"Note {match[1]} {title}")


def _is_heading(line: str, after: str) -> bool:
    """Whether a line has the form of a heading, and prose follows."""
    if not 4 <= len(line) <= LONGEST or line[-1] in ",;" or NO_HEADING.match(line):
        return False
    if line[-1] == "." and not WHOLE.fullmatch(line):
        return False
    if len(after) < FOLLOWED_BY or sum(map(str.isdigit, after)) >= MOST_DIGITS * len(after):
        return False
    words = WORD.findall(line)
    big = [word for word in words if word.lower() not in SMALL]
    if sum(map(str.isalpha, line)) < 0.75 * len(line.replace(" ", "")) or not 1 <= len(big) <= 10:
        return False
    return words[0][0].isupper() and sum(word[0].isupper() for word in big) >= 0.8 * len(big)

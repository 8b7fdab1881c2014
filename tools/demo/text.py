"""The wording of the filings: sections of paragraphs in ``text/*.txt``, with slots for names and numbers.

A file is a list of sections, each opened by ``= name``. In a section, one line is one paragraph; ``## `` opens a
heading, ``(2020-2021) `` keeps a paragraph to those fiscal years, ``@name `` marks it so that a question can point at
it, and ``a | b | c`` is a row of a small table.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LINE = re.compile(r"(?:\((?P<first>\d{4})-(?P<last>\d{4})\) )?(?:@(?P<mark>\w+) )?(?P<text>.+)")


@dataclass(frozen=True)
class Paragraph:
    text: str
    mark: str | None = None
    is_heading: bool = False


@cache
def sections(name: str) -> dict[str, list[str]]:
    """The raw lines of each section of ``text/<name>.txt``."""
    found: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "text" / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            found[line[2:]] = current = []
        elif line.strip():
            current.append(line)
    return found


def paragraphs(name: str, section: str, year: int, slots: Mapping[str, str]) -> list[Paragraph]:
    """A section's paragraphs for a fiscal year, with its slots filled; one that comes out empty is left out.

    Raises:
        KeyError: there is no such section, or a slot has no value.
    """
    found = []
    for line in sections(name)[section]:
        if line.startswith("## "):
            found.append(Paragraph(line[3:].format_map(slots), is_heading=True))
            continue
        parts = _LINE.fullmatch(line)
        if parts["first"] and not int(parts["first"]) <= year <= int(parts["last"]):
            continue
        text = parts["text"].format_map(slots).strip()
        if text:
            found.append(Paragraph(text, parts["mark"]))
    return found


def rows(name: str, section: str) -> list[list[str]]:
    """A section of ``a | b | c`` lines as lists of cells."""
    return [[cell.strip() for cell in line.split("|")] for line in sections(name)[section]]

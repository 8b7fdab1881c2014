"""Pages of a filing that an archive does not search, as their text layer is none or no text, and what helps."""

import shlex
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from lib.data.pdf import shown_without_text
from lib.data.records import printable
from lib.text.legible import legible

FIRST = "first page is page 0"
MOST_RUNS = 12  # of pages in a message


def page_ranges(pages: Sequence[int]) -> str:
    """Numbers of pages in words: ``pages 0, 3 to 7 and 9 (first page is page 0)``."""
    runs = [[page for _, page in run] for _, run in groupby(enumerate(pages), lambda pair: pair[1] - pair[0])]
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs[:MOST_RUNS]]
    if n_more := sum(map(len, runs[MOST_RUNS:])):
        parts.append(f"{n_more} more")
    head, _, last = ", ".join(parts).rpartition(", ")
    return f"page{'s' * (len(pages) > 1)} {f'{head} and {last}' if head else last} ({FIRST})"


def trusted(source: Path, root: Path, texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts of a filing's pages, blank where they cannot be trusted, and a message for each kind of such pages."""
    pages, unread = legible(texts)
    name = source.relative_to(root).as_posix()
    path = shlex.quote(name)
    is_pdf = source.suffix.lower() == ".pdf"
    redo = f"recognise them (OCR), as with ocrmypdf --force-ocr {path} {path}" if is_pdf else "give them text"
    messages = [
        f"{page_ranges(numbers)}: {why} in place of text, as from a font without a right map; not searched; {redo}"
        for why, numbers in unread.items()
    ]
    blank = [number for number, text in enumerate(texts) if not text.strip()]
    if blank and len(blank) < len(texts):
        counted = f"{len(blank)} of {len(texts)} pages have no text: {page_ranges(blank)}"
        shown = sorted({*shown_without_text(source)} & {*blank}) if is_pdf else []
        which = "; all show" if shown == blank else f"; {page_ranges(shown)} shows" if shown else ""
        fix = f"{which} images; recognise them (OCR), as with ocrmypdf --skip-text {path} {path}"
        messages.append(counted + fix * bool(shown))
    return pages, [printable(f"{name}: {message}") for message in messages]

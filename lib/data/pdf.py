"""PDFs, read in a process of their own with limited memory and processor time: texts of pages, their layout, their
words with places, pictures of a page."""

import json
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lib.schema import StudyError

if TYPE_CHECKING:
    import pymupdf

ROOT = Path(__file__).resolve().parents[2]
MEMORY_MIB, PROCESSOR_S = 512, 60  # the longest filing of FinanceBench, 503 pages, takes 124 MiB and 5 s
MOST_PIXELS = 4_000_000  # of a picture; a letter page at 110 dpi has 1.1 million
#: MuPDF then goes on without the rest; FreeType's warnings of sizes are none.
NO_MEMORY = re.compile(r"alloc \(.*\) failed")
TOO_MUCH = (
    f"needs more than {MEMORY_MIB} MiB or {PROCESSOR_S} s to read, or crashes the reader; save it again, as with \
qpdf IN OUT"
)
OBJECT = re.compile(rb"\d\s+\d+\s+obj\b")
#: A word: left, top, right and bottom in points, and its text.
Word = tuple[float, float, float, float, str]
#: What a PDF says in place of its pages where only Adobe's reader shows them, an XFA form.
XFA_FORM = re.compile(r"please wait.*if this message is not eventually replaced", re.I | re.S)
XFA = "is an XFA form, whose pages other readers do not see; open it in Adobe Reader and print it to a PDF"
COVER_PAGES, MOST_NAMED = 2, 3  # of a portfolio; files in it that a message names
OUTLINES = 20  # drawings on a page without text that may be letters
SPAN = ("text", "size", "flags", "font")
MARK, MOST_MARKED = (1.0, 0.85, 0.2), 3  # a colour; places of a line that are marked
COLUMN_WIDTH = 60  # points between the right edges of a value and of its column's head


def read_texts(source: Path) -> tuple[list[str], str]:
    """The texts of a PDF's pages, and what is wrong with the file (empty if nothing is)."""
    if (output := _in_process("texts", source)) is None:
        return [], TOO_MUCH
    return tuple(json.loads(output))


def read_layout(source: Path) -> list[tuple[list[dict], list[list[float]]]]:
    """What :func:`layout_of` gives of every page of a PDF; a StudyError if it cannot be read within the limits."""
    if (output := _in_process("laid", source)) is None:
        raise StudyError(f"{source}: the PDF's layout {TOO_MUCH}")
    return json.loads(output)


def read_words(source: Path, pages: Sequence[int]) -> list[list[Word]]:
    """The words of some of a PDF's pages (from 0) with their places; a StudyError if it cannot be read within the
    limits."""
    if (output := _in_process("worded", source, list(map(int, pages)))) is None:
        raise StudyError(f"{source}: the PDF's words: {TOO_MUCH}")
    return [[tuple(word) for word in words] for words in json.loads(output)]


def read_labels(source: Path) -> list[str]:
    """What a PDF prints as the number of each page, such as ``iv``; none where it has no labels or cannot be read."""
    return json.loads(_in_process("labelled", source) or b"[]")


def shown_without_text(source: Path) -> list[int]:
    """The pages of a PDF (from 0) that show an image or many drawings and have no text; none if it cannot be read."""
    return json.loads(_in_process("shown", source) or b"[]")


def picture(source: Path, page: int, dpi: int, evidence: str = "") -> bytes:
    """A page (from 0) as PNG of at most MOST_PIXELS with its evidence marked: lines of the page, or a cell's row, value
    and head with tabs between; a StudyError if it cannot be drawn."""
    if not (image := _in_process("drawn", source, page, dpi, evidence)):
        raise StudyError(f"page {page} of {source.name} cannot be drawn")
    return image


def _in_process(function: str, source: Path, *arguments: object) -> bytes | None:
    """The output of a function of this module in a process with limits; None where it failed."""
    request = json.dumps([MEMORY_MIB, PROCESSOR_S, function, str(source.absolute()), *arguments]).encode()
    done = subprocess.run([sys.executable, "-m", "lib.data.pdf"], input=request, capture_output=True, cwd=ROOT)
    return done.stdout if done.returncode == 0 else None


def texts(source: str) -> bytes:
    """The result of :func:`read_texts` as JSON."""
    import pymupdf

    pages, wrong, message = [], "", ""
    is_whole = has_end(Path(source).read_bytes())
    try:
        with pymupdf.open(source) as pdf:
            if pdf.needs_pass:
                wrong = "is encrypted; save it without a password"
            elif pdf.is_pdf and is_whole:
                pages = [page.get_text().replace("\x00", "") for page in pdf]
                pages = [] if pdf.is_repaired and not any(pages) else pages
                wrong = no_filing(pdf, pages)
                pages = [] if wrong else pages
    except (RuntimeError, ValueError) as error:
        message = str(error)
    if NO_MEMORY.search(message + pymupdf.TOOLS.mupdf_warnings()):
        raise MemoryError("the text of a page is incomplete")
    wrong = wrong or ("" if pages else "is damaged, truncated or not a PDF; download it again")
    return json.dumps([pages, wrong]).encode()


def no_filing(pdf: "pymupdf.Document", pages: list[str]) -> str:
    """Why a PDF is only a cover of what it holds: a portfolio of other files, or an XFA form; empty if it is none."""
    if XFA_FORM.search("\n".join(pages[:1])):
        return XFA
    names = sorted(pdf.embfile_names(), key=lambda name: not name.lower().endswith(".pdf"))
    is_portfolio = pdf.xref_get_key(pdf.pdf_catalog(), "Collection")[0] != "null"
    if not (names and is_portfolio and len(pages) <= COVER_PAGES):
        return ""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    inside = ", ".join(names[:MOST_NAMED]) + more
    return f"is a portfolio, a cover of {inside}; extract them, as with pdfdetach -saveall IN, and put the PDFs here"


def shown(source: str) -> bytes:
    """The result of :func:`shown_without_text` as JSON."""
    import pymupdf

    with pymupdf.open(source) as pdf:
        kinds = [[kind for kind, _ in page.get_bboxlog()] if not page.get_text().strip() else [] for page in pdf]
    return json.dumps(
        [page for page, of in enumerate(kinds) if "fill-image" in of or "fill-imgmask" in of or len(of) >= OUTLINES]
    ).encode()


def has_end(content: bytes) -> bool:
    """Whether a PDF's bytes have its end, and after it no object, so that at most foreign bytes follow."""
    end = max(content.rfind(mark) for mark in (b"%%EOF", b"startxref"))
    return end >= 0 and not OBJECT.search(content, end)


def layout_of(page: "pymupdf.Page") -> tuple[list[dict], list[tuple[float, ...]]]:
    """The lines of a page in the order of its text, each with ``bbox`` and ``spans`` of the fields SPAN, and the boxes
    of its drawings; in points."""
    import pymupdf

    blocks = page.get_text("dict", flags=pymupdf.TEXTFLAGS_TEXT)["blocks"]
    lines = [
        {"bbox": line["bbox"], "spans": [{name: span[name] for name in SPAN} for span in line["spans"]]}
        for block in blocks
        for line in block["lines"]
    ]
    return lines, [drawing["rect"] for drawing in page.get_cdrawings() if drawing.get("rect")]


def laid(source: str) -> bytes:
    """The result of :func:`read_layout` as JSON."""
    import pymupdf

    with pymupdf.open(source) as pdf:
        return json.dumps(list(map(layout_of, pdf))).encode()


def worded(source: str, pages: list[int]) -> bytes:
    """The result of :func:`read_words` as JSON."""
    import pymupdf

    with pymupdf.open(source) as pdf:
        found = [pdf[page].get_text("words") if page < len(pdf) else [] for page in pages]
    return json.dumps([[word[:5] for word in words] for words in found]).encode()


def labelled(source: str) -> bytes:
    """The result of :func:`read_labels` as JSON."""
    import pymupdf

    with pymupdf.open(source) as pdf:
        labels = [page.get_label() for page in pdf] if pdf.get_page_labels() else []
    return json.dumps(labels).encode()


def drawn(source: str, page: int, dpi: int, evidence: str) -> bytes:
    """The result of :func:`picture`."""
    import pymupdf

    with pymupdf.open(source) as pdf:
        sheet = pdf[page]
        for line in dict.fromkeys(line.strip() for line in evidence.splitlines() if len(line.strip()) > 3):
            row, *rest = line.split("\t")
            places = cell_places(*map(sheet.search_for, (row, *rest))) if rest else sheet.search_for(row)[:MOST_MARKED]
            for place in places:
                sheet.draw_rect(place, color=None, fill=MARK, fill_opacity=0.35, overlay=True)
        scale = min(dpi / 72, (MOST_PIXELS / (sheet.rect.width * sheet.rect.height)) ** 0.5)
        return sheet.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False).tobytes("png")


def cell_places(
    rows: Sequence["pymupdf.Rect"], values: Sequence["pymupdf.Rect"], heads: Sequence["pymupdf.Rect"]
) -> list:
    """The places of a cell: its row's label, its value on the same line, and the head of its column above the value."""
    pairs = [
        (row, value) for row in rows for value in values
        if min(row.y1, value.y1) > max(row.y0, value.y0) and value.x0 > row.x0
    ]  # fmt: skip
    if not pairs:
        return [*rows[:1], *values[:1]]
    row, value = min(pairs, key=lambda pair: (pair[0].y0, pair[1].x0))
    above = [head for head in heads if head.y1 <= value.y1 and abs(head.x1 - value.x1) <= COLUMN_WIDTH]
    return [row, value, *sorted(above, key=lambda head: (abs(head.x1 - value.x1), value.y0 - head.y0))[:1]]


if __name__ == "__main__":
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    memory_mib, processor_s, function, *arguments = json.load(sys.stdin)
    with suppress(ValueError, OSError):  # macOS has no limit of memory
        resource.setrlimit(resource.RLIMIT_AS, (memory_mib * 2**20,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (processor_s, processor_s + 1))
    functions = (texts, laid, worded, drawn, shown, labelled)
    sys.stdout.buffer.write({one.__name__: one for one in functions}[function](*arguments))

"""The rows of a spreadsheet: CSV as Excel and others save it, and the first sheet of an ``.xlsx`` file."""

import csv
import io
import math
import posixpath
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

Cell = str | int | float | bool
Row = tuple[int, list[Cell]]  # number, as a spreadsheet shows it; cells, blank ones empty

DELIMITERS = ",;\t|"
DECLARED = re.compile(r"sep=(.)\r?\n", re.I)  # a first line that tells Excel the delimiter
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MOST_BYTES = 200 * 2**20  # of a part of a workbook, unpacked
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
#: What is raised where a workbook is none, is damaged or has a password.
UNREADABLE = (
    *(
        BadZipFile,
        EOFError,
        IndexError,
        KeyError,
        NotImplementedError,
        OSError,
        RuntimeError,
        StopIteration,
        ValueError,
    ),
    *(zlib.error, ElementTree.ParseError),
)
REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
#: Built-in formats of numbers that are dates or times, and that are per cents.
DATES, PER_CENTS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}, {9, 10}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')  # parts of a format that are no codes, such as "days" or [Red]


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file that are not blank, the header first; a ValueError says what is wrong, and where."""
    rows = _xlsx(path) if path.suffix.lower() == ".xlsx" else _csv(path)
    return ((number, cells) for number, cells in rows if any(cell != "" for cell in cells))


def _csv(path: Path) -> Iterator[Row]:
    content = path.read_bytes()
    try:
        text = content.decode("utf-16" if content.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = content.count(b"\n", 0, error.start) + 1, content[error.start]
        fix = "save it as “CSV UTF-8”, or as .xlsx"
        raise ValueError(f"line {line}: byte 0x{byte:02x} is not UTF-8; {fix}") from None
    first_row = 1
    if declared := DECLARED.match(text):
        text, first_row = text[declared.end() :], 2
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=declared[1] if declared else _delimiter(text))
    number = first_row
    try:
        for number, cells in enumerate(rows, first_row):
            yield number, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise ValueError(f"behind row {number}: {error}; close every quote, and double those within a cell") from None


def _delimiter(text: str) -> str:
    """The delimiter that parts the first line into most cells, quotes kept together; a comma where none does."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return max(DELIMITERS, key=lambda sign: len(next(csv.reader([line], delimiter=sign), [])))


def _xlsx(path: Path) -> Iterator[Row]:
    try:
        with ZipFile(path) as book:
            sheet, tag = _first_sheet(book)
            shared = [_text(one, tag) for one in _part(book, "xl/sharedStrings.xml").iter(f"{tag}si")]
            formats = _formats(_part(book, "xl/styles.xml"), tag)
    except UNREADABLE as error:
        wrong = f"is no .xlsx workbook that can be read ({error})"
        raise ValueError(f"{wrong}; save it again as .xlsx without a password, or as “CSV UTF-8”") from None
    number = 0
    for row in sheet.iter(f"{tag}row"):
        number, cells = int(row.get("r") or number + 1), {}
        column = -1
        for cell in row.iter(f"{tag}c"):
            place = REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(place[1]) if place else column + 1
            cells[column] = _value(cell, tag, shared, formats, cell.get("r") or f"in row {number}")
        yield number, [cells.get(at, "") for at in range(max(cells, default=-1) + 1)]


def _part(book: ZipFile, name: str) -> ElementTree.Element:
    """A part of a workbook; an empty one where it has none."""
    if name not in book.namelist():
        return ElementTree.Element("none")
    if book.getinfo(name).file_size > MOST_BYTES:
        raise BadZipFile(f"{name} has more than {MOST_BYTES // 2**20} MiB")
    if b"<!DOCTYPE" in (content := book.read(name)):
        raise BadZipFile(f"{name} declares a document type")
    return ElementTree.fromstring(content)


def _first_sheet(book: ZipFile) -> tuple[ElementTree.Element, str]:
    """The first sheet that is shown, and the namespace of its tags."""
    workbook = _part(book, "xl/workbook.xml")
    tag = STRICT if workbook.tag.startswith(STRICT) else MAIN
    sheets = [one for one in workbook.iter(f"{tag}sheet") if one.get("state", "visible") == "visible"]
    if not sheets:
        raise BadZipFile("it has no sheet")
    wanted = next(value for name, value in sheets[0].items() if name.endswith("}id"))
    links = {one.get("Id"): one.get("Target", "") for one in _part(book, "xl/_rels/workbook.xml.rels")}
    target = links[wanted]
    return _part(book, target.lstrip("/") if target[:1] == "/" else posixpath.normpath(f"xl/{target}")), tag


def _column(letters: str) -> int:
    """The number of a column from 0: ``A`` is 0, ``AA`` 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _text(element: ElementTree.Element, tag: str) -> str:
    """A text in its runs, without the readings of Asian letters."""
    runs = [element, *element.findall(f"{tag}r")]
    return "".join(part.text or "" for run in runs for part in run.findall(f"{tag}t")).strip()


def _formats(styles: ElementTree.Element, tag: str) -> list[str]:
    """What the numbers of each style are: ``date``, ``%`` or empty."""
    codes = {int(one.get("numFmtId")): one.get("formatCode", "") for one in styles.iter(f"{tag}numFmt")}
    found = []
    for style in (one for part in styles.findall(f"{tag}cellXfs") for one in part):
        number = int(style.get("numFmtId") or 0)
        code = LITERAL.sub("", codes.get(number, "")).lower().replace("general", "")
        is_date = number in DATES or bool(re.search("[ymdhs]", code))
        found.append("date" if is_date else "%" if number in PER_CENTS or "%" in code else "")
    return found


def _value(cell: ElementTree.Element, tag: str, shared: list[str], formats: list[str], place: str) -> Cell:
    kind, text = cell.get("t", "n"), cell.findtext(f"{tag}v") or ""
    if kind == "inlineStr":
        return "".join(_text(one, tag) for one in cell.findall(f"{tag}is"))
    if kind == "e":
        raise ValueError(f"cell {place} has the error {text}; correct its formula, or write its value")
    if kind == "d" or (text and kind == "n" and formats[int(cell.get("s") or 0) :][:1] == ["date"]):
        raise ValueError(f"cell {place} is a date or a time; format its column as text and type it again")
    if not text and cell.find(f"{tag}f") is not None and kind != "str":
        fix = "save the file again in Excel, or write the value"
        raise ValueError(f"cell {place} has a formula without its value; {fix}")
    if kind == "s" and text:
        if not (text.isdecimal() and int(text) < len(shared)):
            raise ValueError(f"cell {place} has a text that the workbook lacks; save the file again in Excel")
        return shared[int(text)]
    if kind == "b":
        return text == "1"
    if kind == "str" or not text:
        return text.strip()
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"cell {place} is {text[:20]!r}; write a number or a text")
    if formats[int(cell.get("s") or 0) :][:1] == ["%"]:
        return f"{value * 100:.15g}%"
    return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.15g}")

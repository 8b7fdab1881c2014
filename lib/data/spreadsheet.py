"""The rows of a spreadsheet: CSV as Excel and others save it, and the first sheet of a workbook, by openpyxl."""

import csv
import io
import math
import re
import warnings
import zlib
from collections.abc import Iterator
from datetime import date, time, timedelta
from pathlib import Path
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile, ZipFile

from openpyxl import load_workbook
from openpyxl.cell import Cell as SheetCell
from openpyxl.utils.exceptions import InvalidFileException

Cell = str | int | float | bool
Row = tuple[int, list[Cell]]  # number, as a spreadsheet shows it; cells, blank ones empty

DELIMITERS = ",;\t|"
DECLARED = re.compile(r"sep=(.)\r?\n", re.I)  # a first line that tells Excel the delimiter
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MOST_BYTES = 200 * 2**20  # of a workbook, unpacked
#: What is raised where a workbook is none, is damaged or has a password.
UNREADABLE = (BadZipFile, InvalidFileException, ParseError, zlib.error, EOFError, OSError, RuntimeError)
UNREADABLE += (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)


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
    yield from csv_rows(text)


def csv_rows(text: str) -> Iterator[Row]:
    """The rows of a CSV text, blank ones too; a ValueError says which row has an open quote."""
    first_row = 1
    if declared := DECLARED.match(text):
        text, first_row = text[declared.end() :], 2
    csv.field_size_limit(MOST_BYTES)  # texts of whole pages and more
    delimiter = declared[1] if declared else _delimiter(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)  # else a quote swallows rows
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
    """The rows of the first sheet that is shown; values of formulas are those that were saved with them."""
    try:
        with ZipFile(path) as book:
            if sum(part.file_size for part in book.infolist()) > MOST_BYTES:
                raise BadZipFile(f"it has more than {MOST_BYTES // 2**20} MiB")
        sheets = [_first_sheet(path, has_values) for has_values in (True, False)]
        values, formulas = ([*sheet.iter_rows()] for sheet in sheets)
    except UNREADABLE as error:
        wrong = f"is no .xlsx workbook that can be read ({error})"
        raise ValueError(f"{wrong}; save it again as .xlsx without a password, or as “CSV UTF-8”") from None
    for number, (row, as_written) in enumerate(zip(values, formulas, strict=True), 1):
        yield number, [*map(_value, row, as_written)]


def _first_sheet(path: Path, has_values: bool):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what openpyxl leaves out, as styles
        book = load_workbook(path, data_only=has_values)
    shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if not shown:
        raise BadZipFile("it has no sheet")
    return shown[0]


def _value(cell: SheetCell, as_written: SheetCell) -> Cell:
    """A cell's value; a ValueError where it may mean two things."""
    value, place = cell.value, f"cell {cell.coordinate}"
    if cell.data_type == "e":
        raise ValueError(f"{place} has the error {value}; correct its formula, or write its value")
    if isinstance(value, date | time | timedelta):
        raise ValueError(f"{place} is a date or a time; format its column as text and type it again")
    if value is None and as_written.data_type == "f":
        raise ValueError(f"{place} has a formula without its value; save the file again in Excel, or write the value")
    if value is None or isinstance(value, str | bool):
        return value.strip() if isinstance(value, str) else value if value is not None else ""
    if not math.isfinite(value):
        raise ValueError(f"{place} is {value}; write a number or a text")
    if "%" in (cell.number_format or ""):
        return f"{value * 100:.15g}%"
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else float(f"{value:.15g}")

"""The records of a dataset's JSON lines as pydantic models, and the list of all problems found in them."""

import json
import math
import os
import re
from pathlib import Path
from typing import Annotated

from annotated_types import Predicate
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from lib.data.layout import DATA_ENDINGS, DOCUMENTS, OTHER_TABLES
from lib.data.rows import (
    DOCUMENT_FIELDS,
    QUESTION_FIELDS,
    Given,
    check_records,
    document_of,
    pages_of,
    questions_of,
    records_of,
)
from lib.data.spreadsheet import read_rows
from lib.files import report
from lib.schema import DatasetError, doc_type_label, invalid_values

NAME_RULE = "use ASCII letters, digits, '_', '-' and '.' only, at most 200"
ID_RULE = "use letters, digits and - _ . : / # + = @ only, such as 'q-1'"
PAGE_RULE = "give a whole number from 0, such as 49"
PAGE_ID_RULE = "give a filing and a page, such as '3M_2018_10K#p0049'"
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
NO_TYPE = "unlabelled"  # of a question
MOST_LETTERS, MOST_LINES = 80, 50  # of a wrong value in a message; of problems in it


def is_safe_name(name: str) -> bool:
    """Whether a filing's name can be a file name: no path separators, no leading dot."""
    return bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.&'-]{0,199}", name)) and ".." not in name


def _as_text(value: object) -> object:
    return str(value) if type(value) in (int, float) and math.isfinite(value) else value


def _as_id(value: object) -> object:
    return str(value) if type(value) is int else value


def _as_page(value: object) -> object:
    pages = pages_of(value)
    return pages[0] if len(pages) == 1 else value


def _as_page_id(text: str) -> str:
    doc_name, sign, page = text.rpartition("#p")
    if not (sign and is_safe_name(doc_name) and re.fullmatch("[0-9]{4,9}", page)):
        raise ValueError(PAGE_ID_RULE)
    return text


Name = Annotated[str, Predicate(is_safe_name), Field(description=NAME_RULE)]
#: No sign of an id has a meaning in HTML, or separates columns of a run.
Id = Annotated[str, BeforeValidator(_as_id), Field(pattern=r"^[\p{L}\p{M}\p{N}_.:/#+=@-]+$", description=ID_RULE)]
PageNumber = Annotated[int, BeforeValidator(_as_page), Field(ge=0, description=PAGE_RULE)]
MaybePage = Annotated[int | None, BeforeValidator(_as_page), Field(ge=0, description=PAGE_RULE)]
PageId = Annotated[str, AfterValidator(_as_page_id)]
Words = Annotated[str, Field(min_length=0)]  # a limit, so that half a surrogate pair is refused
Text = Annotated[Words, BeforeValidator(_as_text)]
Label = Annotated[Text, Field(pattern=r"^[^\p{Cc}\u2028\u2029]*$", description="give one line of text")]


class Page(BaseModel, strict=True):
    """A line of ``pages/<DOC>.jsonl``; the text of a blank page is empty."""

    doc_name: Name
    page: int
    text: Words


class Record(BaseModel, strict=True):
    """A record whose blank fields count as missing; fields that it does not name are not read."""

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value not in (None, []) and str(value).strip()}


class Piece(Record):
    """A piece of a question's evidence; without a page it is looked for by its text."""

    evidence_page_num: MaybePage = None
    evidence_text: Text = ""
    doc_name: str = ""
    over: list[PageNumber] = []  # the pages that the text runs over, where they are several
    line: int = 0  # where it was read
    is_flat: bool = False  # whether it was read from columns, where it has no number
    is_index: bool = False  # whether the page is the PDF's index, as it was found there


class Question(Record):
    """A question of a file; answers and evidence texts may be missing from all questions of a set.

    The filing is empty where the evidence's text alone says which it is.
    """

    financebench_id: Id
    question: Words
    answer: Text = ""
    question_type: Label = NO_TYPE
    doc_name: Name = ""
    evidence: list[Piece] = []
    company: Label = ""
    also: list[PageNumber] = []  # pages of the filing that answer in full, too
    other_filings: list[PageId] = []  # and pages of other filings


class Document(Record):
    """A line of a document information file; its year may be a text."""

    doc_name: Name
    company: Label
    gics_sector: Label = ""
    doc_type: Annotated[Label, AfterValidator(doc_type_label)] = "other"
    doc_period: int = Field(None, strict=False, ge=1900, le=2100)


class Link(Record):
    """The public address of a filing, of a line of a document information file."""

    doc_name: Name
    doc_link: Annotated[str, Field(pattern=r"^https?://[!-~]+$", description="give an address")] = ""


RULES = {
    name: field.description
    for model in (Page, Piece, Question, Document)
    for name, field in model.model_fields.items()
    if field.description
}


def printable(text: str) -> str:
    """A text without characters that forge lines in a message: those are shown as escapes."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


class Problems:
    """The list of what is wrong with a dataset, reported at once; files are named relative to its ``root``."""

    def __init__(self, root: Path):
        self.root, self.messages = Path(root), []

    def add(self, path: Path, message: str, line: int | None = None) -> None:
        where = printable(path.relative_to(self.root).as_posix()) + (f" {unit_of(path)} {line}" if line else "")
        self.messages.append(f"{where}: {message}")

    def one_file(self, *patterns: str) -> Path | None:
        """The one file in ``data`` of the first pattern that any matches; DOCUMENTS match no other pattern."""
        folder = self.root / "data"
        files = [path for path in sorted(folder.glob("*")) if path.name[0] != "." and path.name[:2] != "~$"]
        for pattern in patterns:
            paths = [path for path in files if path.match(pattern) and path.suffix.lower() in DATA_ENDINGS]
            paths = [path for path in paths if pattern == DOCUMENTS or not path.match(DOCUMENTS)]
            if len(paths) > 1:
                self.add(folder, f"more than one {pattern}: {', '.join(path.name for path in paths)}; leave one")
            if paths:
                return paths[0] if len(paths) == 1 and self.can_read(paths[0]) else None
        kinds = f"{' or '.join(patterns)} ({', '.join(DATA_ENDINGS)})"
        if others := [printable(path.name) for path in files if path.suffix.lower() in (*DATA_ENDINGS, *OTHER_TABLES)]:
            fix = "rename it, and save a workbook of another program as .xlsx"
            self.add(folder, f"no {kinds}; there are {', '.join(others)}: if one of them is meant, {fix}")
        else:
            self.add(folder, f"no {kinds}; see the dataset layout in book/reproduce.md")
        return None

    def can_read(self, path: Path, is_folder: bool = False) -> bool:
        """Whether a path is a readable file (or folder) within the root; a problem is added otherwise."""
        wrong = ""
        if not (path.is_dir() if is_folder else path.is_file()):
            wrong = "not a readable file; fix, rename or remove it"
        elif not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
            wrong = f"permission denied; allow reading, as with chmod u+r{'x' * is_folder}"
        elif not (target := path.resolve()).is_relative_to(self.root.resolve()):
            wrong = f"a link out of the folder, to {printable(str(target))}; copy the file here, or remove the link"
        if wrong:
            self.add(path, wrong)
        return not wrong

    def stop(self) -> None:
        """Raise DatasetError with every problem, at most MOST_LINES of them, if there is any."""
        if unique := list(dict.fromkeys(self.messages)):
            count = f"{len(unique)} problem" + ("s" if len(unique) > 1 else "")
            rest = [f"and {len(unique) - MOST_LINES} more"] if len(unique) > MOST_LINES else []
            raise DatasetError("\n  ".join([f"{self.root}: {count}", *unique[:MOST_LINES], *rest]))


Records = list[tuple[int, str, BaseModel | None]]  # line; the filing that it names; the record, None where it is wrong


def read_records(path: Path, model: type[BaseModel], problems: Problems) -> Records:
    """The records of JSON lines, of a JSON array or of a spreadsheet; each wrong field, line or row is a problem."""
    fields = QUESTION_FIELDS if model is Question else DOCUMENT_FIELDS
    given = _given(path, problems, fields)
    if model in (Question, Document):
        try:
            check_records(given, fields)
        except ValueError as error:
            problems.add(path, str(error))
    if model is not Question:
        return [record for one in given if (record := _record(path, *one, model, problems))]
    records = []
    for number, fields, wrong in questions_of(given, unit_of(path)):
        if wrong:
            problems.add(path, wrong, number)
        elif record := _record(path, number, fields, model, problems):
            records.append(record)
    return sorted(records, key=lambda record: record[0])


def unit_of(path: Path) -> str:
    """What the records of a file are numbered by."""
    return {".jsonl": "line", ".json": "record"}.get(path.suffix.lower(), "row")


def _record(
    path: Path, number: int, given: object, model: type[BaseModel], problems: Problems
) -> tuple[int, str, BaseModel | None] | None:
    record = None
    try:
        given = document_of(given) if model is Document and isinstance(given, dict) else given
        record = model.model_validate(given)
    except ValidationError as error:
        for place, kind, message in invalid_values(error):
            if rule := RULES.get(place[-1] if place else ""):
                message = f"{message.partition('; ')[0]}; {rule}"
            others = (
                [name for name in given if name not in (*model.model_fields, "columns")] if kind == "missing" else []
            )
            if others:
                message += f", and {', '.join(map(repr, others))} is not read"
            problems.add(path, f"{_in_file(place, given) or f'the {unit_of(path)}'} {message}", number)
    except ValueError as error:
        problems.add(path, str(error), number)
    return (number, str(given.get("doc_name") or ""), record) if isinstance(given, dict) else None


def _in_file(place: tuple[str | int, ...], given: object) -> str:
    """The name that a wrong value has in its file: of a column, where it was read from one."""
    if not place or not isinstance(given, dict):
        return ""
    columns, (first, *rest) = given.get("columns", {}), place
    if first == "evidence" and len(rest) > 1 and given["evidence"][rest[0]].get("is_flat"):
        field = "evidence_page_num" if rest[1] == "over" else rest[1]
        return columns.get(field) or columns.get("evidence", field)
    return ".".join(map(str, [columns.get(first, first), *rest]))


def _given(path: Path, problems: Problems, fields: tuple[str, ...]) -> list[Given]:
    """What stands in each line, record or row of a file that is not blank."""
    if path.suffix.lower() not in (".jsonl", ".json"):
        try:
            return [*records_of(read_rows(path), fields, lambda message: report(f"{path}: {message}"))]
        except ValueError as error:
            problems.add(path, str(error))
            return []
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add(path, f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8", line)
        return []
    if path.suffix.lower() == ".json":
        try:
            array = json.loads(text, object_pairs_hook=_unique)
        except (RecursionError, ValueError) as error:
            problems.add(path, f"invalid JSON ({error}); correct it, or give a record a line in a file .jsonl")
            return []
        if not isinstance(array, list):
            problems.add(path, "no array; put the records into [ ], or give one a line in a file .jsonl")
            return []
        return [*enumerate(array, 1)]
    given = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            given.append((number, json.loads(line, object_pairs_hook=_unique)))
        except (RecursionError, ValueError) as error:
            fix = "name an array of records .json" if text.lstrip()[:1] == "[" else "fix or remove the line"
            problems.add(path, f"invalid JSON ({error}); {fix}", number)
    return given


def _unique(pairs: list[tuple[str, object]]) -> dict:
    record, names = dict(pairs), [name for name, _ in pairs]
    if len(record) < len(pairs):
        raise ValueError(f"the field {max(names, key=names.count)!r} is repeated")
    return record

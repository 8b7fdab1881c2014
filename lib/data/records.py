"""The records of a dataset's JSON lines as pydantic models, and the list of all that is wrong with them.

The models state the type and the range of every field, and what would mend it.
"""

import json
import math
import os
import re
import unicodedata
from pathlib import Path
from typing import Annotated

from annotated_types import Predicate
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from lib.data.layout import DOCUMENTS
from lib.schema import DatasetError, doc_type_label

NAME_RULE = "use ASCII letters, digits, '_', '-' and '.' only, at most 200"
SIGNS = "-_.:/#+=@"  # of an id: none has a meaning in HTML, or separates columns
ID_RULE = f"use letters, digits and {' '.join(SIGNS)} only, such as 'q-1'"
MOST_LETTERS, MOST_LINES = 80, 50  # of a wrong value in a message; of problems in it


def is_safe_name(name: str) -> bool:
    """Whether a filing's name can be a file name: no path separators, no leading dot."""
    return bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.&'-]{0,199}", name)) and ".." not in name


def is_safe_id(text: str) -> bool:
    """Whether a question's id can stand in a run file and on a page: letters and digits of any script, and SIGNS."""
    return bool(text) and all(one in SIGNS or unicodedata.category(one)[0] in "LMN" for one in text)


def printable(text: str) -> str:
    """A text without characters that forge lines in a message: those are shown as escapes."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


class Problems:
    """The list of what is wrong with a dataset, reported at once; files are named relative to its ``root``."""

    def __init__(self, root: Path):
        self.root, self.messages = Path(root), []

    def add(self, path: Path, message: str, line: int | None = None) -> None:
        where = printable(path.relative_to(self.root).as_posix()) + (f" line {line}" if line else "")
        self.messages.append(f"{where}: {message}")

    def one_file(self, *patterns: str) -> Path | None:
        """The one file in ``data`` of the first pattern that any matches; DOCUMENTS match no other pattern."""
        folder = self.root / "data"
        for pattern in patterns:
            found = [path for path in sorted(folder.glob(pattern)) if not path.name.startswith(".")]
            found = [path for path in found if pattern == DOCUMENTS or not path.match(DOCUMENTS)]
            if len(found) == 1:
                return found[0] if self.can_read(found[0]) else None
            if found:
                self.add(folder, f"more than one {pattern}: {', '.join(path.name for path in found)}; leave one")
                return None
        self.add(folder, f"no {' or '.join(patterns)}; see the dataset layout in book/reproduce.md")
        return None

    def can_read(self, path: Path, is_folder: bool = False) -> bool:
        """Whether a path is a file (or a folder) within the root that may be read; what is wrong otherwise is noted."""
        wrong = ""
        if not (path.is_dir() if is_folder else path.is_file()):
            wrong = "is no file that can be opened; mend, rename or remove it"
        elif not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
            wrong = f"must not be read; give yourself the right, as with chmod u+r{'x' * is_folder}"
        elif not (target := path.resolve()).is_relative_to(self.root.resolve()):
            wrong = f"leads out of the folder, to {printable(str(target))}; copy it here, or remove it"
        if wrong:
            self.add(path, wrong)
        return not wrong

    def stop(self) -> None:
        """Raise DatasetError with every problem, at most MOST_LINES of them, if there is any."""
        if unique := list(dict.fromkeys(self.messages)):
            count = f"{len(unique)} problem" + ("s" if len(unique) > 1 else "")
            rest = [f"and {len(unique) - MOST_LINES} more"] if len(unique) > MOST_LINES else []
            raise DatasetError("\n  ".join([f"{self.root}: {count}", *unique[:MOST_LINES], *rest]))


def read_json_lines(path: Path, problems: Problems) -> list[tuple[int, dict]]:
    """The objects of a JSON-lines file with their lines' numbers; other lines are problems, but blank ones."""
    found, content = [], path.read_bytes()
    try:
        texts = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add(path, f"byte 0x{content[error.start]:02x} is no UTF-8; save the file as UTF-8", line)
        return []
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text, object_pairs_hook=_once)
        except (RecursionError, ValueError) as error:
            problems.add(path, f"broken JSON ({error}); mend or remove the line", number)
            continue
        if isinstance(record, dict):
            found.append((number, record))
        else:
            problems.add(path, "not a JSON object; write one record a line, in braces", number)
    return found


def _once(pairs: list[tuple[str, object]]) -> dict:
    record, names = dict(pairs), [name for name, _ in pairs]
    if len(record) < len(pairs):
        raise ValueError(f"the field {max(names, key=names.count)!r} stands in it twice")
    return record


def _as_text(value: object) -> object:
    return str(value) if type(value) in (int, float) and math.isfinite(value) else value


CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
Name = Annotated[str, Predicate(is_safe_name), Field(description=NAME_RULE)]
Words = Annotated[str, Predicate(lambda text: not re.search("[\ud800-\udfff]", text)), Field(description="give a text")]
Text = Annotated[Words, BeforeValidator(_as_text), Field(description="give a text or a number")]
Label = Annotated[Text, Predicate(lambda text: not CONTROL.search(text)), Field(description="give one line of text")]
Year = Annotated[int, Field(strict=False, ge=1900, le=2100, description="give a year such as 2024, or leave it out")]
Id = Annotated[str, Predicate(is_safe_id), Field(description=ID_RULE)]


class Page(BaseModel, strict=True):
    """A line of ``pages/<DOC>.jsonl``."""

    doc_name: Name
    page: int = Field(description="count from 0, leave none out")
    text: Words = Field(description="give the page's text; a blank page has the empty text")


class Stated(BaseModel, strict=True):
    """A record whose blank fields count as missing; fields that it does not name are not read."""

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value not in (None, []) and str(value).strip()}


class Piece(Stated):
    """A piece of a question's evidence."""

    evidence_page_num: int = Field(ge=0, description="give the PDF's page index, from 0")
    evidence_text: Words = Field("", description="quote the page")
    doc_name: str = ""


class Question(Stated):
    """A line of a question file; answers and evidence texts may be missing from all lines of a set."""

    financebench_id: Id
    question: Words
    answer: Text = ""
    question_type: Label
    doc_name: Name
    evidence: list[Piece] = Field(description="give a list of objects with evidence_page_num and evidence_text")
    company: Label = ""


class Document(Stated):
    """A line of a document information file; its year may be a text."""

    doc_name: Name
    company: Label
    gics_sector: Label = ""
    doc_type: Annotated[Label, AfterValidator(doc_type_label)] = "other"
    doc_period: Year = None


MODELS = Piece, Page, Document, Question
MENDS = {name: field.description for model in MODELS for name, field in model.model_fields.items()}
Records = list[tuple[int, str, BaseModel | None]]  # line, the filing that it names, perhaps wrongly; None where wrong


def read_records(path: Path, model: type[BaseModel], problems: Problems) -> Records:
    """The records of a JSON-lines file; each wrong field is noted."""
    found = []
    for number, given in read_json_lines(path, problems):
        record = None
        try:
            record = model.model_validate(given)
        except ValidationError as error:
            for one in error.errors(include_url=False, include_context=False):
                field, *inside = one["loc"]
                name = " of ".join([*map(str, inside[1:]), f"evidence {inside[0] + 1}"]) if inside else field
                value = "missing" if one["type"] == "missing" else repr(one["input"])
                value = value if len(value) <= MOST_LETTERS else value[: MOST_LETTERS - 1] + "…"
                problems.add(path, f"{name} is {value}; {MENDS[(inside[1:] or [field])[0]]}", number)
        found.append((number, str(given.get("doc_name") or ""), record))
    return found

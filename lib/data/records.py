"""The records of a dataset as pydantic models: the type and range of every field, and what would mend it."""

import math
import re
from pathlib import Path
from typing import Annotated

from annotated_types import Predicate
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from lib.data.layout import Line, Problems, read_json_lines

SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.&'-]{0,199}")
NAME_RULE = "use ASCII letters, digits, '_', '-' and '.' only, at most 200"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
HALF = re.compile("[\ud800-\udfff]")  # of a character, which no file can hold
MOST_LETTERS = 80  # of a wrong value in a message


def is_safe_name(name: object) -> bool:
    """Whether a filing's name can be a file name: no path separators, no leading dot."""
    return isinstance(name, str) and bool(SAFE_NAME.fullmatch(name)) and ".." not in name


def is_blank(value: object) -> bool:
    """Whether a field is as good as missing."""
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def is_id(text: str) -> bool:
    """Whether a text can stand in a run file: no space and nothing invisible."""
    return text.isprintable() and " " not in text


def shortened(value: object) -> str:
    """A wrong value as a message quotes it."""
    text = repr(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def _as_text(value: object) -> object:
    return str(value) if type(value) in (int, float) and math.isfinite(value) else value


def _as_year(value: object) -> object:
    is_digits = isinstance(value, str) and re.fullmatch("[0-9]{4}", value)
    return int(value) if is_digits or (isinstance(value, float) and value.is_integer()) else value


Name = Annotated[str, Predicate(is_safe_name), Field(description=NAME_RULE)]
Words = Annotated[str, Predicate(lambda text: not HALF.search(text)), Field(description="give a text")]
Text = Annotated[Words, BeforeValidator(_as_text), Field(description="give a text or a number")]
Label = Annotated[Text, Predicate(lambda text: not CONTROL.search(text)), Field(description="give one line of text")]


class Record(BaseModel):
    """A line of a file; fields that it does not name are not read."""

    model_config = ConfigDict(strict=True)


class Page(Record):
    """A line of ``pages/<DOC>.jsonl``."""

    doc_name: Name
    page: int = Field(description="count from 0, leave none out")
    text: Words = Field(description="give the page's text; a blank page has the empty text")


class Stated(Record):
    """A record whose blank fields count as missing."""

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: object) -> object:
        is_record = isinstance(given, dict)
        return {name: value for name, value in given.items() if not is_blank(value)} if is_record else given


class Piece(Stated):
    """A piece of a question's evidence."""

    evidence_page_num: int = Field(ge=0, description="give the PDF's page index, from 0")
    evidence_text: Words = Field("", description="quote the page")
    doc_name: str = ""


class Question(Stated):
    """A line of a question file; answers and evidence texts may be missing from all lines of a set."""

    financebench_id: Annotated[str, Predicate(is_id)] = Field(description="give a text without a space, such as 'q-1'")
    question: Words
    answer: Text = ""
    question_type: Label
    doc_name: Name
    evidence: list[Piece] = Field(description="give a list of objects with evidence_page_num and evidence_text")
    company: Label = ""


class Document(Stated):
    """A line of a document information file."""

    doc_name: Name
    company: Label
    gics_sector: Label = ""
    doc_type: Label = "other"
    doc_period: Annotated[int, BeforeValidator(_as_year)] = Field(
        None, ge=1900, le=2100, description="give a year such as 2024, or leave it out"
    )

    @property
    def identity(self) -> tuple:
        """What two descriptions of a filing may not differ in."""
        return self.company, self.doc_type, self.doc_period


MENDS = {
    name: field.description for model in (Piece, Page, Document, Question) for name, field in model.model_fields.items()
}


def read_records(
    path: Path, model: type[Record], problems: Problems, without: tuple[str, ...] = ()
) -> list[tuple[Line, Record | None]]:
    """The records of a JSON-lines file with their lines; None for a wrong one, each field of which is noted.

    Fields of ``without`` are not read.
    """
    found = []
    for line in read_json_lines(path, problems):
        given = {name: value for name, value in line.record.items() if name not in without}
        try:
            found.append((line, model.model_validate(given)))
        except ValidationError as error:
            found.append((line, None))
            for message in _messages(error):
                problems.add(line, message)
    return found


def _messages(error: ValidationError) -> list[str]:
    """A sentence for each field that is wrong, and one for those that are missing."""
    errors = error.errors(include_url=False, include_context=False)
    lacks = [one["loc"][0] for one in errors if one["type"] == "missing" and len(one["loc"]) == 1]
    messages = [f"the line has no {', '.join(lacks)}; fill in what is missing"] if lacks else []
    for one in errors:
        field, *inside = one["loc"]
        if field not in lacks:
            name = " of ".join([*map(str, inside[1:]), f"evidence {inside[0] + 1}"]) if inside else field
            value = "missing" if one["type"] == "missing" else shortened(one["input"])
            messages.append(f"{name} is {value}; {MENDS[(inside[1:] or [field])[0]]}")
    return messages

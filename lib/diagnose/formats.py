"""Formats of run files, as other programs write them: a strict parser for each, behind one table (FORMATS)."""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lib.data.spreadsheet import csv_rows, read_rows
from lib.diagnose.fields import (
    DECODER,
    PARTS,
    QUESTION_ID,
    QUESTION_TEXT,
    Row,
    listed,
    number,
    passage,
    passages_of,
    plain_name,
    question_of,
    quoted,
)
from lib.schema import StudyError

TREC = "TREC"
FORM = "TREC lines 'question_id Q0 docno rank score tag', or JSON with question_id and results of document and page"
TWO_RUNS = "if the file has two runs, give each a file of its own"
#: Files that are no text, by how they begin.
NO_TEXT = {
    b"PK\x03\x04": "a zip file; unpack it, and name a workbook of Excel .xlsx",
    b"PAR1": "a Parquet file; write it as JSON lines, as with pandas' to_json(lines=True, orient='records')",
    b"%PDF": "a PDF; give what the system retrieved, as JSON lines or TREC",
    b"\x80\x04": "a pickle, which is not opened; write the run as JSON lines",
    b"\xff\xfe": "UTF-16, as PowerShell's > writes; save it as UTF-8",
    b"\xfe\xff": "UTF-16; save it as UTF-8",
}
RUN_NAMES = "run run_id run_name run_tag tag system model retriever method experiment pipeline".split()
WRAPPERS = ("results", "data", "samples", "questions", "queries", "items", "rows", "records", "run", "runs")
BLANK = re.compile(r"\s*")
RANK = re.compile(r"-?\d+")
WITH_TAG_OF_WORDS = re.compile(r"(?P<doc>.*?#p\S+|\S+)\s+(?P<rank>\S+)\s+(?P<score>\S+)\s+(?P<tag>\S.*)")
DELIMITERS = "\t;,"
N_TRIED = 20  # lines that choose a layout of lines


class Parsed(NamedTuple):
    """A file's passages in its order, and the questions that it has, those without a passage too."""

    form: str
    rows: list[Row]
    questions: list[str]
    is_listed: bool = False  # each question's passages are a list from the best on; else scores or ranks order them


class Format(NamedTuple):
    """A format: whether a text may be of it, and its parser, whose ValueError names the place."""

    name: str
    is_it: Callable[[str], bool]
    parse: Callable[[str], Parsed]


def parse(path: Path) -> Parsed:
    """The passages of a run file, maybe gzipped.

    Raises:
        StudyError: it cannot be read, is of no format, or a line or record of it is wrong, with its place.
    """
    try:
        if path.suffix.lower() == ".xlsx" and path.is_file():
            found = _workbook(path)
        else:
            text = _text(path)
            found = next(one for one in FORMATS if one.is_it(text)).parse(text)
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path} {error}") from None
    if not found.questions:
        raise StudyError(f"{path} has no row; give {FORM}")
    return found


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StudyError(f"{path} cannot be read ({reason}); give a file of {FORM}") from None
    if what := next((what for begin, what in NO_TEXT.items() if content.startswith(begin)), ""):
        raise StudyError(f"{path} is {what}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 ({error}); save it as UTF-8") from None
    if text.count("\x00") > len(text) // 4:
        raise StudyError(f"{path} has null characters, as a text in UTF-16 without a mark; save it as UTF-8")
    return text.replace("\x00", "")  # which texts of PDFs have


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Put a place before the message of a ValueError."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: {error}") from None


# JSON


def _json(text: str) -> Parsed:
    """Lines, an array, or values one behind the other: questions with lists, rows, or an object by question."""
    values, at, line = [], 0, 1
    while (start := BLANK.match(text, at).end()) < len(text):
        line += text.count("\n", at, start)
        try:
            value, at = DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: {error.msg}; correct the JSON") from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {line}: {error}") from None
        values.append((f"line {line}", value))
        line += text.count("\n", start, at)
    if len(values) > 1 or not isinstance(values[0][1], list | dict):
        return _records("JSON lines", values)
    return _of_one(values[0][1])


def _of_one(value: list | dict) -> Parsed:
    """A file of one JSON value: an array of records, one record, or an object by question."""
    if isinstance(value, list):
        return _records("JSON array", [(f"record {number}", one) for number, one in enumerate(value, 1)])
    if question_of(value) is not None:
        return _records("JSON lines", [("line 1", value)])
    wrapped = next((value[name] for name in value if plain_name(name) in WRAPPERS), None)
    if isinstance(wrapped, list | dict):
        return _of_one(wrapped)
    inner = [one for one in value.values() if isinstance(one, dict)]
    if inner and len(inner) == len(value) and all(map(_is_by_question, inner)):
        if len(inner) > 1:
            raise ValueError(f"has the runs {listed(value)}; give each a file of its own")
        return _of_one(inner[0])
    rows, is_scored = [], _is_by_question(value)
    for question, given in value.items():
        with _at(f"question {quoted(question)}"):
            found = given.items() if is_scored else _listed(given)
            rows += [passage(question, [*one] if is_scored else one) for one in found]
    return Parsed("JSON by question", rows, [*value], not is_scored)


def _is_by_question(value: dict) -> bool:
    """Whether an object has objects of scores by docno, as ranx, pytrec_eval and BEIR write them."""
    inner = [one for one in value.values() if isinstance(one, dict)]
    is_scores = ({*map(type, one.values())} <= {int, float} for one in inner)
    return bool(value) and len(inner) == len(value) and all(is_scores)


def _listed(given: object) -> list:
    """The passages of a question's value: a list, or an object with one."""
    found = passages_of(given) if isinstance(given, dict) else given
    if not isinstance(found, list):
        what = f"an object with the keys {listed(given)}" if isinstance(given, dict) else quoted(given)
        raise ValueError(f"{what} is no list of passages; name the id 'question_id' and the list 'results'")
    return found


def _records(form: str, values: list[tuple[str, object]]) -> Parsed:
    """Records that are each a question with a list of passages, or each a passage with its question."""
    rows, places, kinds, runs = [], {}, {}, {}
    for place, record in values:
        with _at(place):
            if not isinstance(record, dict):
                raise ValueError(f"{quoted(record)} is no object; give {FORM}")
            if (question := question_of(record)) is None:
                raise ValueError(f"no question among the keys {listed(record)}; name its id 'question_id'")
            passages = passages_of(record)
            if kinds.setdefault(passages is None, place) and len(kinds) > 1:
                raise ValueError("a passage, where others are questions with lists, or the reverse; give one kind")
            if passages is None:
                rows.append(passage(question, _without_question(record)))
                _refuse_two_runs(record, runs.setdefault(question, {}))
            elif question in places:
                raise ValueError(f"question {quoted(question)} stands in {places[question]}, too; {TWO_RUNS}")
            else:
                rows += [passage(question, one) for one in passages]
            places.setdefault(question, place)
    return Parsed(form, rows, [*places], True not in kinds)


def _refuse_two_runs(record: dict, of_question: dict[str, object]) -> None:
    """A ValueError where a column of runs' names has another value than before for the question."""
    for name, value in record.items():
        if plain_name(name) in RUN_NAMES and of_question.setdefault(name, value) != value:
            both = f"{quoted(of_question[name])} and {quoted(value)}"
            raise ValueError(f"the {name} of this question is {both}; {TWO_RUNS}")


def _without_question(record: dict) -> dict:
    return {name: one for name, one in record.items() if plain_name(name) not in (*QUESTION_ID, *QUESTION_TEXT)}


# tables with a head


def _has_head(text: str) -> bool:
    names = {plain_name(name) for name in re.split(f"[{DELIMITERS}]", _first_line(text).replace('"', ""))}
    known = {*QUESTION_ID, *QUESTION_TEXT}.union(*PARTS.values())
    return len(names & known) > 1


def _first_line(text: str) -> str:
    return text.lstrip().partition("\n")[0]


def _table(text: str) -> Parsed:
    """Lines with a head of names, as pandas' ``to_csv`` and spreadsheets write them: a passage a line."""
    return _of_rows("table with a head", ((f"row {number}", cells) for number, cells in csv_rows(text)))


def _workbook(path: Path) -> Parsed:
    """The first sheet of a workbook, a passage a row."""
    return _of_rows("workbook", ((f"row {number}", cells) for number, cells in read_rows(path)))


def _of_rows(form: str, rows: Iterator[tuple[str, list[object]]]) -> Parsed:
    (_, head), *rows = ((place, cells) for place, cells in rows if any(map(str.strip, map(str, cells))))
    values = []
    for place, cells in rows:
        if any(map(str.strip, map(str, cells[len(head) :]))):
            raise ValueError(
                f"{place}: {len(cells)} cells in place of {len(head)}; quote cells that have the delimiter"
            )
        record = {name: cell for name, cell in zip(head, cells, strict=False) if str(cell).strip()}
        values.append((place, record))
    return _records(form, values)


# lines without a head


def _trec(line: str) -> tuple[str, str, str, str, str]:
    """Question, docno, rank, score and tag of ``question_id Q0 docno rank score tag``; a docno may have spaces."""
    fields = line.split(maxsplit=2)
    rest = fields[2].rsplit(maxsplit=3) if len(fields) > 2 else []
    if len(rest) < 4:
        raise ValueError(f"{len(line.split())} fields in place of six; give {FORM}")
    return fields[0], *rest


def _trec_untagged(line: str) -> tuple[str, str, str, str, str]:
    return _trec(f"{line} -")


def _trec_with_words(line: str) -> tuple[str, str, str, str, str]:
    fields = line.split(maxsplit=2)
    found = WITH_TAG_OF_WORDS.fullmatch(fields[2]) if len(fields) > 2 else None
    if not found:
        raise ValueError(f"no 'docno rank score tag' behind the question; give {FORM}")
    return fields[0], found["doc"], found["rank"], found["score"], found["tag"]


def _ms_marco(line: str) -> tuple[str, str, str, str, str]:
    fields = line.split("\t") if "\t" in line else line.split()
    if len(fields) not in (3, 4):
        raise ValueError(f"{len(fields)} fields in place of three or four: question, docno, rank and maybe score")
    return *fields[:3], *fields[3:], *["", "-"][len(fields) - 3 :]


LAYOUTS = {
    TREC: _trec,
    "TREC without a tag": _trec_untagged,
    "TREC, tags with spaces": _trec_with_words,
    "question, docno, rank": _ms_marco,
}


def _is_read(layout: Callable[[str], tuple], line: str) -> bool:
    try:
        _, _, rank, score, _ = layout(line)
        number(score, "score")
    except ValueError:
        return False
    return bool(RANK.fullmatch(rank))


def _lines(text: str) -> Parsed:
    """Lines without a head, in the layout that reads most of the first ones."""
    lines = [(place, line) for place, line in enumerate(text.split("\n"), 1) if line.strip()]
    first = [line for _, line in lines[:N_TRIED]]
    form = max(LAYOUTS, key=lambda name: sum(_is_read(LAYOUTS[name], line) for line in first))
    rows, tags = [], {}
    for place, line in lines:
        with _at(f"line {place}"):
            question, docno, rank, score, tag = LAYOUTS[form](line.strip())
            if not RANK.fullmatch(rank):
                raise ValueError(f"the rank {quoted(rank)} is no whole number; give {FORM}")
            rows.append(Row(question, docno.strip(), score=number(score, "score"), rank=float(rank)))
            first_tag = tags.setdefault(question, tag)
            if tag != first_tag:
                both = f"{quoted(first_tag)} and {quoted(tag)}"
                raise ValueError(f"two runs in one file, with the tags {both}; give each a file of its own")
    return Parsed(form, rows, list(dict.fromkeys(row.question for row in rows)))


FORMATS = (
    Format("JSON", lambda text: text.lstrip()[:1] in ("{", "["), _json),
    Format("table", _has_head, _table),
    Format("lines", lambda text: True, _lines),
)

"""Questions as people write them: fields under other names, a row for each piece of evidence, evidence as text."""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

import yaml
from rapidfuzz import process
from rapidfuzz.distance import OSA

NAMES = Path(__file__).with_name("columns.yaml")
QUESTION_FIELDS = (
    *("financebench_id", "question", "answer", "question_type", "doc_name", "company", "also", "other_filings"),
    *("evidence", "evidence_page_num", "evidence_text"),
)
PIECE_FIELDS = ("evidence_page_num", "evidence_text", "doc_name")
DOCUMENT_FIELDS = ("doc_name", "company", "gics_sector", "doc_type", "doc_period")
TEXTS = ("evidence_text", "evidence")
#: Columns that a spreadsheet has, of each of these one.
NEEDED = {
    QUESTION_FIELDS: (("question",), ("doc_name", *TEXTS), ("evidence_page_num", *TEXTS)),
    DOCUMENT_FIELDS: (("doc_name",), ("company",)),
}
OF_THE_QUESTION = ("question", "answer", "question_type", "company")  # equal in all rows of a question
PDF_NAME = re.compile(r"(?:.*[\\/])?([^\\/]+)\.pdf", re.I | re.S)
STRUCTURED = re.compile(r"\s*(?:\[\s*[\[{\"'\]]|\{\s*[\"'])")  # how a list or a record begins that was written as text
NO_PAGE = {"", "-", "–", "—", "na", "n/a", "nan", "none", "null"}
PAGE_WORD = re.compile(r"\b(?:pages?|pp?)\b\.?", re.I)
BETWEEN_PAGES = re.compile(r"\s*(?:[,;&|\s]|\band\b)\s*")
BETWEEN_NAMES = re.compile(r"\s*[;|\n]\s*")
RANGE = re.compile(r"(\d{1,6})\s*[-–]\s*(\d{1,6})")
MOST_PAGES = 20  # of a range
READ_ELSEWHERE = {"doc_link"}  # columns that another reader of the file takes
NEAR = 0.8  # share of a name's letters that are right in a misspelt one, two swapped letters being one wrong
#: What an unread column seems to be, where no column is: without it a question would be another one.
SEEMS = (("evidence_page_num", re.compile(r"\bpages?\b", re.I)), ("evidence_text", re.compile("quot|evidence", re.I)))

Given = tuple[int, object]  # number of a line or row, and what stands there


@cache
def other_names() -> dict[str, list[str]]:
    """What people call each field, ``columns.yaml``."""
    return yaml.safe_load(NAMES.read_text(encoding="utf-8"))


def folded(name: object) -> str:
    """A column's name in lower case, with _ for all signs and blanks."""
    return re.sub(r"[\W_]+", "_", str(name).casefold()).strip("_")


@lru_cache(maxsize=1000)
def fields_of(names: tuple[str, ...], wanted: tuple[str, ...]) -> dict[str, str]:
    """The wanted field that each name is of, where it is of one.

    A ValueError says which names may be of the same field.
    """
    plain = {name: folded(name) for name in names}
    found: dict[str, str] = {}
    for field in wanted:
        own = [name for name in names if plain[name] == field]
        own = own or [name for name in names if plain[name] in other_names().get(field, ()) and name not in found]
        if len(own) > 1:
            raise ValueError(f"{' and '.join(map(repr, own))} may both be {field}; leave one, or name it {field}")
        found |= {name: field for name in own}
    return found


def renamed(record: Mapping, wanted: tuple[str, ...]) -> dict:
    """A record with the wanted fields under their own names, and the others as they are."""
    fields = fields_of(tuple(record), wanted)
    return {fields.get(name, name): value for name, value in record.items()}


def check_spelling(unread: Iterable[str], has: Set[str], wanted: tuple[str, ...]) -> None:
    """A ValueError where a wanted field is not among those that a file has, and an unread name is nearly its own."""
    has = has | {*TEXTS} if has & {*TEXTS} else has
    known = {name: field for field in wanted if field not in has for name in (field, *other_names().get(field, ()))}
    for name in unread:
        near = process.extractOne(folded(name), [*known], scorer=OSA.normalized_similarity, score_cutoff=NEAR)
        if near:
            meant = near[0] if known[near[0]] == near[0] else f"{near[0]}, which is {known[near[0]]},"
            raise ValueError(f"{name!r} is not read; is {meant} meant? Rename or remove it")


def records_of(
    rows: Iterable[tuple[int, Sequence]], wanted: tuple[str, ...], say: Callable[[str], None]
) -> Iterator[Given]:
    """The records of a spreadsheet's rows, whose first is the header; blank cells are left out.

    ``say`` is called with the columns that are not read. A ValueError says which column is missing or misspelt, or
    which row has more cells than the header.
    """
    rows = iter(rows)
    _, header = next(rows, (0, []))
    header = [str(name) for name in header]
    named = [name for name in header if name]
    if twice := {name for name in named if named.count(name) > 1}:
        raise ValueError(f"two columns are named {min(twice)!r}; rename or remove one")
    fields_by_name = fields_of(tuple(named), wanted)
    has = {*fields_by_name.values()}
    unread = [name for name in named if name not in fields_by_name]
    for field, seems in SEEMS if wanted == QUESTION_FIELDS else ():
        odd = [name for name in unread if seems.search(name)]
        if odd and has.isdisjoint((field, "evidence") if field == "evidence_text" else (field,)):
            raise ValueError(f"column {odd[0]!r} is not understood; name it {field}, or remove it")
    if others := [name for name in unread if folded(name) not in READ_ELSEWHERE]:
        say(f"columns that are not read: {', '.join(map(repr, others))}")
    check_spelling(unread, has, wanted)
    for fields in NEEDED[wanted]:
        if has.isdisjoint(fields):
            others = other_names()[fields[0]]
            also = f" (or {', '.join(others[:4])})" if others else ""
            there = ", ".join(map(repr, named)) or "none"
            raise ValueError(f"no column {fields[0]}{also}; the columns are {there}")
    for number, cells in rows:
        if any(cell != "" for cell in cells[len(header) :]):
            more = f"row {number} has {len(cells)} cells and the header {len(header)}"
            raise ValueError(f"{more}; quote a cell that has the delimiter in it, or name its column")
        yield number, {name: cell for name, cell in zip(header, cells, strict=False) if name and cell != ""}


def check_records(given: Iterable[Given], wanted: tuple[str, ...]) -> None:
    """:func:`check_spelling` of all records of a file together; one alone may lack what others have."""
    names, has = {}, set()
    for _, record in given:
        if isinstance(record, dict):
            with suppress(ValueError):  # which is reported of the record
                fields_by_name = fields_of(tuple(record), wanted)
                has |= {*fields_by_name.values()}
                names |= dict.fromkeys(name for name in record if name not in fields_by_name)
    check_spelling(names, has, wanted)


def without_ending(name: object) -> object:
    """A filing's name without its folder and ``.pdf``, where it is written as a PDF's."""
    found = PDF_NAME.fullmatch(name.strip()) if isinstance(name, str) else None
    return found[1] if found else name


def document_of(record: Mapping) -> dict:
    """A line of document information under its own names."""
    fields = renamed(record, DOCUMENT_FIELDS)
    return fields | {"doc_name": without_ending(fields["doc_name"])} if "doc_name" in fields else fields


def questions_of(given: Iterable[Given], unit: str) -> Iterator[tuple[int, object, str]]:
    """The questions of a file's records, each with the number of its first one and what is wrong with it, if anything.

    Records with the same id whose evidence stands in columns are one question; so is one with neither id nor question
    and the record before it. One without an id is named by its number, as ``row-7``.
    """
    questions: dict[str, tuple[int, dict, bool]] = {}
    last, unnamed = "", {}
    for number, record in given:
        if not isinstance(record, dict):
            yield number, record, ""
            continue
        try:
            fields, is_flat = shaped(record, number)
        except ValueError as error:
            yield number, None, str(error)
            continue
        id = fields.get("financebench_id")
        if is_blank(id) and is_blank(fields.get("question")) and is_flat and last in questions:
            id = last
        elif is_blank(id):
            id = f"{unit}-{number}"
            asked = fields.get("question"), fields.get("doc_name")
            if (first := unnamed.setdefault(str(asked), number)) != number:
                fix = "give both one id, if their evidence belongs together, else remove one"
                yield number, None, f"asks what {unit} {first} asks, of the same filing; {fix}"
                continue
        key = repr(id) if not isinstance(id, str) else id
        fields["financebench_id"] = id
        first = questions.get(key)
        if first and first[2] and is_flat:
            if wrong := merged(first[1], fields, f"{unit} {first[0]}"):
                yield number, None, wrong
        elif first:
            yield number, None, f"question id {id} is repeated; give each question its own"
        else:
            questions[key] = number, fields, is_flat
        last = key
    yield from ((number, fields, "") for number, fields, _ in questions.values())


def merged(question: dict, row: Mapping, where: str) -> str:
    """Add a further row to a question; gives what speaks against it."""
    for name in OF_THE_QUESTION:
        if not (is_blank(row.get(name)) or is_blank(question.get(name)) or row[name] == question[name]):
            return f"{name} is not that of {where}, which has the same id; correct one of the two"
        if is_blank(question.get(name)) and not is_blank(row.get(name)):
            question[name] = row[name]
    known = [piece | {"line": 0} for piece in question["evidence"] if isinstance(piece, dict)]
    for piece in row["evidence"]:
        piece = piece | {} if piece.get("doc_name") else piece | {"doc_name": question.get("doc_name", "")}
        if piece | {"line": 0} in known:
            return f"repeats the evidence of {where}; remove one of the two"
        question["evidence"].append(piece)
    return "" if row["evidence"] else f"has no evidence and the id of {where}; remove it, or give it an id of its own"


def is_blank(value: object) -> bool:
    """Whether a field has nothing in it."""
    return value is None or value != value or (isinstance(value, (str, list)) and not str(value).strip(" []"))


def shaped(record: Mapping, number: int) -> tuple[dict, bool]:
    """A record in FinanceBench's fields, and whether its evidence is in columns; a ValueError says what is wrong.

    ``columns`` of the record are the names that the fields have in the file.
    """
    fields = renamed(record, QUESTION_FIELDS)
    columns = {field: name for name, field in fields_of(tuple(record), QUESTION_FIELDS).items()}
    flat = {name: fields.pop(name, None) for name in ("evidence_page_num", "evidence_text")}
    evidence = structured(fields.pop("evidence", None))
    evidence = evidence if isinstance(evidence, list) else [] if is_blank(evidence) else [evidence]
    docs = fields.get("doc_name")
    docs = BETWEEN_NAMES.split(docs.strip()) if isinstance(docs, str) else docs
    docs = docs if isinstance(docs, list) else [docs]
    docs = [without_ending(name) for name in docs if not is_blank(name)]
    for name in ("also", "other_filings"):
        if isinstance(fields.get(name), str):
            fields[name] = pages_of(fields[name]) if name == "also" else re.split(r"[\s,;]+", fields[name].strip())
    is_flat = all(isinstance(one, str) for one in evidence)
    if is_flat:
        texts = structured(flat["evidence_text"])
        texts = texts if isinstance(texts, list) else [] if is_blank(texts) else [texts]
        if evidence and texts:
            raise ValueError("two columns quote the evidence; leave one, or give each piece a row with the same id")
        texts = evidence or texts
        pieces = pieces_of(docs, pages_of(flat["evidence_page_num"]), texts)
    else:
        pieces = [piece for one in evidence for piece in piece_of(one)]
    of_pieces = [
        piece["doc_name"] for piece in pieces if isinstance(piece, dict) and not is_blank(piece.get("doc_name"))
    ]
    if is_blank(fields.pop("doc_name", None)):
        docs = of_pieces
    if docs:
        fields["doc_name"] = docs[0]
    about = {"line": number, "is_flat": is_flat}
    placed = [piece | about if isinstance(piece, dict) else piece for piece in pieces]
    return fields | {"evidence": placed, "columns": columns}, is_flat


def structured(value: object) -> object:
    """A list or record that was written as text, in JSON or as Python prints it; a ValueError where it is broken."""
    if not (isinstance(value, str) and STRUCTURED.match(value)):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise ValueError(f"evidence begins with {value.strip()[:20]!r} and is no JSON; correct it, or quote the page alone")


def piece_of(given: object) -> list:
    """A piece of evidence as one for each of its pages."""
    if isinstance(given, str):
        return [{"evidence_text": given}]
    if not isinstance(given, dict):
        return [given]
    fields = {name: value for name, value in renamed(given, PIECE_FIELDS).items() if name in PIECE_FIELDS}
    name = without_ending(fields.get("doc_name"))
    text = fields.get("evidence_text")
    texts = text if isinstance(text, list) else [] if is_blank(text) else [text]
    return pieces_of([] if is_blank(name) else [name], pages_of(fields.get("evidence_page_num")), texts) or [{}]


def pieces_of(docs: list, pages: list, texts: list) -> list[dict]:
    """Pieces of evidence by filings, pages and texts, of each none, one for all, or one a piece.

    One text of several pages is a quotation that stands on one of them, or runs ``over`` some: all are gold. A
    ValueError says that the numbers do not agree.
    """
    n = max(len(pages), len(texts), len(docs) if len(docs) > 1 else 0)
    counts = {"filings": docs, "pages": pages, "texts": texts}
    if any(len(them) not in (0, 1, n) for them in counts.values()) or (len(docs) > 1 and not (pages or texts)):
        has = ", ".join(f"{len(them)} {name}" for name, them in counts.items())
        raise ValueError(f"has {has}; give each piece of evidence a row of its own, with the same id")
    if len(texts) == 1 and n > 1 and len(docs) < 2:
        return [{"evidence_text": texts[0], "over": pages} | named(docs, 0)]
    of = lambda them, at: them[at if len(them) > 1 else 0] if them else None  # noqa: E731
    return [{"evidence_page_num": of(pages, at), "evidence_text": of(texts, at)} | named(docs, at) for at in range(n)]


def named(docs: list, at: int) -> dict:
    """The filing of a piece, where there is one."""
    return {"doc_name": docs[at if len(docs) > 1 else 0]} if docs else {}


def pages_of(value: object) -> list:
    """The pages that a cell names, such as ``3.0``, ``p. 49``, ``[3, 7]`` or ``12-14``; what is none stays as it is."""
    if isinstance(value, list):
        return [page for one in value for page in pages_of(one)]
    if value is None or value != value:
        return []
    if isinstance(value, float) and value.is_integer():
        return [int(value)]
    if not isinstance(value, str):
        return [value]
    text = PAGE_WORD.sub(" ", value.strip().strip("[]()")).strip()
    if text.casefold() in NO_PAGE:
        return []
    if found := RANGE.fullmatch(text):
        first, last = map(int, found.groups())
        return [*range(first, last + 1)] if first < last < first + MOST_PAGES else [value]
    parts = [re.sub(r"\.0+$", "", part) for part in BETWEEN_PAGES.split(text) if part]
    return [*map(int, parts)] if parts and all(re.fullmatch(r"[0-9]{1,6}", part) for part in parts) else [value]

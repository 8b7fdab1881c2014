"""Runs from outside: a TREC file, JSON lines or a frame as a run of the study, with notes on how it was read.

A row names its page by a docno, ``DOC#p0049`` or ``DOC#p0049#anything``, or by document and page. A line that is not a
row of a run is an error. What a system returned keeps its rank, also where its document or page does not exist; rows of
questions that the set does not have are left out. Both are counted in the notes.
"""

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.data.records import printable
from lib.metrics.retrieval import PAGE
from lib.schema import RUN_COLUMNS, StudyError

NO_PAGE = -9  # before no first page
LISTS, DOCUMENTS = ("pages", "passages", "results"), ("doc", "document", "doc_name")
FORM = "'question_id Q0 docno rank score tag', or JSON with question_id and pages or passages"
COLUMNS = ["question_id", "doc", "score", "page", "text"]  # of a table; doc may be a docno
DOCNO = re.compile(r"(?s:(?P<doc>.*?)#p(?P<number>[^#/\\]*)(?P<rest>#.*)?)")  # a path may have #p in a folder's name
LONGEST = 60  # value in a note, in characters
TREC, JSON_LINES, FRAME = "TREC", "JSON lines", "frame"
LARGEST = float(np.finfo(np.float32).max)  # score, as programs store one


class OutsideRun(NamedTuple):
    """A run from outside, as the study's functions take it."""

    run: pd.DataFrame  # RUN_COLUMNS; chunk_id is the docno, page NO_PAGE where none was named
    texts: dict[str, str]  # by chunk_id, of the first passages of each question if all came with one; else none
    notes: list[str]  # how it was read, a sentence each


def read_run(
    source: Path | str | pd.DataFrame, questions: pd.DataFrame, filings: pd.DataFrame, pages_from: int = 0, depth=20
) -> OutsideRun:
    """The run of a file or a frame over a set's questions and filings (FILING_COLUMNS).

    Rows of TREC lines and of a frame are ordered by falling score, inf first and -inf last; JSON's lists and a frame
    without scores stay as they are.

    Args:
        source: a path (TREC or JSON lines, maybe gzipped), or question_id, doc, page and maybe score and text.
        pages_from: the number of a filing's first page in it, 0 or 1.
        depth: of how many rows of a question texts are looked for.

    Raises:
        StudyError: it cannot be read, is not a run, or has no question or no document of the set.
    """
    if pages_from not in (0, 1):
        raise StudyError(f"pages_from is {pages_from!r}; give 0 or 1, the number of a filing's first page")
    is_frame = isinstance(source, pd.DataFrame)
    table, form = (_of_frame(source), FRAME) if is_frame else _of_file(Path(source))
    name = FRAME if is_frame else Path(source).name
    table, notes = _of_questions(table, questions, name)
    table = _with_places(table, filings, pages_from, name, notes)
    table = _ranked(table, form != JSON_LINES and table["score"].notna().all(), notes)
    if n_repeated := int(table.loc[table["page"] != NO_PAGE, PAGE].duplicated().sum()):
        notes.append(
            f"Rows of a page that is ranked above already: {n_repeated:,}; a page counts once, where it is first."
        )
    n_rows = table["question_id"].value_counts()
    least, most = n_rows.min(), n_rows.max()
    depths = f"{least:,} to {most:,}" if least < most else f"{most:,}"
    of = f"{len(n_rows):,} of the set's {len(questions):,} questions"
    notes.insert(0, f"Read {name} ({form}): {len(table):,} rows, {depths} for each of {of}; pages from {pages_from}.")
    table, texts = _with_ids(table, depth)
    return OutsideRun(table[list(RUN_COLUMNS)], texts, notes)


def read_docnos(path: Path) -> pd.DataFrame:
    """The pages of a TREC file with the study's docnos, in its order: question_id, rank, doc_name, page, score."""
    table, _ = _of_file(path)
    table["doc_name"], pages, _ = zip(*map(_split, table["doc"]), strict=True)
    table["page"] = [*map(int, pages)]
    table["rank"] = table.groupby("question_id", sort=False).cumcount() + 1
    return table[["question_id", "rank", "doc_name", "page", "score"]]


def _of_file(path: Path) -> tuple[pd.DataFrame, str]:
    """The rows of a file (COLUMNS; of TREC the first three), and its format."""
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 ({error}); save it as UTF-8") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StudyError(f"{path} cannot be read ({reason}); give a file of {FORM}") from None
    form, parse = (JSON_LINES, _of_json) if text.lstrip().startswith(("{", "[")) else (TREC, _of_trec)
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            rows += parse(line) if line.strip() else ()
        except (ValueError, TypeError, RecursionError) as error:
            raise StudyError(f"{path} line {number}: {error}; give {FORM}") from None
    if not rows:
        raise StudyError(f"{path} has no row; give {FORM}")
    table = pd.DataFrame(dict(zip(COLUMNS, zip(*rows, strict=True), strict=False)), dtype=object)
    return table.astype({"score": float}), form


def _of_trec(line: str) -> Iterator[tuple]:
    """The question_id, docno and score of a line; a ValueError where it is not a row."""
    if (n_fields := len(line.split())) < 6:
        raise ValueError(f"{n_fields} fields in place of six")
    question_id, _, rest = line.split(maxsplit=2)
    docno, _, score, _ = rest.rsplit(maxsplit=3)  # names of files may have spaces
    yield question_id, docno, _score(score)


def _of_json(line: str) -> Iterator[tuple]:
    """COLUMNS of each passage of a line; a ValueError where it is not a question with passages."""
    record = json.loads(line)
    passages = next((record[name] for name in LISTS if name in record), None) if isinstance(record, dict) else None
    if not isinstance(passages, list) or not isinstance(record.get("question_id"), str | int):
        raise ValueError(f"no object with question_id and a list of {', '.join(LISTS)}")
    for passage in passages:
        passage = passage if isinstance(passage, dict) else {"doc": passage}
        doc = next((passage[name] for name in DOCUMENTS if name in passage), None)
        if not isinstance(doc, str):
            raise ValueError(f"the passage {_quoted(passage)} names no document")
        yield str(record["question_id"]), doc, _score(passage.get("score")), passage.get("page"), passage.get("text")


def _of_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a frame: COLUMNS, maybe without page and text."""
    document = next((name for name in DOCUMENTS if name in frame), None)
    if "question_id" not in frame or document is None or frame.empty:
        raise StudyError("the frame is not a run; give rows with the columns question_id, doc, page, score, maybe text")
    table = frame.rename(columns={document: "doc"}).reset_index(drop=True)
    table = table[[name for name in COLUMNS if name in table]]
    table = table.assign(score=pd.to_numeric(table.get("score", np.nan), errors="coerce"))
    for column in ("question_id", "doc", "score"):
        is_missing = table[column].isna()
        if is_missing.any() and (column != "score" or "score" in frame):
            fix = "; give a number, or leave the column out where rows are in order" if column == "score" else ""
            raise StudyError(f"the frame: row {is_missing.argmax() + 1} has no {column}{fix}")
    return table.astype({"question_id": str, "doc": str})


def _score(value: object) -> float:
    """A score, infinite where it is too large, NaN where there is none; a ValueError or TypeError where it is no
    number."""
    try:
        score = float("nan" if value is None else value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    if value is not None and math.isnan(score):
        raise ValueError("the score is NaN, which has no place in an order; give a number, inf or -inf")
    return score


def _page(value: object) -> float:
    """The number of a page; NaN where a value is none, as ``True`` or ``ii``."""
    try:
        return math.nan if isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _split(docno: str) -> tuple[str, str, str]:
    """Document, number of the page as it is written, and what follows it."""
    match = DOCNO.fullmatch(docno)
    return (match["doc"], match["number"], match["rest"] or "") if match else (docno, "", "")


def _quoted(value: object) -> str:
    """A value of the run as a sentence names it: printable, short, in quotation marks."""
    text = printable(str(value))
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def _of_questions(table: pd.DataFrame, questions: pd.DataFrame, name: str) -> tuple[pd.DataFrame, list[str]]:
    """The rows of the set's questions, and notes on those that are unknown or missing."""
    is_in_set = table["question_id"].isin(questions["question_id"])
    if not is_in_set.any():
        first, example = _quoted(table["question_id"].iloc[0]), _quoted(questions["question_id"].iloc[0])
        raise StudyError(f"{name} has no question of the set: its first is {first}, the set's {example}")
    notes, others = [], table.loc[~is_in_set, "question_id"]
    if len(others):
        notes.append(f"Rows of questions not in the set: {len(others):,}, such as {_quoted(others.iloc[0])}; left out.")
    absent = questions.loc[~questions["question_id"].isin(table["question_id"]), "question_id"]
    if len(absent):
        notes.append(f"Questions without a row: {len(absent):,}, such as {_quoted(absent.iloc[0])}; they score 0.")
    return table[is_in_set].reset_index(drop=True), notes


def _with_places(table: pd.DataFrame, filings: pd.DataFrame, pages_from: int, name: str, notes: list[str]):
    """The rows with doc_name, page (from 0, else NO_PAGE) and ``rest``, what a docno has behind the page."""
    n_pages = filings.set_index("doc_name")["n_pages"]
    docnos = table["doc"].unique()  # of which a deep run repeats most
    parts = pd.DataFrame([_split(docno) for docno in docnos], docnos, ["doc", "number", "rest"])
    filing_of = {}
    for doc in parts["doc"].unique():  # maybe with a folder before it and .pdf behind
        file = re.split(r"[\\/]", doc.strip())[-1]
        names = doc, file, re.sub(r"(?i)\.pdf$", "", file)
        filing_of[doc] = next((one for one in names if one in n_pages.index), doc)
    parts["doc_name"] = parts["doc"].map(filing_of)
    if not parts["doc_name"].isin(n_pages.index).any():
        first, example = _quoted(parts["doc"].iloc[0]), _quoted(n_pages.index[0])
        raise StudyError(f"{name} has no document of the set: its first is {first}, a filing is named {example}")
    if renamed := [doc for doc, filing in filing_of.items() if filing != doc]:
        example = f"{_quoted(renamed[0])}, taken as {_quoted(filing_of[renamed[0]])}"
        notes.append(f"Documents named by a path or with .pdf: {len(renamed):,}, such as {example}.")
    of_row = parts.loc[table["doc"]].reset_index(drop=True)
    page = of_row["number"].map(_page)
    if "page" in table:
        page = table["page"].map(_page).astype(float).fillna(page)
    is_page = (page >= pages_from) & (page < 1e9) & (page % 1 == 0)
    page = (page - pages_from).where(is_page, NO_PAGE).astype("int64")
    last, is_doc = of_row["doc_name"].map(n_pages), of_row["doc_name"].isin(n_pages.index)
    for is_odd, what in (
        (~is_doc, "a document that the set does not have"),
        (is_doc & ~is_page, f"no page by its number, {pages_from} or higher"),
        (is_doc & (page >= last), "a page behind the last one of its filing"),
    ):
        if is_odd.any():
            row = table.iloc[is_odd.argmax()]
            example = _quoted(row["doc"] if row.get("page") is None else f"{row['doc']}, page {row['page']}")
            notes.append(f"Rows that name {what}: {is_odd.sum():,}, such as {example}; they keep their ranks.")
    if pages_from == 0 and (page == last).any() and not (page == 0).any():
        notes.append("No page is 0, and one is just behind a filing's last: if pages count from 1, give pages_from=1.")
    return table.assign(doc_name=of_row["doc_name"], page=page, rest=of_row["rest"])


def _ranked(table: pd.DataFrame, is_scored: bool, notes: list[str]) -> pd.DataFrame:
    """The rows with their rank, by question and, where ``is_scored``, falling score; else with scores that fall."""
    table = table.assign(place=pd.factorize(table["question_id"])[0]).sort_values("place", kind="stable")
    rises = table["place"][table["score"] > table.groupby("place")["score"].shift()]
    if len(rises):
        then = "rows are ordered by falling score, so negate distances" if is_scored else "the order is left as it is"
        notes.append(f"Questions with a row above one of a higher score: {rises.nunique():,}; {then}.")
    if is_scored:
        table = table.sort_values(["place", "score"], ascending=[True, False])
    of_question = table.groupby("place")
    if n_infinite := int(np.isinf(table["score"]).sum()):
        notes.append(f"Rows with an infinite score: {n_infinite:,}; inf is above all other scores, -inf below.")
    if n_equal := int((table["score"] == of_question["score"].shift()).sum()):
        then = "they stay in the given order, where trec_eval orders by docno"
        notes.append(f"Rows with the score of the row above: {n_equal:,}; {then}.")
    table["rank"] = of_question.cumcount() + 1
    if not (table["score"].abs() <= LARGEST).all() or not (is_scored or rises.empty):
        table["score"] = -table["rank"].astype(float)  # so that every program sees this order
    return table.drop(columns="place").reset_index(drop=True)


def _with_ids(table: pd.DataFrame, depth: int) -> tuple[pd.DataFrame, dict[str, str]]:
    """The rows with their chunk_id, and texts by it where all of the first ``depth`` rows of a question have one."""
    ids = table["doc_name"] + "#p" + table["page"].astype(str).str.zfill(4) + table["rest"]
    is_read = table["rank"] <= depth
    texts = table.loc[is_read, "text"] if "text" in table else pd.Series([None])
    if not all(isinstance(text, str) for text in texts):
        return table.assign(chunk_id=ids), {}
    ids[is_read] += [f"#t{sha1(text.encode('utf-8', 'replace')).hexdigest()[:12]}" for text in texts]
    return table.assign(chunk_id=ids), dict(zip(ids[is_read], texts, strict=True))

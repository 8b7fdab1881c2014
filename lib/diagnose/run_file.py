"""Runs from outside: a TREC file, JSON lines or a frame as a run of the study, and what was understood of it.

A row names its page by a docno, ``DOC#p0049`` or ``DOC#p0049#anything``, or by document and page. What a system
returned keeps its rank, also where its document or page does not exist; only what cannot be read as a row, or is of no
question of the set, is left out. Both are counted, in a sentence each.
"""

import gzip
import json
import math
import re
import sys
import zlib
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
COLUMNS = ["question_id", "doc", "score", "page", "text"]  # of what is read; doc may be a docno
LONGEST = 60  # value in a sentence, in characters
TREC, JSON_LINES = "TREC", "JSON lines"
LARGEST = float(np.finfo(np.float32).max)  # score, as programs keep one


class NoScoreError(ValueError):
    """A score is NaN, so that nobody knows where its row belongs."""

    def __str__(self) -> str:
        return "the score is NaN, which is above and below nothing; give a number, or inf or -inf"


class Given(NamedTuple):
    """A run from outside, as the study's functions take it."""

    run: pd.DataFrame  # RUN_COLUMNS; chunk_id is the docno, page NO_PAGE where none was named
    texts: dict[str, str]  # by chunk_id, of the first passages of each question if all came with one; else none
    said: list[str]  # what was understood, a sentence each


def read_run(
    given: Path | str | pd.DataFrame, questions: pd.DataFrame, filings: pd.DataFrame, pages_from: int = 0, depth=20
) -> Given:
    """The run of a file or a frame over a set's questions and filings (FILING_COLUMNS).

    Rows of TREC lines and of a frame are ordered by falling score, inf first and -inf last; JSON's lists and a frame
    without scores stay as they are.

    Args:
        given: a path (TREC or JSON lines, maybe gzipped), or question_id, doc, page and maybe score and text.
        pages_from: the number of a filing's first page in it, 0 or 1.
        depth: of how many rows of a question texts are looked for.

    Raises:
        StudyError: it cannot be read, is no run, or has no question or no document of the set.
    """
    if pages_from not in (0, 1):
        raise StudyError(f"pages_from is {pages_from!r}: say 0 or 1, the number of a filing's first page")
    is_frame = isinstance(given, pd.DataFrame)
    table, wrong, form = _of_frame(given) if is_frame else _of_file(Path(given))
    source, name, said = ("frame", "frame", []) if is_frame else (given, Path(given).name, [])
    if wrong:
        said.append(f"Entries that are no rows of a run: {len(wrong):,}, the first in line {wrong[0]}; left out.")
    table = _placed(_asked(table, questions, source, said), filings, pages_from, source, said)
    table = _ordered(table, form != JSON_LINES and table["score"].notna().all(), said)
    if n_again := int(table[PAGE].duplicated().sum()):
        said.append(f"Rows of a page that stands above already: {n_again:,}; a page counts once, where it is first.")
    texts = _named(table, depth)
    n_rows = table["question_id"].value_counts()
    least, most = n_rows.min(), n_rows.max()
    depths = f"{least:,} to {most:,}" if least < most else f"{most:,}"
    of = f"{len(n_rows):,} of the set's {len(questions):,} questions"
    said.insert(0, f"Read {name} ({form}): {len(table):,} rows, {depths} for each of {of}; pages from {pages_from}.")
    return Given(table[list(RUN_COLUMNS)], texts, said)


def read_docnos(path: Path) -> pd.DataFrame:
    """The pages of a TREC file with the study's docnos, in its order: question_id, rank, doc_name, page, score."""
    table, *_ = _of_file(path)
    table["doc_name"], numbers, _ = zip(*map(_split, table["doc"]), strict=True)
    table["page"] = [*map(int, numbers)]
    table["rank"] = table.groupby("question_id", sort=False).cumcount() + 1
    return table[["question_id", "rank", "doc_name", "page", "score"]]


def _shown(value: object) -> str:
    """A value of the run as a sentence names it: printable, short, in quotation marks."""
    text = printable(str(value))
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def _of_file(path: Path) -> tuple[pd.DataFrame, list[int], str]:
    """The rows of a file (COLUMNS; of TREC the first three), the line of each entry that is none, and the format."""
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise StudyError(f"{path} is a damaged gzip file ({error}); write it again") from None
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}; give a file that can be read") from None
    text = content.decode("utf-8-sig", "replace")
    form, of_line = (JSON_LINES, _of_json) if text.lstrip().startswith("{") else (TREC, _of_trec)
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            entries += [(number, row) for row in of_line(line)] if line.strip() else []
        except NoScoreError as error:
            raise StudyError(f"{path} line {number}: {error}") from None
    rows = [row for _, row in entries if row is not None]
    if not rows:
        raise StudyError(f"{path} is no run: no line of it is {FORM}; give such a file")
    table = pd.DataFrame(dict(zip(COLUMNS, zip(*rows, strict=True), strict=False)), dtype=object)
    return table.astype({"score": float}), [number for number, row in entries if row is None], form


def _of_trec(line: str) -> list[tuple | None]:
    """The row of a line: question_id, doc and score; None for a line that is none; a NoScoreError for NaN."""
    try:
        question_id, _, rest = line.split(maxsplit=2)
        docno, _, number, _ = rest.rsplit(maxsplit=3)  # names of files may have spaces
        score = float(number)
    except ValueError:
        return [None]
    return [(question_id, docno, _score(score))]


def _score(number: object) -> float:
    """A number as a score, infinite where it is too large; NaN for none, and a NoScoreError for NaN itself."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return math.nan
    if number != number:
        raise NoScoreError
    return float(number) if abs(number) <= sys.float_info.max else math.inf if number > 0 else -math.inf


def _of_json(line: str) -> list[tuple | None]:
    """The rows of a line, of docnos or of passages; None for the line, or for each of its items, that is none; a
    NoScoreError for NaN."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return [None]
    record = record if isinstance(record, dict) else {}
    question_id, listed = record.get("question_id"), next((record[name] for name in LISTS if name in record), None)
    if not isinstance(question_id, str | int) or not isinstance(listed, list):
        return [None]
    rows = []
    for one in listed:
        item = one if isinstance(one, dict) else {"doc": one}
        doc = next((item[name] for name in DOCUMENTS if name in item), None)
        row = str(question_id), doc, _score(item.get("score")), item.get("page"), item.get("text")
        rows.append(row if isinstance(doc, str) else None)
    return rows


def _of_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[int], str]:
    """The same as of a file of a frame, whose lines are its rows from 1."""
    document = next((name for name in DOCUMENTS if name in frame), None)
    if "question_id" not in frame or document is None or frame.empty:
        raise StudyError("the frame is no run: give rows with the columns question_id, doc, page, score and maybe text")
    table = frame.rename(columns={document: "doc"})
    table = table[[name for name in COLUMNS if name in table]]
    table = table.assign(score=pd.to_numeric(table.get("score", np.nan), errors="coerce"))
    is_row = table[["question_id", "doc"]].notna().all(axis=1)
    if not is_row.any():
        raise StudyError("the frame is no run: no row has a question_id and a doc; fill these columns")
    if "score" in frame and (is_unknown := is_row & table["score"].isna()).any():
        what = "has no number as its score; give each row one, or leave the column out where rows are in order"
        raise StudyError(f"the frame: row {is_unknown.to_numpy().argmax() + 1} {what}")
    wrong = (np.flatnonzero(~is_row) + 1).tolist()
    return table[is_row].astype({"question_id": str, "doc": str}), wrong, "frame"


def _asked(table: pd.DataFrame, questions: pd.DataFrame, source: object, said: list[str]) -> pd.DataFrame:
    """The rows of the set's questions; what is unknown or missing is said."""
    codes, names = pd.factorize(table["question_id"])
    is_known = names.isin(questions["question_id"])
    if not is_known.any():
        mend = f"its first is {_shown(names[0])}, the set's {_shown(questions['question_id'].iloc[0])}"
        raise StudyError(f"{source} has no question of the set: {mend}; use the set's ids")
    if not is_known.all():
        n_rows = int((~is_known[codes]).sum())
        example = _shown(names[~is_known][0])
        said.append(f"Rows of questions that the set does not have: {n_rows:,}, such as of {example}; left out.")
    absent = questions.loc[~questions["question_id"].isin(names), "question_id"]
    if len(absent):
        said.append(f"Questions without a row: {len(absent):,}, such as {_shown(absent.iloc[0])}; they score 0.")
    return table[is_known[codes]].reset_index(drop=True)


def _placed(
    table: pd.DataFrame, filings: pd.DataFrame, pages_from: int, source: object, said: list[str]
) -> pd.DataFrame:
    """The rows with doc_name, page (from 0) and ``rest``, what a docno has behind the page; what is odd is said."""
    n_pages = filings.set_index("doc_name")["n_pages"]
    codes, docnos = pd.factorize(table["doc"])  # of which a deep run repeats most
    parts = pd.DataFrame([_split(docno) for docno in docnos], columns=["doc", "number", "rest"])
    resolved = {}
    for doc in parts["doc"].unique():  # which may have a folder before it and .pdf behind
        bare = re.split(r"[\\/]", doc.strip())[-1]
        names = doc, bare, re.sub(r"(?i)\.pdf$", "", bare)
        resolved[doc] = next((name for name in names if name in n_pages.index), doc)
    parts["doc_name"] = parts["doc"].map(resolved)
    if not parts["doc_name"].isin(n_pages.index).any():
        mend = f"its first is {_shown(parts['doc'][0])}, a filing is named {_shown(n_pages.index[0])}"
        raise StudyError(f"{source} has no document of the set: {mend}; use the filings' names")
    other = [doc for doc, name in resolved.items() if name != doc]
    if other:
        example = f"{_shown(other[0])}, taken as {_shown(resolved[other[0]])}"
        said.append(f"Documents named by a path or with .pdf: {len(other):,}, such as {example}.")
    parts["page"] = [float(number) if number.isdecimal() else math.nan for number in parts["number"]]
    of_row = parts.iloc[codes].reset_index(drop=True)
    page = of_row["page"]
    if "page" in table:
        is_none = table["page"].map(_is_no_page)
        page = pd.to_numeric(table["page"].mask(is_none), errors="coerce").astype(float).fillna(page)
    is_page = (page >= pages_from) & (page < 1e9) & (page % 1 == 0)
    page = (page - pages_from).where(is_page, NO_PAGE).astype("int64")
    found = table.assign(doc_name=of_row["doc_name"], page=page, rest=of_row["rest"])
    last, is_doc = found["doc_name"].map(n_pages), found["doc_name"].isin(n_pages.index)
    for is_odd, what in (
        (~is_doc, "a document that the set does not have"),
        (is_doc & ~is_page, f"no page by its number, {pages_from} or higher"),
        (is_doc & (page >= last), "a page behind the last one of its filing"),
    ):
        if is_odd.any():
            row = table.iloc[is_odd.argmax()]
            example = _shown(row["doc"] if row.get("page") is None else f"{row['doc']}, page {row['page']}")
            said.append(f"Rows that name {what}: {is_odd.sum():,}, such as {example}; they keep their ranks.")
    if pages_from == 0 and (page == last).any() and not (page == 0).any():
        said.append("No page is 0, and one is just behind a filing's last: where pages count from 1, say pages_from=1.")
    return found


def _is_no_page(value: object) -> bool:
    """Whether a value is no page by what it is: ``true``, which is not 1, or an integer that no float holds."""
    return isinstance(value, bool | np.bool_) or (isinstance(value, int) and abs(value) > 1e9)


def _split(docno: str) -> tuple[str, str, str]:
    """Document, number of the page as it is written, and what is behind it."""
    doc, _, place = docno.partition("#p")
    number, mark, rest = place.partition("#")
    return doc, number, mark + rest


def _ordered(table: pd.DataFrame, is_scored: bool, said: list[str]) -> pd.DataFrame:
    """The rows with their rank, by question and, where ``is_scored``, falling score; else with scores that fall."""
    place = pd.factorize(table["question_id"])[0]
    table = table.assign(place=place).sort_values("place", kind="stable")
    rises = table["place"][table["score"] > table.groupby("place")["score"].shift()]
    if len(rises):
        then = "rows are ordered by falling score, so negate distances" if is_scored else "the order is left as it is"
        said.append(f"Questions with a row above one of a higher score: {rises.nunique():,}; {then}.")
    if is_scored:
        table = table.sort_values(["place", "score"], ascending=[True, False])
    of_question = table.groupby("place")
    if n_infinite := int(np.isinf(table["score"]).sum()):
        said.append(f"Rows with an infinite score: {n_infinite:,}; inf is above all other scores, -inf below.")
    if n_equal := int((table["score"] == of_question["score"].shift()).sum()):
        then = "they stay in the given order, where trec_eval orders by docno"
        said.append(f"Rows with the score of the row above: {n_equal:,}; {then}.")
    table["rank"] = of_question.cumcount() + 1
    if not (table["score"].abs() <= LARGEST).all() or not (is_scored or rises.empty):
        table["score"] = -table["rank"].astype(float)  # so that every program sees this order
    return table.drop(columns="place").reset_index(drop=True)


def _named(table: pd.DataFrame, depth: int) -> dict[str, str]:
    """Give the rows their chunk_id, and texts by it where all of the first ``depth`` rows of a question have one."""
    table["chunk_id"] = table["doc_name"] + "#p" + table["page"].astype(str).str.zfill(4) + table["rest"]
    if "text" not in table:
        return {}
    top = table.loc[table["rank"] <= depth, ["chunk_id", "text"]]
    if not all(isinstance(text, str) for text in top["text"]):
        return {}
    marks = [f"#t{sha1(text.encode('utf-8', 'replace')).hexdigest()[:12]}" for text in top["text"]]
    ids = top["chunk_id"] + marks
    table.loc[top.index, "chunk_id"] = ids
    return dict(zip(ids, top["text"], strict=True))

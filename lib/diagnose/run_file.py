"""Runs from outside: a file or a frame as a run of the study, with notes on how it was read.

What a system returned keeps its rank, also where its document or page does not exist; rows of questions that the set
does not have are left out. Both are counted in the notes. A passage over several pages has a row for each, of one rank.
"""

from collections import Counter
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from lib.diagnose.fields import Row, listed, n_of, passage, question_of, quoted
from lib.diagnose.formats import TWO_RUNS, Parsed, parse
from lib.diagnose.places import (
    ASK,
    BY_TEXT,
    GIVEN,
    NO_PAGE,
    Archive,
    first_number,
    with_filings,
    with_located,
    with_numbers,
)
from lib.metrics.retrieval import PAGE, page_hit
from lib.schema import RUN_COLUMNS, StudyError

FRAME = "frame"
LARGEST = float(np.finfo(np.float32).max)  # score, as programs store one
K = 5  # depth at which numbers from 0 and from 1 are compared, and shallower lists counted
LIKELY = 0.1  # p below which the other first number is asked about
WORDS = dict.fromkeys(map(ord, "\t\n\r?.!,;:\"'\u2018\u2019\u201c\u201d"), " ")


class OutsideRun(NamedTuple):
    """A run from outside, as the study's functions take it."""

    run: pd.DataFrame  # RUN_COLUMNS; chunk_id is the docno, page NO_PAGE where none was named
    texts: dict[str, str]  # by chunk_id, of the first passages of each question if all came with one; else none
    notes: list[str]  # how it was read, a sentence each
    answered: tuple[str, ...]  # ids of the set's questions that it has, those without a passage too


def read_run(
    source: Path | str | pd.DataFrame,
    questions: pd.DataFrame,
    filings: pd.DataFrame,
    pages_from: int | None = None,
    depth: int = 20,
    archive: Archive = Archive(),  # noqa: B008, a value
) -> OutsideRun:
    """The run of a file or a frame over a set's questions and filings (FILING_COLUMNS).

    Rows are ordered by falling score, equal ones by rank, inf first and -inf last; by rank where that contradicts all
    scores, as of distances; lists stay as they are.

    Args:
        source: a path, see :mod:`lib.diagnose.formats`, or a frame: question_id, doc, page, maybe score, rank, text.
        pages_from: the number of a filing's first page in it, 0 or 1; None to have it proved, and else 0.
        depth: of how many passages of a question texts are read.

    Raises:
        StudyError: it cannot be read, is not a run, has no question or no document of the set, names no page, or its
            first page's number is in doubt.
    """
    if pages_from not in (None, 0, 1):
        raise StudyError(f"pages_from is {pages_from!r}; give 0 or 1, the number of a filing's first page")
    is_frame = isinstance(source, pd.DataFrame)
    name = FRAME if is_frame else Path(source).name
    parsed = _of_frame(source) if is_frame else parse(Path(source))
    notes: list[str] = []
    table, answered = _of_questions(parsed, questions, archive, name, notes)
    table = _ranked(table, parsed.is_listed, name, notes)
    table = with_numbers(with_filings(table, filings, archive, name, notes), archive, name, notes)
    n_pages = filings.set_index("doc_name")["n_pages"]
    first, proof, is_settled = first_number(table, n_pages, archive, pages_from, name)
    table = with_located(table, archive, depth, name, notes)
    if not is_settled:
        proof = _checked(table, n_pages, questions, first, proof, name)
    read = _with_pages(table, n_pages, first)
    _note_places(table, read, n_pages, archive, first, name, notes)
    _note_absent(read, questions, answered, notes)
    depths = _depths(table, answered, notes)
    if n_repeated := int(read.loc[read["page"] != NO_PAGE, PAGE].duplicated().sum()):
        notes.append(f"Rows that repeat a page ranked higher: {n_repeated:,}; only the first counts.")
    of = f"{depths} for each of {len(answered):,} of the set's {n_of(len(questions), 'question')}"
    pages = f"pages {proof}" if proof == BY_TEXT else f"pages from {first}, {proof}"
    notes.insert(0, f"Read {name} ({parsed.form}): {n_of(len(table), 'passage')}, {of}; {pages}.")
    read, texts = _with_ids(read, depth)
    return OutsideRun(read[list(RUN_COLUMNS)], texts, notes, tuple(answered))


def read_docnos(path: Path) -> pd.DataFrame:
    """The pages of a TREC file with the study's docnos, in its order: question_id, rank, doc_name, page, score."""
    rows = pd.DataFrame(parse(path).rows)
    place = rows["doc"].str.extract(r"(?s)^(?P<doc_name>.*?)#p(?P<page>-?\d+)(?:#.*)?$")
    found = rows.assign(question_id=rows["question"], rank=rows["rank"].astype(int), doc_name=place["doc_name"])
    return found.assign(page=place["page"].astype(int))[["question_id", "rank", "doc_name", "page", "score"]]


def _of_frame(frame: pd.DataFrame) -> Parsed:
    """The passages of a frame, one a row."""
    rows, values = [], frame.astype(object).where(frame.notna(), None).to_dict("records")
    for place, record in enumerate(values, 1):
        try:
            if not (question := question_of(record)):
                raise ValueError(f"no question among the columns {listed(frame)}; name its id 'question_id'")
            rows.append(passage(question, record))
        except ValueError as error:
            raise StudyError(f"the frame: row {place}: {error}") from None
    if not rows:
        raise StudyError("the frame has no row; give question_id, doc and page, and maybe score, rank and text")
    return Parsed(FRAME, rows, list(dict.fromkeys(row.question for row in rows)))


def _words(text: str) -> str:
    return " ".join(text.translate(WORDS).casefold().split())


def _of_questions(
    parsed: Parsed, questions: pd.DataFrame, archive: Archive, name: str, notes: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows of the set's questions, with ``question_id``, and the ids of the questions that the run has."""
    ids = {one: one for one in questions["question_id"]}
    if "question" in questions:
        of_text = dict(zip(map(_words, questions["question"]), questions["question_id"], strict=True))
        ids = {one: of_text[_words(one)] for one in parsed.questions if _words(one) in of_text} | ids
    answered = [ids[one] for one in parsed.questions if one in ids]
    if not answered:
        first, example = quoted(parsed.questions[0]), quoted(questions["question_id"].iloc[0])
        raise StudyError(f"{name} has no question of the set: its first is {first}, the set's {example}")
    if twice := next((one for one, n in Counter(answered).items() if n > 1), "") if parsed.is_listed else "":
        raise StudyError(f"{name} has question {twice!r} twice, by its id and by its text; {TWO_RUNS}")
    others = [row.question for row in parsed.rows if row.question not in ids]
    unknown = [one for one in parsed.questions if one not in ids]
    if apart := [one for one in unknown if _words(one) in {*map(_words, archive.apart)}]:
        notes.append(f"Questions that are measured apart: {len(apart):,}, such as {quoted(apart[0])}; left out here.")
        unknown = [one for one in unknown if one not in apart]
    if unknown:
        n_others, example = len(unknown), unknown[0]
        others = [one for one in others if one in {*unknown}]
        said = f"Questions not in the set: {n_others:,}, such as {quoted(example)}"
        notes.append(f"{said}; their {n_of(len(others), 'passage')} left out.")
    answered = list(dict.fromkeys(answered))
    absent = questions.loc[~questions["question_id"].isin(answered), "question_id"]
    if len(absent):
        notes.append(f"Questions that the run does not have: {len(absent):,}, such as {quoted(absent.iloc[0])}.")
    rows = [row for row in parsed.rows if row.question in ids]
    if not rows:
        raise StudyError(f"{name} has no passage; give what was retrieved for each question, the best first")
    table = pd.DataFrame(rows, columns=Row._fields, dtype=object).astype({"score": float, "rank": float})
    return table.assign(question_id=table["question"].map(ids)), answered


def _ranked(table: pd.DataFrame, is_listed: bool, name: str, notes: list[str]) -> pd.DataFrame:
    """The rows by question and rank, from 1, with scores that fall."""
    table = table.assign(place=pd.factorize(table["question_id"])[0]).sort_values("place", kind="stable")
    has_ranks = _has_ranks(table, name)
    is_scored = table["score"].notna()
    if not is_listed and is_scored.any() and not is_scored.all():
        row = int(np.flatnonzero(~is_scored)[0]) + 1
        raise StudyError(f"{name}: passage {row} has no score, and others have; give one, or leave scores out")
    rises = table["place"][table["score"] > table.groupby("place")["score"].shift()]
    if is_listed:
        table = table.sort_values(["place", "rank"], kind="stable") if has_ranks else table
        if len(rises):
            notes.append(f"Questions with a row above one of a higher score: {rises.nunique():,}; the order stays.")
    elif has_ranks and (not is_scored.all() or _is_distance(table)):
        if is_scored.all():
            notes.append("Scores rise with the rank, as distances do; rows are ordered by rank.")
        table = table.sort_values(["place", "rank"], kind="stable")
    elif is_scored.all():
        if len(rises):
            then = "rows are ordered by falling score, so negate distances"
            notes.append(f"Questions with a row above one of a higher score: {rises.nunique():,}; {then}.")
        by = ["place", "score", "rank"] if has_ranks else ["place", "score"]
        table = table.sort_values(by, ascending=[True, False, True][: len(by)], kind="stable")
        n_equal = int((table["score"] == table.groupby("place")["score"].shift()).sum())
        then = "ties follow the rank" if has_ranks else "ties keep the file's order"
        if n_equal:
            notes.append(f"Rows with the score of the row above: {n_equal:,}; {then}, trec_eval would sort by docno.")
    if n_infinite := int(np.isinf(table["score"]).sum()):
        notes.append(f"Rows with an infinite score: {n_infinite:,}; inf is above all other scores, -inf below.")
    of_question = table.groupby("place")
    table["rank"] = of_question.cumcount() + 1
    falls = not (table["score"] > of_question["score"].shift()).any()
    if not falls or not (table["score"].abs() <= LARGEST).all():
        table["score"] = -table["rank"].astype(float)  # so that every program sees this order
    return table.drop(columns="place").reset_index(drop=True)


def _has_ranks(table: pd.DataFrame, name: str) -> bool:
    """Whether ranks tell a question's rows apart; a StudyError where each stands several times, as in two runs."""
    if table["rank"].isna().any() or table["rank"].nunique() < 2:
        return False
    times = table.groupby("place")["rank"].value_counts().groupby("place").agg(["min", "max", "size"])
    is_double = (times["min"] > 1) & (times["min"] == times["max"]) & (times["size"] > 1)
    if is_double.any():
        question = table.loc[table["place"] == is_double.idxmax(), "question_id"].iloc[0]
        raise StudyError(f"{name} has each rank of question {quoted(question)} several times; {TWO_RUNS}")
    return bool((times["max"] == 1).all())


def _is_distance(table: pd.DataFrame) -> bool:
    """Whether scores never fall and somewhere rise with the rank."""
    scores = table.sort_values(["place", "rank"]).groupby("place")["score"]
    steps = table.sort_values(["place", "rank"])["score"] - scores.shift()
    return bool((steps.dropna() >= 0).all() and (steps > 0).any())


def _checked(
    table: pd.DataFrame, n_pages: pd.Series, questions: pd.DataFrame, first: int, proof: str, name: str
) -> str:
    """What is known of the first page's number, ``first``, where texts do not prove it: ``proof``, or how many
    questions have a gold page among their first K passages so and by the other number.

    A StudyError asks where the other number finds gold pages of many more questions.
    """
    asked = questions[questions["question_id"].isin(table["question_id"])]
    hits = [page_hit(_with_pages(table, n_pages, one), asked, K) for one in (first, 1 - first)]
    so, otherwise = (int(of.sum()) for of in hits)
    won, lost = int((hits[1] > hits[0]).sum()), int((hits[1] < hits[0]).sum())
    have = f"have a page with evidence in the first {K} passages"
    found = f"counted from {first}, {so:,} of {n_of(len(asked), 'question')} {have}"
    if won > 2 * lost and binomtest(won, won + lost, alternative="greater").pvalue < LIKELY:
        fix = f"leave out --pages-from {first}, or correct the pages" if proof == GIVEN else ASK
        raise StudyError(f"{name}: {found}; counted from {1 - first}, {otherwise:,}; {fix}")
    return proof or f"which nothing proves: {found}; counted from {1 - first}, {otherwise:,}"


def _with_pages(table: pd.DataFrame, n_pages: pd.Series, first: int) -> pd.DataFrame:
    """The rows with ``page`` from 0, else NO_PAGE; a passage over several pages has a row for each."""
    start, end = (table[side] - np.where(table["is_index"], 0, first) for side in ("first", "last"))
    is_page = start >= 0
    n_rows = (end - start + 1).where(is_page, 1).astype(int)
    rows = table.assign(page=start.where(is_page, NO_PAGE).astype("int64")).loc[table.index.repeat(n_rows)]
    step = rows.groupby(level=0).cumcount()
    rows = rows.assign(page=rows["page"] + step)
    is_there = (step == 0) | (rows["page"] < rows["doc_name"].map(n_pages))  # a range may end behind the last page
    return rows[is_there].reset_index(drop=True)


def _note_places(
    table: pd.DataFrame,
    read: pd.DataFrame,
    n_pages: pd.Series,
    archive: Archive,
    first: int,
    name: str,
    notes: list[str],
) -> None:
    """Note rows whose filing or page does not exist; a StudyError where no row has a page."""
    is_doc = read["doc_name"].isin(n_pages.index)
    is_page = read["page"] != NO_PAGE
    if not (is_doc & is_page).any():
        value = next((one for one in table["given"] if one is not None), None)
        has = "none has one" if value is None else f"its first page is {quoted(value)}"
        fix = "name each passage's page 'page', a position in the PDF such as 12, or give its text"
        raise StudyError(f"{name}: no passage of a filing of the set has a number as its page ({has}); {fix}")
    is_other = read["doc_name"].isin(archive.others)
    if is_other.any():
        n_filings, example = read.loc[is_other, "doc_name"].nunique(), quoted(read.loc[is_other, "doc_name"].iloc[0])
        of = f"{is_other.sum():,}, of {n_filings:,} filings such as {example}"
        harder = "the run searched a larger index than the study's rows, which is harder"
        notes.append(f"Rows of filings that FinanceBench has and this set does not: {of}; {harder}.")
    if over := int((table["last"] > table["first"]).sum()):
        notes.append(f"Passages over two pages or three: {over:,}; each counts for all of its pages.")
    has_break = table["text"].str.contains("\f", regex=False, na=False) & (table["rank"] <= K)
    if n_breaks := int((has_break & (table["last"] == table["first"])).sum()):
        notes.append(f"Passages among the first {K} with a page break: {n_breaks:,}; each counts for its named page.")
    for is_odd, what in (
        (~is_doc & ~is_other & (read["doc_name"] != ""), "a document that the set does not have"),
        (is_doc & ~is_page, f"no page by its number, {first} or higher"),
        (is_doc & (read["page"] >= read["doc_name"].map(n_pages)), "a page behind the last one of its filing"),
    ):
        if is_odd.any():
            row = read[is_odd].iloc[0]
            page = row["given"] if row["given"] is not None else row["label"]
            example = quoted(row["doc_name"] if page is None else f"{row['doc_name']}, page {page}")
            notes.append(f"Rows that name {what}: {is_odd.sum():,}, such as {example}; they keep their ranks.")


def _note_absent(read: pd.DataFrame, questions: pd.DataFrame, answered: list[str], notes: list[str]) -> None:
    """Note filings that questions of the run ask about and of which it has no passage."""
    asked = questions[questions["question_id"].isin(answered) & ~questions["doc_name"].isin(read["doc_name"])]
    if len(asked):
        names = asked["doc_name"].unique()
        never = f"Never retrieved: {n_of(len(names), 'filing')} that {n_of(len(asked), 'question')} ask about"
        notes.append(f"{never}, such as {quoted(names[0])}; see that they are in the index.")


def _depths(table: pd.DataFrame, answered: list[str], notes: list[str]) -> str:
    """How many passages questions have, in words; note those with fewer than K."""
    n_rows = table["question_id"].value_counts().reindex(answered, fill_value=0)
    if n_short := int((n_rows < K).sum()):
        over = f"recall at {K} is taken over the passages there are"
        notes.append(f"Questions with fewer than {K} passages: {n_short:,}; {over}.")
    least, most = int(n_rows.min()), int(n_rows.max())
    return f"{least:,} to {most:,}" if least < most else f"{most:,}"


def _with_ids(table: pd.DataFrame, depth: int) -> tuple[pd.DataFrame, dict[str, str]]:
    """The rows with their chunk_id, and texts by it where all of the first ``depth`` rows of a question have one."""
    ids = table["doc_name"] + "#p" + table["page"].astype(str).str.zfill(4) + table["rest"]
    is_read = table["rank"] <= depth
    texts = table.loc[is_read, "text"]
    if not all(isinstance(text, str) for text in texts):
        return table.assign(chunk_id=ids), {}
    ids[is_read] += [f"#t{sha1(text.encode('utf-8', 'replace')).hexdigest()[:12]}" for text in texts]
    return table.assign(chunk_id=ids), dict(zip(ids[is_read], texts, strict=True))

"""Questions whose evidence is quoted without a page: the page is found in the filings, and a file says which.

The file, ``located.csv``, is for a person to look over; what stands beside it is read again while the questions and
the filings are as they were.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lib.data.layout import Dataset
from lib.data.quotation import APART, LEAST, MOST_PLACES, Found, Pages, Place, find
from lib.data.records import Piece, Problems, Question, Records, printable
from lib.files import digest_of, report, write_atomically

VERSION = 2
COLUMNS = ("question_id", "row", "piece", "doc_name", "page", "share", "quotation", "other_pages")
FOR_PERSONS, REMEMBERED = "located.csv", "located.json"
MOST_QUOTED = 60  # letters of a quotation in a message
GIVEN = "given, without a part of the quotation"


#: Filing, page (from 0) and text of each part of a piece, by the row and the number of the piece.
Parts = dict[tuple[int, int], list[tuple[str, int, str]]]


class Wanted(NamedTuple):
    """A piece of evidence whose page is looked for."""

    row: int
    question: Question
    number: int  # of the piece, from 0

    @property
    def piece(self) -> Piece:
        return self.question.evidence[self.number]

    @property
    def doc_name(self) -> str:
        """The filing that is named, or none."""
        return self.piece.doc_name or self.question.doc_name


def wanted_pieces(records: Records) -> list[Wanted]:
    """The pieces that have a text, and no page or several."""
    return [
        Wanted(row, question, number)
        for row, _, question in records
        if question
        for number, piece in enumerate(question.evidence)
        if piece.evidence_text and piece.evidence_page_num is None
    ]


def locate(
    records: Records,
    dataset: Dataset,
    texts: Callable[[set[str]], Mapping[str, list[str]]],
    problems: Problems,
    folder: Path | None,
) -> Records:
    """The records with the page of each piece, where it is found; one that is not is a problem.

    Args:
        dataset: has the files, and a number for each PDF's first page.
        texts: the texts of some filings' pages by name.
        folder: of the file that says what was found; it is not written without one.
    """
    wanted = [one for one in wanted_pieces(records) if one.doc_name in {"", *dataset.filings["doc_name"]}]
    if not wanted:
        return records
    key = digest_of([VERSION, dataset.fingerprint])
    found = _remembered(folder, key)
    if found is None:
        n_before = len(problems.messages)
        found = _found(wanted, dataset, texts, problems, folder)
        if folder and len(problems.messages) == n_before:
            write_atomically(folder / REMEMBERED, json.dumps({"key": key, "found": [*found.items()]}))
    return [_placed(record, found) for record in records]


def _found(
    wanted: list[Wanted],
    dataset: Dataset,
    texts: Callable[[set[str]], Mapping[str, list[str]]],
    problems: Problems,
    folder: Path | None,
) -> Parts:
    """Filing, page and text of each part of each piece that is found, by row and number."""
    names = {one.doc_name for one in wanted}
    pages = {name: Pages(of) for name, of in texts({*dataset.filings["doc_name"]} if "" in names else names).items()}
    rows, parts = [], {}
    n_before = len(problems.messages)
    for one in wanted:
        result = _look(one, pages, dataset.pages_from)
        first, row = dataset.pages_from, one.piece.line or one.row
        about = one.question.financebench_id, row, one.number
        if not result.is_found:
            problems.add(dataset.question_file, _why_not(one, result, first), row)
            all_places = "; ".join(_named(place, first) for place in result.places)
            rows.append((*about, one.doc_name, "", "", one.piece.evidence_text, all_places))
            continue
        best, *others = result.places
        further = [page for page in dict.fromkeys(_over(one, first)) if page not in best.pages]
        parts[one.row, one.number] = [
            *((best.doc_name, page, text) for page, text in zip(best.pages, best.parts, strict=True)),
            *((best.doc_name, page, "") for page in further),
        ]
        for doc_name, page, text in parts[one.row, one.number]:
            share = f"{best.share:.2f}" if text else ""
            other_places = "; ".join(_named(place, first) for place in others) if text else GIVEN
            rows.append((*about, doc_name, page + first, share, text, other_places))
    if folder:
        text = io.StringIO()
        csv.writer(text).writerows([COLUMNS, *rows])
        file = write_atomically(folder / FOR_PERSONS, "\ufeff" + text.getvalue())
        n, n_not = len(parts), len(problems.messages) - n_before
        lacking = f", {n_not} were not" if n_not else ""
        base = f"pages count from {dataset.pages_from}"
        report(f"The pages of {n} quotations were found{lacking}; look them over ({base}): {file}")
    return parts


def _remembered(folder: Path | None, key: str) -> Parts | None:
    """What was found for this question file and these filings; None where it is not known."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        known = json.loads((folder / REMEMBERED).read_text(encoding="utf-8"))
        if known["key"] == key:
            return {tuple(place): [tuple(part) for part in parts] for place, parts in known["found"]}
    return None


def _look(one: Wanted, pages: Mapping[str, Pages], first: int) -> Found:
    """Where a piece stands: in its filing, or in any; on one or some of its pages, where it names several."""
    filings = {one.doc_name: pages[one.doc_name]} if one.doc_name else pages
    result = find(one.piece.evidence_text, filings)
    if not one.piece.over:
        return result
    over = {*_over(one, first)}
    within = [place for place in result.places if over.issuperset(place.pages) and place.share >= LEAST]
    return Found(within, True) if within else Found(result.places, False)


def _over(one: Wanted, first: int) -> list[int]:
    """The pages that are given for a piece where they are several, from 0."""
    return [page - first for page in one.piece.over]


def _why_not(one: Wanted, result: Found, first: int) -> str:
    letters = printable(" ".join(one.piece.evidence_text.split()))
    start = letters if len(letters) <= MOST_QUOTED else letters[:MOST_QUOTED] + "…"
    where = f"in {one.doc_name}" if one.doc_name else "in the filings"
    places = ", ".join(_named(place, first) for place in result.places[:MOST_PLACES])
    more = f" and {len(result.places) - MOST_PLACES} more" if len(result.places) > MOST_PLACES else ""
    if one.piece.over:
        given = " and ".join(map(str, one.piece.over))
        fix = "correct the pages, or give each its own quotation, in a row of its own with the same id"
        return f"“{start}” stands on none of the pages given ({given}), best are {places or 'none'}; {fix}"
    if not places:
        return f"“{start}” stands nowhere {where}; correct the quotation, or give its page"
    first_share, second = result.places[0].share, [place.share for place in result.places[1:2]]
    if first_share < LEAST:
        return f"“{start}” is not found {where}; most of its words have {places}: correct it, or give its page"
    if not second or second[0] < first_share - APART:
        return f"“{start}” is too short to be found by its words {where}, most of which have {places}; give its page"
    return f"“{start}” stands in more than one place {where}: {places}{more}; give its filing and page, or quote more"


def _named(place: Place, first: int) -> str:
    pages = " and ".join(f"{page + first}" for page in place.pages)
    return f"{'pages' if len(place.pages) > 1 else 'page'} {pages} of {place.doc_name} ({place.share:.0%})"


def _placed(record: tuple[int, str, Question | None], found: Mapping) -> tuple[int, str, Question | None]:
    row, doc_name, question = record
    if not question:
        return record
    pieces = [
        part for number, piece in enumerate(question.evidence) for part in _parts(piece, found.get((row, number)))
    ]
    names = [doc_name, *(piece.doc_name for piece in pieces)]
    name = next(filter(None, names), "")
    return row, name, question.model_copy(update={"evidence": pieces, "doc_name": name})


def _parts(piece: Piece, found: list[tuple[str, int, str]] | None) -> Iterator[Piece]:
    if found is None:
        yield piece
        return
    for doc_name, page, text in found:
        about = {"doc_name": doc_name, "evidence_page_num": page, "evidence_text": text, "over": [], "is_index": True}
        yield piece.model_copy(update=about)

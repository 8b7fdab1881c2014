"""Where a run's passages stand: filings by name; pages by number, range, the PDF's label or the passage's text."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.diagnose.fields import quoted
from lib.diagnose.texts import Place, locate, share_on
from lib.schema import StudyError

NO_PAGE = -9  # before no first page
MOST_PAGES = 3  # of a passage
#: A path may have #p in a folder's name.
DOCNO = re.compile(r"(?s:(?P<doc>.*?)#p(?!age)(?P<number>[^#/\\]*)(?P<rest>#.*)?)")
PAGE_IN_NAME = re.compile(r"(?is)(?P<doc>.+?)[#:/_\s-]+(?:page|pg|p)[\s_=.-]*(?P<number>\d{1,6})")
ENDING = re.compile(r"(?i)\.(?:pdf|md|mmd|txt|jsonl?|x?html?|xml|docx?)$")
RANGE = re.compile(r"\s*(\d{1,6})\s*(?:[-\u2010-\u2015]|to)\s*(\d{1,6})\s*")
PAGE_WORD = re.compile(r"\s*(?:pages?|pp?)[.:]?\s*(?=\d)", re.I)
LABEL = re.compile(r"\s*(?:[ivxlc]+|[A-Za-z]{1,3}[-.\s]?\d{1,4})\s*", re.I)
LEAST_WORDS = 5  # of a string that is a text and no document's name
N_PROVING, N_NEEDED = 200, 5  # passages whose texts are compared with pages, at most and at least
ON_PAGE = 0.5  # share of a text that its page holds at least
PROVED, BESIDE = 0.6, 0.3  # shares of texts that are on the pages of the right first number, and on other ones at most
FINANCEBENCH = Path(__file__).with_name("financebench_filings.txt")
GIVEN, BY_TEXT = "as the setting says", "found by the passages' texts or the PDFs' labels"
ASK = "give --pages-from 0 or 1 (PAGES_FROM=, pages_from=)"


class Archive(NamedTuple):
    """What is known of a set's filings beside names and numbers of pages; nothing where they are not here."""

    texts: Callable[[], Mapping[Place, str]] | None = None  # of pages
    labels: Callable[[str], Sequence[str]] | None = None  # that a filing's PDF gives its pages; none where it has none
    others: frozenset[str] = frozenset()  # filings of the same source that the set has no question about
    apart: tuple[str, ...] = ()  # ids and texts of questions that are measured apart


class Numbered(NamedTuple):
    """What a value says of a passage's pages: numbers as they are given, a label, or nothing."""

    first: float = math.nan
    last: float = math.nan
    label: str = ""


@cache
def financebench_filings() -> frozenset[str]:
    """The names of all filings that FinanceBench describes."""
    return frozenset(FINANCEBENCH.read_text(encoding="utf-8").split("\n")) - {""}


def numbered(value: object) -> Numbered:
    """Numbers or label of a value: ``3``, ``"3.0"``, ``"p. 3-4"``, ``[3, 4]``, ``"iv"``; nothing of ``True`` or 1.5."""
    if isinstance(value, bool | np.bool_) or value is None:
        return Numbered()
    if isinstance(value, list):
        numbers = [numbered(one).first for one in value]
        value = f"{min(numbers):.0f}-{max(numbers):.0f}" if numbers and not any(map(math.isnan, numbers)) else ""
    if isinstance(value, str):
        value = PAGE_WORD.sub("", value, count=1)
    text = str(value)
    if found := RANGE.fullmatch(text):
        first, last = int(found[1]), int(found[2])
        return Numbered(first, last) if first <= last < first + MOST_PAGES else Numbered(label=text)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return Numbered(label=text.strip()) if LABEL.fullmatch(text) else Numbered()
    is_page = -1 < number < 1e9 and number % 1 == 0
    return Numbered(number, number) if is_page else Numbered()


def with_filings(table: pd.DataFrame, filings: pd.DataFrame, archive: Archive, name: str, notes: list[str]):
    """The rows with ``doc_name``, a filing's or what they name; a ``page`` that a docno has; and ``rest``, what it has
    behind that. Bare strings that are no filing's name become texts.

    A StudyError where no row names a filing of the set and none has a text.
    """
    known = {**{one.casefold(): one for one in archive.others}, **{one.casefold(): one for one in filings["doc_name"]}}
    split, filing_of = {}, {}
    for doc in table["doc"].dropna().unique():
        split[doc] = _split(doc, known)
        filing_of[doc] = _filing(split[doc][0], known)
    names = {*filings["doc_name"]}
    is_doc = table["doc"].map(filing_of).isin(names)
    is_text = ~is_doc & table[["text", "page", "label"]].isna().all(axis=1) & table["doc"].notna()
    is_text &= ~table["doc"].astype(str).str.contains("#p", regex=False)
    is_text &= bool((table.loc[is_text, "doc"].str.split().str.len() >= LEAST_WORDS).any())
    texts = table["text"].where(~is_text, table["doc"])
    parts = [split.get(doc, ("", "", "")) for doc in table["doc"].where(~is_text)]
    page = [given if given is not None else part[1] or None for given, part in zip(table["page"], parts, strict=True)]
    doc_name = table["doc"].where(~is_text).map(filing_of).fillna("")
    if not is_doc.any() and (texts.isna().any() or archive.texts is None):
        first, example = quoted(table["doc"].dropna().iloc[0]), quoted(filings["doc_name"].iloc[0])
        if texts.notna().all():
            where = "texts are looked for in the filings, which are not here"
            fix = "set RETRIEVAL_GAP_DATA to their folder, or give each passage's document and page"
            raise StudyError(f"{name} has texts and no document of the set; {where}: {fix}")
        raise StudyError(f"{name} has no document of the set: its first is {first}, a filing is named {example}")
    renamed = [doc for doc in filing_of if filing_of[doc] in names and split[doc][0] != filing_of[doc]]
    if renamed:
        example = f"{quoted(split[renamed[0]][0])}, taken as {quoted(filing_of[renamed[0]])}"
        n_renamed = len({split[doc][0] for doc in renamed})
        notes.append(f"Documents named by a path, an ending or other case: {n_renamed:,}, such as {example}.")
    rest, page = [part[2] for part in parts], pd.Series(page, table.index, object)
    return table.assign(doc_name=doc_name, page=page, given=page, rest=rest, text=texts)


def _split(doc: str, known: Mapping[str, str]) -> tuple[str, str, str]:
    """Document, page as it is written and what follows, of a docno or a name such as ``3M_2018_10K.pdf#page=12``."""
    if match := DOCNO.fullmatch(doc):
        return match["doc"], match["number"], match["rest"] or ""
    match = PAGE_IN_NAME.fullmatch(doc)
    is_filing = match and _filing(doc, known) == doc and _filing(match["doc"], known) in known.values()
    return (match["doc"], match["number"], "") if is_filing else (doc, "", "")


def _filing(doc: str, known: Mapping[str, str]) -> str:
    """The filing that a name or a path is of; the name itself where it is none's."""
    file = re.split(r"[\\/]", doc.strip())[-1]
    names = doc.strip(), file, ENDING.sub("", file)
    return next((known[one.casefold()] for one in names if one.casefold() in known), doc)


def with_numbers(table: pd.DataFrame, archive: Archive, name: str, notes: list[str]) -> pd.DataFrame:
    """The rows with ``first`` and ``last``, numbers of pages as they are given (NaN without one), and ``is_index``,
    whether they are positions from 0 already, as a PDF's labels give them.

    A StudyError where pages are labels, and neither PDFs nor texts say which pages these are.
    """
    found = pd.DataFrame([*map(numbered, table["page"])], table.index)
    is_label = (found["label"] != "") | (table["page"].isna() & table["label"].notna())
    labels = found["label"].where(found["label"] != "", table["label"].map(str, na_action="ignore"))
    if (found["label"] != "").any():  # 12 is a label, too, where others are iv
        is_label |= found["first"].notna()
        labels = labels.where(labels.notna(), table["page"].map(str))
    table = table.assign(first=found["first"], last=found["last"], is_index=False)
    if not is_label.any():
        return table
    of_pdf = cache(archive.labels or (lambda doc_name: ()))
    pages = [_labelled(doc, label, of_pdf) for doc, label in zip(table["doc_name"], labels, strict=True)]
    pages = pd.Series(pages, table.index, float).where(is_label)
    numbers = labels.map(lambda label: numbered(label).first).astype(float)
    is_open, has_text = is_label & pages.isna(), table["text"].notna()
    is_odd = is_open & numbers.isna()
    if (is_odd & ~has_text).any():
        row = table[is_odd & ~has_text].iloc[0]
        label = labels[row.name]
        here = "the PDF has no such label" if archive.labels else "the PDFs are not here"
        raise StudyError(
            f"{name} names pages by labels, such as {quoted(label)} of {quoted(row['doc_name'])}, and {here}; give "
            "positions in the PDF, a range of at most three, or the passages' texts"
        )
    if pages.notna().any():
        notes.append(f"Rows whose page is a label of its PDF: {int(pages.notna().sum()):,}.")
    by_number = is_open & numbers.notna() & ~(has_text & is_odd.any())
    if by_number.any():
        notes.append(f"Rows whose label is a number, and whose PDF has no labels: {int(by_number.sum()):,}.")
    pages = pages.where(~by_number, numbers)
    return table.assign(first=pages.where(is_label, found["first"]), last=pages.where(is_label, found["last"]),
                        is_index=is_label & ~by_number & pages.notna())  # fmt: skip


def _labelled(doc_name: str, label: object, of_pdf: Callable[[str], Sequence[str]]) -> float:
    """The one page of a filing that has a label, from 0; else NaN."""
    pages = [page for page, one in enumerate(of_pdf(doc_name)) if one == str(label)] if doc_name else []
    return float(pages[0]) if len(pages) == 1 else math.nan


class First(NamedTuple):
    """The number of a filing's first page in a run, 0 or 1, why it is that, and whether that is settled."""

    number: int
    proof: str
    is_settled: bool


def first_number(table: pd.DataFrame, n_pages: pd.Series, archive: Archive, given: int | None, name: str) -> First:
    """The number of a filing's first page in a run, by the passages' texts, else as it is given, else by numbers that
    no page can have: 0, or one behind a filing's last page.

    A StudyError where the texts prove another number than ``given``, or one that cannot be.
    """
    rows = table[~table["is_index"] & table["first"].notna() & table["doc_name"].isin(n_pages.index)]
    shares, n_read = _on_pages(rows, archive)
    shift = max(shares, key=shares.get, default=0)
    if shares and shares[shift] >= PROVED and all(shares[one] <= BESIDE for one in shares if one != shift):
        share = f"the texts of {shares[shift]:.0%} of {n_read} passages"
        if shift > 0:
            raise StudyError(f"{name}: {share} stand on the page behind the one that is named; correct the pages")
        if given is not None and given != -shift:
            raise StudyError(f"{name}: {share} stand where pages count from {-shift}, not from {given}; {ASK}")
        return First(-shift, f"as {share} prove", True)
    if rows.empty:
        return First(0, BY_TEXT, True)
    if given is not None:
        return First(given, GIVEN, False)
    numbers, last = rows["first"], rows["doc_name"].map(n_pages)
    n_last = int((numbers == last).sum())
    if (numbers == 0).any():
        mixed = f", though {n_last:,} would lie one past a filing's end: some may count from 1" if n_last else ""
        return First(0, f"as there is a page 0{mixed}", False)
    if n_last and not (numbers > last).any():
        return First(1, f"as no page is 0, and {n_last:,} would lie one past a filing's end, counted from 0", False)
    return First(0, "", False)


def _on_pages(rows: pd.DataFrame, archive: Archive) -> tuple[dict[int, float], int]:
    """The share of texts that are on the named page, the one before and the one behind, by 0, -1 and 1, and of how many
    passages; no shares where there are too few."""
    rows = rows[rows["text"].map(lambda text: isinstance(text, str) and len(text.split()) >= 2 * LEAST_WORDS)]
    if archive.texts is None or len(rows) < N_NEEDED:
        return {}, 0
    rows, texts = rows.iloc[:: max(1, len(rows) // N_PROVING)][:N_PROVING], archive.texts()
    places = [*zip(rows["doc_name"], rows["first"].astype(int), rows["text"], strict=True)]
    shares = {
        shift: [share_on(text, texts.get((doc, page + shift), "")) >= ON_PAGE for doc, page, text in places]
        for shift in (0, -1, 1)
    }
    return {shift: float(np.mean(of)) for shift, of in shares.items()}, len(rows)


def with_located(table: pd.DataFrame, archive: Archive, depth: int, name: str, notes: list[str]) -> pd.DataFrame:
    """The rows in which texts without a page, of the first ``depth`` of a question, have the pages that hold them.

    A StudyError where hardly one could be found.
    """
    is_open = table["first"].isna() & table["text"].notna() & (table["rank"] <= depth)
    if not is_open.any() or archive.texts is None:
        return table
    texts = archive.texts()
    filings = {doc_name for doc_name, _ in texts}
    rows = table[is_open]
    wanted = [*dict.fromkeys((text, doc if doc in filings else "") for text, doc in rows[["text", "doc_name"]].values)]
    of = dict(zip(wanted, locate(wanted, texts), strict=True))
    found = [of[text, doc if doc in filings else ""] for text, doc in rows[["text", "doc_name"]].values]
    is_found = pd.Series([bool(one.doc_name) for one in found], rows.index)
    n_equal = sum(one.n_equal > 1 for one in found)
    share = f"{int(is_found.sum()):,} of {len(rows):,} ({is_found.mean():.0%})"
    if is_found.mean() < 1 - PROVED:
        raise StudyError(f"{name}: passages without a page, of which the filings' pages hold {share}; give their pages")
    equal = f" ({n_equal:,} stand on several pages alike)" if n_equal else ""
    notes.append(f"Passages without a page, found by their texts: {share}; the others{equal} keep their ranks.")
    place = pd.DataFrame(found, rows.index)[is_found]
    table = table.astype({"first": float, "last": float})
    for column in ("doc_name", "first", "last"):
        table.loc[place.index, column] = place[column].astype(float) if column != "doc_name" else place[column]
    return table.assign(is_index=table["is_index"] | table.index.isin(place.index))

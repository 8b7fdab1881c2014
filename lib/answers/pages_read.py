"""The pages of a context as tables, which an answer is calculated from."""

from collections.abc import Sequence

import pandas as pd

from lib.answers.prompt_context import Context, first_chunks
from lib.filings.identity import Identity, company_match
from lib.filings.names import core_words
from lib.method import memoized
from lib.retrievers import matched
from lib.statements.rows import Sheet, kind_of, lines_of
from lib.study import Study


@memoized
def pages_read(study: Study, wanted: Context) -> pd.DataFrame:
    """The pages of the first chunks of a context's run: question_id, doc_name and page, each once, best first."""
    return first_chunks(study, wanted)[["question_id", "doc_name", "page"]].drop_duplicates(ignore_index=True)


@memoized
def texts_of_pages(study: Study) -> dict[tuple[str, int], str]:
    """The text of every page, by doc_name and page."""
    return study.pages.set_index(["doc_name", "page"])["text"].to_dict()


@memoized
def identities(study: Study) -> dict[str, Identity]:
    """The identity of each filing by doc_name, in the order of the study's filings."""
    return {one.doc_name: one for one in matched.identities(study, False)}


def filings_named(questions: Sequence[str], filings: Sequence[Identity]) -> list[dict[str, tuple[str, ...]]]:
    """The filings of the company that each question names, with the company's names; none where it names none."""
    names = [(*one.names, *(" ".join(core_words(name)) for name in one.names)) for one in filings]
    match = company_match(questions, filings)
    is_named = (match == match.max(axis=1, initial=0, keepdims=True)) & (match > 0)
    return [
        {one.doc_name: forms for one, forms, is_one in zip(filings, names, row, strict=True) if is_one}
        for row in is_named
    ]


@memoized
def sheet_of(study: Study, doc_name: str, page: int) -> Sheet:
    """A page's tables."""
    return sheet(doc_name, page, identities(study)[doc_name].year, texts_of_pages(study)[doc_name, page])


def sheet(doc_name: str, page: int, year: int | None, text: str) -> Sheet:
    """The tables of a page of this text, in the filing of a fiscal year."""
    return Sheet(doc_name, page, kind_of(text), year, lines_of(text))

"""The pages of a context as tables, which an answer is calculated from."""

import pandas as pd

from lib.answers.prompt_context import Context, first_chunks
from lib.data.rows import Sheet, kind_of, lines_of
from lib.method import remembered
from lib.retrievers.identity import Identity, filing_identities
from lib.study import Study


@remembered
def pages_read(study: Study, wanted: Context) -> pd.DataFrame:
    """The pages of the first chunks of a context's run: question_id, doc_name and page, each once, best first."""
    return first_chunks(study, wanted)[["question_id", "doc_name", "page"]].drop_duplicates(ignore_index=True)


@remembered
def texts_of_pages(study: Study) -> dict[tuple[str, int], str]:
    """The text of every page, by doc_name and page."""
    return study.pages.set_index(["doc_name", "page"])["text"].to_dict()


@remembered
def identities(study: Study) -> dict[str, Identity]:
    """The identity of each filing by doc_name, in the order of the study's filings."""
    return {one.doc_name: one for one in filing_identities(study.filings, study.pages)}


@remembered
def sheet_of(study: Study, doc_name: str, page: int) -> Sheet:
    """A page's tables."""
    text = texts_of_pages(study)[doc_name, page]
    return Sheet(doc_name, page, kind_of(text), identities(study)[doc_name].year, lines_of(text))

"""The tables on the pages of a search."""

from lib.filings.identity import Identity
from lib.method import Search, memoized
from lib.retrievers import matched
from lib.statements.rows import Sheet, sheet


@memoized
def texts_of_pages(search: Search) -> dict[tuple[str, int], str]:
    """The text of every page, by doc_name and page."""
    return search.pages.set_index(["doc_name", "page"])["text"].to_dict()


@memoized
def identities(search: Search) -> dict[str, Identity]:
    """The identity of each filing by doc_name, in the order of the study's filings."""
    return {one.doc_name: one for one in matched.identities(search, False)}


@memoized
def sheet_of(search: Search, doc_name: str, page: int) -> Sheet:
    """A page's tables."""
    filing, texts = identities(search)[doc_name], texts_of_pages(search)
    before = texts.get((doc_name, page - 1), "")
    return sheet(doc_name, page, filing.year, texts[doc_name, page], quarter=filing.quarter, before=before)

"""The tables on the pages of a search."""

from lib.method import Search, memoized
from lib.retrievers import matched
from lib.retrievers.places import texts_of_pages
from lib.statements.rows import Sheet, sheet


@memoized
def sheet_of(search: Search, doc_name: str, page: int) -> Sheet:
    """A page's tables."""
    filing, texts = matched.identity_of(search)[doc_name], texts_of_pages(search)
    before = texts.get((doc_name, page - 1), "")
    return sheet(doc_name, page, filing.year, texts[doc_name, page], quarter=filing.quarter, before=before)

"""Other chunk tables over the same filings: name → function ``(study) -> CHUNK_COLUMNS``.

Their chunks lie on the study's pages under the study's ids (``DOC#p0049#c00``, numbered within the page), so that every
retriever and every page measure works on them as on the study's own chunks. ``start`` and ``end`` are -1 where a
chunk's text is no span of its page.
"""

import importlib
from collections.abc import Callable

import pandas as pd


def _made_by(module: str, **options) -> Callable[[object], pd.DataFrame]:
    """The function ``table`` of a module of this package, which is loaded when a table is made."""

    def make(study) -> pd.DataFrame:
        return importlib.import_module(f"lib.chunkings.{module}").table(study, **options)

    return make


CORPORA: dict[str, Callable[[object], pd.DataFrame]] = {
    "elements": _made_by("element_chunks"),
    "fixed_128": _made_by("sizes", name="fixed_128"),
    "fixed_256": _made_by("sizes", name="fixed_256"),
    "fixed_512": _made_by("sizes", name="fixed_512"),
    "aggregate": _made_by("aggregate"),
    "markdown": _made_by("restructured", name="markdown"),
    "annotated_tables": _made_by("restructured", name="annotated_tables"),
    "extracted_tables": _made_by("restructured", name="extracted_tables"),
}

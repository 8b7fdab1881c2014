"""The chunk tables that can be searched beside the study's own.

Their chunks lie on the study's pages under the study's ids (``DOC#p0049#c00``, numbered within the page), so that every
retriever and every page measure works on them as on the study's own chunks. ``start`` and ``end`` are -1 where a
chunk's text is no span of its page.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from lib.chunkings import restructured, sizes
from lib.chunkings.elements import elements, merge


@dataclass(frozen=True)
class Chunking:
    """A way to cut the filings into chunks."""

    make: Callable[..., pd.DataFrame]  # of a study over its own chunks and options; gives CHUNK_COLUMNS
    options: Mapping[str, object] = field(default_factory=dict)
    settings: tuple[str, ...] = ("chunks", "embedder")  # sections of the profile that the function reads
    version: int = 1  # raised when the table has other chunks than before


CHUNKINGS: dict[str, Chunking] = {
    "elements": Chunking(lambda study: merge(elements(study))),
    "fixed_128": Chunking(sizes.table, {"name": "fixed_128"}),
    "fixed_256": Chunking(sizes.table, {"name": "fixed_256"}),
    "fixed_512": Chunking(sizes.table, {"name": "fixed_512"}, version=2),
    "fixed_aggregate": Chunking(sizes.aggregate),
    **{name: Chunking(restructured.table, {"name": name}) for name in restructured.NAMES},
}

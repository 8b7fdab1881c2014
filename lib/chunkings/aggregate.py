"""Several chunkings in one index (Yepes et al., 2024, "aggregation"): elements and two fixed sizes, ranked together.

Spans of 512 and 1024 tokens are not among them: they score as their best window of 254, which is there already, and
would only repeat its place in the ranking.
"""

import pandas as pd

from lib.words import CHUNK_COLUMNS

PARTS = ("elements", "fixed_128", "fixed_256")


def table(study) -> pd.DataFrame:
    """CHUNK_COLUMNS of all parts, part after part, numbered anew within each page."""
    return joined([study.over(name).chunks for name in PARTS])


def joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Chunk tables one after the other, with ids that are unique again."""
    whole = pd.concat(tables, ignore_index=True)
    number = whole.groupby(["doc_name", "page"]).cumcount()
    places = zip(whole["doc_name"], whole["page"], number, strict=True)
    whole["chunk_id"] = [f"{doc_name}#p{page:04d}#c{n:02d}" for doc_name, page, n in places]
    return whole[list(CHUNK_COLUMNS)]

"""The chunk tables that can be searched beside the study's own, and how one is stored.

Their chunks lie on the study's pages under the study's ids (``DOC#p0049#c00``, numbered within the page), so that every
retriever and every page measure works on them as on the study's own chunks. ``start`` and ``end`` are -1 where a
chunk's text is no span of its page.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from lib.chunkings import element_chunks, elements, restructured, sizes
from lib.study import Study
from lib.words import CHUNK_COLUMNS, StudyError

SETTINGS = ("chunks", "embedder")


@dataclass(frozen=True)
class Chunking:
    """A way to cut the filings into chunks.

    Attributes:
        make: ``make(study, **options)`` gives CHUNK_COLUMNS; the study is over its own chunks.
        options: keyword arguments of the function.
        version: raised when the table has other chunks than before.
    """

    make: Callable[..., pd.DataFrame]
    options: Mapping[str, object] = field(default_factory=dict)
    version: int = 1


CHUNKINGS: dict[str, Chunking] = {
    "elements": Chunking(element_chunks.table),
    **{name: Chunking(sizes.table, {"name": name}) for name in sizes.SIZES},
    "aggregate": Chunking(sizes.aggregate),
    **{name: Chunking(restructured.table, {"name": name}) for name in restructured.NAMES},
}


def table_params(study: Study, name: str) -> dict:
    """All that a chunk table depends on.

    Raises:
        StudyError: there is no such chunking.
    """
    if name not in CHUNKINGS:
        raise StudyError(f"no chunking {name!r}: say one of {', '.join(CHUNKINGS)}")
    return {
        "chunking": name,
        "version": CHUNKINGS[name].version,
        "elements": elements.VERSION,
        "pages": study.digest("pages"),
        "chunks": study.digest("chunks"),
        "dataset": study.dataset.fingerprint,
        "settings": study.settings_of(SETTINGS),
    }


def chunk_table(study: Study, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of a chunking; also put among the study's files as ``corpora/<name>.parquet``.

    Args:
        study: over its own chunks.
        name: one of :data:`CHUNKINGS`.

    Raises:
        ValueError: two chunks of the table have one id.
    """

    def compute(target: Path) -> None:
        chunking = CHUNKINGS[name]
        table = chunking.make(study, **chunking.options)[list(CHUNK_COLUMNS)]
        if table["chunk_id"].duplicated().any():
            raise ValueError(f"{name}: chunk ids occur twice")
        table.to_parquet(target / f"{name}.parquet", index=False)

    path = study.store.get(f"corpora/{name}", table_params(study, name), compute).path / f"{name}.parquet"
    study.link(path, f"corpora/{name}.parquet")
    return pd.read_parquet(path)

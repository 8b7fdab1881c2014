"""A corpus's chunk table, stored under what it depends on."""

import pkgutil
from functools import cache
from pathlib import Path

import pandas as pd

from lib import chunkings as corpora
from lib.code import code_hash
from lib.words import CHUNK_COLUMNS, StudyError

SETTINGS = ("chunks", "embedder", "parent_child", "corpora")
NOT_TABLES = {"build", "embedding", "metadata", "table"}  # they make no table


@cache
def _code() -> dict[str, str]:
    """The code that makes chunk tables: a hash a module of this package."""
    names = sorted({module.name for module in pkgutil.iter_modules(corpora.__path__)} - NOT_TABLES)
    return {name: code_hash(f"lib.chunkings.{name}") for name in names}


def table_params(study, name: str) -> dict:
    """All that a chunk table depends on.

    Raises:
        StudyError: there is no such corpus.
    """
    if name not in corpora.CORPORA:
        raise StudyError(f"no corpus {name!r}: say one of {', '.join(corpora.CORPORA)}")
    return {
        "corpus": name,
        "pages": study.pages_digest,
        "chunks": study.chunks_digest,
        "dataset": study.dataset.fingerprint,
        "settings": study.settings_of(SETTINGS),
        "code": _code(),
    }


def chunk_table(study, name: str) -> pd.DataFrame:
    """CHUNK_COLUMNS of a corpus; also put into the view as ``corpora/<name>.parquet``.

    Args:
        study: over its own chunks.
        name: one of :data:`lib.chunkings.CORPORA`.
    """

    def compute(target: Path) -> None:
        table = corpora.CORPORA[name](study)[list(CHUNK_COLUMNS)]
        if table["chunk_id"].duplicated().any():
            raise ValueError(f"{name}: chunk ids occur twice")
        table.to_parquet(target / f"{name}.parquet", index=False)

    path = study.store.get(f"corpora/{name}", table_params(study, name), compute).path / f"{name}.parquet"
    study.show(path, f"corpora/{name}.parquet")
    return pd.read_parquet(path)

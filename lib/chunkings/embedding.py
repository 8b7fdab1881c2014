"""The vectors of another chunk table: those of texts that the study has embedded already are taken, the rest are made.

A window is encoded by its text alone, so a window of another table that reads like one of the study's own (or like a
child of ``parent_child``) has the same vector. What is new is encoded shard by shard and stored.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from lib.models.index import encode_texts, window_vectors, windows
from lib.retrievers.parent_child import children

#: Tables whose windows are looked for among the children of ``parent_child`` too.
OF_CHILDREN = ("fixed_128",)


def window_vectors_of(study) -> tuple[np.ndarray, np.ndarray]:
    """For every window of a study over another chunk table the row of its chunk, and its unit vector (n_windows, d)."""

    def load() -> tuple[np.ndarray, np.ndarray]:
        found = sources(study)
        owners, rows = np.load(found / "owners.npy"), np.load(found / "rows.npy")
        new = pd.read_parquet(found / "new.parquet")["text"].tolist()
        known = [read() for _, read in _known(study)]
        if new:
            known.append(np.asarray(encode_texts(study.base, f"embeddings/{study.corpus}", new)))
        vectors = np.empty((len(rows), known[0].shape[1]), np.float32)
        begin = 0
        for part in known:
            here = (rows >= begin) & (rows < begin + len(part))
            vectors[here] = part[rows[here] - begin]
            begin += len(part)
        return owners, vectors

    return study.memo("window_vectors_of", load)


def sources(study) -> Path:
    """Where each window's vector comes from, stored.

    ``owners.npy`` has the row of each window's chunk; ``rows.npy`` the row of its vector in all known vectors,
    followed by the new ones; ``new.parquet`` the texts that are new, each once.
    """
    settings = ("embedder", "parent_child") if study.corpus in OF_CHILDREN else ("embedder",)
    params = {
        "chunks": study.chunks_digest,
        "base": study.base.chunks_digest,
        "settings": study.settings_of(settings),
    }

    def compute(target: Path) -> None:
        table = windows(study)
        texts = [text for read, _ in _known(study) for text in read()]
        row_of = {text: row for row, text in reversed(list(enumerate(texts)))}
        new = [text for text in dict.fromkeys(table["text"]) if text not in row_of]
        row_of |= {text: len(texts) + number for number, text in enumerate(new)}
        np.save(target / "owners.npy", table["chunk"].to_numpy())
        np.save(target / "rows.npy", np.array([row_of[text] for text in table["text"]], int))
        pd.DataFrame({"text": new}, dtype=str).to_parquet(target / "new.parquet", index=False)

    return study.store.get("corpora/windows", params, compute).path


def _known(study) -> list[tuple[Callable[[], list[str]], Callable[[], np.ndarray]]]:
    """The texts and the vectors that the study has, in the order of the rows; each read only when it is needed."""
    base = study.base

    def children_vectors() -> np.ndarray:
        return np.asarray(encode_texts(base, "embeddings/children", children(base)["text"].tolist()))

    known = [(lambda: windows(base)["text"].tolist(), lambda: window_vectors(base)[1])]
    if study.corpus in OF_CHILDREN:
        known.append((lambda: children(base)["text"].tolist(), children_vectors))
    return known


def reused(study) -> dict[str, int]:
    """How many windows a table has, how many read like one that the study has, and how many texts are new."""
    found = sources(study)
    rows, n_new = np.load(found / "rows.npy"), len(pd.read_parquet(found / "new.parquet"))
    n_known = sum(len(read()) for read, _ in _known(study)) if len(rows) else 0
    return {"windows": len(rows), "reused": int((rows < n_known).sum()), "new": n_new}

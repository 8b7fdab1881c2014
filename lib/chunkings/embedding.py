"""The vectors of another chunk table: those of texts that the study has embedded already are taken, the rest are made.

A window is encoded by its text alone, so a window of another table that reads like one of the study's own (or like a
child of ``parent_child``) has the same vector. What is new is encoded shard by shard and stored.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from lib.chunkings.sizes import child_vectors, children
from lib.models.index import encode_texts, window_vectors, windows
from lib.study import Study

#: Tables whose windows are looked for among the children of ``parent_child`` too.
OF_CHILDREN = ("fixed_128",)


def window_vectors_of(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """For every window of a study over another chunk table the row of its chunk, and its unit vector (n_windows, d)."""

    def load() -> tuple[np.ndarray, np.ndarray]:
        found, base = sources(study), study.original
        owners, rows = np.load(found / "owners.npy"), np.load(found / "rows.npy")
        new = pd.read_parquet(found / "new.parquet")["text"].tolist()
        known = [window_vectors(base)[1]]
        if study.corpus in OF_CHILDREN:
            known.append(child_vectors(base))
        if new:
            known.append(np.asarray(encode_texts(base, f"embeddings/{study.corpus}", new)))
        return owners, np.concatenate(known)[rows]

    return study.memo("window_vectors_of", load)


def sources(study: Study) -> Path:
    """Where each window's vector comes from, stored.

    ``owners.npy`` has the row of each window's chunk; ``rows.npy`` the row of its vector in all known vectors,
    followed by the new ones; ``new.parquet`` the texts that are new, each once.
    """
    settings = ("embedder", "parent_child") if study.corpus in OF_CHILDREN else ("embedder",)
    params = {
        "chunks": study.digest("chunks"),
        "base": study.original.chunks_digest,
        "settings": study.settings_of(settings),
    }

    def compute(target: Path) -> None:
        table, texts = windows(study), windows(study.original)["text"].tolist()
        if study.corpus in OF_CHILDREN:
            texts += children(study.original)["text"].tolist()
        row_of = {text: row for row, text in reversed(list(enumerate(texts)))}
        new = [text for text in dict.fromkeys(table["text"]) if text not in row_of]
        row_of |= {text: len(texts) + number for number, text in enumerate(new)}
        np.save(target / "owners.npy", table["chunk"].to_numpy())
        np.save(target / "rows.npy", np.array([row_of[text] for text in table["text"]], int))
        pd.DataFrame({"text": new}, dtype=str).to_parquet(target / "new.parquet", index=False)

    return study.store.get("corpora/windows", params, compute).path

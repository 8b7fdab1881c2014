"""How long pages and chunks are, in tokens of the encoder."""

import pandas as pd

from lib.data.chunks import count_tokens
from lib.study import Study


def shape(study: Study) -> dict:
    """How many pages, blank_pages, tokens (of all pages) and chunks a study has, the ``median`` tokens of a chunk, the
    share of chunks that are ``longer`` than the encoder's window, and how many pages have 1, 2, … chunks; stored."""
    params = {"pages": study.digest("pages"), "chunks": study.digest("chunks")}
    params["settings"] = study.settings_of(("embedder",))
    return study.store.frame("analysis/shape", params, lambda: _shape(study), public=True)


def _shape(study: Study) -> dict:
    pages, chunks, window = study.pages["text"], study.chunks, study.profile.embedder.window
    of_chunk = pd.Series(count_tokens(chunks["text"].tolist(), study.tokenizer))
    of_page = chunks.groupby(["doc_name", "page"]).size()
    return {
        "pages": len(pages),
        "blank_pages": int((pages.str.strip() == "").sum()),
        "tokens": sum(count_tokens(pages.tolist(), study.tokenizer)),
        "chunks": len(chunks),
        "median": float(of_chunk.median()),
        "longer": float((of_chunk > window - 2).mean()),
        "chunks_of_page": [int((of_page == n).sum()) for n in range(1, of_page.max() + 1)],
    }


def quantities(study: Study) -> pd.DataFrame:
    """:func:`shape` in words: Quantity and Value."""
    found, embedder = shape(study), study.profile.embedder
    counted = {name.replace("_", " "): f"{found[name]:,}" for name in ("pages", "blank_pages", "tokens", "chunks")}
    counted["chunks per page"] = f"{found['chunks'] / found['pages']:.2f}"
    counted["median tokens of a chunk"] = f"{found['median']:.0f}"
    counted[f"chunks longer than the window of {embedder.window} tokens"] = f"{found['longer']:.0%}"
    counted["longer chunks are read by"] = embedder.long_chunks
    return pd.DataFrame(counted.items(), columns=["Quantity", "Value"])

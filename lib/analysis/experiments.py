"""The sizes of a study's pages and chunks."""

import pandas as pd

from lib.data.chunks import count_tokens
from lib.method import stored
from lib.study import Study


@stored("analysis/shape", ["pages", "chunks"], ["embedder"], public=True)
def shape(study: Study) -> dict:
    """How many pages, chunks and tokens a study has, by the embedder's tokenizer.

    Returns:
        pages, blank_pages, tokens (of all pages), chunks, median (tokens of a chunk), longer (share of the chunks
        that do not fit into the encoder's window), chunks_of_page (how many pages have 1, 2, … chunks).
    """
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

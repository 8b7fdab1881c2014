"""Rows of Yepes et al., "Financial Report Chunking for Effective RAG" (2024): what a chunk is."""

from functools import partial

from lib.rows.parts import WINDOWS, dense_over, of_family

YEPES = "yepes2024"
KEY = "yepes2024chunking"
_row = of_family(YEPES)
_dense = partial(dense_over, _row, KEY)
_CHILDREN, _ELEMENTS = ("embeddings/children",), ("elements", "embeddings/elements")


_SIZES = (
    *(
        _dense(f"fixed_{size}", f"Chunks of {size} tokens", what, f"fixed_{size}", index_stages)
        for size, what, index_stages in (
            (128, "each span of 126 tokens", _CHILDREN),
            (256, "each window of 254 tokens", WINDOWS),
            (512, "the better of two windows", WINDOWS),
        )
    ),
    *(
        _dense(
            f"fixed_{size}_mean",
            f"Chunks of {size} tokens, one vector",
            "the mean of a chunk's windows",
            corpus,
            WINDOWS,
            options={"pooling": "mean"},
        )
        for size, corpus in ((512, "fixed_512"), (1024, ""))
    ),
)
_LAYOUT = (
    _dense("element_chunks", "Element chunks", "titles, text and whole tables", "elements", _ELEMENTS),
    _dense(
        "element_metadata",
        "Element chunks with metadata",
        "titles, text and whole tables, or with their keywords, summary and first sentences, whichever is nearer",
        "elements",
        (*_ELEMENTS, "embeddings/metadata"),
        "lib.retrievers.element_metadata",
        ("lib.retrievers.dense_corpus", "lib.chunkings.metadata"),
    ),
    _row(
        "element_bm25",
        "BM25, element chunks",
        "question → finance tokens → BM25 over titles, text and whole tables",
        f"{KEY},robertson2009bm25",
        "lib.retrievers.bm25",
        ("bm25",),
        corpus="elements",
        index_stages=("elements",),
    ),
    _dense(
        "aggregate",
        "Aggregate of chunkings",
        "elements and chunks of 128 and 256 tokens in one index",
        "aggregate",
        (*_ELEMENTS, *_CHILDREN, *WINDOWS),
        function="score_aggregate",
    ),
)

YEPES_ROWS = (*_SIZES, *_LAYOUT)

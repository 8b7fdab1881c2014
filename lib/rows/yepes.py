"""Rows of Yepes et al., "Financial Report Chunking for Effective RAG" (2024): what a chunk is."""

from lib.rows.parts import DENSE, QUERIES, WINDOWS, of_family

YEPES = "yepes2024"
KEY = "yepes2024chunking"
_row = of_family(YEPES)
_CHILDREN, _ELEMENTS = ("embeddings/children",), ("elements", "embeddings/elements")


def _dense(name: str, title: str, what: str, corpus: str, index_stages: tuple[str, ...], **more):
    """A row that searches the vectors of another chunk table."""
    return _row(
        name,
        title,
        f"question → embedding → cosine with {what}",
        f"{KEY},karpukhin2020dpr",
        "lib.retrievers.dense_corpus",
        ("embedder", "parent_child") if "embeddings/children" in index_stages else ("embedder",),
        corpus=corpus,
        index_stages=index_stages,
        query_stages=QUERIES,
        code=(DENSE, "lib.corpora.embedding", "lib.corpora.aggregate"),
        **more,
    )


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

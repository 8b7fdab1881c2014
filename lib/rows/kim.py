"""Rows of Kim et al., "Optimizing Retrieval Strategies for Financial QA Documents" (2025): queries, tables, weights."""

from lib.rows.parts import (
    BOTH,
    DENSE,
    JUDGE,
    JUDGED,
    LENGTHENED,
    QUERIES,
    SPARSE,
    TEXTS,
    WINDOWS,
    dense_over,
    of_family,
)

KIM = "kim2025"
KEY = "kim2025financial"
_row = of_family(KIM)

_WRITTEN = tuple(
    _row(
        name,
        title,
        f"question and {what} → dense and BM25 → reciprocal rank fusion",
        KEY,
        "lib.retrievers.rewritten",
        LENGTHENED,
        index_stages=WINDOWS,
        query_stages=QUERIES,
        function="score_lengthened",
        code=(*TEXTS, SPARSE),
        inputs=f"{kind}_texts",
        options={"kind": option},
    )
    for name, title, what, kind, option in (
        (
            "keyword_query",
            "Key terms",
            "the key terms that a language model takes from it",
            "keyword",
            "keywords",
        ),
        (
            "lm_expansion",
            "Language-model expansion",
            "terms that a language model adds",
            "expansion",
            "expansion",
        ),
    )
)
_CHOSEN = (
    _row(
        "convex_folds",
        "Convex combination, α chosen in folds",
        "dense and BM25, each brought to 0..1 → weighted as the training folds choose, by company",
        f"{KEY},bruch2023fusion",
        "lib.retrievers.convex_folds",
        (*BOTH, "run"),
        index_stages=WINDOWS,
        query_stages=QUERIES,
        code=("lib.retrievers.convex", DENSE, SPARSE, "lib.folds", "lib.metrics.retrieval"),
        options={"n_folds": 5, "seed": 13},
        is_trained=True,
    ),
    _row(
        "selection_agent",
        "Selection agent",
        "hybrid RRF → a language model judges the first 10 → the irrelevant go behind",
        KEY,
        "lib.retrievers.selection",
        JUDGED,
        ("hybrid_rrf",),
        index_stages=(*WINDOWS, "embeddings/children"),
        query_stages=QUERIES,
        code=JUDGE,
        inputs="labels",
        conditions=("standard",),
    ),
)
_PAGES = (
    ("markdown", "titles and tables in markdown"),
    ("annotated_tables", "annotated tables"),
    ("extracted_tables", "tables taken out"),
)
_CORPORA = (
    *(
        dense_over(
            _row,
            KEY,
            f"{corpus}_dense",
            f"Dense, {title}",
            f"chunks of pages with {title}",
            corpus,
            (f"corpora/{corpus}", "elements", *WINDOWS, f"embeddings/{corpus}"),
        )
        for corpus, title in _PAGES
    ),
    *(
        _row(
            f"{corpus}_bm25",
            f"BM25, {title}",
            f"question → finance tokens → BM25 over pages with {title}",
            f"{KEY},robertson2009bm25",
            "lib.retrievers.bm25",
            ("bm25",),
            corpus=corpus,
        )
        for corpus, title in _PAGES
    ),
)

KIM_ROWS = (*_WRITTEN, *_CHOSEN, *_CORPORA)

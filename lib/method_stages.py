"""Stages of the store that each method's cost is counted by, until costs come from what the store records."""

#: Method → stages that index the filings, stages that prepare its questions.
STAGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    name: (index, queries)
    for names, index, queries in (
        (
            "dense hybrid_rrf query_expansion rerank rrf_10 rrf_30 rrf_100 convex_30 convex_40 convex_50 convex_60 convex_70 convex_80 convex_90 rerank_head_20 rerank_head_50 rerank_head_100 hybrid_rerank multi_query keyword_query lm_expansion convex_folds fixed_256 fixed_512 fixed_512_mean fixed_1024_mean",
            ("embeddings/windows",),
            ("embeddings/queries",),
        ),
        ("splade", ("sparse/chunks",), ("sparse/queries",)),
        ("parent_child fixed_128", ("embeddings/children",), ("embeddings/queries",)),
        ("hyde multi_hyde multi_hyde_rerank", ("embeddings/windows",), ("embeddings/passages",)),
        (
            "page_then_chunk page_scorer_light page_scorer_light_filing",
            ("embeddings/pages", "embeddings/windows"),
            ("embeddings/page_questions", "embeddings/queries"),
        ),
        (
            "page_scorer page_scorer_filing",
            ("page_scorer/pages", "embeddings/windows"),
            ("page_scorer/questions", "embeddings/queries"),
        ),
        (
            "ahead",
            ("embeddings/windows", "embeddings/ahead-heads", "ahead/words", "ahead/kinds"),
            ("embeddings/queries",),
        ),
        (
            "contextual_header_dense contextual_header_hybrid",
            ("embeddings/contextual-header",),
            ("embeddings/queries",),
        ),
        ("contextual_dense contextual_hybrid", ("embeddings/contextual-written",), ("embeddings/queries",)),
        ("crag selection_agent", ("embeddings/windows", "embeddings/children"), ("embeddings/queries",)),
        (
            "markdown_dense",
            ("corpora/markdown", "elements", "embeddings/windows", "embeddings/markdown"),
            ("embeddings/queries",),
        ),
        (
            "annotated_tables_dense",
            ("corpora/annotated_tables", "elements", "embeddings/windows", "embeddings/annotated_tables"),
            ("embeddings/queries",),
        ),
        (
            "extracted_tables_dense",
            ("corpora/extracted_tables", "elements", "embeddings/windows", "embeddings/extracted_tables"),
            ("embeddings/queries",),
        ),
        ("element_chunks", ("elements", "embeddings/elements"), ("embeddings/queries",)),
        (
            "element_metadata",
            ("elements", "embeddings/elements", "embeddings/metadata"),
            ("embeddings/queries",),
        ),
        ("element_bm25", ("elements",), ()),
        (
            "aggregate",
            ("elements", "embeddings/elements", "embeddings/children", "embeddings/windows"),
            ("embeddings/queries",),
        ),
    )
    for name in names.split()
}

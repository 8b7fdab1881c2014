"""Rows of Akarsu et al., "From BM25 to Corrective RAG" (2026): fusion, rerank depth, contexts, written queries."""

from lib.rows.parts import BOTH, DENSE, FUSED, JUDGE, JUDGED, QUERIES, RRF, SPARSE, TEXTS, WINDOWS, of_family

AKARSU = "akarsu2026"
KEY = "akarsu2026bm25corrective"
_row = of_family(AKARSU)
_VECTORS = {"index_stages": WINDOWS, "query_stages": QUERIES}

_FUSION = (
    _row(
        "bm25_k12",
        "BM25, k1 = 1.2",
        "question → finance tokens → Okapi BM25 over chunks, k1 = 1.2, b = 0.75",
        f"{KEY},robertson2009bm25",
        "lib.retrievers.bm25_parameters",
        (),
        code=(SPARSE,),
        options={"k1": 1.2, "b": 0.75},
    ),
    *(
        _row(
            f"rrf_{k_rrf}",
            f"Hybrid RRF, k = {k_rrf}",
            f"dense and BM25 → reciprocal rank fusion with k = {k_rrf}",
            f"{KEY},cormack2009rrf",
            RRF,
            FUSED,
            code=(DENSE, SPARSE),
            options={"k_rrf": k_rrf},
            **_VECTORS,
        )
        for k_rrf in (10, 30, 100)
    ),
    *(
        _row(
            f"convex_{percent}",
            f"Convex combination, α = {percent / 100:.1f}",
            f"dense and BM25, each brought to 0..1 → {percent} % dense and {100 - percent} % BM25",
            f"{KEY},bruch2023fusion",
            "lib.retrievers.convex",
            BOTH,
            code=(DENSE, SPARSE),
            options={"alpha": percent / 100},
            **_VECTORS,
        )
        for percent in range(30, 100, 10)
    ),
)
_DEPTHS = (
    *(
        _row(
            f"rerank_head_{n}",
            f"Dense + reranker, first {n}",
            f"dense → first {n} → cross-encoder that reads the first 256 tokens",
            f"{KEY},nogueira2019bert",
            "lib.retrievers.rerank_depth",
            ("rerank",),
            ("dense",),
            code=("lib.retrievers.rerank", "lib.models.cross_encoder"),
            options={"n": n},
            conditions=("standard",),
            **_VECTORS,
        )
        for n in (20, 50, 100)
    ),
    _row(
        "hybrid_rerank",
        "Hybrid RRF + reranker",
        "hybrid RRF → first 50 → cross-encoder that reads the first 256 tokens",
        f"{KEY},nogueira2019bert",
        "lib.retrievers.rerank_depth",
        ("rerank",),
        ("hybrid_rrf",),
        code=("lib.retrievers.rerank", "lib.models.cross_encoder"),
        options={"n": 50, "first_stage": "hybrid_rrf"},
        conditions=("standard",),
        **_VECTORS,
    ),
)
_CONTEXTS = tuple(
    _row(
        f"contextual_{'' if context == 'written' else 'header_'}{how}",
        f"Contextual {how}, {'written context' if context == 'written' else 'header'}",
        f"{what} before each chunk → {'dense' if how == 'dense' else 'dense and BM25 → reciprocal rank fusion'}",
        f"{KEY},anthropic2024contextual",
        "lib.retrievers.contextual",
        (*(FUSED if how == "hybrid" else ("embedder",)), *(("generator",) if context == "written" else ())),
        index_stages=(f"embeddings/contextual-{context}",),
        query_stages=QUERIES,
        function=f"score_{how}",
        code=(DENSE, SPARSE, RRF, "lib.retrievers.filing_context"),
        inputs=f"{context}_inputs",
        options={"context": context},
    )
    for context, what in (
        ("header", "the filing's company, form and year"),
        ("written", "what a language model wrote of the filing"),
    )
    for how in ("dense", "hybrid")
)
_WRITTEN = (
    _row(
        "multi_query",
        "Multi-query",
        "question → three rewrites by a language model → each and the question dense → reciprocal rank fusion",
        f"{KEY},cormack2009rrf",
        "lib.retrievers.rewritten",
        ("embedder", "hybrid_rrf", "generator", "sibling_texts"),
        function="score_multi_query",
        code=TEXTS,
        inputs="queries",
        **_VECTORS,
    ),
    _row(
        "crag",
        "Corrective RAG",
        "hybrid RRF → a model judges the first 5 → none relevant: rewritten, hybrid again → the better round",
        f"{KEY},yan2024crag",
        "lib.retrievers.crag",
        JUDGED,
        ("hybrid_rrf",),
        index_stages=(*WINDOWS, "embeddings/children"),
        query_stages=QUERIES,
        code=(*JUDGE, *TEXTS[:3], SPARSE),
        inputs="inputs",
        conditions=("standard",),
    ),
)

AKARSU_ROWS = (*_FUSION, *_DEPTHS, *_CONTEXTS, *_WRITTEN)

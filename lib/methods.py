"""The method table: name → pipeline → source paper. A new retriever is one function and one row here.

A retriever is ``score(search, candidates, **options)``, which gives every question and chunk a number: a float matrix
(n_questions, n_chunks), more is better, ``-inf`` for a chunk that it does not retrieve. ``search`` is what it
may see of a study, see :class:`lib.method.Search`. ``candidates`` is a boolean matrix of the same shape: the chunks
that a condition admits. A retriever may ignore it, as what it scores outside is masked afterwards; one that ranks,
fuses, scales or reranks has to apply it, so that no chunk outside has an effect.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from lib.ahead import search as ahead
from lib.method import (
    AHEAD,
    CONTEXT,
    COVER_PAGES,
    FUSION,
    GENERAL,
    MAIN,
    MATCHED,
    METADATA,
    ORDERED,
    OTHER_CHUNKS,
    PLAIN,
    PURPOSES,
    READING,
    RERANKING,
    REWRITING,
    SCORERS,
    STORED,
    STRICT,
    TABLES,
    Method,
)
from lib.page_scorer import search as pages
from lib.page_scorer.pages import headers
from lib.retrievers import (
    bm25,
    chroma,
    contextual,
    convex,
    dense,
    element_metadata,
    expansion,
    fusion,
    hyde,
    items,
    judged,
    matched,
    rerank,
    rewritten,
    spans,
    splade,
)
from lib.schema import CONDITIONS

AKARSU, KIM, YEPES = "akarsu2026", "kim2025", "yepes2024"  # families from sibling studies
#: The paper of a sibling study, which its rows cite before their own sources.
PAPERS = {AKARSU: "akarsu2026bm25corrective", KIM: "kim2025financial", YEPES: "yepes2024chunking"}
STANDARD, SEARCHED = ("standard",), ("standard", "oracle-document")
#: What a method may need beside an index.
TRAINING, TEXTS, RECORDS, PAIRS = NEEDS = ("training", "language model", "metadata", "cross-encoder")
METHODS: dict[str, Method] = {}


def row(
    name: str,
    *,
    title: str,
    pipeline: str,
    score: Callable[..., np.ndarray],
    purpose: str,
    source: str = "",
    family: str = MAIN,
    uses: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    **more: object,
) -> None:
    """Add a row to the table; arguments are the fields of :class:`lib.method.Method`.

    A row needs what the methods that it uses need, and a language model where it ``writes``. Outside of the main family
    it changes the first of these methods, and is measured under the standard condition; one of a sibling study, whose
    paper comes before its own sources, under ``oracle-document`` too. A ValueError names a row whose name the table has
    already, or whose purpose is none of PURPOSES.
    """
    if name in METHODS:
        raise ValueError(f"the method {name} is in the table twice")
    if purpose not in PURPOSES:
        raise ValueError(f"the method {name} has the purpose {purpose!r}; choose from {', '.join(PURPOSES)}")
    inherited = {need for used in uses for need in METHODS[used].needs}
    own = {*needs, TEXTS} if "writes" in more else {*needs}
    if family != MAIN:
        conditions = SEARCHED if family in PAPERS else STANDARD
        more = {"conditions": conditions, "changes": uses[0] if uses else ""} | more
    if family in PAPERS:
        source = ",".join(filter(None, [PAPERS[family], source]))
    more["needs"] = tuple(need for need in NEEDS if need in inherited | own)
    METHODS[name] = Method(name, title, pipeline, source, score, purpose, family=family, uses=uses, **more)


def matched_by_records(name: str, title: str, of: str) -> None:
    """Add a row: filings are matched by the dataset's records before the search of another row."""
    _matched(name, title, of, "dataset fields", METADATA, {"covers": False}, needs=(RECORDS,))


def matched_by_covers(name: str, title: str, of: str) -> None:
    """Add a row: filings are matched by their first pages alone before the search of another row."""
    _matched(name, title, of, "cover pages", COVER_PAGES, {"covers": True})


def _matched(name: str, title: str, of: str, by: str, purpose: str, how: dict[str, bool], **more: object) -> None:
    """Add a row with matched filings; a page scorer's with another order or stricter folds remains what it is."""
    base = METHODS[of]
    family, does = (base.family, base.purpose) if base.family in (ORDERED, STRICT) else (MATCHED, purpose)
    row(
        name,
        title=title,
        pipeline=f"question → company, period and form → the filings whose {by} fit best → {base.title}; "
        "then all filings",
        source=base.source if base.is_trained else "",
        family=family,
        score=matched.score,
        purpose=does,
        uses=(of,),
        options={"method": of, **how},
        inputs=partial(matched.inputs, **how),
        chunking=base.chunking,
        **more,
    )


def reranked(name: str, title: str, of: str, n: int) -> None:
    """Add a row: the first ``n`` chunks of a row with matched filings, read again by the cross-encoder."""
    row(
        name,
        title=title,
        pipeline=f"{METHODS[of].pipeline} → the first {n} → cross-encoder that reads the first 256 tokens",
        source="nogueira2019bert",
        family=MATCHED,
        score=rerank.score,
        purpose=METHODS[of].purpose,
        settings=("rerank",),
        uses=(of,),
        options={"first_stage": of, "n": n, "head_tokens": rerank.HEAD_TOKENS},
        needs=(PAIRS,),
    )


# fmt: off
row("dense", title="Dense", purpose=PLAIN,
    pipeline="question → embedding → cosine with the best window of each chunk",
    source="karpukhin2020dpr,reimers2019sbert", score=dense.score, settings=("embedder",))
row("bm25", title="BM25", purpose=PLAIN,
    pipeline="question → finance tokens without stop words → Okapi BM25 over chunks",
    source="robertson2009bm25", score=bm25.score, settings=("bm25",), version=2)
row("bm25_rank_bm25", title="BM25, weights of rank_bm25 (as published)", purpose=PLAIN,
    pipeline="question → finance tokens → rank_bm25's scores, which give frequent words a floor weight",
    source="robertson2009bm25,kobeissi2026", score=bm25.score, settings=("bm25",), options={"form": "rank_bm25"})
row("splade", title="SPLADE", purpose=PLAIN,
    pipeline="question → weighted vocabulary terms → dot product with each chunk's terms",
    source="formal2021splade", score=splade.score, settings=("splade",))
row("hybrid_rrf", title="Hybrid RRF", purpose=FUSION,
    pipeline="dense and BM25 → reciprocal rank fusion",
    source="cormack2009rrf", score=fusion.score, settings=("hybrid_rrf",), uses=("dense", "bm25"))
row("parent_child", title="Parent-child", purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with small children → their parent chunks",
    source="yang2023smalltobig", score=dense.score_children, settings=("embedder", "parent_child"))
row("query_expansion", title="Query expansion", purpose=REWRITING,
    pipeline="question → acronyms and fiscal years spelt out → dense",
    source="carpineto2012expansion", score=expansion.score, settings=("embedder",), inputs=expansion.expanded_questions)
row("hyde", title="HyDE", purpose=REWRITING,
    pipeline="question → a passage that a language model writes → dense",
    source="gao2023hyde", score=hyde.score, settings=("embedder", "hyde", "generator"), inputs=hyde.written_passages,
    writes={"hyde": 0.25})
row("multi_hyde", title="Multi-HyDE", purpose=REWRITING,
    pipeline="question → four written passages → their mean embedding → dense",
    source="george2025multihyde", score=hyde.score_multi, settings=("embedder", "hyde", "generator"),
    inputs=hyde.written_passages, writes={"hyde": 1.0})
row("rerank", title="Dense + reranker", purpose=RERANKING,
    pipeline="dense → first 20 → cross-encoder",
    source="nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("dense",), needs=(PAIRS,))
row("multi_hyde_rerank", title="Multi-HyDE + reranker", purpose=RERANKING,
    pipeline="Multi-HyDE → first 20 → cross-encoder",
    source="george2025multihyde,nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("multi_hyde",),
    options={"first_stage": "multi_hyde"}, needs=(PAIRS,))

# Pages first, then chunks: the page scorer and what it is compared with.
row("page_then_chunk", title="Page, then chunk", purpose=SCORERS,
    pipeline="question → the untrained encoder ranks all pages → dense search of the chunks of the best P",
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_light"),
    options={"scorer": "untrained"})
row("page_scorer_light", title="Light page scorer, chunk order", purpose=SCORERS,
    pipeline=(
        "question → a small adapter on frozen vectors, trained in folds by company, ranks all pages → "
        "dense search of the chunks of the best P"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_light"),
    options={"scorer": "light"}, needs=(TRAINING,))
row("page_scorer_light_filing", title="Light page scorer, chunk order, folds by filing", purpose=SCORERS,
    pipeline=(
        "question → a small adapter on frozen vectors, trained in folds by filing, ranks all pages → "
        "dense search of the chunks of the best P"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_light"),
    options={"scorer": "light", "by": "filing"}, needs=(TRAINING,))
row("page_scorer", title="Page scorer, as published", purpose=SCORERS,
    pipeline=(
        "question → an encoder fine-tuned in folds by company ranks all pages → "
        "dense search of the chunks of the best P"
    ),
    source="kobeissi2026,henderson2017mnrl", score=pages.score, settings=("embedder", "page_scorer"), needs=(TRAINING,))
row("page_scorer_filing", title="Page scorer, as published, folds by filing", purpose=SCORERS,
    pipeline=(
        "question → an encoder fine-tuned in folds by filing ranks all pages → "
        "dense search of the chunks of the best P"
    ),
    source="kobeissi2026,henderson2017mnrl", score=pages.score, settings=("embedder", "page_scorer"),
    options={"by": "filing"}, needs=(TRAINING,))

# The page ranker.
row("ahead", title="Ahead", purpose=AHEAD,
    pipeline=(
        "question → best pages by words, pairs of words, spans, statements and identity → boosted trees, trained "
        "on several question sets, beside the untrained sum of identity, words and spans; page kinds by hand-written "
        "phrases"
    ),
    source="burges2010lambdamart", score=ahead.score, settings=("spans", "bm25", "ahead"), options={"kinds": True},
    inputs=partial(ahead.inputs, kinds=True), needs=(TRAINING, RECORDS))

# Untrained rivals of the trained rows: filings are matched before the search.
matched_by_records("dense_records", title="Dense, metadata match", of="dense")
matched_by_records("bm25_records", title="BM25, metadata match", of="bm25")
matched_by_records("hybrid_rrf_records", title="Hybrid RRF, metadata match", of="hybrid_rrf")
matched_by_records("parent_child_records", title="Parent-child, metadata match", of="parent_child")
matched_by_records("multi_hyde_records", title="Multi-HyDE, metadata match", of="multi_hyde")
matched_by_covers("dense_covers", title="Dense, metadata match (cover pages)", of="dense")
matched_by_covers("bm25_covers", title="BM25, metadata match (cover pages)", of="bm25")
matched_by_covers("hybrid_rrf_covers", title="Hybrid RRF, metadata match (cover pages)", of="hybrid_rrf")
matched_by_covers("parent_child_covers", title="Parent-child, metadata match (cover pages)", of="parent_child")
matched_by_covers("multi_hyde_covers", title="Multi-HyDE, metadata match (cover pages)", of="multi_hyde")

# Page scorers with another stage two; folds by company.
row("page_scorer_order", title="Page scorer, page order", family=ORDERED, purpose=SCORERS,
    pipeline=(
        "question → an encoder, trained in folds by company, ranks all pages → "
        "the chunks of the best P in the order of their pages"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer"),
    options={"scorer": "full", "order": "page"}, changes="page_scorer", needs=(TRAINING,))
row("page_scorer_sum", title="Page scorer, sum of scores", family=ORDERED, purpose=SCORERS,
    pipeline=(
        "question → an encoder, trained in folds by company, ranks all pages → the chunks of the best P in the order "
        "of the sum of their page's score and their own, both standardised"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer"),
    options={"scorer": "full", "order": "sum"}, changes="page_scorer", needs=(TRAINING,))
row("page_scorer_light_order", title="Light page scorer, page order", family=ORDERED, purpose=SCORERS,
    pipeline=(
        "question → a small adapter on frozen vectors, trained in folds by company, ranks all pages → the chunks of "
        "the best P in the order of their pages"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_light"),
    options={"scorer": "light", "order": "page"}, changes="page_scorer_light", needs=(TRAINING,))
row("page_scorer_light_sum", title="Light page scorer, sum of scores", family=ORDERED, purpose=SCORERS,
    pipeline=(
        "question → a small adapter on frozen vectors, trained in folds by company, ranks all pages → the chunks of "
        "the best P in the order of the sum of their page's score and their own, both standardised"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_light"),
    options={"scorer": "light", "order": "sum"}, changes="page_scorer_light", needs=(TRAINING,))
row("page_scorer_best_order", title="Page scorer with header, page order", family=ORDERED, purpose=SCORERS,
    pipeline=(
        "question → an encoder that reads company, period and form before each page, trained in folds by company, "
        "ranks all pages → the chunks of the best P in the order of their pages"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_best"),
    inputs=headers, options={"scorer": "best", "order": "page"}, changes="page_scorer", needs=(TRAINING, RECORDS))
row("page_scorer_best_sum", title="Page scorer with header, sum of scores", family=ORDERED, purpose=SCORERS,
    pipeline=(
        "question → an encoder that reads company, period and form before each page, trained in folds by company, "
        "ranks all pages → "
        "the chunks of the best P in the order of the sum of their page's score and their own, both standardised"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_best"),
    inputs=headers, options={"scorer": "best", "order": "sum"}, changes="page_scorer", needs=(TRAINING, RECORDS))
matched_by_records("page_scorer_order_records",
    title="Page scorer, page order, metadata match", of="page_scorer_order")
matched_by_covers("page_scorer_order_covers",
    title="Page scorer, page order, metadata match (cover pages)", of="page_scorer_order")
matched_by_records("page_scorer_sum_records",
    title="Page scorer, sum of scores, metadata match", of="page_scorer_sum")
matched_by_covers("page_scorer_sum_covers",
    title="Page scorer, sum of scores, metadata match (cover pages)", of="page_scorer_sum")
matched_by_records("page_scorer_light_order_records",
    title="Light page scorer, page order, metadata match", of="page_scorer_light_order")
matched_by_covers("page_scorer_light_order_covers",
    title="Light page scorer, page order, metadata match (cover pages)", of="page_scorer_light_order")
matched_by_records("page_scorer_light_sum_records",
    title="Light page scorer, sum of scores, metadata match", of="page_scorer_light_sum")
matched_by_covers("page_scorer_light_sum_covers",
    title="Light page scorer, sum of scores, metadata match (cover pages)", of="page_scorer_light_sum")
matched_by_records("page_scorer_best_order_records",
    title="Page scorer with header, page order, metadata match", of="page_scorer_best_order")
matched_by_covers("page_scorer_best_order_covers",
    title="Page scorer with header, page order, metadata match (cover pages)", of="page_scorer_best_order")
matched_by_records("page_scorer_best_sum_records",
    title="Page scorer with header, sum of scores, metadata match", of="page_scorer_best_sum")
matched_by_covers("page_scorer_best_sum_covers",
    title="Page scorer with header, sum of scores, metadata match (cover pages)", of="page_scorer_best_sum")

# Short spans behind Item, Note and heading, as the page ranker searches them.
row("spans", title="Spans in context", family=GENERAL, purpose=CONTEXT,
    pipeline=(
        "question without company and period → embedding → cosine with short spans behind Item, Note and heading → "
        "their chunks"
    ),
    source="yang2023smalltobig,anthropic2024contextual", score=spans.score, settings=("spans",), changes="dense")
matched_by_records("spans_records", title="Spans in context, metadata match", of="spans")
matched_by_covers("spans_covers", title="Spans in context, metadata match (cover pages)", of="spans")

# The page ranker without training, and without the hand-written page kinds.
row("ahead_untrained", title="Identity, words and spans, untrained", family=GENERAL, purpose=AHEAD,
    pipeline=(
        "question → fit of each filing's company, period and form + standardised cosine of each page's best span in "
        "context + half of standardised BM25 over whole pages → their chunks"
    ),
    source="robertson2009bm25,karpukhin2020dpr", score=ahead.score, settings=("spans", "bm25", "ahead"),
    options={"trained": False}, inputs=partial(ahead.inputs, trained=False), changes="ahead", needs=(RECORDS,))
row("ahead_general", title="Ahead without hand-written page kinds", family=GENERAL, purpose=AHEAD,
    pipeline=(
        "question → best pages by words, pairs of words, spans, statements and identity → boosted trees, trained "
        "on several question sets, beside the untrained sum of identity, words and spans"
    ),
    source="burges2010lambdamart", score=ahead.score, settings=("spans", "bm25", "ahead"), inputs=ahead.inputs,
    changes="ahead", needs=(TRAINING, RECORDS))
row("ahead_covers", title="Ahead, metadata match (cover pages)", family=GENERAL, purpose=AHEAD,
    pipeline=(
        "question → best pages by words, pairs of words, spans, statements and identity → boosted trees, trained "
        "on several question sets, beside the untrained sum of identity, words and spans; page kinds by hand-written "
        "phrases; filings by their first pages alone"
    ),
    source="burges2010lambdamart", score=ahead.score, settings=("spans", "bm25", "ahead"),
    options={"kinds": True, "covers": True}, inputs=partial(ahead.inputs, kinds=True), changes="ahead",
    needs=(TRAINING,))

# Several pages: each line item of a question's formula is searched for.
row("items_apart_records", title="Hybrid RRF, metadata match, items apart", family=MATCHED, purpose=METADATA,
    pipeline=(
        "question and each line item of its formula, where it has two → company, period and form → the filings whose "
        "dataset fields fit best → Hybrid RRF → one list by best rank"
    ),
    source="ammann2025decomposition", score=items.score, uses=("hybrid_rrf_records",),
    options={"first_stage": "hybrid_rrf_records"}, inputs=items.inputs,
    version=3)
row("items_again_records", title="Hybrid RRF, metadata match, missing items again", family=MATCHED,
    purpose=METADATA,
    pipeline=(
        "question → company, period and form → the filings whose dataset fields fit best → Hybrid RRF → each line item "
        "of its formula, where it has two, that no page of the first 5 has, is searched for → its best page is the 5th"
    ),
    source="ammann2025decomposition", score=items.score, uses=("hybrid_rrf_records",),
    options={"first_stage": "hybrid_rrf_records", "k": 5}, inputs=items.inputs,
    version=3)
row("ahead_items_apart", title="Ahead, items apart", family=GENERAL, purpose=AHEAD,
    pipeline="question and each line item of its formula, where it has two → Ahead → one list by best rank",
    source="ammann2025decomposition", score=ahead.score_items, uses=("ahead",), options={"first_stage": "ahead"},
    inputs=items.inputs, version=3)
row("ahead_items_again", title="Ahead, missing items again", family=GENERAL, purpose=AHEAD,
    pipeline=(
        "question → Ahead → each line item of its formula, where it has two, that no page of the first 5 has is "
        "searched for → its best page last of the 5"
    ),
    source="ammann2025decomposition", score=ahead.score_items, uses=("ahead",),
    options={"first_stage": "ahead", "k": 5}, inputs=items.inputs, version=3)

# Trained rows whose training has no twin of a test question: a question that shares its template.
row("ahead_template", title="Ahead, templates held out", family=STRICT, purpose=AHEAD,
    pipeline=(
        "question → best pages by words, pairs of words, spans, statements and identity → boosted trees, trained "
        "on several question sets without twins of the question, beside the untrained sum of identity, words and "
        "spans; page kinds by hand-written phrases"
    ),
    source="burges2010lambdamart", score=ahead.score, settings=("spans", "bm25", "ahead"),
    options={"kinds": True, "by": "template"}, inputs=partial(ahead.inputs, kinds=True, by="template"),
    changes="ahead", needs=(TRAINING, RECORDS))
row("ahead_general_template", title="Ahead without hand-written page kinds, templates held out", family=STRICT,
    purpose=AHEAD,
    pipeline=(
        "question → best pages by words, pairs of words, spans, statements and identity → boosted trees, trained "
        "on several question sets without twins of the question, beside the untrained sum of identity, words and spans"
    ),
    source="burges2010lambdamart", score=ahead.score, settings=("spans", "bm25", "ahead"),
    options={"by": "template"}, inputs=partial(ahead.inputs, by="template"), changes="ahead_general",
    needs=(TRAINING, RECORDS))
row("page_scorer_light_template", title="Light page scorer, chunk order, templates held out", family=STRICT,
    purpose=SCORERS,
    pipeline=(
        "question → a small adapter on frozen vectors, trained in folds by company without twins of the question, "
        "ranks all pages → dense search of the chunks of the best P"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_light"),
    options={"scorer": "light", "by": "template"}, changes="page_scorer_light", needs=(TRAINING,))
row("page_scorer_light_order_template", title="Light page scorer, page order, templates held out", family=STRICT,
    purpose=SCORERS,
    pipeline=(
        "question → a small adapter on frozen vectors, trained in folds by company without twins of the question, "
        "ranks all pages → the chunks of the best P in the order of their pages"
    ),
    source="kobeissi2026", score=pages.score, settings=("embedder", "page_scorer", "page_scorer_light"),
    options={"scorer": "light", "by": "template", "order": "page"}, changes="page_scorer_light_order",
    needs=(TRAINING,))
matched_by_records("page_scorer_light_order_template_records",
    title="Light page scorer, page order, templates held out, metadata match",
    of="page_scorer_light_order_template")

# A search as the study published it, in a vector store.
row("dense_chroma", title="Dense in a vector store (as published)", family=STORED, purpose=PLAIN,
    pipeline=(
        "question → embedding → the nearest windows in one Chroma collection, filtered by filing and page → "
        "their chunks"
    ),
    source="kobeissi2026,malkov2020hnsw", score=chroma.score, settings=("embedder",), changes="dense",
    conditions=CONDITIONS)

# Akarsu et al., "From BM25 to Corrective RAG" (2026): fusion, rerank depth, contexts, written queries.
row("bm25_k12", title="BM25 as in rank_bm25, k1 = 1.2", family=AKARSU, purpose=PLAIN,
    pipeline="question → words between white space → rank_bm25's scores, k1 = 1.2",
    source="robertson2009bm25", score=bm25.score, settings=("bm25",),
    options={"k1": 1.2, "form": "rank_bm25, white space"}, changes="bm25", version=2)
row("rrf_10", title="Hybrid RRF, k = 10", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25 → reciprocal rank fusion with k = 10",
    source="cormack2009rrf", score=fusion.score, settings=("embedder", "bm25", "hybrid_rrf"), options={"k_rrf": 10},
    changes="hybrid_rrf", version=2)
row("rrf_30", title="Hybrid RRF, k = 30", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25 → reciprocal rank fusion with k = 30",
    source="cormack2009rrf", score=fusion.score, settings=("embedder", "bm25", "hybrid_rrf"), options={"k_rrf": 30},
    changes="hybrid_rrf", version=2)
row("rrf_100", title="Hybrid RRF, k = 100", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25 → reciprocal rank fusion with k = 100",
    source="cormack2009rrf", score=fusion.score, settings=("embedder", "bm25", "hybrid_rrf"), options={"k_rrf": 100},
    changes="hybrid_rrf", version=2)
row("convex_30", title="Convex combination, α = 0.3", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → 30 % dense and 70 % BM25",
    source="bruch2023fusion", score=convex.score, settings=("embedder", "bm25"), options={"alpha": 0.3},
    changes="hybrid_rrf", version=2)
row("convex_40", title="Convex combination, α = 0.4", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → 40 % dense and 60 % BM25",
    source="bruch2023fusion", score=convex.score, settings=("embedder", "bm25"), options={"alpha": 0.4},
    changes="hybrid_rrf", version=2)
row("convex_50", title="Convex combination, α = 0.5", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → 50 % dense and 50 % BM25",
    source="bruch2023fusion", score=convex.score, settings=("embedder", "bm25"), options={"alpha": 0.5},
    changes="hybrid_rrf", version=2)
row("convex_60", title="Convex combination, α = 0.6", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → 60 % dense and 40 % BM25",
    source="bruch2023fusion", score=convex.score, settings=("embedder", "bm25"), options={"alpha": 0.6},
    changes="hybrid_rrf", version=2)
row("convex_70", title="Convex combination, α = 0.7", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → 70 % dense and 30 % BM25",
    source="bruch2023fusion", score=convex.score, settings=("embedder", "bm25"), options={"alpha": 0.7},
    changes="hybrid_rrf", version=2)
row("convex_80", title="Convex combination, α = 0.8", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → 80 % dense and 20 % BM25",
    source="bruch2023fusion", score=convex.score, settings=("embedder", "bm25"), options={"alpha": 0.8},
    changes="hybrid_rrf", version=2)
row("convex_90", title="Convex combination, α = 0.9", family=AKARSU, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → 90 % dense and 10 % BM25",
    source="bruch2023fusion", score=convex.score, settings=("embedder", "bm25"), options={"alpha": 0.9},
    changes="hybrid_rrf", version=2)
row("rerank_head_20", title="Dense + reranker, first 20", family=AKARSU, purpose=RERANKING,
    pipeline="dense → first 20 → cross-encoder that reads the first 256 tokens",
    source="nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("dense",),
    options={"n": 20, "head_tokens": rerank.HEAD_TOKENS}, needs=(PAIRS,), conditions=STANDARD)
row("rerank_head_50", title="Dense + reranker, first 50", family=AKARSU, purpose=RERANKING,
    pipeline="dense → first 50 → cross-encoder that reads the first 256 tokens",
    source="nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("dense",),
    options={"n": 50, "head_tokens": rerank.HEAD_TOKENS}, needs=(PAIRS,), conditions=STANDARD)
row("rerank_head_100", title="Dense + reranker, first 100", family=AKARSU, purpose=RERANKING,
    pipeline="dense → first 100 → cross-encoder that reads the first 256 tokens",
    source="nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("dense",),
    options={"n": 100, "head_tokens": rerank.HEAD_TOKENS}, needs=(PAIRS,), conditions=STANDARD)
row("hybrid_rerank", title="Hybrid RRF + reranker, heads", family=AKARSU, purpose=RERANKING,
    pipeline="hybrid RRF → first 50 → cross-encoder that reads the first 256 tokens",
    source="nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("hybrid_rrf",),
    options={"n": 50, "first_stage": "hybrid_rrf", "head_tokens": rerank.HEAD_TOKENS}, needs=(PAIRS,),
    conditions=STANDARD)
row("hybrid_rerank_whole", title="Hybrid RRF + reranker, whole chunks", family=AKARSU, purpose=RERANKING,
    pipeline="hybrid RRF → first 50 → cross-encoder that reads all windows of a chunk → its best",
    source="nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("hybrid_rrf",),
    options={"n": 50, "first_stage": "hybrid_rrf"}, needs=(PAIRS,), conditions=STANDARD)
row("contextual_header_dense", title="Contextual dense, header", family=AKARSU, purpose=CONTEXT,
    pipeline="the filing's company, form and year before each chunk → dense",
    source="anthropic2024contextual", score=contextual.score_dense, settings=("embedder",),
    options={"context": "header"}, inputs=partial(contextual.contexts, kind="header"), changes="dense",
    needs=(RECORDS,))
row("contextual_header_hybrid", title="Contextual hybrid, header", family=AKARSU, purpose=CONTEXT,
    pipeline="the filing's company, form and year before each chunk → dense and BM25 → reciprocal rank fusion",
    source="anthropic2024contextual", score=contextual.score_hybrid, settings=("embedder", "bm25", "hybrid_rrf"),
    options={"context": "header"}, inputs=partial(contextual.contexts, kind="header"), changes="hybrid_rrf",
    needs=(RECORDS,), version=2)
row("contextual_dense", title="Contextual dense, written context", family=AKARSU, purpose=CONTEXT,
    pipeline="what a language model wrote of the filing before each chunk → dense",
    source="anthropic2024contextual", score=contextual.score_dense, settings=("embedder", "generator"),
    options={"context": "written"}, inputs=partial(contextual.contexts, kind="written"), writes={"filing_context": 1.0},
    changes="dense")
row("contextual_hybrid", title="Contextual hybrid, written context", family=AKARSU, purpose=CONTEXT,
    pipeline="what a language model wrote of the filing before each chunk → dense and BM25 → reciprocal rank fusion",
    source="anthropic2024contextual", score=contextual.score_hybrid,
    settings=("embedder", "bm25", "hybrid_rrf", "generator"), options={"context": "written"},
    inputs=partial(contextual.contexts, kind="written"), writes={"filing_context": 1.0}, changes="hybrid_rrf",
    version=2)
row("hyde_akarsu", title="HyDE, one passage with numbers", family=AKARSU, purpose=REWRITING,
    pipeline="question → a passage that a language model writes at temperature 0, asked for numbers → dense",
    source="gao2023hyde", score=hyde.score, settings=("embedder", "generator", "sibling_texts"),
    options={"kind": "hyde_akarsu"}, inputs=partial(hyde.written_passages, kind="hyde_akarsu"),
    writes={"hyde_akarsu": 1.0}, changes="dense")
row("multi_query", title="Multi-query", family=AKARSU, purpose=REWRITING,
    pipeline=(
        "question → three rewrites by a language model at temperature 0 → each and the question dense → "
        "reciprocal rank fusion"
    ),
    source="cormack2009rrf", score=rewritten.score_multi_query,
    settings=("embedder", "hybrid_rrf", "generator", "sibling_texts"), inputs=rewritten.queries,
    writes={"rewrites": 1.0}, changes="dense")
row("crag", title="Corrective RAG", family=AKARSU, purpose=READING,
    pipeline=(
        "hybrid RRF → a model reads and labels the first 5 → none relevant: rewritten, hybrid again → "
        "the round with more relevant chunks"
    ),
    source="yan2024crag", score=judged.score_corrected,
    settings=("embedder", "bm25", "hybrid_rrf", "generator", "sibling_texts", "run"), uses=("hybrid_rrf",),
    inputs=lambda search: judged.verdicts(search).to_dict("records"), writes={"judge": 1.0, "correction": 1.0},
    conditions=STANDARD, version=2)

# What a reranker, or a written context, adds after the metadata match.
matched_by_records("contextual_hybrid_records",
    title="Contextual hybrid, written context, metadata match", of="contextual_hybrid")
reranked("dense_records_rerank", title="Dense, metadata match, reranker", of="dense_records", n=20)
reranked("multi_hyde_records_rerank",
    title="Multi-HyDE, metadata match, reranker", of="multi_hyde_records", n=20)
reranked("hybrid_rrf_records_rerank",
    title="Hybrid RRF, metadata match, reranker", of="hybrid_rrf_records", n=50)
matched_by_covers("contextual_hybrid_covers",
    title="Contextual hybrid, written context, metadata match (cover pages)", of="contextual_hybrid")
reranked("dense_covers_rerank", title="Dense, metadata match (cover pages), reranker", of="dense_covers", n=20)
reranked("multi_hyde_covers_rerank",
    title="Multi-HyDE, metadata match (cover pages), reranker", of="multi_hyde_covers", n=20)
reranked("hybrid_rrf_covers_rerank",
    title="Hybrid RRF, metadata match (cover pages), reranker", of="hybrid_rrf_covers", n=50)

# Kim et al., "Optimizing Retrieval Strategies for Financial QA Documents" (2025): queries, weights, tables.
row("keyword_query", title="Key terms", family=KIM, purpose=REWRITING,
    pipeline="question and the key terms that a language model takes from it → dense and BM25 → reciprocal rank fusion",
    score=rewritten.score_lengthened, settings=("embedder", "bm25", "hybrid_rrf", "generator", "sibling_texts"),
    options={"kind": "keywords"}, inputs=partial(rewritten.lengthened, kind="keywords"), writes={"keywords": 1.0},
    changes="hybrid_rrf", version=2)
row("lm_expansion", title="Language-model expansion", family=KIM, purpose=REWRITING,
    pipeline="question and terms that a language model adds → dense and BM25 → reciprocal rank fusion",
    score=rewritten.score_lengthened, settings=("embedder", "bm25", "hybrid_rrf", "generator", "sibling_texts"),
    options={"kind": "expansion"}, inputs=partial(rewritten.lengthened, kind="expansion"), writes={"expansion": 1.0},
    changes="hybrid_rrf", version=2)
row("keyword_query_dense", title="Key terms, dense", family=KIM, purpose=REWRITING,
    pipeline="question and the key terms that a language model takes from it → dense",
    score=rewritten.score_lengthened_dense, settings=("embedder", "generator", "sibling_texts"),
    options={"kind": "keywords"}, inputs=partial(rewritten.lengthened, kind="keywords"), writes={"keywords": 1.0},
    changes="dense")
row("lm_expansion_dense", title="Language-model expansion, dense", family=KIM, purpose=REWRITING,
    pipeline="question and terms that a language model adds → dense",
    score=rewritten.score_lengthened_dense, settings=("embedder", "generator", "sibling_texts"),
    options={"kind": "expansion"}, inputs=partial(rewritten.lengthened, kind="expansion"), writes={"expansion": 1.0},
    changes="dense")
row("expanded_markdown_dense", title="Language-model expansion, dense, titles and tables in markdown", family=KIM,
    purpose=TABLES,
    pipeline="question and terms that a language model adds → dense over pages with titles and tables in markdown",
    score=rewritten.score_lengthened_dense, settings=("embedder", "generator", "sibling_texts"), chunking="markdown",
    options={"kind": "expansion"}, inputs=partial(rewritten.lengthened, kind="expansion"), writes={"expansion": 1.0},
    changes="lm_expansion_dense")
row("expanded_annotated_tables_dense", title="Language-model expansion, dense, annotated tables", family=KIM,
    purpose=TABLES,
    pipeline="question and terms that a language model adds → dense over pages with annotated tables",
    score=rewritten.score_lengthened_dense, settings=("embedder", "generator", "sibling_texts"),
    chunking="annotated_tables", options={"kind": "expansion"}, inputs=partial(rewritten.lengthened, kind="expansion"),
    writes={"expansion": 1.0}, changes="lm_expansion_dense")
row("expanded_tables_only_dense", title="Language-model expansion, dense, tables alone", family=KIM, purpose=TABLES,
    pipeline="question and terms that a language model adds → dense over pages with tables alone",
    score=rewritten.score_lengthened_dense, settings=("embedder", "generator", "sibling_texts"), chunking="tables_only",
    options={"kind": "expansion"}, inputs=partial(rewritten.lengthened, kind="expansion"), writes={"expansion": 1.0},
    changes="lm_expansion_dense")
row("convex_folds", title="Convex combination, α chosen in folds", family=KIM, purpose=FUSION,
    pipeline="dense and BM25, each min-max scaled → weighted as the training folds choose, by company",
    source="bruch2023fusion", score=convex.score_in_folds, settings=("embedder", "bm25", "run"),
    options={"n_folds": 5, "seed": 13}, changes="hybrid_rrf", needs=(TRAINING,), version=2)
row("convex_softmax_folds", title="Convex combination after softmax, α chosen in folds", family=KIM, purpose=FUSION,
    pipeline=(
        "dense and BM25, each through softmax, of dense's first 100 → "
        "weighted as the training folds choose, by company"
    ),
    source="bruch2023fusion", score=convex.score_in_folds, settings=("embedder", "bm25", "run"),
    options={"n_folds": 5, "seed": 13, "normalisation": "softmax"}, changes="hybrid_rrf", needs=(TRAINING,), version=2)
row("selection_agent", title="Selection agent", family=KIM, purpose=READING,
    pipeline="hybrid RRF → a language model reads the first 10 in one prompt → those that it does not list follow",
    score=judged.score_selected, settings=("embedder", "bm25", "hybrid_rrf", "generator", "sibling_texts", "run"),
    uses=("hybrid_rrf",), inputs=judged.chosen, writes={"selection": 1.0}, conditions=STANDARD, version=2)
row("markdown_dense", title="Dense, titles and tables in markdown", family=KIM, purpose=TABLES,
    pipeline="question → embedding → cosine with chunks of pages with titles and tables in markdown",
    source="karpukhin2020dpr", score=dense.score, settings=("embedder",), chunking="markdown", changes="dense")
row("annotated_tables_dense", title="Dense, annotated tables", family=KIM, purpose=TABLES,
    pipeline="question → embedding → cosine with chunks of pages with annotated tables",
    source="karpukhin2020dpr", score=dense.score, settings=("embedder",), chunking="annotated_tables", changes="dense")
row("tables_only_dense", title="Dense, tables alone", family=KIM, purpose=TABLES,
    pipeline="question → embedding → cosine with chunks of pages with tables alone",
    source="karpukhin2020dpr", score=dense.score, settings=("embedder",), chunking="tables_only", changes="dense")
row("markdown_bm25", title="BM25, titles and tables in markdown", family=KIM, purpose=TABLES,
    pipeline="question → finance tokens → BM25 over pages with titles and tables in markdown",
    source="robertson2009bm25", score=bm25.score, settings=("bm25",), chunking="markdown", changes="bm25", version=2)
row("annotated_tables_bm25", title="BM25, annotated tables", family=KIM, purpose=TABLES,
    pipeline="question → finance tokens → BM25 over pages with annotated tables",
    source="robertson2009bm25", score=bm25.score, settings=("bm25",), chunking="annotated_tables", changes="bm25",
    version=2)
row("tables_only_bm25", title="BM25, tables alone", family=KIM, purpose=TABLES,
    pipeline="question → finance tokens → BM25 over pages with tables alone",
    source="robertson2009bm25", score=bm25.score, settings=("bm25",), chunking="tables_only", changes="bm25", version=2)
row("expanded_markdown", title="Expansion and markdown, hybrid", family=KIM, purpose=TABLES,
    pipeline=(
        "question and terms that a language model adds → dense and BM25 over pages with titles and tables in "
        "markdown → reciprocal rank fusion"
    ),
    score=rewritten.score_lengthened, settings=("embedder", "bm25", "hybrid_rrf", "generator", "sibling_texts"),
    chunking="markdown", options={"kind": "expansion"}, inputs=partial(rewritten.lengthened, kind="expansion"),
    writes={"expansion": 1.0}, changes="lm_expansion", conditions=STANDARD)
row("stacked_rerank", title="Expansion, markdown, hybrid and reranker", family=KIM, purpose=TABLES,
    pipeline=(
        "question and terms that a language model adds → dense and BM25 over pages with titles and tables in "
        "markdown → reciprocal rank fusion → first 20 → cross-encoder that reads the first 256 tokens"
    ),
    source="nogueira2019bert", score=rerank.score, settings=("rerank",), uses=("expanded_markdown",),
    chunking="markdown", options={"first_stage": "expanded_markdown", "n": 20, "head_tokens": rerank.HEAD_TOKENS},
    needs=(PAIRS,), conditions=STANDARD)

# Yepes et al., "Financial Report Chunking for Effective RAG" (2024): what a chunk is.
row("fixed_128", title="Chunks of 128 tokens", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with one vector of each chunk of 126 tokens",
    source="karpukhin2020dpr", score=dense.score_whole, settings=("embedder",), chunking="fixed_128", changes="dense")
row("fixed_256", title="Chunks of 256 tokens", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with one vector of each chunk of 254 tokens",
    source="karpukhin2020dpr", score=dense.score_whole, settings=("embedder",), chunking="fixed_256", changes="dense")
row("fixed_512", title="Chunks of 512 tokens", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with one vector of each chunk of 510 tokens",
    source="karpukhin2020dpr", score=dense.score_whole, settings=("embedder",), chunking="fixed_512", changes="dense",
    version=2)
row("hybrid_fixed_128", title="Hybrid RRF, chunks of 128 tokens", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="one vector of each chunk of 126 tokens and BM25 over them → reciprocal rank fusion (not in the paper)",
    source="cormack2009rrf", score=fusion.score, settings=("embedder", "bm25", "hybrid_rrf"), chunking="fixed_128",
    options={"dense": "fixed_128"}, changes="hybrid_rrf")
row("hybrid_fixed_256", title="Hybrid RRF, chunks of 256 tokens", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="one vector of each chunk of 254 tokens and BM25 over them → reciprocal rank fusion (not in the paper)",
    source="cormack2009rrf", score=fusion.score, settings=("embedder", "bm25", "hybrid_rrf"), chunking="fixed_256",
    options={"dense": "fixed_256"}, changes="hybrid_rrf")
row("hybrid_fixed_512", title="Hybrid RRF, chunks of 512 tokens", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="one vector of each chunk of 510 tokens and BM25 over them → reciprocal rank fusion (not in the paper)",
    source="cormack2009rrf", score=fusion.score, settings=("embedder", "bm25", "hybrid_rrf"), chunking="fixed_512",
    options={"dense": "fixed_512"}, changes="hybrid_rrf")
row("fixed_aggregate", title="Chunks of 128, 256 and 512 tokens", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with chunks of three sizes in one index",
    source="karpukhin2020dpr", score=dense.score_sizes, settings=("embedder",), chunking="fixed_aggregate",
    changes="dense")
row("element_chunks", title="Element chunks, no metadata", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with the text of titles, text and whole tables (not in the paper)",
    source="karpukhin2020dpr", score=dense.score, settings=("embedder",), chunking="elements", changes="dense")
row("element_keywords", title="Element chunks, keywords", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with six key terms of each element chunk",
    source="karpukhin2020dpr", score=element_metadata.score, settings=("embedder",), chunking="elements",
    options={"kinds": ["keywords"]}, changes="dense")
row("element_summary", title="Element chunks, summary", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with the three sentences nearest to the whole of each element chunk",
    source="karpukhin2020dpr", score=element_metadata.score, settings=("embedder",), chunking="elements",
    options={"kinds": ["summary"]}, changes="dense")
row("element_prefix", title="Element chunks, prefix", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline=(
        "question → embedding → "
        "cosine with the first two sentences, or the caption of a table, of each element chunk"
    ),
    source="karpukhin2020dpr", score=element_metadata.score, settings=("embedder",), chunking="elements",
    options={"kinds": ["prefix"]}, changes="dense")
row("element_aggregate", title="Element chunks, aggregate", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → embedding → cosine with the nearest of key terms, summary and prefix of each element chunk",
    source="karpukhin2020dpr", score=element_metadata.score, settings=("embedder",), chunking="elements",
    options={"kinds": ["keywords", "summary", "prefix"]}, changes="dense")
row("element_bm25", title="BM25, element chunks", family=YEPES, purpose=OTHER_CHUNKS,
    pipeline="question → finance tokens → BM25 over titles, text and whole tables (not in the paper)",
    source="robertson2009bm25", score=bm25.score, settings=("bm25",), chunking="elements", changes="bm25", version=2)

# Short chunks after the metadata match.
matched_by_records("fixed_128_records", title="Chunks of 128 tokens, metadata match", of="fixed_128")
matched_by_covers("fixed_128_covers", title="Chunks of 128 tokens, metadata match (cover pages)", of="fixed_128")
matched_by_records("hybrid_fixed_128_records",
    title="Hybrid RRF, chunks of 128 tokens, metadata match", of="hybrid_fixed_128")
matched_by_covers("hybrid_fixed_128_covers",
    title="Hybrid RRF, chunks of 128 tokens, metadata match (cover pages)", of="hybrid_fixed_128")
matched_by_records("fixed_256_records", title="Chunks of 256 tokens, metadata match", of="fixed_256")
matched_by_covers("fixed_256_covers", title="Chunks of 256 tokens, metadata match (cover pages)", of="fixed_256")
matched_by_records("hybrid_fixed_256_records",
    title="Hybrid RRF, chunks of 256 tokens, metadata match", of="hybrid_fixed_256")
matched_by_covers("hybrid_fixed_256_covers",
    title="Hybrid RRF, chunks of 256 tokens, metadata match (cover pages)", of="hybrid_fixed_256")
matched_by_records("fixed_512_records", title="Chunks of 512 tokens, metadata match", of="fixed_512")
matched_by_covers("fixed_512_covers", title="Chunks of 512 tokens, metadata match (cover pages)", of="fixed_512")
matched_by_records("hybrid_fixed_512_records",
    title="Hybrid RRF, chunks of 512 tokens, metadata match", of="hybrid_fixed_512")
matched_by_covers("hybrid_fixed_512_covers",
    title="Hybrid RRF, chunks of 512 tokens, metadata match (cover pages)", of="hybrid_fixed_512")
# fmt: on

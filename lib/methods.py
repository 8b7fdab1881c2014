"""The method table: name → pipeline → source paper. A new retriever is one function and one row here.

A retriever is ``score(search, candidates, **options)``, which gives every question and chunk a number: a float matrix
(n_questions, n_chunks), more is better, ``-inf`` or NaN for a chunk that it does not retrieve. ``search`` is what it
may see of a study, see :class:`lib.method.Search`. ``candidates`` is a boolean matrix of the same shape: the chunks
that a condition admits. A retriever may ignore it, as what it scores outside is masked afterwards; one that ranks,
fuses, scales or reranks has to apply it, so that no chunk outside has an effect.
"""

from functools import partial

from lib.ahead import search as ahead
from lib.method import GENERAL, MAIN, MATCHED, ORDERED, STORED, Method
from lib.page_scorer import search as pages
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
    judged,
    matched,
    rerank,
    rewritten,
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


def row(name: str, title: str, pipeline: str, source: str, score, *settings: str, family=MAIN, **more) -> None:
    """Add a row to the table; ``settings`` are sections of the profile, ``more`` are other fields of Method.

    It needs what the methods that it uses need. Outside of the main family it changes the first of these, and is
    measured under the standard condition; one of a sibling study under ``oracle-document`` too.
    """
    if name in METHODS:
        raise ValueError(f"the method {name} is in the table twice")
    uses, needs = more.get("uses", ()), {*more.pop("needs", ())} | ({TEXTS} if "writes" in more else set())
    needs |= {need for used in uses for need in METHODS[used].needs}
    if family != MAIN:
        usual = {"conditions": SEARCHED if family in PAPERS else STANDARD, "changes": uses[0] if uses else ""}
        more = usual | more
    sources = f"{PAPERS[family]},{source}".strip(",") if family in PAPERS else source
    more["needs"] = tuple(need for need in NEEDS if need in needs)
    METHODS[name] = Method(name, title, pipeline, sources, score, settings, family=family, **more)


# fmt: off
row("dense", "Dense", "question → embedding → cosine with the best window of each chunk",
    "karpukhin2020dpr,reimers2019sbert", dense.score, "embedder")
row("bm25", "BM25", "question → finance tokens without stop words → Okapi BM25 over chunks",
    "robertson2009bm25", bm25.score, "bm25", version=2)
row("bm25_rank_bm25", "BM25, weights of rank_bm25 (as published)",
    "question → finance tokens → rank_bm25's scores, which give frequent words a floor weight",
    "robertson2009bm25,kobeissi2026", bm25.score, "bm25", options={"form": "rank_bm25"})
row("splade", "SPLADE", "question → weighted vocabulary terms → dot product with each chunk's terms",
    "formal2021splade", splade.score, "splade")
row("hybrid_rrf", "Hybrid RRF", "dense and BM25 → reciprocal rank fusion",
    "cormack2009rrf", fusion.score, "hybrid_rrf", uses=("dense", "bm25"))
row("parent_child", "Parent-child", "question → embedding → cosine with small children → their parent chunks",
    "yang2023smalltobig", dense.score_children, "embedder", "parent_child")
row("query_expansion", "Query expansion", "question → acronyms and fiscal years spelt out → dense",
    "carpineto2012expansion", expansion.score, "embedder", inputs=expansion.expanded_questions)
row("hyde", "HyDE", "question → a passage that a language model writes → dense",
    "gao2023hyde", hyde.score, "embedder", "hyde", "generator",
    inputs=hyde.written_passages, writes={"hyde": 0.25})  # one of Multi-HyDE's four passages
row("multi_hyde", "Multi-HyDE", "question → four written passages → their mean embedding → dense",
    "george2025multihyde", hyde.score_multi, "embedder", "hyde", "generator",
    inputs=hyde.written_passages, writes={"hyde": 1.0})
row("rerank", "Dense + reranker", "dense → first 20 → cross-encoder",
    "nogueira2019bert", rerank.score, "rerank", uses=("dense",), needs=(PAIRS,))
row("multi_hyde_rerank", "Multi-HyDE + reranker", "Multi-HyDE → first 20 → cross-encoder",
    "george2025multihyde,nogueira2019bert", rerank.score, "rerank",
    uses=("multi_hyde",), options={"first_stage": "multi_hyde"}, needs=(PAIRS,))

_BEST_PAGES = "ranks all pages → dense search of the chunks of the best P"
_SMALL_MAP = "question → a small adapter on frozen vectors, trained in folds by"
_FROZEN, _TUNED = ("embedder", "page_scorer", "page_scorer_light"), ("embedder", "page_scorer")
row("page_then_chunk", "Page, then chunk", f"question → the untrained encoder {_BEST_PAGES}",
    "kobeissi2026", pages.score, *_FROZEN, options={"scorer": "untrained"})
row("page_scorer_light", "Light page scorer, chunk order", f"{_SMALL_MAP} company, {_BEST_PAGES}",
    "kobeissi2026", pages.score, *_FROZEN, options={"scorer": "light"}, needs=(TRAINING,))
row("page_scorer_light_filing", "Light page scorer, chunk order, folds by filing",
    f"{_SMALL_MAP} filing, {_BEST_PAGES}",
    "kobeissi2026", pages.score, *_FROZEN, options={"scorer": "light", "by": "filing"}, needs=(TRAINING,))
row("page_scorer", "Page scorer, as published", f"question → an encoder fine-tuned in folds by company {_BEST_PAGES}",
    "kobeissi2026,henderson2017mnrl", pages.score, *_TUNED, needs=(TRAINING,))
row("page_scorer_filing", "Page scorer, as published, folds by filing",
    f"question → an encoder fine-tuned in folds by filing {_BEST_PAGES}", "kobeissi2026,henderson2017mnrl",
    pages.score, *_TUNED, options={"by": "filing"}, needs=(TRAINING,))

_AHEAD = ("embedder", "bm25", "ahead")
_VIEWS = ("question → best pages by words, pairs of words, windows, statements and identity → boosted trees, trained "
          "on several question sets, beside the untrained sum of identity and words")
_kinds = partial(ahead.inputs, kinds=True)
row("ahead", "Ahead", f"{_VIEWS}; page kinds by hand-written phrases", "burges2010lambdamart", ahead.score, *_AHEAD,
    options={"kinds": True}, inputs=_kinds, needs=(TRAINING, RECORDS))


def match_first(*names: str, family: str) -> None:
    """Add rows ``NAME_records`` or ``NAME_covers``: filings are matched by these before the search of row NAME."""
    for name in names:
        method, _, kind = name.rpartition("_")
        base, what = METHODS[method], {"records": "records", "covers": "cover pages"}[kind]
        row(name, f"{base.title}, filings matched by {what}",
            f"question → company, period and form → the filings whose {what} fit best → {base.title}; then all filings",
            base.source if base.is_trained else "", matched.score, uses=(method,), family=family,
            options={"method": method, "covers": kind == "covers"}, needs=(RECORDS,) if kind == "records" else (),
            inputs=partial(matched.inputs, covers=kind == "covers"))


match_first("dense_records", "bm25_records", "hybrid_rrf_records", "parent_child_records", "multi_hyde_records",
            "dense_covers", "bm25_covers", "hybrid_rrf_covers", "parent_child_covers", "multi_hyde_covers",
            family=MATCHED)  # untrained rivals of the trained rows

# Page scorers with another stage two; folds by company.
_BEST = "ranks all pages → the chunks of the best P in the order of"
_ORDERS = {"page": f"{_BEST} their pages",
           "sum": f"{_BEST} the sum of their page's score and their own, both standardised"}
_SCORERS = {
    "full": ("an encoder", "page_scorer", _TUNED, ()),
    "light": ("a small adapter on frozen vectors", "page_scorer_light", _FROZEN, ()),
    "best": ("an encoder that reads company, period and form before each page", "page_scorer",
             (*_TUNED, "page_scorer_best"), (RECORDS,)),
}
for _name, _title, _scorer, _order in (
    ("page_scorer_order", "Page scorer, page order", "full", "page"),
    ("page_scorer_sum", "Page scorer, sum of scores", "full", "sum"),
    ("page_scorer_light_order", "Light page scorer, page order", "light", "page"),
    ("page_scorer_light_sum", "Light page scorer, sum of scores", "light", "sum"),
    ("page_scorer_best_order", "Page scorer with header, page order", "best", "page"),
    ("page_scorer_best_sum", "Page scorer with header, sum of scores", "best", "sum"),
):
    _read, _base, _settings, _records = _SCORERS[_scorer]
    row(_name, _title, f"question → {_read}, trained in folds by company, {_ORDERS[_order]}", "kobeissi2026",
        pages.score, *_settings, options={"scorer": _scorer, "order": _order}, changes=_base,
        needs=(TRAINING, *_records), family=ORDERED)
match_first("page_scorer_order_records", "page_scorer_order_covers", "page_scorer_sum_records",
            "page_scorer_sum_covers", "page_scorer_light_order_records", "page_scorer_light_order_covers",
            "page_scorer_light_sum_records", "page_scorer_light_sum_covers", "page_scorer_best_order_records",
            "page_scorer_best_order_covers", "page_scorer_best_sum_records", "page_scorer_best_sum_covers",
            family=ORDERED)

# The page ranker without training, and without the hand-written page kinds.
_general = partial(row, family=GENERAL, changes="ahead")
_general("ahead_untrained", "Identity and words, untrained",
         "question → fit of each filing's company, period and form + standardised BM25 over whole pages → their chunks",
         "robertson2009bm25", ahead.score, *_AHEAD,
         options={"trained": False}, inputs=partial(ahead.inputs, trained=False), needs=(RECORDS,))
_general("ahead_general", "Ahead without hand-written page kinds", _VIEWS, "burges2010lambdamart", ahead.score,
         *_AHEAD, inputs=ahead.inputs, needs=(TRAINING, RECORDS))
_general("ahead_covers", "Ahead by cover pages",
         f"{_VIEWS}; page kinds by hand-written phrases; filings by their first pages alone", "burges2010lambdamart",
         ahead.score, *_AHEAD, options={"kinds": True, "covers": True}, inputs=_kinds, needs=(TRAINING,))

row("dense_chroma", "Dense in a vector store (as published)",
    "question → embedding → the nearest windows in one Chroma collection, filtered by filing and page → their chunks",
    "kobeissi2026,malkov2020hnsw", chroma.score, "embedder", changes="dense", conditions=CONDITIONS, family=STORED)

# What the rows of several sibling studies share.
_FUSED = ("embedder", "bm25", "hybrid_rrf")
_WRITTEN, _LENGTHENED = ("embedder", "generator", "sibling_texts"), (*_FUSED, "generator", "sibling_texts")
_reranked, _HYBRID = {"needs": (PAIRS,), "conditions": STANDARD}, {"n": 50, "first_stage": "hybrid_rrf"}
_HEADS, _READ = {"head_tokens": rerank.HEAD_TOKENS}, "cross-encoder that reads the first 256 tokens"

# Akarsu et al., "From BM25 to Corrective RAG" (2026): fusion, rerank depth, contexts, written queries.
_akarsu = partial(row, family=AKARSU)
_akarsu("bm25_k12", "BM25 as in rank_bm25, k1 = 1.2",
        "question → words between white space → rank_bm25's scores, k1 = 1.2", "robertson2009bm25",
        bm25.score, "bm25", options={"k1": 1.2, "form": "rank_bm25, white space"}, changes="bm25", version=2)
for _name, _k in {"rrf_10": 10, "rrf_30": 30, "rrf_100": 100}.items():
    _akarsu(_name, f"Hybrid RRF, k = {_k}", f"dense and BM25 → reciprocal rank fusion with k = {_k}", "cormack2009rrf",
            fusion.score, *_FUSED, options={"k_rrf": _k}, changes="hybrid_rrf", version=2)
for _name, _percent in {"convex_30": 30, "convex_40": 40, "convex_50": 50, "convex_60": 60, "convex_70": 70,
                        "convex_80": 80, "convex_90": 90}.items():
    _akarsu(_name, f"Convex combination, α = {_percent / 100}",
            f"dense and BM25, each brought to 0..1 → {_percent} % dense and {100 - _percent} % BM25", "bruch2023fusion",
            convex.score, "embedder", "bm25", options={"alpha": _percent / 100}, changes="hybrid_rrf", version=2)
for _name, _n in {"rerank_head_20": 20, "rerank_head_50": 50, "rerank_head_100": 100}.items():
    _akarsu(_name, f"Dense + reranker, first {_n}", f"dense → first {_n} → {_READ}", "nogueira2019bert", rerank.score,
            "rerank", uses=("dense",), options={"n": _n, **_HEADS}, **_reranked)
_akarsu("hybrid_rerank", "Hybrid RRF + reranker, heads", f"hybrid RRF → first 50 → {_READ}", "nogueira2019bert",
        rerank.score, "rerank", uses=("hybrid_rrf",), options={**_HYBRID, **_HEADS}, **_reranked)
_akarsu("hybrid_rerank_whole", "Hybrid RRF + reranker, whole chunks",
        "hybrid RRF → first 50 → cross-encoder that reads all windows of a chunk → its best", "nogueira2019bert",
        rerank.score, "rerank", uses=("hybrid_rrf",), options=_HYBRID, **_reranked)
_HEADER, _CONTEXTS = ("the filing's company, form and year before each chunk",
                      "what a language model wrote of the filing before each chunk")
_header = {"options": {"context": "header"}, "inputs": partial(contextual.contexts, kind="header"), "needs": (RECORDS,)}
_written = {"options": {"context": "written"}, "inputs": partial(contextual.contexts, kind="written"),
            "writes": {"filing_context": 1.0}}
_akarsu("contextual_header_dense", "Contextual dense, header", f"{_HEADER} → dense",
        "anthropic2024contextual", contextual.score_dense, "embedder", changes="dense", **_header)
_akarsu("contextual_header_hybrid", "Contextual hybrid, header", f"{_HEADER} → dense and BM25 → reciprocal rank fusion",
        "anthropic2024contextual", contextual.score_hybrid, *_FUSED, changes="hybrid_rrf", version=2, **_header)
_akarsu("contextual_dense", "Contextual dense, written context", f"{_CONTEXTS} → dense",
        "anthropic2024contextual", contextual.score_dense, "embedder", "generator", changes="dense", **_written)
_akarsu("contextual_hybrid", "Contextual hybrid, written context",
        f"{_CONTEXTS} → dense and BM25 → reciprocal rank fusion", "anthropic2024contextual",
        contextual.score_hybrid, *_FUSED, "generator", changes="hybrid_rrf", version=2, **_written)
_akarsu("hyde_akarsu", "HyDE, one passage with numbers",
        "question → a passage that a language model writes at temperature 0, asked for numbers → dense", "gao2023hyde",
        hyde.score, *_WRITTEN, options={"kind": "hyde_akarsu"},
        inputs=partial(hyde.written_passages, kind="hyde_akarsu"), writes={"hyde_akarsu": 1.0}, changes="dense")
_akarsu("multi_query", "Multi-query", "question → three rewrites by a language model at temperature 0 → each and the "
        "question dense → reciprocal rank fusion", "cormack2009rrf", rewritten.score_multi_query, "embedder",
        "hybrid_rrf", "generator", "sibling_texts", inputs=rewritten.queries, writes={"rewrites": 1.0}, changes="dense")
_akarsu("crag", "Corrective RAG", "hybrid RRF → a model reads and labels the first 5 → none relevant: rewritten, "
        "hybrid again → the round with more relevant chunks", "yan2024crag", judged.score_corrected, *_LENGTHENED,
        "run", uses=("hybrid_rrf",), inputs=lambda search: judged.verdicts(search).to_dict("records"),
        writes={"judge": 1.0, "correction": 1.0}, version=2, conditions=STANDARD)

for _first, *_seconds in (
    ("contextual_hybrid_records", "dense_records_rerank", "multi_hyde_records_rerank", "hybrid_rrf_records_rerank"),
    ("contextual_hybrid_covers", "dense_covers_rerank", "multi_hyde_covers_rerank", "hybrid_rrf_covers_rerank"),
):
    match_first(_first, family=MATCHED)
    for _name, _n in zip(_seconds, (20, 20, 50), strict=True):
        _base = METHODS[_name.removesuffix("_rerank")]
        row(_name, f"{_base.title}, reranker", f"{_base.pipeline} → the first {_n} → {_READ}", "nogueira2019bert",
            rerank.score, "rerank", uses=(_base.name,), options={"first_stage": _base.name, "n": _n, **_HEADS},
            needs=(PAIRS,), family=MATCHED)

# Kim et al., "Optimizing Retrieval Strategies for Financial QA Documents" (2025): queries, weights, tables.
_kim = partial(row, family=KIM)
_PAGES = {"markdown": "titles and tables in markdown", "annotated_tables": "annotated tables",
          "tables_only": "tables alone"}
_KEYWORDS, _EXPANSION = (
    {"options": {"kind": kind}, "inputs": partial(rewritten.lengthened, kind=kind), "writes": {kind: 1.0}}
    for kind in ("keywords", "expansion"))
_TERMS, _ADDED = ("question and the key terms that a language model takes from it",
                  "question and terms that a language model adds")
_kim("keyword_query", "Key terms", f"{_TERMS} → dense and BM25 → reciprocal rank fusion", "",
     rewritten.score_lengthened, *_LENGTHENED, changes="hybrid_rrf", version=2, **_KEYWORDS)
_kim("lm_expansion", "Language-model expansion", f"{_ADDED} → dense and BM25 → reciprocal rank fusion", "",
     rewritten.score_lengthened, *_LENGTHENED, changes="hybrid_rrf", version=2, **_EXPANSION)
_kim("keyword_query_dense", "Key terms, dense", f"{_TERMS} → dense", "",
     rewritten.score_lengthened_dense, *_WRITTEN, changes="dense", **_KEYWORDS)
_kim("lm_expansion_dense", "Language-model expansion, dense", f"{_ADDED} → dense", "",
     rewritten.score_lengthened_dense, *_WRITTEN, changes="dense", **_EXPANSION)
_names = ("expanded_markdown_dense", "expanded_annotated_tables_dense", "expanded_tables_only_dense")
for _name, (_chunking, _what) in zip(_names, _PAGES.items(), strict=True):
    _kim(_name, f"Language-model expansion, dense, {_what}",
         f"{_ADDED} → dense over pages with {_what}", "", rewritten.score_lengthened_dense, *_WRITTEN,
         chunking=_chunking, changes="lm_expansion_dense", **_EXPANSION)
_folds = {"changes": "hybrid_rrf", "version": 2, "needs": (TRAINING,)}
_kim("convex_folds", "Convex combination, α chosen in folds",
     "dense and BM25, each brought to 0..1 → weighted as the training folds choose, by company", "bruch2023fusion",
     convex.score_in_folds, "embedder", "bm25", "run", options={"n_folds": 5, "seed": 13}, **_folds)
_kim("convex_softmax_folds", "Convex combination after softmax, α chosen in folds",
     "dense and BM25, each through softmax, of dense's first 100 → weighted as the training folds choose, by company",
     "bruch2023fusion", convex.score_in_folds, "embedder", "bm25", "run",
     options={"n_folds": 5, "seed": 13, "normalisation": "softmax"}, **_folds)
_kim("selection_agent", "Selection agent",
     "hybrid RRF → a language model reads the first 10 in one prompt → those that it does not list go behind", "",
     judged.score_selected, *_LENGTHENED, "run", uses=("hybrid_rrf",), inputs=judged.chosen,
     writes={"selection": 1.0}, version=2, conditions=STANDARD)
_names = ("markdown_dense", "annotated_tables_dense", "tables_only_dense")
for _name, (_chunking, _what) in zip(_names, _PAGES.items(), strict=True):
    _kim(_name, f"Dense, {_what}", f"question → embedding → cosine with chunks of pages with {_what}",
         "karpukhin2020dpr", dense.score, "embedder", chunking=_chunking, changes="dense")
_names = ("markdown_bm25", "annotated_tables_bm25", "tables_only_bm25")
for _name, (_chunking, _what) in zip(_names, _PAGES.items(), strict=True):
    _kim(_name, f"BM25, {_what}", f"question → finance tokens → BM25 over pages with {_what}",
         "robertson2009bm25", bm25.score, "bm25", chunking=_chunking, changes="bm25", version=2)
_STACKED = f"{_ADDED} → dense and BM25 over pages with titles and tables in markdown → reciprocal rank fusion"
_kim("expanded_markdown", "Expansion and markdown, hybrid", _STACKED, "", rewritten.score_lengthened, *_LENGTHENED,
     chunking="markdown", changes="lm_expansion", conditions=STANDARD, **_EXPANSION)
_kim("stacked_rerank", "Expansion, markdown, hybrid and reranker", f"{_STACKED} → first 20 → {_READ}",
     "nogueira2019bert", rerank.score, "rerank", chunking="markdown", uses=("expanded_markdown",),
     options={"first_stage": "expanded_markdown", "n": 20, **_HEADS}, **_reranked)

# Yepes et al., "Financial Report Chunking for Effective RAG" (2024): what a chunk is.
_yepes = partial(row, family=YEPES)
_COSINE, _KEYS, _TEXT = ("question → embedding → cosine with", "karpukhin2020dpr", "titles, text and whole tables")
for _name, _size, _version in (("fixed_128", 128, 1), ("fixed_256", 256, 1), ("fixed_512", 512, 2)):
    _yepes(_name, f"Chunks of {_size} tokens", f"{_COSINE} one vector of each chunk of {_size - 2} tokens",
           _KEYS, dense.score_whole, "embedder", chunking=_name, changes="dense", version=_version)
_yepes("fixed_aggregate", "Chunks of 128, 256 and 512 tokens", f"{_COSINE} chunks of three sizes in one index",
       _KEYS, dense.score_sizes, "embedder", chunking="fixed_aggregate", changes="dense")
_yepes("element_chunks", "Element chunks, no metadata", f"{_COSINE} the text of {_TEXT} (not in the paper)",
       _KEYS, dense.score, "embedder", chunking="elements", changes="dense")
for _name, _title, _what, _kinds in (
    ("element_keywords", "Element chunks, keywords", "six key terms", ["keywords"]),
    ("element_summary", "Element chunks, summary", "the three sentences nearest to the whole", ["summary"]),
    ("element_prefix", "Element chunks, prefix", "the first two sentences, or the caption of a table,", ["prefix"]),
    ("element_aggregate", "Element chunks, aggregate", "the nearest of key terms, summary and prefix",
     ["keywords", "summary", "prefix"]),
):
    _yepes(_name, _title, f"{_COSINE} {_what} of each element chunk", _KEYS, element_metadata.score, "embedder",
           options={"kinds": _kinds}, chunking="elements", changes="dense")
_yepes("element_bm25", "BM25, element chunks", f"question → finance tokens → BM25 over {_TEXT} (not in the paper)",
       "robertson2009bm25", bm25.score, "bm25", chunking="elements", changes="bm25", version=2)
# fmt: on

"""The method table: name → pipeline → source paper. A new retriever is one function and one row here.

A retriever is ``score(search, candidates, **options)``, which gives every question and chunk a number: a float matrix
(n_questions, n_chunks), more is better, ``-inf`` or NaN for a chunk that it does not retrieve. ``search`` is what it
may see of a study, see :class:`lib.method.Search`. ``candidates`` is a boolean matrix of the same shape: the chunks
that a condition admits. A retriever may ignore it, as what it scores outside is masked afterwards; one that ranks,
fuses, scales or reranks has to apply it, so that no chunk outside has an effect.
"""

import re
from collections.abc import Sequence
from functools import partial

from lib.ahead import search as ahead
from lib.method import GENERAL, MAIN, MATCHED, ORDERED, OWN, Method
from lib.page_scorer import search as pages
from lib.profile import Settings
from lib.retrievers import (
    bm25,
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
from lib.words import Condition, StudyError

__all__ = ["GENERAL", "MAIN", "MATCHED", "ORDERED", "OWN", "Method"]
#: What a method may need beside an index.
TRAINING, TEXTS, RECORDS, PAIRS = NEEDS = ("training", "language model", "metadata", "cross-encoder")
METHODS: dict[str, Method] = {}


def row(name: str, title: str, pipeline: str, source: str, score, *settings: str, **more) -> None:
    """Add a row to the table; ``settings`` are sections of the profile, ``more`` are other fields of Method."""
    METHODS[name] = Method(name, title, pipeline, source, score, settings, **more)


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
    inputs=hyde.written_passages, writes={"hyde": 0.25}, needs=(TEXTS,))  # one of Multi-HyDE's four passages
row("multi_hyde", "Multi-HyDE", "question → four written passages → their mean embedding → dense",
    "george2025multihyde", hyde.score_multi, "embedder", "hyde", "generator",
    inputs=hyde.written_passages, writes={"hyde": 1.0}, needs=(TEXTS,))
row("rerank", "Dense + reranker", "dense → first 20 → cross-encoder",
    "nogueira2019bert", rerank.score, "rerank", uses=("dense",), needs=(PAIRS,))
row("multi_hyde_rerank", "Multi-HyDE + reranker", "Multi-HyDE → first 20 → cross-encoder",
    "george2025multihyde,nogueira2019bert", rerank.score, "rerank",
    uses=("multi_hyde",), options={"first_stage": "multi_hyde"}, needs=(TEXTS, PAIRS))

_BEST_PAGES = "ranks all pages → dense search of the chunks of the best P"
_FROZEN = ("embedder", "page_scorer", "page_scorer_light")
row("page_then_chunk", "Page, then chunk", f"question → the untrained encoder {_BEST_PAGES}",
    "kobeissi2026", pages.score, *_FROZEN, options={"scorer": "untrained"})
row("page_scorer_light", "Light page scorer, chunk order",
    f"question → a small map over frozen vectors, trained in folds by company, {_BEST_PAGES}",
    "kobeissi2026", pages.score, *_FROZEN, options={"scorer": "light"}, needs=(TRAINING,))
row("page_scorer_light_filing", "Light page scorer, chunk order, folds by filing",
    f"question → a small map over frozen vectors, trained in folds by filing, {_BEST_PAGES}",
    "kobeissi2026", pages.score, *_FROZEN, options={"scorer": "light", "by": "filing"}, needs=(TRAINING,))
row("page_scorer", "Page scorer, as published", f"question → an encoder fine-tuned in folds by company {_BEST_PAGES}",
    "kobeissi2026,henderson2017mnrl", pages.score, "embedder", "page_scorer", needs=(TRAINING,))
row("page_scorer_filing", "Page scorer, as published, folds by filing",
    f"question → an encoder fine-tuned in folds by filing {_BEST_PAGES}",
    "kobeissi2026,henderson2017mnrl", pages.score, "embedder", "page_scorer",
    options={"by": "filing"}, needs=(TRAINING,))

_AHEAD = ("embedder", "bm25", "ahead")
_VIEWS = ("question → best pages by words, pairs of words, windows, statements and identity → boosted trees, trained "
          "on several question sets, beside the untrained sum of identity and words")
row("ahead", "Ahead", f"{_VIEWS}; page kinds by hand-written phrases",
    "burges2010lambdamart", ahead.score, *_AHEAD,
    options={"kinds": True}, inputs=partial(ahead.inputs, kinds=True), needs=(TRAINING, RECORDS))


def match_first(name: str, kind: str, family: str) -> None:
    """Add a row with a match of filings, by their ``records`` or their ``covers``, before another row's search."""
    base, what = METHODS[name], {"records": "records", "covers": "cover pages"}[kind]
    needs = {*base.needs, RECORDS} if kind == "records" else base.needs
    row(f"{name}_{kind}", f"{base.title}, filings matched by {what}",
        f"question → company, period and form → the filings whose {what} fit best → {base.title}; then all filings",
        base.source if base.is_trained else "", matched.score,
        uses=(name,), options={"method": name, "covers": kind == "covers"},
        inputs=partial(matched.inputs, covers=kind == "covers"), changes=name,
        needs=tuple(need for need in NEEDS if need in needs), family=family, conditions=("standard",))


# Untrained rivals of the trained rows.
for _kind in ("records", "covers"):
    for _name in ("dense", "bm25", "hybrid_rrf", "parent_child", "multi_hyde"):
        match_first(_name, _kind, MATCHED)


def ordered(name: str, title: str, read: str, scorer: str, changes: str, *settings: str, needs=(TRAINING,)) -> None:
    """Add a page scorer's rows with another stage two, ``NAME_order`` and ``NAME_sum``; folds by company."""
    rest = {"changes": changes, "needs": needs, "family": ORDERED, "conditions": ("standard",)}
    best = f"question → {read}, trained in folds by company, ranks all pages → the chunks of the best P in the order of"
    row(f"{name}_order", f"{title}, page order", f"{best} their pages", "kobeissi2026", pages.score, *settings,
        options={"scorer": scorer, "order": "page"}, **rest)
    row(f"{name}_sum", f"{title}, sum of scores",
        f"{best} the sum of their page's score and their own, both standardised",
        "kobeissi2026", pages.score, *settings, options={"scorer": scorer, "order": "sum"}, **rest)


ordered("page_scorer", "Page scorer", "an encoder", "full", "page_scorer", "embedder", "page_scorer")
ordered("page_scorer_light", "Light page scorer", "a small map over frozen vectors", "light", "page_scorer_light",
        *_FROZEN)
ordered("page_scorer_best", "Page scorer with header",
        "an encoder that reads company, period and form before each page", "best", "page_scorer",
        "embedder", "page_scorer", "page_scorer_best", needs=(TRAINING, RECORDS))
for _name in ("page_scorer", "page_scorer_light", "page_scorer_best"):
    for _order in ("order", "sum"):
        for _kind in ("records", "covers"):
            match_first(f"{_name}_{_order}", _kind, ORDERED)

# The page ranker without training, and without the hand-written page kinds.
row("ahead_untrained", "Identity and words, untrained",
    "question → fit of each filing's company, period and form + standardised BM25 over whole pages → their chunks",
    "robertson2009bm25", ahead.score, *_AHEAD, options={"trained": False}, inputs=partial(ahead.inputs, trained=False),
    changes="ahead", needs=(RECORDS,), family=GENERAL, conditions=("standard",))
row("ahead_general", "Ahead without hand-written page kinds", _VIEWS, "burges2010lambdamart", ahead.score, *_AHEAD,
    inputs=ahead.inputs, changes="ahead", needs=(TRAINING, RECORDS), family=GENERAL, conditions=("standard",))
row("ahead_covers", "Ahead by cover pages",
    f"{_VIEWS}; page kinds by hand-written phrases; filings by their first pages alone",
    "burges2010lambdamart", ahead.score, *_AHEAD, options={"kinds": True, "covers": True},
    inputs=partial(ahead.inputs, kinds=True), changes="ahead", needs=(TRAINING,), family=GENERAL,
    conditions=("standard",))

# What the rows of several sibling studies share: the conditions, and sections of the profile.
_SEARCHED: tuple[Condition, ...] = ("standard", "oracle-document")
_FUSED = ("embedder", "bm25", "hybrid_rrf")
_WRITTEN = ("embedder", "generator", "sibling_texts")
_LENGTHENED = (*_FUSED, "generator", "sibling_texts")

# Akarsu et al., "From BM25 to Corrective RAG" (2026): fusion, rerank depth, contexts, written queries.
AKARSU, _KEY = "akarsu2026", "akarsu2026bm25corrective"
_row = partial(row, family=AKARSU, conditions=_SEARCHED)
_row("bm25_k12", "BM25 as in rank_bm25, k1 = 1.2",
     "question → words between white space → rank_bm25's scores, k1 = 1.2",
     f"{_KEY},robertson2009bm25", bm25.score, "bm25",
     options={"k1": 1.2, "form": "rank_bm25, white space"}, changes="bm25", version=2)
for _k in (10, 30, 100):
    _row(f"rrf_{_k}", f"Hybrid RRF, k = {_k}", f"dense and BM25 → reciprocal rank fusion with k = {_k}",
         f"{_KEY},cormack2009rrf", fusion.score, *_FUSED, options={"k_rrf": _k}, changes="hybrid_rrf", version=2)
for _percent in range(30, 100, 10):
    _row(f"convex_{_percent}", f"Convex combination, α = {_percent / 100:.1f}",
         f"dense and BM25, each brought to 0..1 → {_percent} % dense and {100 - _percent} % BM25",
         f"{_KEY},bruch2023fusion", convex.score, "embedder", "bm25",
         options={"alpha": _percent / 100}, changes="hybrid_rrf", version=2)
_HEADS, _READ = {"head_tokens": rerank.HEAD_TOKENS}, "cross-encoder that reads the first 256 tokens"
for _n in (20, 50, 100):
    row(f"rerank_head_{_n}", f"Dense + reranker, first {_n}", f"dense → first {_n} → {_READ}",
        f"{_KEY},nogueira2019bert", rerank.score, "rerank", uses=("dense",), options={"n": _n, **_HEADS},
        changes="dense", needs=(PAIRS,), family=AKARSU, conditions=("standard",))
_HYBRID = {"n": 50, "first_stage": "hybrid_rrf"}
row("hybrid_rerank", "Hybrid RRF + reranker, heads", f"hybrid RRF → first 50 → {_READ}",
    f"{_KEY},nogueira2019bert", rerank.score, "rerank", uses=("hybrid_rrf",), options={**_HYBRID, **_HEADS},
    changes="hybrid_rrf", needs=(PAIRS,), family=AKARSU, conditions=("standard",))
row("hybrid_rerank_whole", "Hybrid RRF + reranker, whole chunks",
    "hybrid RRF → first 50 → cross-encoder that reads all windows of a chunk → its best",
    f"{_KEY},nogueira2019bert", rerank.score, "rerank", uses=("hybrid_rrf",), options=_HYBRID,
    changes="hybrid_rrf", needs=(PAIRS,), family=AKARSU, conditions=("standard",))
_CONTEXT = f"{_KEY},anthropic2024contextual"
_HEADER = "the filing's company, form and year before each chunk"
_header = {"options": {"context": "header"}, "inputs": partial(contextual.contexts, kind="header"), "needs": (RECORDS,)}
_row("contextual_header_dense", "Contextual dense, header", f"{_HEADER} → dense",
     _CONTEXT, contextual.score_dense, "embedder", changes="dense", **_header)
_row("contextual_header_hybrid", "Contextual hybrid, header", f"{_HEADER} → dense and BM25 → reciprocal rank fusion",
     _CONTEXT, contextual.score_hybrid, *_FUSED, changes="hybrid_rrf", version=2, **_header)
_CONTEXTS = "what a language model wrote of the filing before each chunk"
_written = {"options": {"context": "written"}, "inputs": partial(contextual.contexts, kind="written"),
            "writes": {"filing_context": 1.0}, "needs": (TEXTS,)}
_row("contextual_dense", "Contextual dense, written context", f"{_CONTEXTS} → dense",
     _CONTEXT, contextual.score_dense, "embedder", "generator", changes="dense", **_written)
_row("contextual_hybrid", "Contextual hybrid, written context",
     f"{_CONTEXTS} → dense and BM25 → reciprocal rank fusion",
     _CONTEXT, contextual.score_hybrid, *_FUSED, "generator", changes="hybrid_rrf", version=2, **_written)
_row("hyde_akarsu", "HyDE, one passage with numbers",
     "question → a passage that a language model writes at temperature 0, asked for numbers → dense",
     f"{_KEY},gao2023hyde", hyde.score, *_WRITTEN, options={"kind": "hyde_akarsu"},
     inputs=partial(hyde.written_passages, kind="hyde_akarsu"), writes={"hyde_akarsu": 1.0}, changes="dense",
     needs=(TEXTS,))
_row("multi_query", "Multi-query", "question → three rewrites by a language model at temperature 0 → each and the "
     "question dense → reciprocal rank fusion", f"{_KEY},cormack2009rrf", rewritten.score_multi_query,
     "embedder", "hybrid_rrf", "generator", "sibling_texts",
     inputs=rewritten.queries, writes={"rewrites": 1.0}, changes="dense", needs=(TEXTS,))
row("crag", "Corrective RAG", "hybrid RRF → a model reads and labels the first 5 → none relevant: rewritten, hybrid "
    "again → the round with more relevant chunks", f"{_KEY},yan2024crag", judged.score_corrected, *_LENGTHENED, "run",
    uses=("hybrid_rrf",), inputs=lambda search: judged.verdicts(search).to_dict("records"),
    writes={"judge": 1.0, "correction": 1.0}, changes="hybrid_rrf", version=2, needs=(TEXTS,),
    family=AKARSU, conditions=("standard",))

for _kind in ("records", "covers"):
    match_first("contextual_hybrid", _kind, MATCHED)
    for _name, _n in (("dense", 20), ("multi_hyde", 20), ("hybrid_rrf", 50)):
        _base = METHODS[f"{_name}_{_kind}"]
        row(f"{_base.name}_rerank", f"{_base.title}, reranker", f"{_base.pipeline} → the first {_n} → {_READ}",
            "nogueira2019bert", rerank.score, "rerank", uses=(_base.name,),
            options={"first_stage": _base.name, "n": _n, **_HEADS}, changes=_base.name, needs=(*_base.needs, PAIRS),
            family=MATCHED, conditions=("standard",))

# Kim et al., "Optimizing Retrieval Strategies for Financial QA Documents" (2025): queries, weights, tables.
KIM, _KEY = "kim2025", "kim2025financial"
_row = partial(row, family=KIM, conditions=_SEARCHED)
_PAGES = {"markdown": "titles and tables in markdown", "annotated_tables": "annotated tables",
          "tables_only": "tables alone"}


def lengthened(kind: str) -> dict:
    """The fields of a row whose questions are lengthened by terms of a kind."""
    return {"options": {"kind": kind}, "inputs": partial(rewritten.lengthened, kind=kind), "writes": {kind: 1.0},
            "needs": (TEXTS,)}


_TERMS = "question and the key terms that a language model takes from it"
_ADDED = "question and terms that a language model adds"
_row("keyword_query", "Key terms", f"{_TERMS} → dense and BM25 → reciprocal rank fusion",
     _KEY, rewritten.score_lengthened, *_LENGTHENED, changes="hybrid_rrf", version=2, **lengthened("keywords"))
_row("lm_expansion", "Language-model expansion", f"{_ADDED} → dense and BM25 → reciprocal rank fusion",
     _KEY, rewritten.score_lengthened, *_LENGTHENED, changes="hybrid_rrf", version=2, **lengthened("expansion"))
_row("keyword_query_dense", "Key terms, dense", f"{_TERMS} → dense",
     _KEY, rewritten.score_lengthened_dense, *_WRITTEN, changes="dense", **lengthened("keywords"))
_row("lm_expansion_dense", "Language-model expansion, dense", f"{_ADDED} → dense",
     _KEY, rewritten.score_lengthened_dense, *_WRITTEN, changes="dense", **lengthened("expansion"))
for _chunking, _what in _PAGES.items():
    _row(f"expanded_{_chunking}_dense", f"Language-model expansion, dense, {_what}",
         f"{_ADDED} → dense over pages with {_what}", _KEY, rewritten.score_lengthened_dense, *_WRITTEN,
         chunking=_chunking, changes="lm_expansion_dense", **lengthened("expansion"))
_row("convex_folds", "Convex combination, α chosen in folds",
     "dense and BM25, each brought to 0..1 → weighted as the training folds choose, by company",
     f"{_KEY},bruch2023fusion", convex.score_in_folds, "embedder", "bm25", "run",
     options={"n_folds": 5, "seed": 13}, changes="hybrid_rrf", version=2, needs=(TRAINING,))
_row("convex_softmax_folds", "Convex combination after softmax, α chosen in folds",
     "dense and BM25, each through softmax, of dense's first 100 → weighted as the training folds choose, by company",
     f"{_KEY},bruch2023fusion", convex.score_in_folds, "embedder", "bm25", "run",
     options={"n_folds": 5, "seed": 13, "normalisation": "softmax"}, changes="hybrid_rrf", version=2, needs=(TRAINING,))
row("selection_agent", "Selection agent",
    "hybrid RRF → a language model reads the first 10 in one prompt → those that it does not list go behind",
    _KEY, judged.score_selected, *_LENGTHENED, "run", uses=("hybrid_rrf",), inputs=judged.chosen,
    writes={"selection": 1.0}, changes="hybrid_rrf", version=2, needs=(TEXTS,), family=KIM, conditions=("standard",))
for _chunking, _what in _PAGES.items():
    _row(f"{_chunking}_dense", f"Dense, {_what}", f"question → embedding → cosine with chunks of pages with {_what}",
         f"{_KEY},karpukhin2020dpr", dense.score, "embedder", chunking=_chunking, changes="dense")
for _chunking, _what in _PAGES.items():
    _row(f"{_chunking}_bm25", f"BM25, {_what}", f"question → finance tokens → BM25 over pages with {_what}",
         f"{_KEY},robertson2009bm25", bm25.score, "bm25", chunking=_chunking, changes="bm25", version=2)

_STACKED = f"{_ADDED} → dense and BM25 over pages with titles and tables in markdown → reciprocal rank fusion"
_row = partial(row, chunking="markdown", family=KIM, conditions=("standard",))
_row("expanded_markdown", "Expansion and markdown, hybrid", _STACKED,
         _KEY, rewritten.score_lengthened, *_LENGTHENED, changes="lm_expansion", **lengthened("expansion"))
_row("stacked_rerank", "Expansion, markdown, hybrid and reranker", f"{_STACKED} → first 20 → {_READ}",
         f"{_KEY},nogueira2019bert", rerank.score, "rerank", uses=("expanded_markdown",),
         options={"first_stage": "expanded_markdown", "n": 20, **_HEADS}, changes="expanded_markdown",
         needs=(TEXTS, PAIRS))

# Yepes et al., "Financial Report Chunking for Effective RAG" (2024): what a chunk is.
YEPES, _KEY = "yepes2024", "yepes2024chunking"
_row = partial(row, family=YEPES, conditions=_SEARCHED)
_COSINE, _DENSE = "question → embedding → cosine with", f"{_KEY},karpukhin2020dpr"
for _size, _version in ((128, 1), (256, 1), (512, 2)):
    _row(f"fixed_{_size}", f"Chunks of {_size} tokens", f"{_COSINE} one vector of each chunk of {_size - 2} tokens",
         _DENSE, dense.score_whole, "embedder", chunking=f"fixed_{_size}", changes="dense", version=_version)
_row("fixed_aggregate", "Chunks of 128, 256 and 512 tokens", f"{_COSINE} chunks of three sizes in one index",
     _DENSE, dense.score_sizes, "embedder", chunking="fixed_aggregate", changes="dense")
_row("element_chunks", "Element chunks, no metadata",
     f"{_COSINE} the text of titles, text and whole tables (not in the paper)",
     _DENSE, dense.score, "embedder", chunking="elements", changes="dense")
for _name, _title, _what, _kinds in (
    ("element_keywords", "Element chunks, keywords", "six key terms", ["keywords"]),
    ("element_summary", "Element chunks, summary", "the three sentences nearest to the whole", ["summary"]),
    ("element_prefix", "Element chunks, prefix", "the first two sentences, or the caption of a table,", ["prefix"]),
    ("element_aggregate", "Element chunks, aggregate", "the nearest of key terms, summary and prefix",
     ["keywords", "summary", "prefix"]),
):
    _row(_name, _title, f"{_COSINE} {_what} of each element chunk", _DENSE, element_metadata.score, "embedder",
         options={"kinds": _kinds}, chunking="elements", changes="dense")
_row("element_bm25", "BM25, element chunks",
     "question → finance tokens → BM25 over titles, text and whole tables (not in the paper)",
     f"{_KEY},robertson2009bm25", bm25.score, "bm25", chunking="elements", changes="bm25", version=2)
# fmt: on

#: Trained methods that the breakdowns and the answers look at beside the best baseline.
TRAINED = ("page_scorer", "ahead")


def of_family(family: str = MAIN) -> list[str]:
    """The methods of the study itself, or those of one sibling study."""
    return [name for name, row in METHODS.items() if row.family == family]


def chosen(names: Sequence[str] | str | None, otherwise: Sequence[str] | None = None) -> list[str]:
    """The methods that were asked for, or all of ``otherwise`` (by default those of the study itself).

    Names may come as one text, such as ``bm25 dense`` or ``[bm25, dense]``, as papermill passes lists.

    Raises:
        StudyError: a name that the table does not have.
    """
    if names is None:
        return of_family() if otherwise is None else list(otherwise)
    names = re.findall(r"[\w-]+", names) if isinstance(names, str) else names
    if not names or not isinstance(names, (list, tuple)):
        raise StudyError(f"methods is {names!r}: give names with spaces between, such as bm25 dense")
    if unknown := [name for name in names if name not in METHODS]:
        raise StudyError(f"no method {unknown[0]!r}: say one of {', '.join(METHODS)}")
    return list(names)


def baselines() -> list[str]:
    """The study's own methods that are not trained on questions."""
    return [name for name in of_family() if not METHODS[name].is_trained]


def siblings(profile: Settings) -> list[str]:
    """The sibling studies' methods that a profile runs.

    ``siblings.rows`` is ``all`` or a list of names; those of ``siblings.without`` are left out.
    """
    wanted, unwanted = profile.siblings.rows, profile.siblings.without
    names = [name for name, row in METHODS.items() if row.family not in OWN and name not in unwanted]
    return names if wanted == "all" else [name for name in names if name in wanted]


def measured(profile: Settings) -> list[tuple[str, Condition]]:
    """Every run of a study under a profile: name and condition; none of ``siblings.without``."""
    own = [name for family in OWN for name in of_family(family) if name not in profile.siblings.without]
    return [(name, condition) for name in own + siblings(profile) for condition in METHODS[name].conditions]

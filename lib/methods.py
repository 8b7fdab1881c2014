"""The method table: name → pipeline → source paper. A new retriever is one function and one row here.

A retriever is ``score(study, candidates, **options)``, which gives every question and chunk a number: a float matrix
(n_questions, n_chunks), more is better, ``-inf`` or NaN for a chunk that it does not retrieve. ``study`` gives the
frames (questions, chunks, filings), the settings and the store, see :mod:`lib.study`. ``candidates`` is a boolean
matrix of the same shape: the chunks that a condition admits. A retriever may ignore it, as what it scores outside is
masked afterwards; one that ranks, fuses, scales or reranks has to apply it, so that no chunk outside has an effect.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from lib.ahead import search as ahead
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
from lib.words import CONDITIONS, Condition, StudyError

MAIN, MATCHED, ORDERED, GENERAL = "main", "matched", "ordered", "general"
OWN = (MAIN, MATCHED, ORDERED, GENERAL)  # families of this study


@dataclass(frozen=True)
class Method:
    """A named retrieval pipeline.

    Attributes:
        name: as in file names and tables.
        title: as a reader sees it.
        pipeline: what happens to a question, step by step.
        source: keys of the bibliography.
        score: the retriever, see above.
        settings: sections of the profile that the scores depend on.
        uses: methods whose runs this one reads.
        options: keyword arguments of ``score``, JSON-able: they distinguish the rows of one function.
        chunking: name of another chunk table that is searched (:mod:`lib.chunkings.table`); empty for the study's own.
        inputs: gives what else the scores depend on, JSON-able, such as texts that a language model wrote.
        writes: kind of text that a language model writes for the row → share of that kind's texts that it reads.
        changes: the method that the row is compared with, of which it changes one thing.
        version: raised when the scores change although nothing above does.
        is_trained: whether it learns from questions (in folds).
        family: ``main``; ``matched`` for filings matched first; ``ordered`` for the page scorer with another stage two;
            or the key of the sibling study that the row is from.
        conditions: those that it is measured under.
    """

    name: str
    title: str
    pipeline: str
    source: str
    score: Callable[..., np.ndarray]
    settings: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    chunking: str = ""
    inputs: Callable[..., object] | None = None
    writes: Mapping[str, float] = field(default_factory=dict)
    changes: str = ""
    version: int = 1
    is_trained: bool = False
    family: str = MAIN
    conditions: tuple[Condition, ...] = CONDITIONS

    def citation(self) -> str:
        """The sources as the book cites them."""
        return f"{{cite}}`{self.source}`" if self.source else "this study"


# fmt: off
_TUNED, _FROZEN = ("embedder", "page_scorer"), ("embedder", "page_scorer", "page_scorer_light")
_BEST = ("embedder", "page_scorer", "page_scorer_best")
_VIEWS = ("question → best pages by words, pairs of words, windows, statements and identity → boosted trees, trained "
          "on several question sets, beside the untrained sum of identity and words")
_BEST_PAGES = "ranks all pages → dense search of the chunks of the best P"
_OWN = (
    Method("dense", "Dense", "question → embedding → cosine with the best window of each chunk",
           "karpukhin2020dpr,reimers2019sbert", dense.score, ("embedder",)),
    Method("bm25", "BM25", "question → finance tokens without stop words → Okapi BM25 over chunks",
           "robertson2009bm25", bm25.score, ("bm25",), version=2),
    Method("bm25_rank_bm25", "BM25, weights of rank_bm25 (as published)",
           "question → finance tokens → rank_bm25's scores, which give frequent words a floor weight",
           "robertson2009bm25,kobeissi2026", bm25.score, ("bm25",), options={"form": "rank_bm25"}),
    Method("splade", "SPLADE", "question → weighted vocabulary terms → dot product with each chunk's terms",
           "formal2021splade", splade.score, ("splade",)),
    Method("hybrid_rrf", "Hybrid RRF", "dense and BM25 → reciprocal rank fusion",
           "cormack2009rrf", fusion.score, ("hybrid_rrf",), ("dense", "bm25")),
    Method("parent_child", "Parent-child",
           "question → embedding → cosine with small children → their parent chunks",
           "yang2023smalltobig", dense.score_children, ("embedder", "parent_child")),
    Method("query_expansion", "Query expansion", "question → acronyms and fiscal years spelt out → dense",
           "carpineto2012expansion", expansion.score, ("embedder",), inputs=expansion.expanded_questions),
    Method("hyde", "HyDE", "question → a passage that a language model writes → dense",
           "gao2023hyde", hyde.score, ("embedder", "hyde", "generator"),
           inputs=hyde.written_passages, writes={"hyde": 0.25}),  # one of Multi-HyDE's four passages
    Method("multi_hyde", "Multi-HyDE", "question → four written passages → their mean embedding → dense",
           "george2025multihyde", hyde.score_multi, ("embedder", "hyde", "generator"),
           inputs=hyde.written_passages, writes={"hyde": 1.0}),
    Method("rerank", "Dense + reranker", "dense → first 20 → cross-encoder",
           "nogueira2019bert", rerank.score, ("rerank",), ("dense",)),
    Method("multi_hyde_rerank", "Multi-HyDE + reranker", "Multi-HyDE → first 20 → cross-encoder",
           "george2025multihyde,nogueira2019bert", rerank.score, ("rerank",), ("multi_hyde",),
           {"first_stage": "multi_hyde"}),
    Method("page_then_chunk", "Page, then chunk", f"question → the untrained encoder {_BEST_PAGES}",
           "kobeissi2026", pages.score, _FROZEN, (), {"scorer": "untrained"}),
    Method("page_scorer_light", "Light page scorer, chunk order",
           f"question → a small map over frozen vectors, trained in folds by company, {_BEST_PAGES}",
           "kobeissi2026", pages.score, _FROZEN, (), {"scorer": "light"}, is_trained=True),
    Method("page_scorer_light_filing", "Light page scorer, chunk order, folds by filing",
           f"question → a small map over frozen vectors, trained in folds by filing, {_BEST_PAGES}",
           "kobeissi2026", pages.score, _FROZEN, (), {"scorer": "light", "by": "filing"}, is_trained=True),
    Method("page_scorer", "Page scorer, as published",
           f"question → an encoder fine-tuned in folds by company {_BEST_PAGES}",
           "kobeissi2026,henderson2017mnrl", pages.score, _TUNED, is_trained=True),
    Method("page_scorer_filing", "Page scorer, as published, folds by filing",
           f"question → an encoder fine-tuned in folds by filing {_BEST_PAGES}",
           "kobeissi2026,henderson2017mnrl", pages.score, _TUNED, (), {"by": "filing"}, is_trained=True),
    Method("ahead", "Ahead", f"{_VIEWS}; page kinds by hand-written phrases",
           "burges2010lambdamart", ahead.score, ("embedder", "bm25", "ahead"), options={"kinds": True},
           inputs=partial(ahead.inputs, kinds=True), is_trained=True),
)



def _match_first(row: Method, kind: str, family: str = MATCHED) -> Method:
    """A row with a metadata match of filings, by ``records`` or ``covers``, before its search."""
    what = {"records": "records", "covers": "cover pages"}[kind]
    return Method(
        f"{row.name}_{kind}", f"{row.title}, filings matched by {what}",
        f"question → company, period and form → the filings whose {what} fit best → {row.title}; then all filings",
        row.source if row.is_trained else "", matched.score, (), (row.name,),
        {"method": row.name, "covers": kind == "covers"}, inputs=partial(matched.inputs, covers=kind == "covers"),
        changes=row.name, is_trained=row.is_trained, family=family, conditions=("standard",))


#: Untrained rivals of the trained rows.
_MATCHED = tuple(
    _match_first(row, kind) for kind in ("records", "covers")
    for name in ("dense", "bm25", "hybrid_rrf", "parent_child") for row in _OWN if row.name == name
)

#: The page scorer with another stage two, and with filings matched first; folds by company.
_PAGE_ORDER = tuple(
    Method(f"{name}_{order if order == 'sum' else 'order'}", f"{title}, {ordered}",
           f"question → {read}, trained in folds by company, ranks all pages → the chunks of the best P in {then}",
           "kobeissi2026", pages.score, settings,
           options={"scorer": scorer, "order": order}, changes=name if scorer != "best" else "page_scorer",
           is_trained=True, family=ORDERED, conditions=("standard",))
    for name, title, scorer, settings, read in (
        ("page_scorer", "Page scorer", "full", _TUNED, "an encoder"),
        ("page_scorer_light", "Light page scorer", "light", _FROZEN, "a small map over frozen vectors"),
        ("page_scorer_best", "Page scorer by the best recipe", "best", _BEST,
         "an encoder that reads company, period and form before each page"))
    for order, ordered, then in (
        ("page", "page order", "the order of their pages"),
        ("sum", "sum of scores", "the order of the sum of their page's score and their own, both standardised"))
)
_ORDERED = (*_PAGE_ORDER, *(_match_first(row, kind, ORDERED) for row in _PAGE_ORDER for kind in ("records", "covers")))

#: The page ranker without training, and without the hand-written page kinds.
_GENERAL = tuple(
    Method(name, title, pipeline, source, ahead.score, ("embedder", "bm25", "ahead"), options=options,
           inputs=partial(ahead.inputs, **options), changes="ahead",
           is_trained="trained" not in options, family=GENERAL, conditions=("standard",))
    for name, title, pipeline, source, options in (
        ("ahead_untrained", "Identity and words, untrained",
         "question → fit of each filing's company, period and form + standardised BM25 over whole pages → their chunks",
         "robertson2009bm25", {"trained": False}),
        ("ahead_general", "Ahead without hand-written page kinds", _VIEWS, "burges2010lambdamart", {})))

#: What the rows of several sibling studies share: the conditions, and sections of the profile.
_SEARCHED: tuple[Condition, ...] = ("standard", "oracle-document")
_BOTH = ("embedder", "bm25")
_FUSED = (*_BOTH, "hybrid_rrf")
_LENGTHENED = (*_FUSED, "generator", "sibling_texts")
_WRITTEN = ("embedder", "generator", "sibling_texts")
_JUDGED = (*_LENGTHENED, "run")

# Akarsu et al., "From BM25 to Corrective RAG" (2026): fusion, rerank depth, contexts, written queries.
AKARSU, _KEY = "akarsu2026", "akarsu2026bm25corrective"
_row = partial(Method, family=AKARSU, conditions=_SEARCHED)
_HEAD = {"conditions": ("standard",), "settings": ("rerank",)}
_READ = "cross-encoder that reads the first 256 tokens"
_PAIR = f"{_KEY},nogueira2019bert"
_AKARSU = (
    _row("bm25_k12", "BM25 as in rank_bm25, k1 = 1.2", "question → words between white space → rank_bm25's scores, "
         "k1 = 1.2", f"{_KEY},robertson2009bm25", bm25.score, ("bm25",),
         options={"k1": 1.2, "form": "rank_bm25, white space"}, changes="bm25", version=2),
    *(_row(f"rrf_{k_rrf}", f"Hybrid RRF, k = {k_rrf}",
           f"dense and BM25 → reciprocal rank fusion with k = {k_rrf}",
           f"{_KEY},cormack2009rrf", fusion.score, _FUSED, options={"k_rrf": k_rrf}, changes="hybrid_rrf",
           version=2)
      for k_rrf in (10, 30, 100)),
    *(_row(f"convex_{percent}", f"Convex combination, α = {percent / 100:.1f}",
           f"dense and BM25, each brought to 0..1 → {percent} % dense and {100 - percent} % BM25",
           f"{_KEY},bruch2023fusion", convex.score, _BOTH, options={"alpha": percent / 100},
           changes="hybrid_rrf", version=2)
      for percent in range(30, 100, 10)),
    *(_row(f"rerank_head_{n}", f"Dense + reranker, first {n}", f"dense → first {n} → {_READ}",
           _PAIR, rerank.score, uses=("dense",),
           options={"n": n, "head_tokens": rerank.HEAD_TOKENS}, changes="dense", **_HEAD)
      for n in (20, 50, 100)),
    *(_row(f"hybrid_rerank{name}", f"Hybrid RRF + reranker{title}", f"hybrid RRF → first 50 → {read}",
           _PAIR, rerank.score, uses=("hybrid_rrf",), options={"n": 50, "first_stage": "hybrid_rrf"} | head,
           changes="hybrid_rrf", **_HEAD)
      for name, title, read, head in (
          ("", ", heads", _READ, {"head_tokens": rerank.HEAD_TOKENS}),
          ("_whole", ", whole chunks", "cross-encoder that reads all windows of a chunk → its best", {}))),
    *(_row(f"contextual_{name}{how}", f"Contextual {how}, {title}", f"{what} before each chunk → {then}",
           f"{_KEY},anthropic2024contextual", score, (*settings, *model), options={"context": context},
           inputs=partial(contextual.contexts, kind=context), writes=writes, changes=changes, version=version)
      for context, name, title, what, model, writes in (
          ("header", "header_", "header", "the filing's company, form and year", (), {}),
          ("written", "", "written context", "what a language model wrote of the filing", ("generator",),
           {"filing_context": 1.0}))
      for how, score, settings, then, changes, version in (
          ("dense", contextual.score_dense, ("embedder",), "dense", "dense", 1),
          ("hybrid", contextual.score_hybrid, _FUSED, "dense and BM25 → reciprocal rank fusion", "hybrid_rrf", 2))),
    _row("hyde_akarsu", "HyDE, one passage with numbers", "question → a passage that a language model writes at "
         "temperature 0, asked for numbers → dense", f"{_KEY},gao2023hyde", hyde.score,
         ("embedder", "generator", "sibling_texts"), options={"kind": "hyde_akarsu"},
         inputs=partial(hyde.written_passages, kind="hyde_akarsu"), writes={"hyde_akarsu": 1.0}, changes="dense"),
    _row("multi_query", "Multi-query", "question → three rewrites by a language model at temperature 0 → each and the "
         "question dense → reciprocal rank fusion", f"{_KEY},cormack2009rrf", rewritten.score_multi_query,
         ("embedder", "hybrid_rrf", "generator", "sibling_texts"), inputs=rewritten.queries,
         writes={"rewrites": 1.0}, changes="dense"),
    _row("crag", "Corrective RAG", "hybrid RRF → a model reads and labels the first 5 → none relevant: rewritten, "
         "hybrid again → the round with more relevant chunks", f"{_KEY},yan2024crag", judged.score_corrected,
         _JUDGED, ("hybrid_rrf",),
         inputs=lambda study: judged.verdicts(study).to_dict("records"),
         writes={"judge": 1.0, "correction": 1.0}, changes="hybrid_rrf", conditions=("standard",), version=2),
)

# Kim et al., "Optimizing Retrieval Strategies for Financial QA Documents" (2025): queries, weights, tables.
KIM, _KEY = "kim2025", "kim2025financial"
_row = partial(Method, family=KIM, conditions=_SEARCHED)
_PAGES = (("markdown", "titles and tables in markdown"), ("annotated_tables", "annotated tables"),
          ("tables_only", "tables alone"))
_QUERIES = (("keyword_query", "keywords", "Key terms", "the key terms that a language model takes from it"),
            ("lm_expansion", "expansion", "Language-model expansion", "terms that a language model adds"))
_KIM = (
    *(_row(name, title, f"question and {what} → dense and BM25 → reciprocal rank fusion",
           _KEY, rewritten.score_lengthened, _LENGTHENED, options={"kind": kind},
           inputs=partial(rewritten.lengthened, kind=kind), writes={kind: 1.0}, changes="hybrid_rrf", version=2)
      for name, kind, title, what in _QUERIES),
    *(_row(f"{name}_dense", f"{title}, dense", f"question and {what} → dense",
           _KEY, rewritten.score_lengthened_dense, _WRITTEN, options={"kind": kind},
           inputs=partial(rewritten.lengthened, kind=kind), writes={kind: 1.0}, changes="dense")
      for name, kind, title, what in _QUERIES),
    *(_row(f"expanded_{chunking}_dense", f"Language-model expansion, dense, {title}",
           f"question and terms that a language model adds → dense over pages with {title}",
           _KEY, rewritten.score_lengthened_dense, _WRITTEN, options={"kind": "expansion"}, chunking=chunking,
           inputs=partial(rewritten.lengthened, kind="expansion"), writes={"expansion": 1.0},
           changes="lm_expansion_dense")
      for chunking, title in _PAGES),
    *(_row(name, f"Convex combination{title}, α chosen in folds",
           f"dense and BM25, each {how} → weighted as the training folds choose, by company",
           f"{_KEY},bruch2023fusion", convex.score_in_folds, (*_BOTH, "run"),
           options={"n_folds": 5, "seed": 13} | more, changes="hybrid_rrf", version=2, is_trained=True)
      for name, title, how, more in (
          ("convex_folds", "", "brought to 0..1", {}),
          ("convex_softmax_folds", " after softmax", "through softmax, of dense's first 100",
           {"normalisation": "softmax"}))),
    _row("selection_agent", "Selection agent",
         "hybrid RRF → a language model reads the first 10 in one prompt → those that it does not list go behind",
         _KEY, judged.score_selected, _JUDGED, ("hybrid_rrf",),
         inputs=judged.chosen, writes={"selection": 1.0}, changes="hybrid_rrf", conditions=("standard",),
         version=2),
    *(_row(f"{chunking}_dense", f"Dense, {title}",
           f"question → embedding → cosine with chunks of pages with {title}",
           f"{_KEY},karpukhin2020dpr", dense.score, ("embedder",), chunking=chunking, changes="dense")
      for chunking, title in _PAGES),
    *(_row(f"{chunking}_bm25", f"BM25, {title}",
           f"question → finance tokens → BM25 over pages with {title}",
           f"{_KEY},robertson2009bm25", bm25.score, ("bm25",), chunking=chunking, changes="bm25", version=2)
      for chunking, title in _PAGES),
)

# Yepes et al., "Financial Report Chunking for Effective RAG" (2024): what a chunk is.
YEPES, _KEY = "yepes2024", "yepes2024chunking"
_row = partial(Method, family=YEPES, conditions=_SEARCHED)
_YEPES = (
    *(_row(f"fixed_{size}", f"Chunks of {size} tokens", f"question → embedding → cosine with one vector of each "
           f"chunk of {size - 2} tokens", f"{_KEY},karpukhin2020dpr", dense.score_whole, ("embedder",),
           chunking=f"fixed_{size}", changes="dense", version=version)
      for size, version in ((128, 1), (256, 1), (512, 2))),
    _row("fixed_aggregate", "Chunks of 128, 256 and 512 tokens", "question → embedding → cosine with chunks of three "
         "sizes in one index", f"{_KEY},karpukhin2020dpr", dense.score_sizes, ("embedder",),
         chunking="fixed_aggregate", changes="dense"),
    _row("element_chunks", "Element chunks, no metadata", "question → embedding → cosine with the text of titles, "
         "text and whole tables (not in the paper)", f"{_KEY},karpukhin2020dpr", dense.score, ("embedder",),
         chunking="elements", changes="dense"),
    *(_row(f"element_{name}", f"Element chunks, {title}", f"question → embedding → cosine with {what} of each "
           "element chunk", f"{_KEY},karpukhin2020dpr", element_metadata.score, ("embedder",),
           options={"kinds": kinds}, chunking="elements", changes="dense")
      for name, title, what, kinds in (
          ("keywords", "keywords", "six key terms", ["keywords"]),
          ("summary", "summary", "the three sentences nearest to the whole", ["summary"]),
          ("prefix", "prefix", "the first two sentences, or the caption of a table,", ["prefix"]),
          ("aggregate", "aggregate", "the nearest of key terms, summary and prefix",
           ["keywords", "summary", "prefix"]))),
    _row("element_bm25", "BM25, element chunks", "question → finance tokens → BM25 over titles, text and whole tables "
         "(not in the paper)", f"{_KEY},robertson2009bm25", bm25.score, ("bm25",), chunking="elements",
         changes="bm25", version=2),
)
# fmt: on

#: Trained methods that the breakdowns and the answers look at beside the best baseline.
TRAINED = ("page_scorer", "ahead")
METHODS: dict[str, Method] = {
    row.name: row for row in (*_OWN, *_MATCHED, *_ORDERED, *_GENERAL, *_AKARSU, *_KIM, *_YEPES)
}


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

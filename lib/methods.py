"""The method table: name → pipeline → source paper. A new retriever is one function and one row here."""

from collections.abc import Sequence

from lib.code import (
    code_hash as code_hash,
)  # also had from here, by code whose own hash is part of stored keys
from lib.method import MAIN, Method
from lib.rows import SIBLING_ROWS
from lib.words import Condition, StudyError

_WINDOWS = ("embeddings/windows",)
_PAGES = (
    "lib.retrievers.dense",
    "lib.folds",
    *(
        f"lib.models.{name}"
        for name in ("page_scorer", "page_scores", "page_training", "page_batches", "page_vectors")
    ),
)
_AHEAD = (
    "asking", "combiner", "features", "identity", "linear", "names", "nested", "page_kinds", "periods", "pool", "terms",
    "views",
)  # fmt: skip
_LIGHT = ("lib.page_scorer.light", "lib.page_scorer.residual_map", *_PAGES)


def _page_scorer(name: str, title: str, scorer: str, function: str) -> Method:
    """A row that ranks pages first: the untrained and the light ones by frozen vectors, the others by their own."""
    is_tuned, is_light = "fine-tuned" in scorer, "light" in name
    return Method(
        name,
        title,
        f"question → {scorer} ranks all pages → dense search of the chunks of the best P",
        "kobeissi2026,henderson2017mnrl" if is_tuned else "kobeissi2026",
        "lib.page_scorer.search",
        ("embedder", "page_scorer") if is_tuned else ("embedder", "page_scorer", "page_scorer_light"),
        index_stages=("page_scorer/pages" if is_tuned else "embeddings/pages", *_WINDOWS),
        query_stages=(
            "page_scorer/questions" if is_tuned else "embeddings/page_questions",
            "embeddings/queries",
        ),
        function=function,
        code=_LIGHT if is_light else _PAGES,
        is_trained=is_tuned or is_light,
    )


_ROWS = (
    Method(
        "dense",
        "Dense",
        "question → embedding → cosine with the best window of each chunk",
        "karpukhin2020dpr,reimers2019sbert",
        "lib.retrievers.dense",
        ("embedder",),
        index_stages=_WINDOWS,
        query_stages=("embeddings/queries",),
    ),
    Method(
        "bm25",
        "BM25",
        "question → finance tokens → Okapi BM25 over chunks",
        "robertson2009bm25",
        "lib.retrievers.bm25",
        ("bm25",),
    ),
    Method(
        "splade",
        "SPLADE",
        "question → weighted vocabulary terms → dot product with each chunk's terms",
        "formal2021splade",
        "lib.retrievers.splade",
        ("splade",),
        index_stages=("sparse/chunks",),
        query_stages=("sparse/queries",),
    ),
    Method(
        "hybrid_rrf",
        "Hybrid RRF",
        "dense and BM25 → reciprocal rank fusion",
        "cormack2009rrf",
        "lib.retrievers.fusion",
        ("hybrid_rrf",),
        ("dense", "bm25"),
        index_stages=_WINDOWS,
        query_stages=("embeddings/queries",),
    ),
    Method(
        "parent_child",
        "Parent-child",
        "question → embedding → cosine with small children → their parent chunks",
        "yang2023smalltobig",
        "lib.retrievers.parent_child",
        ("embedder", "parent_child"),
        index_stages=("embeddings/children",),
        query_stages=("embeddings/queries",),
    ),
    Method(
        "query_expansion",
        "Query expansion",
        "question → acronyms and fiscal years spelt out → dense",
        "carpineto2012expansion",
        "lib.retrievers.reformulated",
        ("embedder",),
        index_stages=_WINDOWS,
        query_stages=("embeddings/queries",),
        function="score_expansion",
        code=("lib.retrievers.dense", "lib.retrievers.expansion"),
        inputs="expanded_questions",
    ),
    Method(
        "hyde",
        "HyDE",
        "question → a passage that a language model writes → dense",
        "gao2023hyde",
        "lib.retrievers.reformulated",
        ("embedder", "hyde", "generator"),
        index_stages=_WINDOWS,
        query_stages=("embeddings/passages",),
        function="score_hyde",
        code=("lib.retrievers.dense",),
        inputs="written_passages",
    ),
    Method(
        "multi_hyde",
        "Multi-HyDE",
        "question → four written passages → their mean embedding → dense",
        "george2025multihyde",
        "lib.retrievers.reformulated",
        ("embedder", "hyde", "generator"),
        index_stages=_WINDOWS,
        query_stages=("embeddings/passages",),
        function="score_multi_hyde",
        code=("lib.retrievers.dense",),
        inputs="written_passages",
    ),
    Method(
        "rerank",
        "Dense + reranker",
        "dense → first 20 → cross-encoder",
        "nogueira2019bert",
        "lib.retrievers.rerank",
        ("rerank",),
        ("dense",),
        index_stages=_WINDOWS,
        query_stages=("embeddings/queries",),
        code=("lib.models.cross_encoder",),
    ),
    Method(
        "multi_hyde_rerank",
        "Multi-HyDE + reranker",
        "Multi-HyDE → first 20 → cross-encoder",
        "george2025multihyde,nogueira2019bert",
        "lib.retrievers.rerank",
        ("rerank",),
        ("multi_hyde",),
        index_stages=_WINDOWS,
        query_stages=("embeddings/passages",),
        function="score_multi_hyde",
        code=("lib.models.cross_encoder",),
    ),
    _page_scorer("page_then_chunk", "Page, then chunk", "the untrained encoder", "score_untrained"),
    _page_scorer(
        "page_scorer_light",
        "Light page scorer",
        "a small map over frozen vectors, trained in folds by company,",
        "score_light",
    ),
    _page_scorer(
        "page_scorer_light_filing",
        "Light page scorer, folds by filing",
        "a small map over frozen vectors, trained in folds by filing,",
        "score_light_filing_folds",
    ),
    _page_scorer("page_scorer", "Page scorer", "an encoder fine-tuned in folds by company", "score"),
    _page_scorer(
        "page_scorer_filing",
        "Page scorer, folds by filing",
        "an encoder fine-tuned in folds by filing",
        "score_filing_folds",
    ),
    Method(
        "ahead",
        "Ahead",
        "question → identity and windows choose pages → linear ranker and boosted trees → best chunk of each page",
        "burges2010lambdamart,cao2007listnet",
        "lib.ahead.search",
        ("embedder", "bm25", "ahead"),
        index_stages=(*_WINDOWS, "embeddings/ahead-heads", "ahead/words", "ahead/kinds"),
        query_stages=("embeddings/queries",),
        code=("lib.retrievers.dense", *(f"lib.ahead.{name}" for name in _AHEAD)),
        inputs="inputs",
        is_trained=True,
    ),
)

#: Trained methods that the breakdowns and the answers look at beside the best baseline.
TRAINED = ("page_scorer", "ahead")
METHODS: dict[str, Method] = {method.name: method for method in (*_ROWS, *SIBLING_ROWS)}


def method(name: str) -> Method:
    """A row of the table.

    Raises:
        StudyError: there is no such method; the message lists those there are.
    """
    if name not in METHODS:
        raise StudyError(f"no method {name!r}: say one of {', '.join(METHODS)}")
    return METHODS[name]


def of_family(family: str = MAIN) -> list[str]:
    """The methods of the study itself, or those of one sibling study."""
    return [name for name, row in METHODS.items() if row.family == family]


def chosen(names: Sequence[str] | None, otherwise: Sequence[str] | None = None) -> list[str]:
    """The methods that were asked for, or all of ``otherwise`` (by default those of the study itself).

    Raises:
        StudyError: a name that the table does not have.
    """
    if names is None:
        return of_family() if otherwise is None else list(otherwise)
    if isinstance(names, str):
        raise StudyError(f"methods is {names!r}: give a list, such as [{names}]")
    return [method(name).name for name in names]


def baselines() -> list[str]:
    """The study's own methods that are not trained on questions."""
    return [name for name in of_family() if not METHODS[name].is_trained]


def siblings(profile) -> list[str]:
    """The sibling studies' methods that a profile runs.

    ``siblings.rows`` is ``all`` or a list of names; those of ``siblings.without`` are left out.
    """
    wanted, unwanted = profile.siblings.rows, profile.siblings.without
    names = [name for name, row in METHODS.items() if row.family != MAIN and name not in unwanted]
    return names if wanted == "all" else [name for name in names if name in wanted]


def measured(profile) -> list[tuple[str, Condition]]:
    """Every run of a study under a profile: name and condition."""
    names = [*of_family(), *siblings(profile)]
    return [(name, condition) for name in names for condition in METHODS[name].conditions]

"""What the rows of several sibling studies name: stages of the store, code, settings."""

from collections.abc import Callable
from functools import partial

from lib.method import Method
from lib.words import Condition

WINDOWS = ("embeddings/windows",)
QUERIES = ("embeddings/queries",)
SEARCHED: tuple[Condition, ...] = ("standard", "oracle-document")
DENSE, SPARSE, RRF = "lib.retrievers.dense", "lib.retrievers.bm25", "lib.retrievers.fusion"
BOTH = ("embedder", "bm25")
FUSED = (*BOTH, "hybrid_rrf")

TEXTS = ("lib.retrievers.hybrid_texts", DENSE, RRF, "lib.retrievers.texts")
LENGTHENED = (*FUSED, "generator", "sibling_texts")
JUDGE = ("lib.retrievers.judge", "lib.retrievers.passages", "lib.retrievers.texts")
JUDGED = (*LENGTHENED, "parent_child", "run")


def of_family(family: str) -> Callable[..., Method]:
    """A maker of rows of one sibling study; they are measured under two conditions unless they say otherwise."""
    return partial(Method, family=family, conditions=SEARCHED)


def dense_over(
    row: Callable[..., Method],
    source: str,
    name: str,
    title: str,
    what: str,
    corpus: str,
    index_stages: tuple[str, ...],
    module: str = "lib.retrievers.dense_corpus",
    code: tuple[str, ...] = (),
    **more,
) -> Method:
    """A row that searches the vectors of another chunk table.

    Args:
        row: of :func:`of_family`.
        source: the study's key in the bibliography.
        name, title, corpus, index_stages, module: of the row.
        what: that a question is compared with.
        code: modules beside those that every such row reads.
        more: other fields of the row.
    """
    return row(
        name,
        title,
        f"question → embedding → cosine with {what}",
        f"{source},karpukhin2020dpr",
        module,
        ("embedder", "parent_child") if "embeddings/children" in index_stages else ("embedder",),
        corpus=corpus,
        index_stages=index_stages,
        query_stages=QUERIES,
        code=(DENSE, "lib.chunkings.embedding", "lib.chunkings.aggregate", *code),
        **more,
    )

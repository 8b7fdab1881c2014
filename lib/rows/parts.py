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

TEXTS = ("lib.retrievers.hybrid_texts", DENSE, RRF, "lib.siblings.texts")
LENGTHENED = (*FUSED, "generator", "sibling_texts")
JUDGE = ("lib.siblings.judge", "lib.siblings.passages", "lib.siblings.texts")
JUDGED = (*LENGTHENED, "parent_child", "run")


def of_family(family: str) -> Callable[..., Method]:
    """A maker of rows of one sibling study; they are measured under two conditions unless they say otherwise."""
    return partial(Method, family=family, conditions=SEARCHED)

"""The settings of a profile: pydantic models of its sections, with the limits outside which a computation fails.

``notebooks/profiles/default.yaml`` has the values, and says what each setting is.
"""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationInfo, field_validator

MOST = 2**32 - 2  # the largest seed of llama.cpp: it reads one more as "any"
SPECIAL_TOKENS = 2  # that an encoder puts around a text, inside its window


def unique(items: list) -> list:
    """The items of a setting; a ValueError where one is repeated, which would count double."""
    if repeated := [item for number, item in enumerate(items) if item in items[:number]]:
        raise ValueError(f"{repeated[0]!r:.80} is repeated; give each value once")
    return items


def zero_or_window(tokens: int) -> int:
    """A window of an encoder, or 0; a ValueError where no token would be left in it."""
    if 0 < tokens <= SPECIAL_TOKENS:
        raise ValueError(f"give 0, or more than the {SPECIAL_TOKENS} special tokens")
    return tokens


Natural = Annotated[int, Field(ge=0, le=MOST)]
Count = Annotated[int, Field(ge=1, le=MOST)]
UpTo1000 = Annotated[int, Field(ge=1, le=1000)]
UpTo65536 = Annotated[int, Field(ge=1, le=2**16)]
UpToMillion = Annotated[int, Field(ge=1, le=10**6)]
Folds = Annotated[int, Field(ge=2, le=MOST)]
Window = Annotated[int, Field(gt=SPECIAL_TOKENS, le=MOST)]
Number = Annotated[float, Field(ge=0, le=MOST)]
Share = Annotated[float, Field(ge=0, le=1)]
TreeShare = Annotated[float, Field(ge=0.1, le=1)]  # of what a tree sees; it needs some
LearningRate = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(pattern=r"\S")]
Precision = Literal["auto", "float32", "bfloat16", "float16"]
Rows = Literal["all"] | list[str]
Item = TypeVar("Item")
Items = Annotated[list[Item], Field(min_length=1), AfterValidator(unique)]


class Section(BaseModel, extra="forbid", strict=True):
    """Settings of which none may be missing, and no other be there."""


class Spans(Section):
    size: Count
    overlap: Natural

    @field_validator("overlap")
    @classmethod
    def _less_than_size(cls, overlap: int, info: ValidationInfo) -> int:
        if overlap >= (size := info.data.get("size", MOST + 1)):
            raise ValueError(f"give less than size, which is {size}")
        return overlap


class Embedder(Section):
    weights: Name
    window: Window
    window_overlap: Natural
    long_chunks: Literal["windows", "truncate"]
    precision: Precision
    batch_size: Count

    @field_validator("window_overlap")
    @classmethod
    def _less_than_window(cls, overlap: int, info: ValidationInfo) -> int:
        if overlap >= (room := info.data.get("window", 2 * MOST) - SPECIAL_TOKENS):
            raise ValueError(f"give less than window without its {SPECIAL_TOKENS} special tokens, which is {room}")
        return overlap


class ContextSpans(Spans):
    weights: Name
    window: Window
    precision: Precision
    batch_size: Count


class Run(Section):
    depth: Count


class BM25(Section):
    k1: Number
    b: Share


class HybridRRF(Section):
    k_rrf: Count
    depth: Count


class Splade(Section):
    weights: Name
    window: Window
    max_active_dims: UpTo65536
    precision: Precision
    batch_size: Count


class Rerank(Section):
    weights: Name
    n: Count
    window: Window


class Generator(Section):
    weights: Name
    backend: Literal["llama.cpp", "transformers"]
    n_slots: Annotated[int, Field(ge=0, le=1000)]
    context: Count
    n_threads: UpTo1000


class Text(Section):
    max_tokens: Count


class Hyde(Text):
    n_passages: UpTo1000
    temperature: Number
    seed: Natural


class PageScorer(Section):
    n_folds: Folds
    seed: Natural
    max_characters: Count
    max_tokens: Window
    compare_tokens: Annotated[Natural, AfterValidator(zero_or_window)]
    learning_rate: LearningRate
    batch_size: Count
    epochs: Count
    warmup: Share
    train_precision: Precision
    pages: Count


class PageScorerBest(Section):
    learning_rate: LearningRate


class PageScorerLight(Section):
    max_tokens: Window
    rank: UpTo65536
    learning_rates: Items[LearningRate]
    max_steps: Count
    check_every: Count
    sides: Items[Literal["question", "both"]]
    inner_folds: Folds
    seed: Natural


class Ahead(Section):
    n_trees: Count
    leaves: Annotated[int, Field(ge=2, le=2**16)]
    learning_rate: Annotated[float, Field(ge=1e-9, le=1)]
    min_pages: UpToMillion
    feature_share: TreeShare
    page_share: TreeShare
    tree_l2: Number
    share: Share
    n_folds: Folds
    fold_seeds: Items[Natural]
    seed: Natural


class Answers(Section):
    n_chunks: Count
    segment: Count
    context_tokens: Count
    max_tokens: Count
    of_each_type: Natural
    seed: Natural


class Metrics(Section):
    ks: Items[Count]

    @field_validator("ks")
    @classmethod
    def _ascending(cls, ks: list[int]) -> list[int]:
        if ks != sorted(ks):
            raise ValueError(f"give them in ascending order, {sorted(ks)}")
        return ks


class Significance(Section):
    n_draws: UpToMillion
    seed: Natural


class Siblings(Section):
    rows: Rows
    without: list[str]


class Rewrites(Text):
    n: UpTo1000


class Judge(Text):
    top: Count
    passage_tokens: Count


class Correction(Text):
    temperature: Number


class SiblingTexts(Section):
    rewrites: Rewrites
    keywords: Text
    expansion: Text
    hyde_akarsu: Hyde
    judge: Judge
    correction: Correction
    selection: Judge
    answer_question: Text
    seed: Natural


class Preference(Section):
    context: Name
    rejected: Name
    right_from: Share
    n_folds: Folds
    seed: Natural
    method: Literal["lora", "full"]
    rank: UpTo65536
    alpha: Count
    beta: Number
    learning_rate: LearningRate
    epochs: Count
    batch_size: Count
    pairs_at_once: Count
    warmup: Share
    max_tokens: Count
    train_precision: Precision
    checkpoint_every: Count


class Profile(Section):
    """A whole profile: its sections, its name, the profile that it extends, and what it changes for some datasets."""

    chunks: Spans
    embedder: Embedder
    run: Run
    bm25: BM25
    hybrid_rrf: HybridRRF
    splade: Splade
    parent_child: Spans
    spans: ContextSpans
    rerank: Rerank
    generator: Generator
    hyde: Hyde
    page_scorer: PageScorer
    page_scorer_best: PageScorerBest
    page_scorer_light: PageScorerLight
    ahead: Ahead
    answers: Answers
    metrics: Metrics
    significance: Significance
    siblings: Siblings
    sibling_texts: SiblingTexts
    preference: Preference
    sets: dict[str, dict[str, Any]] = {}
    name: Name = ""
    extends: Name = ""

    @field_validator("metrics")
    @classmethod
    def _within_depth(cls, metrics: Metrics, info: ValidationInfo) -> Metrics:
        if "run" in info.data and max(metrics.ks) > (depth := info.data["run"].depth):
            raise ValueError(f"give ks of at most run.depth, which is {depth}")
        return metrics

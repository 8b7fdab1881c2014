"""What a language model is given to read: segments of the retrieved chunks, as many as its context has room for.

The published study hands five chunks of 1024 tokens to a 7 B model, more than two cores can read in an hour. Here the
room is filled in rounds: the first takes from each chunk, best rank first, the segment that shares most words with the
question, the second its next best. Words are compared, not vectors, so that a context depends on the run alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from lib.data.chunks import split_chunks
from lib.method import memoized
from lib.methods import METHODS
from lib.schema import CONDITIONS, IN_WORDS, Condition, StudyError
from lib.study import Study
from lib.text.tokens import tokenize, word_weights

NONE = "none"
BEST_BASELINE = "best-baseline"
ORACLES = ("oracle-document", "oracle-page")
COLUMNS = ["question_id", "chunk_id", "doc_name", "page", "text"]


@dataclass(frozen=True)
class Context:
    """Where a context's chunks come from: a method's run under a condition."""

    name: str  # NONE, BEST_BASELINE, one of ORACLES, or a method
    method: str = NONE
    condition: Condition = CONDITIONS[0]

    @property
    def run(self) -> tuple[str, Condition]:
        """The run that it reads."""
        return self.method, self.condition

    @property
    def title(self) -> str:
        """The context as the tables print it."""
        if self.name == NONE:
            return "no context"
        in_words, title = {BEST_BASELINE: "best standard method", **IN_WORDS}.get(self.name), METHODS[self.method].title
        return f"{in_words} ({title})" if in_words else title


def context(name: str, best_baseline: str = "", oracle: str = "dense") -> Context:
    """A context by name, with the methods that are the best baseline and that search under the oracle conditions."""
    if name == NONE:
        return Context(NONE)
    if name in ORACLES:
        return Context(name, oracle, name)
    method = best_baseline if name == BEST_BASELINE else name
    if method not in METHODS:
        contexts = ", ".join((NONE, BEST_BASELINE, *ORACLES))
        raise StudyError(f"unknown context {name!r}; choose from {contexts}, or a method")
    return Context(name, method)


def order_of_segments(question: str, chunks: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """The order in which segments of ranked chunks fill the room: (number of the chunk, number of its segment).

    A segment's worth is the sum of the weights (:func:`lib.text.tokens.word_weights`, over all segments) of the
    question's distinct words in it.
    """
    words = [[set(tokenize(segment)) for segment in segments] for segments in chunks]
    weight = word_weights([segment for part in words for segment in part])
    asked = sorted(weight.keys() & set(tokenize(question)))
    ordered = []
    for number, part in enumerate(words):
        worth = [-sum(weight[word] for word in asked if word in segment) for segment in part]
        best_first = sorted(range(len(part)), key=worth.__getitem__)
        ordered += [(turn, number, segment) for turn, segment in enumerate(best_first)]
    return [(number, segment) for _, number, segment in sorted(ordered)]


def fill(question: str, chunks: Sequence[Sequence[str]], n_tokens: int, tokenizer) -> list[tuple[int, str]]:
    """The segments that fill a room, by rank and place: (number of the chunk, text); the last one chosen may be cut."""
    chosen: dict[tuple[int, int], str] = {}
    for place in order_of_segments(question, chunks):
        text = " ".join(chunks[place[0]][place[1]].split())
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets[:n_tokens]
        if offsets:
            chosen[place] = text[: offsets[-1][1]]
        n_tokens -= len(offsets)
        if n_tokens <= 0:
            break
    return [(place[0], chosen[place]) for place in sorted(chosen)]


def first_chunks(study: Study, wanted: Context) -> pd.DataFrame:
    """The first chunks of a context's run, question by question, best rank first."""
    run = study.run(*wanted.run)
    top = run[run["rank"] <= study.profile.answers.n_chunks]
    return top.sort_values(["question_id", "rank"], ignore_index=True)


@memoized
def pages_read(study: Study, wanted: Context) -> pd.DataFrame:
    """The pages of the first chunks of a context's run: question_id, doc_name and page, each once, best first."""
    return first_chunks(study, wanted)[["question_id", "doc_name", "page"]].drop_duplicates(ignore_index=True)


def chunks_retrieved(study: Study, wanted: Context) -> pd.DataFrame:
    """The chunks that may give segments, with their text: COLUMNS, best rank first; none without retrieval."""
    if wanted.method == NONE:
        return pd.DataFrame(columns=COLUMNS)
    texts = study.chunks[["chunk_id", "text"]]
    return first_chunks(study, wanted).merge(texts, on="chunk_id", how="left")[COLUMNS]


@memoized
def segments_read(study: Study, wanted: Context) -> pd.DataFrame:
    """What the model reads of each retrieved chunk: COLUMNS, best rank first."""
    top, settings, tokenizer = chunks_retrieved(study, wanted), study.profile.answers, study.tokenizer
    if top.empty:
        return top
    segments = split_chunks(top[["text"]], tokenizer, settings.segment, 0).groupby("chunk")["text"].agg(list)
    asked, parts = study.questions.set_index("question_id")["question"], []
    for question_id, part in top.groupby("question_id", sort=False):
        chunks = segments[part.index].tolist()
        filled = fill(asked[question_id], chunks, settings.context_tokens, tokenizer)
        rows = part.iloc[[number for number, _ in filled]]
        parts.append(rows.assign(text=[text for _, text in filled]))
    return pd.concat(parts, ignore_index=True)


def contexts(study: Study, wanted: Context) -> dict[str, str]:
    """The context of every question, by question id; empty where nothing was retrieved."""
    by_chunk = segments_read(study, wanted).groupby(["question_id", "chunk_id"], sort=False)["text"].agg("\n".join)
    joined = by_chunk.groupby(level="question_id", sort=False).agg("\n\n".join)
    return joined.reindex(study.questions["question_id"], fill_value="").to_dict()

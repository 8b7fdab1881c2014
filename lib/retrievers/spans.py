"""Dense retrieval of short spans of chunks behind the Item, Note and heading that they stand under.

A span is a child of a chunk, as of parent-child retrieval (Yang, 2023), behind a contextual header (Anthropic, 2024) of
what its filing prints above it. Neither it nor the question says whose filing is meant: that is for a metadata match,
or for the identity beside it. Of a question, only what it asks is read: the sentences with a question mark, where it
has any, without company and periods.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from lib.data.chunks import split_chunks
from lib.data.headings import place_at, places
from lib.filings.anonymous import anonymous
from lib.filings.identity import Identity, filing_identities, filings_named, without_records
from lib.method import Search, memoized
from lib.models.vectors import chunk_vectors, encode_queries
from lib.profile import Settings
from lib.retrievers.dense import best_window_scores
from lib.text.sentences import asking_sentences

SECTION = "spans"  # of the profile, and the name of the collection


def in_context(chunks: pd.DataFrame, pages: pd.DataFrame, tokenizer: Tokenizer, settings: Settings) -> pd.DataFrame:
    """The spans of chunks, in their order: ``chunk`` (its row) and ``text``, the span behind its context.

    Args:
        chunks, pages: of whole filings, the pages of each in their order.
        settings: ``size`` and ``overlap`` of a span, in tokens.
    """
    found = {}
    for name, of_filing in pages.groupby("doc_name", sort=False):
        found |= zip(((name, page) for page in of_filing["page"]), places(of_filing["text"].tolist()), strict=True)
    table = split_chunks(chunks, tokenizer, settings.size, settings.overlap)
    about = chunks[["doc_name", "page", "start"]].iloc[table["chunk"]].itertuples(index=False, name=None)
    texts = []
    for (name, page, first), text, start in zip(about, table["text"], table["start"], strict=True):
        place = str(place_at(found[name, page], first + start))
        texts.append(f"{place}: {text}" if place else text)
    return pd.DataFrame({"chunk": table["chunk"], "text": texts})


@memoized
def spans(search: Search) -> pd.DataFrame:
    """The spans of a study's chunks, see :func:`in_context`."""
    return in_context(search.chunks, search.pages, search.tokenizer, search.profile.spans)


@memoized
def span_vectors(search: Search) -> tuple[np.ndarray, np.ndarray]:
    """For every span the row of its chunk, and its unit vector (n_spans, dimension)."""
    table = spans(search)
    chunks = table["chunk"].to_numpy()
    return chunks, chunk_vectors(search, SECTION, chunks, table["text"].tolist(), section=SECTION)


def asked_of_spans(questions: Iterable[str], filings: Sequence[Identity]) -> list[str]:
    """What questions ask, without the companies of these filings and without periods."""
    asked = list(map(asking_sentences, questions))
    names = ({name for of_filing in named.values() for name in of_filing} for named in filings_named(asked, filings))
    return list(map(anonymous, asked, names))


@memoized
def named_filings(search: Search) -> list[Identity]:
    """The filings as the names of their files and their first pages say, without records."""
    return filing_identities(without_records(search.filings), search.pages)


def question_vectors(search: Search, questions: Iterable[str]) -> np.ndarray:
    """The unit vectors of what questions ask, by the encoder of spans, shape (n_questions, dimension)."""
    return encode_queries(search, asked_of_spans(questions, named_filings(search)), SECTION)


def score_texts(search: Search, texts: Iterable[str]) -> np.ndarray:
    """As :func:`score`, with one text in place of each question."""
    owners, vectors = span_vectors(search)
    return best_window_scores(question_vectors(search, texts), vectors, owners, len(search.chunks))


def score(search: Search, candidates: np.ndarray) -> np.ndarray:
    """Cosine between what the question asks and the best span of each chunk, shape (n_questions, n_chunks)."""
    return score_texts(search, search.questions["question"])

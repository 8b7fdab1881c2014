"""Contextual retrieval: every chunk is searched with a context of its filing before it (Anthropic, 2024).

The chunks that are found stay as they are. Akarsu et al. (2026) search such an index with vectors and fuse that with
BM25. The published recipe has a language model place every chunk in its document; here one context serves all chunks of
a filing: written from its first pages, or, without a model, a header of its metadata.
"""

import re
from calendar import month_name
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from lib.data.chunks import split_chunks
from lib.files import read_yaml
from lib.filings.identity import sentences
from lib.method import Search, memoized
from lib.models.vectors import chunk_vectors
from lib.models.written import Filled
from lib.retrievers.bm25 import BM25, text_scores
from lib.retrievers.dense import best_window_scores, question_vectors
from lib.retrievers.fusion import fused
from lib.retrievers.prompts import write
from lib.settings import SPECIAL_TOKENS

Context = Literal["header", "written"]
MAX_PREFIX = 96  # tokens of a context; the rest of a window is left to the chunk
FIRST_PAGES, MAX_SENTENCES, MAX_CHARACTERS = 12, 3, 700  # of an excerpt
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z•“])|\s•\s")
_FILE = read_yaml(Path(__file__).with_name("contextual.yaml"))
BUSINESS, BOILERPLATE = (re.compile("".join(_FILE[name]), re.I) for name in ("business", "boilerplate"))
DATE = re.compile(rf"\b(?:{'|'.join(month_name[1:])})\s+\d{{1,2}},?\s+(?:19|20)\d{{2}}\b")


def excerpt(pages: Sequence[str]) -> str:
    """The sentences of the first pages with most different words of BUSINESS, in their order; else the first page.

    Sentences of fewer than 8 or more than 60 words, those that are mostly figures, and boilerplate do not count.
    """
    texts = [" ".join(page.split()) for page in pages[:FIRST_PAGES]]
    weights: dict[str, int] = {}
    for sentence in (sentence for text in texts for sentence in SENTENCE.split(text)):
        words = sentence.split()
        n_letters = sum(word.strip(".,;:()’'").isalpha() for word in words)
        if 8 <= len(words) <= 60 and n_letters >= 0.7 * len(words) and not BOILERPLATE.search(sentence):
            weights[sentence] = len({match.lower() for match in BUSINESS.findall(sentence)})
    best = sorted(weights, key=weights.get, reverse=True)[:MAX_SENTENCES]
    text = " ".join(sentence for sentence in weights if sentence in best and weights[sentence])
    return (text or texts[0])[:MAX_CHARACTERS]


@memoized
def written(search: Search) -> Filled:
    """The context of every filing, by doc_name, written from its header, the first page's date, and an excerpt."""
    pages = search.pages.sort_values(["doc_name", "page"]).groupby("doc_name")["text"].agg(list)
    companies, fields = search.filings.set_index("doc_name")["company"], {}
    for name, header in sentences(search.filings).items():
        dated = DATE.search(" ".join(pages[name][0].split()))
        date = f"Dated {dated[0]}." if dated else ""
        fields[name] = {"company": companies[name], "header": header, "date": date, "excerpt": excerpt(pages[name])}
    return write(search, "filing_context", fields)


def contexts(search: Search, kind: Context) -> dict[str, str]:
    """The context of every filing, by doc_name, in one line; one that could not be written is the header.

    A written one begins with the header, and ends with its last whole sentence if that leaves half of it or more.
    """
    context_of = sentences(search.filings)
    texts = written(search).texts if kind == "written" else {}
    for doc_name, text in texts.items():
        line = " ".join(text.split())
        last = max((match.end() for match in re.finditer(r"[.!?](?=\s|$)", line)), default=0)
        context_of[doc_name] = f"{context_of[doc_name]} {line[:last] if 2 * last >= len(line) else line}".strip()
    return context_of


def prefixed_windows(search: Search, context: Context) -> pd.DataFrame:
    """The chunks re-cut so that context and window fit the encoder: chunk (row), text (context, newline, window).

    A context has MAX_PREFIX tokens at most, and in a small window half of what its overlap leaves.
    """
    settings, tokenizer = search.profile.embedder, search.tokenizer
    room, overlap = settings.window - SPECIAL_TOKENS, settings.window_overlap
    most = max(1, min(MAX_PREFIX, (room - overlap) // 2))
    prefixes, parts = contexts(search, context), []
    for doc_name, rows in search.chunks.groupby("doc_name", sort=False).indices.items():
        offsets = tokenizer.encode(prefixes[doc_name], add_special_tokens=False).offsets
        end = offsets[most - 1][1] if len(offsets) > most else None
        prefix = prefixes[doc_name][:end]
        n_prefix = len(tokenizer.encode(prefix, add_special_tokens=False).ids)
        part = split_chunks(search.chunks.iloc[rows], tokenizer, max(room - n_prefix, overlap + 1), overlap)
        parts.append(pd.DataFrame({"chunk": rows[part["chunk"]], "text": prefix + "\n" + part["text"]}))
    return pd.concat(parts, ignore_index=True).sort_values("chunk", kind="stable", ignore_index=True)


@memoized
def window_vectors(search: Search, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """For every prefixed window the row of its chunk, and its unit vector (n_windows, dimension)."""
    table = prefixed_windows(search, context)
    chunks = table["chunk"].to_numpy()
    sections = ["generator"] if context == "written" else []
    return chunks, chunk_vectors(search, f"contextual-{context}", chunks, table["text"], sections=sections)


def score_dense(search: Search, candidates: np.ndarray, *, context: Context) -> np.ndarray:
    """Cosine between the question and each chunk's best prefixed window, shape (n_questions, n_chunks)."""
    owners, vectors = window_vectors(search, context)
    return best_window_scores(question_vectors(search), vectors, owners, len(search.chunks))


@memoized
def bm25_index(search: Search, context: Context) -> BM25:
    """BM25 over the chunks with their contexts."""
    texts = search.chunks["doc_name"].map(contexts(search, context)) + "\n" + search.chunks["text"]
    return BM25.of_texts(texts, search.profile.bm25.k1, search.profile.bm25.b)


def score_hybrid(search: Search, candidates: np.ndarray, *, context: Context) -> np.ndarray:
    """RRF of contextual dense and contextual BM25, ranked among the candidates, shape (n_questions, n_chunks)."""
    sparse = text_scores(bm25_index(search, context), search.questions["question"])
    return fused(search, [score_dense(search, candidates, context=context), sparse], candidates)

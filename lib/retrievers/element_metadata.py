"""Element chunks that are searched by their metadata (Yepes et al., 2024): keywords, a summary, or a prefix.

The metadata alone are embedded, which the source does not state. GPT-4 writes its keywords and summary; ours are the
terms with the highest TF-IDF, and the sentences nearest to the whole chunk. The prefix is the first two sentences, and
for a table its caption: here the titles that stand before it.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.chunkings.elements import elements, is_furniture
from lib.method import Search, memoized
from lib.models.vectors import chunk_vectors
from lib.retrievers.dense import cosines, question_vectors

N_KEYWORDS = 6
N_SUMMARY = 3  # sentences
MAX_SENTENCE = 200
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"(])|\n\s*\n")
TERM = r"(?u)\b[a-zA-Z][a-zA-Z&-]{2,}\b"


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each with single spaces and cut to MAX_SENTENCE characters."""
    pieces = (" ".join(piece.split()) for piece in SENTENCE.split(text))
    return [sentence[:MAX_SENTENCE] for sentence in pieces if sentence]


def metadata_of(texts: Sequence[str]) -> pd.DataFrame:
    """``keywords`` and ``summary`` of each text; empty where a text has no term.

    Keywords are the N_KEYWORDS terms with the highest weights, ties in alphabetical order; the summary is the N_SUMMARY
    different sentences with the highest cosines, in the text's order.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(re.search(TERM, text) for text in texts):
        return pd.DataFrame("", index=range(len(texts)), columns=["keywords", "summary"])
    weigher = TfidfVectorizer(token_pattern=TERM, stop_words="english", sublinear_tf=True, dtype=np.float32)
    weights = weigher.fit_transform(texts)
    terms = weigher.get_feature_names_out()
    best = [sorted(zip(-row.data, row.indices, strict=True))[:N_KEYWORDS] for row in weights]
    sentences = pd.Series(map(sentences_of, texts)).explode().dropna().rename_axis("row").reset_index(name="text")
    of_text = weights[sentences["row"].to_numpy()]
    sentences["cosine"] = np.asarray(weigher.transform(sentences["text"]).multiply(of_text).sum(axis=1))
    different = sentences.drop_duplicates(["row", "text"]).sort_values("cosine", ascending=False, kind="stable")
    nearest = different.groupby("row").head(N_SUMMARY).sort_index()
    summary = nearest.groupby("row")["text"].agg(" ".join).reindex(range(len(texts)), fill_value="")
    return pd.DataFrame({"keywords": [", ".join(terms[i] for _, i in ranked) for ranked in best], "summary": summary})


def captions(chunks: pd.DataFrame, frame: pd.DataFrame) -> dict[int, str]:
    """Row of each chunk with a table → the titles that stand before it in the chunk, else the last one on its page.

    ``frame`` has ELEMENT_COLUMNS; heads that pages repeat name no table.
    """
    is_title = (frame["kind"] == "title") & ~is_furniture(frame)
    title = frame["text"].where(is_title).groupby([frame["doc_name"], frame["page"]]).ffill().fillna("")
    tables = frame.assign(title=title)[frame["kind"] == "table"]
    pairs = chunks.assign(row=range(len(chunks))).merge(tables, on=["doc_name", "page"], suffixes=("", "_of"))
    pairs = pairs[(pairs["start_of"] < pairs["end"]) & (pairs["end_of"] > pairs["start"])]
    before = {row.row: row.text[: max(0, row.start_of - row.start)].strip() or row.title for row in pairs.itertuples()}
    return {row: " ".join(text.split())[:MAX_SENTENCE] for row, text in before.items()}


@memoized
def represent(search: Search) -> pd.DataFrame:
    """The keywords, summary and prefix of each element chunk, which its own text replaces where one is empty."""
    texts, named = search.chunks["text"].tolist(), captions(search.chunks, elements(search.with_chunks("")))
    first = [named.get(row) or " ".join(sentences_of(text)[:2]) for row, text in enumerate(texts)]
    return metadata_of(texts).assign(prefix=first).apply(lambda column: column.where(column != "", texts))


def score(search: Search, candidates: np.ndarray, *, kinds: Sequence[str]) -> np.ndarray:
    """Cosine of the question and the nearest of the kinds of a chunk's metadata, shape (n_questions, n_chunks)."""
    texts, asked = represent(search), question_vectors(search)
    rows = np.arange(len(texts))
    vectors = (chunk_vectors(search, f"element_{kind}", rows, texts[kind]) for kind in kinds)
    return np.maximum.reduce([cosines(asked, one) for one in vectors])

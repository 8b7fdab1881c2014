"""The passage that stands for a chunk before a judge: its child that is nearest to the question, cut to a length.

A chunk of 1024 tokens is too dear to read 1500 times on two cores; the best child (see
:mod:`lib.retrievers.parent_child`) is what a dense retriever found in it.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from lib.data.chunks import load_tokenizer
from lib.models.index import encode_queries, encode_texts
from lib.models.weights import fetch, weights_hash
from lib.retrievers.parent_child import children
from lib.store import digest_of


def passages(study, pairs: pd.DataFrame) -> list[str]:
    """The passage of every pair, stored.

    Args:
        study: gives questions, chunks, the store and settings: ``sibling_texts.judge.passage_tokens`` of the embedder.
        pairs: question_id and chunk_id, such as a run.

    Returns:
        One passage a row, white space made single.
    """
    settings = study.profile
    params = {
        "questions": digest_of(list(study.questions["question"])),
        "chunks": digest_of([study.chunks["chunk_id"].tolist(), study.chunks["key"].tolist()]),
        "pairs": digest_of(pairs[["question_id", "chunk_id"]].to_numpy().tolist()),
        "children": dict(settings.parent_child),
        "weights": weights_hash(settings.embedder.weights),
        "tokens": settings.sibling_texts.judge.passage_tokens,
    }

    def compute(target: Path) -> None:
        pd.DataFrame({"passage": best_children(study, pairs)}).to_parquet(target / "passages.parquet")

    entry = study.store.get("siblings/passages", params, compute)
    return pd.read_parquet(entry.path / "passages.parquet")["passage"].tolist()


def best_children(study, pairs: pd.DataFrame) -> list[str]:
    """The text of each pair's nearest child, at most ``passage_tokens`` tokens of the embedder long."""
    table, n_tokens = children(study), study.profile.sibling_texts.judge.passage_tokens
    vectors = encode_texts(study, "embeddings/children", table["text"].tolist())
    queries = encode_queries(study, study.questions["question"].tolist())
    tokenizer = load_tokenizer(fetch(study.profile.embedder.weights))
    first = np.searchsorted(table["chunk"].to_numpy(), np.arange(len(study.chunks) + 1))
    rows = pd.Index(study.questions["question_id"]).get_indexer(pairs["question_id"])
    columns = pd.Index(study.chunks["chunk_id"]).get_indexer(pairs["chunk_id"])
    texts = []
    for row, column in zip(rows, columns, strict=True):
        nearest = first[column] + int(np.argmax(vectors[first[column] : first[column + 1]] @ queries[row]))
        text = " ".join(table["text"].iloc[nearest].split())
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets[:n_tokens]
        texts.append(text[: offsets[-1][1]] if offsets else text)
    return texts

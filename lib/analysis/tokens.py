"""Tokens of pages and chunks, by the embedder's tokenizer."""

import pandas as pd

from lib.data.chunks import count_tokens, load_tokenizer
from lib.models.weights import fetch, weights_hash
from lib.study import Study


def token_counts(study: Study) -> dict[str, pd.Series]:
    """Tokens of every page and of every chunk of a study, in their order: ``pages`` and ``chunks``."""
    weights = study.profile.embedder.weights
    params = {name: study.digest(name) for name in ("pages", "chunks")} | {"tokenizer": weights_hash(weights)}

    def make() -> dict[str, list[int]]:
        tokenizer = load_tokenizer(fetch(weights))
        return {
            name: count_tokens(getattr(study, name)["text"].tolist(), tokenizer)
            for name in ("pages", "chunks")
        }

    return {
        name: pd.Series(counts) for name, counts in study.store.value("token_counts", params, make).items()
    }

"""The commands say what they did."""

from collections import Counter
from types import SimpleNamespace

import numpy as np

from lib.answers import written_contexts as contexts


def test_writing_says_where_the_texts_come_from_and_what_is_missing(monkeypatch):
    filled = SimpleNamespace(origins=Counter(reused=80, computed=3), missing={"A": "it died"})
    monkeypatch.setattr(contexts, "written", lambda study: filled)
    assert contexts.write_contexts(None) == "contexts: 3 computed, 80 reused; 1 missing"


def test_embedding_says_how_many_windows_and_chunks(monkeypatch):
    found = np.array([0, 0, 1, 2]), np.zeros((4, 8))
    monkeypatch.setattr(contexts, "window_vectors", lambda study, context: found)
    assert contexts.embed(None, "header") == "embeddings/contextual-header: 4 windows of 3 chunks"

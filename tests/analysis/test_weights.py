"""The sweep of the weight of dense against BM25."""

import numpy as np
import pandas as pd

from lib.analysis import weights
from lib.methods import METHODS


def test_a_sweep_is_stored_for_each_normalisation_and_read_again(fake_study, monkeypatch):
    measured = []

    def values(study, candidates, normalisation):
        measured.append(normalisation)
        return pd.DataFrame({"normalised": [normalisation]})

    monkeypatch.setattr(weights.convex, "alpha_values", values)
    profile = {"embedder": {"window": 8}, "bm25": {"k1": 1.5, "b": 0.75}, "run": {"depth": 5}}
    study = fake_study(["a?"], ["text"], profile)
    study.digest, study.settings_of = str, list
    study.candidates = lambda condition: np.ones((1, 1), bool)
    for _ in range(2):
        for name, row in weights.CHOOSING.items():
            assert set(weights.sweep(study, name)["normalised"]) == {name}
            assert METHODS[row].options.get("normalisation", "min_max") == name
    assert measured == ["min_max", "softmax"]

"""The sweep of the weight of dense against BM25."""

import pandas as pd

from lib.analysis import weights
from lib.methods import METHODS
from lib.profile import Settings
from tests.made import make_study


def test_each_normalisation_is_swept_as_the_row_that_chooses_its_weight_has_it(monkeypatch):
    monkeypatch.setattr(weights.convex, "alpha_values", lambda study, allowed, how: pd.DataFrame({"how": [how]}))
    study = make_study(profile=Settings({"run": Settings({"depth": 5})}), candidates=str)
    for how, row in weights.CHOOSING.items():
        assert weights.sweep(study, how)["how"].tolist() == [how]
        assert METHODS[row].options.get("normalisation", "min_max") == how

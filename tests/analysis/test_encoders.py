"""What changes add, on average over their orders."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from lib.analysis.encoders import FACTORS, combination, shapley
from lib.stats import Resampling


def test_the_worth_of_a_change_is_the_mean_of_what_it_adds_in_either_order():
    ids = ["q0", "q1"]
    values = pd.DataFrame({"none": 0.0, "order": 0.2, "match": 0.1, "match+order": 0.5}, ids)
    found = shapley(values, Resampling(pd.Series(["a", "b"], ids), 50)).set_index("factor")
    assert found["worth"].to_dict() == pytest.approx({"match": (0.1 + 0.3) / 2, "order": (0.2 + 0.4) / 2})
    assert found["worth"].sum() == pytest.approx(0.5)  # what both add together
    assert found["alone"].to_dict() == pytest.approx({"match": 0.1, "order": 0.2})
    assert found["last"].to_dict() == pytest.approx({"match": 0.3, "order": 0.4})
    assert found["worth_low"].tolist() == pytest.approx(found["worth_high"].tolist())  # no question differs


def test_worths_are_those_of_all_orders():
    names = [
        combination([name for name, bit in zip(FACTORS, f"{n:04b}", strict=True) if bit == "1"]) for n in range(16)
    ]
    values = pd.DataFrame(np.random.default_rng(0).random((6, 16)), columns=names)
    worths = shapley(values, Resampling(pd.Series(range(6)), 50)).set_index("factor")["worth"]
    means = values.mean()
    for factor in FACTORS:
        before = [order[: order.index(factor)] for order in permutations(FACTORS)]
        added = [means[combination([*one, factor])] - means[combination(one)] for one in before]
        assert worths[factor] == pytest.approx(np.mean(added))

"""The ladder's tables."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from lib.profile import load_profile
from lib.show.tables import as_table, steps


def test_each_step_is_compared_with_the_one_it_names():
    questions = pd.DataFrame({"question_id": ["q1", "q2"], "company": ["a", "b"]})
    study = SimpleNamespace(questions=questions, profile=load_profile("default"))
    first = pd.Series([0.0, 0.5], ["q1", "q2"])
    frame = steps(study, {"a": first, "b": first + 0.5}, {"a": first, "b": first}, [None, "a"])
    assert frame["page_recall"].tolist() == [0.25, 0.75]
    assert np.isnan(frame["difference"].iloc[0])
    assert frame["difference"].iloc[1] == 0.5
    table = as_table(frame, "steps", compared="Difference")
    assert table["Difference"].tolist() == ["–", "0.50 [-0.16, 1.00]"]  # no spread: Wilson's interval
    assert table["Step"].tolist() == ["a", "b"]

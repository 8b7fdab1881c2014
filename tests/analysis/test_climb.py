"""The steps of a pipeline, each beside the one above it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lib.analysis.climb import climb
from tests.made import make_study, values

IDS = [f"q{number}" for number in range(40)]


def test_each_step_stands_beside_the_one_above_it():
    questions = pd.DataFrame({"question_id": IDS, "company": [f"company {number % 20}" for number in range(40)]})
    study = make_study(200, home=Path("none"), published=None, questions=questions)
    found = [("dense", 0.2, 5), ("dense_records", 0.8, 5), ("ahead", 0.9, 5), ("ahead", 1.0, 20)]
    parts = [
        values(IDS, np.arange(40) < share * 40, metric, k, name)
        for name, share, k in found
        for metric in ("page_recall", "doc_recall")
    ]
    rows = climb(study, pd.concat(parts))
    assert rows["method"].tolist() == ["dense", "dense_records", "ahead", "ahead"]
    assert rows["difference"].tolist()[1:] == pytest.approx([0.6, 0.1, 0.1])
    assert rows["p_holm"].isna().tolist() == [True, False, False, True], "to read more chunks cannot lose"
    assert "page_recall_pooled" not in rows
    assert len(climb(study, pd.concat(parts[:2]))) == 1

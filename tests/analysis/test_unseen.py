"""Unseen companies: what was read of Ahead's misses, and what it is compared with, are of the published questions."""

import pandas as pd

from lib.analysis import unseen
from lib.data.locate import UNSEEN
from lib.published import RESULTS
from lib.typed import read_csv

PUBLISHED = RESULTS / UNSEEN / "default"


def test_every_question_that_ahead_misses_was_read_and_no_other():
    metrics = pd.read_parquet(PUBLISHED / "metrics.parquet").set_index(["method", "condition", "metric", "k"])
    recall = metrics.loc[("ahead", "standard", "page_recall", 5)].set_index("question_id")["value"]
    read = read_csv(unseen.MISSED)
    assert set(read["question_id"]) == set(recall.index[recall < 1])
    assert set(read["kind"]) <= {*unseen.KINDS}
    before = read_csv(unseen.MISSED.with_name(f"{unseen.BEFORE}.csv"))
    assert set(before["question_id"]) == set(recall.index)
    assert before["page_recall"].between(0, 1).all()

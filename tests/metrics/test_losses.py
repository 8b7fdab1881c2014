"""Gold pages that are found, or lost with their page or their filing."""

import pandas as pd
import pytest

from lib.evaluation import METRIC_COLUMNS
from lib.metrics.frame import Metrics
from lib.metrics.losses import losses, losses_of, pooled_losses

#: Of four questions: the filing is missed; the page is missed; one of two pages is missed; all is found.
DOCUMENTS, PAGES = pd.Series([0.0, 1.0, 1.0, 1.0]), pd.Series([0.0, 0.0, 0.5, 1.0])
PARTS = {"found": [0, 0, 0.5, 1], "page": [0, 1, 0.5, 0], "document": [1, 0, 0, 0]}


def test_a_gold_page_is_found_or_lost_with_its_page_or_its_filing():
    assert {part: values.tolist() for part, values in losses(DOCUMENTS, PAGES).items()} == PARTS
    frames = losses(*(pd.DataFrame({"dense": recall, "given": 1.0}) for recall in (DOCUMENTS, PAGES)))
    assert {part: frame["dense"].tolist() for part, frame in frames.items()} == PARTS
    assert {part: frame["given"].mean() for part, frame in frames.items()} == {"found": 1, "page": 0, "document": 0}
    assert losses(0.75, 0.5) == {"found": 0.5, "page": 0.25, "document": 0.25}


def test_a_page_of_another_filing_that_answers_in_full_is_no_loss():
    pooled = pd.Series([1.0, 1.0, 0.5, 1.0])  # the first filing is still missed
    parts = {"found": [1, 1, 0.5, 1], "page": [0, 0, 0.5, 0], "document": [0, 0, 0, 0]}
    assert {part: values.tolist() for part, values in pooled_losses(DOCUMENTS, pooled).items()} == parts
    frames = pooled_losses(DOCUMENTS.to_frame("dense"), pooled.to_frame("dense"))
    assert {part: frame["dense"].tolist() for part, frame in frames.items()} == parts


@pytest.mark.parametrize("run", ["dense", ("dense", "oracle-document")])
def test_the_losses_of_a_run_are_at_its_depth_and_condition(run):
    condition = "standard" if isinstance(run, str) else run[1]
    rows = [
        ("dense", condition, f"q{place}", metric, k, value * (k == 5))
        for metric, values in (("doc_recall", DOCUMENTS), ("page_recall", PAGES))
        for k in (5, 10)
        for place, value in enumerate(values)
    ]
    metrics = Metrics(pd.DataFrame(rows, columns=METRIC_COLUMNS).astype({"k": "Int64"}))
    assert {part: values.tolist() for part, values in losses_of(metrics, run, 5).items()} == PARTS

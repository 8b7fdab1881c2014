"""What programs import: one run or several, by the names that commands give them."""

from pathlib import Path

import pandas as pd
import pytest

import retrieval_gap

FRAME = pd.DataFrame({"question_id": ["q1"], "doc": ["ACME"], "page": [0]})


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        ("runs/my.trec.gz", {"my": Path("runs/my.trec.gz")}),
        (Path("my.jsonl"), {"my": Path("my.jsonl")}),
        (FRAME, {"run": FRAME}),
        ({"mine": "my.trec", "other": FRAME}, {"mine": "my.trec", "other": FRAME}),
    ],
)
def test_one_run_or_several_are_measured_by_name(monkeypatch, run, wanted):
    monkeypatch.setattr(retrieval_gap, "diagnose_runs", lambda *given: given)
    runs, *options = retrieval_gap.diagnose(run, Path("my-filings"), pages_from=1, k=10)
    assert options == ["my-filings", "", "default", 1, 10]
    assert runs.keys() == wanted.keys()
    assert all(runs[name] is one or runs[name] == one for name, one in wanted.items())

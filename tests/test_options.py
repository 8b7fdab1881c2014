"""Runs from outside by name, as commands and programs are given them."""

from pathlib import Path

import pandas as pd
import pytest

import retrieval_gap
from lib.options import named_runs
from lib.words import StudyError


def test_a_run_is_named_by_its_file_without_endings_or_as_it_is_said():
    named = named_runs([Path("a/bge-1.5.trec.gz"), "b.jsonl"], ["mine=c=d.trec"])
    assert named == {"bge-1.5": Path("a/bge-1.5.trec.gz"), "b": Path("b.jsonl"), "mine": Path("c=d.trec")}


@pytest.mark.parametrize("given", [([], []), (["a/x.trec", "b/x.jsonl"], []), (["x.trec"], ["x=y.trec"]), ([], ["=x"])])
def test_runs_without_a_name_of_their_own_are_one_sentence(given):
    with pytest.raises(StudyError, match="--run name=file; .* each with a name of its own"):
        named_runs(*given)


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

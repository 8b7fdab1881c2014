"""What commands are given: runs from outside by name."""

from pathlib import Path

import pytest

from lib.options import named_runs
from lib.words import StudyError


def test_a_run_is_named_by_its_file_without_endings_or_as_it_is_said():
    named = named_runs([Path("a/bge-1.5.trec.gz"), "b.jsonl"], ["mine=c=d.trec"])
    assert named == {"bge-1.5": Path("a/bge-1.5.trec.gz"), "b": Path("b.jsonl"), "mine": Path("c=d.trec")}


@pytest.mark.parametrize("given", [([], []), (["a/x.trec", "b/x.jsonl"], []), (["x.trec"], ["x=y.trec"]), ([], ["=x"])])
def test_runs_without_a_name_of_their_own_are_one_sentence(given):
    with pytest.raises(StudyError, match="--run name=file; .* each with a name of its own"):
        named_runs(*given)

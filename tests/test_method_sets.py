"""Sets of methods: unknown names are refused, siblings are in none that nobody asked for."""

import pytest

from lib.method import OWN
from lib.method_sets import baselines, chosen, measured, of_family
from lib.profile import load_profile
from lib.words import StudyError


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["bm25", "bm52"], "no method 'bm52': say one of dense, bm25, "),
        *((nothing, "methods is .*: give names") for nothing in ([], 5, "")),
    ],
)
def test_what_is_no_method_lists_the_known(names, message):
    with pytest.raises(StudyError, match=message):
        chosen(names)


def test_siblings_are_neither_baselines_nor_chosen_unasked():
    assert not {"bm25_k12", "rrf_10"} & {*baselines(), *chosen(None)}
    assert chosen(["rrf_10"]) == ["rrf_10"]
    assert chosen(None, otherwise=["dense", "rrf_10"]) == ["dense", "rrf_10"]
    assert chosen("bm25 dense") == chosen("[bm25, dense]") == ["bm25", "dense"]


def test_a_profile_runs_all_siblings_or_those_that_it_lists():
    runs = measured(load_profile("default"))
    assert ("rrf_10", "standard") in runs
    assert ("rrf_10", "oracle-page") not in runs
    few = load_profile("default").replaced({"siblings.rows": ["bm25_k12", "rrf_10"], "siblings.without": ["rrf_10"]})
    own = {name for family in OWN for name in of_family(family)}
    assert {name for name, _ in measured(few)} - own == {"bm25_k12"}

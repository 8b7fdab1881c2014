"""The method table and its sets, and values that are kept in memory."""

import inspect

import pytest

from lib.chunkings.table import CHUNKINGS
from lib.method import MATCHED, OWN, PLAIN, STRICT, memoized
from lib.method_sets import baselines, chosen, compared, in_comparisons, measured, of_family
from lib.methods import METHODS, row
from lib.profile import load_profile
from lib.schema import StudyError

DEFAULT = load_profile("default")


@pytest.mark.parametrize("name", METHODS)
def test_every_row_is_a_function_with_settings_that_the_profile_has(name):
    row, changed = METHODS[name], [name]
    assert set(row.settings) <= set(DEFAULT)
    assert set(row.uses) <= set(METHODS)
    assert row.chunking in ("", *CHUNKINGS)
    if row.family == MATCHED:
        assert row.options.get("method", row.options.get("first_stage")) == row.changes == row.uses[0]
    inspect.signature(row.score).bind("study", "candidates", **row.options)
    while changed[-1] not in of_family():  # step by step to a method of the study itself
        changed.append(METHODS[changed[-1]].changes)
        assert len(changed) <= 4, changed


def test_siblings_are_in_no_set_that_nobody_asked_for_and_a_profile_runs_all_or_those_that_it_lists():
    assert not {"bm25_k12", "rrf_10"} & {*baselines(), *chosen(None)}
    runs = measured(DEFAULT)
    assert ("rrf_10", "standard") in runs
    assert ("rrf_10", "oracle-page") not in runs
    few = DEFAULT.replaced({"siblings.rows": ["bm25_k12", "rrf_10"], "siblings.without": ["rrf_10"]})
    own = {name for family in OWN for name in of_family(family)}
    assert {name for name, _ in measured(few)} - own == {"bm25_k12"}


def test_a_row_that_repeats_one_in_a_vector_store_or_with_stricter_folds_is_measured_and_stands_in_no_comparison():
    apart = {"dense_chroma", *of_family(STRICT)}
    assert {"ahead_template", "page_scorer_light_order_template_records"} < apart
    left_out = {run for run in measured(DEFAULT) if run not in compared(DEFAULT)}
    expected = {(name, condition) for name in apart for condition in METHODS[name].conditions}
    assert left_out == {run for run in expected if run[0] not in DEFAULT.siblings.without}
    assert {*METHODS} - {*in_comparisons()} == apart


def test_a_row_needs_what_it_uses_needs_and_a_second_row_of_a_name_is_an_error():
    reranked = METHODS["multi_hyde_records_rerank"]
    assert reranked.needs == ("language model", "metadata", "cross-encoder")
    assert (reranked.changes, reranked.conditions) == ("multi_hyde_records", ("standard",))
    with pytest.raises(ValueError, match="dense"):
        row("dense", title="Dense", pipeline="question", score=reranked.score, purpose=PLAIN)


def test_a_row_that_does_not_say_what_it_does_beyond_plain_search_is_an_error_and_is_not_added():
    said = {"title": "Mine", "pipeline": "question", "score": METHODS["rerank"].score}
    with pytest.raises(TypeError, match="purpose"):
        row("mine", **said)
    with pytest.raises(ValueError, match=r"mine has the purpose 'reranker'; .*Rerankers"):
        row("mine", **said, purpose="reranker")
    assert "mine" not in METHODS


def test_methods_are_named_in_a_list_or_in_a_text():
    for given in (["dense", "rrf_10", "dense"], "dense rrf_10", "[dense, rrf_10]"):
        assert chosen(given) == ["dense", "rrf_10"]


@pytest.mark.parametrize(("names", "culprit"), [(["bm25", "bm52"], "bm52"), ([], "methods"), (5, "methods")])
def test_unknown_methods_and_no_methods_are_an_error(names, culprit):
    with pytest.raises(StudyError, match=culprit):
        chosen(names)


def test_a_value_is_made_once_for_its_arguments(fake_study):
    search, seen = fake_study(["cash?"], ["net cash"], {}), []

    @memoized
    def twice(study, n):
        seen.append(n)
        return 2 * n

    assert [twice(search, n) for n in (1, 2, 1)] == [2, 4, 2]
    assert seen == [1, 2]

"""Rows beside what they change, changes of a pipeline, and variants of the page ranker by question set."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.ahead.ranker import UNTRAINED, WHOLE
from lib.analysis import compare
from lib.analysis.compare import ACTION_COLUMNS, ACTIONS, actions
from lib.analysis.ladder import LADDER
from lib.book.headline import idle_table, paying_table
from lib.methods import METHODS, Method
from lib.metrics.frame import Metrics
from lib.profile import load_profile
from lib.published import METRICS_FILE, table_bytes
from lib.show import strategies
from lib.words import NeedsFilings
from tests.made import make_study, values

N = 40
IDS = [f"q{number}" for number in range(N)]
MEASURES = [(name, k) for name in ("mrr", "ndcg") for k in (3, 5, 10)]
RANKED = [one for one in MEASURES if one not in compare.SHOWN] + [(f"doc_{name}", k) for name, k in MEASURES]


@pytest.fixture
def study(tmp_path) -> SimpleNamespace:
    """A study of two questions about each of twenty companies, whose folder is empty."""
    company = [f"company {number % 20}" for number in range(N)]
    questions = pd.DataFrame({"question_id": IDS, "company": company, "doc_name": "D"})
    profile = load_profile("default").replaced({"significance.n_draws": 200})
    about = {"outputs": tmp_path, "home": tmp_path, "published": None, "questions": questions}
    return make_study(**about, profile=profile, dataset=SimpleNamespace(collection="financebench", name="financebench"))


# --- rows beside what they change ---


@pytest.fixture
def metrics(monkeypatch) -> Metrics:
    """``better`` finds every page and ``same`` what dense finds, which is every other one."""
    for name in ("better", "same", "unused"):
        row = Method(name, name.title(), "question → answer", "k", np.max, family="kim2025", changes="dense")
        monkeypatch.setitem(METHODS, name, row)
    half, measures = np.arange(N) % 2.0, (*compare.SHOWN, ("map", 10), *RANKED)
    found = {"dense": half, "better": np.ones(N), "same": half}
    return Metrics(pd.concat(values(IDS, found[name], *measure, name) for name in found for measure in measures))


def test_every_row_stands_beside_what_it_changes(study, metrics):
    rows = compare.with_references(["better", "same"])
    numbers = compare.means(study, metrics, rows)
    shown = strategies.compared_rows(numbers, compare.against_reference(study, metrics, rows[1:]))
    assert rows == ["dense", "better", "same"]
    assert list(shown["Method"]) == ["Dense", "Better", "Same"]
    assert shown["Page recall: difference"].str[:6].tolist() == ["–", "0.50 [", "0.00 ["]
    assert shown.loc[2, "p (Holm)"] == "1.000"
    assert set(shown["n"]) == {N}
    assert numbers.set_index(["method", "metric"]).loc[("better", "ndcg"), "mean"] == 1.0


def test_the_takeaway_names_what_can_be_told(study, metrics):
    tested = compare.against_reference(study, metrics, ["better", "same"])
    said = strategies.takeaway(tested)
    assert said == "Measurably better than the method that they change: Better. Measurably worse: none."
    found = "Of 2 strategies, 1 find measurably more pages than the method that they change (Better), and 0"
    assert strategies.finding([tested]).startswith(found)


@pytest.mark.parametrize(("ran", "said"), [([], "Not run in this profile: Unused."), (["unused"], "")])
def test_rows_that_a_profile_does_not_run_are_named(metrics, ran, said):
    run = [name for name, row in METHODS.items() if row.family == "kim2025" and name != "unused"]
    assert strategies.left_out("kim2025", [*run, *ran]) == said


@pytest.mark.parametrize(("found", "also"), [("page", ["MAP@10"]), ("doc", [])])
def test_depths_have_ranked_measures_and_n(metrics, found, also):
    table = strategies.by_depth(metrics, ["better"], [5], found)
    heads = ["@5", "MRR@3", "MRR@5", "nDCG@3", "nDCG@5", "nDCG@10", *also]
    assert table.to_dict("records") == [{"Method": "Better"} | dict.fromkeys(heads, "1.00") | {"n": N}]


# --- changes of a pipeline ---


def write_metrics(study: SimpleNamespace, **found: float) -> None:
    """Page recall at 5 chunks: each method finds the pages of the first of the questions, a share of them."""
    parts = (values(IDS, np.arange(N) < share * N, "page_recall", 5, name) for name, share in found.items())
    (study.outputs / METRICS_FILE).write_bytes(table_bytes(pd.concat(parts)))


def test_every_pair_is_of_rows_or_of_steps_that_follow_each_other():
    steps = [rung.name for rung in LADDER]
    for action in ACTIONS:
        for form, base in action.get("rows", {}).items():
            assert {form, base} <= set(METHODS), action["do"]
        for form, base in action.get("rungs", {}).items():
            assert steps.index(form) == steps.index(base) + 1


def test_a_change_is_shown_by_its_best_form_and_pays_if_the_gain_is_no_chance(study):
    write_metrics(study, dense=0.2, dense_records=0.8, fixed_128=0.25, fixed_256=0.2, hyde=0.0)
    times = pd.DataFrame({"method": ["dense", "dense_records"], "question_s": [0.02, 0.034]})
    times.to_csv(study.home / "times.csv", index=False)
    shown = actions(study)
    assert list(shown) == ACTION_COLUMNS
    first, *others = shown.to_dict("records")
    assert (first["base"], first["pays"], first["is_sure"]) == ("Dense", True, True)
    assert first["difference"] == pytest.approx(0.6)
    assert [one["form"] for one in others] == ["Chunks of 128 tokens", "HyDE"]
    assert others[0]["forms"] == 2
    assert not any(one["pays"] for one in others)
    assert paying_table(shown)["Seconds per question"].tolist() == ["0.02 → 0.034"]
    assert idle_table(shown)["Seconds per question"].tolist() == ["–", "–"]
    write_metrics(study, bm25=0.5)
    assert actions(study).empty
    assert paying_table(actions(study)).empty


def test_the_module_names_the_steps_as_the_ladder_does():
    assert compare._title("rung_page_recall/statements") == "Ladder: statements, line items and years"


# --- variants of the page ranker ---


@pytest.fixture
def measured(monkeypatch):
    """The untrained sum finds nothing; a trained ranker finds everything under the first seed and half of it later."""

    def recalls(study, variant, seed, sets):
        found = {"untrained": 0.0, "without words": 0.25}.get(variant.name, 1.0 if seed == 13 else 0.5)
        about = {"question_id": list("abcd"), "set": ["financebench"] * 3 + ["page-questions"]}
        about |= {"question_type": list("xxyz"), "company": ["ash", "birch", "cedar", "ash"]}
        return pd.DataFrame(about | {"doc_recall": 1.0, "page_recall": found})

    monkeypatch.setattr(compare, "nested_recalls", recalls)


@pytest.mark.parametrize(("variant", "seeds", "mean"), [(WHOLE, [13, 14, 15], 2 / 3), (UNTRAINED, [13], 0)])
def test_recalls_are_means_over_the_seeds(study, measured, variant, seeds, mean):
    assert compare.seeds_of(study, variant) == seeds
    assert compare.mean_recalls(study, variant)["page_recall"].tolist() == pytest.approx([mean] * 4)


def test_rankers_are_compared_with_the_untrained_sum_and_ablations_with_the_whole_ranker(study, measured):
    found = compare.by_set(study).set_index(["variant", "set"])
    assert len(found) == 2 * (len(compare.MEASURED) + 2)
    trained = found.loc[("trained on page-questions alone", "financebench")]
    assert trained[["n", "companies", "seeds"]].tolist() == [3, 3, 3]
    assert trained["difference"] == pytest.approx(2 / 3)
    assert pd.isna(found.loc[(compare.BASE, "page-questions"), "difference"])
    ablation = found.loc[("trained, without words", "financebench")]
    assert ablation["reference"] == compare.TRAINED
    assert ablation["difference"] == pytest.approx(0.25 - 2 / 3)
    assert ablation["p_holm"] >= ablation["p"]
    steps = pd.DataFrame({"title": [LADDER[-1].title], "p_holm": [0.0123]})
    again = compare.by_set(study, steps).set_index(["variant", "set"])["p_holm"]
    assert again[compare.KINDS, "financebench"] == 0.0123  # a step of the ladder has its p, and no part in the family
    assert again[compare.KINDS, "page-questions"] == found["p_holm"][compare.KINDS, "page-questions"]


def test_what_is_neither_stored_nor_published_is_left_out(study, monkeypatch):
    def refuse(*_):
        raise NeedsFilings("no filings")

    monkeypatch.setattr(compare, "nested_recalls", refuse)
    assert compare.by_set(study).empty

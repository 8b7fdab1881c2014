"""Changes of a pipeline: pairs that differ in one thing, the best form of each, and which of them pay."""

from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis import actions as actions_module
from lib.analysis.actions import ACTIONS, COLUMNS, actions
from lib.analysis.ladder import LADDER
from lib.book.headline import idle_table, paying_table
from lib.methods import METHODS
from lib.profile import load_profile
from lib.published import METRICS_FILE, table_bytes

QUESTIONS = [f"q{number}" for number in range(40)]


def metrics(**found: float) -> pd.DataFrame:
    """Page recall at 5 chunks: each method finds the pages of the first of the questions, a share of them."""
    rows = [
        (method, "standard", question, "page_recall", 5, float(number < share * len(QUESTIONS)))
        for method, share in found.items()
        for number, question in enumerate(QUESTIONS)
    ]
    return pd.DataFrame(rows, columns="method condition question_id metric k value".split())


@pytest.fixture
def study(tmp_path) -> SimpleNamespace:
    company = [f"company {number % 20}" for number in range(len(QUESTIONS))]
    questions = pd.DataFrame({"question_id": QUESTIONS, "company": company, "doc_name": "D"})
    profile = load_profile("default").replaced({"significance.n_draws": 200})
    return SimpleNamespace(
        outputs=tmp_path, home=tmp_path, published=None, questions=questions, profile=profile
    )


def test_every_pair_is_of_rows_or_of_steps_that_follow_each_other():
    steps = [rung.name for rung in LADDER]
    for action in ACTIONS:
        for form, base in action.get("rows", {}).items():
            assert {form, base} <= set(METHODS), action["do"]
        for form, base in action.get("rungs", {}).items():
            assert steps.index(form) == steps.index(base) + 1


def test_a_change_is_shown_by_its_best_form_and_pays_if_the_gain_is_no_chance(study):
    found = metrics(dense=0.2, dense_records=0.8, fixed_128=0.25, fixed_256=0.2, hyde=0.0)
    (study.outputs / METRICS_FILE).write_bytes(table_bytes(found))
    pd.DataFrame({"method": ["dense", "dense_records"], "question_s": [0.02, 0.034]}).to_csv(
        study.home / "times.csv", index=False
    )
    shown = actions(study)
    assert list(shown) == COLUMNS
    first, *others = shown.to_dict("records")
    assert (first["base"], first["pays"], first["is_sure"]) == ("Dense", True, True)
    assert first["difference"] == pytest.approx(0.6)
    assert [one["form"] for one in others] == ["Chunks of 128 tokens", "HyDE"]
    assert others[0]["forms"] == 2
    assert not any(one["pays"] for one in others)
    assert paying_table(shown)["Seconds per question"].tolist() == ["0.02 → 0.034"]
    assert idle_table(shown)["Seconds per question"].tolist() == ["–", "–"]


def test_nothing_measured_is_no_change(study):
    (study.outputs / METRICS_FILE).write_bytes(table_bytes(metrics(bm25=0.5)))
    assert actions(study).empty
    assert paying_table(actions(study)).empty


def test_the_module_names_the_steps_as_the_ladder_does():
    assert actions_module._title("rung_page_recall/statements") == "Ladder: statements, line items and years"

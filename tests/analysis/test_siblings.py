"""The tables of chapter 08: each row of a sibling study beside the row that it changes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import siblings
from lib.method import Method
from lib.methods import METHODS
from lib.metrics.retrieval import long_frame
from lib.profile import Settings

N = 40
IDS = [f"q{i}" for i in range(N)]
STUDY = SimpleNamespace(
    questions=pd.DataFrame({"question_id": IDS, "company": [f"c{i % 20}" for i in range(N)]}),
    profile=Settings({"significance": Settings({"n_draws": 300, "seed": 1})}),
)


@pytest.fixture
def metrics(monkeypatch) -> pd.DataFrame:
    """``better`` finds every page and ``same`` what dense finds, which is every other one."""
    for name in ("better", "same", "unused"):
        row = Method(name, name.title(), "question → answer", "kim2025financial", "m", (), family="kim2025")
        monkeypatch.setitem(METHODS, name, row)
    half = np.arange(N) % 2.0
    parts = []
    for name, values in {"dense": half, "better": np.ones(N), "same": half}.items():
        for metric, k in (*siblings.SHOWN, ("map", 10)):
            parts.append(
                long_frame(pd.Series(values, IDS), metric, k).assign(method=name, condition="standard")
            )
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("method", "reference"),
    [
        ("convex_50", "hybrid_rrf"),
        ("rrf_10", "hybrid_rrf"),
        ("markdown_bm25", "bm25"),
        ("markdown_dense", "dense"),
        ("contextual_hybrid", "hybrid_rrf"),
        ("fixed_128", "dense"),
        ("rerank_head_20", "dense"),
    ],
)
def test_what_a_row_changes(method, reference):
    assert siblings.reference_of(method) == reference


def test_every_row_stands_beside_what_it_changes(metrics):
    shown, numbers = siblings.family_table(STUDY, metrics, ["better", "same"])
    assert list(shown["Method"]) == ["Dense", "Better", "Same"]
    assert list(shown["Page recall: difference"])[0::2] == ["–", "0.00 [0.00, 0.00]"]
    assert shown.loc[1, "Page recall: difference"].startswith("0.50 [")
    assert shown.loc[2, "p (Holm)"] == "1.000"
    assert set(shown["n"]) == {N}
    assert numbers.set_index(["method", "metric"]).loc[("better", "ndcg"), "mean"] == 1.0


def test_the_takeaway_names_what_can_be_told(metrics):
    said = siblings.takeaway(STUDY, metrics, ["better", "same"])
    assert said == "Better than the row that they change, told from chance: Better. Worse: none."


def test_rows_that_a_profile_does_not_run_are_named(metrics):
    run = [name for name, row in METHODS.items() if row.family == "kim2025" and name != "unused"]
    assert siblings.left_out("kim2025", run) == "Not run in this profile: Unused."
    assert siblings.left_out("kim2025", [*run, "unused"]) == ""


def test_depths_have_n(metrics):
    table = siblings.depths_table(STUDY, metrics, ["better"], [5])
    assert table.to_dict("records") == [{"Method": "Better", "@5": "1.00", "MAP@10": "1.00", "n": N}]

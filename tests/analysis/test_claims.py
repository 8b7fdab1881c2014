"""The claims as data, and the scoreboard on a made-up study."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import scoreboard
from lib.analysis.claims import Claim, claims, margin, missing, sources
from lib.analysis.scoreboard import CANNOT_TELL, DOES_NOT, HOLDS, NOT_MEASURED, Finding
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.metrics.frame import long_frame
from lib.profile import Settings
from lib.show import scoreboard as shown_board

N = 60
IDS = pd.Index([f"q{i}" for i in range(N)], name="question_id")
QUESTIONS = pd.DataFrame(
    {
        "question_id": IDS,
        "company": [f"c{i % 20}" for i in range(N)],
        "question_type": ["metrics-generated"] * 30 + ["novel-generated"] * 30,
    }
)
PROFILE = Settings(
    {
        "significance": Settings({"n_draws": 400, "seed": 1}),
        "embedder": Settings({"window": 256}),
        "chunks": Settings({"size": 1024}),
    }
)
STUDY = SimpleNamespace(questions=QUESTIONS, profile=PROFILE)


def metrics_of(**rows: np.ndarray) -> pd.DataFrame:
    """Page and document recall at 5 of made-up rows; ``name__oracle`` is measured under the oracle document."""
    parts = []
    for name, numbers in rows.items():
        method, _, oracle = name.partition("__")
        condition = "oracle-document" if oracle else "standard"
        for metric in ("page_recall", "doc_recall"):
            values = long_frame(pd.Series(np.asarray(numbers, float), IDS), metric, 5)
            parts.append(values.assign(method=method, condition=condition))
    return pd.concat(parts, ignore_index=True)


GOOD, BAD = np.ones(N), np.zeros(N)
HALF = np.arange(N) % 2.0


def test_every_claim_is_whole():
    found = claims()
    assert len({claim.id for claim in found}) == len(found)
    for claim in found:
        assert claim.source in sources(), claim.id
        assert claim.kind in ("difference", "best", "argmax", "correlation"), claim.id
        assert claim.says in (">", "<="), claim.id
        assert bool(claim.b) == (claim.kind in ("difference", "best")), claim.id
        assert claim.metric in METRICS, claim.id
        assert claim.bound == (margin() if claim.says == "<=" else claim.bound), claim.id


def test_every_source_is_in_the_bibliography():
    text = (Path(__file__).parents[2] / "book" / "references.bib").read_text()
    keys = set(re.findall(r"@\w+\{([^,]+),", text))
    assert set(sources()) <= keys


def test_every_row_of_a_claim_is_in_the_table():
    wanted = {name for claim in claims() for name, _ in claim.runs}
    named = {name for claim in claims() for name in re.findall(r"\[(\w+)\]", claim.why)}
    assert wanted | named <= set(METHODS)


def test_every_sentence_can_be_said():
    names = {name for claim in claims() for name in re.findall(r"\[(\w+)\]", claim.why)}
    metrics = metrics_of(**dict.fromkeys(names, HALF))
    copies = [
        metrics.assign(metric=metric, k=k)[metrics["metric"] == "page_recall"]
        for metric, k in {(claim.metric, claim.k) for claim in claims()}
    ]
    metrics = pd.concat([metrics, *copies])
    for claim in claims():
        said = shown_board.why(STUDY, metrics, claim)
        assert "is not measured" not in said, claim.id
        assert "{" not in said.replace("{doc}", ""), claim.id


def test_a_sentence_without_its_row_says_so():
    claim = next(claim for claim in claims() if claim.id == "main-dense")
    assert "splade is not measured" in shown_board.why(STUDY, metrics_of(dense=GOOD, bm25=BAD), claim)


def test_a_claim_without_its_rows_is_not_measured_and_not_dropped():
    board = scoreboard.Board(STUDY, metrics_of(dense=HALF, bm25=HALF)).scores()
    assert list(board.index) == [claim.id for claim in claims()]
    assert set(board["verdict"]) == {NOT_MEASURED}
    assert board.loc["main-dense", "missing"] == "no run of splade in this profile"


def test_a_correlation_of_rows_that_are_all_alike_is_not_measured():
    follow = next(claim for claim in claims() if claim.id == "main-follow")
    metrics = metrics_of(**dict.fromkeys(follow.a, HALF))
    metrics = metrics[metrics["metric"] == "page_recall"]
    metrics = pd.concat([metrics, metrics.assign(metric="doc_recall")])
    board = scoreboard.Board(STUDY, metrics).scores()
    assert board.loc["main-follow", "verdict"] == NOT_MEASURED
    assert board.loc["main-follow", "missing"] == "undefined here, as the rows are too much alike"


def test_the_scoreboard_on_clear_rows():
    rows = dict.fromkeys(["bm25", "splade"], BAD) | {"dense": GOOD, "hyde": BAD, "page_scorer": GOOD}
    board = scoreboard.Board(STUDY, metrics_of(**rows, dense__oracle=HALF)).scores()
    assert board.loc["main-dense", "verdict"] == HOLDS
    assert board.loc["akarsu-hyde", "verdict"] == HOLDS  # it does not help
    assert board.loc["main-oracle", ["verdict", "n"]].tolist() == [HOLDS, 30]  # metrics questions only
    other = scoreboard.Board(STUDY, metrics_of(dense=BAD, bm25=GOOD, splade=GOOD, hyde=GOOD)).scores()
    assert other.loc["main-dense", "verdict"] == DOES_NOT
    assert other.loc["akarsu-hyde", "verdict"] == DOES_NOT


def test_a_sweep_is_decided_by_where_it_is_highest():
    rising = pd.DataFrame({0.0: BAD, 0.5: HALF, 0.85: GOOD, 1.0: HALF}, IDS)
    metrics = metrics_of(convex_folds=GOOD)
    metrics = pd.concat([metrics, metrics.assign(metric="ndcg", k=10)])
    board = scoreboard.Board(STUDY, metrics, rising).scores()
    assert board.loc["kim-alpha", ["estimate", "verdict"]].tolist() == [0.85, HOLDS]
    sparse = rising.set_axis([0.85, 0.5, 0.0, 1.0], axis=1)
    board = scoreboard.Board(STUDY, metrics, sparse).scores()
    assert board.loc["kim-alpha", ["estimate", "verdict"]].tolist() == [0.0, DOES_NOT]


def test_to_be_best_is_to_beat_the_strongest_rival():
    def one(estimate: float, p: float) -> Finding:
        return Finding(estimate, estimate - 0.1, estimate + 0.1, 60, 20, True, 0.0, p, p)

    decisive, rival = scoreboard.strongest({"near": one(0.05, 0.02), "far": one(0.4, 0.04)})
    assert (rival, decisive.p) == ("near", 0.04)  # the largest p: all have to be beaten
    decisive, rival = scoreboard.strongest({"ahead": one(-0.2, 0.02), "far": one(0.4, 0.001)})
    assert (rival, decisive.p) == ("ahead", 0.04)  # picked among two


def test_the_table_says_how_many_questions_would_tell():
    row = pd.Series({"verdict": CANNOT_TELL, "n": 150.0, "n_needed": 1148.0})
    assert shown_board.verdict_text(row) == "**cannot tell** with 150 questions; about 1,200 would"
    row["n_needed"] = math.inf
    assert "no number would" in shown_board.verdict_text(row)
    assert shown_board.verdict_text(pd.Series({"verdict": HOLDS})) == "**holds here**"


def test_every_claim_has_its_row_in_the_tables():
    metrics = metrics_of(dense=GOOD, bm25=BAD, splade=BAD)
    board = scoreboard.Board(STUDY, metrics).scores()
    shown = [shown_board.scoreboard_table(STUDY, metrics, board, source) for source in sources()]
    assert sum(map(len, shown)) == len(claims())
    assert "no run of hyde" in shown[0].loc[1, "Here"]
    counts = shown_board.counts_table(board, sources())
    assert counts["Claims"].sum() == len(claims())
    assert counts[HOLDS].sum() == 1
    assert len(shown_board.forest(board).axes[0].get_yticklabels()) == 1


def test_an_unknown_field_is_refused(monkeypatch):
    record = {"id": "x", "says": ">", "colour": "red"}
    monkeypatch.setattr("lib.analysis.claims._file", lambda: {"claims": [record], "margin": 0.05})
    with pytest.raises(ValueError, match="no field colour"):
        claims()


def test_missing_rows_are_named_once():
    claim = Claim("x", "s", "c", "difference", ">", ("dense",), "", b=("dense", "hyde"))
    assert missing(claim, metrics_of(bm25=BAD)) == ["dense", "hyde"]

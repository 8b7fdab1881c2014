"""Claims tested on made-up rows: each verdict, sides of tests, Holm within a source, and what is replaced."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import scoreboard as board
from lib.analysis.claims import claims
from lib.analysis.scoreboard import BOUND, NOT_MEASURED, NOT_TESTED, REPLACED, SAME, Scoreboard
from lib.analysis.statistic import HOLDS, INCONCLUSIVE, OPPOSITE, SMALLER
from lib.frames import table_bytes
from lib.metrics.frame import Metrics
from lib.profile import Settings, load_profile
from tests.made import make_study, values

N = 60
IDS = pd.Index([f"q{i:02}" for i in range(N)], name="question_id")
KINDS = ["metrics-generated"] * 30 + ["novel-generated"] * 30
QUESTIONS = pd.DataFrame({"question_id": IDS, "company": [f"c{i % 20}" for i in range(N)], "question_type": KINDS})
QUESTIONS["doc_type"] = ["10-K"] * 50 + ["8-K"] * 10
GOOD, BAD, HALF = np.ones(N), np.zeros(N), np.arange(N) % 2.0
MANY = [("doc_recall", 5), ("page_recall", 5), ("ndcg", 10), ("page_hit", 10), ("ctx_rouge_l", 5)]
#: 40 of 60 questions are 1, in every company two of three.
TWO_THIRDS = (np.arange(N) // 20 != 2).astype(float)
BM25_OVER_DENSE, BELOW_HYBRID = "akarsu2026/bm25-over-dense", "akarsu2026/crag-below-hybrid"
#: Components to the sections of a profile that have their weights.
SECTIONS = {"encoder": "embedder", "language model": "generator", "cross-encoder": "rerank", "splade": "splade"}
AKARSU, KOBEISSI = "akarsu2026bm25corrective", "kobeissi2026"


def run_of(first: np.ndarray) -> pd.DataFrame:
    """A run of one chunk a question: ``a`` or ``b``."""
    return pd.DataFrame({"question_id": IDS, "rank": 1, "chunk_id": np.where(first, "a", "b")})


def study_of(runs: dict[str, pd.DataFrame], **given) -> SimpleNamespace:
    """A study whose rows have different first chunks unless runs are given, with the components of a ``source``."""
    given |= {"questions": QUESTIONS, "method": lambda name: SimpleNamespace(chunking="")}
    there = next((claim.components for claim in claims() if claim.source == given.get("source")), {})
    study = make_study(200, 1, run=lambda name, _: runs.get(name, run_of(GOOD).assign(chunk_id=name)), **given)
    changed = {f"{SECTIONS[part]}.weights": name for part, name in there.items() if part in SECTIONS}
    own = load_profile("default").replaced(changed | {"page_scorer.max_tokens": 1024} if there else {})
    study.profile = Settings(own | study.profile)
    return study


def metrics_of(**rows: np.ndarray) -> Metrics:
    """The measures MANY of made-up rows; ``name__oracle`` is measured under the oracle document."""
    parts = []
    for name, numbers in rows.items():
        place = name.removesuffix("__oracle"), "oracle-document" if "__" in name else "standard"
        parts += [values(IDS, np.asarray(numbers, float), *measure, *place) for measure in MANY]
    return Metrics(pd.concat(parts, ignore_index=True))


def of_frames(*frames: pd.DataFrame) -> pd.DataFrame:
    return Scoreboard(study_of({}), Metrics(pd.concat(frames)), {}).scores()


def scores(sweeps=None, judge_low=None, runs=None, source=AKARSU, **rows: np.ndarray) -> pd.DataFrame:
    return Scoreboard(study_of(runs or {}, source=source), metrics_of(**rows), sweeps or {}, judge_low).scores()


def test_each_verdict_on_clear_rows():
    rows = dict.fromkeys(["bm25", "splade"], BAD) | {"dense": GOOD, "hyde_akarsu": BAD, "multi_query": BAD}
    found = scores(**rows, crag=BAD, hybrid_rrf=GOOD, dense__oracle=HALF, runs={"crag": run_of(BAD)})
    assert list(found.index) == [claim.id for claim in claims()]
    wanted = {
        "kobeissi2026/gap-baseline": NOT_MEASURED,
        "kobeissi2026/dense-over-sparse": REPLACED,
        BM25_OVER_DENSE: OPPOSITE,
        "akarsu2026/hyde-hurts": HOLDS,
        "akarsu2026/rerank-cheap": NOT_MEASURED,
        "akarsu2026/returned": BOUND,
        "akarsu2026/multi-query-nothing": SAME,
        "akarsu2026/hybrid-over-both": INCONCLUSIVE,  # as good as dense is not better
    }
    assert found.loc[[*wanted], "verdict"].to_dict() == wanted
    also = found.loc["kobeissi2026/dense-over-sparse"]
    assert also["also_estimate"] == 1.0
    assert also["also_p"] < 0.01


def test_a_small_gain_is_smaller_than_claimed():
    some, name = TWO_THIRDS.copy(), "kobeissi2026/gap-baseline"
    some[0] = 0  # .65 against .667: the claimed .14 is out of reach
    rows = metrics_of(dense__oracle=TWO_THIRDS, multi_hyde_rerank=some)
    found = Scoreboard(study_of({}, source=KOBEISSI), rows, {}).scores().loc[name]
    assert found["estimate"] == pytest.approx(1 / 60)
    assert found["high"] < found["amount"] == 0.14
    assert found["verdict"] == SMALLER
    other = study_of({}, dataset=SimpleNamespace(name="page-questions"), source=KOBEISSI)
    assert Scoreboard(other, rows, {}).scores().at[name, "verdict"] == INCONCLUSIVE, "of it no amount was claimed"


@pytest.mark.parametrize(("n_changed", "decided"), [(5, NOT_TESTED), (6, HOLDS)])  # a tenth is enough
def test_a_treatment_that_changes_nothing_is_not_tested(n_changed, decided):
    runs = {"hybrid_rrf": run_of(GOOD), "crag": run_of(np.arange(N) >= n_changed), "bm25": run_of(BAD)}
    found = scores(hybrid_rrf=GOOD, crag=BAD, bm25=BAD, runs=runs)
    assert found.loc[BELOW_HYBRID, ["changed", "verdict"]].tolist() == [pytest.approx(n_changed / 60), decided]
    for name in ("crag-below-hybrid", "crag-over-bm25"):  # of which the treatment lies between other rows
        assert ("8%" in found.at[f"akarsu2026/{name}", "missing"]) == (decided == NOT_TESTED)


def test_a_judge_by_chance_tests_nothing():
    rows = {"hybrid_rrf": GOOD, "crag": BAD, "runs": {"crag": run_of(BAD)}}
    by_chance, sound = (scores(**rows, judge_low=low).loc[BELOW_HYBRID] for low in (-0.02, 0.1))
    assert (by_chance["verdict"], sound["verdict"]) == (NOT_TESTED, HOLDS)


ALL_RRF = dict.fromkeys(["rrf_10", "rrf_30", "hybrid_rrf", "rrf_100"], HALF)
#: Rows of a claim, what is found of it, and how many components of its test are others here.
REPLACED_ROWS = {
    "kobeissi2026/page-filter-over-direct": ({"page_scorer_filing": BAD, "dense": GOOD}, "opposite sign", 1),
    "kobeissi2026/dense-over-sparse": ({"dense": GOOD, "bm25": BAD, "splade": BAD}, "same sign", 2),
    "kobeissi2026/oracle-doc-headroom": ({"dense__oracle": 1 - TWO_THIRDS}, "same sign", 1),  # a level
    "akarsu2026/depth": ({"rerank_head_50": HALF, "rerank_head_20": HALF}, "inconclusive", 1),  # named
    "akarsu2026/small-rrf-k": (ALL_RRF, "", 0),  # both sides have it
}


@pytest.mark.parametrize("name", REPLACED_ROWS)
def test_a_claim_is_replaced_where_its_sides_differ_by_a_component_that_is_not_here(name):
    rows, direction, n_parts = REPLACED_ROWS[name]
    found = scores(**rows, source="").loc[name]
    assert found[["verdict", "direction"]].tolist() == [REPLACED if n_parts else INCONCLUSIVE, direction]
    assert math.isnan(found["n_needed"]) == math.isnan(found["p_holm"]) == bool(n_parts)
    assert found["missing"].count(" in place of ") == n_parts


def test_a_correlation_is_over_strategies_and_of_rows_that_are_alike_it_is_not_measured():
    runs = [(name, "standard") for name in ("bm25", "dense", "hybrid_rrf")] + [("dense", "oracle-page")]
    right = dict(zip(runs, (0, 1, 3, 6), strict=True))
    parts = [values(IDS[:50], np.arange(50) < n, "right", None, *run) for run, n in right.items()]
    parts += [values(IDS, np.arange(N) < 10 * n, "doc_recall", 5, *run) for run, n in right.items()]
    found = of_frames(*parts).loc["akarsu2026/correlation"]
    assert (found["verdict"], found["n"]) == (HOLDS, 50)
    assert found["estimate"] == pytest.approx(np.corrcoef([0, 1, 3, 6], [0, 10, 30, 50])[0, 1])
    follow = next(claim for claim in claims() if claim.id == "kobeissi2026/follow")
    found = scores(**dict.fromkeys((one.row for one in follow.a), HALF))
    assert found.at[follow.id, "verdict"] == NOT_MEASURED


def test_the_same_fact_is_judged_once_and_what_gets_no_verdict_is_no_part_of_a_family():
    same, of = "akarsu2026/multi-query-nothing", BM25_OVER_DENSE
    both, alone = scores(dense=GOOD, bm25=BAD, multi_query=GOOD), scores(dense=GOOD, bm25=BAD)
    assert both.loc[same, ["verdict", "missing"]].tolist() == [SAME, of]
    assert both.at[of, "p_opposite"] == alone.at[of, "p_opposite"]
    assert scores(bm25=BAD, multi_query=GOOD).at[same, "verdict"] == OPPOSITE  # where the other is not measured
    rows = {"dense": GOOD, "bm25": BAD, "hybrid_rrf": GOOD, "crag": GOOD}
    untested = scores(**rows, runs=dict.fromkeys(("hybrid_rrf", "crag"), run_of(GOOD)))
    assert math.isnan(untested.at[BELOW_HYBRID, "p_holm"])
    # both claims about CRAG are tested in the second, and none of them where a component is replaced
    assert scores(**rows).at[of, "p_opposite"] / untested.at[of, "p_opposite"] == pytest.approx(4 / 2)
    assert scores(**rows, source="")["p_holm"].isna().all()


def test_variants_are_a_family_of_their_own():
    found = scores(dense=GOOD, bm25=BAD, bm25_k12=BAD, multi_query=GOOD)["p_opposite"]
    # one claim of the source has a verdict, and two variants: multi-query against dense is the other one
    assert found[BM25_OVER_DENSE] / found[f"{BM25_OVER_DENSE}/BM25 as published"] == pytest.approx(1 / 2)


def test_questions_differ_where_any_two_large_groups_do():
    rows = {"multi_hyde_rerank": HALF, "dense__oracle": np.repeat([1.0, 0.0], 30) * (np.arange(N) % 3 > 0)}
    found = scores(**rows).loc["kobeissi2026/type-varies"]
    assert found["rival"].startswith("metrics-generated − novel-generated")
    assert found[["estimate", "n", "verdict"]].tolist() == [pytest.approx(2 / 3), N, HOLDS]


def test_a_claim_without_its_rows_is_not_measured_and_not_dropped():
    found = scores(dense=HALF)
    assert found.at[BM25_OVER_DENSE, "missing"].endswith(" of bm25")
    assert set(scores(splade=HALF)["verdict"]) == {NOT_MEASURED}


def test_only_the_questions_that_are_meant_count():
    rows = {"page_scorer_filing": np.repeat([1.0, 0.0], 30), "dense__oracle": HALF}
    found = scores(**rows, multi_hyde_rerank=BAD)
    assert found.loc["kobeissi2026/metrics-above-oracle", ["estimate", "n"]].tolist() == [0.5, 30]
    assert found.loc["kobeissi2026/10q-8k-below-baseline", "n"] == 10
    # the oracle's lead is .5 on novel questions and -.5 on metrics questions
    assert found.at["kobeissi2026/domain-novel-gap", "estimate"] == 1.0
    other = Scoreboard(study_of({}), metrics_of(**rows), {})
    other.questions = other.questions.assign(question_type="page-text")
    assert other.scores().at["kobeissi2026/metrics-above-oracle", "verdict"] == NOT_MEASURED


@pytest.mark.parametrize(
    ("weights", "highest", "decided"), [([0.0, 0.5, 0.85, 1.0], 0.85, HOLDS), ([0.85, 0.5, 0.0, 1.0], 0.0, OPPOSITE)]
)
def test_a_sweep_is_decided_by_where_it_is_highest(weights, highest, decided):
    swept, name = pd.DataFrame([BAD, HALF, GOOD, HALF], weights, IDS).T, "kim2025/alpha-financebench"
    found = scores({"convex_softmax_folds": swept}, dense=HALF, source="kim2025financial")
    assert found.loc[name, ["estimate", "verdict"]].tolist() == [highest, decided]


def beside(tmp_path, rows: Metrics | None = None, **given) -> pd.DataFrame:
    return board.beside(study_of({}, home=tmp_path, published=None), rows or metrics_of(splade=GOOD), **given)


def test_failures_of_fusion_that_both_retrievers_miss(monkeypatch, tmp_path):
    known = pd.DataFrame({"question_id": IDS, "is_found": GOOD.astype(object), "figure_share": 0.3, "term_share": 0.5})
    known.loc[:3] = [[f"q0{i}", 0, share, 0.4 + 0.1 * (i == 3)] for i, share in enumerate((0.3, 0.4, 0.5, 0.29))]
    monkeypatch.setattr(board, "failed_questions", lambda study, name: known)
    fused, bm25 = GOOD.copy(), GOOD.copy()
    fused[:4], bm25[:3] = 0, 0  # four failures, of which BM25 misses three and dense all
    found = beside(tmp_path, metrics_of(hybrid_rrf=fused, bm25=bm25, dense=fused)).groupby("metric")["value"]
    assert [*found.groups] == ["missed_by_both", "table_failure", "vocabulary_failure"]
    assert found.agg(["size", "mean"]).to_numpy().tolist() == [[4, 0.75]] * 3


def test_answers_are_the_published_ones_where_chapter_6_has_not_run_here_unlike_another(tmp_path):
    published = SimpleNamespace(metrics=values(IDS[:2], [1.0, 0.0], "numeric_match", method="dense"))
    study = study_of({}, home=tmp_path, published=published)
    for name, kept in (("refusal", [1, 0]), ("numeric_match", [0, 0])):
        table = values(IDS[:2], [0.0, 0.0], name, method="dense")
        (tmp_path / board.METRICS_FILE).write_bytes(table_bytes(table))
        found = board.beside(study, metrics_of(splade=GOOD))
        assert found.loc[found["metric"] == "numeric_match", "value"].tolist() == kept


def test_weights_corrections_and_kept_pages_come_from_what_measured_them(tmp_path):
    swept = [(percent / 100, "q00", percent == 50) for percent in (20, *board.FIXED)]
    labels = pd.DataFrame({"question_id": ["q00", "q01"], "label": ["RELEVANT", "IRRELEVANT"]})
    kept = {
        ("ablation", "full", "filing", 5): 1.0,
        ("ablation", "light", "filing", 5): 0.0,
        ("pages", "full", "filing", 5): 0.0,
        ("pages", "full", "company", 10): 0.5,
        ("pages", "untrained", "", 10): 0.25,
    }
    softmax = pd.DataFrame(swept, columns=["alpha", "question_id", "doc_recall"])
    found = beside(tmp_path, kept_pages=pd.DataFrame(kept, IDS[::-1]), softmax=softmax, labels=labels)
    assert found.query("metric == 'corrected'")["value"].tolist() == [0.0] + [1.0] * (N - 1)
    assert found.loc[found["metric"] == "stage_one", "question_id"].tolist() == [*IDS] * 2, "in the questions' order"
    found = found[(found["metric"] != "corrected") & (found["question_id"] == "q00")]
    assert found[["method", "metric", "k", "value"]].to_numpy().tolist() == [
        *(["convex_softmax_folds", f"alpha_{n}", 5, float(n == 50)] for n in (30, 50, 70, 90)),
        ["page_scorer_filing", "pages_5", pd.NA, 1.0],
        ["page_scorer", "stage_one", 10, 0.5],
        ["page_then_chunk", "stage_one", 10, 0.25],
    ]


def test_power_by_source_has_medians_over_its_tested_claims_about_a_mean():
    rows = [
        ("x", 0.2, -0.1, 0.1, 0.25, 100, ">"),
        ("x", 0.2, -0.3, 0.3, 0.25, 400, ">"),
        ("x", 0.2, -9.0, 9.0, 0.25, 100, "<="),  # an interval of 90 %
        ("x", 0.2, -9.0, 9.0, np.nan, 100, ">"),  # no mean
        ("y", np.nan, -9.0, 9.0, 0.25, 100, ">"),  # not tested
    ]
    found = board.power_by_source(pd.DataFrame(rows, columns="source p_holm low high spread n says".split()))
    assert list(found.index) == ["x"]
    assert found.loc["x", ["half_width", "tests"]].tolist() == pytest.approx([0.2, 4])
    assert found.at["x", "detects"] == pytest.approx(2.4865 * 0.5 / 10, abs=1e-4)
    assert found.at["x", "detects_holm"] > found.at["x", "detects"]

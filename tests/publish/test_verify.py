"""``make verify``: a fresh computation is compared row by row, and a difference is named."""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from extras.publish import verify
from extras.publish.compare import compare_approximate, compare_metrics, compare_runs, compare_tables, difference
from extras.publish.verify import measured
from lib import studies
from lib.data.dataset import read_dataset
from lib.evaluation import chunk_texts, evaluate, evaluate_given
from lib.models.encoders import PRECISION, automatic_precision
from lib.published import METRICS_FILE
from lib.schema import Names, StudyError
from lib.studies import OUTPUTS_VARIABLE
from tests.breaking.test_follows import RECALL, cell, republish
from tests.made import values


def metrics(metric: str, value: float, question_id: str = "q1") -> pd.DataFrame:
    return values([question_id], [value], metric, 5, "bm25")


def run(scores: dict[str, float]) -> pd.DataFrame:
    rows = [("q1", rank, chunk_id, np.float32(score)) for rank, (chunk_id, score) in enumerate(scores.items(), 1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "chunk_id", "score"])


#: A metric of a question as it was published and as it is now, and the verdict.
METRICS = {
    ("page_recall", "q1"): (0.5, 0.5 + 1e-12, "equal"),
    ("page_hit", "q1"): (0.5, 0.501, "differs"),
    ("page_hit", "q2"): (0.5, None, "differs"),
    ("ctx_bleu", "q1"): (0.5, 0.504, "within"),
    ("ctx_bleu", "q2"): (0.5, 0.506, "differs"),
    ("ndcg", "q1"): (0.5, 0.5, "equal"),
    ("ndcg", "q2"): (None, 0.5, "differs"),
    ("new", "q1"): (None, 0.5, None),  # of which nothing is published yet
    ("map", "q1"): (0.5, None, None),  # which is not measured now
}


def test_each_metric_has_its_own_tolerance_and_a_row_of_one_side_alone_differs():
    then, now = [], []
    for (name, question_id), (before, after, _) in METRICS.items():
        then += [metrics(name, before, question_id)] if before else []
        now += [metrics(name, after, question_id)] if after else []
    found = compare_metrics(pd.concat(then), pd.concat(now))
    verdicts = found.set_index([found["what"].str.removesuffix("@5"), "question_id"])["verdict"].to_dict()
    assert verdicts == {place: verdict for place, (_, _, verdict) in METRICS.items() if verdict}


def test_a_chapter_s_tables_are_compared_cell_by_cell_by_their_numbers(tmp_path):
    assert difference("0.46 [0.38, 0.54]", "0.46 [0.38, 0.55]") == pytest.approx(0.01)
    assert difference("0.5", "−0.5") == 1
    assert difference("Dense", "BM25") == difference("0.5", None) == float("inf")
    then = {"a": "Method,Page recall,BLEU\nDense,0.31,0.201\n", "b": "n\n3\n", "costs": "Index (s)\n1\n"}
    now = {"a": "Method,Page recall,BLEU\nDense,0.32,0.204\n", "b": "n\n3\n4\n", "costs": "Index (s)\n2\n"}
    for folder, tables in ((tmp_path / "then", then), (tmp_path / "now", now | {"examples": "n\n3\n"})):
        folder.mkdir()
        for name, content in tables.items():
            (folder / f"{name}.csv").write_text(content)
    messages = []
    rows = compare_tables(tmp_path / "then", tmp_path / "now", "02_oracles", messages.append)
    assert (rows["condition"] + ", " + rows["question_id"] + ", " + rows["what"] + ": " + rows["verdict"]).tolist() == [
        "a, row 1, Method: equal",
        "a, row 1, Page recall: differs",
        "a, row 1, BLEU: within",
        "b, row 1, n: equal",
        "b, row 2, n: differs",
    ]
    assert [line.split(":")[0] for line in messages] == ["costs", "examples"]
    with pytest.raises(StudyError, match="no table"):
        compare_tables(tmp_path / "none", tmp_path / "now", "01_data", messages.append)


def ranked(names: str) -> dict[str, float]:
    """Scores that are no more than ranks."""
    return {name: -rank for rank, name in enumerate(names, 1)}


THREE = {"a": 2.0, "b": 0.003, "c": -2.0}  # a spread of 4
NEAR = {"a": 1.0, "b": 0.9999}  # nearly one score: as if a spread of a tenth of it
FOUR = {"a": 2.0, "b": 1.0, "c": 0.99, "d": 0.0}  # a spread of 2: within 0.02
#: Published scores in their order, those now, and the verdict at each rank.
CHANGED = {
    "within a hundredth of the spread": (THREE, THREE | {"b": 0.003 + 4 * 0.009}, "equal within equal"),
    "beyond it": (THREE, THREE | {"b": 0.003 + 4 * 0.011}, "equal differs equal"),
    "a row less": (THREE, {"a": 2.0, "b": 0.003}, "equal equal differs"),
    "nearly one score": (NEAR, {"a": 1.0009, "b": 0.9999}, "within equal"),
    "nearly one score, beyond": (NEAR, {"a": 1.002, "b": 1.001}, "differs differs"),
    "one score of 0, another now": ({"a": 0.0}, {"a": 1e-9}, "differs"),
    "neighbours changed places": (FOUR, {"a": 2.0, "c": 1.001, "b": 0.985, "d": 0.0}, "equal within within equal"),
    "the scores of the ranks, but d's own was 0": (
        FOUR, {"a": 2.0, "d": 1.0, "b": 0.99, "c": 0.0}, "equal differs within differs"
    ),
    "one from below the last rank, nearly on it": (
        FOUR, {"a": 2.0, "b": 1.0, "c": 0.99, "e": 0.001}, "equal equal equal within"
    ),
    "strangers": (FOUR, {"a": 2.0, "e": 1.0, "f": 0.99, "d": 0.0}, "equal differs differs equal"),
    "ranks of neighbours": (ranked("abcd"), ranked("acbd"), "equal within within equal"),
    "ranks two apart": (ranked("abcde"), ranked("adcbe"), "equal differs equal differs equal"),
    "ranks, two from below the last": (ranked("abcd"), ranked("abef"), "equal equal differs within"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGED)
def test_a_score_is_compared_by_the_spread_of_its_list_and_chunks_change_places_by_rounding_alone(what):
    then, now, expected = CHANGED[what]
    assert compare_runs(run(then), run(now), "bm25", "standard")["verdict"].tolist() == expected.split()


def test_an_approximate_search_is_compared_by_chunks_of_which_a_fifth_may_be_of_one_run_alone():
    def judged(then: str, now: str, moved: float = 0.0) -> dict[str, int]:
        before, after = ({name: 2.0 - ord(name) / 100 for name in names} for names in (then, now))
        fresh = run({name: score + moved for name, score in after.items()})
        return compare_approximate(run(before), fresh, "dense_chroma", "standard")["verdict"].value_counts().to_dict()

    ten = "abcdefghij"
    assert judged(ten, ten) == {"equal": 10}
    assert judged(ten, "bcdefghijk") == {"equal": 9, "within": 2}  # one was missed, and the next one moved up
    assert judged(ten, "cdefghijkl") == {"equal": 8, "differs": 4}
    assert judged(ten, ten, 0.0005) == {"within": 10}
    assert judged(ten, ten, 0.05) == {"differs": 10}


def test_metrics_of_a_question_whose_chunks_changed_places_are_those_of_the_published_ranking(study):
    fresh, texts = study.run("bm25"), chunk_texts(study)
    first, second = fresh.index[fresh["question_id"] == fresh["question_id"].iloc[0]][:2]
    published, names = fresh.copy(), ["chunk_id", "doc_name", "page"]
    published.loc[[first, second], names] = fresh.loc[[second, first], names].to_numpy()
    of_fresh, of_published = evaluate(study, "bm25"), evaluate_given(study, published, "bm25", texts)
    assert set(compare_metrics(of_published, of_fresh)["verdict"]) == {"equal", "differs"}
    for near, expected in ((1e-6, of_published), (0.5, of_fresh)):
        scores = fresh["score"].copy()
        scores[second] = scores[first] - near
        rows = compare_runs(published.assign(score=scores), fresh.assign(score=scores), "bm25", "standard")
        found = measured(study, published, rows, "bm25", "standard")
        assert set(compare_metrics(expected, found)["verdict"]) == {"equal"}


@pytest.fixture
def reports(results, small_folder, study, tmp_path, monkeypatch):
    """What verification of the small study's publication reports; its filings are on this machine."""
    monkeypatch.setattr(verify, "open_dataset", lambda *names: read_dataset(small_folder, "financebench"))
    monkeypatch.setattr(studies, "financebench_root", lambda: small_folder)
    monkeypatch.setattr(verify, "load_profile", lambda name: study.profile)
    monkeypatch.setattr(verify, "ARTIFACTS", tmp_path / "artifacts")
    return []


def test_a_true_publication_is_verified_and_a_changed_number_is_named(reports, results):
    assert verify.verify(Names(results="fresh"), ["bm25"], reports.append)
    assert results.digest in reports[0]
    assert reports[-1].endswith(" equal, 0 within, 0 differs")
    republish(results.root, METRICS_FILE, lambda table: table[table["metric"] != "ndcg"])
    verify.verify(Names(), ["bm25"], reports.append)
    assert "Not published yet, so not compared: ndcg" in reports
    republish(results.root, METRICS_FILE, cell("value", 0.25, RECALL))
    assert not verify.verify(Names(), ["bm25"], reports.append)
    assert "differs: bm25, standard, q1, page_recall@5: published 0.25, now 1.0" in reports
    assert reports[-1].endswith("1 differs")


def test_without_filings_what_follows_is_verified(reports, results, no_filings):
    assert verify.verify(Names(), ["bm25"], reports.append)
    assert "no method is run again" in reports[0]
    assert "without text" in reports[1]
    republish(results.root, METRICS_FILE, lambda table: table[table["metric"] != "ndcg"])
    verify.verify(Names(), ["bm25"], reports.append)
    assert "Not published yet, so not compared: ndcg" in reports
    republish(results.root, METRICS_FILE, cell("value", 0.25, RECALL))
    assert not verify.verify(Names(), ["bm25"], reports.append)


def test_models_compute_in_the_published_precision_and_a_processor_that_is_slow_in_it_says_so(
    reports, results, monkeypatch
):
    seen = []
    evaluated = verify.evaluate
    monkeypatch.setattr(verify, "evaluate", lambda *pair: seen.append(automatic_precision()) or evaluated(*pair))
    monkeypatch.setattr(verify, "fast_precision", lambda: "float16")
    monkeypatch.delenv(PRECISION, raising=False)
    assert verify.verify(Names(), ["bm25"], reports.append)
    assert {*seen} == {results.precision}
    assert PRECISION not in os.environ
    assert f"{results.precision}, as published, which is slow" in reports[0]


def test_what_is_not_published_or_unknown_is_an_error(reports, monkeypatch):
    with pytest.raises(StudyError, match="nothing is published of demo"):
        verify.verify(Names("demo"), "all")
    with pytest.raises(StudyError, match="'bm52'"):
        verify.verify(Names(), ["bm52"])
    with pytest.raises(StudyError, match="'nosuch'"):
        verify.verify_chapter(Names(), "nosuch")
    monkeypatch.setattr(verify, "open_dataset", lambda *names: SimpleNamespace(root="x", fingerprint="0"))
    with pytest.raises(StudyError, match="x has the fingerprint 0"):
        verify.verify(Names(), ["bm25"])


def test_a_chapter_is_run_where_nothing_published_is_used(reports, results, study, monkeypatch):
    def run(name, given, target, say):
        assert given == Names("financebench", "default", "fresh")._asdict()
        tables = Path(os.environ[OUTPUTS_VARIABLE]) / "tables"
        tables.mkdir()
        (tables / "counts.csv").write_text(f"n\n{len(study.questions)}\n")

    monkeypatch.setattr(verify.notebooks, "run", run)
    assert verify.verify_chapter(Names(), "01_data", reports.append)
    assert OUTPUTS_VARIABLE not in os.environ
    republish(results.root, "shown/tables/counts.csv", cell("n", 4, "n == n"))
    assert not verify.verify_chapter(Names(), "01_data", reports.append)

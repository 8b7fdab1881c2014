"""Runs: the order, TREC there and back, which chunks compete; and metrics merged into the file that the book shows."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from lib import runs
from lib.evaluation import METRIC_COLUMNS, merge_metrics, read_metrics
from lib.published import METRICS_FILE
from lib.schema import StudyError
from lib.study import run_digest
from tests.made import make_study

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**99), max_value=2.0**99)
SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.0000001, -np.inf, np.inf]) | FLOATS
HIGHEST = float(np.finfo(np.float32).max)
BELOW_1, BELOW_2 = 1 - 2**-24, 1 - 2**-23  # a smallest step each


def questions_of(n: int) -> pd.DataFrame:
    return pd.DataFrame({"question_id": [f"q{i}" for i in range(n)]})


def chunks_of(*names: str) -> pd.DataFrame:
    """Chunks ``A#p0000#c00`` for names such as ``A``."""
    ids = [f"{name}#p{page:04d}#c00" for page, name in enumerate(names)]
    return pd.DataFrame({"chunk_id": ids, "doc_name": names, "page": range(len(names))})


#: Names of chunks, their scores, the depth, and what is ranked.
RANKED = {
    "falling": ("ABC", [0.25, 0.75, 0.5], 20, [(1, "B", 0.75), (2, "C", 0.5), (3, "A", 0.25)]),
    "ties by chunk id": ("DBCA", [1, 1, 2, 1], 20, [(1, "C", 2), (2, "A", 1), (3, "B", BELOW_1), (4, "D", BELOW_2)]),
    "cut to depth": ("CBA", [1, 1, 1], 2, [(1, "A", 1), (2, "B", BELOW_1)]),
    "not retrieved": ("ABC", [-np.inf, 0.5, -np.inf], 20, [(1, "B", 0.5)]),
    "inf twice": ("ABC", [np.inf, 0.5, np.inf], 20, [(1, "A", np.inf), (2, "C", HIGHEST), (3, "B", 0.5)]),
}


@pytest.mark.parametrize(("names", "scores", "depth", "expected"), RANKED.values(), ids=RANKED)
def test_rank_of_one_question(names, scores, depth, expected):
    run = runs.rank(np.array([scores]), questions_of(1), chunks_of(*names), depth)
    assert list(run[["rank", "doc_name", "score"]].itertuples(index=False, name=None)) == expected


def test_a_score_that_is_none_is_an_error_that_names_its_question():
    with pytest.raises(ValueError, match="q1.*NaN"):
        runs.rank(np.array([[1.0, 2.0], [0.5, np.nan]]), questions_of(2), chunks_of("A", "B"), 20)


ROWS = st.integers(1, 8).map(lambda n: st.lists(SCORES, min_size=n, max_size=n))
MATRICES = ROWS.flatmap(lambda row: st.lists(row, min_size=1, max_size=4))


def test_trec_lines_are_as_trec_wants_them_and_equal_runs_give_equal_bytes():
    names = pd.DataFrame({"question_id": ["NA", "0012", '"quoted', "1e5"]})
    run = runs.rank(np.array([[0.1, 0.75]] * 4), names, chunks_of("nan", "3M_2018_10K"), 20)
    first, second, third, *_ = runs.trec_lines(run, "bm25").decode().splitlines()
    assert first == "NA Q0 3M_2018_10K#p0001#c00 1 0.75 bm25"
    assert second == "NA Q0 nan#p0000#c00 2 0.100000001 bm25"
    assert third.split()[0] == "0012"
    assert run_digest(run.copy(), "bm25") == run_digest(run, "bm25") != run_digest(run, "dense")


@settings(max_examples=40)
@given(MATRICES, st.integers(1, 10))
def test_outside_scorers_see_our_order_of_what_was_retrieved(matrix, depth):
    names = [f"D{(7 * i) % len(matrix[0])}" for i in range(len(matrix[0]))]
    run = runs.rank(np.array(matrix, np.float32), questions_of(len(matrix)), chunks_of(*names), depth)
    assert len(run) == sum(min(depth, sum(score > -np.inf for score in row)) for row in matrix)
    for question_id, part in run.groupby("question_id"):
        assert part["rank"].tolist() == [*range(1, len(part) + 1)]
        scores = dict(zip(part["chunk_id"], part["score"].astype(float), strict=True))
        for row in part.itertuples():
            judge = pytrec_eval.RelevanceEvaluator({question_id: {row.chunk_id: 1}}, {"recip_rank"})
            found = judge.evaluate({question_id: scores})
            assert found[question_id]["recip_rank"] == pytest.approx(1 / row.rank)


def test_to_matrix_gives_back_what_was_ranked():
    scores = np.array([[0.5, -np.inf, 0.25], [1.0, 2.0, 3.0]], np.float32)
    chunks = chunks_of("C", "B", "A")
    run = runs.rank(scores, questions_of(2), chunks, 20)
    assert runs.to_matrix(run, questions_of(2), chunks).tolist() == scores.tolist()
    assert runs.to_matrix(run, questions_of(2), chunks, -run["rank"])[1].tolist() == [-3, -2, -1]
    with pytest.raises(KeyError, match="A#p0002#c00"):
        runs.to_matrix(run, questions_of(2), chunks[:2])


CHUNKS = pd.DataFrame({"doc_name": ["A", "A", "A", "A", "B", "B"], "page": [0, 0, 1, 2, 0, 1]})
QUESTIONS = pd.DataFrame({"doc_name": ["A", "A", "B"], "gold_pages": [[0], [0, 2], [7]]})


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("standard", ["111111", "111111", "111111"]),
        ("oracle-document", ["111100", "111100", "000011"]),
        ("oracle-page", ["110000", "110100", "000000"]),  # page 0, too, and nothing where a gold page has no chunk
    ],
)
def test_a_condition_admits_every_chunk_or_the_gold_filing_s_or_the_gold_pages(condition, expected):
    matrix = runs.candidates(condition, QUESTIONS, CHUNKS)
    assert matrix.dtype == bool
    assert ["".join("01"[bit] for bit in row.astype(int)) for row in matrix] == expected


def metrics(*rows: tuple, method: str = "bm25", condition: str = "standard") -> pd.DataFrame:
    """Rows of (question_id, metric, k, value)."""
    table = pd.DataFrame([(method, condition, *row) for row in rows], columns=METRIC_COLUMNS)
    return table.astype({"k": "Int64", "value": float})


@pytest.fixture
def study(tmp_path):
    """Outputs in a folder."""
    given = {"store": SimpleNamespace(say=print), "dataset": SimpleNamespace(lacks=())}
    return make_study(outputs=tmp_path, questions=pd.DataFrame({"question_id": ["q1", "q2"]}), **given)


def test_merging_replaces_the_same_method_condition_and_metric_and_keeps_the_rest(study):
    first = metrics(("q1", "mrr", 10, 0.1), ("q2", "mrr", 10, 0.2), ("q1", "page_recall", 5, 0.3))
    merge_metrics(study, pd.concat([first, metrics(("q1", "mrr", 10, 0.4), method="dense")]))
    merge_metrics(study, metrics(("q1", "mrr", 10, 0.5)))
    other = metrics(("q1", "mrr", 10, 0.6), condition="oracle-page")
    merged, path = merge_metrics(study, other), study.outputs / METRICS_FILE
    assert merged.set_index(["method", "condition", "question_id", "metric"])["value"].to_dict() == {
        ("bm25", "standard", "q1", "mrr"): 0.5,
        ("bm25", "standard", "q1", "page_recall"): 0.3,
        ("bm25", "oracle-page", "q1", "mrr"): 0.6,
        ("dense", "standard", "q1", "mrr"): 0.4,
    }
    pd.testing.assert_frame_equal(read_metrics(path), merged)
    before = path.read_bytes()
    merge_metrics(study, pd.concat([other, first[2:]])[::-1].astype({"method": "category", "metric": "category"}))
    assert path.read_bytes() == before


def test_the_whole_of_a_metric_replaces_that_of_every_method(study):
    merge_metrics(study, metrics(("q1", "mrr", 10, 0.4), ("q1", "page_recall", 5, 0.3), method="dense"))
    whole = merge_metrics(study, metrics(("q1", "mrr", 10, 0.2)), is_whole=True)
    assert whole[["method", "metric"]].to_numpy().tolist() == [["bm25", "mrr"], ["dense", "page_recall"]]


def test_rows_of_questions_and_answers_that_the_set_no_longer_has_go(study):
    rows = [("q1", "answer_rouge_l", None, 1.0), ("q1", "ctx_bleu", 5, 1.0), ("gone", "mrr", 10, 0.1)]
    merge_metrics(study, metrics(*rows))
    study.dataset.lacks = ("answer",)
    merged = merge_metrics(study, metrics(("q1", "page_recall", 5, 0.2)))
    assert merged["metric"].tolist() == ["ctx_bleu", "page_recall"]


@pytest.mark.parametrize("content", [b"", b"no Parquet", b"PAR1 half PAR1"])
def test_a_damaged_file_of_metrics_is_one_sentence(study, content):
    (study.outputs / METRICS_FILE).write_bytes(content)
    with pytest.raises(StudyError, match=rf"{METRICS_FILE} is damaged .*; remove it, and built.json"):
        merge_metrics(study, metrics(("q1", "mrr", 10, 0.2)))

"""Recall by tokens that are read, on lists whose tokens one can add up."""

import pandas as pd
import pytest

from lib.analysis import reading
from lib.methods import METHODS
from lib.profile import Settings
from tests.analysis.conftest import DRAWS, recalls_of, refuse
from tests.made import make_study

#: Question, rank, filing, page, tokens; q1 reads 100 + 28 + 300 + 84 of its list, q2 129 and then 1.
RANKED = [("q1", 1, "B", 1, 100), ("q1", 2, "A", 3, 28), ("q1", 3, "A", 9, 300), ("q1", 4, "A", 0, 84)]
RANKED += [("q2", 2, "B", 0, 1), ("q2", 1, "C", 1, 129)]


class Words:
    """A tokenizer whose tokens are words."""

    def encode_batch(self, texts, **_):
        return [type("Encoding", (), {"ids": text.split()}) for text in texts]


@pytest.fixture
def study():
    questions = pd.DataFrame({"question_id": ["q1", "q2"], "doc_name": ["A", "B"], "gold_pages": [[0, 3], [0]]})
    questions["evidence"] = ["line 3\nline 0", "line 0"]
    run = pd.DataFrame(RANKED, columns=["question_id", "rank", "doc_name", "page", "tokens"])
    run["chunk_id"] = [f"c{row}" for row in range(len(run))]
    pages = zip(run["page"], run["tokens"], strict=True)
    texts = [f"line {page} " + "word " * (n - 2) if n > 1 else f"line{page}" for page, n in pages]
    chunks = pd.DataFrame({"chunk_id": run["chunk_id"], "text": texts, "start": 0, "end": 1})
    given = {"questions": questions, "chunks": chunks, "run": lambda name: run, "tokenizer": Words()}
    profile = Settings({"run": Settings({"depth": 4}), "siblings": Settings({"rows": [], "without": []})})
    study = make_study(**given, profile=profile, method=METHODS.get)
    study.dataset.lacks, study.with_chunks = (), lambda chunking: study
    return study


def test_a_chunk_is_read_while_it_fits_whole_and_the_first_that_does_not_ends_the_list(study):
    found = reading.recalls(study, "dense").pivot(index="tokens", columns="question_id", values="page_recall")
    assert found.loc[[128, 256, 512, 1024]].to_numpy().tolist() == [[0.5, 0], [0.5, 1], [1, 1], [1, 1]]
    lines = reading.recalls(study, "dense").pivot(index="tokens", columns="question_id", values="line_recall")
    assert lines.equals(found)  # each page is one chunk here


def test_nothing_is_said_beyond_the_depth_of_a_run_but_a_list_of_all_that_there_is_does_not_end(study, monkeypatch):
    found = reading.recalls(study, "dense").pivot(index="tokens", columns="question_id", values="is_ended")
    assert found.loc[[256, 512]].to_numpy().tolist() == [[False, False], [True, False]]  # q2 has less than the depth
    kept = reading.values(study, ["dense"]).columns
    assert set(kept.get_level_values("tokens")) == {128, 256}
    monkeypatch.setattr(reading, "MAX_ENDED", 0.5)
    assert set(reading.values(study, ["dense"]).columns.get_level_values("tokens")) == {*reading.BUDGETS}


def test_what_cannot_be_measured_has_no_columns(study):
    study.dataset.lacks = ("evidence",)
    assert set(reading.values(study, ["dense"]).columns.get_level_values("metric")) == {"page_recall"}
    assert reading.values(study, ["dense_rerank"]).empty  # is not among those that are compared
    study.run = refuse
    assert reading.values(study, ["dense"]).shape == (2, 0)


def at_budget(**shares: dict[str, float]) -> pd.DataFrame:
    """What each method finds by metric within TESTED_AT, as :func:`lib.analysis.reading.values`; with more, all."""
    recalls = pd.concat({metric: recalls_of(**of) for metric, of in shares.items()}, axis=1)
    budgets = {reading.TESTED_AT: recalls, 8192: recalls.clip(lower=1.0)}
    found = pd.concat(budgets, axis=1, names=["tokens", "metric", "method"])
    return found.reorder_levels(["method", "metric", "tokens"], axis=1)


def test_rows_are_tested_against_those_that_they_are_meant_to_beat():
    better, other = reading.SHORT
    recall = {reading.LONG: 0.2, better: 0.5, other: 0.4, "ahead": 0.8, "dense": 0.1}
    lines = {"ahead": 0.5, better: 0.25, other: 0.25}
    found = reading.tested(at_budget(page_recall=recall, line_recall=lines), DRAWS)
    of_pages, of_lines = (found[found["metric"] == metric].set_index("method") for metric in reading.MEASURES)
    assert of_pages["reference"].to_dict() == {better: reading.LONG, other: reading.LONG, "ahead": better}
    assert of_pages["difference"].round(9).tolist() == [0.3, 0.2, 0.3]
    assert of_lines["difference"].to_dict() == {"ahead": 0.25}
    assert reading.tested(at_budget(page_recall={"ahead": 0.8, reading.LONG: 0.2}), DRAWS).empty
    longer = {"fixed_256_records": 0.3, "fixed_128_records": 0.5, "hybrid_fixed_256_covers": 0.4}
    found = reading.longer_tested(at_budget(page_recall=longer, line_recall=longer), DRAWS).set_index("method")
    assert found["reference"].to_dict() == {"fixed_256_records": "fixed_128_records"}
    assert found["difference"].round(9).tolist() == [-0.2, -0.2]

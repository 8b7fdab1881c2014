"""Answers: how a context is filled, the one prompt, resuming, and scoring with missing answers."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.analysis.answered import held, word_share
from lib.answers import answers as generation
from lib.answers.answers import ANSWER_METRICS, Answers, answer_rows, answers, plan, prompt, score
from lib.answers.prompt_context import NONE, ORACLES, Context, context, contexts, fill, order_of_segments
from lib.method_sets import best_standard
from lib.metrics.frame import Metrics, long_frame
from lib.schema import StudyError

DENSE = Context("dense", "dense")
WORDS = SimpleNamespace(  # a tokenizer of words
    encode=lambda text, **_: SimpleNamespace(offsets=[match.span() for match in re.finditer(r"\S+", text)])
)


def first_word(prompt: str) -> str | None:
    """What is answered, the context's first word; where that is ``fail``, nothing is."""
    word = prompt.removeprefix("Context:\n").split()[0]
    return None if word == "fail" else word


@pytest.fixture
def study_of(written_study):
    """Make a study with one question a key, whose run has these chunks in this order; the answers' number is 7."""

    def make(**texts: list[str]):
        small = {"n_chunks": 2, "segment": 4, "context_tokens": 8, "max_tokens": 8}
        settings = {f"answers.{name}": value for name, value in small.items()} | {"generator.weights": "small"}
        chunks = [text for part in texts.values() for text in part]
        study = written_study(["net sales"] * len(texts), chunks, first_word, **settings)
        about = {"answer": "$7", "question_type": "metrics-generated", "company": "Acme"}
        study.questions = study.questions.assign(question_id=list(texts), **about)
        run = study.chunks.assign(question_id=np.repeat(list(texts), [len(part) for part in texts.values()]))
        run["rank"] = run.groupby("question_id").cumcount() + 1
        study.run = lambda method, condition: run.drop(columns="text")
        study.run_entry = lambda method, condition: SimpleNamespace(digest="r")
        study.need_answers, study.settings_of = lambda what: None, lambda sections: {}
        study.dataset.fingerprint = "f"
        return study

    return make


@pytest.mark.parametrize(
    ("question", "chunks", "order"),
    [  # rounds take the best segment of every chunk before the second best of any
        ("net sales?", [["other words", "net sales rose"], ["net", "costs"]], [(0, 1), (1, 0), (0, 0), (1, 1)]),
        # a rarer word weighs more: log(1 + 3/2) for sales, log(1 + 3/1) for net
        ("net sales", [["sales", "sales", "net"]], [(0, 2), (0, 0), (0, 1)]),
    ],
)
def test_the_order_of_segments(question, chunks, order):
    assert order_of_segments(question, chunks) == order


@given(st.lists(st.lists(st.text("ab \n", max_size=9), max_size=4), max_size=4), st.integers(1, 12))
def test_a_context_never_exceeds_its_room_and_holds_all_that_fits_by_rank_and_place(chunks, n_tokens):
    filled = fill("a b", chunks, n_tokens, WORDS)
    n_words = sum(len(text.split()) for _, text in filled)
    assert n_words == min(n_tokens, sum(len(text.split()) for part in chunks for text in part))
    assert [number for number, _ in filled] == sorted(number for number, _ in filled)
    assert fill("net", [["a b c", "net d e"], ["net f g", "h"]], 4, WORDS) == [(0, "net d e"), (1, "net")]


def test_contexts_join_what_is_read(study_of):
    study = study_of(q1=["cash rose in year net sales", "net profit"], q2=[])
    found = contexts(study, DENSE)
    assert found == {"q1": "cash rose in year\nnet sales\n\nnet profit", "q2": ""}  # segments of four words
    assert contexts(study, Context(NONE)) == {"q1": "", "q2": ""}
    assert prompt("What?", found["q1"]).user.endswith("net profit\n\nQuestion: What?\n\nAnswer:")
    assert "(no document segments)" in prompt("What?", "").user


def test_a_context_knows_its_run_and_title():
    known = {("best-baseline", "bm25"): (("bm25", "standard"), "best standard method (BM25)")}
    known |= {("oracle-page", "hyde", "dense"): (("dense", "oracle-page"), "pages given (Dense)")}
    known |= {("bm25",): (("bm25", "standard"), "BM25"), (NONE,): ((NONE, "standard"), "no context")}
    found = {names: context(*names) for names in known}
    assert {names: (one.run, one.title) for names, one in found.items()} == known


def test_trained_methods_are_planned_where_they_are_and_the_best_baseline_has_the_highest_page_recall():
    found = {one.name: one.method for one in plan(["ahead", "bm25", "page_scorer"], "bm25")}
    searched = {"page_scorer": "page_scorer", "ahead": "ahead"} | dict.fromkeys(ORACLES, "bm25")
    assert found == {NONE: "none", "best-baseline": "bm25"} | searched
    assert [one.method for one in plan(["bm25", "dense"], "bm25")] == ["none", "bm25", "dense", "dense"]
    rows = long_frame(pd.Series([0.5, 0.5, 0.25], ["q"] * 3), "page_recall", 5)
    table = rows.assign(method=["hyde", "bm25", "dense"], condition="standard")
    assert best_standard(Metrics(table).means("page_recall", 5)) == "bm25"  # a tie goes to the first name
    with pytest.raises(StudyError, match="add methods"):
        best_standard(Metrics(table[:0]).means("page_recall", 5))
    with pytest.raises(StudyError, match="google"):
        context("google")


def test_answers_are_written_once_what_failed_is_missing_and_each_has_its_effort(study_of):
    study = study_of(q1=["$7"], q2=["fail"])
    first = answers(study, DENSE)
    assert (first.texts, list(first.filled.missing)) == ({"q1": "$7"}, ["q2"])
    assert generation.effort(study, first).to_numpy().tolist() == [["q1", 50, 0.1, False]]
    assert dict(answers(study, DENSE).filled.origins) == {"reused": 1}
    assert len(study.generator.asked) == 3  # the one that failed was tried again


def test_the_first_questions_of_each_type_are_answered(study_of):
    study = study_of(**{name: [f"${name}"] for name in "abcd"})
    study.questions["question_type"] = ["x", "y", "x", "x"]
    assert len(answers(study, DENSE).texts) == 4
    study.profile.answers["of_each_type"] = 2
    written = answers(study, DENSE)
    assert list(written.texts) == score(study, written)["question_id"].unique().tolist() == ["a", "b", "c"]


@pytest.fixture
def letters(monkeypatch):
    """An encoder to which every character is a token with a direction of its own."""
    encode = lambda texts: [np.eye(128)[[*map(ord, text)]] for text in texts]  # noqa: E731
    monkeypatch.setattr(generation, "load_encoder", lambda *settings: SimpleNamespace(encode_tokens=encode))
    monkeypatch.setattr(generation, "fetch", lambda weights: weights)
    monkeypatch.setattr(generation, "weights_hash", lambda weights: "h")


def test_a_missing_answer_scores_zero_in_all_and_answers_are_rows_by_context_prompt_and_generator(study_of, letters):
    study = study_of(q1=[], q2=[])
    table = score(study, Answers(DENSE, {"q1": "It was $7."}))
    values = table.set_index(["question_id", "metric"])["value"]
    assert {*table["metric"], "answer_right", "bert_score"} == set(ANSWER_METRICS)
    assert values["q1", "numeric_match_strict"] == 1
    assert (values["q2"] == 0).all()  # nor does it count as declined
    rows = answer_rows(study, pd.concat([table[:1], table[:1].assign(method="bm25")]), [DENSE])
    assert rows.to_numpy().tolist() == [["dense", "plain", "small", "q1", *table.loc[0, ["metric", "value"]]]]
    alike = generation.bert_scores(study, Answers(DENSE, {"q1": "$7.0"}))
    # of "$7.0" two of four characters are in "$7", and all of "$7" are in it: F1 of 1/2 and 1
    assert alike.set_index("question_id")["value"].to_dict() == {"q1": pytest.approx(2 / 3), "q2": 0.0}
    assert alike[["metric", "method"]].drop_duplicates().to_numpy().tolist() == [["bert_score", "dense"]]


@pytest.mark.parametrize(("last", "n_stored"), [("$8", 3), ("fail", 0)])
def test_scores_are_stored_when_no_answer_is_missing(last, n_stored, study_of, letters):
    study = study_of(q1=["$7"], q2=[last])
    assert generation.scores(study, [DENSE])["value"].sum() > 0
    assert len(study.store.log) == n_stored


def test_what_a_context_contains_is_counted_on_gold_pages_and_in_words_of_the_evidence():
    shares = [word_share("net net sales", text) for text in ("sales: net, and net; NET", "net")]
    assert [*shares, word_share("", "net")] == [1, 1 / 3, 0]
    asked = {"question_id": ["q1", "q2"], "question": ["net sales", "why"], "answer": ["$7", "so"]}
    asked |= {"question_type": ["metrics-generated", "novel-generated"], "doc_name": ["D", "D"]}
    questions = pd.DataFrame(asked | {"gold_pages": [[0, 2], [1]], "evidence": ["net sales", "cash flow"]})
    rows = [("q1", "D", 0, "net"), ("q1", "E", 2, "sales of 7"), ("q2", "D", 1, "cash flow")]
    found = held(questions, pd.DataFrame(rows, columns=["question_id", "doc_name", "page", "text"]))
    shares = found[["gold_pages", "evidence_words", "answer_number"]].fillna(-1)
    assert shares.to_numpy().tolist() == [[0.5, 0.5, 1.0], [1.0, 1.0, -1]]

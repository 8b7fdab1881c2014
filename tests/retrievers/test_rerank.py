"""Reranking: what is read, what it scores as, and that no pair is scored twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.models.cross_encoder import passages_of
from lib.retrievers import rerank


class SharedWords:
    """Scores a pair by how often the passage has the words of the question; notes what it read."""

    def __init__(self, tokenizer, window: int):
        self.tokenizer, self.window, self.read = tokenizer, window, []

    def scores(self, pairs) -> np.ndarray:
        self.read += pairs
        assert all(len(self.tokenizer.encode(*pair).ids) <= self.window for pair in pairs)
        return np.array([sum(passage.split().count(word) for word in question.split()) for question, passage in pairs])


@pytest.fixture
def study(fake_study, tokenizer_folder, wordpiece, monkeypatch):
    filler = " ".join(["in the year"] * 30)
    texts = [f"net {filler} cash flow", f"cash {filler} net", "profit", "cash flow"]
    first_stage = {"dense": np.array([[0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.9, 0.8]])}
    profile = {"rerank": {"weights": str(tokenizer_folder), "window": 64, "n": 3}}
    made = fake_study(["cash flow", "net profit"], texts, profile, first_stage)
    monkeypatch.setattr(rerank, "load_cross_encoder", lambda weights, window: SharedWords(wordpiece, window))
    return made


EVERY, NONE = np.ones((2, 4), bool), -np.inf


def test_the_first_n_candidates_score_as_their_best_window_and_the_rest_is_not_retrieved(study):
    assert rerank.score(study, EVERY).tolist() == [[2, 1, 0, NONE], [NONE, 1, 1, 0]]
    allowed = np.array([[False, True, False, True], [False, False, False, True]])
    assert rerank.score(study, allowed).tolist() == [[NONE, 1, NONE, 2], [NONE, NONE, NONE, 0]]
    assert rerank.score(study, EVERY, n=1).tolist() == [[2, NONE, NONE, NONE], [NONE, NONE, 1, NONE]]


def test_no_pair_is_scored_twice_also_by_another_first_stage_unless_its_text_changes(study):
    rerank.score(study, EVERY, n=2)
    read = study.kept[rerank.cross_encoder.key(64)].read
    read.clear()
    study.scores["bm25"] = study.scores["dense"]
    rerank.score(study, EVERY, first_stage="bm25")
    assert read[:1] == [("cash flow", "profit")]  # the third
    assert {pair[0] for pair in read[1:]} == {"net profit"}
    read.clear()
    study.chunks.loc[2, "text"] = "net profit rose"
    assert rerank.score(study, EVERY)[1, 2] == 2
    assert {passage for _, passage in read} == {"net profit rose"}


def test_the_heads_only_are_read_where_that_is_asked_for(study):
    pool = study.rank_method("dense", EVERY, 3)[lambda run: run["question_id"] == "q0"]
    assert rerank.pool_scores(study, pool, head_tokens=48).tolist() == [0, 1, 0]
    assert len(study.kept[rerank.cross_encoder.key(48)].read) == len(pool)
    assert rerank.pool_scores(study, pool).tolist() == [2, 1, 0]


def test_another_first_stage_gives_other_chunks(study):
    study.scores["bm25"] = -study.scores["dense"]
    scores = rerank.score(study, EVERY, head_tokens=48, n=2, first_stage="bm25")
    assert scores.tolist() == [[NONE, NONE, 0, 2], [1, 0, NONE, NONE]]


WORDS = st.lists(st.sampled_from(["net", "sales", "$1,577.", "rose.b", "zz", "中文"]), max_size=60)
TEXTS = WORDS.map(lambda words: " ".join(f"{word}{number}" for number, word in enumerate(words)))


@given(TEXTS, st.sampled_from(["cash", "net sales rose in the year", ""]))
def test_passages_fit_beside_the_question_and_drop_nothing(wordpiece, text, question):
    window, overlap = 48, 8
    passages = passages_of(question, text, wordpiece, window, overlap)
    assert all(len(wordpiece.encode(question, passage).ids) <= window for passage in passages)
    position, covered = 0, 0
    for passage in passages:
        start = text.index(passage, position)
        assert not text[covered:start].strip()
        position, covered = start, max(covered, start + len(passage))
    assert not text[covered:].strip()


def test_a_text_that_fits_is_one_passage_and_a_question_that_fills_the_window_still_has_passages(wordpiece):
    assert passages_of("cash", "net sales rose", wordpiece, 64) == ["net sales rose"]
    passages = passages_of("cash " * 60, "net sales " * 100, wordpiece, 64)
    assert " ".join(passages).split().count("sales") >= 100

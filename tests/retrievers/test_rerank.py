"""Reranking: what is read, what it scores as, and that no pair is scored twice."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.models.cross_encoder import passages_of
from lib.retrievers import rerank


class SharedWords:
    """Scores a pair by how often the passage has the words of the question; notes what all such read."""

    read: ClassVar[list] = []

    def __init__(self, tokenizer, window: int):
        self.tokenizer, self.window = tokenizer, window

    def scores(self, pairs) -> np.ndarray:
        self.read += pairs
        assert all(len(self.tokenizer.encode(*pair).ids) <= self.window for pair in pairs)
        return np.array([sum(passage.split().count(word) for word in question.split()) for question, passage in pairs])


@pytest.fixture
def study(fake_study, tokenizer_folder, wordpiece, monkeypatch):
    filler = " ".join(["in the year"] * 30)
    texts = [f"net {filler} cash flow", f"cash {filler} net", "profit", "cash flow"]
    dense = np.array([[0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.9, 0.8]])
    profile = {"rerank": {"weights": str(tokenizer_folder), "window": 64, "n": 3}}
    monkeypatch.setattr(rerank, "load_cross_encoder", lambda weights, window: SharedWords(wordpiece, window))
    return fake_study(["cash flow", "net profit"], texts, profile, {"dense": dense, "bm25": -dense})


EVERY, NONE = np.ones((2, 4), bool), -np.inf
SOME = np.array([[False, True, False, True], [False, False, False, True]])


@pytest.mark.parametrize(
    ("allowed", "options", "scores"),
    [
        (EVERY, {}, [[2, 1, 0, NONE], [NONE, 1, 1, 0]]),
        (SOME, {}, [[NONE, 1, NONE, 2], [NONE, NONE, NONE, 0]]),
        (EVERY, {"n": 2, "head_tokens": 48, "first_stage": "bm25"}, [[NONE, NONE, 0, 2], [1, 0, NONE, NONE]]),
    ],
)
def test_the_first_candidates_score_as_their_best_window_or_head(study, allowed, options, scores):
    assert rerank.score(study, allowed, **options).tolist() == scores


def test_no_pair_is_scored_twice_also_by_another_first_stage_unless_its_text_changes(study):
    def passages(**options) -> set[str]:
        SharedWords.read.clear()
        rerank.score(study, EVERY, **options)
        return {passage for question, passage in SharedWords.read if question == "cash flow"}

    assert len(passages(n=2)) > 2
    assert passages(n=2) == set()
    assert passages(first_stage="bm25") == {"cash flow", "profit"}
    study.chunks.loc[2, "text"] = "net profit rose"
    assert passages() == {"net profit rose"}
    of_windows = rerank.score(study, EVERY)
    assert (rerank.score(study, EVERY, head_tokens=64) != of_windows).any()
    study.profile.rerank["window"] = 48
    assert passages()


WORDS = st.lists(st.sampled_from(["net", "sales", "$1,577.", "rose.b", "zz", "中文"]), max_size=60)
TEXTS = WORDS.map(lambda words: " ".join(f"{word}{number}" for number, word in enumerate(words)))


@given(TEXTS, st.sampled_from(["cash", "net sales rose in the year", "", "cash " * 60]))
def test_passages_fit_beside_the_question_and_drop_nothing(wordpiece, text, question):
    passages = passages_of(question, text, wordpiece, 48, 8)
    if len(question) < 48:  # one that fills the window is cut
        assert all(len(wordpiece.encode(question, passage).ids) <= 48 for passage in passages)
    position, covered = 0, 0
    for passage in passages:
        start = text.index(passage, position)
        assert not text[covered:start].strip()
        position, covered = start, max(covered, start + len(passage))
    assert not text[covered:].strip()

"""Reranking: what is read, what it scores as, and that no pair is scored twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.models.cross_encoder import passages_of
from lib.retrievers import rerank


class SharedWords:
    """Scores a pair by the words of the question that the passage has; notes what it read."""

    def __init__(self, tokenizer, window: int):
        self.tokenizer, self.window, self.read = tokenizer, window, []

    def scores(self, pairs) -> np.ndarray:
        self.read += pairs
        for question, passage in pairs:
            assert len(self.tokenizer.encode(question, passage).ids) <= self.window
        return np.array([sum(word in passage.split() for word in question.split()) for question, passage in pairs])


@pytest.fixture
def study(fake_study, tokenizer_folder, wordpiece):
    filler = " ".join(["in the year"] * 30)
    texts = [f"net {filler} cash flow", f"cash {filler} net", "profit", "cash flow"]
    first_stage = {"dense": np.array([[0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.9, 0.8]])}
    profile = {"rerank": {"weights": str(tokenizer_folder), "window": 64, "n": 3}}
    made = fake_study(["cash flow", "net profit"], texts, profile, first_stage)
    made.kept["cross_encoder", 64] = SharedWords(wordpiece, 64)
    return made


EVERY = np.ones((2, 4), bool)


def test_the_first_n_score_as_their_best_window_and_the_rest_is_not_retrieved(study):
    assert rerank.score(study, EVERY).tolist() == [[2, 1, 0, -np.inf], [-np.inf, 1, 1, 0]]


def test_only_candidates_are_read(study):
    allowed = np.array([[False, True, False, True], [False, False, False, True]])
    none = -np.inf
    assert rerank.score(study, allowed).tolist() == [[none, 1, none, 2], [none, none, none, 0]]


def test_no_pair_is_scored_twice_also_by_another_first_stage(study):
    rerank.score(study, EVERY)
    n_read = len(study.kept["cross_encoder", 64].read)
    rerank.score(study, EVERY)
    study.scores["multi_hyde"] = study.scores["dense"]
    rerank.score(study, EVERY, first_stage="multi_hyde")
    assert len(study.kept["cross_encoder", 64].read) == n_read


def test_a_pair_is_scored_again_when_its_text_changes(study):
    rerank.score(study, EVERY)
    study.kept["cross_encoder", 64].read.clear()
    study.chunks.loc[2, "text"] = "net profit rose"
    assert rerank.score(study, EVERY)[1, 2] == 2
    assert {passage for _, passage in study.kept["cross_encoder", 64].read} == {"net profit rose"}


def test_the_heads_only_are_read_where_that_is_asked_for(study, wordpiece):
    study.kept["cross_encoder", 48] = SharedWords(wordpiece, 48)
    pool = study.rank_method("dense", EVERY, 3)[lambda run: run["question_id"] == "q0"]
    assert rerank.pool_scores(study, pool, head_tokens=48).tolist() == [0, 1, 0]
    assert len(study.kept["cross_encoder", 48].read) == len(pool)
    assert rerank.pool_scores(study, pool).tolist() == [2, 1, 0]


def test_a_text_that_fits_is_one_passage(wordpiece):
    assert passages_of("cash", "net sales rose", wordpiece, 64) == ["net sales rose"]


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


def test_a_question_that_fills_the_window_still_has_passages(wordpiece):
    text = "net sales " * 100
    passages = passages_of("cash " * 60, text, wordpiece, 64)
    assert " ".join(passages).split().count("sales") >= 100


ONE = np.ones((1, 4), bool)


class Counting:
    """Scores a passage by how often it says cash; notes what it read."""

    def __init__(self):
        self.read = []

    def scores(self, pairs) -> np.ndarray:
        self.read += [passage for _, passage in pairs]
        return np.array([passage.split().count("cash") for _, passage in pairs], float)


@pytest.fixture
def deep_study(fake_study, tokenizer_folder):
    late = "net " * 60 + "cash cash cash"
    first_stages = {"dense": np.array([[0.9, 0.8, 0.7, 0.6]]), "bm25": np.array([[1.0, 2.0, 3.0, 4.0]])}
    made = fake_study(
        ["cash"],
        ["net", late, "cash cash", "cash"],
        {"rerank": {"weights": str(tokenizer_folder), "window": 64}},
        first_stages,
    )
    made.kept["cross_encoder", 32] = Counting()
    return made


def test_the_first_n_are_read_and_the_rest_is_not_retrieved(deep_study):
    assert rerank.score(deep_study, ONE, head_tokens=32, n=3).tolist() == [[0, 0, 2, -np.inf]]


def test_another_first_stage_gives_other_chunks(deep_study):
    assert rerank.score(deep_study, ONE, head_tokens=32, n=2, first_stage="bm25").tolist() == [[-np.inf, -np.inf, 2, 1]]


def test_a_deeper_row_reads_only_what_a_shallower_did_not(deep_study):
    rerank.score(deep_study, ONE, head_tokens=32, n=2)
    deep_study.kept["cross_encoder", 32].read.clear()
    rerank.score(deep_study, ONE, head_tokens=32, n=4)
    assert deep_study.kept["cross_encoder", 32].read == ["cash cash", "cash"]

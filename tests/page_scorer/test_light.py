"""The light page scorer: its loss, that it learns what can be learnt, and nothing from test questions."""

import math
from dataclasses import replace
from itertools import product, starmap

import numpy as np
import pytest
import torch

from lib.folds import assign_folds
from lib.page_scorer.residual import SCALE, FoldData, LightScorer, Plan, gold_loss
from lib.profile import Settings

N_QUESTIONS, N_PAGES, DIMENSION = 60, 300, 16
SETTINGS = {"rank": 16, "learning_rates": [0.02, 0.001], "sides": ["question", "both"], "inner_folds": 3, "seed": 1}
SETTINGS = Settings(SETTINGS | {"max_steps": 20, "check_every": 20})


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def rotated() -> FoldData:
    """Questions that would equal their gold pages, were their space not rotated."""
    random = np.random.default_rng(3)
    pages = unit(random.normal(size=(N_PAGES, DIMENSION)))
    rotation = np.linalg.qr(random.normal(size=(DIMENSION, DIMENSION)))[0]
    gold = np.eye(N_PAGES, dtype=bool)[random.permutation(N_PAGES)[:N_QUESTIONS]]
    questions = unit(gold @ pages @ rotation + 0.05 * random.normal(size=(N_QUESTIONS, DIMENSION)))
    return FoldData(questions, pages, gold, np.ones(N_PAGES, bool), np.arange(N_QUESTIONS).astype(str), SETTINGS)


def recall_at_5(scores: np.ndarray, gold: np.ndarray) -> float:
    return ((scores > scores[gold][:, None]).sum(axis=1) < 5).mean()  # one gold page each


def out_of_fold_recall(data: FoldData, peek: bool = False) -> float:
    """Recall at 5 when each question is scored by the map of the fold that held it out, or by one that saw it."""
    fold_of = assign_folds(data.groups.tolist(), 3, seed=0)
    scores = np.empty(data.gold.shape)
    for number in range(3):
        test, train = np.flatnonzero(fold_of == number), np.flatnonzero(fold_of != number)
        scorer = data.trained(range(N_QUESTIONS) if peek else train, Plan("question", 0.02, 60))
        scores[test] = data.scores(scorer, test)
    return recall_at_5(scores, data.gold)


@pytest.mark.parametrize(
    ("logits", "gold", "n_copies", "loss"),
    [
        ([2, 3, 1], [1, 0, 0], 0, math.log(math.exp(2) + math.exp(3) + math.exp(1)) - 2),
        ([2, 1, 1], [1, 1, 0], 0, (math.log(1 + math.exp(-1)) + math.log(2)) / 2),  # each against the third alone
        ([10, -10], [1, 0], 3, math.log(1 + 3)),  # a repeated pair is its own negative
    ],
)
def test_loss_is_the_softmax_over_all_pages_without_the_other_gold_ones(logits, gold, n_copies, loss):
    found = gold_loss(torch.tensor([logits]) / 20, torch.tensor([gold]) > 0, n_copies)
    assert SCALE == 20
    assert found.item() == pytest.approx(loss, abs=1e-6)


def test_an_untrained_map_changes_nothing(rotated):
    found = rotated.scores(LightScorer(DIMENSION, 4, "both", seed=0), [0, 1])
    assert found == pytest.approx(rotated.questions[:2] @ rotated.pages.T, abs=1e-6)


def test_what_is_there_is_learned_for_unseen_questions_and_what_is_not_for_seen_ones_alone(rotated):
    assert recall_at_5(rotated.questions @ rotated.pages.T, rotated.gold) < 0.1
    assert out_of_fold_recall(rotated) > 0.6
    shuffled, chance = replace(rotated, gold=np.random.default_rng(5).permutation(rotated.gold)), 5 / N_PAGES
    assert out_of_fold_recall(shuffled) <= chance + 3 * (chance / N_QUESTIONS) ** 0.5
    assert out_of_fold_recall(shuffled, peek=True) > 0.6


def test_choice_takes_the_least_inner_loss_and_does_not_read_the_test_rows(rotated):
    grouped = replace(rotated, groups=(np.arange(N_QUESTIONS) // 4).astype(str))
    plan, losses = grouped.choose(range(40))
    assert [tried for tried, _ in losses] == list(starmap(Plan, product(("question", "both"), (0.02, 0.001), (0, 20))))
    assert dict(losses)[plan] == min(loss for _, loss in losses)
    assert plan.steps == 20
    spoilt = replace(grouped, questions=rotated.questions.copy(), gold=rotated.gold.copy())
    spoilt.questions[40:], spoilt.gold[40:] = np.nan, ~spoilt.gold[40:]
    assert spoilt.choose(range(40)) == (plan, losses)


def test_twins_of_held_out_questions_are_not_read_to_choose(rotated, monkeypatch):
    groups = (np.arange(N_QUESTIONS) % 10).astype(str)
    apart = np.abs(np.arange(N_QUESTIONS)[:, None] - np.arange(N_QUESTIONS))
    data, train, read = replace(rotated, groups=groups, twins=apart == 21), FoldData.train, []
    monkeypatch.setattr(FoldData, "train", lambda self, rows, plan: read.append(set(rows)) or train(self, rows, plan))
    data.choose(range(40))
    number = assign_folds(groups[:40].tolist(), SETTINGS.inner_folds, SETTINGS.seed)
    for fold in range(SETTINGS.inner_folds):
        held_out = set(np.flatnonzero(number == fold).tolist())
        twins = {row + step for row in held_out for step in (-21, 21)}
        assert set(range(40)) - held_out - twins in read


def test_training_reads_readable_pages_only(rotated):
    readable = rotated.gold[:40].any(axis=0)
    pages = np.where(readable[:, None], rotated.pages, np.float32(np.nan))
    scorer = replace(rotated, pages=pages, readable=readable).trained(range(40), Plan("both", 0.02, 20))
    assert all(torch.isfinite(parameter).all() for parameter in scorer.parameters())

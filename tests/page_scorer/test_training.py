"""Fine-tuning a tiny random BERT: batches without false negatives, the curve, and resuming."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.page_scorer import training
from lib.page_scorer.full import training_pairs
from lib.page_scorer.pages import page_texts
from lib.page_scorer.training import GoldAwareBatches, false_negatives, train
from lib.study import Study


@pytest.fixture(scope="module")
def study(make_study) -> Study:
    return make_study()


def test_page_is_collapsed_then_cut(study):
    full, cut = page_texts(study), page_texts(study.with_changes({"page_scorer.max_characters": 6}))
    assert full == [" ".join(text.split()) for text in study.pages["text"]]
    assert cut == [text[:6] for text in full]


def test_page_zero_is_trained_on(study):
    pairs = training_pairs(study, range(12))
    assert pairs["page"].value_counts().to_dict() == {0: 6, 1: 6, 3: 6}
    assert pairs["text"][0] == page_texts(study)[0]


def test_gold_pages_of_one_question_are_no_negatives_of_each_other():
    rows = [("q1", "p1"), ("q1", "p2"), ("q2", "p2"), ("q3", "p3")]
    assert false_negatives(pd.DataFrame(rows, columns=["question", "text"])).tolist() == [
        [False, True, True, False],  # q2's page is gold for q1 too
        [True, False, True, False],
        [True, True, False, False],
        [False, False, False, False],
    ]


@given(st.integers(1, 40), st.integers(2, 8), st.floats(0, 0.5), st.integers(0, 99))
def test_an_epoch_contains_every_pair_once_and_no_clash(n_pairs, batch_size, density, seed):
    clash = np.random.default_rng(seed).random((n_pairs, n_pairs)) < density
    clash |= clash.T
    np.fill_diagonal(clash, False)
    sampler = GoldAwareBatches(clash, batch_size, seed)
    batches = list(sampler)
    assert sorted(pair for batch in batches for pair in batch) == list(range(n_pairs))
    assert len(batches) == len(sampler)
    assert max(map(len, batches)) <= batch_size
    assert not any(clash[np.ix_(batch, batch)].any() for batch in batches)


def test_epochs_differ_and_repeat_with_the_seed():
    sampler, again = (GoldAwareBatches(np.zeros((20, 20), bool), 4, seed=1) for _ in range(2))
    first = list(sampler)
    sampler.set_epoch(1)
    assert first == list(again) != list(sampler)
    assert len(sampler) == 5


def test_the_trainer_takes_the_samplers_batches(study, tmp_path):
    seen, pairs = [], training_pairs(study, range(12))

    class Watched(GoldAwareBatches):
        def __iter__(self):
            batches = list(super().__iter__())
            seen.append((self.epoch, batches))
            return iter(batches)

    train(study, pairs, tmp_path, "t", batches=Watched(false_negatives(pairs), 4, seed=13))
    assert [epoch for epoch, _ in seen] == [0, 1]
    assert seen[0][1] != seen[1][1]
    asked = pairs["question_id"].tolist()
    assert all(len({asked[pair] for pair in batch}) == len(batch) for _, epoch in seen for batch in epoch)


class KilledError(Exception):
    pass


class Kill(training.TrainerCallback):
    """Ends a training as a kill would, in the last epoch; keeps the numbers of the steps."""

    def __init__(self, after: int):
        self.after, self.steps = after, []

    def on_step_end(self, args, state, control, **_):
        self.steps.append(state.global_step)
        if state.global_step == self.after:
            raise KilledError


def test_a_killed_training_resumes_and_ends_the_same(study, tmp_path, monkeypatch):
    pairs = training_pairs(study, range(12))
    monkeypatch.setattr(training, "EPOCHS_BETWEEN_CHECKPOINTS", 1)
    whole, curve = train(study, pairs, tmp_path / "whole", "t")
    steps_an_epoch = len(curve) // 2
    with pytest.raises(KilledError):
        train(study, pairs, tmp_path / "cut", "t", callbacks=[Kill(steps_an_epoch + 1)])
    (tmp_path / "cut" / "checkpoint-9999").mkdir()  # a checkpoint that was not written to its end
    watch = Kill(after=0)
    rest, rest_curve = train(study, pairs, tmp_path / "cut", "t", callbacks=[watch])
    assert watch.steps[0] == steps_an_epoch + 1
    assert rest_curve == curve
    assert [row["step"] for row in curve] == list(range(1, 2 * steps_an_epoch + 1))
    assert {"loss", "learning_rate", "epoch", "grad_norm"} < set(curve[0])
    assert all(torch.equal(value, rest.state_dict()[name]) for name, value in whole.state_dict().items())

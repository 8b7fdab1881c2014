"""Fine-tuning a tiny random BERT by the library's trainer: batches without false negatives, and resuming."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.models.weights import fetch
from lib.page_scorer import trainer
from lib.page_scorer.full import training_pairs
from lib.page_scorer.pages import page_texts
from lib.page_scorer.trainer import GoldAwareBatches, clashes, train


@pytest.fixture(scope="module")
def study(make_study):
    return make_study()


def trained(study, checkpoints, **options):
    """The model and the curve of a training by the profile's recipe."""
    weights, pairs = fetch(study.profile.embedder.weights), training_pairs(study, range(12))
    return train(weights, study.profile.page_scorer, pairs, checkpoints, "t", **options)


def test_a_page_is_collapsed_then_cut(study):
    full, cut = page_texts(study), page_texts(study.with_changes({"page_scorer.max_characters": 6}))
    assert full == [" ".join(text.split()) for text in study.pages["text"]]
    assert cut == [text[:6] for text in full]


def test_a_header_says_whose_page_it_is(study):
    plain, headed = page_texts(study), page_texts(study, header=True)
    assert headed[0] == f"ash 2020 10-K. {plain[0]}"
    assert headed[-1] == f"fir 2021 10-K. {plain[-1]}"


def test_page_zero_is_trained_on(study):
    pairs = training_pairs(study, range(12))
    assert pairs["page"].value_counts().to_dict() == {0: 6, 1: 6, 3: 6}
    assert pairs["text"][0] == page_texts(study)[0]


def test_gold_pages_of_one_question_are_no_negatives_of_each_other():
    assert clashes(np.array([1, 2, 2, 3]), ["q1", "q1", "q2", "q3"]).tolist() == [
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
    batches = sampler.of_epoch(0)
    assert sorted(pair for batch in batches for pair in batch) == list(range(n_pairs))
    assert len(batches) == len(sampler)
    assert max(map(len, batches)) <= batch_size
    assert not any(clash[np.ix_(batch, batch)].any() for batch in batches)


def test_epochs_differ_and_repeat_with_the_seed():
    sampler, again = (GoldAwareBatches(np.zeros((20, 20), bool), 4, seed=1) for _ in range(2))
    assert sampler.of_epoch(0) == again.of_epoch(0) != sampler.of_epoch(1)
    assert len(sampler) == 5


class KilledError(Exception):
    pass


def test_a_killed_training_resumes_and_ends_the_same(study, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "EPOCHS_BETWEEN_CHECKPOINTS", 1)
    whole, curve = trained(study, tmp_path / "whole")

    def kill(model, epoch):
        if epoch == 1:
            raise KilledError

    with pytest.raises(KilledError):
        trained(study, tmp_path / "cut", after_epoch=kill)
    (tmp_path / "cut" / "checkpoint-9999").mkdir()  # a checkpoint that was not written to its end
    epochs = []
    rest, rest_curve = trained(study, tmp_path / "cut", after_epoch=lambda _, epoch: epochs.append(epoch))
    assert epochs == [2]
    assert [row["step"] for row in curve] == list(range(1, len(curve) + 1))
    pd.testing.assert_frame_equal(pd.DataFrame(rest_curve), pd.DataFrame(curve))
    others = rest.state_dict()
    assert all(torch.equal(value, others[name]) for name, value in whole.state_dict().items())

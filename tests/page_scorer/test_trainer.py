"""Fine-tuning a tiny random BERT by the library's trainer: batches without false negatives, and resuming."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import TrainerCallback

from lib.models.weights import fetch
from lib.page_scorer import trainer
from lib.page_scorer.full import training_pairs
from lib.page_scorer.pages import headed_texts, page_texts
from lib.page_scorer.trainer import GoldAwareBatches, clashes, train


def test_pages_are_collapsed_and_cut_and_page_zero_is_trained_on(study):
    full, cut = page_texts(study), page_texts(study.with_changes({"page_scorer.max_characters": 6}))
    assert full == [" ".join(text.split()) for text in study.pages["text"]]
    assert cut == [text[:6] for text in full]
    assert headed_texts(study)[-1] == f"fir 2021 10-K. {full[-1]}"
    pairs = training_pairs(study, range(12))
    assert pairs["page"].value_counts().to_dict() == {0: 6, 1: 6, 3: 6}
    assert pairs["text"][0] == full[0]


def test_gold_pages_of_one_question_are_no_negatives_of_each_other():
    found = clashes(np.array([1, 2, 2, 3]), ["q1", "q1", "q2", "q3"])
    assert np.argwhere(found).tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]  # q2's page is q1's too


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
    assert list(GoldAwareBatches(clash, batch_size, seed)) == batches


class Epochs(TrainerCallback):
    """Notes the epochs that ended, and stops after one of them as if killed."""

    def __init__(self, killed_after: int = 0):
        self.killed_after, self.ended = killed_after, []

    def on_epoch_end(self, args, state, control, **_):
        self.ended.append(round(state.epoch))
        if self.ended[-1] == self.killed_after:
            raise KeyboardInterrupt


def test_a_killed_training_resumes_and_ends_the_same(study, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "EPOCHS_BETWEEN_CHECKPOINTS", 1)
    given = fetch(study.profile.embedder.weights), study.profile.page_scorer, training_pairs(study, range(12))
    whole, curve = train(*given, tmp_path / "whole", "t")
    with pytest.raises(KeyboardInterrupt):
        train(*given, tmp_path / "cut", "t", callbacks=[Epochs(killed_after=1)])
    (unfinished := tmp_path / "cut" / "checkpoint-9999").mkdir()  # a checkpoint that was not written to its end
    (unfinished / "trainer_state.json").write_text('{"epoch": 1')
    epochs = Epochs()
    rest, rest_curve = train(*given, tmp_path / "cut", "t", callbacks=[epochs])
    assert epochs.ended == [2]
    assert rest_curve == curve
    assert all(map(torch.equal, whole.state_dict().values(), rest.state_dict().values()))

"""Fine-tuning a tiny random BERT: batches without false negatives, the loss, the published recipe, and resuming."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from lib.models.weights import fetch
from lib.page_scorer import training
from lib.page_scorer.pages import page_texts
from lib.page_scorer.reading import pairs_alone, training_pairs
from lib.page_scorer.recipe import PUBLISHED, Phase, Recipe
from lib.page_scorer.training import (
    Drawer,
    GoldAwareBatches,
    contrastive_loss,
    rate,
    train,
)
from lib.study import Study


@pytest.fixture(scope="module")
def study(make_study) -> Study:
    return make_study()


def trained(
    study: Study, checkpoints, pairs: pd.DataFrame, **options
) -> tuple[SentenceTransformer, list[dict]]:
    """The model and the curve of a training by the profile's recipe."""
    recipe = Recipe.of(study.profile.page_scorer)
    trainee = recipe.trainee(fetch(study.profile.embedder.weights))
    curve = train(trainee, recipe, pairs_alone(pairs, recipe, trainee), checkpoints, "t", **options)
    return trainee.whole(), curve


def by_sentence_transformers(
    study: Study, pairs: pd.DataFrame, folder
) -> tuple[SentenceTransformer, list[float]]:
    """The model and losses of the same training by the library that the published code uses."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer
    from sentence_transformers import SentenceTransformerTrainingArguments as Arguments
    from sentence_transformers.base.sampler import DefaultBatchSampler
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    settings = study.profile.page_scorer
    model = SentenceTransformer(str(fetch(study.profile.embedder.weights)), local_files_only=True)
    model.max_seq_length = settings.max_tokens
    ours = GoldAwareBatches(phase_of(pairs).clashes(), settings.batch_size, settings.seed)

    class Batches(DefaultBatchSampler):
        def __iter__(self):
            return iter(ours.of_epoch(self.epoch))

        def __len__(self):
            return len(ours)

    class Trainer(SentenceTransformerTrainer):
        def get_batch_sampler(self, *_, **__):
            return Batches(range(len(pairs)), batch_size=settings.batch_size, drop_last=False)

    columns = {"anchor": pairs["question"].tolist(), "positive": pairs["text"].tolist()}
    arguments = {name: settings[name] for name in ("learning_rate", "seed")}
    trainer = Trainer(
        model=model,
        args=Arguments(
            output_dir=str(folder),
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=settings.batch_size,
            warmup_steps=settings.warmup,
            use_cpu=True,
            save_strategy="no",
            logging_steps=1,
            report_to="none",
            disable_tqdm=True,
            **arguments,
        ),
        train_dataset=Dataset.from_dict(columns),
        loss=MultipleNegativesRankingLoss(model),
    )
    trainer.train()
    return model.eval(), [log["loss"] for log in trainer.state.log_history if "loss" in log]


def phase_of(pairs: pd.DataFrame) -> Phase:
    row, _ = pd.factorize(pairs["text"])
    gold = [frozenset(row[pairs["question"] == question]) for question in pairs["question"]]
    return Phase(pairs["question"].tolist(), row, gold, [], 1)


def test_the_published_recipe_is_what_sentence_transformers_trains(study, tmp_path):
    pairs = training_pairs(study, range(12))
    ours, curve = trained(study, tmp_path / "ours", pairs)
    theirs, losses = by_sentence_transformers(study, pairs, tmp_path / "theirs")
    assert [row["loss"] for row in curve] == pytest.approx(losses, abs=1e-3)  # it logs four digits
    vectors, expected = (model.encode(pairs["text"].tolist()) for model in (ours, theirs))
    assert vectors == pytest.approx(expected, abs=float(1e-2 * np.abs(expected).mean()))


def test_a_published_recipes_key_has_its_seven_settings_alone(study):
    section = study.profile.page_scorer
    assert Recipe.of(section).params() == {name: section[name] for name in PUBLISHED}
    other = Recipe.of(section, negatives="filing", sources=["silver", "gold"]).params()
    assert other | {"negatives": "filing", "sources": ["silver", "gold"]} == other
    assert json.loads(json.dumps(other)) == other
    with pytest.raises(ValueError, match="choose one of batch, filing, all"):
        Recipe.of(section, negatives="hard")


def test_page_is_collapsed_then_cut(study):
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
    rows = [("q1", "p1"), ("q1", "p2"), ("q2", "p2"), ("q3", "p3")]
    assert phase_of(pd.DataFrame(rows, columns=["question", "text"])).clashes().tolist() == [
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


def test_the_loss_leaves_the_other_gold_pages_out():
    scores, own = torch.tensor([[0.10, 0.15, 0.05]]), torch.tensor([0])
    alone = contrastive_loss(scores, own, torch.tensor([[True, False, False]]))
    assert alone.item() == pytest.approx(-2 + math.log(math.e**2 + math.e**3 + math.e**1))
    beside = contrastive_loss(scores, own, torch.tensor([[True, True, False]]))
    assert beside.item() == pytest.approx(-2 + math.log(math.e**2 + math.e**1))


def test_the_rate_rises_then_falls():
    assert [rate(step, 10, 0.2) for step in (0, 1, 2, 6, 9)] == [0, 0.5, 1, 0.5, 0.125]


def drawer(negatives: str) -> Drawer:
    recipe = Recipe(
        epochs=1, max_tokens=8, learning_rate=1.0, batch_size=1, warmup=0, seed=0, train_precision="float32",
        negatives=negatives, n_negatives=1,
    )  # fmt: skip
    return Drawer(recipe, (np.array([2, 4, 7]), np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])))


def test_of_all_pages_the_hardest_are_encoded_and_the_others_remembered():
    phase = Phase(["q"], np.array([2]), [frozenset({2})], [np.array([])], 1)
    questions, all_pages = torch.tensor([[1.0, 0.0]]), drawer("all")
    rows = all_pages.draw(questions, [0], phase, None)
    assert rows.tolist() == [2, 4]  # 4 has the higher cosine of the pages that are not gold
    pages = torch.tensor([[0.0, 1.0], [0.8, 0.6]], requires_grad=True)
    scores, columns = all_pages.scores(questions, rows, pages)
    assert columns.tolist() == [2, 4, 7]
    assert scores.tolist() == [pytest.approx([0.0, 0.8, 0.0])]
    assert torch.equal(all_pages.vectors, torch.tensor([[0.0, 1.0], [0.8, 0.6], [0.0, 1.0]]))


def test_hard_negatives_are_drawn_from_those_of_the_pair():
    phase = Phase(
        ["q", "r"], np.array([2, 4]), [frozenset({2}), frozenset({4})], [np.array([7]), np.array([])], 1
    )
    of_filing = drawer("filing")
    assert of_filing.draw(None, [0, 1], phase, np.random.default_rng(0)).tolist() == [2, 4, 7]
    assert of_filing.draw(None, [1], phase, np.random.default_rng(0)).tolist() == [4]
    assert drawer("batch").draw(None, [1, 1], phase, None).tolist() == [4, 4]


class KilledError(Exception):
    pass


def same_weights(first: SentenceTransformer, second: SentenceTransformer) -> bool:
    others = second.state_dict()
    return all(torch.equal(value, others[name]) for name, value in first.state_dict().items())


def test_a_killed_training_resumes_and_ends_the_same(study, tmp_path, monkeypatch):
    pairs, epochs = training_pairs(study, range(12)), []
    monkeypatch.setattr(training, "EPOCHS_BETWEEN_CHECKPOINTS", 1)
    whole, curve = trained(study, tmp_path / "whole", pairs)

    def kill(trainee, epoch):
        if epoch == 2:
            raise KilledError

    with pytest.raises(KilledError):
        trained(study, tmp_path / "cut", pairs, after_epoch=kill)
    (tmp_path / "cut" / "checkpoint-9999.part").touch()  # a checkpoint that was not written to its end
    rest, rest_curve = trained(
        study, tmp_path / "cut", pairs, after_epoch=lambda _, epoch: epochs.append(epoch)
    )
    assert epochs == [2]
    assert rest_curve == curve
    assert [row["step"] for row in curve] == list(range(1, len(curve) + 1))
    assert {"loss", "learning_rate", "epoch", "grad_norm"} < set(curve[0])
    assert same_weights(whole, rest)
    again, _ = trained(study, tmp_path / "cut", pairs, after_epoch=lambda *_: pytest.fail("trained again"))
    assert same_weights(whole, again)

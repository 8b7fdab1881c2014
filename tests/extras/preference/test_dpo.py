"""TRL's training on a tiny model: the loss against its formula, and margins that grow."""

import math

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.words import StudyError

pytest.importorskip("trl", reason="trl is not installed; run make env")

from extras.preference.dpo import train


def log_probability(model, tokenizer, messages: list, answer: str) -> float:
    """The sum of the log-probabilities of an answer's tokens, one position at a time."""
    chat = {"tokenize": True, "return_dict": True}
    asked = tokenizer.apply_chat_template(messages, add_generation_prompt=True, **chat)["input_ids"]
    whole = messages + [{"role": "assistant", "content": answer}]
    tokens = tokenizer.apply_chat_template(whole, **chat)["input_ids"]
    assert tokens[: len(asked)] == asked
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)
    return sum(float(logits[place - 1, tokens[place]]) for place in range(len(asked), len(tokens)))


def margins(policy, reference, tokenizer, pairs) -> np.ndarray:
    """Each pair's difference of log-ratios, chosen less rejected."""

    def ratio(row, answer: str) -> float:
        after, before = (log_probability(model, tokenizer, row.messages, answer) for model in (policy, reference))
        return after - before

    return np.array([ratio(row, row.chosen) - ratio(row, row.rejected) for row in pairs.itertuples()])


@pytest.fixture(scope="module")
def reference(tiny_qwen):
    return AutoModelForCausalLM.from_pretrained(tiny_qwen, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def tokenizer(tiny_qwen):
    return AutoTokenizer.from_pretrained(tiny_qwen)


@pytest.fixture
def trained(tiny_qwen, pairs, settings, tmp_path):
    """Train with changed settings; gives the model, ready to read, and the curve."""

    def run(name: str = "run", **changes):
        model, _, curve = train(tiny_qwen, pairs, settings | changes, tmp_path / name, "tiny")
        return model.eval(), curve

    return run


def test_the_loss_is_the_formula_of_the_paper(trained, reference, tokenizer, pairs):
    """One step over all pairs, then the loss of the second step is that of the model after the first."""
    at_once = {"batch_size": 8, "pairs_at_once": 4, "beta": 0.3}
    after_one, _ = trained("one", epochs=1, **at_once)
    _, curve = trained("two", epochs=2, **at_once)
    delta = margins(after_one, reference, tokenizer, pairs)
    by_hand = np.mean([-math.log(1 / (1 + math.exp(-0.3 * value))) for value in delta])
    assert curve[0]["loss"] == pytest.approx(math.log(2), abs=1e-3)
    assert curve[1]["loss"] == pytest.approx(by_hand, abs=1e-4)
    assert curve[1]["loss"] < math.log(2) - 0.01
    assert curve[1]["margin"] == pytest.approx(0.3 * delta.mean(), abs=1e-3)


@pytest.mark.parametrize(("method", "learning_rate"), [("full", 1e-3), ("lora", 1e-2)])
def test_the_chosen_answers_gain_on_the_rejected(trained, reference, tokenizer, pairs, method, learning_rate):
    model, curve = trained(method=method, learning_rate=learning_rate, epochs=3)
    delta = margins(model, reference, tokenizer, pairs)
    assert (delta > 0).all()
    assert delta.mean() > 2
    assert curve[0]["loss"] == pytest.approx(math.log(2), abs=1e-3)
    assert curve[-1]["loss"] < curve[0]["loss"] - 0.05
    assert [step["step"] for step in curve] == list(range(1, 7))  # 8 pairs by 4, three times


def test_another_seed_gives_other_weights(trained):
    first, again, other = (trained(name, seed=seed)[0] for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    weight = "lm_head.weight"
    assert torch.equal(first.state_dict()[weight], again.state_dict()[weight])
    assert not torch.equal(first.state_dict()[weight], other.state_dict()[weight])


def test_nobody_is_told_of_a_training(trained, monkeypatch):
    told = []
    monkeypatch.setattr("trl.trainer.base_trainer.send_telemetry", lambda **about: told.append(about))
    monkeypatch.delenv("CI", raising=False)
    trained(epochs=1)
    assert told == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_tokens": 60}, r"8 of 8 pairs are longer than preference.max_tokens = 60; the longest has \d+"),
        ({"batch_size": 5}, "preference.batch_size 5 is no multiple of preference.pairs_at_once 2"),
        ({}, "2 GPUs are visible and one is used: set CUDA_VISIBLE_DEVICES=0"),
    ],
)
def test_what_cannot_be_is_told(trained, monkeypatch, changes, said):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2 * ("GPUs" in said))
    with pytest.raises(StudyError, match=said):
        trained(**changes)

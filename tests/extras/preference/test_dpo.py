"""TRL's training on a tiny model: the loss against its formula, and margins that grow."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.schema import StudyError

from .conftest import SETTINGS

pytest.importorskip("trl", reason="trl is not installed; run make env")

from extras.preference.dpo import train

CHATS = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"Sales of {n}?"}] for n in range(8)]
PAIRS = pd.DataFrame({"messages": CHATS})
PAIRS["chosen"], PAIRS["rejected"] = [[form.format(7 * n) for n in range(8)] for form in ("${}.0", "I cannot say {}")]


def log_probability(model, tokenizer, messages: list, answer: str) -> float:
    """The sum of the log-probabilities of an answer's tokens, one position at a time."""
    whole = [*messages, {"role": "assistant", "content": answer}]
    asked, tokens = (tokenizer.apply_chat_template(one, return_dict=True)["input_ids"] for one in (messages, whole))
    assert tokens[: len(asked)] == asked
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)
    return sum(float(logits[place - 1, tokens[place]]) for place in range(len(asked), len(tokens)))


@pytest.fixture
def margins(tiny_qwen):
    """Each pair's difference of log-ratios under a trained model, chosen less rejected."""
    reference = AutoModelForCausalLM.from_pretrained(tiny_qwen, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_qwen)

    def of(model) -> np.ndarray:
        def ratio(messages: list, answer: str) -> float:
            after, before = (log_probability(one, tokenizer, messages, answer) for one in (model, reference))
            return after - before

        return np.array([ratio(chat, good) - ratio(chat, bad) for chat, good, bad in PAIRS.to_numpy()])

    return of


@pytest.fixture
def trained(tiny_qwen, tmp_path):
    """Train with changed settings; gives the model, ready to read, and the curve."""

    def run(name: str = "run", **changes):
        model, _, curve = train(tiny_qwen, PAIRS, SETTINGS | changes, tmp_path / name, "tiny")
        return model.eval(), curve

    return run


def test_the_loss_is_the_formula_of_the_paper_and_nobody_is_told_of_a_training(trained, margins, monkeypatch):
    """One step over all pairs, then the loss of the second step is that of the model after the first."""
    told, at_once = [], {"batch_size": 8, "pairs_at_once": 4, "beta": 0.3}
    monkeypatch.setattr("trl.trainer.base_trainer.send_telemetry", lambda **about: told.append(about))
    monkeypatch.delenv("CI", raising=False)
    after_one, _ = trained("one", epochs=1, **at_once)
    _, (first, second) = trained("two", epochs=2, **at_once)
    delta = 0.3 * margins(after_one)
    assert first["loss"] == pytest.approx(math.log(2), abs=1e-3)
    assert second["loss"] == pytest.approx(np.log1p(np.exp(-delta)).mean(), abs=1e-4)
    assert second["margin"] == pytest.approx(delta.mean(), abs=1e-3)
    assert second["loss"] < first["loss"] - 0.01
    assert told == []


@pytest.mark.parametrize(("method", "learning_rate"), [("full", 1e-3), ("lora", 1e-2)])
def test_the_chosen_answers_gain_on_the_rejected(trained, margins, method, learning_rate):
    model, curve = trained(method=method, learning_rate=learning_rate, epochs=3)
    delta = margins(model)
    assert (delta > 0).all()
    assert delta.mean() > 2
    assert curve[-1]["loss"] < curve[0]["loss"] - 0.05
    assert [step["step"] for step in curve] == list(range(1, 7))  # 8 pairs by 4, three times


@pytest.mark.parametrize(
    ("changes", "n_gpus", "said"),
    [
        ({"max_tokens": 10}, 0, r"a pair has \d+ tokens, and preference.max_tokens is 10"),
        ({"batch_size": 5}, 0, "preference.batch_size 5 is no multiple of preference.pairs_at_once 2"),
        ({}, 2, "2 GPUs are visible and one is used: set CUDA_VISIBLE_DEVICES=0"),
    ],
)
def test_what_cannot_be_trained_is_told(trained, monkeypatch, changes, n_gpus, said):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n_gpus)
    with pytest.raises(StudyError, match=said):
        trained(**changes)

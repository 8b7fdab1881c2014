"""TRL's training on a tiny model: the loss against its formula, margins that grow, and what a machine must have."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.profile import load_profile
from lib.words import StudyError

from .conftest import SETTINGS

pytest.importorskip("trl", reason="trl is not installed; run make env")

from extras.preference import needs
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


def test_memory_is_parameters_times_bytes_and_time_is_operations(tiny_qwen):
    n = sum(part.numel() for part in AutoModelForCausalLM.from_pretrained(tiny_qwen).parameters())
    assert needs.n_parameters(str(tiny_qwen)) == n
    for changes, n_bytes in ({"method": "full"}, 16), ({"method": "lora", "rank": 10}, 2 + 16 * 0.004):
        assert needs.memory_gib(10**9, SETTINGS | changes) == pytest.approx(1.3 * n_bytes * 10**9 / 2**30)
    settings = SETTINGS | {"method": "lora", "epochs": 2}
    assert needs.hours(10**9, settings, 3_000_000) == pytest.approx(8 * 10**9 * 10**6 * 2 / 4e13 / 3600)


def test_the_adapters_of_a_7b_model_are_not_more_than_estimated():
    peft = pytest.importorskip("peft", reason="peft is not installed; run make env")
    from transformers import Qwen2Config, Qwen2ForCausalLM

    sizes = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "vocab_size": 152064}
    with torch.device("meta"):
        model = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=28, num_key_value_heads=4, **sizes))
        adapted = peft.get_peft_model(model, peft.LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM"))
    trained, of_all = adapted.get_nb_trainable_parameters()
    assert of_all - trained == pytest.approx(needs.n_parameters("qwen2.5-7b-instruct"), rel=0.01)
    assert 0.5 < trained / (needs.ADAPTER_SHARE * 16 * of_all) < 1


@pytest.mark.parametrize(
    ("profile", "gpu_gib", "changes", "told"),
    [
        ("default", None, {}, "qwen2.5-coder-0.5b is run by llama.cpp, .*say --profile preference"),
        ("paper", 99.0, {"method": "some"}, "preference.method is 'some': say .* method full or lora"),
        ("paper", None, {}, r"qwen2.5-7b-instruct has 7.6 billion .* by full takes 147 GiB of a GPU; here is no GPU"),
        ("paper", 24.0, {}, "takes 147 GiB of a GPU; here is Some GPU, 24 GiB: say preference.method: lora"),
        ("paper", 24.0, {"method": "lora", "rank": 16}, None),
        ("preference", None, {"method": "lora"}, None),  # a small model needs no GPU
    ],
)
def test_a_machine_is_large_enough_or_it_is_told_why_not(monkeypatch, profile, gpu_gib, changes, told):
    monkeypatch.setattr(needs, "gpu", lambda: gpu_gib and ("Some GPU", gpu_gib))
    given = load_profile(profile).updated({"preference": SETTINGS | changes})
    if told:
        with pytest.raises(StudyError, match=told):
            needs.check_machine(given)
    else:
        assert needs.check_machine(given) == needs.n_parameters(given.generator.weights)

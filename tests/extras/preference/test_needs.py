"""Memory and time from parameters, and machines on which a model cannot be trained."""

import pandas as pd
import pytest

from lib.analysis import preference
from lib.analysis.preference import ADAPTER_SHARE, characters, check_machine, estimate, n_parameters
from lib.profile import load_profile
from lib.words import StudyError

GIB = 2**30


def with_section(profile: str, settings: dict, **changes) -> dict:
    return load_profile(profile).updated({"preference": settings | changes})


def test_the_parameters_of_a_directory_are_counted_in_its_files(tiny_qwen):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_qwen)
    assert n_parameters(str(tiny_qwen)) == sum(part.numel() for part in model.parameters())
    assert n_parameters("qwen2.5-7b-instruct") == 7_600_000_000


def test_memory_is_parameters_times_bytes(settings):
    full = estimate(10**9, settings | {"method": "full"})
    assert full.memory_gib == pytest.approx(1.3 * 16 * 10**9 / GIB)
    lora = estimate(10**9, settings | {"method": "lora", "rank": 10})
    assert lora.memory_gib == pytest.approx(1.3 * (2 + 16 * 0.004) * 10**9 / GIB)


def test_time_is_operations_by_what_a_gpu_does(settings):
    read = estimate(10**9, settings | {"method": "lora", "epochs": 2}, n_characters=3_000_000)
    assert read.hours == pytest.approx(8 * 10**9 * 10**6 * 2 / 4e13 / 3600)


def test_an_unknown_method_is_named(settings):
    with pytest.raises(StudyError, match="'some': say full or lora"):
        estimate(1, settings | {"method": "some"})


def test_an_epoch_reads_each_prompt_twice():
    messages = [{"role": "system", "content": "abc"}, {"role": "user", "content": "de"}]
    table = pd.DataFrame([(messages, "12", "345")], columns=["messages", "chosen", "rejected"])
    assert characters(table) == 2 * 5 + 2 + 3


def test_the_adapters_of_a_7b_model_are_not_more_than_estimated():
    peft = pytest.importorskip("peft", reason="peft is not installed; run make env")
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    sizes = {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "vocab_size": 152064}
    with torch.device("meta"):
        model = Qwen2ForCausalLM(Qwen2Config(num_attention_heads=28, num_key_value_heads=4, **sizes))
        adapted = peft.get_peft_model(model, peft.LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM"))
    trained, of_all = adapted.get_nb_trainable_parameters()
    assert of_all - trained == pytest.approx(n_parameters("qwen2.5-7b-instruct"), rel=0.01)
    assert 0.5 < trained / (ADAPTER_SHARE * 16 * of_all) < 1


def test_what_llama_cpp_runs_is_trained_by_transformers(settings, monkeypatch):
    with pytest.raises(StudyError, match="qwen2.5-coder-0.5b is run by llama.cpp, .*say --profile preference"):
        check_machine(with_section("default", settings))
    monkeypatch.setattr(preference, "gpu", lambda: None)
    assert check_machine(load_profile("preference")).memory_gib < 2


def test_billions_of_parameters_are_not_trained_without_a_gpu(settings, monkeypatch):
    monkeypatch.setattr(preference, "gpu", lambda: None)
    with pytest.raises(StudyError, match=r"there is no GPU: qwen2.5-7b-instruct has 7.6 billion .* 147 GiB"):
        check_machine(with_section("paper", settings, method="full"))


def test_a_gpu_must_be_large_enough(settings, monkeypatch):
    monkeypatch.setattr(preference, "gpu", lambda: ("Some GPU", 24.0))
    assert check_machine(with_section("paper", settings, method="lora", rank=16)).memory_gib < 24
    with pytest.raises(StudyError, match="Some GPU has 24 GiB: .*takes 147 GiB; say preference.method: lora"):
        check_machine(with_section("paper", settings, method="full"))


def test_a_small_model_is_trained_without_a_gpu(settings, monkeypatch, tiny_qwen):
    monkeypatch.setattr(preference, "gpu", lambda: None)
    profile = with_section("paper", settings).replaced({"generator.weights": str(tiny_qwen)})
    assert check_machine(profile).memory_gib < 0.01

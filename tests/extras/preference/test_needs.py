"""Memory and time from parameters, and machines on which a model cannot be trained."""

import pandas as pd
import pytest

from extras.preference import needs
from extras.preference.needs import ADAPTER_SHARE, check_machine, estimate, n_parameters
from lib.analysis.preference import characters
from lib.profile import load_profile
from lib.words import StudyError

GIB = 2**30


def test_the_parameters_of_a_directory_are_counted_in_its_files(tiny_qwen):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny_qwen)
    assert n_parameters(str(tiny_qwen)) == sum(part.numel() for part in model.parameters())
    assert n_parameters("qwen2.5-7b-instruct") == 7_600_000_000


@pytest.mark.parametrize(
    ("changes", "n_bytes"), [({"method": "full"}, 16), ({"method": "lora", "rank": 10}, 2 + 16 * 0.004)]
)
def test_memory_is_parameters_times_bytes(settings, changes, n_bytes):
    assert estimate(10**9, settings | changes).memory_gib == pytest.approx(1.3 * n_bytes * 10**9 / GIB)


def test_time_is_operations_by_what_a_gpu_does(settings):
    read = estimate(10**9, settings | {"method": "lora", "epochs": 2}, n_characters=3_000_000)
    assert read.hours == pytest.approx(8 * 10**9 * 10**6 * 2 / 4e13 / 3600)
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


MACHINES = [
    ("default", None, {}, "qwen2.5-coder-0.5b is run by llama.cpp, .*say --profile preference"),
    ("preference", None, {}, 2),
    ("paper", None, {"method": "full"}, r"there is no GPU: qwen2.5-7b-instruct has 7.6 billion .* 147 GiB"),
    ("paper", 24.0, {"method": "lora", "rank": 16}, 24),
    ("paper", 24.0, {"method": "full"}, "Some GPU has 24 GiB: .*takes 147 GiB; say preference.method: lora"),
]


@pytest.mark.parametrize(("profile", "gpu_gib", "changes", "told"), MACHINES)
def test_a_machine_is_large_enough_or_it_is_told_why_not(settings, monkeypatch, profile, gpu_gib, changes, told):
    """``told``: the reason, or the GiB that are not exceeded; a small model needs no GPU, nor what llama.cpp runs."""
    monkeypatch.setattr(needs, "gpu", lambda: gpu_gib and ("Some GPU", gpu_gib))
    given = load_profile(profile)
    given = given if profile == "preference" else given.updated({"preference": settings | changes})
    if isinstance(told, str):
        with pytest.raises(StudyError, match=told):
            check_machine(given)
    else:
        assert check_machine(given).memory_gib < told

"""The OpenVINO generator, with a runtime in its place that counts words: what is written, cut, refused and failed."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lib.models.generator import open_generator
from lib.models.prompts import Prompt, Request, Sampling
from lib.words import StudyError


class Pipeline:
    """Writes the prompt's first word three times, as far as it may."""

    def __init__(self, model: str, device: str, **config):
        self.config = config

    def get_tokenizer(self):
        def encode(text):
            return SimpleNamespace(input_ids=np.zeros((1, len(text.split()))))

        def chat(messages, add_generation_prompt):
            return " ".join(message["content"] for message in messages)

        return SimpleNamespace(encode=encode, apply_chat_template=chat)

    def generate(self, prompts, config):
        word, n = prompts[0].split()[0], min(3, config["max_new_tokens"])
        if word == "fail":
            raise RuntimeError("no memory\nat all")
        return SimpleNamespace(
            texts=[" ".join([word] * n)],
            finish_reasons=["length" if n < 3 else "stop"],
            perf_metrics=SimpleNamespace(get_num_generated_tokens=lambda: n),
        )


@pytest.fixture
def generator(monkeypatch, tmp_path):
    reasons = SimpleNamespace(LENGTH="length")
    runtime = SimpleNamespace(LLMPipeline=Pipeline, GenerationConfig=dict, GenerationFinishReason=reasons)
    monkeypatch.setitem(sys.modules, "openvino_genai", runtime)
    (tmp_path / "model.gguf").touch()
    return open_generator({"backend": "openvino", "context": 8, "n_threads": 1}, tmp_path)


def test_prompts_are_answered_in_order_and_one_that_fails_takes_no_other_with_it(generator):
    asked = [("yes please", 5), ("yes", 2), ("fail", 2), ("one two three four five six", 5)]
    done = {}
    requests = [Request(Prompt(text), Sampling(max_tokens=n)) for text, n in asked]
    generator.generate([*requests, Request(Prompt("a"), Sampling(2, temperature=0.5))], done.__setitem__)
    first, second = done[0], done[1]
    assert (first.text, first.n_prompt_tokens, first.n_tokens, first.finish_reason) == (
        "yes yes yes",
        2,
        3,
        "stop",
    )
    assert (second.text, second.finish_reason) == ("yes yes", "length")
    assert [str(done[number]) for number in (2, 3, 4)] == [
        "OpenVINO failed: no memory",
        "6 tokens and the answer are more than the context of 8",
        "the backend openvino draws no samples; set a temperature of 0",
    ]
    assert generator.pipeline.config == {"INFERENCE_NUM_THREADS": 1}


def test_without_the_package_it_is_said_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "openvino_genai", None)
    (tmp_path / "model.gguf").touch()
    with pytest.raises(StudyError, match="openvino-genai: run make env"):
        open_generator({"backend": "openvino"}, tmp_path)

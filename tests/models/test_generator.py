"""Generators: one interface, two ways to answer a prompt, and the error where one is not answered."""

import threading
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from lib.models import generator as module
from lib.models.generator import LlamaCppGenerator, open_generator
from lib.models.prompts import Generation, GenerationError, Prompt, Request, Sampling, fault
from lib.models.weights import fetch
from lib.schema import StudyError
from tests.models import echo


def outcomes(generator, requests) -> list:
    """What a generator hands back, in the requests' order; each is handed back once, in the caller's thread."""
    done = {}

    def on_done(number, outcome):
        assert number not in done
        assert threading.current_thread() is threading.main_thread()
        done[number] = outcome

    generator.generate(requests, on_done)
    return [done[number] for number in range(len(requests))]


def asked(*prompts: str, **sampling) -> list[Request]:
    return [Request(Prompt(prompt), Sampling(**{"max_tokens": 8} | sampling)) for prompt in prompts]


@pytest.fixture
def open_echo(monkeypatch):
    monkeypatch.setattr(module, "answer", echo.answer)
    return partial(LlamaCppGenerator, Path("model.gguf"))


FAULTS = {
    None: ("cut but usable", 8, "length"),
    "empty answer": ("", 1, "stop"),
    "past the limit of 8": ("rambling", 9, "length"),
    "context full": ("no room", 3, "length"),
}


@pytest.mark.parametrize(("words", "written"), FAULTS.items())
def test_fault_says_what_cannot_be_used(words, written):
    text, n_tokens, finish_reason = written
    found = fault(Generation(text, 100, n_tokens, finish_reason, 0.1), Sampling(max_tokens=8))
    assert found is None if words is None else words in found


def test_a_directory_must_hold_one_gguf(tmp_path):
    with pytest.raises(StudyError, match="0 GGUF files"):
        open_generator({"backend": "llama.cpp"}, tmp_path)


def test_every_prompt_is_answered_with_its_own_seed_and_a_slot_is_a_process(open_echo):
    texts = [outcome.text.split() for outcome in outcomes(open_echo(2), [*asked(*"abc", seed=5), *asked("d", seed=6)])]
    assert [text[:2] for text in texts] == [["a", "5"], ["b", "5"], ["c", "5"], ["d", "6"]]
    assert len({text[2] for text in texts}) <= 2
    assert outcomes(open_echo(), []) == []


FAILURES = {
    "die": (1800, "exit code 9"),
    "fail": (1800, "model.gguf: no such model"),
    "long": (1800, "exceeds the context"),
    "hang": (10, "no answer within 10 s"),
}


@pytest.mark.parametrize(("prompt", "failure"), FAILURES.items(), ids=FAILURES)
def test_a_prompt_that_fails_has_a_reason_and_the_others_are_answered(open_echo, prompt, failure):
    timeout_s, reason = failure
    answered = outcomes(open_echo(2, timeout_s=timeout_s), asked("a", prompt, "b", "c", prompt, "d"))
    assert [type(outcome) is Generation for outcome in answered] == [True, False, True, True, False, True]
    assert all(reason in str(answered[number]) for number in (1, 4))


def test_after_three_failures_in_a_row_no_prompt_is_tried(open_echo):
    found = []
    with pytest.raises(GenerationError, match="died"):
        open_echo(1, context=13).generate(asked(*"abcdef"), lambda number, outcome: found.append(number))
    assert found == [0, 1, 2]


def test_an_interrupted_run_leaves_no_process_behind_idle_or_not(open_echo):
    slots = []

    def on_done(number, outcome):
        children = psutil.Process().children()
        slots.extend(child.pid for child in children if "spawn_main" in " ".join(child.cmdline()))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_echo(2).generate(asked("hang", "a"), on_done)
    assert len(slots) == 2
    assert not any(map(psutil.pid_exists, slots))


@pytest.mark.slow
@pytest.mark.weights
def test_llama_cpp_gives_a_seed_s_text_whatever_else_is_asked_and_tells_of_prompts_that_do_not_fit():
    questions = ["Name a colour.", "Name a town in France.", "What is cash flow?"]
    requests = [one for seed in (1, 2) for one in asked(*questions, temperature=0.9, seed=seed)]
    opened = partial(LlamaCppGenerator, next(fetch("qwen2.5-coder-0.5b").glob("*.gguf")), context=256)
    texts = [outcome.text for outcome in outcomes(opened(2), requests)]
    assert texts == [outcome.text for outcome in outcomes(opened(1), requests[::-1])][::-1]
    assert len({*texts}) > len(questions)
    too_long, no_room = outcomes(opened(1), asked("word " * 400, "word " * 220, max_tokens=50))
    assert "refused the prompt" in str(too_long)
    assert "context full" in fault(no_room, Sampling(max_tokens=50))


@pytest.fixture(scope="module")
def paper(tiny):
    """Open a random Qwen2, whose own settings would change what it writes, as the ``paper`` profile opens its own."""
    from transformers import GenerationConfig

    from lib.models.generator_transformers import TransformersGenerator

    path = tiny("Qwen2ForCausalLM", num_key_value_heads=2, pad_token_id=0, tie_word_embeddings=False)
    own = {"temperature": 0.1, "top_k": 2, "repetition_penalty": 3.0, "eos_token_id": [3, 0], "pad_token_id": 0}
    GenerationConfig(do_sample=True, **own).save_pretrained(path)
    assert open_generator({"backend": "transformers", "context": 60}, path).context == 60
    return partial(TransformersGenerator, path, precision="float32")


QUESTIONS = ["net sales?", "why?", "what is the capex of 3m?", "cash?", "is it (not)?"]


def test_a_temperature_of_zero_takes_the_likeliest_token_as_the_model_gives_it_up_to_one_that_ends_texts(paper):
    import torch

    generator = paper(batch_size=2)
    generator.ends = [0, 3, *generator.tokenizer.convert_tokens_to_ids(["##e", "##s", "x"])]
    for question, outcome in zip(QUESTIONS, outcomes(generator, asked(*QUESTIONS)), strict=True):
        tokens = generator.tokenizer(question, add_special_tokens=False)["input_ids"]
        new = []
        while len(new) < 8 and not {*generator.ends} & set(new):
            with torch.inference_mode():
                new.append(int(generator.model(torch.tensor([tokens + new])).logits[0, -1].argmax()))
        assert outcome.text == generator.tokenizer.decode(new, skip_special_tokens=True).strip()
        assert (outcome.n_prompt_tokens, outcome.n_tokens) == (len(tokens), len(new))
        assert outcome.finish_reason == ("stop" if new[-1] in generator.ends else "length")


def test_a_seeded_text_does_not_depend_on_its_batch(paper):
    requests = [one for seed in (1, 2) for one in asked(*QUESTIONS, seed=seed, temperature=0.7)]
    together = [outcome.text for outcome in outcomes(paper(batch_size=16), requests)]
    assert together == [outcome.text for outcome in outcomes(paper(batch_size=1), requests[::-1])][::-1]
    assert together[:5] != together[5:]


def test_seeded_draws_follow_the_softmax():
    import torch

    from lib.models.generator_transformers import SeededDraw

    n_draws, p = 4000, np.array([0.5, 0.3, 0.15, 0.05, 0.0])
    noisy = SeededDraw(range(n_draws))(None, torch.log(torch.tensor(p)).expand(n_draws, 5))
    drawn = np.bincount(noisy.argmax(dim=1).numpy(), minlength=5) / n_draws
    np.testing.assert_allclose(drawn, p, atol=4 * np.sqrt(0.25 / n_draws))
    assert drawn[4] == 0


def test_a_batch_that_fails_is_halved_and_a_prompt_that_does_not_fit_is_told(paper, monkeypatch):
    generator = paper(batch_size=4, context=60)
    write = generator._write

    def fails_on_z(prompts, samplings):
        if any("z" in generator.tokenizer.decode(prompt) for prompt in prompts):
            raise RuntimeError("out of memory\nand a long tale")
        return write(prompts, samplings)

    monkeypatch.setattr(generator, "_write", fails_on_z)
    told = [str(one) for one in outcomes(generator, asked("a", "z", "d", "b" * 60)) if isinstance(one, GenerationError)]
    assert told == ["transformers failed: out of memory", "68 tokens with the answer; the context is 60"]

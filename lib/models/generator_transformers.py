"""Generation with transformers, for the published study's own model on a GPU: prompts in batches, a seed for each.

A batch shares one random state in transformers. Here each row draws with its own: adding Gumbel noise to the logits and
taking the largest is drawing from their softmax (Gumbel 1954; Maddison, Tarlow & Minka, NeurIPS 2014).
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
import transformers
from transformers import LogitsProcessor, LogitsProcessorList

from lib.models.encoders import dtype_of, loading
from lib.models.prompts import Generation, GenerationError, OnDone, Request, Sampling


class SeededDraw(LogitsProcessor):
    """Gumbel noise on each row of logits from the row's own seed; the largest sum is the row's draw."""

    def __init__(self, seeds: Sequence[int]):
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        # the noise is drawn on the CPU, so that a seed means the same on every device
        rows = [torch.empty(scores.shape[1]).exponential_(generator=generator) for generator in self.generators]
        return scores.float() - torch.log(torch.stack(rows)).to(scores.device)


def from_files(directory: Path) -> dict:
    """How transformers opens a directory of weights, as it saves them or with one GGUF file."""
    found = [*Path(directory).glob("*.gguf")]
    return {"local_files_only": True} | ({"gguf_file": found[0].name} if len(found) == 1 else {})


def load_model(directory: Path, dtype: torch.dtype) -> transformers.PreTrainedModel:
    """The causal language model of a directory; one in a GGUF file is dequantised, and so can be trained."""
    files = from_files(directory)
    if "gguf_file" in files:
        files["quantization_config"] = transformers.GgufConfig(dequantize=True)
    return transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=dtype, **files)


class TransformersGenerator:
    """A causal language model as transformers saves it, or in a GGUF file; its own chat template.

    ``batch_size`` prompts are answered at once; one may have ``context`` tokens with its answer.
    """

    def __init__(self, directory: Path, batch_size: int = 16, context: int = 8192, precision: str = "auto"):
        load = transformers.AutoTokenizer.from_pretrained
        with loading(directory):
            self.tokenizer = load(directory, padding_side="left", **from_files(directory))
            self.model = load_model(directory, dtype_of(precision))
        self.model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.batch_size, self.context = batch_size, context
        ends = self.model.generation_config.eos_token_id
        ends = self.tokenizer.eos_token_id if ends in (None, []) else ends
        self.ends = ends if isinstance(ends, list) else [ends]
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token_id = self.ends[0]

    def generate(self, requests: Sequence[Request], on_done: OnDone) -> None:
        """Answer requests in batches of like length; see :class:`lib.models.prompts.Generator`."""
        tokens, groups = [self._tokens(request) for request in requests], {}
        for number, request in enumerate(requests):
            needed = len(tokens[number]) + request.sampling.max_tokens
            if needed > self.context:
                on_done(number, GenerationError(f"{needed} tokens with the answer; the context is {self.context}"))
            else:
                groups.setdefault(replace(request.sampling, seed=0), []).append(number)
        for numbers in groups.values():
            numbers.sort(key=lambda number: len(tokens[number]))
            for start in range(0, len(numbers), self.batch_size):
                self._batch(numbers[start : start + self.batch_size], requests, tokens, on_done)

    def _tokens(self, request: Request) -> list[int]:
        options = {"add_generation_prompt": True, "tokenize": True, "return_dict": True}
        return self.tokenizer.apply_chat_template(request.prompt.messages, **options)["input_ids"]

    def _batch(self, numbers: list[int], requests, tokens, on_done: OnDone) -> None:
        """Answer a batch; one that fails is halved, so that one prompt cannot take the others with it."""
        started, half = time.perf_counter(), len(numbers) // 2
        try:
            written = self._write([tokens[i] for i in numbers], [requests[i].sampling for i in numbers])
        except RuntimeError as error:  # out of memory is one
            if not half:
                return on_done(numbers[0], GenerationError(f"transformers failed: {str(error).splitlines()[0]}"))
            self._batch(numbers[:half], requests, tokens, on_done)
            return self._batch(numbers[half:], requests, tokens, on_done)
        seconds = round((time.perf_counter() - started) / len(numbers), 3)
        for number, new in zip(numbers, written, strict=True):
            reason = "stop" if new and new[-1] in self.ends else "length"
            text = self.tokenizer.decode(new, skip_special_tokens=True).strip()
            on_done(number, Generation(text, len(tokens[number]), len(new), reason, seconds))

    @torch.inference_mode()
    def _write(self, prompts: list[list[int]], samplings: list[Sampling]) -> list[list[int]]:
        """New tokens of each prompt, up to and with the first that ends a text; the samplings differ by seed only."""
        first, processors, width = samplings[0], LogitsProcessorList(), max(map(len, prompts))
        if first.temperature > 0:
            processors.append(transformers.TemperatureLogitsWarper(float(first.temperature)))
            processors.append(SeededDraw([sampling.seed for sampling in samplings]))
        # the draw is made by the processors, and what the model's own settings say must not come in
        fixed = {"do_sample": False, "repetition_penalty": 1.0, "pad_token_id": self.tokenizer.pad_token_id}
        settings = transformers.GenerationConfig(max_new_tokens=first.max_tokens, eos_token_id=self.ends, **fixed)
        given = self.tokenizer.pad({"input_ids": prompts}, return_tensors="pt").to(self.model.device)
        written = self.model.generate(**given, generation_config=settings, logits_processor=processors)
        rows = written[:, width:].tolist()
        ends = [next((n for n, token in enumerate(row, 1) if token in self.ends), None) for row in rows]
        return [row[:end] for row, end in zip(rows, ends, strict=True)]

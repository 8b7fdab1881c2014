"""Bi-encoders: texts to unit vectors, in the precision of the machine and in batches as large as memory allows.

Three engines run them: torch, on any device; OpenVINO, on a processor; and onnxruntime, for weights that are published
as an 8-bit graph. Which is fastest depends on precision and processor: ``python -m lib speed`` measures it.
"""

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from tokenizers import Encoding

from lib.data.chunks import load_tokenizer
from lib.words import StudyError

Role = Literal["query", "document"]
Result = TypeVar("Result")
GIB = 2**30
GPU_FLOPS = 4e13  # that a data-centre GPU reaches on such models in bfloat16
NEEDS_GPU_GIB = 4.0  # a model of this size is not run on a processor
ROOM = 1.3  # memory that a model needs, in sizes of its weights
VERSION = 1  # raised when the same text gets another vector
HINTS = {"bfloat16": "bf16", "float32": "f32"}  # a precision in OpenVINO's words
BGE_QUERY = "Represent this sentence for searching relevant passages: "
PADDED_TO = 16  # tokens; OpenVINO prepares its kernels once for each length of a batch


def has_fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 natively, about three times as fast as float32."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def automatic_precision() -> str:
    """``bfloat16`` where it is multiplied natively; else ``float16`` on a GPU and ``float32`` on a processor."""
    import torch

    return "bfloat16" if has_fast_bfloat16() else "float16" if torch.cuda.is_available() else "float32"


def gpu() -> tuple[str, float] | None:
    """The GPU's name and memory in GiB, or None where there is none."""
    import torch

    if not torch.cuda.is_available():
        return None
    about = torch.cuda.get_device_properties(0)
    return about.name, about.total_memory / GIB


def in_batches_that_fit(compute: Callable[[int], Result], batch_size: int) -> tuple[Result, int]:
    """``compute(batch_size)``, or with a half, a quarter … of that size where memory does not suffice; and the size.

    Raises:
        StudyError: not even one text fits.
    """
    import torch

    while True:
        try:
            return compute(batch_size), batch_size
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if batch_size == 1:
            raise StudyError("the GPU's memory does not hold the model and one text; take PROFILE=default")
        batch_size //= 2


class Encoder:
    """A sentence-transformers bi-encoder of a directory, which reads ``window`` tokens of a text.

    Its precision is a torch dtype's name or ``auto``, see :func:`automatic_precision`.
    """

    def __init__(self, weights: Path, window: int, precision: str = "auto", batch_size: int = 32):
        import torch
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(str(weights), local_files_only=True)
        self.model.max_seq_length = window
        self.precision = automatic_precision() if precision == "auto" else precision
        self.model.to(getattr(torch, self.precision))
        self.batch_size = batch_size

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """Unit vectors of texts, float32, shape (n_texts, dimension)."""
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        options = {"convert_to_tensor": True, "show_progress_bar": False}
        vectors, self.batch_size = in_batches_that_fit(
            lambda size: encode(list(texts), batch_size=size, **options), self.batch_size
        )
        return _unit(vectors.float().cpu().numpy())

    def encode_tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Unit vectors of the tokens of each text in their context, float32, shape (n_tokens, dimension) each.

        The special tokens at both ends are left out.
        """
        options = {"output_value": "token_embeddings", "show_progress_bar": False}
        vectors = self.model.encode(list(texts), batch_size=self.batch_size, **options)
        return [_unit(one[1:-1].float().cpu().numpy()) for one in vectors]


class OpenVinoEncoder:
    """The encoder of :class:`Encoder`, converted to OpenVINO when it is opened, with pooling and normalisation.

    Texts of like length share a batch, so that little is computed for padding, and each core has a batch of its own.
    ``auto`` is ``bfloat16`` where the processor multiplies it natively.

    Raises:
        StudyError: a precision that is neither ``auto``, ``bfloat16`` nor ``float32``.
    """

    def __init__(self, weights: Path, window: int, precision: str = "auto", batch_size: int = 32):
        # importing openvino would send a usage report; without this package it takes a stub in its place
        sys.modules.setdefault("openvino_telemetry", None)
        import openvino
        from sentence_transformers import SentenceTransformer

        core = openvino.Core()
        if precision == "auto":
            is_native = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
            precision = "bfloat16" if is_native else "float32"
        if precision not in HINTS:
            raise StudyError(f"embedder.precision is {precision!r}: OpenVINO has auto, {' and '.join(HINTS)}")
        model = SentenceTransformer(
            str(weights),
            device="cpu",
            local_files_only=True,
            model_kwargs={"attn_implementation": "eager"},  # which can be traced for any length
        )
        self.precision, self.batch_size, self.prompts = precision, batch_size, model.prompts
        self.tokenizer, self.padding = load_tokenizer(weights), model.tokenizer.pad_token_id
        self.tokenizer.enable_truncation(window)
        # threads that share a batch stall when another program takes a core
        n_cores = os.cpu_count()
        options = {"NUM_STREAMS": n_cores, "INFERENCE_NUM_THREADS": n_cores}
        options |= {"INFERENCE_PRECISION_HINT": HINTS[precision]}
        network = core.compile_model(_converted(model), "CPU", options)
        self.queue = openvino.AsyncInferQueue(network, n_cores)

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """Unit vectors of texts, float32, shape (n_texts, dimension)."""
        prompt = self.prompts.get(role) or ""
        ids = [one.ids for one in self.tokenizer.encode_batch([prompt + text for text in texts])]
        lengths = [-(-len(one) // PADDED_TO) * PADDED_TO for one in ids]
        found: dict[int, np.ndarray] = {}

        def keep(request: object, rows: list[int]) -> None:
            found.update(zip(rows, request.get_output_tensor(0).data.copy(), strict=True))

        self.queue.set_callback(keep)
        for length, rows in groupby(sorted(range(len(ids)), key=lengths.__getitem__), lengths.__getitem__):
            rows = list(rows)
            for start in range(0, len(rows), self.batch_size):
                part = rows[start : start + self.batch_size]
                given = np.full((len(part), length), self.padding, np.int64)
                mask = np.zeros_like(given)
                for place, row in enumerate(part):
                    given[place, : len(ids[row])], mask[place, : len(ids[row])] = ids[row], 1
                self.queue.start_async([given, mask], part)
        self.queue.wait_all()
        return _unit(np.stack([found[row] for row in range(len(ids))]))


def _converted(model):
    """A sentence-transformers model as an OpenVINO graph: token ids and mask (n, length) to vectors (n, dimension)."""
    import torch
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    class Sentences(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = torch.nn.ModuleList(model)

        def forward(self, input_ids, attention_mask):
            features = {"input_ids": input_ids, "attention_mask": attention_mask}
            for step in self.steps:
                features = step(features)
            return features["sentence_embedding"]

    example = torch.full((2, PADDED_TO), model.tokenizer.unk_token_id)
    traced = {"input_ids": example, "attention_mask": torch.ones_like(example)}
    with warnings.catch_warnings(action="ignore"):  # of branches, which all texts take alike
        decoder = TorchScriptPythonDecoder(Sentences().eval(), example_input=traced)
    frontend = FrontEndManager().load_by_framework("pytorch")
    return frontend.convert(frontend.load(decoder))


class OnnxEncoder:
    """A BERT encoder in ONNX that gives token vectors, run by onnxruntime one text per thread, first token's vector.

    An 8-bit model scales its activations by the largest of a batch: alone, a text's vector depends on nothing else.
    Pooling and the words before a query are BGE's (Xiao et al., 2023). The file fixes its own precision.
    """

    def __init__(self, weights: Path, window: int, precision: str = "auto", batch_size: int = 1):
        self.session, self.inputs = onnx_session(weights)
        self.tokenizer = load_tokenizer(weights)
        self.tokenizer.enable_truncation(window)

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """Unit vectors of texts, float32, shape (n_texts, dimension)."""
        prompt = BGE_QUERY if role == "query" else ""
        encoded = self.tokenizer.encode_batch([prompt + text for text in texts])
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            vectors = pool.map(lambda one: run_onnx(self.session, self.inputs, one)[0, 0], encoded)
            return _unit(np.stack(list(vectors)))


def onnx_session(weights: Path) -> tuple[object, set[str]]:
    """The ``model.onnx`` of a directory, on one thread, and the names of its inputs."""
    import onnxruntime

    options, on = onnxruntime.SessionOptions(), ["CPUExecutionProvider"]
    options.intra_op_num_threads = 1  # threads that share a text stall when another program takes a core
    # sums of int8 products must not saturate where the processor lacks VNNI: every processor then gives the same
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(str(weights / "model.onnx"), options, providers=on)
    return session, {entry.name for entry in session.get_inputs()}


def run_onnx(session: object, inputs: set[str], encoded: Encoding) -> np.ndarray:
    """The first output of a session for one tokenised text, or pair of texts."""
    given = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask}
    given |= {"token_type_ids": encoded.type_ids}
    feed = {name: np.array([value], np.int64) for name, value in given.items() if name in inputs}
    return session.run(None, feed)[0]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)


ENGINES = {"torch": Encoder, "openvino": OpenVinoEncoder, "onnx": OnnxEncoder}

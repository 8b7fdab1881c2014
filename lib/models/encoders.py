"""Bi-encoders: texts to unit vectors, in torch or (weights that are published as an 8-bit graph) in onnxruntime."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from tokenizers import Encoding

from lib.data.chunks import load_tokenizer
from lib.models.dequantise import BGE_QUERY
from lib.schema import StudyError

Role = Literal["query", "document"]
Result = TypeVar("Result")
GIB = 2**30
PRECISIONS = ("float32", "bfloat16", "float16")
VERSION = 1  # raised when the same text gets another vector
PRECISION = "RETRIEVAL_GAP_PRECISION"  # the variable that says what ``auto`` is, in place of what is fast here
OF_AUTO = "bfloat16"  # whose rows are stored as those of ``auto``
BERT_POSITIONS = 512


def has_fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 natively, about three times as fast as float32."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def fast_precision() -> str:
    """Name of the dtype in which this machine is fast."""
    import torch

    return "bfloat16" if has_fast_bfloat16() else "float16" if torch.cuda.is_available() else "float32"


def automatic_precision() -> str:
    """Name of the dtype that ``auto`` is: the one that PRECISION names, else the one in which this machine is fast."""
    named = os.environ.get(PRECISION) or fast_precision()
    if named not in PRECISIONS:
        raise StudyError(f"{PRECISION} is {named!r}; choose from {', '.join(PRECISIONS)}")
    return named


def gpu() -> tuple[str, float] | None:
    """The GPU's name and memory in GiB, or None where there is none."""
    import torch

    if not torch.cuda.is_available():
        return None
    about = torch.cuda.get_device_properties(0)
    return about.name, about.total_memory / GIB


def precision_of_rows(precision: str) -> str:
    """The precision as the key of stored rows has it, so that a machine reuses no rows of another precision."""
    return own if precision == "auto" and (own := automatic_precision()) != OF_AUTO else precision


def dtype_of(precision: str):
    """The torch dtype of that name, or for ``auto`` of :func:`automatic_precision`."""
    import torch

    return getattr(torch, automatic_precision() if precision == "auto" else precision)


def in_batches_that_fit(compute: Callable[..., Result], batch_size: int) -> tuple[Result, int]:
    """``compute(batch_size=…)``, or with a half, a quarter … of that size where memory does not suffice; and it."""
    import torch

    while True:
        try:
            return compute(batch_size=batch_size), batch_size
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if batch_size == 1:
            raise StudyError("the GPU's memory does not hold the model and one text; take PROFILE=default")
        batch_size //= 2


@contextmanager
def loading(weights: Path) -> Iterator[None]:
    """A StudyError where a library cannot load the model of a directory, with its reason."""
    try:
        yield
    except (StudyError, MemoryError):
        raise
    except Exception as error:  # libraries have no other for files that are missing, broken or programs
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        mend = "give a folder of a model whose code is in transformers; code that weights bring is not run"
        raise StudyError(f"{weights}: the model cannot be loaded ({why:.200}); {mend}") from None


@contextmanager
def reading(window: int, positions: int | None) -> Iterator[None]:
    """A StudyError where a model fails whose window has more tokens than it has positions."""
    try:
        yield
    except Exception as error:  # torch and onnxruntime have several for it
        if isinstance(error, StudyError) or positions is None or window <= positions:
            raise
        most = f"the model reads {positions} tokens at most"
        raise StudyError(f"{most}, and is to read {window}; give a smaller window in the profile") from None


def positions_of(model) -> int | None:
    """How many tokens a model of sentence-transformers reads at most; None where it has no such limit."""
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return getattr(config, "max_position_embeddings", None)


class Encoder:
    """A sentence-transformers bi-encoder of a directory, which reads ``window`` tokens of a text."""

    def __init__(self, weights: Path, window: int, precision: str = "auto", batch_size: int = 32):
        from sentence_transformers import SentenceTransformer

        with loading(weights):
            self.model = SentenceTransformer(str(weights), local_files_only=True)
        self.model.max_seq_length = window
        self.model.to(dtype_of(precision))
        self.batch_size = batch_size

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """Unit vectors of texts, float32, shape (n_texts, dimension)."""
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        run = partial(encode, list(texts), convert_to_tensor=True, show_progress_bar=False)
        with reading(self.model.max_seq_length, positions_of(self.model)):
            vectors, self.batch_size = in_batches_that_fit(run, self.batch_size)
        return _unit(vectors.float().cpu().numpy())

    def encode_tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Unit vectors of each text's tokens but the special ones in their context: float32, (n_tokens, dimension)."""
        options = {"output_value": "token_embeddings", "show_progress_bar": False}
        with reading(self.model.max_seq_length, positions_of(self.model)):
            vectors = self.model.encode(list(texts), batch_size=self.batch_size, **options)
        return [_unit(one[1:-1].float().cpu().numpy()) for one in vectors]


class OnnxModel:
    """The ``model.onnx`` of a directory, which reads ``window`` tokens of a text or pair.

    An 8-bit model scales its activations by the largest of a batch: so each is read alone, on one thread.
    """

    def __init__(self, weights: Path, window: int):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # threads that share a text stall when another program takes a core
        # sums of int8 products must not saturate where the processor lacks VNNI: every processor then gives the same
        options.add_session_config_entry("session.x64quantprecision", "1")
        path, providers = str(weights / "model.onnx"), ["CPUExecutionProvider"]
        with loading(weights):
            self.session = onnxruntime.InferenceSession(path, options, providers=providers)
        self.inputs = {entry.name for entry in self.session.get_inputs()}
        self.tokenizer = load_tokenizer(weights)
        self.tokenizer.enable_truncation(window, strategy="longest_first")

    def outputs(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Iterator[np.ndarray]:
        """The first output for each text or pair."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            yield from pool.map(self._output, self.tokenizer.encode_batch(list(texts)))

    def _output(self, encoded: Encoding) -> np.ndarray:
        names = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        feed = {name: np.array([getattr(encoded, names[name])], np.int64) for name in self.inputs}
        with reading(len(encoded.ids), BERT_POSITIONS):
            return self.session.run(None, feed)[0]


class OnnxEncoder(OnnxModel):
    """A BERT encoder in ONNX; the first token's vector and the words before a query are BGE's (Xiao et al., 2023)."""

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """Unit vectors of texts, float32, shape (n_texts, dimension)."""
        prompt = BGE_QUERY if role == "query" else ""
        return _unit(np.stack([tokens[0, 0] for tokens in self.outputs([prompt + text for text in texts])]))

    def encode_tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
        """As of :class:`Encoder`."""
        return [_unit(tokens[0, 1:-1]) for tokens in self.outputs(texts)]


def load_encoder(weights: Path, window: int, precision: str = "auto", batch_size: int = 32) -> Encoder | OnnxEncoder:
    """The encoder of a directory: ONNX where there is a ``model.onnx``, else torch."""
    if (weights / "model.onnx").is_file():
        return OnnxEncoder(weights, window)
    return Encoder(weights, window, precision, batch_size)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)

"""Bi-encoders: texts to unit vectors, in the precision of the machine and in batches as large as memory allows."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from lib.words import StudyError

Role = Literal["query", "document"]
Result = TypeVar("Result")
GIB = 2**30
VERSION = 1  # raised when the same text gets another vector


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
        return _unit(vectors)

    def encode_tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Unit vectors of the tokens of each text in their context, float32, shape (n_tokens, dimension) each.

        The special tokens at both ends are left out.
        """
        options = {"output_value": "token_embeddings", "show_progress_bar": False}
        vectors = self.model.encode(list(texts), batch_size=self.batch_size, **options)
        return [_unit(one[1:-1]) for one in vectors]


def _unit(vectors) -> np.ndarray:
    vectors = vectors.float().cpu().numpy()
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)

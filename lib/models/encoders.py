"""Bi-encoders: texts to unit vectors, in the precision and window of the profile."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from lib.models.batches import in_batches_that_fit

Role = Literal["query", "document"]
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


class Encoder:
    """A sentence-transformers bi-encoder.

    Args:
        weights: directory of the model.
        window: tokens that one text may have; longer texts are cut by the caller or truncated here.
        precision: ``float32``, ``bfloat16``, ``float16``, or ``auto``: see :func:`automatic_precision`.
        batch_size: texts encoded at once; halved where memory does not suffice.
        device: ``cpu``, ``cuda`` or None for the best there is.
    """

    def __init__(
        self,
        weights: Path,
        window: int,
        precision: str = "auto",
        batch_size: int = 32,
        device: str | None = None,
    ):
        import torch
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(str(weights), device=device, local_files_only=True)
        self.model.max_seq_length = window
        if precision == "auto":
            precision = automatic_precision()
        self.precision = precision
        self.model.to(getattr(torch, precision))
        self.batch_size = batch_size

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """Unit vectors of texts, float32, shape (n_texts, dimension).

        The texts are encoded in order of length, so that a batch wastes little padding.
        """
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        vectors, self.batch_size = in_batches_that_fit(
            lambda size: encode(
                list(texts), batch_size=size, convert_to_tensor=True, show_progress_bar=False
            ),
            self.batch_size,
        )
        vectors = vectors.float().cpu().numpy()
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)

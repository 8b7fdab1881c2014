"""Bi-encoders: texts to unit vectors, in the precision and window of the profile."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

Role = Literal["query", "document"]


def has_fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 natively, about three times as fast as float32."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported()
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


class Encoder:
    """A sentence-transformers bi-encoder.

    Args:
        weights: directory of the model.
        window: tokens that one text may have; longer texts are cut by the caller or truncated here.
        precision: ``float32``, ``bfloat16``, or ``auto``: bfloat16 where the processor has it.
        batch_size: texts encoded at once.
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
            precision = "bfloat16" if has_fast_bfloat16() else "float32"
        self.precision = precision
        self.model.to(getattr(torch, precision))
        self.batch_size = batch_size

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """Unit vectors of texts, float32, shape (n_texts, dimension).

        The texts are encoded in order of length, so that a batch wastes little padding.
        """
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        vectors = encode(
            list(texts), batch_size=self.batch_size, convert_to_tensor=True, show_progress_bar=False
        )
        vectors = vectors.float().cpu().numpy()
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)

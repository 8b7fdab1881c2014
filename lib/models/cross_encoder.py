"""Cross-encoders: a question and a passage read together, one relevance score (Nogueira & Cho, 2019)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lib.data.chunks import spans_of
from lib.models.encoders import OnnxModel, dtype_of, in_batches_that_fit, loading, positions_of, reading
from lib.schema import StudyError

VERSION = 1  # raised when the same weights give other scores


class OnnxCrossEncoder(OnnxModel):
    """A BERT cross-encoder in ONNX; of a pair that is too long the longer of question and passage is cut."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """One score per pair, shape (n_pairs,)."""
        return np.array([score.ravel()[0] for score in self.outputs(pairs)], np.float32)


class TorchCrossEncoder:
    """A sentence-transformers ``CrossEncoder``: 16 bits on a GPU, 32 on a processor."""

    def __init__(self, weights: Path, window: int):
        import torch
        from sentence_transformers import CrossEncoder

        about = {"dtype": dtype_of("auto" if torch.cuda.is_available() else "float32")}
        with loading(weights):
            self.model = CrossEncoder(str(weights), max_length=window, local_files_only=True, model_kwargs=about)
        self.batch_size = 32  # halved where memory does not suffice

    def scores(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """One score per pair, shape (n_pairs,)."""
        run = partial(self.model.predict, list(pairs), show_progress_bar=False)
        with reading(self.model.max_seq_length, positions_of(self.model)):
            scores, self.batch_size = in_batches_that_fit(run, self.batch_size)
        return np.asarray(scores, np.float32)


def load_cross_encoder(weights: Path, window: int) -> OnnxCrossEncoder | TorchCrossEncoder:
    """The cross-encoder of a directory."""
    if (weights / "model.onnx").is_file():
        return OnnxCrossEncoder(weights, window)
    if any(weights.glob("*.safetensors")):
        return TorchCrossEncoder(weights, window)
    raise StudyError(f"{weights} holds neither model.onnx nor safetensors; fetch the cross-encoder again")


def passages_of(question: str, text: str, tokenizer, window: int, overlap: int = 32) -> list[str]:
    """The windows of a text that fit beside a question in ``window`` tokens of the cross-encoder's tokenizer."""
    n_question = len(tokenizer.encode(question, add_special_tokens=False).ids)
    room = window - tokenizer.num_special_tokens_to_add(True) - n_question
    encoded = tokenizer.encode(text, add_special_tokens=False)
    if len(encoded.ids) <= room:
        return [text]
    spans = spans_of(encoded.offsets, max(room, overlap + 1), overlap, encoded.word_ids)
    return [text[start:end] for start, end in spans]

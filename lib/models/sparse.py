"""Learned sparse encoders (SPLADE): texts to a few weighted vocabulary terms."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from lib.files import digest_of
from lib.method import Search, memoized
from lib.models.encoders import Role, dtype_of, in_batches_that_fit, loading, positions_of, precision_of_rows, reading
from lib.models.weights import fetch, weights_hash

VERSION = 1  # raised when the same weights give other terms
N_TERMS = 1 << 16  # more than BERT's vocabulary has, which SPLADE weighs
OPTIONS = ("window", "max_active_dims", "precision")
TERM = np.dtype([("term", np.int32), ("weight", np.float32)])


def max_first_pooling(pooling):
    """The module with the maximum before ``log(1 + relu(x))``: as both rise, the same in half the time."""
    import torch

    def forward(features: dict) -> dict:
        logits, mask = features["token_embeddings"], features["attention_mask"]
        longest = logits.masked_fill_(~mask.bool().unsqueeze(-1), 0).amax(dim=1)
        features["sentence_embedding"] = torch.log1p(torch.relu(longest.float()))
        pooling.embedding_dimension = logits.shape[-1]
        return features

    pooling.forward = forward
    return pooling


class SpladeEncoder:
    """A sentence-transformers ``SparseEncoder`` that keeps the ``max_active_dims`` heaviest terms of a text."""

    def __init__(self, weights: Path, window: int, max_active_dims: int, precision="auto", batch_size: int = 8):
        from sentence_transformers import SparseEncoder
        from sentence_transformers.sparse_encoder.modules import SpladePooling

        with loading(weights):
            self.model = SparseEncoder(str(weights), local_files_only=True)
        self.model.max_seq_length = window
        for module in self.model.children():
            is_known = type(module) is SpladePooling and module.pooling_strategy == "max"
            if is_known and module.activation_function == "relu":
                max_first_pooling(module)
        self.model.to(dtype_of(precision))
        self.batch_size, self.max_active_dims = batch_size, max_active_dims

    def encode(self, texts: Sequence[str], role: Role = "document") -> np.ndarray:
        """The heaviest terms of texts: records (term, weight), shape (n_texts, max_active_dims), 0 where unused."""
        import torch

        encode = self.model.encode_query if role == "query" else self.model.encode_document
        encode = partial(encode, convert_to_tensor=True, convert_to_sparse_tensor=False, show_progress_bar=False)
        rows = np.zeros((len(texts), self.max_active_dims), TERM)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        n_at_once = self.batch_size  # stays, where the batches inside of it become smaller
        for start in range(0, len(order), n_at_once):
            part = order[start : start + n_at_once]
            run = partial(encode, [texts[i] for i in part])
            with reading(self.model.max_seq_length, positions_of(self.model)):
                vectors, self.batch_size = in_batches_that_fit(run, self.batch_size)
            weights, terms = torch.topk(vectors.float(), min(self.max_active_dims, vectors.shape[1]), dim=1)
            rows["term"][part, : terms.shape[1]] = terms.cpu().numpy()
            rows["weight"][part, : terms.shape[1]] = weights.cpu().numpy()
        return rows


def to_matrix(rows: np.ndarray) -> sparse.csr_array:
    """Records of terms as a sparse matrix, shape (n_texts, N_TERMS)."""
    n_texts, width = rows.shape
    where = np.repeat(np.arange(n_texts), width), rows["term"].ravel()
    matrix = sparse.csr_array((rows["weight"].ravel(), where), shape=(n_texts, N_TERMS))
    matrix.eliminate_zeros()
    return matrix


@memoized
def _encoder(study: Search) -> SpladeEncoder:
    settings = study.profile.splade
    options = {name: settings[name] for name in (*OPTIONS, "batch_size")}
    return SpladeEncoder(fetch(settings.weights), **options)


def sparse_vectors(study: Search, stage: str, texts: Sequence[str], role: Role = "document") -> sparse.csr_array:
    """The sparse vectors of texts, stored, shape (n_texts, N_TERMS)."""
    settings = study.profile.splade
    space = {"model": weights_hash(settings.weights), "version": VERSION, "role": role}
    space |= {name: settings[name] for name in OPTIONS}

    def encode(part: list[str]) -> np.ndarray:
        return _encoder(study).encode(part, role)

    rows_space = space | {"precision": precision_of_rows(settings.precision)}
    fill = partial(study.cache.rows, rows_space, texts, encode, dtype=TERM, label=stage)
    # the entry records the time of encoding, which manifests publish; the vectors are in the cache
    study.store.frame(stage, space | {"texts": digest_of(list(texts))}, lambda: {"shape": fill().shape})
    return to_matrix(fill())

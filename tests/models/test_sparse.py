"""SPLADE: the fast pooling is sentence-transformers' pooling, and rows are its heaviest terms."""

import numpy as np
import pytest

from lib.models import sparse
from lib.models.sparse import SpladeEncoder, max_first_pooling, to_matrix

TEXTS = ["net sales rose in the year", "cash", "", "profit $ 1,577.0 " * 20, "中文 net"]


@pytest.fixture(scope="module")
def splade(tiny, tmp_path_factory):
    """The directory of a random SPLADE model."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling

    path = tmp_path_factory.mktemp("splade")
    bert = MLMTransformer(str(tiny("BertForMaskedLM")), max_seq_length=128)
    SparseEncoder(modules=[bert, SpladePooling(pooling_strategy="max")], device="cpu").save(str(path))
    return path


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_max_first_pooling_is_the_library_s(precision):
    import torch
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    torch.manual_seed(13)
    logits, mask = (3 * torch.randn(4, 9, 50)).to(getattr(torch, precision)), torch.ones(4, 9, dtype=torch.long)
    mask[1, 4:], mask[2, 1:], logits[3] = 0, 0, -logits[3].abs()

    def pooled(module):
        features = {"token_embeddings": logits.clone(), "attention_mask": mask}
        return module.eval()(features)["sentence_embedding"].float().numpy()

    reference = SpladePooling(pooling_strategy="max")
    wanted, got = pooled(reference), pooled(max_first_pooling(reference))
    np.testing.assert_allclose(got, wanted, rtol=1e-6 if precision == "float32" else 1e-2)
    assert (got[3] == 0).all()


def test_rows_are_the_heaviest_terms_of_the_library_s_rows_in_the_order_of_the_texts(splade, monkeypatch):
    fast = SpladeEncoder(splade, window=64, max_active_dims=5, precision="float32", batch_size=2)
    monkeypatch.setattr(sparse, "max_first_pooling", lambda pooling: pooling)
    slow = SpladeEncoder(splade, window=64, max_active_dims=200, precision="float32")
    everything = to_matrix(slow.encode(TEXTS)).toarray()
    assert (everything.sum(axis=1) > 0).any()
    for row, weights in zip(fast.encode(TEXTS), everything, strict=True):
        np.testing.assert_allclose(row["weight"], np.sort(weights)[::-1][:5], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(weights[row["term"]], row["weight"], rtol=1e-5, atol=1e-6)

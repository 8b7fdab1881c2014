"""Bi-encoders: unit vectors in the order of the texts, cut at the window."""

import numpy as np
import pytest

from lib.models.encoders import Encoder


@pytest.fixture(scope="module")
def encoder_of(tiny, tmp_path_factory):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as models

    bert = models.Transformer(str(tiny("BertModel")), max_seq_length=128)
    path = tmp_path_factory.mktemp("encoder")
    SentenceTransformer(modules=[bert, models.Pooling(32, "mean")], device="cpu").save(str(path))
    return path


TEXTS = ["net sales rose in the year", "cash", "profit $ 1,577.0", "flow " * 30]


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("bfloat16", 0.05)])
def test_vectors_are_float32_of_length_one_in_the_order_of_texts_cut_at_the_window(encoder_of, precision, tolerance):
    encoder = Encoder(encoder_of, window=8, precision=precision, batch_size=2)
    vectors = encoder.encode([*TEXTS, f"{TEXTS[0]} {'cash ' * 50}"])
    assert (vectors.shape, vectors.dtype) == ((5, 32), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(vectors, [*alone, alone[0]], atol=tolerance)


def test_every_token_has_a_unit_vector_and_special_tokens_have_none(encoder_of, wordpiece):
    encoder = Encoder(encoder_of, window=64, precision="float32", batch_size=2)
    vectors = encoder.encode_tokens([*TEXTS, ""])
    n_tokens = [len(wordpiece.encode(text, add_special_tokens=False).ids) for text in TEXTS]
    assert [len(one) for one in vectors] == [*n_tokens, 0]
    assert all(np.linalg.norm(one, axis=1) == pytest.approx(np.ones(len(one)), abs=1e-5) for one in vectors)

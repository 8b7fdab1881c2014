"""Encoders and vectors: unit vectors in the order of texts, made once; SPLADE, cross-encoders, and windows."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from lib.models import encoders, sparse, vectors
from lib.models.cross_encoder import load_cross_encoder
from lib.models.encoders import Encoder
from lib.models.sparse import SpladeEncoder, max_first_pooling, to_matrix
from lib.models.weights import fetch
from lib.schema import StudyError

TEXTS = ["net sales rose in the year", "cash", "profit $ 1,577.0", "flow " * 30]


@pytest.fixture(scope="module")
def encoder_of(tiny, tmp_path_factory):
    """The directory of a random encoder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as models

    bert = models.Transformer(str(tiny("BertModel")), max_seq_length=128)
    path = tmp_path_factory.mktemp("encoder")
    SentenceTransformer(modules=[bert, models.Pooling(32, "mean")], device="cpu").save(str(path))
    return path


@pytest.fixture(scope="module")
def splade(tiny, tmp_path_factory):
    """The directory of a random SPLADE model."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling

    path = tmp_path_factory.mktemp("splade")
    bert = MLMTransformer(str(tiny("BertForMaskedLM")), max_seq_length=128)
    SparseEncoder(modules=[bert, SpladePooling(pooling_strategy="max")], device="cpu").save(str(path))
    return path


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


OWN_MODULE = [{"idx": 0, "name": "0", "path": "", "type": "own.Transformer"}]
OWN_MODEL = {"model_type": "mine", "auto_map": {"AutoConfig": "own.C", "AutoModel": "own.M"}}
UNSOUND = {"modules.json": json.dumps(OWN_MODULE), "config.json": json.dumps(OWN_MODEL), "model.safetensors": "half"}


@pytest.mark.parametrize(("file", "content"), UNSOUND.items(), ids=UNSOUND)
def test_weights_that_cannot_be_loaded_run_no_code(encoder_of, tmp_path, file, content):
    folder = Path(shutil.copytree(encoder_of, tmp_path / "mine"))
    (folder / "own.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")
    (folder / file).write_text(content)
    with pytest.raises(StudyError, match="mine: the model cannot be loaded"):
        Encoder(folder, window=8, precision="float32")
    assert not (folder / "ran").exists()


def test_a_window_above_the_model_s_positions_is_one_error_where_a_text_fills_it(encoder_of, splade, tiny):
    encoder, terms = Encoder(encoder_of, 129, "float32"), SpladeEncoder(splade, 129, 5, "float32")
    pairs = load_cross_encoder(tiny("BertForSequenceClassification", num_labels=1), 129)
    for read in (
        lambda text: encoder.encode([text]),
        lambda text: encoder.encode_tokens([text]),
        lambda text: terms.encode([text]),
        lambda text: pairs.scores([("", text[5:])]),
    ):
        read("cash " * 126)
        with pytest.raises(StudyError, match="128 tokens at most"):
            read("cash " * 127)


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
    texts = [*TEXTS, "", "中文 net"]
    fast = SpladeEncoder(splade, window=64, max_active_dims=5, precision="float32", batch_size=2)
    monkeypatch.setattr(sparse, "max_first_pooling", lambda pooling: pooling)
    slow = SpladeEncoder(splade, window=64, max_active_dims=200, precision="float32")
    everything = to_matrix(slow.encode(texts)).toarray()
    assert (everything.sum(axis=1) > 0).any()
    for row, weights in zip(fast.encode(texts), everything, strict=True):
        np.testing.assert_allclose(row["weight"], np.sort(weights)[::-1][:5], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(weights[row["term"]], row["weight"], rtol=1e-5, atol=1e-6)


def test_where_memory_is_short_the_smaller_batch_stays_and_no_text_is_lost(splade, monkeypatch):
    import torch

    encoder, sizes = SpladeEncoder(splade, window=64, max_active_dims=5, precision="float32", batch_size=4), []
    texts, encode = [f"net sales {'cash ' * number}" for number in range(9)], encoder.model.encode_document
    wanted = encoder.encode(texts)

    def short(texts, batch_size, **options):
        sizes.append(batch_size)
        if batch_size > 2:
            raise torch.OutOfMemoryError
        return encode(texts, batch_size=batch_size, **options)

    monkeypatch.setattr(encoder.model, "encode_document", short)
    found = encoder.encode(texts)
    assert sizes == [4, 2, 2, 2]  # three batches of four, four and one; memory fails once
    assert (found["term"] == wanted["term"]).all()
    np.testing.assert_allclose(found["weight"], wanted["weight"], rtol=1e-5)


@pytest.mark.weights
def test_scores_do_not_depend_on_other_pairs_and_pairs_that_are_too_long_are_cut():
    onnx = load_cross_encoder(fetch("ms-marco-minilm-l12"), window=512)
    asked, text = "How many people live in Berlin?", "Berlin had a population of 3,520,031 registered inhabitants."
    pairs = [(asked, text), (asked, "New York City."), (asked, text + " word" * 900), (asked * 200, text), ("?", "")]
    scores = onnx.scores(pairs)
    assert scores[0] > 5 > -5 > scores[1], "logits"
    assert np.isfinite(scores).all()
    assert scores.tolist() == [onnx.scores([pair])[0] for pair in pairs]
    assert onnx.scores([]).shape == (0,)


class CountingEncoder:
    def __init__(self):
        self.seen = []

    def encode(self, texts, role="document"):
        self.seen += texts
        return np.array([[len(text), 1] for text in texts], np.float32)


@pytest.fixture
def make(fake_study, tokenizer_folder, monkeypatch):
    """Make a study of texts whose encoder gives their lengths, and keeps what it reads."""

    def study(texts, **embedder):
        settings = {"weights": str(tokenizer_folder), "window": 12, "window_overlap": 2, "batch_size": 4}
        settings |= {"long_chunks": "windows", "precision": "float32"} | embedder
        made = fake_study(["?"], texts, {"embedder": settings})
        made.encoder = CountingEncoder()
        monkeypatch.setattr(vectors, "load_encoder", lambda *args: made.encoder)
        return made

    return study


def test_windows_leave_room_for_special_tokens_and_drop_no_word_and_truncate_keeps_the_first(make, wordpiece):
    long = " ".join(f"w{n}" for n in range(20))
    table = vectors.windows(make(["net sales", long]))
    assert table["chunk"].tolist() == [0] + [1] * (len(table) - 1)
    assert all(len(wordpiece.encode(text).ids) <= 12 for text in table["text"])
    assert set(long.split()) <= set(" ".join(table["text"]).split())
    first = vectors.windows(make(["net sales", long], long_chunks="truncate"))
    assert first["text"].tolist() == table["text"].tolist()[:2]


def test_a_text_is_encoded_once_in_a_role_unless_its_list_is_pinned(make):
    study, ab, abb = make(["net"]), ["a", "b"], ["a", "bb"]
    asked = [([*abb, "a"], "document", False, abb), (ab, "document", False, ["b"]), (ab, "query", False, ab)]
    asked += [(abb, "query", True, abb), (abb, "query", True, []), (ab, "query", True, ab)]
    for texts, role, is_pinned, seen in asked:
        study.encoder.seen.clear()
        found = vectors.encode_texts(study, "embeddings/test", texts, role, is_pinned)
        assert found.tolist() == [[len(text), 1] for text in texts]
        assert study.encoder.seen == seen


def test_windows_are_encoded_filing_by_filing_each_different_text_once_and_again_where_one_changed(make):
    study = make(["net", "cash", "net"])
    study.chunks["doc_name"] = ["ACME", "BOLT", "BOLT"]
    study.chunks["chunk_id"] = ["ACME#p0000#c00", "BOLT#p0000#c00", "BOLT#p0001#c00"]
    rows, spans, of_acme = [0, 0, 1, 2, 2], ["net", "sales", "cash", "net", "net"], ["net", "sales"]
    for texts, seen in (
        (spans, [*of_acme, "cash", "net"]),
        (spans, []),
        ([*of_acme, "cost", "net", "net"], ["cost", "net"]),
    ):
        study.encoder.seen.clear()
        found = vectors.chunk_vectors(study, "windows", rows, texts)
        assert found.tolist() == [[len(text), 1] for text in texts]
        assert study.encoder.seen == seen
    assert vectors.chunk_vectors(study, "windows", [], []).shape == (0, 0)


def test_vectors_of_another_precision_are_not_taken_for_a_machine_s_own(make, monkeypatch):
    study, keys = make(["net"], precision="auto"), []
    for named, seen in (("bfloat16", ["a"]), ("float32", ["a"]), ("bfloat16", []), ("float32", [])):
        monkeypatch.setenv(encoders.PRECISION, named)
        study.encoder.seen.clear()
        with study.store.recording() as asked:
            vectors.encode_texts(study, "embeddings/test", ["a"])
        assert study.encoder.seen == seen
        keys += asked
    assert len({*keys}) == 1  # the stage's key is the profile's, and that of what is published
    monkeypatch.setenv(encoders.PRECISION, "int4")
    with pytest.raises(StudyError, match="int4"):
        encoders.automatic_precision()

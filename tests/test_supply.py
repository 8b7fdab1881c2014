"""What the project takes from elsewhere is pinned: packages by hash, actions by commit, weights by hash or commit."""

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat
import pytest
import yaml
from safetensors.numpy import load_file

from lib.book.environment import PACKAGES as IN_MANIFEST
from lib.models.weights import COMMIT, SHA256, fetch, is_folder, lock

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = sorted(ROOT.glob("requirements*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def imported(sources: Iterable[str]) -> set[str]:
    """The modules that code imports, by the first part of their names."""
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    names = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.name)
def test_every_package_has_a_version_and_hashes(path):
    lines = [line for line in path.read_text().replace("\\\n", " ").splitlines() if not line.startswith("#")]
    assert len(lines) >= (200 if path.stem == "requirements" else 1)
    pinned = re.compile(r"[\w.\[\],-]+==\S+ .*--hash=sha256:[0-9a-f]{64}")
    assert [line for line in lines if not pinned.match(line)] == []
    torch = {match for path in PACKAGES for match in re.findall(r"^torch==([\d.]+)", path.read_text(), re.M)}
    assert len(torch) == 1  # with and without a GPU


def test_what_is_imported_is_a_direct_dependency_and_each_of_these_is_in_the_lock():
    listed = sum(PROJECT["project"]["optional-dependencies"].values(), PROJECT["project"]["dependencies"])
    listed = [re.sub(r"\[.+\]", "", line) for line in listed]  # the lock names a package's parts as packages
    locked = re.findall(r"^[^\s#]+==\S+", (ROOT / "requirements.txt").read_text(), re.M)
    assert set(listed + PROJECT["dependency-groups"]["tools"]) <= set(locked)
    files = [path for folder in ("lib", "extras", "examples") for path in (ROOT / folder).rglob("*.py")]
    chapters = [nbformat.read(path, 4).cells for path in (ROOT / "notebooks").glob("*.ipynb")]
    cells = [cell.source for chapter in chapters for cell in chapter if cell.cell_type == "code"]
    modules = imported([*map(Path.read_text, files), *cells]) - sys.stdlib_module_names - {"lib", "extras"}
    packages, direct = packages_distributions(), {line.split("==")[0] for line in listed}
    packages["llama_index"] = ["llama-index-core"]  # a folder of several packages
    for module in modules:
        assert direct & {re.sub("[_.]", "-", name).lower() for name in packages.get(module, [module])}, module


def test_conda_installs_what_is_pinned_and_the_manifest_lists_it():
    *_, named = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert named["pip"][-1] == "-e ."
    built_on = named["pip"][:-1]
    assert {*built_on} <= {*PROJECT["project"]["dependencies"]}
    assert {line.split("==")[0] for line in built_on} <= {*IN_MANIFEST}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_jobs_that_run_code_may_only_read(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []
        assert "permissions" not in job or not any("run" in step for step in job["steps"])


@pytest.mark.parametrize(("name", "record"), lock().items())
def test_weights_are_data_pinned_by_hash_or_by_commit_with_a_licence_and_their_size(name, record):
    files = record["files"]
    assert all(SHA256.fullmatch(about["sha256"]) for about in (*files.values(), *record.get("packages", ())))
    assert not [file for file in files if file.endswith((".bin", ".pt", ".pth", ".pkl", ".ckpt"))]
    assert (record["licence"] in ("Apache-2.0", "MIT")) if files else COMMIT.fullmatch(record["hub"]["revision"])
    folder = Path(os.environ.get("RETRIEVAL_GAP_CACHE") or Path.home() / ".cache" / "retrieval-gap")
    if "model.safetensors" in files and (path := folder / name / "model.safetensors").is_file():
        tensors = load_file(path).values()
        assert record["parameters"] == sum(one.size for one in tensors if one.dtype.kind == "f")


def test_a_folder_in_the_working_directory_is_not_taken_for_a_locked_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("minilm", "mine"):
        Path(name).mkdir()
    assert (is_folder("minilm"), is_folder("./minilm"), str(fetch("mine"))) == (False, True, "mine")

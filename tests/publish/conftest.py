"""The small study that the tests of publishing share with those of the book, and a repository to publish from."""

import subprocess

import pytest

from extras.publish import publish, readme
from lib import files, studies
from lib.book import environment, manifest
from lib.published import Published
from tests.small import bm25_alone, open_small, small_artifacts, small_folder  # noqa: F401
from tests.small import study as study


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository that stands for the project's own; its published results are those that are used."""
    root = tmp_path / "repository"
    (root / "lib").mkdir(parents=True)
    (root / "lib" / "code.py").write_text("x = 1\n")
    (root / "README.md").write_text(f"before\n{readme.BEGIN}\nas it was\n{readme.END}\nafter\n")
    commit(root)
    for module in (environment, publish):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(files, "RESULTS", root / "book" / "results")
    return root


def commit(root) -> None:
    """Commit everything."""
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=b commit -qm step"):
        subprocess.run(["git", "-C", str(root), *command.split()], check=True)


@pytest.fixture
def publish_study(repository):
    """Publish a study into the repository; gives what was published."""

    def publish_it(whole) -> Published:
        given = repository / "book" / "results", repository / "README.md", lambda line: None
        return Published(publish.publish(whole, *given))

    return publish_it


@pytest.fixture
def results(study, publish_study) -> Published:
    """The small study's published results."""
    manifest.write_manifest(study)
    return publish_study(study)


@pytest.fixture
def no_filings(monkeypatch):
    """A machine without FinanceBench."""
    monkeypatch.setattr(studies, "financebench_root", lambda: None)

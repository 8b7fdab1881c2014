"""A book is built again if and only if something of it has changed."""

import os
from types import SimpleNamespace

import pytest

from lib.book import site, unchanged
from lib.store import Store

GIVEN = {"dataset": "demo", "profile": "default", "results": "published"}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study whose book was built from a few files."""
    for name in ("lib/code.py", "notebooks/01_data.ipynb", "book/intro.md", "_config.yml", "_toc.yml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    for module in (unchanged, site):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(unchanged, "git_commit", lambda: "abc")
    view = tmp_path / "view"
    made = SimpleNamespace(
        view=view,
        store=Store(tmp_path / "store", say=lambda line: None),
        dataset=SimpleNamespace(name="demo", fingerprint="f"),
        profile={"chunks": 1},
        write=lambda name, text: (view / name).write_text(text),
    )
    for path in (
        view / "metrics.csv.gz",
        site.built_book(made) / "index.html",
        made.store.root / "pages" / "x",
    ):
        path.parent.mkdir(parents=True)
        path.write_text("made")
    unchanged.remember(made, GIVEN)
    return made


def test_nothing_has_changed(study):
    assert unchanged.is_unchanged(study, GIVEN)


def test_a_book_that_was_never_built_is_built(study):
    (study.view / unchanged.STAMP).unlink()
    assert not unchanged.is_unchanged(study, GIVEN)


@pytest.mark.parametrize("name", ["lib/code.py", "notebooks/01_data.ipynb", "book/intro.md", "_toc.yml"])
def test_a_changed_source_is_seen_by_its_content(study, tmp_path, name):
    os.utime(tmp_path / name, (1, 1))
    assert unchanged.is_unchanged(study, GIVEN)
    (tmp_path / name).write_text("changed")
    assert not unchanged.is_unchanged(study, GIVEN)


@pytest.mark.parametrize("name", ["view/metrics.csv.gz", "store/pages/x", "book/_build/demo/html/index.html"])
def test_what_was_made_is_missed(study, tmp_path, name):
    (tmp_path / name).unlink()
    assert not unchanged.is_unchanged(study, GIVEN)


def test_new_results_other_arguments_filings_settings_and_commits_are_seen(study, tmp_path, monkeypatch):
    assert not unchanged.is_unchanged(study, GIVEN | {"profile": "paper"})
    study.profile = {"chunks": 2}
    assert not unchanged.is_unchanged(study, GIVEN)
    study.profile, study.dataset.fingerprint = {"chunks": 1}, "g"
    assert not unchanged.is_unchanged(study, GIVEN)
    study.dataset.fingerprint = "f"
    assert unchanged.is_unchanged(study, GIVEN)
    (tmp_path / "store" / "pages" / "y").write_text("computed since")
    assert not unchanged.is_unchanged(study, GIVEN)
    (tmp_path / "store" / "pages" / "y").unlink()
    monkeypatch.setattr(unchanged, "git_commit", lambda: "def")
    assert not unchanged.is_unchanged(study, GIVEN)


def test_locks_and_reruns_are_nobody_s_results(study, tmp_path):
    for name in ("store/locks/a", "view/reruns/x/metrics.csv.gz"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("x")
    assert unchanged.is_unchanged(study, GIVEN)

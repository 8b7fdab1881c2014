"""Profiles: what extends what, and misspelt names that cannot pass."""

import copy
import pickle
import re
from pathlib import Path

import pytest

from lib.method_sets import measured
from lib.profile import PROFILES, Settings, UndeclaredSetting, load_profile
from lib.schema import StudyError


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write a profile, and read it."""
    monkeypatch.chdir(tmp_path)

    def write_and_load(text: str) -> Settings:
        Path("mine.yaml").write_bytes(text.encode(errors="surrogatepass"))
        return load_profile("mine.yaml")

    return write_and_load


@pytest.mark.parametrize("name", sorted(path.stem for path in PROFILES.glob("*.yaml")))
def test_every_profile_of_the_repository_loads(name):
    assert load_profile(name).run.depth >= 20


def test_an_extending_profile_changes_what_it_names_and_nothing_else(read):
    mine, base = read("extends: default\nbm25: {k1: 1}\nsiblings: {}"), load_profile("default")
    assert repr(mine.bm25) == repr({"k1": 1, "b": base.bm25.b})  # a whole number stays one, as in keys
    assert dict(mine) | {"name": "default", "bm25": base.bm25} == base | {"extends": "default"}


#: A profile's text, and what its one problem begins with: the line and the setting.
INVALID = {
    "bm25: {k: 0.9}": "1: unknown setting 'bm25.k'; choose from bm25.k1, bm25.b",
    "bm52: {k1: 0.9}": "1: unknown setting 'bm52'",
    "bm25: 5": "1: bm25 is 5",
    "sets: [mine]": "1: sets is",
    "bm25: {k1: .nan}": "1: bm25.k1",
    "bm25:\n  b: 1.5": "2: bm25.b",
    "run: {depth: yes}": "1: run.depth",
    "metrics: {ks: [0, 5]}": "1: metrics.ks is 0",
    "metrics: {ks: [5, 5, 10]}": "1: metrics.ks is [5, 5, 10]; 5 is repeated",
    "metrics: {ks: [5, 1]}": "1: metrics.ks",
    "metrics: {ks: [51]}": "1: metrics is {'ks': [51]}; give ks of at most run.depth",
    "chunks: {size: 64, overlap: 64}": "1: chunks.overlap",
    "embedder: {weights: ' '}": "1: embedder.weights",
    "embedder: {window: 34}": "1: embedder.window_overlap is 32",
    "embedder: {window: 2, window_overlap: 0}": "1: embedder.window is 2",
    "page_scorer: {compare_tokens: 2}": "1: page_scorer.compare_tokens",
    "sets: {mine: {run.depth: 0}}": "1: run.depth",
    "sets: {mine: {bm25: {}, bm25.k1: 1}}": "1: bm25 and bm25.k1",
}


@pytest.mark.parametrize(("text", "problem"), INVALID.items())
def test_an_invalid_setting_is_named_with_its_line(read, text, problem):
    with pytest.raises(StudyError, match=re.escape(f"mine.yaml: 1 problem\n  line {problem}")):
        read(text)


@pytest.mark.parametrize("text", ["- a list", "\ud800", "bm25: {k1: 1.0, k1: 2.0}", "extends: mine.yaml", ""])
def test_a_file_without_a_profile_is_named(read, text):
    with pytest.raises(StudyError, match="^mine.yaml: "):
        read(text)


def test_every_problem_of_a_profile_is_listed(read):
    with pytest.raises(StudyError, match=r"2 problems\n  line 1: run.depth.*\n  line 2: unknown setting 'nope'"):
        read("run: {depth: -1}\nnope: 1")
    with pytest.raises(StudyError, match="run.depth.*bm25.k"):
        load_profile("default").replaced({"bm25.k": 1, "run.depth": 0})


def test_replaced_changes_a_copy():
    base = load_profile("default")
    assert (base.replaced({"bm25.k1": 0.9}).bm25.k1, base.bm25.k1) == (0.9, 1.5)


def test_an_unknown_profile_or_setting_is_named():
    with pytest.raises(StudyError, match="'nope'; choose from base, default"):
        load_profile("nope")
    with pytest.raises(AttributeError, match="'size'"):
        load_profile("default").bm25.size  # noqa: B018


def test_an_extending_profile_s_sets_are_added_and_change_settings_of_their_name_alone(read):
    profile = read("extends: default\nsets: {mine: {bm25.k1: 0.9, siblings.without: [hyde]}}")
    assert profile.for_sets("demo").rerank.n < profile.rerank.n
    assert profile.for_sets("demo").bm25 == load_profile("default").bm25
    changed = profile.for_sets("financebench", "mine")
    assert (changed.bm25.k1, changed.siblings.without, "sets" in changed) == (0.9, ["hyde"], False)
    assert {"hyde"} == {name for name, _ in set(measured(profile)) - set(measured(changed))}


def test_a_section_that_a_reader_did_not_declare_is_an_error_that_names_it_also_in_a_copy():
    profile = load_profile("default")
    part = profile.only(("bm25", "run"), "my_method")
    for copied in (part, copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert (copied, copied.bm25.k1, copied.get("bm25")) == (part, part.bm25.k1, profile.bm25)
        for read in (lambda one: one.rerank, lambda one: one.get("rerank"), lambda one: "rerank" in one):
            with pytest.raises(UndeclaredSetting, match="my_method reads the section 'rerank'"):
                read(copied)
    with pytest.raises(KeyError):
        profile["rerang"]
    assert (profile.get("rerang", 1), "rerang" in profile) == (1, False)


@pytest.mark.parametrize("name", ["default", "Paper", "..", ".hidden", "a\nb"])
def test_a_profile_of_one_s_own_has_a_name_that_no_other_has(tmp_path, name):
    path = tmp_path / f"{name}.yaml"
    path.write_text("bm25: {k1: 1.0}")
    with pytest.raises(StudyError, match="rename the file"):
        load_profile(str(path))
    assert load_profile(str(path.rename(tmp_path / "my own.yml"))).name == "my own"
    assert load_profile(str(PROFILES / "paper.yaml")).name == "paper"

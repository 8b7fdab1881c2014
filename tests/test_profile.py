"""Profiles: what extends what, and misspelt names that cannot pass."""

import re
from pathlib import Path

import pytest

from lib.method_sets import measured
from lib.profile import PROFILES, Settings, UndeclaredSetting, load_profile
from lib.words import StudyError


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


PROBLEMS = {
    "bm25: {k: 0.9}": "line 2: the profile has no setting 'bm25.k'; it has bm25.k1, bm25.b$",
    "bm52: {k1: 0.9}": "line 2: the profile has no setting 'bm52.k1'; it has .*run, bm25, .*",
    "bm25: 0.9": "line 2: the profile has no setting 'bm25'; it has bm25.k1, bm25.b$",
    "run: {depth: {standard: 50}}": "line 2: the profile has no setting 'run.depth.standard'; it has run.depth$",
    "bm25: {k1: .nan}": "line 2: bm25.k1 is nan; give a number from 0, such as 1.0e-3$",
    "bm25:\n  b: 1.5": "line 3: bm25.b is 1.5; give a number from 0 to 1$",
    "page_scorer: {learning_rate: 1e-5}": "line 2: page_scorer.learning_rate is '1e-5'; give a number",
    "run: {depth: 0}": "line 2: run.depth is 0; give a whole number from 1$",
    "run: {depth: yes}": "line 2: run.depth is True; give a whole number from 1$",
    "metrics: {ks: [0, 5]}": r"line 2: metrics.ks is \[0, 5]; give a list, each of it a whole number from 1$",
    "metrics: {ks: []}": r"line 2: metrics.ks is \[]; give a list, each of it a whole number from 1$",
    "metrics: {ks: [5000]}": "line 2: metrics.ks has 5000; give at most run.depth, which is 50$",
    "page_scorer_light: {sides: [x]}": "line 2: page_scorer_light.sides is .*, each of it one of question, both$",
    "chunks: {size: 64, overlap: 64}": "line 2: chunks.overlap is 64; give less than chunks.size, which is 64$",
    "embedder: {weights: ' '}": "line 2: embedder.weights is ' '; give a text$",
    "siblings: {rows: 3}": "line 2: siblings.rows is 3; give all or a list of names$",
    "bm25: {k1: 1.0, k1: 2.0}": "line 2: bm25.k1 stands there twice, first in line 2; remove one$",
    "sets: {mine: {run.depth: 0}}": "line 2: run.depth is 0; give a whole number from 1$",
    "sets: [mine]": r"\['mine'] are no settings; write a name and a value each$",
}


@pytest.mark.parametrize(("text", "problem"), PROBLEMS.items())
def test_a_setting_that_cannot_be_is_told_with_its_line_and_what_it_needs(read, text, problem):
    with pytest.raises(StudyError, match=rf"mine\.yaml: 1 problem\n  {problem}"):
        read(f"extends: default\n{text}")


NO_PROFILES = {
    "extends: [default]": "extends is ['default']; give one profile's name",
    "extends: mine.yaml": "the profile extends itself; say extends: default",
    "1: 2": "line 1: 1 is no name of a setting; write a text",
    "a: &one [1]\nb: [*one, *one]": "mine.yaml: not YAML (it has an alias such as *name",
    "\ud800": "mine.yaml: not YAML (",
    "bm25: {k1: 1.0, b: 0.5}": "the profile lacks chunks.size and",
    "- a list": "mine.yaml: no settings",
    "extends: default\nrun: {depth: -1}\nnope: 1": "2 problems\n  line 2: run.depth is -1; give a whole number from 1\n"
    "  line 3: the profile has no setting",
}


@pytest.mark.parametrize(("text", "wrong"), NO_PROFILES.items())
def test_a_file_that_is_no_profile_is_named_with_its_mend(read, text, wrong):
    with pytest.raises(StudyError, match=re.escape(wrong)):
        read(text)


def test_replaced_changes_a_copy_and_names_that_are_not_there_list_those_that_are():
    base = load_profile("default")
    assert (base.replaced({"bm25.k1": 0.9}).bm25.k1, base.bm25.k1) == (0.9, 1.5)
    with pytest.raises(StudyError, match=r"no setting 'bm25.k'; it has bm25.k1, bm25.b; run.depth is 0; give"):
        base.replaced({"bm25.k": 1, "run.depth": 0})
    with pytest.raises(AttributeError, match="no setting 'size'; it has k1, b"):
        base.bm25.size  # noqa: B018
    with pytest.raises(StudyError, match="no profile 'big': say one of base, default, .*, or the path of a .yaml file"):
        load_profile("big")


def test_an_extending_profile_s_sets_are_added_and_change_settings_of_their_name_alone(read):
    profile = read("extends: default\nsets: {mine: {bm25.k1: 0.9, siblings.without: [hyde]}}")
    assert profile.for_sets("demo").rerank.n < profile.rerank.n
    changed = profile.for_sets("financebench", "mine")
    assert (changed.bm25.k1, changed.siblings.without, "sets" in changed) == (0.9, ["hyde"], False)
    assert profile.for_sets("demo").bm25 == load_profile("default").bm25
    assert {"hyde"} == {name for name, _ in set(measured(profile)) - set(measured(changed))}


def test_a_section_that_a_reader_did_not_declare_is_an_error_that_names_it():
    profile = load_profile("default")
    part = profile.only(("bm25", "run"), "my_method")
    said = r"my_method reads the section 'rerank' of the profile, which its row .* to settings=\(bm25, run\)"
    for read in (lambda: part.rerank, lambda: part["rerank"], lambda: part.get("rerank"), lambda: "rerank" in part):
        with pytest.raises(UndeclaredSetting, match=said):
            read()
    with pytest.raises(KeyError):
        profile["rerang"]
    assert (profile.get("rerang", 1), "rerang" in profile, part.get("bm25")) == (1, False, profile.bm25)

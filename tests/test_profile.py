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


PROBLEMS = {
    "bm25: {k: 0.9}": "line 1: the profile has no setting 'bm25.k'; it has bm25.k1, bm25.b$",
    "bm52: {k1: 0.9}": "line 1: the profile has no setting 'bm52'; it has .*run, bm25, .*",
    "sets: [mine]": "line 1: sets is .*; it should be a valid dictionary$",
    "bm25: {k1: .nan}": "line 1: bm25.k1 is nan; it should be",
    "bm25:\n  b: 1.5": "line 2: bm25.b is 1.5; it should be less than or equal to 1$",
    "page_scorer: {learning_rate: 1e-5}": "line 1: page_scorer.learning_rate is '1e-5'; it should be a valid number",
    "run: {depth: yes}": "line 1: run.depth is True; it should be a valid integer$",
    "metrics: {ks: [0, 5]}": "line 1: metrics.ks is 0; it should be greater than or equal to 1$",
    "metrics: {ks: []}": r"line 1: metrics.ks is \[]; List should have at least 1 item",
    "metrics: {ks: [5000]}": "line 1: metrics.ks has 5000; give at most run.depth, which is 50$",
    "page_scorer_light: {sides: [x]}": "line 1: page_scorer_light.sides is 'x'; it should be 'question' or 'both'$",
    "chunks: {size: 64, overlap: 64}": "line 1: chunks.overlap is 64; give less than chunks.size, which is 64$",
    "embedder: {weights: ' '}": "line 1: embedder.weights is ' '; String should match pattern",
    "siblings: {rows: 3}": "line 1: siblings.rows is 3; it should be a valid list$",
    "embedder: {window: 34}": "line 1: embedder.window_overlap is 32; give less than .* 2 special .*, which is 32$",
    "embedder: {window: 32, window_overlap: 40}": "line 1: embedder.window_overlap is 40; give less than .* is 30$",
    "embedder: {window: 2, window_overlap: 0}": "line 1: embedder.window is 2; it should be .* equal to 3$",
    "splade: {window: 1}": "line 1: splade.window is 1; it should be greater than or equal to 3$",
    "splade: {max_active_dims: 70000}": "line 1: splade.max_active_dims is 70000; it should be less than",
    "page_scorer: {max_tokens: 1}": "line 1: page_scorer.max_tokens is 1; it should be .* equal to 3$",
    "page_scorer: {compare_tokens: 2}": "line 1: page_scorer.compare_tokens is 2; give 0, or 3 or more$",
    "page_scorer: {n_folds: 1}": "line 1: page_scorer.n_folds is 1; it should be greater than or equal to 2$",
    "ahead: {inner_folds: 1}": "line 1: ahead.inner_folds is 1; it should be greater than or equal to 2$",
    "ahead: {leaves: 1}": "line 1: ahead.leaves is 1; it should be greater than or equal to 2$",
    "ahead: {learning_rate: 0}": "line 1: ahead.learning_rate is 0; it should be greater",
    "ahead: {shares: [0, 0.0]}": r"line 1: ahead.shares is \[0, 0.0\]; 0.0 stands there twice; give each once$",
    "metrics: {ks: [5, 5, 1, 10]}": r"line 1: metrics.ks is \[5, 5, 1, 10\]; 5 stands there twice; give each once$",
    "metrics: {ks: [5, 1]}": r"line 1: metrics.ks is \[5, 1\]; give the least first, \[1, 5\]$",
    "page_scorer_light: {sides: [both, both]}": "line 1: page_scorer_light.sides is .*; 'both' stands there twice",
    "significance: {n_draws: 100000000}": "line 1: significance.n_draws is 100000000; it should be less than",
    "sets: {mine: {run.depth: 0}}": "line 1: run.depth is 0; it should be greater than or equal to 1$",
}
NO_PROFILES = {
    "extends: [default]": "no profile \"['default']\": say one of",
    "sets: {mine: {bm25: {}, bm25.k1: 1}}": "1 problem\n  line 1: bm25 and bm25.k1 are both given; remove one",
    "- a list": "mine.yaml: not YAML of settings",
    "extends: mine.yaml": "the profile extends itself; say extends: default",
    "bm25: {k1: 1.0, k1: 2.0}": "(line 1: bm25.k1 stands there twice, first in line 1; remove one); mend the file",
    "\ud800": "mine.yaml: not YAML of settings",
    "run: {depth: -1}\nnope: 1": "2 problems\n  line 1: run.depth is -1; it should be greater than or equal to 1\n"
    "  line 2: the profile has no setting",
}
TOLD = {text: rf"mine\.yaml: 1 problem\n  {told}" for text, told in PROBLEMS.items()}
TOLD |= {text: re.escape(told) for text, told in NO_PROFILES.items()}


@pytest.mark.parametrize(("text", "told"), TOLD.items())
def test_a_setting_or_file_that_cannot_be_is_told_with_its_line_and_what_it_needs(read, text, told):
    with pytest.raises(StudyError, match=told):
        read(text)


def test_a_whole_number_for_a_number_of_parts_may_have_parts_again(read):
    assert read("bm25: {k1: 1}").replaced({"bm25.k1": 0.9}).bm25.k1 == 0.9


def test_replaced_changes_a_copy_and_names_that_are_not_there_list_those_that_are():
    base = load_profile("default")
    assert (base.replaced({"bm25.k1": 0.9}).bm25.k1, base.bm25.k1) == (0.9, 1.5)
    with pytest.raises(StudyError, match=r"depth is 0; it should be .* no setting 'bm25.k'; it has bm25.k1, bm25.b"):
        base.replaced({"bm25.k": 1, "run.depth": 0})
    with pytest.raises(AttributeError, match="no setting 'size'; it has k1, b"):
        base.bm25.size  # noqa: B018


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
    said = r"my_method reads the section 'rerank' of the profile, which its row .*: add 'rerank' behind"
    for read in (lambda: part.rerank, lambda: part["rerank"], lambda: part.get("rerank"), lambda: "rerank" in part):
        with pytest.raises(UndeclaredSetting, match=said):
            read()
    with pytest.raises(KeyError):
        profile["rerang"]
    assert (profile.get("rerang", 1), "rerang" in profile, part.get("bm25")) == (1, False, profile.bm25)


def test_settings_are_copied_and_pickled_with_their_reader():
    part = load_profile("default").only(("bm25", "run"), "my_method")
    for copied in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert (copied, copied.bm25.k1) == (part, part.bm25.k1)
        with pytest.raises(UndeclaredSetting, match="my_method reads the section 'rerank'"):
            copied.rerank  # noqa: B018


@pytest.mark.parametrize("name", ["default", "Paper", "..", ".hidden", "a\nb"])
def test_a_profile_of_one_s_own_has_a_name_of_its_own(tmp_path, name):
    path = tmp_path / f"{name}.yaml"
    path.write_text("bm25: {k1: 1.0}")
    with pytest.raises(StudyError, match="results are kept in a folder of the profile's name; rename the file"):
        load_profile(str(path))
    assert load_profile(str(path.rename(tmp_path / "my own.yml"))).name == "my own"
    assert load_profile(str(PROFILES / "paper.yaml")).name == "paper"

"""Profiles: what extends what, and misspelt names that cannot pass."""

import pytest

from lib.methods import measured
from lib.profile import PROFILES, Settings, UndeclaredSetting, load_profile
from lib.words import StudyError


@pytest.fixture
def write(tmp_path):
    def write_profile(text: str) -> str:
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        return str(path)

    return write_profile


@pytest.mark.parametrize("name", sorted(path.stem for path in PROFILES.glob("*.yaml")))
def test_every_profile_of_the_repository_loads(name):
    profile = load_profile(name)
    assert profile.chunks.overlap < profile.chunks.size
    assert profile.run.depth >= 20


def test_an_extending_profile_changes_what_it_names_and_nothing_else(write):
    mine, base = load_profile(write("extends: default\nbm25: {k1: 0.9}")), load_profile("default")
    assert mine.bm25 == {"k1": 0.9, "b": base.bm25.b}
    assert dict(mine) | {"name": "default", "bm25": base.bm25} == base | {"extends": "default"}


def test_smoke_is_default_with_smaller_chunks():
    assert load_profile("smoke").chunks.size < load_profile("default").chunks.size
    assert load_profile("smoke").metrics == load_profile("default").metrics


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bm25: {k: 0.9}", "bm25.k"),
        ("bm52: {k1: 0.9}", "bm52.k1"),
        ("bm25: 0.9", "bm25"),
        ("run: {depth: {standard: 50}}", "run.depth.standard"),
    ],
)
def test_unknown_setting_is_an_error_that_lists_the_known(write, text, name):
    with pytest.raises(StudyError, match=rf"no setting '{name}'; it has .*run\.depth, bm25\.k1, bm25\.b"):
        load_profile(write(f"extends: default\n{text}"))


def test_replaced_changes_a_copy():
    base = load_profile("default")
    before = base.bm25.k1
    assert base.replaced({"bm25.k1": 0.9}).bm25.k1 == 0.9
    assert base.bm25.k1 == before


def test_attribute_that_is_not_there_lists_those_that_are():
    with pytest.raises(AttributeError, match="no setting 'size'; it has k1, b"):
        Settings(k1=1, b=2).size  # noqa: B018


def test_unknown_profile_lists_the_known():
    with pytest.raises(
        StudyError, match="no profile 'big': say one of base, default, .*smoke, or the path of a .yaml file"
    ):
        load_profile("big")


def test_broken_yaml_names_the_file(write):
    with pytest.raises(StudyError, match=r"mine\.yaml: not YAML"):
        load_profile(write("bm25: {k1: 0.9"))


@pytest.mark.parametrize("text", ["", "- a list", "just text"])
def test_yaml_without_settings_names_the_file(write, text):
    with pytest.raises(StudyError, match=r"mine\.yaml: no settings"):
        load_profile(write(text))


def test_what_the_demo_changes_are_settings_that_there_are():
    profile = load_profile("default")
    demo = profile.for_sets("demo")
    assert demo.rerank.n < profile.rerank.n
    assert demo.bm25 == profile.bm25


def test_an_extending_profile_s_sets_are_added_and_change_settings_of_their_name_alone(write):
    profile = load_profile(write("extends: default\nsets: {mine: {bm25.k1: 0.9, siblings.without: [hyde]}}"))
    assert set(profile.sets) >= {"demo", "mine"}
    changed = profile.for_sets("financebench", "mine")
    assert (changed.bm25.k1, changed.siblings.without) == (0.9, ["hyde"])
    assert "sets" not in changed
    assert profile.for_sets("financebench").bm25 == load_profile("default").bm25
    assert {"hyde"} == {name for name, _ in set(measured(profile)) - set(measured(changed))}
    with pytest.raises(StudyError, match=r"no setting 'bm25\.k'"):
        load_profile(write("extends: default\nsets: {mine: {bm25.k: 1}}")).for_sets("mine")


def test_a_section_that_a_reader_did_not_declare_is_an_error_that_names_it():
    profile = load_profile("default")
    part = profile.only(("bm25", "run"), "my_method")
    assert part.bm25 == profile["bm25"]
    for read in (lambda: part.rerank, lambda: part["rerank"]):
        with pytest.raises(UndeclaredSetting) as caught:
            read()
        assert str(caught.value) == (
            "my_method reads the section 'rerank' of the profile, which its row in the method table does not declare: "
            "add it to settings=(bm25, run)"
        )
    with pytest.raises(KeyError):
        profile["rerang"]

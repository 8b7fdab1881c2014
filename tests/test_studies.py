"""Opening a study by names: what is refused, and which outputs a run with changed parameters gets."""

import json

import pytest

from lib import studies
from lib.studies import OUTPUTS_VARIABLE, changed_parameters, open_study
from lib.words import StudyError
from tests.conftest import write_questions

CHAPTER = "03_baselines"
OWN = {"methods": None, "k": 5}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Open the demo with artifacts of the test's own."""
    monkeypatch.delenv(OUTPUTS_VARIABLE, raising=False)

    def open_demo(**given):
        arguments = {"dataset": "demo", "results": "fresh", "chapter": CHAPTER, "artifacts": tmp_path}
        return open_study(**arguments | given)

    return open_demo


def test_a_book_s_own_parameters_write_into_its_outputs_and_changed_ones_beside_them(opened, tmp_path, monkeypatch):
    study = opened(**OWN)
    assert study.outputs == study.home == opened(changes={"bm25.k1": None}).home == tmp_path / "demo" / "default"
    assert (study.corpus.chapter, study.published) == (CHAPTER, None)
    changes = ({"methods": ["bm25"]}, {"methods": ["bm25", "dense"]}, {"k": 10}, {"changes": {"bm25.k1": 0.4}})
    folders = [opened(**OWN | changed).outputs for changed in changes]
    assert len(set(folders)) == len(folders)
    assert {(folder.parent, folder.name[: len(CHAPTER)]) for folder in folders} == {(study.home / "reruns", CHAPTER)}
    assert opened(**OWN | {"methods": ["bm25"]}).outputs == folders[0]
    assert opened(changes={"bm25.k1": 0.4}).profile.bm25.k1 == 0.4
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path / "mine"))
    elsewhere = opened(**OWN, results="published")
    assert (elsewhere.outputs, elsewhere.home) == (tmp_path / "mine", study.home)
    assert elsewhere.published.root.name == "default"
    assert elsewhere.store.published is None  # of the demo its texts alone


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"k": 7}, r"k is 7: say one of 1, 3, 5, 10, 20, or add it to metrics\.ks of the profile"),
        ({"k": "5"}, "k is '5': say one of 1"),
        ({"results": "new"}, "results is 'new': say published or fresh"),
        ({"changes": {"bm25.k": 1}}, r"no setting 'bm25\.k'; it has .*bm25\.k1, bm25\.b"),
        ({"questions": "no-set"}, r"no-set: no question set; give a folder .*one: demo, financebench"),
        ({"profile": "big"}, "no profile 'big': say one of base, default, .*, or the path of a .yaml file"),
        ({"dataset": "no/folder"}, r"^no/folder: no folder with data/\*.jsonl; give financebench, demo, or such"),
    ],
)
def test_a_name_or_value_that_cannot_be_is_told(opened, given, wrong):
    with pytest.raises(StudyError, match=wrong):
        opened(**given)


def test_another_question_set_has_outputs_of_its_own_and_its_collection_s_settings(opened, tmp_path):
    demo = opened()
    asked = {"financebench_id": "s1", "doc_name": demo.dataset.filings["doc_name"].iloc[0]}
    root = write_questions(tmp_path / "my set", asked)
    study = opened(questions=str(root))
    assert (study.dataset.name, study.home) == ("my-set", tmp_path / "my-set" / "default")
    assert study.profile == demo.profile
    assert (study.profile.answers.of_each_type > 0, "sets" in study.profile) == (True, False)
    assert opened(questions="demo").dataset.fingerprint == demo.dataset.fingerprint
    with pytest.raises(StudyError, match="chapter 6 needs answers, which the questions of my-set lack"):
        study.need_answers("chapter 6")


def test_only_what_differs_from_the_chapter_s_own_cell_is_changed(tmp_path, monkeypatch):
    assert changed_parameters("no_chapter", {"k": 3}) == changed_parameters(CHAPTER, OWN) == {}
    cell = {"metadata": {"tags": ["parameters"]}, "source": ["k: int = 5  # chunks\n", 'name = "bm25"']}
    (tmp_path / "typed.ipynb").write_text(json.dumps({"cells": [cell]}))
    monkeypatch.setattr(studies, "NOTEBOOKS", tmp_path)
    assert changed_parameters("typed", {"k": 5, "name": "dense"}) == {"name": "dense"}

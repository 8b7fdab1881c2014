"""Other question sets than a study's: which are opened, by which names, and where they write."""

from types import SimpleNamespace

import pytest

from lib import other_sets
from lib.data.locate import UNSEEN
from lib.schema import Names, NeedsFilings, StudyError


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A study of page-questions, and the names by which others were opened since."""
    filings = {"": ("financebench", "84 filings"), "elsewhere": ("demo", "8 filings")}
    calls = []

    def study(name: str, digest: str, names: Names) -> SimpleNamespace:
        dataset = SimpleNamespace(name=name, filings_digest=digest, collection="financebench")
        made = SimpleNamespace(dataset=dataset, names=names, home=tmp_path / name, outputs=tmp_path / "rerun")
        made.profile, made.chapter, made.artifacts = SimpleNamespace(name=names.profile), "09_question_sets", tmp_path
        made.replaced = lambda outputs: SimpleNamespace(**vars(made) | {"outputs": outputs})
        return made

    def open_study(chapter, artifacts, say, **names):
        calls.append(Names(**names))
        if names["questions"] not in filings or names["dataset"] == UNSEEN:
            raise StudyError("neither here nor published")
        return study(*filings[names["questions"]], calls[-1])

    monkeypatch.setattr(other_sets, "open_study", open_study)
    return study("page-questions", "84 filings", Names("mine", "base", "texts", "page-questions")), calls


def test_other_sets_are_those_over_the_same_filings_and_write_to_their_own_folders(opened, tmp_path):
    study, calls = opened
    found = other_sets.over_same_filings(study, ["", "elsewhere", "absent"])
    assert [*found] == ["financebench", "page-questions"], "in the order of KNOWN"
    assert found["page-questions"] is study
    assert found["financebench"].outputs == tmp_path / "financebench"
    assert calls == [study.names._replace(questions=name) for name in ("", "elsewhere", "absent")]


@pytest.mark.parametrize(("results", "used"), [("published", "published"), ("texts", "published"), ("fresh", "fresh")])
def test_unseen_companies_are_read_as_published_unless_nothing_published_is_wanted(opened, results, used):
    study, calls = opened
    study.names = study.names._replace(results=results)
    with pytest.raises(NeedsFilings, match="under profile base: neither here nor published"):
        other_sets.unseen_study(study)
    assert calls == [Names(UNSEEN, "base", used, "")]
    assert other_sets.unseen_beside(study) is None
    assert len(calls) == 1, "beside FinanceBench alone"

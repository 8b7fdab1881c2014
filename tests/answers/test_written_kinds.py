"""The command that has everything written: what it fills, what it says, and its errors."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lib.answers import written_kinds as written
from lib.study import Study
from lib.words import StudyError


@pytest.fixture
def study(judged_study):
    """One question whose two chunks are judged IRRELEVANT, and whose rewrite finds one that is RELEVANT."""

    def rule(asked: str) -> str:
        if "Passage: " in asked:
            return "RELEVANT" if "profit" in asked.split("Passage: ")[1] else "IRRELEVANT"
        return "profit"

    scores = np.array([[0.9, 0.8, 0.7, 0.1]])
    made = judged_study(["sales"], ["net", "cash", "flow", "profit"], rule, scores)
    made.candidates = lambda condition: np.ones((1, 4), bool)
    made.run = lambda name, condition: made.rank_method(name, made.candidates(condition), 50)
    return made


def call(monkeypatch, study, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["written", *arguments])
    monkeypatch.setattr(Study, "open", lambda *args, **kwargs: study)
    return written.main()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("keywords", "keywords: 1 of 1 questions"),
        ("judge", "judge: {'IRRELEVANT': 3}"),
        ("crag", "crag: 1 questions rewritten, 1 won by it"),
    ],
)
def test_a_kind_is_filled_once_and_told(monkeypatch, capsys, study, kind, told):
    assert call(monkeypatch, study, "--only", kind) == 0
    assert capsys.readouterr().out.strip() == told
    n_asked = len(study.generator.asked)
    call(monkeypatch, study, "--only", kind)
    assert len(study.generator.asked) == n_asked


def test_all_kinds_are_filled_in_order(monkeypatch, study):
    filled = []
    kinds = {kind: lambda study, kind=kind: filled.append(kind) for kind in written.KINDS}
    monkeypatch.setattr(written, "KINDS", kinds)
    call(monkeypatch, study)
    assert filled.index("judge") < filled.index("crag")
    assert len(filled) == 6


def test_questions_are_written_from_the_answers_of_the_best_baseline_and_of_ahead(monkeypatch, study):
    monkeypatch.setattr(written, "evaluate_all", lambda *args: None)
    monkeypatch.setattr(written, "best_baseline", lambda metrics, k: "hyde")
    texts = {"hyde": {"q0": "$7"}, "ahead": {"q0": "$8"}}
    monkeypatch.setattr(written, "answers", lambda study, one: SimpleNamespace(texts=texts[one.method]))
    assert written.fill_answer_questions(study) == "answer_question: {'hyde': 1, 'ahead': 1}"
    assert len(study.generator.asked) == 2


def test_an_error_of_the_study_is_one_sentence(monkeypatch, capsys, study):
    def fail(study):
        raise StudyError("no such data")

    monkeypatch.setitem(written.KINDS, "judge", fail)
    assert call(monkeypatch, study, "--only", "judge") == 1
    assert capsys.readouterr().err == "error: no such data\n"

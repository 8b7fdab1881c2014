"""What the small model writes: every kind, in an order that works, and lines that say how many there are."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from extras import writing as written

STUDY = SimpleNamespace(
    questions=pd.DataFrame({"question_id": ["q1", "q2"]}),
    profile=SimpleNamespace(sibling_texts=SimpleNamespace(judge=SimpleNamespace(top=5))),
)
VERDICTS = pd.DataFrame({"query": ["profit", ""], "is_second": [True, False]})


@pytest.fixture
def faked(monkeypatch):
    """Nothing is written; every step gives a result that is known."""
    texts = {"hyde": {"q1": "$7"}, "ahead": {"q1": "$8", "q2": "$9"}}
    found = {
        "write": lambda study, kind, fields: SimpleNamespace(texts={"q1": kind}),
        "asked": lambda study: {},
        "judgements": lambda study, pairs: pairs,
        "evaluate_all": lambda *given: None,
        "best_baseline": lambda metrics, k: "hyde",
        "answers": lambda study, one: SimpleNamespace(texts=texts[one.method]),
        "questions_from": lambda study, given: given,
        "window_vectors": lambda study, context: (np.array([0, 0, 1, 2]), np.zeros((4, 8))),
    }
    for name, value in found.items():
        monkeypatch.setattr(written, name, value)
    judged = pd.DataFrame({"label": ["RELEVANT", "IRRELEVANT", "IRRELEVANT"]})
    monkeypatch.setattr(written.judged, "judged_pairs", lambda study: judged)
    monkeypatch.setattr(written.judged, "verdicts", lambda study: VERDICTS)
    monkeypatch.setattr(written.judged, "chosen", lambda study: {"q1": [1, 3], "q2": [2]})
    filled = SimpleNamespace(origins=Counter(reused=80, computed=3), missing={"A": "it died"})
    monkeypatch.setattr(written.contextual, "written", lambda study: filled)


def test_all_kinds_are_written_and_judgements_before_the_corrections_that_read_them(faked):
    assert list(written.write_texts(STUDY)) == [
        *(f"{kind}: 1 of 2 questions" for kind in ("rewrites", "keywords", "expansion", "hyde_akarsu")),
        "judge: {'IRRELEVANT': 2, 'RELEVANT': 1}",
        "crag: 1 questions rewritten, 1 won by it",
        "selection: 3 chunks selected for 2 questions",
        "answer_question: {'hyde': 1, 'ahead': 2}",
    ]
    assert list(written.write_texts(STUDY, "keywords")) == ["keywords: 1 of 2 questions"]


def test_contexts_and_windows_are_counted(faked):
    assert written.write_contexts(STUDY) == "contexts: 3 computed, 80 reused; 1 missing"
    assert written.write_contexts(STUDY, "header") == "embeddings/contextual-header: 4 windows of 3 chunks"

"""What the small model writes: every kind, in an order that works, and lines that say how many there are."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from extras import writing as written

PROFILE = SimpleNamespace(sibling_texts=SimpleNamespace(judge=SimpleNamespace(top=5)))
STUDY = SimpleNamespace(questions=pd.DataFrame({"question_id": ["q1", "q2"]}), profile=PROFILE)
TEXTS = {"hyde": {"q1": "$7"}, "ahead": {"q1": "$8", "q2": "$9"}}
FOUND = {
    "write": SimpleNamespace(texts={"q1": "a text"}),
    "asked": {},
    "judgements": None,
    "evaluate_all": None,
    "best_baseline": "hyde",
    "window_vectors": (np.array([0, 0, 1, 2]), np.zeros((4, 8))),
    "judged.judged_pairs": pd.DataFrame({"label": ["RELEVANT", "IRRELEVANT", "IRRELEVANT"]}),
    "judged.verdicts": pd.DataFrame({"query": ["profit", ""], "is_second": [True, False]}),
    "judged.chosen": {"q1": [1, 3], "q2": [2]},
    "contextual.written": SimpleNamespace(origins=Counter(reused=80, computed=3), missing={"A": "it died"}),
}


@pytest.fixture(autouse=True)
def faked(monkeypatch):
    """Nothing is written; every step gives a result that is known."""
    for name, value in FOUND.items():
        monkeypatch.setattr(f"extras.writing.{name}", lambda *given, value=value: value)
    monkeypatch.setattr(written, "answers", lambda study, one: SimpleNamespace(texts=TEXTS[one.method]))
    monkeypatch.setattr(written, "questions_from", lambda study, given: given)


def test_all_kinds_are_written_and_judgements_before_the_corrections_that_read_them():
    assert list(written.write_texts(STUDY)) == [
        *(f"{kind}: 1 of 2 questions" for kind in ("rewrites", "keywords", "expansion", "hyde_akarsu")),
        "judge: {'IRRELEVANT': 2, 'RELEVANT': 1}",
        "crag: 1 questions rewritten, 1 won by it",
        "selection: 3 chunks selected for 2 questions",
        "answer_question: {'hyde': 1, 'ahead': 2}",
    ]
    assert list(written.write_texts(STUDY, "keywords")) == ["keywords: 1 of 2 questions"]


def test_contexts_and_windows_are_counted():
    assert written.write_contexts(STUDY) == "contexts: 3 computed, 80 reused; 1 missing"
    assert written.write_contexts(STUDY, "header") == "embeddings/contextual-header: 4 windows of 3 chunks"

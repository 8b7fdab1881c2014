"""The page on answers: questions of the demo with what was answered, and what was measured on both sets."""

import json

import pytest

from lib.answers.sure import fitted
from lib.book import asked
from lib.data.dataset import read_dataset
from lib.data.locate import DEMO

ONE = {"question": "What was revenue?", "answer": "$5", "confidence": 0.95, "formula": "net_income", "why_not": ""}
ONE |= {"reference": "$5.00", "document": "ACME", "gold": [0]}
CELL = {"item": "revenue", "document": "ACME", "page": 0, "row": "Net <sales>", "year": 2020, "value": "5", "unit": ""}
PAGE = {"document": "ACME", "page": 0, "score": 1.0, "filing": "Acme 2020", "fits": "company", "passage": ""}


def test_the_record_is_of_the_demo_s_own_questions_with_gold_pages():
    questions = read_dataset(DEMO, "demo").questions.set_index("question")
    found = json.loads(asked.FILE.read_text(encoding="utf-8"))
    assert len({one["question"] for one in found}) == 10
    for one in found:
        known = questions.loc[one["question"]]
        assert (one["reference"], one["document"]) == (known["answer"], known["doc_name"])
        assert one["gold"] == list(known["gold_pages"])
        assert (one["answer"] is None) == (one["confidence"] < fitted()["least"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "Reference: $5.00 (right)"),
        ({"answer": "$7"}, "Reference: $5.00 (wrong)"),
        ({"answer": None, "why_not": "no page has a table"}, "**No figure found**: no page has a table"),
    ],
)
def test_a_question_has_its_answer_its_cells_and_its_pages(monkeypatch, tmp_path, change, said):
    monkeypatch.setattr(asked, "FILE", tmp_path / "asked.json")
    asked.FILE.write_text(json.dumps([ONE | {"cells": [CELL], "pages": [PAGE]} | change]), encoding="utf-8")
    page = asked.asked_page()
    assert said in page.replace("\\$", "$")
    assert "ACME, page 0 (gold)" in page
    assert "Net <sales>" not in page


def test_what_was_measured_is_a_row_of_each_set():
    assert asked.measured()["Questions"].tolist() == ["financebench", "page-questions"]
    known, shown = fitted()["measured"], asked.measured()
    assert shown["Read"].tolist() == [one["read"] for one in known]
    assert [float(cell.split()[0]) for cell in shown["Answered"]] == [
        round(one["n"] * one["answered"], 1) for one in known
    ]

"""A practitioner's questions: every number is the study's, and every answer leads to its evidence."""

import re
import shutil

import pandas as pd
import pytest

from lib.analysis.unseen import CONTRASTS
from lib.book import questions
from lib.book.questions import NoValue, Values, questions_page, values_of
from lib.evaluation import SUMMARY_COLUMNS
from lib.files import RESULTS, ROOT, read_yaml
from lib.studies import open_study

PUBLISHED = RESULTS / "financebench" / "default"
#: What an answer may write by hand: names that contain digits, and the level of intervals.
NAMES = re.compile(r"BM25|GPT-4|95 %")
ASKED = read_yaml(questions.QUESTIONS)


@pytest.fixture(scope="module")
def financebench(tmp_path_factory):
    """FinanceBench as published, with what its chapters show in the outputs."""
    study = open_study("", artifacts=tmp_path_factory.mktemp("artifacts"), say=lambda line: None)
    for name in ("tables", "figures"):
        shutil.copytree(PUBLISHED / "shown" / name, study.outputs / name)
    shutil.copy(PUBLISHED / "summary.csv", study.outputs)
    return study


def asked_in(page: str) -> list[str]:
    return re.findall(r"^## (.+)$", page, flags=re.M)


def test_every_question_is_answered_of_what_is_published_and_leads_to_tables_that_chapters_show(financebench):
    text = questions_page(financebench)
    assert asked_in(text) == [one["ask"] for one in ASKED]
    labels = {label for one in ASKED for label in one["see"]}
    sources = "".join(path.read_text() for path in (ROOT / "notebooks").glob("[0-9a]*.ipynb"))
    shown = {label for label in labels if "/" not in label}
    assert {label for label in shown if f'\\"{label.partition("-")[2]}\\"' not in sources} == set()
    listed = (ROOT / "_toc.yml").read_text()
    assert [label for label in labels - shown if f"file: {label}\n" not in listed] == []


def test_no_number_of_an_answer_is_typed_by_hand_and_contrasts_that_it_names_were_declared():
    for one in ASKED:
        typed = NAMES.sub("", re.sub(r"\{\{.*?\}\}", "", one["answer"], flags=re.S))
        assert not re.search(r"\d", typed), one["ask"]
    pairs = {tuple(found) for one in ASKED for found in re.findall(r'contrast\("(\w+)", "(\w+)"', one["answer"])}
    assert pairs
    assert pairs <= {*CONTRASTS.values()}


def test_answers_have_the_numbers_of_the_published_summary_and_tables(financebench):
    text = questions_page(financebench).replace("\\", "")
    summary = pd.read_csv(PUBLISHED / "summary.csv", index_col=["condition", "metric", "k", "method"]).sort_index()
    means = summary.loc["standard", "page_recall", 5]["mean"]
    assert f"hybrid search finds {means['hybrid_rrf_records']:.0%} of the gold pages" in text
    added = pd.read_csv(PUBLISHED / "shown" / "tables" / "added.csv").set_index("method").loc["dense_records_rerank"]
    ends = f"{added['difference']:+.2f} [{added['difference_low']:+.2f}, {added['difference_high']:+.2f}]"
    assert f"changes page recall by {ends.replace('-', '−')} (likely loss)" in text
    strict = values_of(financebench)["pages"]("ahead")
    assert f"{strict} of the gold pages; its training leaves out the company and the question's template" in text


def test_a_question_is_left_out_where_one_of_its_values_is_missing(financebench):
    whole, table = questions_page(financebench), financebench.outputs / "tables" / "added.csv"
    content = table.read_bytes()
    table.unlink()
    left = questions_page(financebench)
    table.write_bytes(content)
    gone = {*asked_in(whole)} - {*asked_in(left)}
    assert gone == {one["ask"] for one in ASKED if '"added"' in one["answer"]}
    assert len(gone) == 3


def test_a_book_of_one_method_has_the_questions_that_need_no_value(study, monkeypatch):
    assert asked_in(questions_page(study)) == ["Does it work in other languages?", "How do I measure my own pipeline?"]
    monkeypatch.setattr(questions, "read_yaml", lambda path: [])
    assert asked_in(questions_page(study)) == []


def values(tmp_path, **columns) -> Values:
    """The values of a book that shows one table, ``t``, and has one run."""
    (tmp_path / "tables").mkdir(exist_ok=True)
    pd.DataFrame(columns).to_csv(tmp_path / "tables" / "t.csv", index=False)
    row = ("dense", "standard", "page_recall", 5, 0.25, 0.2, 0.3, 8, 2)
    trained = {"ahead": pd.DataFrame({"page_recall": [1.0, 0.5]})}
    return Values(tmp_path, pd.DataFrame([row], columns=SUMMARY_COLUMNS), trained)


MISSING = {
    "two rows": lambda found: found.at("t", "x", method="b"),
    "no row": lambda found: found.at("t", "x", method="c"),
    "no column": lambda found: found.at("t", "y", method="a"),
    "no table": lambda found: found.at("u", "x"),
    "another depth": lambda found: found.pages("dense", 20),
    "another depth of a trained row": lambda found: found.pages("ahead", 20),
}


def test_a_value_is_of_one_row_and_a_recall_of_the_strictest_folds(tmp_path):
    found = values(tmp_path, method=["a", "b", "b"], x=[1, 2, 4])
    assert found.at("t", "x", method="a") == 1
    assert (found.least("t", "x"), found.largest("t", "x")) == (1, 4)
    assert (found.pages("dense"), found.pages("ahead")) == ("25%", "75%")
    for name, missing in MISSING.items():
        with pytest.raises(NoValue):
            assert missing(found) is None, name


def test_a_change_has_interval_and_verdict_and_says_whether_it_helps(tmp_path):
    one = {"method": ["up", "down", "open"], "difference": [0.2, -0.1, 0.0], "p_holm": [0.01, 0.3, 1.0]}
    found = values(tmp_path, **one, difference_low=[0.1, -0.2, -0.1], difference_high=[0.3, -0.05, 0.1])
    assert found.change("t", method="up").replace("\\", "") == "+0.20 [+0.10, +0.30] (gain)"
    assert [found.helps("t", method=name) for name in one["method"]] == ["Yes.", "Probably not.", "Undecided."]

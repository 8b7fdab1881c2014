"""The question explorer: every question and rank, hostile text shown as text."""

import json
import re
import shutil

import pandas as pd
import pytest
from selenium.webdriver.support.ui import WebDriverWait

from lib.book.explorer import calculated, explorer_data, gold_ranks, script, written
from lib.diagnose.judged import judged
from lib.diagnose.run_file import OutsideRun
from lib.diagnose.stored import store_run
from lib.files import ROOT, write_atomically
from lib.schema import RUN_COLUMNS
from tests.browser import open_page
from tests.small import HOSTILE

STATIC = ROOT / "book" / "_static"


def test_the_rank_of_a_gold_page_is_that_of_its_first_chunk():
    rows = [("q1", 1, "D", 7), ("q1", 2, "E", 0), ("q1", 3, "D", 0), ("q1", 4, "D", 0)]
    run = pd.DataFrame(rows, columns=["question_id", "rank", "doc_name", "page"])
    asked = [("q1", "D", [0, 2, 7]), ("q2", "D", [0])]
    questions = pd.DataFrame(asked, columns=["question_id", "doc_name", "gold_pages"])
    assert gold_ranks(run, questions) == {"q1": [3, 0, 1], "q2": [0]}


def test_every_question_has_its_ranks_in_every_run_those_that_were_diagnosed_here_among_them(study, monkeypatch):
    messages = []
    rows = [("q1", 1, "ACME_2020_10K#p0001", "ACME_2020_10K", 1, 2.0), ("q1", 2, "ELSE#p0000", "ELSE", 0, 1.0)]
    mine = pd.DataFrame(rows, columns=list(RUN_COLUMNS))
    for name in ("mine", "older"):
        outside = OutsideRun(mine, {}, [], tuple(study.questions["question_id"]))
        store_run(study, judged(study, name, outside, None, "standard", 5))
    (study.home / "outside" / "older" / "qrels.txt").write_text("q1 0 ACME_2020_10K#p0000 1\n")  # then it was this page
    monkeypatch.setattr(study.store, "say", messages.append)
    data = explorer_data(study)
    assert [message.split()[0] for message in messages] == ["older"], "it was diagnosed over other gold pages"
    assert [one["name"] for one in data["methods"]] == ["bm25", "mine"]
    assert [question["id"] for question in data["questions"]] == ["q1", "q2", "q3"]
    for question in data["questions"]:
        assert question["ranks"]["oracle-page"] == [[1], None]
        doc, page = question["top"][0][0]
        assert (data["docs"][doc], page) == (question["doc"], question["gold"][0])
    first, second, _ = data["questions"]
    assert (first["ranks"]["standard"][1], first["top"][1]) == ([0], [[0, 1]])
    assert (second["ranks"]["standard"][1], second["top"][1]) == ([0], None)
    assert [item["kind"] for item in second["written"]] == ["hyde", "answer"]


def test_answers_have_their_context_and_calculated_ones_their_formula_and_cells(study, monkeypatch):
    wrote = {"question_id": ["q1"], "n_prompt_tokens": [12], "seconds": [0.5], "is_cut": [False]}
    cell = {"name": "revenue", "year": 2020, "shown": 1500.0, "unit": "million", "label": "Net sales"}
    rows = [("q1", "$1,500", "revenue", json.dumps([cell | {"doc_name": "ACME", "page": 4}])), ("q2", "", "", "[]")]
    frames = {
        "answers/effort/oracle-page": pd.DataFrame(wrote),
        "answers/calculated/ahead": pd.DataFrame(rows, columns=["question_id", "text", "formula", "cells"]),
    }
    for stage, frame in frames.items():
        study.store.frame(stage, {}, lambda frame=frame: frame)
    lines = [{"stage": stage, "key": study.store.key(stage, {})} for stage in frames]
    monkeypatch.setattr("lib.book.explorer.read_stages", lambda study: lines)
    about = {"question_id": "q1", "n_prompt_tokens": 12, "seconds": 0.5, "model": {"name": "tiny"}}
    judged = [about | {"kind": "judge", "text": label} for label in ("yes", "no ", "yes")]
    texts = [about | {"kind": "answer", "text": "1,577"}, about | {"kind": "answer", "text": "[…] ."}]
    monkeypatch.setattr("lib.book.explorer.read_records", lambda path: dict(enumerate(judged + texts)))
    shown = "$1,500 = revenue\nrevenue 2020 = 1,500 million: row “Net sales”, ACME, page 4"
    assert calculated(study) == [("q1", {"kind": "calculation, given: ahead", "model": "rules", "text": shown})]
    assert [*written(study)] == [
        ("q1", {"kind": "answer, given: oracle-page", "model": "tiny", "text": "1,577"}),
        ("q1", {"kind": "judge, labels of chunks", "model": "tiny", "text": "2 × yes; 1 × no"}),
    ]


def test_the_data_are_a_script_without_a_tag_and_the_page_s_script_writes_none(study):
    data = explorer_data(study)
    data["questions"][1]["text"] = f"{HOSTILE}\u2028"
    made = script(data)
    assert made.isascii()
    assert "<" not in made
    assert json.loads(made.removeprefix("window.EXPLORER = ").removesuffix(";\n")) == data
    code = (STATIC / "explorer.js").read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code)


@pytest.fixture
def site(study, tmp_path):
    """The explorer in a bare page, with hostile text in every field of q2 that may hold one."""
    shutil.copytree(STATIC, tmp_path / "_static")
    html = re.search(r"```\{raw\} html\n(.*?)```", (ROOT / "book" / "explorer.md").read_text(), flags=re.S)[1]
    page = f"<!doctype html><html lang=en><head><meta charset=utf-8></head><body>{html}</body></html>"
    write_atomically(tmp_path / "book" / "explorer.html", page)
    data = explorer_data(study)
    hostile = data["questions"][1]
    hostile |= {"text": HOSTILE, "answer": HOSTILE, "company": HOSTILE, "type": HOSTILE}
    hostile["pictures"] = [{"file": "none.webp", "doc": HOSTILE, "page": 1, "of": HOSTILE}]
    hostile["written"] = [{"kind": HOSTILE, "model": model, "text": HOSTILE} for model in ("rules", HOSTILE)]

    def write(**changes) -> str:
        for question in data["questions"]:
            question |= changes
        write_atomically(tmp_path / "_static" / "explorer" / "data.js", script(data))
        return (tmp_path / "book" / "explorer.html").as_uri()

    return write


def texts(browser, selector: str) -> list[str]:
    return [one.text for one in browser.find_elements("css selector", selector)]


def test_the_readers_own_copy_is_read_in_the_browser(site, browser, tmp_path):
    lines = [{"financebench_id": "q1", "question": f"quince {HOSTILE}", "answer": "1"}, {"financebench_id": "q9"}]
    (tmp_path / "mine.jsonl").write_text("\n".join([*map(json.dumps, lines), "no JSON"]))
    open_page(browser, f"{site(text=None, answer=None)}#q=q1")
    assert texts(browser, ".detail h2") == ["q1"]
    browser.find_element("css selector", "#explorer-file").send_keys(str(tmp_path / "mine.jsonl"))
    WebDriverWait(browser, 20).until(lambda _: texts(browser, ".detail h2") == [f"quince {HOSTILE}"])


def test_hostile_text_stays_text(site, browser):
    open_page(browser, f"{site()}#q=q2")
    browser.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert texts(browser, ".detail h2") == [HOSTILE]
    assert texts(browser, ".written") == [HOSTILE, HOSTILE]
    assert browser.execute_script("return window.hacked") is None
    assert texts(browser, "#explorer b, #explorer script") == []
    assert [entry for entry in browser.get_log("browser") if entry["source"] == "javascript"] == []

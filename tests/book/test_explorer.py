"""The question explorer: every question and rank, hostile text shown as text."""

import json
import re
import shutil

import pandas as pd
import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.support.ui import WebDriverWait

from lib.book import explorer
from lib.book.explorer import calculated, explorer_data, published_data, script, with_texts, written
from lib.book.outcomes import gold_ranks, outcomes
from lib.data.dataset import links_of, read_dataset
from lib.diagnose.beside import judged
from lib.diagnose.run_file import OutsideRun
from lib.diagnose.stored import store_run
from lib.files import ROOT, write_atomically
from lib.published import Published
from lib.schema import RUN_COLUMNS
from lib.studies import open_study
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
        assert question["ranks"]["oracle-page"] == [[1]]
        doc, page = question["places"][question["top"][0][0]]
        assert (data["docs"][doc]["name"], page) == (question["doc"], question["gold"][0])
    assert data["runs"] == {"standard": [0, 1], "oracle-document": [0], "oracle-page": [0]}
    first, second, _ = data["questions"]
    assert (first["ranks"]["standard"][1], [first["places"][one] for one in first["top"][1]]) == ([0], [[0, 1]])
    assert (second["ranks"]["standard"][1], second["top"][1]) == ([0], [])
    assert [item["kind"] for item in second["written"]] == ["hyde", "answer"]


def test_a_page_that_cannot_be_drawn_has_no_picture(tmp_path):
    study = open_study("demo", artifacts=tmp_path)
    asked = {"doc": study.filings["doc_name"].iloc[0], "top": [[]]}
    asked = [asked | {"id": f"q{page}", "gold": [page], "pictures": []} for page in (1, 999)]
    explorer.draw_pictures(study, {"methods": [{"name": "bm25"}], "best": "bm25", "docs": [], "questions": asked})
    (picture,) = asked[0]["pictures"]
    assert (picture["page"], picture["of"], asked[1]["pictures"]) == (1, "gold page", [])
    assert (study.outputs / "explorer" / picture["file"]).is_file()


def test_another_page_answers_and_kinds_follow_from_the_run_for_every_method(monkeypatch):
    filings = [("A_2020", "A", "10-K", 2020), ("A_2021", "A", "10-K", 2021), ("B_2020", "B", "10-K", 2020)]
    filings = pd.DataFrame(filings, columns=["doc_name", "company", "doc_type", "doc_period"])
    asked = pd.DataFrame({"question_id": ["q1", "q2"], "question_type": "t", "doc_name": "A_2020"})
    asked = asked.assign(gold_pages=[[3], [9]], also=[[7], []], other_filings=[["B_2020#p0001"], []])
    ranked = [("q1", 1, "A_2020", 7), ("q1", 2, "B_2020", 1), ("q2", 1, "A_2021", 9)]
    run = pd.DataFrame(ranked, columns=["question_id", "rank", "doc_name", "page"])
    data = outcomes("mine", asked, filings, {("standard", "mine"): run, ("standard", "bm25"): run.iloc[1:2]})
    first, second = data["questions"]
    assert [one["name"] for one in data["methods"]] == ["bm25", "mine"]
    assert (first["answered"], second["answered"]) == ({"standard": [1]}, {"standard": []})
    assert {tuple(first["places"][int(place)]): label for place, label in first["judged"].items()} == {
        (0, 7): "full",
        (2, 1): "elsewhere",
    }
    named = [[[data["kinds"][kind][0] for kind in kinds] for kinds in one["kinds"]] for one in (first, second)]
    assert named == [[["other company"], ["right filing, other part"]], [["nothing retrieved"], ["wrong year"]]]


def test_a_set_without_texts_is_small_and_that_of_unseen_companies_has_its_own():
    data = published_data(Published.of("unseen-companies", "default"))
    assert len(script("x", data)) < 2_000_000
    assert all(question["text"] and question["answer"] and question["evidence"] for question in data["questions"])
    assert max(len(text) for question in data["questions"] for _, text in question["evidence"]) < 3_000, "no whole page"
    assert any(question["answered"]["standard"] for question in data["questions"])
    bare = {"questions": [{"id": "q1", "text": None}]}
    assert with_texts("page-questions", bare) == {"questions": [{"id": "q1", "text": None}]}


def test_filings_have_the_public_address_of_their_records_and_nothing_else(folder):
    folder.text("ACME_2020", "Sales rose", doc_link="https://example.org/acme.pdf")
    folder.text("BOLT_2020", "Sales rose", doc_link="javascript:alert(1)")
    folder.question("q1", "ACME_2020", (0, "Sales rose"))
    assert links_of(read_dataset(folder.write(), "mine")) == {"ACME_2020": "https://example.org/acme.pdf"}


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
    shown = "$1,500 = revenue\nrevenue 2020 = 1,500 million: row “Net sales”, ACME, page 5"
    assert calculated(study) == [("q1", {"kind": "calculation, given: ahead", "model": "rules", "text": shown})]
    assert [*written(study)] == [
        ("q1", {"kind": "answer, given: oracle-page", "model": "tiny", "text": "1,577"}),
        ("q1", {"kind": "judge, labels of chunks", "model": "tiny", "text": "2 × yes; 1 × no"}),
    ]


def test_the_data_are_a_script_without_a_tag_and_the_page_s_script_writes_none(study):
    data = explorer_data(study)
    data["questions"][1]["text"] = f"{HOSTILE}\u2028"
    made = script("window.EXPLORER", data)
    assert made.isascii()
    assert "<" not in made
    assert json.loads(made.removeprefix("window.EXPLORER = ").removesuffix(";\n")) == json.loads(json.dumps(data))
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
    hostile |= {"text": HOSTILE, "answer": HOSTILE, "type": HOSTILE, "evidence": [[1, HOSTILE]]}
    data["docs"][0]["link"], data["docs"][1]["company"] = "https://example.org/acme.pdf", HOSTILE
    hostile["pictures"] = [{"file": "none.webp", "doc": HOSTILE, "page": 1, "of": HOSTILE}]
    hostile["written"] = [{"kind": HOSTILE, "model": model, "text": HOSTILE} for model in ("rules", HOSTILE)]

    def write(**changes) -> str:
        for question in data["questions"]:
            question |= changes
        files = tmp_path / "_static" / "explorer"
        listed = {"sets": [{"name": "mine", "n": 3}], "data": {}}
        write_atomically(files / "sets.js", script("window.EXPLORER", listed))
        write_atomically(files / "mine.js", script('window.EXPLORER.data["mine"]', data))
        return (tmp_path / "book" / "explorer.html").as_uri()

    return write


def texts(browser, selector: str) -> list[str]:
    return [one.text for one in browser.find_elements("css selector", selector)]


def test_the_readers_own_copy_is_read_in_the_browser(site, browser, tmp_path):
    lines = [{"financebench_id": "q1", "question": f"quince {HOSTILE}", "answer": "1"}, {"financebench_id": "q9"}]
    (tmp_path / "mine.jsonl").write_text("\n".join([*map(json.dumps, lines), "no JSON"]))
    open_page(browser, f"{site(text=None, answer=None)}#q=q1")
    assert texts(browser, ".detail h2") == ["Acme 10-K 2020, p. 3: metrics-generated"]
    browser.find_element("css selector", "#explorer-file").send_keys(str(tmp_path / "mine.jsonl"))
    wait = WebDriverWait(browser, 20, ignored_exceptions=[StaleElementReferenceException])
    wait.until(lambda _: texts(browser, ".detail h2") == [f"quince {HOSTILE}"])


def test_hostile_text_stays_text(site, browser):
    open_page(browser, f"{site()}#q=q2")
    browser.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert texts(browser, ".detail h2") == [HOSTILE]
    assert texts(browser, ".written") == [HOSTILE, HOSTILE, HOSTILE]
    assert browser.execute_script("return window.hacked") is None
    assert texts(browser, "#explorer b, #explorer script") == []
    assert [entry for entry in browser.get_log("browser") if entry["source"] == "javascript"] == []


def test_a_page_counts_from_1_and_leads_into_its_pdf(site, browser):
    open_page(browser, f"{site()}#q=q1")
    assert texts(browser, ".places li")[0].startswith("ACME_2020_10K p. 3")
    link = browser.find_elements("css selector", ".places a")[0]
    assert link.get_attribute("href") == "https://example.org/acme.pdf#page=3"

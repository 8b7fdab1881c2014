"""The question explorer: every question and rank, hostile text shown as text, usable by keyboard and on a phone."""

import json
import re
import shutil

import pandas as pd
import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from lib.book.explorer import LATER, calculated, explorer_data, gold_ranks, scripts, written
from lib.diagnose.stored import store_run
from lib.evaluation import evaluate
from lib.files import ROOT
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
    metrics, messages = evaluate(study, "bm25"), []
    rows = [("q1", 1, "ACME_2020_10K#p0001", "ACME_2020_10K", 1, 2.0), ("q1", 2, "ELSE#p0000", "ELSE", 0, 1.0)]
    mine = pd.DataFrame(rows, columns=list(RUN_COLUMNS))
    for name in ("mine", "older"):
        store_run(study, name, mine, metrics.assign(method=name))
    (study.home / "outside" / "older" / "qrels.txt").write_text("q1 0 ACME_2020_10K#p0000 1\n")  # then it was this page
    monkeypatch.setattr(study.store, "say", messages.append)
    data = explorer_data(study)
    assert [message.split()[0] for message in messages] == ["older"], "it was diagnosed over other gold pages"
    assert [one["name"] for one in data["methods"]] == ["bm25", "mine"]
    assert [question["id"] for question in data["questions"]] == ["q1", "q2", "q3"]
    for question in data["questions"]:
        assert question["ranks"]["oracle-page"] == [[1], None]
        doc, page = question["top"][0][:2]
        assert (data["docs"][doc], page) == (question["doc"], question["gold"][0])
    first, second, _ = data["questions"]
    assert (first["ranks"]["standard"][1], first["filing"], first["top"][1]) == ([0], "11", [0, 1])
    assert (second["ranks"]["standard"][1], second["filing"], second["top"][1]) == ([0], "10", None)
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


def read(script: str) -> dict:
    """The data that a script sets."""
    return json.loads(script.split(" = ", 1)[1].removesuffix(";\n"))


def test_the_data_are_scripts_without_markup_and_the_page_s_script_writes_none(study):
    data = explorer_data(study)
    data["questions"][1]["text"] = f"{HOSTILE}\u2028"
    made = scripts(data)
    assert not re.search(r"[<>&\u2028]", "".join(made.values()))
    for number, question in enumerate(data["questions"]):
        first, later = read(made["data.js"])["questions"][number], read(made[f"question-{number}.js"])
        assert first | later == question
        assert (set(later), set(later) & set(first)) == (set(LATER), set())
    code = (STATIC / "explorer.js").read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code)


class Explorer:
    """The page in a browser, and what is seen there."""

    def __init__(self, browser, address: str):
        self.browser, self.address, self.script = browser, address, browser.execute_script

    def open(self, hash_: str = "") -> None:
        open_page(self.browser, self.address + hash_)
        self.wait(lambda: self.text(".count"))

    def one(self, selector: str):
        return self.browser.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def wait(self, is_so) -> None:
        WebDriverWait(self.browser, 20).until(lambda browser: is_so())

    def count(self, selector: str) -> int:
        return len(self.browser.find_elements("css selector", selector))

    def ids(self) -> list[str]:
        links = self.script("return [...document.querySelectorAll('.questions a')].map(a => a.hash)")
        return [re.match(r"#q=(\w+)", link)[1] for link in links]


@pytest.fixture
def shown(browser, study, tmp_path) -> Explorer:
    """The explorer in a bare page: hostile text in every field of q2 that may hold one, and a second method that misses
    of q1 the page, of q2 the filing, and that has no run of q3."""
    site, data = tmp_path / "site", explorer_data(study)
    hostile = data["questions"][1]
    hostile |= {"text": HOSTILE, "answer": HOSTILE, "company": HOSTILE, "type": HOSTILE}
    hostile["pictures"] = [{"file": "none.webp", "doc": HOSTILE, "page": 1, "isGold": True}]
    hostile["written"] = [{"kind": HOSTILE, "model": model, "text": HOSTILE} for model in ("rules", HOSTILE)]
    data["methods"].append({"name": "other", "title": "Other", "isMain": True})
    for question, ranks, has_filing in zip(data["questions"], ([0], [9], None), "100", strict=True):
        question["ranks"]["standard"].append(ranks)
        question["filing"] += has_filing
        question["top"].append([0, 1])
    data["questions"][0]["kinds"] = {"other": ["neighbour page"]}
    data["questions"][0]["pooled"] = [[0, 1, "part"], [1, 0, "full"], [1, 1, "no"]]
    shutil.copytree(STATIC, site / "_static")
    for folder in ("_static/explorer", "book"):
        (site / folder).mkdir(exist_ok=True)
    for name, script in scripts(data).items():
        (site / "_static" / "explorer" / name).write_text(script)
    html = re.search(r"```\{raw\} html\n(.*?)```", (ROOT / "book" / "explorer.md").read_text(), flags=re.S)[1]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    path = site / "book" / "explorer.html"
    path.write_text(f"<!doctype html><html lang=en><head>{head}</head><body>{html}</body></html>")
    return Explorer(browser, path.as_uri())


def test_questions_are_listed_with_a_mark_for_each_method_and_what_each_finds(shown):
    shown.open()
    strips = shown.browser.find_elements("css selector", ".questions .strip")
    assert [strip.text.replace(" ", "") for strip in strips] == ["■□", "■×", "■·"]
    assert strips[1].get_attribute("aria-label") == "Of 2 methods: 1 found, 1 wrong filing"
    rows = [row.text.split() for row in shown.browser.find_elements("css selector", ".summary tbody tr")]
    assert rows == [["BM25", "1.00", "100%", "0%", "0%", "0%"], ["Other", "0.00", "0%", "0%", "50%", "50%"]]
    shown.one("#explorer-words").send_keys("net SALES")
    assert shown.ids() == ["q1"]
    assert shown.text(".count").startswith("1 of 3 questions; BM25 finds every gold page of 1 (all filings")


@pytest.mark.parametrize(
    ("address", "ids"),
    [
        ("outcome=miss", []),
        ("outcome=lost&method=other&other=bm25", ["q1", "q2"]),
        ("method=other&kind=neighbour%20page", ["q1"]),
        ("method=nobody", ["q1", "q2", "q3"]),
        ("q=%E0%A4%A", ["q1", "q2", "q3"]),
    ],
)
def test_the_filters_of_an_address_are_applied(shown, address, ids):
    shown.open(f"#{address}")
    assert shown.ids() == ids


def test_a_link_points_to_one_question_and_says_at_which_step_its_evidence_was_lost(shown):
    shown.open("#q=q1&method=other")
    shown.wait(lambda: shown.count(".places"))
    assert shown.script("return document.activeElement.tagName") == "H2"
    assert "Right filing, wrong page; the right filing has 1 of the first 1 chunks." in shown.text(".detail")
    assert shown.text(".places li") == "ACME_2020_10K p. 1 right filing, other page; judged: answers in part"
    assert "answers in full: BOLT_2021_10K p. 0; answers in part: ACME_2020_10K p. 1." in shown.text(".pooled")
    shown.open("#q=q1")
    shown.wait(lambda: shown.count(".places"))
    assert shown.text(".places .is-gold") == "ACME_2020_10K p. 2 gold page"


def test_the_readers_own_copy_is_read_in_the_browser_and_a_question_is_shown_without_its_file(shown, tmp_path):
    folder = tmp_path / "site" / "_static" / "explorer"
    data = read((folder / "data.js").read_text())
    for question in data["questions"]:
        question["text"] = question["answer"] = None
    (folder / "data.js").write_text(f"window.EXPLORER = {json.dumps(data)};\n")
    (folder / "question-0.js").unlink()
    lines = [{"financebench_id": "q1", "question": f"quince {HOSTILE}", "answer": "1"}, {"financebench_id": "q9"}]
    mine = tmp_path / "mine.jsonl"
    mine.write_text("\n".join([*map(json.dumps, lines), "no JSON"]))
    shown.open("#q=q1")
    assert shown.text(".detail h2") == "q1"
    assert shown.count(".places") == 0
    shown.one("#explorer-file").send_keys(str(mine))
    shown.wait(lambda: shown.text(".own [role=status]").startswith("1 question"))
    assert shown.text(".detail h2") == f"quince {HOSTILE}"
    assert shown.script("return window.hacked") is None


def test_hostile_text_stays_text(shown):
    shown.open("#q=q2")
    assert shown.text(".detail h2") == HOSTILE
    shown.wait(lambda: shown.count(".written"))
    shown.script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    written = [one.text for one in shown.browser.find_elements("css selector", ".written")]
    assert written == [HOSTILE, HOSTILE]
    assert shown.script("return window.hacked") is None
    assert shown.count("#explorer b, #explorer script") == 0
    assert [entry for entry in shown.browser.get_log("browser") if entry["source"] == "javascript"] == []


def test_the_keyboard_reaches_everything_and_every_control_and_picture_has_a_name_on_a_phone_too(shown):
    shown.open()
    seen = []
    for _ in range(15):
        shown.browser.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(shown.script("const e = document.activeElement; return e.id || e.hash || e.tagName"))
    names = ("words", "type", "method", "condition", "outcome", "kind", "other")
    assert seen[:7] == [f"explorer-{name}" for name in names]
    assert {"#q=q1", "#q=q2", "#q=q3"} <= set(seen)
    shown.one(".questions a").send_keys(Keys.ENTER)
    shown.wait(lambda: shown.text(".detail h2").startswith("What were"))
    shown.browser.find_element("xpath", "//div[@class='steps']//button[contains(., 'Next')]").send_keys(Keys.ENTER)
    shown.wait(lambda: shown.text(".detail h2") == HOSTILE)
    code = "return [...document.querySelectorAll('select, input')].filter(e => !e.labels.length).length"
    assert shown.script(code) == 0
    assert shown.count("img:not([alt]), img[alt='']") == 0
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    shown.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        shown.open("#q=q1")
        assert shown.script("return document.documentElement.scrollWidth") <= 360
    finally:
        shown.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

"""The question explorer: every question and rank, hostile text shown as text, usable by keyboard and on a phone."""

import json
import re
import shutil

import pandas as pd
import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from lib.book.explorer import LATER, explorer_data, gold_ranks, scripts, written
from lib.diagnose.kept import keep
from lib.evaluation import evaluate
from lib.files import ROOT
from lib.schema import RUN_COLUMNS
from lib.typed import write_frame
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
    metrics, said = evaluate(study, "bm25"), []
    rows = [("q1", 1, "ACME_2020_10K#p0001", "ACME_2020_10K", 1, 2.0), ("q1", 2, "ELSE#p0000", "ELSE", 0, 1.0)]
    mine = pd.DataFrame(rows, columns=list(RUN_COLUMNS))
    keep(study, "mine", mine, metrics.assign(method="mine"))
    keep(study, "older", mine, metrics.assign(method="older"))
    (study.home / "outside" / "older" / "qrels.txt").write_text("q1 0 ACME_2020_10K#p0000 1\n")  # then it was this page
    monkeypatch.setattr(study.store, "say", said.append)
    data = explorer_data(study)
    assert said == ["older was diagnosed over other questions or gold pages: left out; diagnose it again"]
    assert [one["name"] for one in data["methods"]] == ["bm25", "mine"]
    assert data["methods"][1] == {"name": "mine", "title": "mine", "isMain": True}
    assert [question["id"] for question in data["questions"]] == ["q1", "q2", "q3"]
    for question in data["questions"]:
        assert question["ranks"]["oracle-page"] == [[1], None]
        places = question["top"][0]
        assert [data["docs"][places[0]], places[1]] == [question["doc"], *question["gold"]]
    first, second, _ = data["questions"]
    assert (first["ranks"]["standard"][1], first["filing"], first["top"][1]) == ([0], "11", [0, 1])
    assert (second["ranks"]["standard"][1], second["filing"], second["top"][1]) == ([0], "10", None)
    assert [item["kind"] for item in second["written"]] == ["hyde", "answer"]


def test_answers_have_their_context_and_calculated_ones_their_formula_and_cells(study, monkeypatch):
    wrote = {"question_id": ["q1"], "n_prompt_tokens": [12], "seconds": [0.5], "is_cut": [False]}
    stage, key = "answers/effort/oracle-page", study.store.key("answers/effort/oracle-page", {})
    study.store.frame(stage, {}, lambda: pd.DataFrame(wrote), public=True)
    cell = {"name": "revenue", "year": 2020, "shown": 1500.0, "unit": "million", "label": "Net sales"}
    rows = [("q1", "$1,500", "revenue", json.dumps([cell | {"doc_name": "ACME", "page": 4}])), ("q2", "", "", "[]")]
    folder = study.store.root / "answers" / "calculated" / "ahead" / "00"
    folder.mkdir(parents=True)
    frame = pd.DataFrame(rows, columns=["question_id", "text", "formula", "cells"])
    write_frame(frame, folder / "frame.parquet")
    lines = [{"stage": stage, "key": key}, {"stage": "answers/calculated/ahead", "key": "00"}]
    monkeypatch.setattr("lib.book.explorer.read_stages", lambda study: lines)
    about = {"question_id": "q1", "n_prompt_tokens": 12, "seconds": 0.5, "model": {"name": "tiny"}}
    judged = [about | {"kind": "judge", "text": label} for label in ("yes", "no ", "yes")]
    texts = [about | {"kind": "answer", "text": "1,577"}, about | {"kind": "answer", "text": "[…] ."}]
    monkeypatch.setattr("lib.book.explorer.read_records", lambda path: dict(enumerate(judged + texts)))
    shown = "$1,500 = revenue\nrevenue 2020 = 1,500 million: row “Net sales”, ACME, page 4"
    assert [*written(study)] == [
        ("q1", {"kind": "calculation, given: ahead", "model": "rules", "text": shown}),
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

    def listed(self) -> list[str]:
        return self.script("return [...document.querySelectorAll('.questions a')].map(a => a.hash)")

    def ids(self) -> list[str]:
        return [re.match(r"#q=(\w+)", link)[1] for link in self.listed()]

    def choose(self, label: str, value: str) -> None:
        """Choose an option of the control that has this label."""
        code = """
            const labels = [...document.querySelectorAll('.filters label')];
            const label = labels.find(l => l.firstChild.textContent === arguments[0]);
            const box = document.getElementById(label.htmlFor);
            box.value = arguments[1];
            box.dispatchEvent(new Event(box.tagName === 'INPUT' ? 'input' : 'change'));
        """
        self.script(code, label, value)

    def shows(self, hash_: str) -> bool:
        """Whether the question of a hash is marked in the list and its detail is shown: pages draw it in an event."""
        code = """
            const marked = document.querySelector('.questions a[aria-current]');
            return location.hash === arguments[0] && marked && marked.hash === arguments[0]
                && !!document.querySelector('.steps button');
        """
        return self.script(code, hash_)


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


def test_questions_are_filtered_counted_and_marked(shown):
    shown.open()
    strips = shown.browser.find_elements("css selector", ".questions .strip")
    assert [strip.text.replace(" ", "") for strip in strips] == ["■□", "■×", "■·"]
    said = ["1 found, 1 wrong page", "1 found, 1 wrong filing", "1 found, 1 no run"]
    assert [strip.get_attribute("aria-label") for strip in strips] == [f"Of 2 methods: {one}" for one in said]
    assert shown.one(".strip .page").get_attribute("title") == "Other: right filing, wrong page"
    assert "□ right filing, wrong page" in shown.text(".legend")
    for label, value, ids in (
        ("Company", "Acme", ["q1", "q3"]),
        ("Filing", "BOLT_2021_10K", []),
        ("Company", "", ["q2"]),
        ("Filing", "", ["q1", "q2", "q3"]),
        ("Words or id", "net SALES", ["q1"]),
    ):
        shown.choose(label, value)
        assert shown.ids() == ids
    assert shown.one("[role=status]").get_attribute("aria-live") == "polite"
    assert shown.text("[role=status]").startswith("1 of 3 questions; BM25 finds every gold page of 1 (all filings")
    shown.choose("Outcome", "miss")
    assert shown.ids() == []
    assert not shown.one(".summary").is_displayed()
    shown.one(".count a").click()
    shown.wait(lambda: shown.ids() == ["q1", "q2", "q3"])
    assert shown.count(".count a") == 0


def test_the_summary_is_of_what_the_filters_hold_and_a_kind_of_failure_is_one_in_plain_words(shown):
    shown.open("#outcome=lost&method=other&other=bm25")
    assert shown.ids() == ["q1", "q2"]
    rows = [row.text.split() for row in shown.browser.find_elements("css selector", ".summary tbody tr")]
    assert rows == [["BM25", "1.00", "100%", "0%", "0%", "0%"], ["Other", "0.00", "0%", "0%", "50%", "50%"]]
    shown.choose("Company", "Acme")
    assert "this question" in shown.text(".summary")
    shown.one(".summary tbody a").click()  # the first method is chosen, the other filters stay
    shown.wait(lambda: shown.script("return location.hash") == "#company=Acme&outcome=lost&other=bm25")
    shown.open("#method=other&kind=neighbour%20page")
    assert shown.ids() == ["q1"]
    plain = "neighbour page: the page before or after the gold page is among the first 5 chunks."
    assert plain in shown.text(".count")
    shown.choose("Method", "bm25")
    assert shown.ids() == []
    assert "Kinds of failure are known of Other only." in shown.text(".count")


def test_a_link_points_to_one_question_with_its_pages_and_the_address_has_the_filters(shown):
    shown.open("#q=q3")
    assert shown.text(".detail h2").startswith("Which year does the annual report")
    assert shown.script("return document.activeElement.tagName") == "H2"
    assert shown.one(".questions a[aria-current]").get_attribute("hash") == "#q=q3"
    shown.open("#q=q1&company=Acme&outcome=hit&method=nobody")
    shown.wait(lambda: shown.count(".places"))
    assert "Found, every gold page; the right filing has" in shown.text(".detail")
    assert shown.text(".places .is-gold") == "ACME_2020_10K p. 2 gold page"
    assert shown.listed() == [f"#q={one}&company=Acme&outcome=hit" for one in ("q1", "q3")]
    shown.open("#q=q1&method=other")
    shown.wait(lambda: shown.count(".places"))
    assert shown.text(".places li") == "ACME_2020_10K p. 1 right filing, other page; judged: answers in part"
    assert "answers in full: BOLT_2021_10K p. 0; answers in part: ACME_2020_10K p. 1." in shown.text(".pooled")
    for wrong in ("#q=%E0%A4%A", "#q=nobody", "#elsewhere"):
        shown.open(wrong)
        assert len(shown.listed()) == 3
        assert not shown.one(".detail").is_displayed()


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
    assert "Gold pages" in shown.text(".detail")
    assert shown.count(".places") == 0
    shown.one("#explorer-file").send_keys(str(mine))
    shown.wait(lambda: shown.text(".own [role=status]").startswith("1 question"))
    assert shown.text(".detail h2") == f"quince {HOSTILE}"
    assert shown.script("return window.hacked") is None
    shown.choose("Words or id", "onerror QUINCE")  # words of the text that was read, in any order
    assert shown.ids() == ["q1"]


def test_hostile_text_stays_text(shown):
    shown.open("#q=q2")
    assert shown.text(".detail h2") == HOSTILE
    shown.script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert HOSTILE in shown.text(".written")
    folds = shown.script("return [...document.querySelectorAll('.detail summary')].map(one => one.textContent)")
    assert folds[-2:] == ["Answers by calculation (1)", "What language models wrote (1, the shortest first)"]
    assert '"> n" not among the first n, which were kept' in shown.text(".detail caption")
    assert shown.script("return window.hacked") is None
    assert shown.count("#explorer b, #explorer script") == 0
    assert [entry for entry in shown.browser.get_log("browser") if entry["source"] == "javascript"] == []


def test_the_keyboard_reaches_everything_and_every_control_and_picture_has_a_name_on_a_phone_too(shown):
    shown.open()
    seen = []
    for _ in range(17):
        shown.browser.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(shown.script("const e = document.activeElement; return e.id || e.hash || e.tagName"))
    names = ("words", "company", "type", "doc", "method", "condition", "outcome", "kind", "other")
    assert seen[:9] == [f"explorer-{name}" for name in names]
    assert {"#q=q1", "#q=q2", "#q=q3"} <= set(seen)
    shown.one(".questions a").send_keys(Keys.ENTER)
    shown.wait(lambda: shown.shows("#q=q1"))
    shown.browser.find_element("xpath", "//div[@class='steps']//button[contains(., 'Next')]").send_keys(Keys.ENTER)
    shown.wait(lambda: shown.shows("#q=q2"))
    code = "return [...document.querySelectorAll('select, input')].filter(e => !e.labels.length).length"
    assert shown.script(code) == 0
    assert shown.count("img:not([alt]), img[alt='']") == 0
    assert shown.count(".detail table caption") == 1
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    shown.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        shown.open("#q=q1")
        assert shown.script("return document.documentElement.scrollWidth") <= 360
    finally:
        shown.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

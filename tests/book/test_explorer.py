"""The question explorer: every question and rank, hostile text shown as text, usable by keyboard and on a phone."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from lib.book.explorer import as_script, contexts_of, derivations, explorer_data, gold_ranks, scripts
from lib.typed import write_frame

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>\'&amp;'


def test_the_rank_of_a_gold_page_is_that_of_its_first_chunk():
    rows = [("q1", 1, "D", 7), ("q1", 2, "E", 0), ("q1", 3, "D", 0), ("q1", 4, "D", 0)]
    run = pd.DataFrame(rows, columns=["question_id", "rank", "doc_name", "page"])
    asked = [("q1", "D", [0, 2, 7]), ("q2", "D", [0])]
    questions = pd.DataFrame(asked, columns=["question_id", "doc_name", "gold_pages"])
    assert gold_ranks({"bm25": run}, questions) == {("bm25", "q1"): [3, 0, 1], ("bm25", "q2"): [0]}


def test_every_question_has_its_ranks_in_every_run(study):
    data = explorer_data(study)
    assert [question["id"] for question in data["questions"]] == ["q1", "q2", "q3"]
    for question in data["questions"]:
        assert set(question["ranks"]) == {"standard", "oracle-document", "oracle-page"}
        assert question["ranks"]["oracle-page"] == [[1]]
        (places,) = question["top"]
        assert [data["docs"][places[0]], places[1]] == [question["doc"], *question["gold"]]
    assert [item["kind"] for item in data["questions"][1]["written"]] == ["hyde", "answer"]
    assert [one["name"] for one in data["methods"]] == ["bm25"]


def test_an_answer_is_labelled_by_its_context(study, monkeypatch):
    wrote = {"question_id": ["q1"], "n_prompt_tokens": [12], "seconds": [0.5], "is_cut": [False]}
    stage = "answers/effort/oracle-page"
    study.store.frame(stage, {}, lambda: pd.DataFrame(wrote), public=True)
    line = {"stage": stage, "key": study.store.key(stage, {})}
    monkeypatch.setattr("lib.book.explorer.read_stages", lambda study: [line])
    assert contexts_of(study) == {("q1", 12, 0.5): "oracle-page"}


def test_a_calculated_answer_is_shown_with_its_formula_and_cells(study, monkeypatch):
    folder = study.store.root / "answers" / "calculated" / "ahead" / "00"
    folder.mkdir(parents=True)
    cell = {"name": "revenue", "year": 2020, "shown": 1500.0, "unit": "million", "label": "Net sales"}
    cells = json.dumps([cell | {"doc_name": "ACME", "page": 4}])
    rows = [("q1", "$1,500", "revenue", cells), ("q2", "", "", "[]")]
    found = pd.DataFrame(rows, columns=["question_id", "text", "formula", "cells"])
    write_frame(found, folder / "frame.parquet")
    lines = [{"stage": f"answers/{name}/ahead", "key": "00"} for name in ("calculated", "effort")]
    monkeypatch.setattr("lib.book.explorer.read_stages", lambda study: lines)
    assert list(derivations(study)) == [
        ("q1", {"kind": "calculation, given: ahead", "model": "rules",
                "text": "$1,500 = revenue\nrevenue 2020 = 1,500 million: row “Net sales”, ACME, page 5"})
    ]  # fmt: skip


def test_the_data_is_a_script_without_markup():
    text = as_script({"text": HOSTILE, "line": "\u2028"})
    assert not re.search(r"[<>&\u2028]", text)
    assert json.loads(text.removeprefix("window.EXPLORER = ").removesuffix(";\n"))["text"] == HOSTILE


def test_the_script_never_writes_markup():
    code = (ROOT / "book" / "_static" / "explorer.js").read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code)


def write_scripts(site: Path, data: dict) -> None:
    (site / "_static" / "explorer").mkdir(exist_ok=True)
    for name, script in scripts(data).items():
        (site / "_static" / "explorer" / name).write_text(script)


def test_what_only_the_chosen_question_shows_is_in_a_file_of_its_own(study):
    data = explorer_data(study)
    written = scripts(data)
    assert set(written) == {"data.js", "question-0.js", "question-1.js", "question-2.js"}
    later = json.loads(written["question-1.js"].removeprefix("window.EXPLORER_PART = ").removesuffix(";\n"))
    assert later["written"] == data["questions"][1]["written"] != []
    first = json.loads(written["data.js"].removeprefix("window.EXPLORER = ").removesuffix(";\n"))
    assert [{**question, **later} for question in first["questions"]][1] == data["questions"][1]
    assert not set(later) & set(first["questions"][1])


@pytest.fixture
def page(study, tmp_path) -> str:
    """The explorer in a bare page, laid out as in the book, with hostile text in every field that may hold one."""
    site = tmp_path / "site"
    shutil.copytree(ROOT / "book" / "_static", site / "_static")
    data = explorer_data(study)
    hostile = data["questions"][1]
    hostile |= {"text": HOSTILE, "answer": HOSTILE, "company": HOSTILE, "type": HOSTILE}
    hostile["pictures"] = [{"file": "none.webp", "doc": HOSTILE, "page": 1, "isGold": True}]
    hostile["written"] = [{"kind": HOSTILE, "model": HOSTILE, "text": HOSTILE}]
    write_scripts(site, data)
    (site / "book").mkdir()
    html = re.search(r"```\{raw\} html\n(.*?)```", (ROOT / "book" / "explorer.md").read_text(), flags=re.S)[1]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    (site / "book" / "explorer.html").write_text(
        f"<!doctype html><html lang=en><head>{head}</head><body>{html}</body></html>"
    )
    return (site / "book" / "explorer.html").as_uri()


def listed(browser) -> list[str]:
    return browser.execute_script("return [...document.querySelectorAll('.questions a')].map(a => a.hash)")


def choose(browser, label: str, value: str) -> None:
    """Choose an option of the control that has this label."""
    code = """
        const labels = [...document.querySelectorAll('.filters label')];
        const label = labels.find(l => l.firstChild.textContent === arguments[0]);
        const box = document.getElementById(label.htmlFor);
        box.value = arguments[1];
        box.dispatchEvent(new Event(box.tagName === 'INPUT' ? 'input' : 'change'));
    """
    browser.execute_script(code, label, value)


def shown_question(browser, hash_: str) -> None:
    """Wait until the question of a hash is marked in the list and its detail is shown: pages draw it in an event."""
    from selenium.webdriver.support.ui import WebDriverWait

    code = """
        const marked = document.querySelector('.questions a[aria-current]');
        return location.hash === arguments[0] && marked && marked.hash === arguments[0]
            && !!document.querySelector('.steps button');
    """
    WebDriverWait(browser, 20).until(lambda b: b.execute_script(code, hash_))


def listed_ids(browser) -> list[str]:
    return [re.match(r"#q=(\w+)", link)[1] for link in listed(browser)]


def test_questions_are_filtered_and_counted(browser, page):
    browser.get(page)
    assert listed_ids(browser) == ["q1", "q2", "q3"]
    choose(browser, "Company", "Acme")
    assert listed_ids(browser) == ["q1", "q3"]
    choose(browser, "Filing", "BOLT_2021_10K")
    assert listed_ids(browser) == []
    choose(browser, "Company", "")
    assert listed_ids(browser) == ["q2"]
    choose(browser, "Filing", "")
    choose(browser, "Words or id", "net SALES")
    assert listed_ids(browser) == ["q1"]
    status = browser.find_element("css selector", "[role=status]")
    assert status.get_attribute("aria-live") == "polite"
    assert status.text.startswith("1 of 3 questions; BM25 hits every gold page of 1 (all filings")
    choose(browser, "Outcome", "miss")
    assert listed_ids(browser) == []


def test_a_link_points_to_one_question(browser, page):
    browser.get("about:blank")
    browser.get(f"{page}#q=q3")
    assert browser.find_element("css selector", ".detail h2").text.startswith("Which year does the annual report")
    assert browser.execute_script("return document.activeElement.tagName") == "H2"
    assert browser.find_element("css selector", ".questions a[aria-current]").get_attribute("hash") == "#q=q3"


def test_the_address_has_the_filters(browser, page):
    browser.get("about:blank")
    browser.get(f"{page}#q=q1&company=Acme&outcome=hit&method=nobody")
    assert listed(browser) == [f"#q={one}&company=Acme&outcome=hit" for one in ("q1", "q3")]
    choose(browser, "Outcome", "")
    assert browser.execute_script("return location.hash") == "#q=q1&company=Acme"


def test_the_detail_says_why(browser, page):
    browser.get("about:blank")
    browser.get(f"{page}#q=q1")
    text = browser.find_element("css selector", ".detail").text
    assert "Every gold page is found; the right filing has" in text
    assert browser.find_element("css selector", ".places .is-gold").text == "ACME_2020_10K p. 2 gold page"


def test_the_readers_own_copy_is_read_in_the_browser(browser, page, study, tmp_path):
    data = explorer_data(study)
    for question in data["questions"]:
        question["text"] = question["answer"] = None
    write_scripts(tmp_path / "site", data)
    lines = [{"financebench_id": "q1", "question": HOSTILE, "answer": "1"}, {"financebench_id": "q9"}]
    mine = tmp_path / "mine.jsonl"
    mine.write_text("\n".join([*map(json.dumps, lines), "no JSON"]))
    browser.get("about:blank")
    browser.get(f"{page}#q=q1")
    assert browser.find_element("css selector", ".detail h2").text == "q1"
    browser.find_element("id", "explorer-file").send_keys(str(mine))
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20).until(
        lambda b: b.find_element("css selector", ".own [role=status]").text.startswith("1 question")
    )
    assert browser.find_element("css selector", ".detail h2").text == HOSTILE
    assert browser.execute_script("return window.hacked") is None


def test_a_question_is_shown_without_its_file(browser, page, tmp_path):
    for file in (tmp_path / "site" / "_static" / "explorer").glob("question-*.js"):
        file.unlink()
    browser.get("about:blank")
    browser.get(f"{page}#q=q1")
    assert "Gold pages" in browser.find_element("css selector", ".detail").text
    assert browser.find_elements("css selector", ".places") == []


def test_hostile_text_stays_text(browser, page):
    browser.get("about:blank")
    browser.get(f"{page}#q=q2")
    assert browser.find_element("css selector", ".detail h2").text == HOSTILE
    browser.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert HOSTILE in browser.find_element("css selector", ".written").text
    assert browser.execute_script("return window.hacked") is None
    assert browser.execute_script("return document.querySelectorAll('#explorer b, #explorer script').length") == 0
    errors = [entry for entry in browser.get_log("browser") if entry["source"] == "javascript"]
    assert errors == []


def test_a_hash_that_is_none_of_ours_does_no_harm(browser, page):
    for wrong in ("#q=%E0%A4%A", "#q=nobody", "#elsewhere"):
        browser.get("about:blank")
        browser.get(page + wrong)
        assert len(listed(browser)) == 3
        assert not browser.find_element("css selector", ".detail").is_displayed()


def test_the_keyboard_reaches_everything(browser, page):
    from selenium.webdriver.common.keys import Keys

    browser.get("about:blank")
    browser.get(page)
    seen = []
    for _ in range(13):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(browser.execute_script("const e = document.activeElement; return e.id || e.hash || e.tagName"))
    names = ("words", "company", "type", "doc", "method", "condition", "outcome", "other")
    assert seen[:8] == [f"explorer-{name}" for name in names]
    assert {"#q=q1", "#q=q2", "#q=q3"} <= set(seen)
    browser.find_element("css selector", ".questions a").send_keys(Keys.ENTER)
    shown_question(browser, "#q=q1")
    browser.find_element("xpath", "//div[@class='steps']//button[contains(., 'Next')]").send_keys(Keys.ENTER)
    shown_question(browser, "#q=q2")


def test_every_control_and_picture_has_a_name(browser, page):
    browser.get("about:blank")
    browser.get(f"{page}#q=q2")
    code = "return [...document.querySelectorAll('select, input')].filter(e => !e.labels.length).length"
    assert browser.execute_script(code) == 0
    assert browser.execute_script("return [...document.images].filter(i => !i.alt).length") == 0
    assert browser.execute_script("return document.querySelectorAll('.detail table caption').length") == 1


def test_nothing_is_wider_than_a_phone(browser, page):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get("about:blank")
        browser.get(f"{page}#q=q1")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

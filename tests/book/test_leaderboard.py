"""The leaderboard, its downloads, and long tables: every row of every set, ranks, families, and what a reader does."""

import io
import json
import os
import re
import shutil
import zipfile
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.book import leaderboard
from lib.book.build import is_current
from lib.book.downloads import write_downloads
from lib.book.leaderboard import COSTS, SHOWN, ZIP, about, board, family, leaderboard_page, ranks
from lib.diagnose.stored import store_run
from lib.evaluation import evaluate_given
from lib.files import ROOT
from lib.methods import METHODS
from lib.published import MANIFEST, RESULTS
from tests.browser import open_page

STATIC = ROOT / "book" / "_static"


@pytest.mark.parametrize(
    ("means", "lows", "highs", "expected"),
    [
        ([0.8, 0.7, 0.6, 0.58, 0.1], [0.7, 0.6, 0.5, 0.4, 0.0], [0.9, 0.8, 0.7, 0.6, 0.2], [1, 1, 3, 3, 5]),
        ([0.8, 0.7, 0.65], [0.7, 0.69, 0.4], [0.9, 0.71, 0.9], [1, 2, 2]),  # the second opened a rank
    ],
)
def test_a_row_shares_the_rank_of_the_best_whose_mean_is_in_its_interval(means, lows, highs, expected):
    assert ranks(means, lows, highs) == expected


def test_a_family_is_what_its_rows_are_variants_of():
    assert {family(name) for name in ("dense", "dense_records", "dense_records_rerank", "fixed_128")} == {"dense"}
    assert {family(name) for name in METHODS} <= {*METHODS}


@pytest.fixture
def with_other_set(study, tmp_path, monkeypatch):
    """The small study with times, a run that was diagnosed here, and the demo's publication over the same filings."""
    root = shutil.copytree(RESULTS / "demo" / "default", tmp_path / "results" / "demo" / "default")
    stated = json.loads((root / MANIFEST).read_text()) | {"collection": "financebench"}
    (root / MANIFEST).write_text(json.dumps(stated))
    elsewhere = tmp_path / "results" / "elsewhere" / "default"
    shutil.copytree(RESULTS / "demo" / "default", elsewhere)
    (elsewhere / MANIFEST).write_text(json.dumps(stated | {"dataset": "elsewhere", "collection": "elsewhere"}))
    monkeypatch.setattr(leaderboard, "RESULTS", tmp_path / "results")
    store_run(study, "here", study.run("bm25"), evaluate_given(study, study.run("bm25"), "here"))
    times = pd.DataFrame({"method": ["bm25"], "question_s": [0.00179]})
    times.reindex(columns=["method", *COSTS]).to_csv(study.home / "times.csv", index=False)
    return study


def test_every_system_of_every_set_over_the_filings_is_a_row_with_its_costs_command_and_run(with_other_set):
    page = leaderboard_page(with_other_set)
    found = board(with_other_set).set_index(["set", "method"])
    assert {*found.index} >= {("financebench", "bm25"), ("financebench", "here"), ("demo", "bm25")}
    assert {*found.index.get_level_values("set")} == {"financebench", "demo"}
    own = found.loc["financebench", "bm25"]
    assert own[["n", "question_s", "parameters"]].tolist() == [3, 0.00179, 0], "BM25 reads with no model"
    assert own[["run_s", "peak_mib"]].gt(0).all()
    assert own["types: metrics-generated (n = 3)"] == pytest.approx(own["page_recall"])
    here = found.loc["financebench", "here"]
    assert here[["page_recall", "rank", "by"]].tolist() == [own["page_recall"], 1, "diagnosed here"]
    for wanted in (
        '<a href="methods.html#method-bm25">BM25</a>',
        'href="../_static/runs/standard/bm25.trec.gz"',
        'href="../_static/sets/demo/runs/standard/bm25.trec.gz"',
        "make notebook NB=03_baselines PARAMS=&#x27;-p methods &quot;[bm25]&quot;&#x27;",
        "make measure DATASET=financebench QUESTIONS=demo METHODS=bm25",
    ):
        assert wanted in page
    assert page.count('<tr data-family="bm25"') == 1, "both sets are in one row"


def test_all_results_are_in_one_file_without_a_text(with_other_set, tmp_path):
    write_downloads(with_other_set, tmp_path / "downloads")
    with zipfile.ZipFile(tmp_path / "downloads" / ZIP) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    own = {"metrics.csv.gz", "qrels.txt", "questions.csv", "summary.csv", "manifest.json", "runs/standard/bm25.trec.gz"}
    assert own | {f"demo/{name}" for name in own} | {"times.csv"} <= {*read}
    assert read["qrels.txt"].decode().splitlines()[0] == "q1 0 ACME_2020_10K#p0002 1"
    assert "question" not in [*pd.read_csv(io.BytesIO(read["questions.csv"]))]
    described = set(re.findall(r"^\| `([\w.]+)`", read["README.md"].decode(), flags=re.M))
    assert {name for name in read if "/" not in name} - {"README.md"} <= described
    files = {str(path.relative_to(tmp_path / "downloads")) for path in (tmp_path / "downloads").rglob("*.gz")}
    names = {"runs/standard/bm25.trec.gz", "sets/demo/runs/standard/bm25.trec.gz", "runs/standard/here.trec.gz"}
    assert names <= files


def test_a_book_is_old_once_a_run_was_diagnosed(with_other_set, tmp_path):
    index = tmp_path / "index.html"
    assert not is_current(with_other_set, index)
    index.touch()
    assert is_current(with_other_set, index)
    os.utime(index, (0, 0))
    assert not is_current(with_other_set, index)


MEANS = {
    **{"ahead": 0.8, "ahead_covers": 0.79, "dense_records": 0.46, "rerank": 0.3, "parent_child": 0.28},
    **{"dense": 0.21, "splade": 0.17, "bm25_records": 0.16, "fixed_128": 0.15, "bm25": 0.13},
}


def page_of(frame: pd.DataFrame, monkeypatch) -> str:
    """The page of an invented board."""
    monkeypatch.setattr(leaderboard, "board", lambda study: frame)
    dataset = SimpleNamespace(name="one", collection="one")
    return leaderboard_page(SimpleNamespace(dataset=dataset, write=lambda name, text: None))


def invented() -> pd.DataFrame:
    """A board of MEANS."""
    rows = [
        {"set": "one", "rank": place, "method": name, "n": 9, "parameters": 23.0}
        | about(name)
        | {metric + end: mean for metric in SHOWN for end in ("", "_low", "_high")}
        | {"types: words (n = 9)": mean, "question_s": 1 / mean}
        for place, (name, mean) in enumerate(MEANS.items(), 1)
    ]
    return pd.DataFrame(rows).reindex(columns=[*rows[0], "given", "reported", "peak_mib", "run_s", *COSTS[1:]])


def test_a_title_is_text(monkeypatch):
    frame = invented().assign(title="<img src=x onerror=hacked>", needs='"><script>')
    page = page_of(frame, monkeypatch)
    assert "<img" not in page
    assert "<script" not in page


@pytest.fixture
def open_board(browser, tmp_path, monkeypatch):
    """Opens the invented leaderboard with the book's scripts, or without."""
    [table] = re.findall(r"```\{raw\} html\n(.*?)\n```", page_of(invented(), monkeypatch), flags=re.S)
    links = "".join(f"<script src='{(STATIC / name).as_uri()}'></script>" for name in ("tables.js", "leaderboard.js"))
    style = f"<link rel=stylesheet href='{(STATIC / 'study.css').as_uri()}'>"

    def open_it(has_scripts: bool = True) -> None:
        path = tmp_path / f"page{has_scripts}.html"
        path.write_text(f"<!doctype html><meta charset=utf-8>{style}{table}{links if has_scripts else ''}")
        open_page(browser, path.as_uri())

    return open_it


def titles(browser) -> list[str]:
    """The titles of the rows that a reader sees."""
    code = "return [...document.querySelectorAll('tbody tr')].filter(r => r.offsetParent)"
    return browser.execute_script(f"{code}.map(r => r.cells[1].querySelector('.title').textContent)")


def press(browser, path: str) -> None:
    browser.execute_script("arguments[0].click()", browser.find_element("xpath", path))


def test_families_fold_rows_sort_and_are_filtered_and_columns_are_chosen(open_board, browser):
    open_board()
    assert titles(browser) == [
        METHODS[one].title for one in "ahead dense_records rerank parent_child splade bm25_records".split()
    ]
    press(browser, "//tr[@data-family='dense']//button[not(@hidden)]")
    assert titles(browser)[1:4] == [METHODS[one].title for one in ("dense_records", "dense", "fixed_128")]
    press(browser, "//tr[@data-family='dense']//button[not(@hidden)]")
    press(browser, "//th[@data-key='one page_recall']/button")
    press(browser, "//th[@data-key='one page_recall']/button")
    assert titles(browser)[0] == "BM25", "the worst row comes first, and stands for its family"
    press(browser, "//input[@value='metadata']")
    assert METHODS["ahead"].title not in titles(browser)
    head = browser.find_element("xpath", "//th[@data-key='one types: words (n = 9)']")
    assert not head.is_displayed()
    press(browser, "//input[@value='types']")
    assert head.is_displayed()


def test_without_a_script_it_is_a_plain_table_of_all_rows_and_it_prints_whole(open_board, browser):
    open_board(has_scripts=False)
    assert len(titles(browser)) == len(MEANS)
    assert not browser.find_element("css selector", "#board form").is_displayed()
    open_board()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    printed = titles(browser)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(printed) == len(MEANS), "folded rows are printed"


SHOWN_MEANS = ["0.31 [0.23, 0.40]", "–", "1,200", "0.07", "−0.2", "+0.5", "0.9", "0.8"]
IN_ORDER = ["1,200", "0.9", "0.8", "+0.5", "0.31 [0.23, 0.40]", "0.07", "−0.2", "–"]


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a table of names and values in a page that has the book's script."""

    def open_table(names: str | list[str], values: list[str]):
        rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in zip(names, values, strict=True))
        head = "<thead><tr><th>Method</th><th><p>Page recall</p></th></tr></thead>"
        table = f"<table class='study-table'>{head}<tbody>{rows}</tbody></table>"
        script = f"<script src='{(STATIC / 'tables.js').as_uri()}'></script>"
        (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{table}{script}")
        open_page(browser, (tmp_path / "page.html").as_uri())
        return browser

    return open_table


def sorted_by(browser, head: str, column: int) -> tuple[str | None, list[str]]:
    """How a click on a head sorts the table, and a column of it then."""
    button = browser.find_element("xpath", f"//th/button[.='{head}']")
    button.click()
    code = "return [...document.querySelector('tbody').rows].map((row) => row.cells[arguments[0]].textContent)"
    return button.find_element("xpath", "..").get_attribute("aria-sort"), browser.execute_script(code, column)


def test_a_long_table_sorts_by_value_then_the_other_way_then_as_it_was(opened):
    page = opened("hgfedcba", SHOWN_MEANS)
    for order, expected in (("descending", IN_ORDER), ("ascending", [*IN_ORDER[-2::-1], "–"]), (None, SHOWN_MEANS)):
        assert sorted_by(page, "Page recall", 1) == (order, expected), "what was not measured stays last"
    assert sorted_by(page, "Method", 0) == ("ascending", [*"abcdefgh"])


def test_a_row_that_sums_up_stays_below_and_short_tables_and_rows_that_belong_together_do_not_sort(opened):
    page = opened([*"abcdefg", "κ with people"], [*SHOWN_MEANS[:7], "0.95"])
    assert sorted_by(page, "Page recall", 0)[1][-2:] == ["b", "κ with people"]
    for names in ("abcdefg", ["a", "", *"cdefgh"]):
        assert opened(names, SHOWN_MEANS[: len(names)]).find_elements("css selector", "th button") == []

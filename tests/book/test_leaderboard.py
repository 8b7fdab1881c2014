"""The leaderboard: ranks, families, every row of every set beside the others, and what a reader does with the page."""

import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.book import board as boards
from lib.book import leaderboard
from lib.book.board import ABOUT, COSTS, SHOWN, about, board, family, ranks
from lib.book.leaderboard import leaderboard_page
from lib.evaluation import read_metrics
from lib.methods import METHODS
from lib.published import METRICS_FILE

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"


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
    assert [family(name) for name in ("ahead_covers", "bm25", "bm25_records")] == ["ahead", "bm25", "bm25"]
    assert {family(name) for name in METHODS} <= {*METHODS}


def test_every_row_has_recall_costs_command_and_run(study, tmp_path, monkeypatch):
    monkeypatch.setattr(boards, "RESULTS", tmp_path)
    pd.DataFrame({"method": ["bm25"], "question_s": [0.00179]}).reindex(columns=["method", *COSTS]).to_csv(
        study.home / "times.csv", index=False
    )
    found = board(study)
    assert found[["set", "method", "n", "question_s"]].to_numpy().tolist() == [["financebench", "bm25", 3, 0.00179]]
    page = leaderboard_page(study)
    assert '<a href="methods.html#method-bm25">BM25</a>' in page
    assert 'href="../_static/runs/standard/bm25.trec.gz"' in page
    assert "make notebook NB=03_baselines PARAMS=&#x27;-p methods &quot;[bm25]&quot;&#x27;" in page
    assert ">0.0018</td>" in page
    assert 'value="financebench" checked> financebench (n = 3)' in page
    assert found.loc[0, "parameters"] == 0, "BM25 reads with no model"
    assert found.loc[0, ["run_s", "peak_mib"]].gt(0).all()
    assert found.loc[0, "types: metrics-generated (n = 3)"] == pytest.approx(found.loc[0, "page_recall"])
    assert (study.outputs / "tables" / "leaderboard.csv").is_file()


def test_a_published_set_over_the_same_filings_is_on_the_board(study, tmp_path, monkeypatch):
    other = {"dataset": "other", "collection": "financebench", "stages": [], "runs": {}}
    layer = SimpleNamespace(
        file=lambda name: study.outputs / name,
        manifest=other,
        dataset=lambda: study.dataset,
        metrics=read_metrics(study.outputs / METRICS_FILE),
    )
    (path := tmp_path / "other" / "default" / "manifest.json").parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr(boards, "RESULTS", tmp_path)
    monkeypatch.setattr(boards, "Published", lambda root: layer)
    assert board(study)["set"].tolist() == ["financebench", "other"]
    page = leaderboard_page(study)
    assert "make measure DATASET=financebench QUESTIONS=other METHODS=bm25" in page
    assert 'href="../_static/sets/other/runs/standard/bm25.trec.gz"' in page
    assert page.count('<tr data-family="bm25"') == 1, "both sets are in one row"
    other["collection"] = "elsewhere"
    assert board(study)["set"].tolist() == ["financebench"]


MEANS = {
    **{"ahead": 0.8, "ahead_covers": 0.79, "dense_records": 0.46, "rerank": 0.3, "parent_child": 0.28},
    **{"dense": 0.21, "splade": 0.17, "bm25_records": 0.16, "fixed_128": 0.15, "bm25": 0.13},
}
BY_DEFAULT = ["Ahead", "Dense, filings matched by records", "Dense + reranker", "Parent-child", "SPLADE"]
BY_DEFAULT += ["BM25, filings matched by records"]


def invented(set_name: str, sign: int = 1) -> pd.DataFrame:
    """A board of MEANS, or of one less each."""
    rows = [
        {"set": set_name, "rank": place, "method": name, "n": 9, "parameters": 23.0}
        | dict(zip(ABOUT, about(name, {}), strict=True))
        | {metric + end: mean if sign > 0 else 1 - mean for metric in SHOWN for end in ("", "_low", "_high")}
        | {"types: words (n = 9)": mean, "question_s": 1 / mean}
        for place, (name, mean) in enumerate(MEANS.items(), 1)
    ]
    absent = ["given", "reported", "peak_mib", "run_s", *COSTS[1:]]
    return pd.DataFrame(rows).reindex(columns=[*rows[0], *absent])


@pytest.fixture
def any_study(tmp_path):
    """As much of a study as a page needs whose board is invented."""
    dataset = SimpleNamespace(name="one", collection="one")
    return SimpleNamespace(dataset=dataset, write=lambda name, text: (tmp_path / Path(name).name).write_text(text))


@pytest.fixture
def open_board(any_study, browser, tmp_path, monkeypatch):
    """Opens an invented leaderboard, with what the address says behind the page; with a script, or without."""
    frame = pd.concat([invented("one"), invented("two", -1)], ignore_index=True)
    monkeypatch.setattr(leaderboard, "board", lambda study: frame)
    [table] = re.findall(r"```\{raw\} html\n(.*?)\n```", leaderboard_page(any_study), flags=re.S)
    links = "".join(f"<script src='{(STATIC / name).as_uri()}'></script>" for name in ("tables.js", "leaderboard.js"))
    style = f"<link rel=stylesheet href='{(STATIC / 'study.css').as_uri()}'>"

    def open_page(address: str = "", has_scripts: bool = True) -> None:
        path = tmp_path / f"page{has_scripts}.html"
        path.write_text(f"<!doctype html><meta charset=utf-8>{style}{table}{links if has_scripts else ''}")
        browser.get(path.as_uri() + address)

    return open_page


def titles(browser) -> list[str]:
    """The titles of the rows that a reader sees."""
    code = "return [...document.querySelectorAll('tbody tr')].filter(r => r.offsetParent)"
    return browser.execute_script(f"{code}.map(r => r.cells[1].querySelector('.title').textContent)")


def heads(browser) -> list[str]:
    code = "return [...document.querySelectorAll('thead th')].filter(h => h.offsetParent).map(h => h.dataset.key)"
    return browser.execute_script(code)


def press(browser, path: str) -> None:
    browser.execute_script("arguments[0].click()", browser.find_element("xpath", path))


def test_families_are_folded_to_their_best_row_and_open_where_asked(open_board, browser):
    open_board()
    assert titles(browser) == BY_DEFAULT
    assert "6 of 10 rows" in browser.find_element("css selector", ".count").text
    press(browser, "//tr[@data-family='dense']//button[not(@hidden)]")
    assert titles(browser)[1:4] == ["Dense, filings matched by records", "Dense", "Chunks of 128 tokens"]
    assert browser.current_url.endswith("?open=dense")
    press(browser, "//tr[@data-family='dense']//button[not(@hidden)]")
    assert titles(browser) == BY_DEFAULT
    press(browser, "//input[@value='all']")
    assert titles(browser) == [METHODS[name].title for name in MEANS]


def test_heads_sort_families_by_their_best_row_and_needs_and_words_filter(open_board, browser):
    open_board()
    press(browser, "//th[@data-key='two page_recall']/button")
    assert titles(browser)[:3] == ["BM25", "Chunks of 128 tokens", "SPLADE"]
    assert "sort=descending+two+page_recall" in browser.current_url
    open_board()
    press(browser, "//input[@value='metadata']")
    assert titles(browser) == ["Ahead by cover pages", "Dense + reranker", "Parent-child", "Dense", "SPLADE", "BM25"]
    browser.find_element("id", "board-words").send_keys("dense")
    assert titles(browser) == ["Dense + reranker", "Dense"]


def test_columns_are_chosen_and_the_address_restores_everything(open_board, browser):
    open_board()
    assert "one page_recall_pooled" not in heads(browser)
    press(browser, "//input[@value='types']")
    press(browser, "//input[@value='two']")
    press(browser, "//input[@value='cross-encoder']")
    press(browser, "//tr[@data-family='bm25']//button[not(@hidden)]")
    press(browser, "//th[@data-key='one types: words (n = 9)']/button")
    before, address = (heads(browser), titles(browser)), browser.current_url
    assert "one types: words (n = 9)" in before[0]
    assert not any(key.startswith("two") for key in before[0])
    assert "Dense + reranker" not in before[1]
    assert "BM25" in before[1]
    open_board("?" + address.partition("?")[2])
    assert (heads(browser), titles(browser)) == before
    assert browser.current_url == address


def test_without_a_script_it_is_a_plain_table_of_all_rows_and_it_prints_whole(open_board, browser):
    open_board(has_scripts=False)
    assert titles(browser) == [METHODS[name].title for name in MEANS]
    assert not browser.find_element("css selector", "#leaderboard form").is_displayed()
    assert {"one page_recall", "two page_recall", "needs"} <= {*heads(browser)}
    open_board()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert len(titles(browser)) == len(MEANS), "folded rows are printed"
    scroll = browser.find_element("css selector", "#leaderboard .scroll")
    overflow, height = scroll.value_of_css_property("overflow"), scroll.size["height"]
    table = browser.execute_script("return document.querySelector('table').offsetHeight")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert overflow == "visible"
    assert height >= table


def test_a_title_is_text(any_study, monkeypatch):
    frame = invented("one").assign(title="<img src=x onerror=hacked>", needs='"><script>')
    monkeypatch.setattr(leaderboard, "board", lambda study: frame)
    page = leaderboard_page(any_study)
    assert "<img" not in page
    assert "<script" not in page

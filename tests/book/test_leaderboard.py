"""The leaderboard, its downloads, and long tables: every row of every set, ranks, families, and what a reader does."""

import io
import json
import os
import re
import shutil
import zipfile

import pandas as pd
import pytest

from lib.book import leaderboard
from lib.book.build import is_current
from lib.book.downloads import write_archive, write_downloads
from lib.book.leaderboard import COSTS, board, family, leaderboard_page, ranks
from lib.diagnose.judged import judged
from lib.diagnose.run_file import OutsideRun
from lib.diagnose.stored import store_run
from lib.files import ROOT
from lib.methods import METHODS
from lib.published import MANIFEST, RESULTS
from lib.schema import StudyError
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
    outside = OutsideRun(study.run("bm25"), {}, [], tuple(study.questions["question_id"]))
    store_run(study, judged(study, "here", outside, None, "standard", 5))
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
        "make notebook NB=03_baselines PARAMS=&#x27;-p methods &quot;[bm25]&quot;&#x27;",
        "make measure DATASET=financebench QUESTIONS=demo METHODS=bm25",
    ):
        assert wanted in page
    assert page.count('<tr data-family="bm25"') == 1, "both sets are in one row"


def test_the_site_has_the_runs_of_its_own_set_and_what_they_are_judged_by(with_other_set, tmp_path):
    target = tmp_path / "downloads"
    write_downloads(with_other_set, target)
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    runs = {f"runs/standard/{name}.trec.gz" for name in ("bm25", "here")}
    assert files == {*runs, "qrels.txt", "questions.csv", "summary.csv", "manifest.json"}


def test_all_results_are_in_one_file_without_a_text(with_other_set):
    with zipfile.ZipFile(write_archive(with_other_set)) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    own = {"metrics.csv.gz", "qrels.txt", "questions.csv", "summary.csv", "manifest.json", "runs/standard/bm25.trec.gz"}
    assert own | {f"demo/{name}" for name in own} | {"times.csv"} <= {*read}
    assert read["qrels.txt"].decode().splitlines()[0] == "q1 0 ACME_2020_10K#p0002 1"
    assert "question" not in [*pd.read_csv(io.BytesIO(read["questions.csv"]))]
    described = set(re.findall(r"^\| `([\w.]+)`", read["README.md"].decode(), flags=re.M))
    assert {name for name in read if "/" not in name} - {"README.md"} <= described


def test_an_archive_needs_a_built_book(with_other_set):
    (with_other_set.outputs / "metrics.csv.gz").unlink()
    with pytest.raises(StudyError, match="make book"):
        write_archive(with_other_set)


def test_a_book_is_old_once_a_run_was_diagnosed(with_other_set, tmp_path):
    index = tmp_path / "index.html"
    assert not is_current(with_other_set, index)
    index.touch()
    assert is_current(with_other_set, index)
    os.utime(index, (0, 0))
    assert not is_current(with_other_set, index)


def test_a_title_and_a_need_are_text(with_other_set, monkeypatch):
    frame = board(with_other_set).assign(title="<img src=x onerror=hacked>", needs='"><script>')
    monkeypatch.setattr(leaderboard, "board", lambda study: frame)
    assert not re.search("<(img|script)", leaderboard_page(with_other_set))


def press(browser, path: str) -> None:
    browser.execute_script("arguments[0].click()", browser.find_element("xpath", path))


SHOWN_MEANS = ["0.31 [0.23, 0.40]", "–", "1,200", "0.07", "−0.2", "+0.5", "0.9", "0.8"]
IN_ORDER = ["1,200", "0.9", "0.8", "+0.5", "0.31 [0.23, 0.40]", "0.07", "−0.2", "–"]


def test_a_long_table_sorts_by_value_then_the_other_way_then_as_it_was(browser, tmp_path):
    pairs = zip("hgfedcba", SHOWN_MEANS, strict=True)
    rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in pairs)
    head = "<thead><tr><th>Method</th><th>Page recall</th></tr></thead>"
    table = f"<table class='study-table'>{head}<tbody>{rows}</tbody></table>"
    script = f"<script src='{(STATIC / 'tables.js').as_uri()}'></script>"
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{table}{script}")
    open_page(browser, (tmp_path / "page.html").as_uri())
    for order, expected in (("descending", IN_ORDER), ("ascending", [*IN_ORDER[-2::-1], "–"]), (None, SHOWN_MEANS)):
        press(browser, "//th/button[.='Page recall']")
        assert browser.find_element("xpath", "//th[2]").get_attribute("aria-sort") == order
        code = "return [...document.querySelector('tbody').rows].map((row) => row.cells[1].textContent)"
        assert browser.execute_script(code) == expected, "what was not measured stays last"

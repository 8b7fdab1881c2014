"""The leaderboard, its downloads, and long tables: every row of every set, ranks, families, and what a reader does."""

import io
import json
import os
import re
import shutil
import zipfile

import pandas as pd
import pytest

from lib import files
from lib.analysis.decisions import measuring
from lib.book import leaderboard
from lib.book.build import is_current
from lib.book.downloads import write_archive, write_downloads
from lib.book.leaderboard import (
    COSTS,
    DESIGNED_ON,
    board,
    command,
    cost_chart,
    is_designed_here,
    leaderboard_page,
    ranks,
)
from lib.book.pages import card
from lib.book.pairs import of_questions, write_pairs
from lib.diagnose.beside import judged
from lib.diagnose.run_file import OutsideRun
from lib.diagnose.stored import store_run
from lib.evaluation import SUMMARY_COLUMNS
from lib.files import MANIFEST, RESULTS, ROOT
from lib.methods import METHODS
from lib.published import Published
from lib.schema import Names, StudyError
from lib.show.tables import title
from lib.stats import DIFFERENCE, Resampling, compare_pairs
from tests.browser import open_page
from tests.made import values

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


def test_a_family_is_what_its_rows_do_and_rows_that_were_designed_on_the_questions_are_marked():
    families = {
        "bm25": "One plain search",
        "convex_folds": "Fusion",
        "parent_child": "Other chunks",
        "element_summary": "Other chunks",
        "hybrid_rerank": "Rerankers",
        "multi_hyde": "Query rewriting",
        "dense_records_rerank": "Metadata match",
        "contextual_hybrid_covers": "Metadata match from cover pages",
        "page_scorer_light_order_template_records": "Page scorers",
        "ahead_items_apart": "Ahead",
    }
    assert {name: METHODS[name].purpose for name in families} == families
    designed = "ahead ahead_covers dense_records page_scorer_order".split()
    others = "dense multi_hyde_rerank page_scorer fixed_128 crag".split()
    assert [name for name in (*designed, *others) if is_designed_here(METHODS[name])] == designed


@pytest.fixture
def with_other_set(study, tmp_path, monkeypatch):
    """The small study with times, a run that was diagnosed here, and the demo's publication over the same filings."""
    root = shutil.copytree(RESULTS / "demo" / "default", tmp_path / "results" / "demo" / "default")
    stated = json.loads((root / MANIFEST).read_text()) | {"collection": "financebench"}
    (root / MANIFEST).write_text(json.dumps(stated))
    elsewhere = tmp_path / "results" / "elsewhere" / "default"
    shutil.copytree(RESULTS / "demo" / "default", elsewhere)
    (elsewhere / MANIFEST).write_text(json.dumps(stated | {"dataset": "elsewhere", "collection": "elsewhere"}))
    monkeypatch.setattr(files, "RESULTS", tmp_path / "results")
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
    own, here = found.loc["financebench", "bm25"], found.loc["financebench", "here"]
    assert own[["n", "question_s", "parameters"]].tolist() == [3, 0.00179, 0], "BM25 reads with no model"
    assert own[["run_s", "peak_mib"]].gt(0).all()
    assert own["types: metrics-generated (n = 3)"] == pytest.approx(own["page_recall"])
    assert here[["page_recall", "rank", "by"]].tolist() == [own["page_recall"], 1, "diagnosed here"]
    for wanted in (
        '<a href="methods.html#method-bm25">BM25</a>',
        'href="../_static/runs/standard/bm25.trec.gz"',
        "make notebook NB=03_baselines PARAMS=&#x27;-p methods &quot;[bm25]&quot;&#x27;",
        "make measure DATASET=financebench QUESTIONS=demo METHODS=bm25",
    ):
        assert wanted in page
    assert page.count('data-method="bm25"') == 1, "both sets are in one row"


def test_commands_name_the_study_as_it_was_opened(study):
    study.names = Names("my filings", "my.yaml", "fresh", "asked")
    variables = "DATASET='my filings' QUESTIONS=asked PROFILE=my.yaml"
    name = study.dataset.name
    assert command(study, "bm25", name) == f"make notebook NB=03_baselines {variables} PARAMS='-p methods \"[bm25]\"'"
    assert command(study, "bm25", "other") == f"make measure {variables.replace('asked', 'other')} METHODS=bm25"
    unseen = "make measure DATASET=unseen-companies PROFILE=my.yaml METHODS=bm25"
    assert command(study, "bm25", "unseen-companies") == unseen
    assert measuring(study, ["bm25", "dense"]) == f'make measure {variables} METHODS="bm25 dense"'
    assert f"NB=03_baselines {variables} PARAMS" in card(study, METHODS["bm25"], pd.DataFrame(columns=SUMMARY_COLUMNS))


@pytest.mark.parametrize("typed", ["", "financebench"])
def test_commands_of_financebench_are_the_same_however_it_was_opened(typed):
    assert Names(typed).make_variables() == ""
    assert Names(typed).make_variables("financebench") == " DATASET=financebench"


def test_the_site_has_the_runs_of_its_own_set_and_what_they_are_judged_by(with_other_set, tmp_path):
    target = tmp_path / "downloads"
    write_downloads(with_other_set, target)
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    runs = {f"runs/standard/{name}.trec.gz" for name in ("bm25", "here")}
    assert files == {*runs, "qrels.txt", "questions.csv", "summary.csv", "manifest.json"}


def test_all_results_of_a_built_book_are_in_one_file_without_a_text(with_other_set):
    with zipfile.ZipFile(write_archive(with_other_set)) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    own = {"metrics.csv.gz", "qrels.txt", "questions.csv", "summary.csv", "manifest.json", "runs/standard/bm25.trec.gz"}
    assert own | {f"demo/{name}" for name in own} | {"times.csv"} <= {*read}
    assert read["qrels.txt"].decode().splitlines()[0] == "q1 0 ACME_2020_10K#p0002 1"
    assert "question" not in [*pd.read_csv(io.BytesIO(read["questions.csv"]))]
    described = set(re.findall(r"^\| `([\w.]+)`", read["README.md"].decode(), flags=re.M))
    assert {name for name in read if "/" not in name} - {"README.md"} <= described
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


def test_a_title_and_a_need_are_text_and_the_mark_of_design_is_where_its_questions_are(with_other_set, monkeypatch):
    frame = board(with_other_set).assign(title="<img src=x onerror=hacked>", needs='"><script>')
    frame["designed_on"] = DESIGNED_ON
    monkeypatch.setattr(leaderboard, "board", lambda study: frame)
    page = leaderboard_page(with_other_set)
    assert not re.search("<(img|script>)", page)
    assert "†</abbr>" in page
    monkeypatch.setattr(leaderboard, "board", lambda study: frame[frame["set"] == "demo"])
    assert "†" not in leaderboard_page(with_other_set)


def test_a_chart_of_costs_has_the_best_rows_for_their_seconds_and_needs_two_that_were_timed():
    rows = [("dense", 0.1, 0.5), ("dense_records", 0.2, 0.7), ("ahead", 0.3, 0.6)]
    found = pd.DataFrame(rows, columns=["method", "question_s", "page_recall"]).assign(family="F", needs="")
    found = found.assign(title=found["method"].map(title), page_recall_low=0.4, page_recall_high=0.8)
    spec = json.loads(re.search(r'<script type="application/json">(.*?)</script>', cost_chart(found))[1])
    [data] = spec["datasets"].values()
    assert {row["title"]: row["is_best"] for row in data} == {
        "Dense": True,
        "Dense, metadata match": True,
        "Ahead": False,
    }
    assert cost_chart(found.iloc[:1]) == ""
    assert cost_chart(found.assign(question_s=float("nan"))) == ""


def test_recall_is_in_the_order_of_the_questions_and_over_all_filings():
    asked = pd.DataFrame({"question_id": ["b", "a"], "company": ["X", "Y"]})
    given = values(["a", "b"], [1.0, 1.0], "page_recall", 5, condition="oracle-document")
    metrics = pd.concat([values(["a", "b"], [0.25, 0.75], "page_recall", 5), given])
    assert of_questions(asked, metrics, ["dense"]) == {"companies": [0, 1], "recall": {"dense": [0.75, 0.25]}}


#: Rows that are compared: far apart, close, in favour of the second, and equal.
PAIRS = [("ahead", "dense"), ("hybrid_rrf", "dense"), ("bm25", "rerank"), ("dense", "dense")]


@pytest.mark.parametrize("question_set", ["financebench", "unseen-companies"])
def test_two_rows_are_compared_in_the_browser_as_in_the_study(browser, tmp_path, question_set):
    published = Published.of(question_set, "default")
    questions = published.dataset().questions
    names = [*{*sum(PAIRS, ())} & {method for _, method in published.runs}]
    data = of_questions(questions, published.metrics, names)
    recall = pd.DataFrame(data["recall"], questions["question_id"])
    pairs = [pair for pair in PAIRS if {*pair} <= {*names}]
    draws = Resampling(questions.set_index("question_id")["company"])
    expected = compare_pairs(recall, pairs, draws)
    script = f"<script src='{(STATIC / 'paired.js').as_uri()}'></script>"
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{script}")
    open_page(browser, (tmp_path / "page.html").as_uri())
    for first, second in pairs:
        apart = (recall[first] - recall[second]).tolist()
        found = browser.execute_script("return window.paired(arguments[0], arguments[1], 7)", apart, data["companies"])
        row = expected.loc[[(first, second)]].iloc[0]
        assert (found["n"], found["companies"]) == (row["n"], row["n_clusters"])
        assert found["mean"] == pytest.approx(row["difference"], abs=1e-9)
        # ends of 10,000 draws vary by about .002, p by its own standard error
        assert (found["low"], found["high"]) == pytest.approx(tuple(row[DIFFERENCE[1:]]), abs=0.008)
        error = (2 * row["p"] * (1 - row["p"]) / 10_000) ** 0.5
        assert found["p"] == pytest.approx(row["p"], abs=max(0.0005, 5 * error))


def test_two_rows_are_compared_on_the_page(with_other_set, browser, tmp_path):
    page = "".join(re.findall(r"```\{raw\} html\n(.*?)```", leaderboard_page(with_other_set), flags=re.S))
    scripts = "".join(f"<script src='../_static/{name}.js'></script>" for name in ("tables", "leaderboard"))
    shutil.copytree(STATIC, tmp_path / "site" / "_static")
    write_pairs(with_other_set, tmp_path / "site" / "_static" / "pairs")
    (tmp_path / "site" / "pages").mkdir()
    (tmp_path / "site" / "pages" / "board.html").write_text(f"<!doctype html><meta charset=utf-8>{scripts}{page}")
    open_page(browser, (tmp_path / "site" / "pages" / "board.html").as_uri() + "#first=bm25&second=here")
    result = browser.find_element("id", "pair").text
    assert result.startswith("+0.00 [−0.56, +0.56], inconclusive (p = 1.000). BM25 finds 1.00, here 1.00 of the pages")


def test_a_long_table_sorts_by_value_and_what_was_not_measured_stays_last(browser, tmp_path):
    values = ["0.31 [0.23, 0.40]", "–", "1,200", "0.07", "−0.2", "+0.5", "0.9", "0.8"]
    rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in zip("hgfedcba", values, strict=True))
    head = "<thead><tr><th>Method</th><th>Page recall</th></tr></thead>"
    table = f"<table class='study-table'>{head}<tbody>{rows}</tbody></table>"
    script = f"<script src='{(STATIC / 'tables.js').as_uri()}'></script>"
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{table}{script}")
    open_page(browser, (tmp_path / "page.html").as_uri())
    browser.find_element("xpath", "//th/button[.='Page recall']").click()
    code = "return [...document.querySelector('tbody').rows].map((row) => row.cells[1].textContent)"
    in_order = ["1,200", "0.9", "0.8", "+0.5", "0.31 [0.23, 0.40]", "0.07", "−0.2", "–"]
    assert browser.execute_script(code) == in_order

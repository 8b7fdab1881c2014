"""The leaderboard: what a row needs, every row of every set, and one file of all results."""

import io
import re
import zipfile
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.book import leaderboard
from lib.book.leaderboard import ZIP, board, leaderboard_page, write_downloads
from lib.evaluation import read_metrics
from lib.methods import METHODS
from lib.published import METRICS_FILE


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("dense", []),
        ("dense_records", ["metadata"]),
        ("dense_covers", []),
        ("ahead", ["training", "metadata"]),
        ("multi_hyde_rerank", ["language model", "cross-encoder"]),
        ("contextual_header_dense", ["metadata"]),
        ("page_scorer_best_order", ["training", "metadata"]),
        ("page_scorer_best_sum_covers", ["training", "metadata"]),
    ],
)
def test_a_row_states_what_it_needs(name, needs):
    assert [*METHODS[name].needs] == needs


def test_every_row_has_recall_costs_command_and_run(study, tmp_path, monkeypatch):
    monkeypatch.setattr(leaderboard, "RESULTS", tmp_path)
    pd.DataFrame({"method": ["bm25"], "question_s": [0.00179]}).reindex(columns=["method", *leaderboard.COSTS]).to_csv(
        study.home / "times.csv", index=False
    )
    found = board(study)
    assert found[["set", "method", "n", "question_s"]].to_numpy().tolist() == [["financebench", "bm25", 3, 0.00179]]
    page = leaderboard_page(study)
    assert '<a href="methods.html#method-bm25">BM25</a>' in page
    assert 'href="../_static/runs/standard/bm25.trec.gz"' in page
    assert "make notebook NB=03_baselines PARAMS=&#x27;-p methods &quot;[bm25]&quot;&#x27;" in page
    assert ">0.0018</td>" in page
    assert '<option value="financebench">financebench (n = 3)</option>' in page
    assert (study.outputs / "tables" / "leaderboard.csv").is_file()


def test_a_published_set_over_the_same_filings_is_on_the_board(study, tmp_path, monkeypatch):
    other = {"dataset": "other", "collection": "financebench"}
    layer = SimpleNamespace(file=lambda name: study.outputs / name, manifest=other)
    (path := tmp_path / "other" / "default" / "manifest.json").parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr(leaderboard, "RESULTS", tmp_path)
    monkeypatch.setattr(leaderboard, "Published", lambda root: layer)
    assert board(study)["set"].tolist() == ["financebench", "other"]
    page = leaderboard_page(study)
    assert "make measure DATASET=financebench QUESTIONS=other METHODS=bm25" in page
    other["collection"] = "elsewhere"
    assert board(study)["set"].tolist() == ["financebench"]


def test_all_results_are_in_one_file_without_a_text(study, tmp_path, monkeypatch):
    second = SimpleNamespace(
        runs={("standard", "bm25"): study.run("bm25")},
        dataset=lambda: study.dataset,
        metrics=read_metrics(study.outputs / METRICS_FILE),
        file=lambda name: study.outputs / name,
    )
    monkeypatch.setattr(leaderboard, "others", lambda study: {"second": second})
    write_downloads(study, tmp_path)
    with zipfile.ZipFile(tmp_path / ZIP) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    names, columns = [*read], list(pd.read_csv(io.BytesIO(read["questions.csv"])))
    assert read["qrels.txt"].decode().splitlines()[0] == "q1 0 ACME_2020_10K#p0002 1"
    described = set(re.findall(r"^\| `([\w.]+)`", read["README.md"].decode(), flags=re.M))
    assert {"metrics.csv.gz", "summary.csv", "manifest.json", "runs/standard/bm25.trec.gz"} <= set(names)
    own = ["runs/standard/bm25.trec.gz", "metrics.csv.gz", "qrels.txt", "questions.csv", "summary.csv"]
    assert {name.removeprefix("second/") for name in names if name.startswith("second/")} == set(own)
    assert all(read[f"second/{name}"] == read[name] for name in own[1:])
    assert "question" not in columns
    assert {name for name in names if "/" not in name} - {"README.md"} <= described
    assert (tmp_path / "runs" / "standard" / "bm25.trec.gz").is_file()

"""What a book offers to download: one file of all results, without a text, and the runs of every set."""

import io
import re
import zipfile
from types import SimpleNamespace

import pandas as pd

from lib.book import downloads
from lib.book.downloads import ZIP, write_downloads
from lib.evaluation import read_metrics
from lib.published import METRICS_FILE


def test_all_results_are_in_one_file_without_a_text(study, tmp_path, monkeypatch):
    second = SimpleNamespace(
        runs={("standard", "bm25"): study.run("bm25")},
        dataset=lambda: study.dataset,
        metrics=read_metrics(study.outputs / METRICS_FILE),
        file=lambda name: study.outputs / name,
        root=study.outputs,
    )
    monkeypatch.setattr(downloads, "others", lambda study: {"second": second})
    write_downloads(study, tmp_path)
    with zipfile.ZipFile(tmp_path / ZIP) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    names, columns = [*read], list(pd.read_csv(io.BytesIO(read["questions.csv"])))
    assert read["qrels.txt"].decode().splitlines()[0] == "q1 0 ACME_2020_10K#p0002 1"
    described = set(re.findall(r"^\| `([\w.]+)`", read["README.md"].decode(), flags=re.M))
    assert {"metrics.csv.gz", "summary.csv", "manifest.json", "runs/standard/bm25.trec.gz"} <= set(names)
    own = ["runs/standard/bm25.trec.gz", "metrics.csv.gz", "qrels.txt", "questions.csv", "summary.csv", "manifest.json"]
    assert {name.removeprefix("second/") for name in names if name.startswith("second/")} == set(own)
    assert all(read[f"second/{name}"] == read[name] for name in own[1:])
    assert "question" not in columns
    assert {name for name in names if "/" not in name} - {"README.md"} <= described
    second = (tmp_path / "sets" / "second" / "runs" / "standard" / "bm25.trec.gz").read_bytes()
    assert second == read["second/runs/standard/bm25.trec.gz"]
    assert (tmp_path / "runs" / "standard" / "bm25.trec.gz").is_file()

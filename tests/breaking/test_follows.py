"""What follows without text is computed again: each way to change a publication, its hashes with it, is named."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extras.publish import verify
from extras.publish.verify import check_files, check_folder, unlisted
from lib import published as layout
from lib.book.notebooks import read_json, read_stages
from lib.evaluation import SUMMARY_FILE, read_metrics
from lib.files import digest_of_file
from lib.published import (
    MANIFEST,
    METRICS_FILE,
    PUBLISHED_COLUMNS,
    RESULTS,
    RUNS_FILE,
    Published,
    Runs,
    questions_csv,
    read_table,
    table_bytes,
)
from lib.runs import trec_lines
from lib.typed import TEXTS, read_csv
from lib.words import StudyError

pytestmark = pytest.mark.breaking
DEMO = RESULTS / "demo" / "default"
METHODS = ("bm25", "dense")


def republish(root: Path, name: str, content: bytes) -> None:
    """Replace a file, and its hashes in the manifest."""
    (root / name).write_bytes(content)
    manifest = json.loads((root / MANIFEST).read_text())
    manifest["files"][name] = digest_of_file(root / name)
    (root / MANIFEST).write_text(json.dumps(manifest))
    if name == RUNS_FILE:
        runs = Runs(read_table(root / name)).items()
        of_run = {"/".join(place): hashlib.sha256(trec_lines(run, place[1])).hexdigest() for place, run in runs}
        manifest["runs"] = {place: {"sha256": sha256, "key": "0"} for place, sha256 in of_run.items()}
    (root / MANIFEST).write_text(json.dumps(manifest))


def in_csv(root: Path, name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    republish(
        root, name, change(pd.read_csv(root / name, dtype=str, keep_default_na=False)).to_csv(index=False).encode()
    )


def in_table(root: Path, name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    table = read_table(root / name)
    texts = dict.fromkeys(table.select_dtypes("category"), object)
    republish(root, name, table_bytes(change(table.astype(texts))))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """The demo's publication with two methods and no answers."""
    root = Path(shutil.copytree(DEMO, tmp_path_factory.mktemp("small") / "demo" / "default"))
    manifest = json.loads((root / MANIFEST).read_text())
    (root / "answers.csv.gz").unlink()
    del manifest["files"]["answers.csv.gz"]
    (root / MANIFEST).write_text(json.dumps(manifest))
    for name in (RUNS_FILE, METRICS_FILE):
        in_table(root, name, lambda table: table[table["method"].isin(METHODS) & (table["condition"] != "")])
    metrics = read_metrics(root / METRICS_FILE)
    of_runs = metrics.loc[metrics["metric"] == "page_recall", ["condition", "method"]].agg("/".join, axis=1).unique()
    is_run = metrics[["condition", "method"]].agg("/".join, axis=1).isin(of_runs)
    republish(root, METRICS_FILE, table_bytes(metrics[is_run]))
    kept = metrics[is_run][["method", "condition", "metric"]].drop_duplicates()
    in_csv(root, SUMMARY_FILE, lambda table: table.merge(kept))
    return root


def first(table: pd.DataFrame, where: str = "condition == 'standard'") -> int:
    return table.query(where).index[0]


def at(column: str, value: object, where: str = "condition == 'standard'", row: int = 0) -> Callable:
    """A change of one cell, of the row that is so many after the first that is so."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[first(table, where) + row, column] = value
        return table

    return change


def added(where: str, **cells: object) -> Callable:
    """A row more, like the first one that is so."""
    return lambda table: pd.concat([table, table.query(where).iloc[:1].assign(**cells)])


def without(where: str) -> Callable:
    return lambda table: table.drop(first(table, where))


def swapped(table: pd.DataFrame) -> pd.DataFrame:
    row = first(table) + 10
    table.loc[[row, row + 1], "chunk_id"] = table.loc[[row + 1, row], "chunk_id"].to_numpy()
    table.loc[[row, row + 1], "score"] = table.loc[[row + 1, row], "score"].to_numpy()
    return table


RECALL = "condition == 'standard' and metric == 'page_recall' and k in (5, '5') and method == 'bm25'"
LOST = "condition == 'standard' and method == 'bm25' and metric == "
Q = "question_id == question_id"
FAULTS = {
    "an interval's low": (SUMMARY_FILE, in_csv, at("low", "0.012345", RECALL), "has low 0.012345"),
    "an interval's high": (SUMMARY_FILE, in_csv, at("high", "0.987654", RECALL), "has high 0.987654"),
    "n": (SUMMARY_FILE, in_csv, at("n", "150", RECALL), "has n 150"),
    "n_companies": (SUMMARY_FILE, in_csv, at("n_companies", "3", RECALL), "has n_companies 3"),
    "a mean": (SUMMARY_FILE, in_csv, at("mean", "0.900001", RECALL), "has mean 0.900001"),
    "a row of the summary removed": (SUMMARY_FILE, in_csv, without(RECALL), "summary.csv lacks a row: standard/bm25"),
    "a row of the summary doubled": (SUMMARY_FILE, in_csv, added(RECALL), "summary.csv has a row twice"),
    "a row of the summary made up": (SUMMARY_FILE, in_csv, added(RECALL, method="best"), "a row that no metric gives"),
    "lost at document": (
        METRICS_FILE,
        in_table,
        at("value", 0.5, f"{LOST}'lost_at_document'"),
        "lost_at_document@5: p",
    ),
    "lost at page": (
        METRICS_FILE,
        in_table,
        at("value", 0.51, f"{LOST}'lost_at_page'"),
        "lost_at_page@5: published 0.51",
    ),
    "lost at chunk": (
        METRICS_FILE,
        in_table,
        at("value", 0.51, f"{LOST}'lost_at_chunk'"),
        "lost_at_chunk@5: published",
    ),
    "a metric's row removed": (METRICS_FILE, in_table, without(f"{LOST}'ctx_bleu'"), "40 questions in place of 41"),
    "a metric's row doubled": (METRICS_FILE, in_table, added(RECALL), "a row twice: bm25, standard"),
    "a metric of no question": (METRICS_FILE, in_table, at("question_id", "q0", RECALL), "that is not asked: bm25"),
    "a metric without a value": (METRICS_FILE, in_table, at("value", float("nan"), RECALL), "no mean is defined: bm25"),
    "page recall": (METRICS_FILE, in_table, at("value", 0.123, RECALL), "page_recall@5: published 0.123"),
    "a BLEU": (METRICS_FILE, in_table, at("value", 0.123, f"{LOST}'ctx_bleu'"), "summary.csv has mean"),
    "a ranked measure": (METRICS_FILE, in_table, at("value", 0.123, f"{LOST}'map'"), "map@10: published 0.123"),
    "rank 0": (RUNS_FILE, in_table, at("rank", 0), "ranks that are not 1, 2, 3 and so on"),
    "a rank left out": (RUNS_FILE, in_table, lambda table: table.drop(first(table) + 10), "ranks that are not 1, 2, 3"),
    "deep ranks swapped": (RUNS_FILE, in_table, swapped, "a score that rises"),
    "another question": (RUNS_FILE, in_table, at("question_id", "q0"), "a question that is not asked"),
    "a chunk of no filing": (RUNS_FILE, in_table, at("chunk_id", "X#p0000#c00", row=10), "a chunk that is on no page"),
    "a chunk past the end": (
        RUNS_FILE,
        in_table,
        at("chunk_id", "TARNBECK_2021_10K#p0999#c00", row=9),
        "on no page of",
    ),
    "a chunk twice": (
        RUNS_FILE,
        in_table,
        lambda t: at("chunk_id", t.loc[first(t), "chunk_id"], row=1)(t),
        "chunk twice",
    ),
    "a chunk of another filing": (
        RUNS_FILE,
        in_table,
        at("chunk_id", "HADDENMOOR_2021Q2_10Q#p0001#c00", "condition == 'oracle-document'"),
        "a chunk of another filing",
    ),
    "a filing's year": (
        "filings.csv",
        in_csv,
        at("doc_period", "1999", "doc_name == doc_name"),
        "is not that of its name",
    ),
    "a filing's company": (
        "filings.csv",
        in_csv,
        at("company", "X", "doc_name == 'TARNBECK_2021_10K'"),
        "is not that of",
    ),
    "a filing twice": ("filings.csv", in_csv, added("doc_name == doc_name"), "is listed twice; restore it with git"),
    "a question twice": ("questions.csv", in_csv, added(Q), "question demo_id_00001 is listed twice"),
    "gold pages that are no numbers": ("questions.csv", in_csv, at("gold_pages", "1 x", Q), "no page numbers: '1 x'"),
    "no gold pages": ("questions.csv", in_csv, at("gold_pages", "", Q), "are no page numbers"),
    "another gold page": ("questions.csv", in_csv, at("gold_pages", "0", Q), "a chunk of another page: demo_id_00001"),
    "a gold page past the end": ("questions.csv", in_csv, at("gold_pages", "999", Q), "gold page 999 of demo_id_00001"),
    "a question's filing": ("questions.csv", in_csv, at("doc_name", "X", Q), "the filing X of question"),
    "no column of companies": (
        "questions.csv",
        in_csv,
        lambda t: t.drop(columns="company"),
        "lacks the column company",
    ),
}


def found(root: Path) -> list[str]:
    """What verification without filings says of a publication."""
    try:
        check_files(Published(root))
        return verify.apart(Published(root))
    except StudyError as error:
        return [str(error)]


def test_a_true_publication_follows(small):
    assert found(small) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_changed_together_with_its_hash_is_named(small, tmp_path, fault):
    name, change_in, change, words = FAULTS[fault]
    root = Path(shutil.copytree(small, tmp_path / "default"))
    change_in(root, name, change)
    lines = found(root)
    assert any(words in line for line in lines), lines[:5]


def test_a_run_with_what_is_no_chunk_id_is_told(small, tmp_path):
    root = Path(shutil.copytree(small, tmp_path / "default"))
    with pytest.raises(ValueError, match="no chunk id"):
        in_table(root, RUNS_FILE, at("chunk_id", "chunk"))
    with pytest.raises(StudyError, match=r"runs.parquet: 'chunk' is no chunk id, .*; restore it with git"):
        _ = Published(root).runs


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.symlink_to("nowhere"), "more is a link or a device"),
        (lambda path: path.symlink_to(path.parent / "sub"), "more is a link or a device"),
        (os.mkfifo, "more is a link or a device"),
        (lambda path: path.mkdir(), "more is an empty folder"),
        (lambda path: path.write_text("x"), "more is not in the manifest"),
        (lambda path: (path.mkdir(), (path / "x").write_text("x")), "more/x is not in the manifest"),
    ],
)
def test_whatever_lies_beside_known_files_is_named(tmp_path, make, words):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "known").write_text("x")
    assert unlisted(tmp_path, {"sub/known"}) == []
    make(tmp_path / "more")
    assert unlisted(tmp_path, {"sub/known"}) == [words]


def test_a_link_in_place_of_a_file_and_files_beside_a_profile_are_named(tmp_path, monkeypatch):
    (tmp_path / "demo" / "default").mkdir(parents=True)
    (tmp_path / "demo" / "default" / MANIFEST).write_text("{}")
    monkeypatch.setattr(layout, "RESULTS", tmp_path)
    check_folder()
    (tmp_path / "real").write_text("x")
    (tmp_path / "demo" / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "demo" / "other").mkdir()
    with pytest.raises(StudyError) as caught:
        check_folder()
    said = ["real is not in the manifest", "demo/linked is a link or a device", "demo/other is an empty folder"]
    assert str(caught.value).splitlines()[1:] == [f"  {line}" for line in said]
    assert unlisted(tmp_path / "demo", {"linked", f"default/{MANIFEST}"}) == [
        "linked is a link or a device", "other is an empty folder"
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["../outside.gz", "/tmp/outside.gz", "stored/other.gz"])
def test_an_entry_whose_file_lies_elsewhere_is_not_used(tmp_path, path):
    root = tmp_path / "results"
    target = (root / path).resolve()
    root.mkdir()
    content = b"[1]"
    if target.is_relative_to(tmp_path):
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
    found = Published(root)
    file = {"path": path, "sha256": hashlib.sha256(content).hexdigest()}
    record = {"stage": "a", "key": "k", "files": {"value.json": file}}
    found.__dict__["manifest"] = {"files": {path: ""}, "stages": [record]}
    assert found.find("a", "k") is None


@pytest.mark.parametrize("read", [read_json, None])
def test_a_cut_file_of_the_outputs_is_told(tmp_path, read):
    path = tmp_path / ("stages.jsonl" if read is None else MANIFEST)
    path.write_text('{"stage": "a"')
    with pytest.raises(StudyError, match=f"{path.name} is damaged .*; remove it and run the command again"):
        read(path) if read else read_stages(SimpleNamespace(outputs=tmp_path))


NAMES = st.sampled_from(["NA", "null", "None", "nan", "0001", "1e5", "true", "-inf"]) | st.text(
    st.characters(exclude_categories=("C", "Z")), min_size=1
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES, min_size=1, max_size=5))
def test_names_are_read_as_they_were_written(tmp_path, names):
    table = pd.DataFrame({name: names for name in PUBLISHED_COLUMNS}).assign(gold_pages=[[0, 1]] * len(names))
    (tmp_path / "questions.csv").write_text(questions_csv(table))
    back = read_csv(tmp_path / "questions.csv", gold_pages=str)
    assert back[PUBLISHED_COLUMNS[:5]].to_numpy().tolist() == table[PUBLISHED_COLUMNS[:5]].to_numpy().tolist()
    numbers = pd.DataFrame({name: names for name in TEXTS}).assign(value=[0.1 + 0.2] * len(names))
    numbers.to_csv(tmp_path / "answers.csv", index=False)
    pd.testing.assert_frame_equal(read_metrics(tmp_path / "answers.csv"), numbers)

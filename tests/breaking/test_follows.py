"""What follows without text is computed again: each way to change a publication, its hashes with it, is named."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from extras.publish import verify
from extras.publish.verify import check_files, check_folder
from lib import files
from lib.evaluation import SUMMARY_FILE, read_metrics
from lib.files import MANIFEST, RESULTS, digest_of_file
from lib.frames import read_table, table_bytes
from lib.published import METRICS_FILE, RUNS_FILE, Published, Runs
from lib.runs import trec_lines
from lib.schema import StudyError
from tests.breaking.damage import cases

pytestmark = pytest.mark.breaking
Change = Callable[[pd.DataFrame], pd.DataFrame]


def republish(root: Path, name: str, change: Change) -> None:
    """Change a published table, and with it what the manifest has of it."""
    path, stated = root / name, json.loads((root / MANIFEST).read_text())
    if path.suffix == ".csv":
        change(pd.read_csv(path, dtype=str, keep_default_na=False)).to_csv(path, index=False)
    else:
        table = read_table(path)
        texts = dict.fromkeys(table.select_dtypes("category"), object)
        path.write_bytes(table_bytes(change(table.astype(texts))))
    stated["files"][name] = digest_of_file(path)
    if name == RUNS_FILE:
        with suppress(ValueError):  # what is no run has no hash
            runs = Runs(read_table(path)).items()
            of_run = {"/".join(place): hashlib.sha256(trec_lines(run, place[1])).hexdigest() for place, run in runs}
            stated["runs"] = {place: {"sha256": sha256, "key": "0"} for place, sha256 in of_run.items()}
    (root / MANIFEST).write_text(json.dumps(stated))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """The demo's publication with two methods and no answers."""
    root = tmp_path_factory.mktemp("small") / "demo" / "default"
    shutil.copytree(RESULTS / "demo" / "default", root)
    stated = json.loads((root / MANIFEST).read_text())
    del stated["files"]["answers.csv.gz"]
    (root / "answers.csv.gz").unlink()
    (root / MANIFEST).write_text(json.dumps(stated))
    republish(root, RUNS_FILE, lambda table: table[table["method"].isin(("bm25", "dense"))])
    runs = pd.DataFrame(Published(root).runs, columns=["condition", "method"])
    republish(root, METRICS_FILE, lambda table: table.merge(runs))
    kept = read_metrics(root / METRICS_FILE)[["method", "condition", "metric"]].drop_duplicates()
    republish(root, SUMMARY_FILE, lambda table: table.merge(kept))
    return root


@pytest.fixture
def root(small, tmp_path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(small, tmp_path / "default"))


FIRST = "condition == 'standard'"
RECALL = f"{FIRST} and metric == 'page_recall' and k in (5, '5') and method == 'bm25'"
ANY = "doc_name == doc_name"


def metric(name: str) -> str:
    return f"{FIRST} and method == 'bm25' and metric == '{name}'"


def cell(column: str, value: object, where: str = FIRST, row: int = 0) -> Change:
    """Another value in the row that is so many after the first that is so."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[table.query(where).index[0] + row, column] = value
        return table

    return change


def added(where: str, **cells: object) -> Change:
    """A row more, like the first one that is so."""
    return lambda table: pd.concat([table, table.query(where).iloc[:1].assign(**cells)])


def without(where: str, row: int = 0) -> Change:
    return lambda table: table.drop(table.query(where).index[0] + row)


def copied(row: int, columns: list[str], back: bool = False) -> Change:
    """A row of a run with what the next one has in some columns; ``back``: and the other way round."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        first = table.query(FIRST).index[0] + row
        rows = [first, first + 1]
        table.loc[rows, columns] = table.loc[[first + 1, first if back else first + 1], columns].to_numpy()
        return table

    return change


MOVED = cell("chunk_id", "HADDENMOOR_2021Q2_10Q#p0001#c00", "condition == 'oracle-document'")
PAST = cell("chunk_id", "TARNBECK_2021_10K#p0999#c00", f"{FIRST} and method == 'dense'")
#: What is changed in a published file, and what is then named; changes of one list are tried together.
CHANGED: dict[str, tuple[str, list[tuple[Change, str]]]] = {
    "means": (
        SUMMARY_FILE,
        [
            (cell("low", "0.012345", RECALL), "has low 0.012345"),
            (cell("n", "150", RECALL), "has n 150"),
            (without(metric("page_hit")), "lacks a row: standard/bm25"),
            (added(metric("map")), "a row twice"),
            (added(RECALL, method="best"), "a row that no metric gives"),
        ],
    ),
    "metrics": (
        METRICS_FILE,
        [
            (cell("value", 0.5, metric("lost_at_document")), "lost_at_document@5: published"),
            (cell("value", 0.51, metric("lost_at_chunk")), "lost_at_chunk@5: published"),
            (without(metric("ctx_rouge_l")), "40 questions in place of 41"),
            (added(metric("mrr")), "a row twice: bm25"),
            (cell("question_id", "q0", RECALL), "not asked: bm25"),
            (cell("value", float("nan"), RECALL, 1), "no mean is defined: bm25"),
            (cell("value", 0.123, RECALL, 2), "page_recall@5: published 0.123"),
            (cell("value", 0.123, metric("map")), "map@10: published 0.123"),
        ],
    ),
    "runs": (
        RUNS_FILE,
        [
            (cell("rank", 0), "ranks that are not 1"),
            (copied(30, ["chunk_id", "score"], back=True), "a score that rises"),
            (cell("question_id", "q0", row=45), "a question that is not asked"),
            (cell("chunk_id", "X#p0000#c00", row=20), "bm25 has a chunk that is on no page"),
            (PAST, "dense has a chunk that is on no page"),
            (copied(90, ["chunk_id"]), "a chunk twice"),
            (MOVED, "a chunk of another filing"),
        ],
    ),
    "an id that is none": (RUNS_FILE, [(cell("chunk_id", "chunk"), "'chunk' is no chunk id")]),
    "years and companies": (
        "filings.csv",
        [
            (cell("doc_period", "1999", ANY), "is not that of its name"),
            (cell("company", "X", "doc_name == 'TARNBECK_2021_10K'"), "company of"),
        ],
    ),
    "a filing twice": ("filings.csv", [(added(ANY), "questions.csv cannot be read")]),
    "a question twice": ("questions.csv", [(added(ANY), "demo_id_00001 is listed twice")]),
    "a page that is no number": ("questions.csv", [(cell("gold_pages", "1 x", ANY), "questions.csv cannot be read")]),
    "no page": ("questions.csv", [(cell("gold_pages", "", ANY, 1), "demo_id_00002 has no gold page")]),
    "gold pages": (
        "questions.csv",
        [
            (cell("doc_name", "X", ANY, 2), "are not pages of X"),
            (cell("gold_pages", "0", ANY), "a chunk of another page: demo_id_00001"),
            (cell("gold_pages", "999", ANY, 1), "[999] of demo_id_00002"),
        ],
    ),
    "no column": ("questions.csv", [(lambda table: table.drop(columns="company"), "'company'")]),
}


def faults(root: Path) -> list[str]:
    """What verification without filings says of a publication."""
    try:
        check_files(Published(root))
        return verify.inconsistencies(Published(root))
    except StudyError as error:
        return [str(error)]


def test_a_true_publication_follows(small):
    assert faults(small) == []


@cases(("name", "changes"), CHANGED)
def test_what_was_changed_together_with_its_hash_is_named(root, name, changes):
    for change, _ in changes:
        republish(root, name, change)
    lines = faults(root)
    assert [words for _, words in changes if not any(words in line for line in lines)] == [], lines[:9]


def test_whatever_lies_beside_the_publications_is_named(tmp_path, monkeypatch):
    (tmp_path / "demo" / "default").mkdir(parents=True)
    (tmp_path / "demo" / "default" / MANIFEST).write_text("{}")
    monkeypatch.setattr(files, "RESULTS", tmp_path)
    check_folder()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "link").symlink_to(tmp_path / "demo")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    with pytest.raises(StudyError) as refused:
        check_folder()
    named = str(refused.value).splitlines()[1:]
    assert [line.split()[0] for line in named] == ["dangling", "folder/file", "link", "pipe"]

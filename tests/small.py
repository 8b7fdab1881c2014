"""A small study with filings as text: two filings, three questions, BM25 alone, no model; and a browser."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from lib import methods
from lib.book.headline import write_headline
from lib.book.manifest import write_manifest
from lib.book.results import write_exports, write_results
from lib.models.written import key_of
from lib.published import GENERATIONS_FILE, METRICS_FILE, RUNS_FILE
from lib.schema import StudyError
from lib.study import Study
from tests.browser import chromium
from tests.conftest import DatasetFolder, open_folder

PAGES = {
    "ACME_2020_10K": [
        "Annual report of Acme for the year 2020",
        "",
        "Net sales of Acme rose to 1,577 in the year 2020 from 1,200",
    ],
    "BOLT_2021_10K": ["Annual report of Bolt", "Cash flow of Bolt: purchases of property, plant and equipment (45)"],
}
QUESTIONS = {
    "q1": "What were the net sales of Acme in the fiscal year 2020, in millions?",
    "q2": "How much did Bolt spend on equipment in 2021?",
    "q3": "Which year does the annual report of Acme cover, please?",
}
EVIDENCE = {
    "q1": ("ACME_2020_10K", 2, "Net sales of Acme rose to 1,577"),
    "q2": ("BOLT_2021_10K", 1, "purchases of property, plant and equipment (45)"),
    "q3": ("ACME_2020_10K", 0, "Annual report of Acme for the year 2020"),
}
HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>\'&amp;'
ECHO = f"The answer to “{QUESTIONS['q1'].upper()}” is 1,577."

#: How each published file is read.
READERS = {
    "manifest.json": lambda published: published.manifest,
    METRICS_FILE: lambda published: published.metrics,
    RUNS_FILE: lambda published: published.runs,
    "filings.csv": lambda published: published.filings,
    "questions.csv": lambda published: published.dataset(),
    GENERATIONS_FILE: lambda published: published.generations(pd.DataFrame({"question_id": []})),
}


def write_dataset(root: Path) -> Path:
    """The dataset in the layout that the loader reads."""
    made = DatasetFolder(root)
    for doc_name, texts in PAGES.items():
        company, year, _ = doc_name.split("_")
        made.text(doc_name, *texts, company=company.title(), doc_period=int(year), gics_sector="")
    for question_id, (doc_name, page, text) in EVIDENCE.items():
        made.question(question_id, doc_name, (page, text), question=QUESTIONS[question_id])
    return made.write()


def generation(question_id: str, text: str, kind: str = "answer", sha256: str = "00") -> dict:
    """A record of ``generations.jsonl`` with the key that follows from it."""
    model = {"name": "tiny", "sha256": sha256}
    identity = {"model": model, "prompt_sha": f"{kind} {question_id}", "params": {}, "seed": 1}
    about = {"key": key_of(identity), "kind": kind, "question_id": question_id}
    return about | identity | {"text": text, "finish_reason": "stop"}


def add_texts(study: Study, records: list[dict]) -> None:
    """Add records to ``generations.jsonl`` of a study."""
    study.home.mkdir(parents=True, exist_ok=True)
    with (study.home / "generations.jsonl").open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def executed_chapter(study: Study) -> None:
    """An executed chapter that shows a table and a table that quotes a question."""
    tables = {"counts": "n\n3\n", "quoting": f"question\n{QUESTIONS['q1']}\n"}
    cells = []
    for name, content in tables.items():
        study.write(f"tables/{name}.csv", content)
        shown = f"::::{{table}} T. {{download}}`CSV <../tables/{name}.csv>`\n:name: tab-{name}\n::::"
        cells.append(nbformat.v4.new_code_cell("table(study)"))
        cells[-1].outputs = [nbformat.v4.new_output("display_data", {"text/markdown": shown})]
    study.write("notebooks/01_data.ipynb", nbformat.writes(nbformat.v4.new_notebook(cells=cells)))


def write_whole(study: Study) -> dict:
    """What ``make book`` leaves of a study: results, a chapter, the manifest, which is returned."""
    write_results(study)
    write_headline(study)  # whose stored results are published
    executed_chapter(study)
    found = write_manifest(study)
    write_exports(study)
    return found


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("small") / "financebench")


@contextmanager
def only_bm25() -> Iterator[None]:
    """The method table with BM25 and nothing else; afterwards the whole table, in its order."""
    whole = dict(methods.METHODS)
    for name in set(whole) - {"bm25"}:
        del methods.METHODS[name]
    try:
        yield
    finally:
        methods.METHODS.clear()
        methods.METHODS.update(whole)


@pytest.fixture
def bm25_alone():
    with only_bm25():
        yield


@pytest.fixture(scope="session")
def open_small(small_folder, tokenizer_folder):
    """Open the study with a folder of artifacts and, where wanted, with published results."""

    def open_with(artifacts: Path, published=None) -> Study:
        changes, given = {"embedder.weights": str(tokenizer_folder)}, {"published": published, "chapter": "book"}
        return open_folder(small_folder, artifacts, changes, "financebench", **given)

    return open_with


@pytest.fixture(scope="session")
def small_artifacts(open_small, tmp_path_factory) -> Path:
    """What ``make book`` leaves of the study, computed once."""
    root = tmp_path_factory.mktemp("small-artifacts")
    study = open_small(root)
    records = [generation("q1", ECHO), generation("q2", HOSTILE), generation("q2", "Bolt spent 45.", "hyde")]
    add_texts(study, records)
    with only_bm25():
        write_whole(study)
    return root


@pytest.fixture
def study(bm25_alone, open_small, small_artifacts, tmp_path) -> Study:
    """The study with its results written, a copy of each test's own."""
    return open_small(shutil.copytree(small_artifacts, tmp_path / "artifacts"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless Chromium of the module's own; where there is none, its tests are skipped with the reason."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(chromium(tmp_path_factory.mktemp("chromium")))
        except StudyError as reason:
            pytest.skip(str(reason))
        yield found

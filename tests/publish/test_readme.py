"""The README's commands work as written, and its added retriever is real."""

import csv
import importlib
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lib import methods, retrievers
from lib.book.pages import methods_page
from lib.data.dataset import read_dataset
from lib.data.locate import financebench_root
from lib.data.pages import extract_pages
from lib.evaluation import evaluate_all, summary_at
from lib.method import Method
from lib.method_sets import of_family
from lib.metrics.frame import HEADLINE
from tests.conftest import DatasetFolder

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), flags=re.M | re.S)


SHELL = "".join(blocks("README.md", "bash"))
REVIEWER = [command.strip() for command in re.findall("^make (?:verify|notebook)[^#\n]*", SHELL, re.M)]
slow = (pytest.mark.slow, pytest.mark.timeout(3600))


@pytest.mark.parametrize("command", ["make methods", *(pytest.param(one, marks=slow) for one in REVIEWER)])
def test_a_command_runs(command):
    if re.search("DATASET=financebench|CHAPTER", command) and financebench_root() is None:
        pytest.skip("FinanceBench is not on this machine")
    done = subprocess.run(shlex.split(command), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


@pytest.fixture
def added(tmp_path, monkeypatch) -> Iterator[Method]:
    """The README's retriever as a module, and its row in the method table."""
    module, row = blocks("README.md", "python")
    code = re.sub(r'"""[^"]*"""', "", module)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    (tmp_path / "overlap.py").write_text(module)
    monkeypatch.setattr(retrievers, "__path__", [*retrievers.__path__, str(tmp_path)])
    eval(row, vars(methods) | {"overlap": importlib.import_module("lib.retrievers.overlap")})
    yield methods.METHODS["overlap"]
    del methods.METHODS["overlap"]


def test_the_own_filings_that_the_book_shows_are_read(tmp_path):
    tables = re.findall(r"(?m)^\|.+\|\n\|[-|]+\n(?:\|.+\n)+", (ROOT / "book/reproduce.md").read_text())
    documents, questions = ([table.splitlines()[0], *table.splitlines()[2:]] for table in tables)
    made = DatasetFolder(tmp_path / "mine")
    texts = {0: "The company has no debt", 38: "Revenue 4,210", 39: "Net income 341"}
    texts[41] = "Purchases of property and equipment (12)"
    made.text("ACME_2024_10K", *(texts.get(page, "") for page in range(42)))
    for name, lines in (("document_information", documents), ("questions", questions)):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        with (made.root / "data" / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    dataset = read_dataset(made.root, "mine")
    assert dataset.questions["gold_pages"].tolist() == [[41], [0], [38, 39]]
    assert dataset.apart.questions["kind"].tolist() == ["unanswerable"]
    assert len(extract_pages(dataset)) == 42


def test_the_added_retriever_scores_what_it_says_and_appears_in_the_table(study, added):
    scores = added.score(study, np.ones((len(study.questions), len(study.chunks)), bool))
    asked = set("how much did bolt spend on equipment in 2021".split())
    chunk = study.chunks["text"].str.startswith("Cash flow of Bolt").to_numpy()
    assert scores.shape == (3, len(study.chunks))
    assert scores[1, chunk] == [np.float32(len(asked & {"bolt", "equipment"}) / len(asked))]
    summary = summary_at(study, evaluate_all(study, ["bm25", "overlap"], ["standard"]), 5, HEADLINE)
    assert dict.fromkeys(summary["method"]) == dict.fromkeys(["bm25", "overlap"])
    assert "## Word overlap" in methods_page(study, summary, "Methods", of_family())

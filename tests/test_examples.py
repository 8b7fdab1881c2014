"""The examples: each writes a run of a folder's PDFs and questions that is read as one, and finds the page."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from lib.data.dataset import read_dataset
from lib.diagnose.run_file import read_run
from lib.files import ROOT

NEEDS = {"chromadb_alone": "chromadb", "llamaindex_pages": "llama_index", "langchain_pages": "langchain_community"}
TEXTS = {
    "ACME_2020_10K": ["", "The board met in the spring.", "Capital expenditure of Acme was $12 million in 2020."],
    "BOLT_2020_10K": ["The annual report of a maker of screws.", "The factories of Bolt run on water and wind."],
}
QUESTIONS = {
    "q1": ("ACME_2020_10K", 2, "What was Acme's capital expenditure?"),
    "q2": ("BOLT_2020_10K", 1, "What do the factories of Bolt run on?"),
}


def test_every_example_is_tried_here():
    assert {path.stem for path in ROOT.glob("examples/*.py")} == {*NEEDS}


@pytest.mark.weights
@pytest.mark.slow
@pytest.mark.timeout(900)  # of a machine that does much else: the libraries take long to load
@pytest.mark.parametrize("name", NEEDS)
def test_an_example_writes_a_run_that_is_understood(name, folder, tmp_path):
    if not find_spec(NEEDS[name]):
        pytest.skip(f"{NEEDS[name]} is not installed: run make examples")
    for doc_name, texts in TEXTS.items():
        folder.pdf(doc_name, *texts)
    for question_id, (doc_name, page, question) in QUESTIONS.items():
        folder.question(question_id, doc_name, (page, TEXTS[doc_name][page]), question=question)
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), str(folder.write()), str(tmp_path / "a.run")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    dataset = read_dataset(folder.root, "test")
    read = read_run(tmp_path / "a.run", dataset.questions, dataset.filings.assign(n_pages=[3, 2]))
    first = read.run[read.run["rank"] == 1][["question_id", "doc_name", "page"]].to_numpy().tolist()
    assert first == [[question_id, *place[:2]] for question_id, place in QUESTIONS.items()]
    assert not [sentence for sentence in read.notes if "does not" in sentence or "left out" in sentence]

"""A small study with filings as text, computed once: two filings, three questions, BM25 alone, no model."""

import json
import os
import shutil
from pathlib import Path

import nbformat
import pytest

from lib import methods
from lib.book.manifest import write_manifest
from lib.book.results import write_results
from lib.data.dataset import read_dataset
from lib.files import write_atomically
from lib.profile import load_profile
from lib.study import Study

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
PAGES = {
    "ACME_2020_10K": [
        "Annual report of Acme for the year 2020",
        "",
        "Net sales of Acme rose to 1,577 in the year 2020 from 1,200",
    ],
    "BOLT_2021_10K": [
        "Annual report of Bolt",
        "Cash flow of Bolt: purchases of property, plant and equipment (45)",
    ],
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


def write_dataset(root: Path) -> Path:
    """The dataset in the layout that the loader reads."""
    for folder in ("data", "pages"):
        (root / folder).mkdir(parents=True)
    documents = []
    for doc_name, texts in PAGES.items():
        lines = [
            json.dumps({"doc_name": doc_name, "page": page, "text": text}) for page, text in enumerate(texts)
        ]
        (root / "pages" / f"{doc_name}.jsonl").write_text("\n".join(lines) + "\n")
        company = doc_name.split("_")[0].title()
        documents.append({"doc_name": doc_name, "company": company, "doc_type": "10k", "doc_period": 2020})
    questions = [
        {
            "financebench_id": question_id,
            "question": QUESTIONS[question_id],
            "answer": "$1,577.0",
            "question_type": "metrics-generated",
            "doc_name": doc_name,
            "evidence": [{"evidence_page_num": page, "evidence_text": text, "doc_name": doc_name}],
        }
        for question_id, (doc_name, page, text) in EVIDENCE.items()
    ]
    for name, records in (("open_source", questions), ("document_information", documents)):
        (root / "data" / f"small_{name}.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    return root


def generation(question_id: str, text: str, kind: str = "answer", seed: int = 1) -> str:
    """A line of ``generations.jsonl``."""
    model = {"name": "tiny", "sha256": "00"}
    return json.dumps(
        {
            "key": f"{question_id}-{seed}",
            "kind": kind,
            "question_id": question_id,
            "seed": seed,
            "model": model,
            "text": text,
        }
    )


def executed_chapter(outputs: Path) -> None:
    """A chapter with a table, a table that quotes a question, and a sentence."""
    note = "::::{table} Counts. {download}`CSV <../tables/counts.csv>`\n:name: tab-counts\n\n| n |\n|--:|\n| 3 |\n::::"
    quoting = note.replace("| 3 |", f"| {QUESTIONS['q1']} |")
    cells = []
    for source, markdown in (
        ("table(study.pages)", note),
        ("table(study.questions['question'])", quoting),
        ("x = 1", None),
    ):
        cell = nbformat.v4.new_code_cell(source)
        if markdown:
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/markdown": markdown})]
        cells.append(cell)
    write_atomically(outputs / "tables" / "counts.csv", b"n\n3\n")
    write_atomically(
        outputs / "notebooks" / "01_data.ipynb",
        nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode(),
    )


@pytest.fixture(scope="session")
def dataset_folder(tmp_path_factory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("small") / "financebench")


@pytest.fixture
def bm25_alone():
    """The method table with BM25 and nothing else; afterwards the whole table, in its order."""
    whole = dict(methods.METHODS)
    for name in set(whole) - {"bm25"}:
        del methods.METHODS[name]
    yield
    methods.METHODS.clear()
    methods.METHODS.update(whole)


@pytest.fixture
def study(bm25_alone, dataset_folder, tokenizer_folder, tmp_path) -> Study:
    """The study with its results written, as ``make book`` leaves them."""
    settings = load_profile("default").replaced({"embedder.weights": str(tokenizer_folder)})
    settings["name"] = "default"
    dataset = read_dataset(dataset_folder, "financebench")
    found = Study(dataset, settings, methods.METHODS, {}, tmp_path / "artifacts", chapter="book")
    found.store.say = lambda line: None
    write_results(found)
    echo = f"The answer to “{QUESTIONS['q1'].upper()}” is 1,577."
    lines = [generation("q1", echo), generation("q2", HOSTILE), generation("q2", "Bolt spent 45.", "hyde")]
    write_atomically(found.outputs / "generations.jsonl", ("\n".join(lines) + "\n").encode())
    executed_chapter(found.outputs)
    write_manifest(found)
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless Chromium of the module's own."""
    driver = shutil.which("chromedriver")
    if not (BROWSER and driver):
        pytest.skip("no Chromium, or no driver for it, on this machine")
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    flags = "headless no-sandbox disable-gpu disable-quic no-first-run disable-sync disable-component-update"
    for flag in [*flags.split(), "disable-background-networking"]:
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    service = webdriver.ChromeService(executable_path=driver, env=os.environ.copy())
    try:
        found = webdriver.Chrome(options=options, service=service)
    except WebDriverException as error:
        pytest.skip(f"Chromium does not start here: {error.msg.splitlines()[0]}")
    yield found
    found.quit()

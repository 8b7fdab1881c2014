"""Hostile text: what every string field of a dataset may say; and the book of a dataset, made in a copy of the code."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import yaml

from lib.data.dataset import read_dataset
from lib.data.pages import extract_pages
from lib.files import ROOT
from lib.profile import load_profile
from tests.conftest import DatasetFolder

SECRET = "no-reader-may-see-this-line"
#: Each would run a script, take a file into the book, or break a page, were it not shown as the text that it is.
TEXTS = (
    "<script>window.hacked=1;document.title='hacked'</script>",
    "<img src=x onerror=\"window.hacked=1;fetch('/hacked')\">",
    "<img/src/onerror=\"window.hacked=1;fetch('/hacked')\"><svg/onload=window.hacked=1>",
    "<svg onload=window.hacked=1><a href='javascript:window.hacked=1'>x</a></svg>",
    "{download}`x <{secret}>` and {download}`../../../../../../../../../..{secret}`",
    "```{include} {secret}\n```",
    "```{literalinclude} {secret}\n```\n\n```{raw} html\n<script>window.hacked=1</script>\n```",
    "```{eval-rst}\n.. include:: {secret}\n.. raw:: html\n\n   <script>window.hacked=1</script>\n```",
    "::::{code-cell}\nopen('{secret}')\n::::\n</div></table></body>",
    "[x](javascript:window.hacked=1) ![x](/hacked.png) [y]({secret}) <http://hacked>",
    "a | b || c \\| d | \\\\| `e | f`",
    "$$\\href{javascript:window.hacked=1}{x}$$ \\(\\frac{1}{\\) $\\input{{secret}}$ $x",
    "{{ 7*7 }} {% for x in [1] %}{{ x }} {# gone",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "% gone\n# Heading\n---\n- list\n(target)=\n[^1]: note\n{#id .class}",
    "&lt;b&gt; &#60;script&#62; \u202egnp.exe \u2028 \x1b[31m",
)
DEMO = ROOT / "data" / "demo"
TOO_LONG = "(a question that no model takes)"
#: Appended to the copied generator: what a language model writes may be hostile, too, and costs nothing.
WRITES = """

class _Writes:
    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            is_refused = "{refused}" in str(request.prompt.messages)
            written = Generation({said}[number % {n}], 9, 9, "stop", 0.1)
            on_done(number, GenerationError("the prompt is too long") if is_refused else written)


def open_generator(settings, directory):
    return _Writes()
"""
COPIED = "lib extras notebooks book examples data/elsewhere _config.yml _toc.yml requirements.txt CITATION.cff".split()


def texts(secret: Path, in_line: bool = False) -> list[str]:
    """TEXTS with the path of a file that no page may contain; ``in_line`` without what a label may not have."""
    filled = [text.replace("{secret}", str(secret)) for text in TEXTS]
    return ["".join(c if c.isprintable() else " " for c in text) for text in filled] if in_line else filled


def records(name: str) -> list[dict]:
    """The lines of one of the demo's files."""
    lines = next((DEMO / "data").glob(f"*{name}*.jsonl")).read_text().splitlines()
    return [json.loads(line) for line in lines]


def write_dataset(root: Path, secret: Path) -> Path:
    """Filings and questions of the demo, one filing a company, with hostile text in every field and on every page.

    What a field must be to be read at all stays: ids and names of filings are plain, and the pieces of evidence stand
    on their pages.
    """
    labels, whole = texts(secret, in_line=True), texts(secret)
    numbers: dict[str, int] = {}

    def spoil(record: dict, names: str, said: Sequence[str] = labels) -> None:
        for name in names.split():
            number = numbers.setdefault(record[name], len(numbers))
            record[name] += f" {said[number % len(said)]}"

    asked, described = records("open_source"), records("document_information")
    names = {one["company"]: one["doc_name"] for one in asked}.values()
    made, found = DatasetFolder(root), read_dataset(DEMO, "demo")
    found = replace(found, filings=found.filings[found.filings["doc_name"].isin(names)])
    for name, pages in extract_pages(found).groupby("doc_name"):
        made.text(name, *(f"{text}\n{whole[page % len(whole)]}" for page, text in enumerate(pages["text"])))
    made.questions = [one for one in asked if one["doc_name"] in names]
    made.documents = [one for one in described if one["doc_name"] in names]
    for one in made.documents:
        spoil(one, "company gics_sector doc_type")
    for one in made.questions:
        spoil(one, "company question_type")
        spoil(one, "question answer", whole)
        for piece in one["evidence"]:
            piece["evidence_text"] += f"\n{whole[piece['evidence_page_num'] % len(whole)]}"
    return made.write()


def write_small(root: Path, n_questions: int, addition: str = "") -> Path:
    """The demo's filings of Haddenmoor, as text, and some questions about them: of one, every standard method finds the
    page."""
    made, found = DatasetFolder(root), read_dataset(DEMO, "demo")
    found = replace(found, filings=found.filings[found.filings["company"] == "Haddenmoor Stores"])
    for name, pages in extract_pages(found).groupby("doc_name"):
        made.text(name, *pages["text"])
    names = {*found.filings["doc_name"]}
    made.documents = [one for one in records("document_information") if one["doc_name"] in names]
    asked = [one for one in records("open_source") if one["doc_name"] in names]
    asked = sorted(asked, key=lambda one: one["financebench_id"] != "demo_id_00039")
    made.questions = [one | {"question": f"{one['question']} {addition}"} for one in asked[:n_questions]]
    return made.write()


def build_book(folder: Path, data: Path, said: Sequence[str], **environment: str) -> Path:
    """The book of a dataset, made in a copy of this checkout whose language model writes what is ``said``; the folder
    of its HTML."""
    checkout, model = folder / "checkout", folder / "model"
    ignored = shutil.ignore_patterns("_build", "__pycache__", ".ipynb_checkpoints")
    for name in COPIED:
        copy = partial(shutil.copytree, ignore=ignored) if (ROOT / name).is_dir() else shutil.copyfile
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, checkout / name)
    with (checkout / "lib" / "models" / "generator.py").open("a") as source:
        source.write(WRITES.format(said=repr(said), n=len(said), refused=TOO_LONG))
    model.mkdir()
    (model / "config.json").write_text("{}")
    # the demo's settings, and few draws: it shows texts, not how sure numbers are
    changes = load_profile("default")["sets"]["demo"] | {"generator.weights": str(model), "significance.n_draws": 200}
    (folder / "small.yaml").write_text(yaml.safe_dump({"extends": "default", "sets": {data.name: dict(changes)}}))
    command = [sys.executable, "-m", "lib", "book", "--dataset", data, "--profile", folder / "small.yaml"]
    place = {"cwd": checkout, "env": os.environ | {"PYTHONPATH": str(checkout)} | environment}
    done = subprocess.run(command, **place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    (folder / "said.txt").write_text(done.stdout)
    return checkout / "book" / "_build" / data.name / "html"


def leaks(site: Path) -> list[Path]:
    """Files of a site that contain the secret, and downloads that are no example and no data of a table or figure."""
    paths, examples = [path for path in site.rglob("*") if path.is_file()], {*os.listdir(ROOT / "examples")}
    others = [path for path in paths if "_downloads" in path.parts and path.suffix != ".csv"]
    others = [path for path in others if path.name not in examples]
    return others + [path for path in paths if SECRET.encode() in path.read_bytes()]

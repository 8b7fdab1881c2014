"""Chapters as notebooks that a person reads, runs and changes: no outputs, no markup of Sphinx, code in the open."""

import ast
import re
import subprocess
import sys

import nbformat
import pytest

from lib.book.notebooks import chapters
from lib.files import ROOT
from lib.studies import NOTEBOOKS, changed_parameters

Cells = list[nbformat.NotebookNode]
CHAPTERS = {name: nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells for name in chapters()}
NUMBERED = [name for name in CHAPTERS if name[:2].isdigit()]
RAW = re.compile(r":::|\{[\w:-]+\}`|\{\{|\$\$|<\w+[ >]")  # directives, roles, substitutions, formulas, HTML
LINK = re.compile(r"\[([^\]]*)\]\(([^)]+)\)")
CITED = re.compile(r"^(.+?)(?: et al\.| & .+?)?, (\d{4})$")
HIDDEN = {"hide-input", "remove-input", "hide-cell", "remove-cell", "hide-output"}
#: What takes seconds to load and few chapters use.
HEAVY = {"torch", "transformers", "sentence_transformers", "chromadb", "lightgbm", "onnxruntime"}
HEAVY |= {"papermill", "pymupdf", "sacrebleu", "scipy.stats", "sklearn"}


@pytest.fixture(params=CHAPTERS)
def cells(request) -> Cells:
    return CHAPTERS[request.param]


@pytest.fixture
def code(cells) -> Cells:
    return [cell for cell in cells if cell.cell_type == "code"]


@pytest.fixture
def prose(cells) -> list[str]:
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def test_the_chapters_are_all_there():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {*CHAPTERS}


def test_code_is_in_the_open_without_outputs_and_uses_nothing_of_extras(code):
    assert code
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]
    assert not [cell.id for cell in code if HIDDEN & {*tags(cell)} and "solution" not in tags(cell)]
    assert not [cell.id for cell in code if re.search(r"(?m)^\s*(from|import) extras\b", cell.source)]


def test_what_is_shown_or_said_ends_its_cell(code):
    """Jupyter displays the last expression of a cell alone: a table above it would be drawn and not be seen."""
    above = [(cell.id, ast.unparse(node)) for cell in code for node in ast.parse(cell.source).body[:-1]]
    assert [place for place in above if place[1].startswith(("study.show(", "study.say("))] == []


def test_it_begins_with_a_question_and_a_computed_finding_and_ends_with_what_to_remember(cells, code, prose):
    assert prose[0].splitlines()[0].endswith("?")
    assert "**It needs**" in prose[0]
    finding = next(cell for cell in code if "study.say(" in cell.source)
    assert finding in code[2:5]
    assert any("## What to remember" in text for text in prose[-8:])
    assert cells[-1].cell_type == "markdown"


@pytest.mark.parametrize("name", NUMBERED)
def test_a_chapter_ends_with_two_exercises_whose_solutions_are_folded(name):
    cells = CHAPTERS[name]
    solutions = [place for place, cell in enumerate(cells) if "solution" in tags(cell)]
    assert len(solutions) == 2
    assert all(re.search(r"\*\*[12]\.\*\*", cells[place - 1].source) for place in solutions)
    folded = {"outputs_hidden": True, "source_hidden": True}
    assert all(cells[place].metadata["jupyter"] == folded for place in solutions)


def test_every_parameter_has_a_type_and_a_comment_and_keeps_its_value(code):
    assert [cell.id for cell in code if "parameters" in tags(cell)] == [code[0].id]
    lines = code[0].source.splitlines()
    assert all(re.search(r"\S  # [\w\[\]]+: \S", line) for line in lines)
    values = {line.split(" = ")[0]: ast.literal_eval(line.split(" = ")[1].split("  # ")[0]) for line in lines}
    of_the_study = {"dataset", "profile", "results", "questions"}
    assert of_the_study <= {*values}
    own = {name: one for name, one in values.items() if name not in of_the_study | {"chunk_size"}}
    assert changed_parameters(own) == {}
    written = {node.id for cell in code[1:] for node in ast.walk(ast.parse(cell.source)) if is_written(node)}
    assert written & {*values} == set()
    assert re.search(r"(?m)^study = open(_chapter|ed)\(", code[1].source)
    assert re.search('questions=questions|"questions": questions', code[1].source)


def is_written(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def test_what_is_left_to_read_without_sphinx_is_plain_markdown(prose):
    assert [found for text in prose for found in RAW.findall(text)] == []


def test_links_lead_to_chapters_and_pages_and_citations_are_in_the_bibliography(prose):
    pages = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    works = (ROOT / "book" / "references.bib").read_text(encoding="utf-8").split("\n@")
    for text, address in LINK.findall("\n".join(prose)):
        if address.startswith("https://"):
            continue
        place = re.sub(r"\.(md|ipynb)(#.*)?$", "", address)
        assert (f"notebooks/{place}" if "/" not in place else place.removeprefix("../")) in pages, address
        if place == "../book/bibliography":
            author, year = CITED.search(text).groups()
            assert any(author in work and f"year = {{{year}}}" in work for work in map(plain, works)), text


def plain(work: str) -> str:
    """An entry of the bibliography without TeX's accents and braces around letters."""
    return re.sub(r"\{([^{}=]*[A-Za-z][^{}=]*)\}", r"{\1}", work.replace("\\'", "").replace('\\"', ""))


def test_chapters_import_nothing_that_takes_seconds():
    sources = [cell.source for cells in CHAPTERS.values() for cell in cells if cell.cell_type == "code"]
    nodes = [node for source in sources for node in ast.parse(source).body]
    lines = {ast.unparse(node): None for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)}
    assert any(line.startswith("from lib.chapter import") for line in lines)
    script = "\n".join([*lines, f"import sys; print(*{HEAVY!r} & sys.modules.keys())"])
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []

"""Source notebooks are chapters: no outputs, short cells, prose in Markdown, numbers in prose glued, quick imports."""

import ast
import re
import subprocess
import sys
from itertools import pairwise

import nbformat
import pytest

from lib.book.notebooks import chapters
from lib.files import ROOT
from lib.studies import NOTEBOOKS

Cells = list[nbformat.NotebookNode]
CHAPTERS = {name: nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells for name in chapters()}
LONGEST = 10
USED = re.compile(r"\{glue:text\}`([^`:]+)(?::[^`]*)?`")
GLUED = re.compile(r"""\bglue\(\s*f?["']([^"']+)["']""")
F_STRING = re.compile(r"""\bf(["'])(?:(?!\1).)*\1\s*\n\s*f?["']""")
EITHER = re.compile(r"^if .*:\n(?:    .*\n|\n)*?(?:el(?:se|if).*:\n)", re.MULTILINE)
#: What takes seconds to load and few chapters use.
HEAVY = {"torch", "transformers", "sentence_transformers", "chromadb", "lightgbm", "onnxruntime"}
HEAVY |= {"papermill", "pymupdf", "sacrebleu", "scipy.stats", "sklearn"}


@pytest.fixture(params=CHAPTERS)
def name(request) -> str:
    return request.param


@pytest.fixture
def cells(name) -> Cells:
    return CHAPTERS[name]


@pytest.fixture
def code(cells) -> Cells:
    return [cell for cell in cells if cell.cell_type == "code"]


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def having(pattern: re.Pattern | str, code: Cells) -> list[str]:
    """The ids of the cells in which a pattern is found."""
    return [cell.id for cell in code if re.search(pattern, cell.source)]


def test_there_are_no_outputs_and_nothing_of_extras(code):
    assert code
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]
    assert having(r"(?m)^\s*(from|import) extras\b", code) == []


def test_it_begins_with_a_question_a_generated_finding_and_what_to_remember(cells):
    title, finding, box, *_ = cells[0].source.split("\n\n")
    assert title.endswith("?")
    assert finding.startswith("**")
    assert finding.rstrip().endswith("**")
    assert USED.search(finding)
    first, *lines = box.splitlines()
    assert first == ":::{admonition} What to remember"
    assert 2 <= len([line for line in lines if line.startswith("- ")]) <= 3


def test_every_parameter_has_a_type_and_a_comment(code):
    assert [cell.id for cell in code if "parameters" in tags(cell)] == [code[0].id]
    lines = code[0].source.splitlines()
    assert all(re.search(r"\S  # [\w\[\]]+: \S", line) for line in lines)
    assert {"dataset", "profile", "results"} <= {line.split(" = ")[0] for line in lines}


def shows(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell ends with something that the reader sees."""
    last = ast.parse(cell.source).body[-1]
    return isinstance(last, ast.Expr) and not ast.unparse(last).startswith("glue(")


def test_markdown_comes_between_what_two_cells_show(cells):
    pairs = pairwise(cell for cell in cells if cell.cell_type == "markdown" or shows(cell))
    assert [after.id for one, after in pairs if one.cell_type == after.cell_type == "code"] == []


def test_cells_are_short(code):
    lengths = {cell.id: len([line for line in cell.source.splitlines() if line.strip()]) for cell in code[2:]}
    assert {cell: n for cell, n in lengths.items() if n > LONGEST} == {}


def test_prose_is_not_in_code(code):
    """No f-string continues on another line, and no cell chooses between a table and a note by itself."""
    assert having(F_STRING, code) == []
    assert having(EITHER, code) == []
    assert having("has_text|has_filings", code) == []


def test_what_markdown_prints_is_glued_in_the_same_chapter(name, cells, code):
    used = {key for cell in cells if cell.cell_type == "markdown" for key in USED.findall(cell.source)}
    glued = [key for cell in code for key in GLUED.findall(cell.source)]
    assert used == set(glued)
    assert len(glued) == len(set(glued))
    assert all(key.startswith(f"{name[:2]}-") for key in glued), "so that no chapter has another's name"


def test_the_study_is_that_of_the_question_set_that_is_asked_for_and_it_ends_with_how_long_it_took(cells, code):
    opened = next(cell.source for cell in code if "= open_study(" in cell.source)
    assert re.search('questions=questions|"questions": questions', opened)
    assert cells[-1].source.startswith('print(f"This chapter took')
    assert tags(cells[-1]) == ["remove-input"]


def test_chapters_import_nothing_that_takes_seconds():
    sources = [cell.source for cells in CHAPTERS.values() for cell in cells if cell.cell_type == "code"]
    nodes = [node for source in sources for node in ast.parse(source).body]
    lines = {ast.unparse(node): None for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)}
    assert any(line.startswith("from lib.studies import") for line in lines)
    script = "\n".join([*lines, f"import sys; print(*{HEAVY!r} & sys.modules.keys())"])
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []

"""Source notebooks are chapters: no outputs, short cells, prose in Markdown, numbers in prose glued."""

import ast
import re
from itertools import pairwise

import nbformat
import pytest

from lib.book.notebooks import chapters
from lib.studies import NOTEBOOKS

CHAPTERS = {name: nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells for name in chapters()}
LONGEST = 10
USED = re.compile(r"\{glue:text\}`([^`:]+)(?::[^`]*)?`")
GLUED = re.compile(r"""\bglue\(\s*f?["']([^"']+)["']""")
F_STRING = re.compile(r"""\bf(["'])(?:(?!\1).)*\1\s*\n\s*f?["']""")
EITHER = re.compile(r"^if .*:\n(?:    .*\n|\n)*?(?:el(?:se|if).*:\n)", re.MULTILINE)

in_every_chapter = pytest.mark.parametrize("name", CHAPTERS)


def code(name: str) -> list[nbformat.NotebookNode]:
    return [cell for cell in CHAPTERS[name] if cell.cell_type == "code"]


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


@in_every_chapter
def test_there_are_no_outputs(name):
    assert code(name)
    assert not [cell.id for cell in code(name) if cell.outputs or cell.execution_count]


@in_every_chapter
def test_no_chapter_imports_extras(name):
    assert not [cell.id for cell in code(name) if re.search(r"^\s*(from|import) extras\b", cell.source, re.M)]


@in_every_chapter
def test_the_title_is_a_question(name):
    assert CHAPTERS[name][0].source.splitlines()[0].endswith("?")


@in_every_chapter
def test_it_begins_with_a_generated_finding_and_what_to_remember(name):
    _, finding, box, *_ = CHAPTERS[name][0].source.split("\n\n")
    assert finding.startswith("**")
    assert finding.rstrip().endswith("**")
    assert USED.search(finding)
    first, *lines = box.splitlines()
    assert first == ":::{admonition} What to remember"
    assert 2 <= len([line for line in lines if line.startswith("- ")]) <= 3


@in_every_chapter
def test_no_two_texts_in_a_row_end_alike(name):
    texts = [" ".join(cell.source.split()) for cell in CHAPTERS[name] if cell.cell_type == "markdown"]
    ends = [re.split(r"(?<=[.?!:])\s+", text)[-1] for text in texts]
    assert [one for one, following in pairwise(ends) if one == following] == []


@in_every_chapter
def test_every_parameter_has_a_type_and_a_comment(name):
    (parameters,) = (cell for cell in code(name) if "parameters" in tags(cell))
    assert parameters is code(name)[0]
    lines = parameters.source.splitlines()
    assert all(re.search(r"\S  # [\w\[\]]+: \S", line) for line in lines)
    assert {"dataset", "profile", "results"} <= {line.split(" = ")[0] for line in lines}


def shows(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell ends with something that the reader sees."""
    last = ast.parse(cell.source).body[-1]
    return isinstance(last, ast.Expr) and not ast.unparse(last).startswith("glue(")


@in_every_chapter
def test_markdown_comes_between_what_two_cells_show(name):
    of_text_or_shown = [cell for cell in CHAPTERS[name] if cell.cell_type == "markdown" or shows(cell)]
    pairs = pairwise(of_text_or_shown)
    assert [after.id for one, after in pairs if one.cell_type == after.cell_type == "code"] == []


@in_every_chapter
def test_cells_are_short(name):
    _, _, *cells = code(name)
    lengths = {cell.id: len([line for line in cell.source.splitlines() if line.strip()]) for cell in cells}
    assert {cell: n for cell, n in lengths.items() if n > LONGEST} == {}


@in_every_chapter
def test_prose_is_not_in_code(name):
    """No f-string continues on another line, and no cell chooses between a table and a note by itself."""
    assert [cell.id for cell in code(name) if F_STRING.search(cell.source)] == []
    assert [cell.id for cell in code(name) if EITHER.search(cell.source)] == []
    assert [cell.id for cell in code(name) if re.search("has_text|has_filings", cell.source)] == []


@in_every_chapter
def test_the_idea_is_shown_at_work_in_open_cells(name):
    hidden = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
    assert len([cell for cell in code(name) if not hidden & set(tags(cell))]) >= 2


@in_every_chapter
def test_what_markdown_prints_is_glued_in_the_same_chapter(name):
    used = {key for cell in CHAPTERS[name] if cell.cell_type == "markdown" for key in USED.findall(cell.source)}
    glued = [key for cell in code(name) for key in GLUED.findall(cell.source)]
    assert used == set(glued)
    assert len(glued) == len(set(glued))
    assert all(key.startswith(f"{name[:2]}-") for key in glued), "so that no chapter has another's name"


@in_every_chapter
def test_the_study_is_that_of_the_question_set_that_is_asked_for(name):
    opened = next(cell.source for cell in code(name) if "= open_study(" in cell.source)
    assert re.search('questions=questions|"questions": questions', opened)


@in_every_chapter
def test_it_ends_with_how_long_it_took(name):
    last = CHAPTERS[name][-1]
    assert last.source.startswith('print(f"This chapter took')
    assert tags(last) == ["remove-input"]

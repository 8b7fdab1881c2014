"""Source notebooks are clean chapters: no outputs, one commented parameters cell, wrong parameters refused."""

import nbformat
import pytest

from lib.book import notebooks
from lib.words import StudyError

CHAPTERS = notebooks.chapters()


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(notebooks.NOTEBOOKS / f"{name}.ipynb", as_version=4)


def test_there_are_chapters():
    assert CHAPTERS[:3] == ["01_data", "02_oracles", "03_baselines"]


@pytest.mark.parametrize("name", CHAPTERS)
def test_sources_hold_no_outputs(name):
    code = [cell for cell in read(name).cells if cell.cell_type == "code"]
    assert code
    assert not [cell for cell in code if cell.outputs or cell.execution_count]


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_parameter_has_a_type_and_a_comment(name):
    cells = [cell for cell in read(name).cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(cells) == 1
    assert all(":" in line.split("#", 1)[1] for line in cells[0].source.splitlines())
    assert {"dataset", "profile", "results"} <= set(notebooks.parameters_of(name))


@pytest.mark.parametrize("name", CHAPTERS)
def test_title_is_a_question(name):
    assert read(name).cells[0].source.splitlines()[0].endswith("?")


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_cell_defines_a_long_function(name):
    for cell in read(name).cells:
        if cell.cell_type == "code" and "def " in cell.source:
            assert len(cell.source.splitlines()) <= 14


def test_a_wrong_parameter_lists_the_right_ones():
    with pytest.raises(StudyError, match=r"no parameter method; it has(.|\n)*methods: list\[str\]"):
        notebooks.check_parameters("03_baselines", {"method": ["bm25"]})


def test_an_unknown_notebook_lists_the_chapters():
    with pytest.raises(StudyError, match="no notebook '99_none': say one of 01_data"):
        notebooks.parameters_of("99_none")


def test_a_failed_run_leaves_no_notebook_behind(tmp_path, monkeypatch):
    kernel = {"name": "python3", "display_name": "", "language": "python"}
    source = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    source.cells = [
        nbformat.v4.new_code_cell("x = 1  # int: a number", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("1 / 0"),
    ]
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    nbformat.write(source, tmp_path / "01_broken.ipynb")
    with pytest.raises(StudyError, match="01_broken failed in cell 2: ZeroDivisionError"):
        notebooks.run("01_broken", {"x": 2}, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["01_broken.failed.ipynb"]


def test_what_belongs_to_one_machine_is_removed():
    notebook = nbformat.v4.new_notebook(metadata={"papermill": {"input_path": "/home/someone/x.ipynb"}})
    cell = nbformat.v4.new_code_cell(
        "1", metadata={"tags": ["injected-parameters"], "papermill": {"duration": 1}}
    )
    cell.outputs = [nbformat.v4.new_output("stream", name="stderr", text="/home/someone")]
    notebook.cells = [cell]
    cleaned = notebooks.cleaned(notebook)
    assert "papermill" not in cleaned.metadata
    assert cleaned.cells[0].metadata == {"tags": ["injected-parameters", "remove-input"]}
    assert cleaned.cells[0].outputs == []

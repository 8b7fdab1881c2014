"""Running chapters: wrong parameters are refused, failed runs leave nothing, and what has to run again."""

import json
import time
from types import SimpleNamespace

import nbformat
import pytest

from lib.book import notebooks
from lib.files import write_atomically
from lib.store import Store
from lib.words import StudyError


def test_there_are_chapters():
    assert notebooks.chapters()[:3] == ["01_data", "02_oracles", "03_baselines"]


def test_a_wrong_parameter_lists_the_right_ones():
    with pytest.raises(StudyError, match=r"no parameter method; it has(.|\n)*methods: list\[str\]"):
        notebooks.check_parameters("03_baselines", {"method": ["bm25"]})


def test_a_chapter_on_answers_is_left_out_and_says_so_where_there_are_none():
    left_out = {*notebooks.chapters()} - {*notebooks.chapters(("answer",))}
    assert left_out == {"06_generation"}
    assert notebooks.chapters(("evidence",)) == notebooks.chapters()
    heading, _, reason = notebooks.in_place_of("06_generation", "<b>").splitlines()
    assert heading == "# Do better pages give better answers?"
    assert "needs answers, which no question of \\<b\\> has" in reason


def test_an_unknown_notebook_lists_the_chapters():
    with pytest.raises(StudyError, match="no notebook '99_none': say one of 01_data"):
        notebooks.check_parameters("99_none", {})


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


def test_a_chapter_begins_when_the_one_it_reads_has_ended(tmp_path, monkeypatch):
    events = []

    def run(name, given, target):
        events.append(f"{name} begins")
        time.sleep(0.5 if name == "06_generation" else 0)
        events.append(f"{name} ends")

    monkeypatch.setattr(notebooks, "run", run)
    monkeypatch.setattr(notebooks.signal, "signal", lambda number, handler: None)
    monkeypatch.chdir(tmp_path)
    notebooks.run_all(["06_generation", "08_siblings", "09_claims", "11_growth"], {}, tmp_path, 2)
    at = {event: place for place, event in enumerate(events)}
    assert at["11_growth ends"] < at["06_generation ends"] < at["09_claims begins"]
    notebooks.run_all(["09_claims"], {}, tmp_path, 2)
    assert events[-1] == "09_claims ends"
    assert {*notebooks.AFTER, *notebooks.AFTER.values()} <= {*notebooks.chapters()}


def test_what_belongs_to_one_machine_is_removed():
    notebook = nbformat.v4.new_notebook(metadata={"papermill": {"input_path": "/home/someone/x.ipynb"}})
    cell = nbformat.v4.new_code_cell("1", metadata={"tags": ["injected-parameters"], "papermill": {"duration": 1}})
    cell.outputs = [nbformat.v4.new_output("stream", name="stderr", text="/home/someone")]
    notebook.cells = [cell]
    cleaned = notebooks.cleaned(notebook)
    assert "papermill" not in cleaned.metadata
    assert cleaned.cells[0].metadata == {"tags": ["injected-parameters", "remove-input"]}
    assert cleaned.cells[0].outputs == []


# --- which chapters something has changed for ---

GIVEN = {"dataset": "demo", "profile": "default", "results": "published"}
TOC = """root: book/intro
parts:
- chapters:
  - file: notebooks/01_data
  - file: notebooks/02_oracles
  - file: pages/methods
"""


def computed(folder) -> None:
    (folder / "result.txt").write_text("42")


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A study whose two chapters were run: the first used a result, the second looked for one in vain."""
    names = ("lib/code.py", "notebooks/01_data.ipynb", "notebooks/02_oracles.ipynb", "book/intro.md", "_config.yml")
    for name in names:
        write_atomically(tmp_path / name, name)
    (tmp_path / "_toc.yml").write_text(TOC)
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    outputs = tmp_path / "outputs"
    study = SimpleNamespace(
        outputs=outputs,
        home=outputs,
        store=Store(tmp_path / "store", say=lambda line: None),
        dataset=SimpleNamespace(fingerprint="f", lacks=()),
        has_text=True,
        profile={"chunks": 1},
        write=lambda name, text: write_atomically(outputs / name, text),
    )
    used = study.store.get("used", {}, computed)
    absent = study.store.key("absent", {})
    for chapter, stage, key in (("01_data", "used", used.key), ("02_oracles", "absent", absent)):
        record = {"chapter": chapter, "stage": stage, "key": key, "origin": "any"}
        outputs.mkdir(exist_ok=True)
        with (outputs / "stages.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
        write_atomically(outputs / "notebooks" / f"{chapter}.ipynb", "run")
    notebooks.remember(study, GIVEN)
    return study


def test_progress_bars_of_jupyter_are_no_part_of_a_chapter():
    bar = nbformat.v4.new_output("display_data", {notebooks.WIDGET: {"model_id": "1"}, "text/plain": "0%"})
    shown = nbformat.v4.new_output("display_data", {"text/plain": "a table"})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[bar, shown])])
    assert notebooks.cleaned(notebook).cells[0].outputs == [shown]


def test_nothing_has_changed(built):
    assert notebooks.chapters() == ["01_data", "02_oracles"]
    assert notebooks.changed_chapters(built, GIVEN) == []


def test_a_changed_notebook_runs_again_alone(built, tmp_path):
    (tmp_path / "notebooks" / "02_oracles.ipynb").write_text("changed")
    assert notebooks.changed_chapters(built, GIVEN) == ["02_oracles"]


def test_a_chapter_whose_run_is_gone_runs_again_alone(built):
    (built.outputs / "notebooks" / "01_data.ipynb").unlink()
    assert notebooks.changed_chapters(built, GIVEN) == ["01_data"]


def test_a_result_that_appears_runs_the_chapters_that_looked_for_it(built):
    built.store.get("another", {}, computed)
    assert notebooks.changed_chapters(built, GIVEN) == []
    built.store.get("absent", {}, computed)
    assert notebooks.changed_chapters(built, GIVEN) == ["02_oracles"]


def test_a_result_that_is_published_meanwhile_runs_the_chapters_that_looked_for_it(built):
    key = built.store.key("absent", {})
    built.store.published = SimpleNamespace(stages={("absent", key): {"stage": "absent", "key": key}})
    assert notebooks.changed_chapters(built, GIVEN) == []
    built.store.published.stages["absent", key]["files"] = {}
    assert notebooks.changed_chapters(built, GIVEN) == ["02_oracles"]


def test_a_result_that_is_gone_runs_the_chapters_that_used_it(built):
    entry = built.store.get("used", {}, computed)
    entry.path.rename(entry.path.with_name("aside"))
    assert notebooks.changed_chapters(built, GIVEN) == ["01_data"]


@pytest.mark.parametrize("name", ["lib/code.py", "book/intro.md", "_config.yml", "notebooks/profiles/new.yaml"])
def test_a_changed_source_runs_every_chapter(built, tmp_path, name):
    write_atomically(tmp_path / name, "changed")
    assert notebooks.changed_chapters(built, GIVEN) == ["01_data", "02_oracles"]


def test_published_results_and_built_books_are_no_source(built, tmp_path):
    for name in ("book/results/demo/default/manifest.json", "book/_build/index.html", "lib/__pycache__/code.pyc"):
        write_atomically(tmp_path / name, "x")
    assert notebooks.changed_chapters(built, GIVEN) == []


def test_other_parameters_settings_filings_and_texts_run_every_chapter(built):
    both = ["01_data", "02_oracles"]
    assert notebooks.changed_chapters(built, GIVEN | {"profile": "paper"}) == both
    for place, name, value in (
        (built, "profile", {"chunks": 2}),
        (built, "has_text", False),
        (built.dataset, "fingerprint", "g"),
    ):
        before = getattr(place, name)
        setattr(place, name, value)
        assert notebooks.changed_chapters(built, GIVEN) == both, name
        setattr(place, name, before)
    assert notebooks.changed_chapters(built, GIVEN) == []
    (built.home / "generations.jsonl").write_text("{}\n")
    assert notebooks.changed_chapters(built, GIVEN) == both


def test_what_a_chapter_used_is_forgotten_before_it_runs_again(built):
    notebooks.forget_stages(built, ["01_data"])
    assert {record["chapter"] for record in notebooks.read_stages(built)} == {"02_oracles"}

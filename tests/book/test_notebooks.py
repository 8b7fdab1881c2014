"""Running chapters: wrong parameters are refused, failed runs leave nothing, and what has to run again."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from lib import files
from lib.book import build, notebooks
from lib.files import ROOT, write_atomically
from lib.schema import NeedsFilings, StudyError
from lib.store import Store
from tests.made import make_study
from tests.test_files import until

KERNEL = {"name": "python3", "display_name": "", "language": "python"}


def write_chapter(path: Path, *code: str) -> None:
    """A chapter of these cells, the first of them its parameters."""
    cells = [nbformat.v4.new_code_cell(one) for one in code]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)


def test_a_wrong_parameter_lists_the_right_ones():
    with pytest.raises(StudyError, match=r"no parameter method(.|\n)*methods: list\[str\]"):
        notebooks.check_parameters("03_baselines", {"method": ["bm25"]})


def test_chapters_on_answers_are_left_out_where_there_are_none():
    assert {*notebooks.chapters()} - {*notebooks.chapters(("answer",))} == {"06_generation", "a2_measures"}
    assert notebooks.chapters(("evidence",)) == notebooks.chapters()
    assert {*notebooks.LAST} <= {*notebooks.chapters()}


def test_a_failed_run_leaves_no_notebook_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    write_chapter(tmp_path / "01_broken.ipynb", "x = 1  # int: a number", "1 / 0")
    with pytest.raises(StudyError, match="cell 2: ZeroDivisionError"):
        notebooks.run("01_broken", {"x": 2}, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["01_broken.failed.ipynb"]


@pytest.fixture
def finished() -> list[str]:
    """The names of chapters that have run, see run_chapters."""
    return []


@pytest.fixture
def run_chapters(tmp_path, monkeypatch, finished):
    """Runs chapters that do nothing, but for those that raise an error; gives the names of those that began."""

    def run_all(**errors: Exception) -> list[str]:
        begun = []

        def run(name, given, target):
            begun.append(name)
            if name in errors:
                raise errors[name]

        monkeypatch.setattr(notebooks, "run", run)
        monkeypatch.setattr(notebooks.signal, "signal", lambda number, handler: None)
        monkeypatch.chdir(tmp_path)
        with suppress(ZeroDivisionError):
            notebooks.run_all(["06_generation", "08_claims", "10_growth"], {}, tmp_path, 1, finished.append)
        return begun

    return run_all


def test_what_reads_the_measures_of_answers_runs_last_and_nothing_begins_after_a_failure(run_chapters, finished):
    assert run_chapters() == finished == ["06_generation", "10_growth", "08_claims"]
    finished.clear()
    assert run_chapters(**{"10_growth": ZeroDivisionError()}) == ["06_generation", "10_growth"]
    assert finished == ["06_generation"], "those alone that a later build need not run again"


def test_a_chapter_that_needs_filings_which_are_not_here_is_left_out_and_the_others_run(tmp_path, run_chapters):
    (tmp_path / "10_growth.ipynb").write_text("of a machine that had the filings")
    assert len(run_chapters(**{"10_growth": NeedsFilings("it needs filings")})) == 3
    assert [*tmp_path.iterdir()] == []


SCRIPT = """
import sys
from pathlib import Path
from lib.book import notebooks
folder = Path({folder!r})
notebooks.NOTEBOOKS = folder
if __name__ == "__main__":
    notebooks.run_all(["waits"], {{}}, folder / "out", 1)
"""
WAITS = "import os, pathlib, time\npathlib.Path({path!r}).write_text(str(os.getpid()))\ntime.sleep(600)"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_kernel_ends_with_the_command(tmp_path, number):
    kernel_file = tmp_path / "kernel"
    write_chapter(tmp_path / "waits.ipynb", WAITS.format(path=str(kernel_file)))
    (tmp_path / "script.py").write_text(SCRIPT.format(folder=str(tmp_path)))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    running = subprocess.Popen([sys.executable, str(tmp_path / "script.py")], env=environment)
    try:
        assert until(lambda: kernel_file.is_file() and kernel_file.read_text(), 120)
        kernel = Path("/proc") / kernel_file.read_text()
        assert kernel.exists()
        running.send_signal(number)
        running.wait(60)
        assert until(lambda: not kernel.exists() or "(zombie)" in (kernel / "status").read_text(), 120)
    finally:
        running.kill()


def test_what_belongs_to_one_machine_and_progress_bars_are_removed():
    bar = nbformat.v4.new_output("display_data", {notebooks.WIDGET: {"model_id": "1"}, "text/plain": "0%"})
    shown = nbformat.v4.new_output("display_data", {"text/plain": "a table"})
    outputs = [nbformat.v4.new_output("stream", name="stderr", text="/home/someone"), bar, shown]
    folded = {"jupyter": {"source_hidden": True}}  # as solutions are in Jupyter
    about = {"tags": ["injected-parameters"], "papermill": {"duration": 1}} | folded
    cell = nbformat.v4.new_code_cell("1", metadata=about, outputs=outputs)
    made = nbformat.v4.new_notebook(cells=[cell], metadata={"papermill": {"input_path": "/home/someone/x.ipynb"}})
    cleaned = notebooks.cleaned(made)
    assert "papermill" not in cleaned.metadata
    assert cleaned.cells[0].metadata == {"tags": ["injected-parameters", "remove-input"]} | folded
    assert cleaned.cells[0].outputs == [shown]


# --- which chapters something has changed for ---

GIVEN = {"dataset": "demo", "profile": "default", "results": "published"}
BOTH = ["01_data", "02_oracles"]
FILES = "lib/code.py book/intro.md _config.yml notebooks/profiles/new.yaml CITATION.cff requirements.txt".split()
FILES += ["book/results/demo/base/manifest.json"]
OTHER_FILES = "book/results/demo/default/manifest.json book/_build/index.html lib/__pycache__/code.pyc".split()


def computed(folder) -> None:
    (folder / "result.txt").write_text("42")


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A study whose two chapters were run: the first used a result, the second looked for one in vain."""
    names = ("lib/code.py", "notebooks/01_data.ipynb", "notebooks/02_oracles.ipynb", "book/intro.md", "_config.yml")
    for name in names:
        write_atomically(tmp_path / name, name)
    (tmp_path / "_toc.yml").write_text("- file: notebooks/01_data\n- file: notebooks/02_oracles\n- file: pages/x\n")
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(files, "RESULTS", tmp_path / "book" / "results")
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    outputs, store = tmp_path / "outputs", Store(tmp_path / "store", say=lambda line: None)
    given = {"home": outputs / "demo/default", "store": store, "has_text": True, "profile": {"chunks": 1}}
    study = make_study(outputs=outputs, dataset=SimpleNamespace(fingerprint="f", lacks=()), **given)
    places = ("used", study.store.files("used", {}, computed).key), ("absent", study.store.key("absent", {}))
    lines = []
    for chapter, (stage, key) in zip(BOTH, places, strict=True):
        lines.append(json.dumps({"chapter": chapter, "stage": stage, "key": key, "origin": "any"}))
        study.write(f"notebooks/{chapter}.ipynb", "run")
    study.write("stages.jsonl", "\n".join(lines))
    inputs = notebooks.inputs_of(study, GIVEN)
    study.write(notebooks.STAMPS, json.dumps(notebooks.stamps(study, inputs) | {notebooks.BOOK: "demo"}))
    return study


def publish(built, **files: dict) -> None:
    key = built.store.key("absent", {})
    built.store.published = SimpleNamespace(stages={("absent", key): {"stage": "absent", "key": key, **files}})


def write(name: str):
    return lambda built: write_atomically(built.outputs.parent / name, "x")


#: What is changed, and the chapters that then run again.
CHANGES = {
    "nothing": (lambda built: None, []),
    "a notebook": (write("notebooks/02_oracles.ipynb"), BOTH[1:]),
    "an executed one is gone": (lambda built: (built.outputs / "notebooks" / "01_data.ipynb").unlink(), BOTH[:1]),
    "a result that nobody looked for": (lambda built: built.store.files("another", {}, computed), []),
    "one that was looked for": (lambda built: built.store.files("absent", {}, computed), BOTH[1:]),
    "its published record alone": (lambda built: publish(built), []),
    "its published files": (lambda built: publish(built, files={}), BOTH[1:]),
    "a used one is gone": (lambda built: shutil.rmtree(built.store.root / "used"), BOTH[:1]),
    "settings": (lambda built: built.profile.update(chunks=2), BOTH),
    "filings are gone": (lambda built: setattr(built, "has_text", False), BOTH),
    "the dataset": (lambda built: setattr(built.dataset, "fingerprint", "g"), BOTH),
    "what models wrote": (lambda built: write_atomically(built.home / "generations.jsonl", "{}\n"), BOTH),
    "the log of a chapter": (lambda built: notebooks.forget_stages(built, BOTH[:1]), BOTH[:1]),
    **{name: (write(name), BOTH) for name in FILES},
    **{name: (write(name), []) for name in OTHER_FILES},
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_the_chapters_that_something_has_changed_for_run_again(built, change, expected):
    change(built)
    assert notebooks.changed_chapters(built, notebooks.inputs_of(built, GIVEN)) == expected


def test_a_build_that_was_interrupted_goes_on_behind_the_chapters_that_have_run(built):
    write("notebooks/02_oracles.ipynb")(built)
    write("notebooks/01_data.ipynb")(built)
    inputs = notebooks.inputs_of(built, GIVEN)
    notebooks.stamp(built, inputs, "01_data")
    assert notebooks.changed_chapters(built, inputs) == ["02_oracles"]
    assert notebooks.BOOK not in notebooks.known_stamps(built), "the book that was built has another chapter"


def test_other_parameters_change_all_chapters_and_a_cut_file_is_named(built):
    assert notebooks.changed_chapters(built, notebooks.inputs_of(built, GIVEN | {"profile": "paper"})) == BOTH
    built.write("stages.jsonl", '{"stage": "a"')
    with pytest.raises(StudyError, match=r"stages.jsonl"):
        notebooks.read_stages(built)


def test_the_report_of_a_build_has_a_line_for_each_kind_of_result_and_says_which_were_never_published(monkeypatch):
    stages = [(f"answers/calculated/{name}", "computed", 1.0) for name in "abcd"]
    stages += [("runs/standard/bm25", "computed", 2.0), ("board", "reused", 0.0)]
    monkeypatch.setattr(build, "stages_of", lambda study: stages)
    published = SimpleNamespace(root=Path("nowhere"), stages=[("runs/standard/bm25", "another key")])
    assert build.report(SimpleNamespace(published=published)) == [
        "results: 5 computed, 1 reused, 0 published",
        "computed: 4 × answers/calculated (a, b, c …), 4 s; never published",
        f"computed: 1 × runs/standard (bm25), 2 s; {build.OTHERWISE}",
    ]

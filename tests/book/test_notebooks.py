"""Running chapters: wrong parameters are refused, failed runs leave nothing, and what has to run again."""

import json
import shutil
import time
from types import SimpleNamespace

import nbformat
import pytest

from lib.book import notebooks
from lib.files import write_atomically
from lib.store import Store
from lib.words import StudyError


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("03_baselines", {"method": ["bm25"]}, r"no parameter method; it has(.|\n)*methods: list\[str\]"),
        ("99_none", {}, "no notebook '99_none': say one of 01_data"),
    ],
)
def test_a_wrong_name_lists_the_right_ones(name, given, message):
    with pytest.raises(StudyError, match=message):
        notebooks.check_parameters(name, given)


def test_a_chapter_on_answers_is_left_out_and_says_so_where_there_are_none():
    left_out = {*notebooks.chapters()} - {*notebooks.chapters(("answer",))}
    assert left_out == {"06_generation", "a2_measures"}
    assert notebooks.chapters(("evidence",)) == notebooks.chapters()
    heading, _, reason = notebooks.in_place_of("06_generation", "<b>").splitlines()
    assert heading == "# Do better pages give better answers?"
    assert "needs answers, which no question of \\<b\\> has" in reason


def test_a_failed_run_leaves_no_notebook_behind(tmp_path, monkeypatch):
    kernel = {"name": "python3", "display_name": "", "language": "python"}
    given = nbformat.v4.new_code_cell("x = 1  # int: a number", metadata={"tags": ["parameters"]})
    cells = [given, nbformat.v4.new_code_cell("1 / 0")]
    source = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
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
    notebooks.run_all(["06_generation", "08_claims", "08_claims", "10_growth"], {}, tmp_path, 2)
    at = {event: place for place, event in enumerate(events)}
    assert at["10_growth ends"] < at["06_generation ends"] < at["08_claims begins"]
    notebooks.run_all(["08_claims"], {}, tmp_path, 2)
    assert events[-1] == "08_claims ends"
    assert {*notebooks.AFTER, *notebooks.AFTER.values()} <= {*notebooks.chapters()}


def test_what_belongs_to_one_machine_and_progress_bars_are_removed():
    bar = nbformat.v4.new_output("display_data", {notebooks.WIDGET: {"model_id": "1"}, "text/plain": "0%"})
    shown = nbformat.v4.new_output("display_data", {"text/plain": "a table"})
    outputs = [nbformat.v4.new_output("stream", name="stderr", text="/home/someone"), bar, shown]
    about = {"tags": ["injected-parameters"], "papermill": {"duration": 1}}
    cell = nbformat.v4.new_code_cell("1", metadata=about, outputs=outputs)
    made = nbformat.v4.new_notebook(cells=[cell], metadata={"papermill": {"input_path": "/home/someone/x.ipynb"}})
    cleaned = notebooks.cleaned(made)
    assert "papermill" not in cleaned.metadata
    assert cleaned.cells[0].metadata == {"tags": ["injected-parameters", "remove-input"]}
    assert cleaned.cells[0].outputs == [shown]


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
        home=outputs / "demo/default",
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


BOTH = ["01_data", "02_oracles"]
SOURCES = ("lib/code.py", "book/intro.md", "_config.yml", "notebooks/profiles/new.yaml")
SOURCES += ("book/results/demo/base/manifest.json",)
NO_SOURCES = ("book/results/demo/default/manifest.json", "book/_build/index.html", "lib/__pycache__/code.pyc")


def publish(store: Store, **files: dict) -> None:
    key = store.key("absent", {})
    store.published = SimpleNamespace(stages={("absent", key): {"stage": "absent", "key": key, **files}})


CHANGES = {
    "nothing": (lambda built: None, []),
    "a notebook": (lambda built: built.outputs.parent.joinpath("notebooks/02_oracles.ipynb").write_text("x"), BOTH[1:]),
    "a run that is gone": (lambda built: (built.outputs / "notebooks" / "01_data.ipynb").unlink(), BOTH[:1]),
    "a result that nobody looked for": (lambda built: built.store.get("another", {}, computed), []),
    "a result that was looked for": (lambda built: built.store.get("absent", {}, computed), BOTH[1:]),
    "a published record": (lambda built: publish(built.store), []),
    "a published result": (lambda built: publish(built.store, files={}), BOTH[1:]),
    "a result that is gone": (lambda built: shutil.rmtree(built.store.root / "used"), BOTH[:1]),
    **{name: (lambda built, name=name: write_atomically(built.outputs.parent / name, "x"), BOTH) for name in SOURCES},
    **{name: (lambda built, name=name: write_atomically(built.outputs.parent / name, "x"), []) for name in NO_SOURCES},
    "settings": (lambda built: built.profile.update(chunks=2), BOTH),
    "filings that are not here": (lambda built: setattr(built, "has_text", False), BOTH),
    "other filings": (lambda built: setattr(built.dataset, "fingerprint", "g"), BOTH),
    "texts": (lambda built: write_atomically(built.home / "generations.jsonl", "{}\n"), BOTH),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_chapters_that_something_has_changed_for_run_again(built, what):
    assert notebooks.chapters() == BOTH
    change, expected = CHANGES[what]
    change(built)
    assert notebooks.changed_chapters(built, GIVEN) == expected
    assert notebooks.changed_chapters(built, GIVEN | {"profile": "paper"}) == BOTH


def test_what_a_chapter_used_is_forgotten_before_it_runs_again(built):
    notebooks.forget_stages(built, ["01_data"])
    assert {record["chapter"] for record in notebooks.read_stages(built)} == {"02_oracles"}


@pytest.mark.parametrize(("name", "read"), [("stages.jsonl", notebooks.read_stages), ("x.json", None)])
def test_a_cut_file_of_the_outputs_is_told(tmp_path, name, read):
    (tmp_path / name).write_text('{"stage": "a"')
    with pytest.raises(StudyError, match=f"{name} is damaged .*; remove it and run the command again"):
        read(SimpleNamespace(outputs=tmp_path)) if read else notebooks.read_json(tmp_path / name)

"""Running the chapters: papermill into the outputs, whole or not at all; which of them something has changed for."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path
from threading import Event

import nbformat
import papermill

from lib.files import MANIFEST, ROOT, digest_of, digest_of_file, fix_of, published_folders, read_json
from lib.schema import NeedsFilings, StudyError
from lib.studies import NOTEBOOKS
from lib.study import Study

SOURCES = (
    "lib book examples data/elsewhere _config.yml _toc.yml notebooks/profiles CITATION.cff requirements.txt".split()
)
NOT_SOURCES = {"__pycache__", "_build", "results", ".ipynb_checkpoints"}
STAMPS = "built.json"
BOOK = "book"  # among the stamps, where a book was built of these chapters
#: What questions have to have for a chapter; where none has it, a page that says so is in the chapter's place.
NEEDS = {"06_generation": "answer", "a2_measures": "answer"}
#: Chapters that read the measures of answers, which 06_generation writes: they run when all others have ended.
LAST = ("08_claims", "09_question_sets", "a2_measures")
#: It trains, and begins before the others: what they need without training is computed beside it.
FIRST = "04_page_scorer"
WIDGET = "application/vnd.jupyter.widget-view+json"  # a progress bar in Jupyter


def chapters(lacks: Collection[str] = ()) -> list[str]:
    """The notebooks that the book's table of contents lists, in its order; none that needs what ``lacks`` names."""
    names = re.findall(r"file: notebooks/(\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [name for name in names if NEEDS.get(name) not in lacks]


def check_parameters(name: str, given: dict[str, object]) -> None:
    """Refuse parameters that the chapter does not have; papermill itself would only warn.

    Raises:
        StudyError: there is no such chapter, or naming the unknown parameters and listing the right ones.
    """
    if name not in {path.stem for path in NOTEBOOKS.glob("*.ipynb")}:
        raise StudyError(f"unknown notebook {name!r}; choose from {', '.join(chapters())}")
    parameters = papermill.inspect_notebook(str(NOTEBOOKS / f"{name}.ipynb"))
    if unknown := sorted(set(given) - set(parameters)):
        listed = "\n".join(f"  {key}: {value['help']}" for key, value in parameters.items())
        raise StudyError(f"{name} has no parameter {', '.join(unknown)}; it has\n{listed}")


def run(name: str, given: dict[str, object], target: Path, say=print) -> Path:
    """Run one chapter, such as ``03_baselines``, with parameters; returns the executed notebook, in ``target``.

    Raises:
        StudyError: a wrong parameter, or a cell that failed; what was run so far stays in ``<name>.failed.ipynb``.
    """
    check_parameters(name, given)
    target.mkdir(parents=True, exist_ok=True)
    temporary, done, failed = (target / f"{part}.ipynb" for part in (f".{name}", name, f"{name}.failed"))
    started = time.perf_counter()
    say(f"chapter {name} …")
    try:
        papermill.execute_notebook(
            str(NOTEBOOKS / f"{name}.ipynb"),
            str(temporary),
            parameters=given,
            cwd=str(ROOT),
            kernel_name="python3",
            progress_bar=False,
            request_save_on_cell_execute=False,  # a failed run is written all the same
            extra_arguments=["--IPKernelApp.log_level=50"],  # no warning of TCP, to this machine alone
        )
    except papermill.PapermillExecutionError as error:
        temporary.replace(failed)
        raise error_of(name, error, failed) from None
    nbformat.write(cleaned(nbformat.read(temporary, as_version=4)), temporary)
    temporary.replace(done)
    failed.unlink(missing_ok=True)
    say(f"chapter {name} took {time.perf_counter() - started:.0f} s")
    return done


def error_of(name: str, error: papermill.PapermillExecutionError, failed: Path) -> StudyError:
    """What a chapter's failed cell raised: a study's own error, one of the operating system with what fixes it, or
    another with the place of the ``failed`` notebook."""
    number = re.match(r"\[Errno (\d+)\]", error.evalue)
    if fix := fix_of(int(number[1])) if number else "":
        return StudyError(f"{name}: {error.evalue}; {fix}")
    if error.ename in ("StudyError", "DatasetError", "NeedsFilings"):
        return (NeedsFilings if error.ename == "NeedsFilings" else StudyError)(f"{name}: {error.evalue}")
    where = f"failed in cell {error.cell_index}: {error.ename}"
    return StudyError(f"{name} {where}: {error.evalue}\n  the run so far is in {failed}")


def run_all(
    names: Sequence[str],
    given: dict[str, object],
    target: Path,
    n_at_once: int,
    finished: Callable[[str], None] = lambda name: None,
) -> None:
    """Run chapters, ``n_at_once`` at the same time, FIRST before the others and those in LAST last.

    What two of them need is computed by one while the other waits. Those that need filings which are not here are left
    out. ``finished`` is called with the name of each that has run.

    From now on, SIGINT and SIGTERM end the chapters with this process.

    Raises:
        StudyError: that of a chapter that failed; those that run are finished, the others not begun.
    """
    # threads that wait must sleep, not spin, or they take the time that another chapter needs
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.chdir(ROOT)  # papermill goes there for a chapter and back after it, also for the chapters beside it
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os._exit(128 + number))  # kernels poll their parent and end

    has_failed = Event()

    def run_one(name: str) -> None:
        if has_failed.is_set():
            return
        try:
            run(name, given, target)
        except NeedsFilings as reason:
            print(f"left out: {reason}", flush=True)
            (target / f"{name}.ipynb").unlink(missing_ok=True)  # of a machine that had them
        except BaseException:
            has_failed.set()
            print("a chapter failed: no other begins, and those that run are finished", flush=True)
            raise
        else:
            finished(name)

    for is_last in (False, True):
        with ThreadPoolExecutor(n_at_once) as pool:
            part = [name for name in sorted(names, key=lambda name: name != FIRST) if (name in LAST) == is_last]
            running = [pool.submit(run_one, name) for name in part]
        for chapter in running:
            chapter.result()


def changed_chapters(study: Study, inputs: str) -> list[str]:
    """The chapters whose notebook, :func:`inputs_of` or stored results changed since they ran."""
    before, now, folder = known_stamps(study), stamps(study, inputs), study.outputs / "notebooks"
    return [name for name in now if before.get(name) != now[name] or not (folder / f"{name}.ipynb").is_file()]


def known_stamps(study: Study) -> dict[str, str]:
    """The stamps of chapters that have run, and BOOK where their book was built."""
    path = study.outputs / STAMPS
    return read_json(path) if path.is_file() else {}


def stamp(study: Study, inputs: str, name: str) -> None:
    """Note what a chapter was run from that has just ended, so that a build that is interrupted goes on behind it."""
    known = {one: of for one, of in known_stamps(study).items() if one != BOOK}
    study.write(STAMPS, json.dumps(known | {name: stamps(study, inputs)[name]}, indent=1) + "\n")


def inputs_of(study: Study, given: dict[str, object]) -> str:
    """A digest of what all chapters are run from: parameters, library, packages, data and what is published beside."""
    paths = (path for name in SOURCES for path in sorted([ROOT / name, *(ROOT / name).rglob("*")]))
    sources = [path for path in paths if path.is_file() and not NOT_SOURCES & set(path.relative_to(ROOT).parts)]
    others = [folder for folder in published_folders() if folder.parts[-2:] != study.home.parts[-2:]]
    sources += [folder / MANIFEST for folder in others]  # that it is shown beside
    common = {
        "given": given,
        "dataset": study.dataset.fingerprint,
        "has_text": study.has_text,
        "settings": study.profile,
        "packages": sorted(f"{one.name} {one.version}" for one in distributions()),
        "sources": [(str(path.relative_to(ROOT)), digest_of_file(path)) for path in sources],
    }
    return digest_of(common)


def stamps(study: Study, inputs: str) -> dict[str, str]:
    """A digest of all that a chapter was run from, by its name; the outputs keep it in STAMPS."""
    texts = study.home / "generations.jsonl"
    common = inputs, texts.stat().st_size if texts.is_file() else 0
    used = {name: set() for name in chapters(study.dataset.lacks)}
    for one in read_stages(study):
        used.get(one["chapter"], set()).add(f"{one['stage']}/{one['key']}")
    return {
        name: digest_of(
            [common, digest_of_file(NOTEBOOKS / f"{name}.ipynb"), [(one, study.store.has(one)) for one in sorted(of)]]
        )
        for name, of in used.items()
    }


def read_stages(study: Study) -> list[dict]:
    """The log of the stages that chapters used: chapter, stage, key, origin."""
    log = study.outputs / "stages.jsonl"
    return read_json(log, lines=True) if log.is_file() else []


def forget_stages(study: Study, names: Sequence[str]) -> None:
    """Remove the lines of some chapters from the log of stages, before these are run again."""
    others = [record for record in read_stages(study) if record["chapter"] not in names]
    study.write("stages.jsonl", "".join(json.dumps(record) + "\n" for record in others))


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without what belongs to one run on one machine: papermill's paths and times, progress bars."""
    for name in {*notebook.metadata} - {"kernelspec", "language_info"}:
        del notebook.metadata[name]
    for cell in notebook.cells:
        for name in {*cell.metadata} - {"tags", "jupyter"}:  # ``jupyter`` folds solutions
            del cell.metadata[name]
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.metadata.tags.append("remove-input")
        if cell.cell_type == "code":
            shown = [out for out in cell.outputs if out.get("name") != "stderr"]
            cell.outputs = [out for out in shown if WIDGET not in out.get("data", {})]
    return notebook

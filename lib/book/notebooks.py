"""Running the chapters: papermill into the outputs, whole or not at all; which of them something has changed for."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib.metadata import distributions
from pathlib import Path
from threading import Event

import nbformat
import papermill
import yaml

from lib.files import ROOT, digest_of, digest_of_file, mend_of, write_atomically
from lib.show.markup import escape
from lib.studies import NOTEBOOKS
from lib.study import Study
from lib.words import StudyError

SOURCES = ("lib", "book", "examples", "_config.yml", "_toc.yml", "notebooks/profiles")
NOT_SOURCES = {"__pycache__", "_build", "results", ".ipynb_checkpoints"}
STAMPS = "built.json"
#: What questions have to have for a chapter; where none has it, a page that says so is in the chapter's place.
NEEDS = {"06_generation": "answer", "a2_measures": "answer"}
#: What a chapter reads of the outputs of another, it reads when that one has ended.
AFTER = dict.fromkeys(("08_claims", "09_question_sets", "a2_measures"), "06_generation")  # the measures of answers
#: Begun before the others of their kind, so that none of them is left for the end.
LONGEST = ("06_generation", "08_claims", "04_page_scorer", "09_question_sets", "03_baselines")
WIDGET = "application/vnd.jupyter.widget-view+json"  # a progress bar in Jupyter


def chapters(lacks: Collection[str] = ()) -> list[str]:
    """The notebooks that the book's table of contents lists, in its order; none that needs what ``lacks`` names."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [chapter["file"] for part in contents["parts"] for chapter in part["chapters"]]
    names = [Path(file).name for file in files if file.startswith("notebooks/")]
    return [name for name in names if NEEDS.get(name) not in lacks]


def in_place_of(name: str, dataset: str) -> str:
    """The page in place of a chapter that is left out of a dataset's book: its heading, and why."""
    heading = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells[0].source.splitlines()[0]
    return f"{heading}\n\nThis chapter needs answers, which no question of {escape(dataset)} has; it is left out.\n"


def check_parameters(name: str, given: dict[str, object]) -> None:
    """Refuse parameters that the chapter does not have; papermill itself would only warn.

    Raises:
        StudyError: there is no such chapter, or naming the unknown parameters and listing the right ones.
    """
    path = NOTEBOOKS / f"{name}.ipynb"
    if not path.is_file():
        raise StudyError(f"no notebook {name!r}: say one of {', '.join(chapters())}")
    known = papermill.inspect_notebook(str(path))
    if unknown := sorted(set(given) - set(known)):
        listed = "\n".join(f"  {key}: {value['help']}" for key, value in known.items())
        raise StudyError(f"{name} has no parameter {', '.join(unknown)}; it has\n{listed}")


def run(name: str, given: dict[str, object], target: Path, say=print) -> Path:
    """Run one chapter.

    Args:
        name: such as ``03_baselines``.
        given: parameters to inject.
        target: directory of the executed notebook, which is returned, free of paths and times of this machine.
        say: progress callback.

    Raises:
        StudyError: a wrong parameter, or a cell that failed; what was run so far stays in ``<name>.failed.ipynb``.
    """
    check_parameters(name, given)
    target.mkdir(parents=True, exist_ok=True)
    aside, done, failed = (target / f"{part}.ipynb" for part in (f".{name}", name, f"{name}.failed"))
    started = time.perf_counter()
    say(f"chapter {name} …")
    try:
        papermill.execute_notebook(
            str(NOTEBOOKS / f"{name}.ipynb"),
            str(aside),
            parameters=given,
            cwd=str(ROOT),
            kernel_name="python3",
            progress_bar=False,
            log_output=False,
            stderr_file=None,
            request_save_on_cell_execute=False,  # a failed run is written all the same
            extra_arguments=["--IPKernelApp.log_level=50"],  # no warning of TCP, to this machine alone
        )
    except papermill.PapermillExecutionError as error:
        aside.replace(failed)
        if error.ename in ("StudyError", "DatasetError", "NeedsFilings"):
            raise StudyError(f"{name}: {error.evalue}") from None
        number = re.match(r"\[Errno (\d+)\]", error.evalue)
        if mend := mend_of(int(number[1])) if number else "":
            raise StudyError(f"{name}: {error.evalue}; {mend}") from None
        raise StudyError(
            f"{name} failed in cell {error.cell_index}: {error.ename}: {error.evalue}\n  the run so far is in {failed}"
        ) from error
    nbformat.write(cleaned(nbformat.read(aside, as_version=4)), aside)
    aside.replace(done)
    failed.unlink(missing_ok=True)
    say(f"chapter {name} took {time.perf_counter() - started:.0f} s")
    return done


def run_all(names: Sequence[str], given: dict[str, object], target: Path, n_at_once: int) -> None:
    """Run chapters, some at the same time; what two of them need is computed by one while the other waits.

    ``n_at_once`` of them run, those of LONGEST first, those in AFTER last and once the other has ended; the rest is as
    for :func:`run`. From now on, SIGINT and SIGTERM end the chapters with this process.

    Raises:
        StudyError: that of the first chapter that failed; those that run are finished, the others not begun.
    """
    # threads that wait must sleep, not spin, or they take the time that another chapter needs
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.chdir(ROOT)  # papermill goes there for a chapter and back after it, also for the chapters beside it
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os._exit(128 + number))  # kernels poll their parent and end
    begun: dict[str, Future] = {}
    has_failed = Event()

    def run_in_turn(name: str) -> None:
        if AFTER.get(name) in begun:
            wait([begun[AFTER[name]]])
        if has_failed.is_set():
            return
        try:
            run(name, given, target)
        except BaseException as error:
            has_failed.set()
            if sum(one.running() for one in begun.values()) > 1:
                print(f"{error}\nno other chapter begins; those that run are finished", flush=True)
            raise

    with ThreadPoolExecutor(n_at_once) as pool:
        for name in sorted(names, key=lambda name: (name in AFTER, (*LONGEST, name).index(name))):
            begun[name] = pool.submit(run_in_turn, name)
    for chapter in begun.values():
        chapter.result()


def changed_chapters(study: Study, given: dict[str, object]) -> list[str]:
    """The chapters whose notebook, parameters, library, packages, data or stored results changed since they ran."""
    path, folder = study.outputs / STAMPS, study.outputs / "notebooks"
    known = read_json(path) if path.is_file() else {}
    now = _stamps(study, given).items()
    return [name for name, stamp in now if known.get(name) != stamp or not (folder / f"{name}.ipynb").is_file()]


def remember(study: Study, given: dict[str, object]) -> None:
    """Record what the chapters were run from; see :func:`changed_chapters`."""
    write_atomically(study.outputs / STAMPS, json.dumps(_stamps(study, given), indent=1) + "\n")


def _stamps(study: Study, given: dict[str, object]) -> dict[str, str]:
    paths = (path for name in SOURCES for path in sorted([ROOT / name, *(ROOT / name).rglob("*")]))
    sources = [path for path in paths if path.is_file() and not NOT_SOURCES & set(path.relative_to(ROOT).parts)]
    texts = study.home / "generations.jsonl"
    manifests = sorted((ROOT / "book/results").glob("*/*/manifest.json"))
    others = [path for path in manifests if path.parts[-3:-1] != study.home.parts[-2:]]  # that it is shown beside
    common = {
        "given": given,
        "dataset": study.dataset.fingerprint,
        "has_text": study.has_text,
        "settings": study.profile,
        "packages": sorted(f"{one.name} {one.version}" for one in distributions()),
        "sources": [(str(path.relative_to(ROOT)), digest_of_file(path)) for path in (*sources, *others)],
        "texts": texts.stat().st_size if texts.is_file() else 0,
    }
    used: dict[str, set[str]] = {}
    for one in read_stages(study):
        used.setdefault(one["chapter"], set()).add(f"{one['stage']}/{one['key']}")
    stamps = {}
    for name in chapters(study.dataset.lacks):
        stored = [(one, study.store.has(one)) for one in sorted(used.get(name, ()))]
        stamps[name] = digest_of([common, digest_of_file(NOTEBOOKS / f"{name}.ipynb"), stored])
    return stamps


def read_stages(study: Study) -> list[dict]:
    """The log of the stages that chapters used: chapter, stage, key, origin."""
    log = study.outputs / "stages.jsonl"
    return read_json(log, lambda text: list(map(json.loads, text.splitlines()))) if log.is_file() else []


def read_json(path: Path, read: Callable[[str], object] = json.loads):
    """What a JSON file of the outputs holds; a StudyError where it is damaged."""
    try:
        return read(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path} is damaged ({error}); remove it and run the command again") from None


def forget_stages(study: Study, names: Sequence[str]) -> None:
    """Remove the lines of some chapters from the log of stages, before these are run again."""
    kept = [record for record in read_stages(study) if record["chapter"] not in names]
    study.write("stages.jsonl", "".join(json.dumps(record) + "\n" for record in kept))


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without what belongs to one run on one machine: papermill's paths and times, progress bars."""
    kept = {"kernelspec", "language_info"} & set(notebook.metadata)
    notebook.metadata = nbformat.from_dict({name: notebook.metadata[name] for name in sorted(kept)})
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        tags += ["remove-input"] * ("injected-parameters" in tags)
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.outputs = [
                out for out in cell.outputs if out.get("name") != "stderr" and WIDGET not in out.get("data", {})
            ]
    return notebook

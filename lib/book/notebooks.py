"""Running the chapters: papermill into the view, whole or not at all."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

import nbformat
import papermill
import yaml

from lib import absent
from lib.book import stand_in
from lib.published import Published
from lib.words import StudyError

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
PLUMBING = "remove-input"


def chapters() -> list[str]:
    """The notebooks that the book's table of contents lists, in its order."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text())
    files = [chapter["file"] for part in contents["parts"] for chapter in part["chapters"]]
    return [Path(file).name for file in files if file.startswith("notebooks/")]


def parameters_of(name: str) -> dict[str, str]:
    """A chapter's parameters and their comments.

    Raises:
        StudyError: there is no such chapter.
    """
    path = NOTEBOOKS / f"{name}.ipynb"
    if not path.is_file():
        raise StudyError(f"no notebook {name!r}: say one of {', '.join(chapters())}")
    found = papermill.inspect_notebook(str(path))
    return {key: value["help"] for key, value in found.items()}


def check_parameters(name: str, given: dict[str, object]) -> None:
    """Refuse parameters that the chapter does not have; papermill itself would only warn.

    Raises:
        StudyError: naming the unknown ones and listing the right ones.
    """
    known = parameters_of(name)
    unknown = sorted(set(given) - set(known))
    if unknown:
        listed = "\n".join(f"  {key}: {text}" for key, text in known.items())
        raise StudyError(f"{name} has no parameter {', '.join(unknown)}; it has\n{listed}")


def run(name: str, given: dict[str, object], target: Path, say=print) -> Path:
    """Run one chapter.

    Args:
        name: such as ``03_baselines``.
        given: parameters to inject.
        target: directory of the executed notebook.
        say: where progress is told.

    Returns:
        The executed notebook, free of paths and times of this machine. Where there are no filings, a cell that needs
        them shows what was published of it, or one line.

    Raises:
        StudyError: a wrong parameter, or a cell that failed; what was run so far stays in ``<name>.failed.ipynb``.
    """
    check_parameters(name, given)
    target.mkdir(parents=True, exist_ok=True)
    aside, done, failed = (
        target / f"{prefix}{name}{end}.ipynb" for prefix, end in ((".", ""), ("", ""), ("", ".failed"))
    )
    published = _stands_in(given)
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
            extra_arguments=[
                "--IPKernelApp.log_level=40"
            ],  # it warns that it speaks TCP, to this machine alone
            allow_error_names=list(absent.ERRORS) if published else [],
        )
    except papermill.PapermillExecutionError as error:
        aside.replace(failed)
        if error.ename in ("StudyError", "DatasetError", "WeightsError"):
            raise StudyError(f"{name}: {error.evalue}") from None
        raise StudyError(
            f"{name} failed in cell {error.cell_index}: {error.ename}: {error.evalue}\n  the run so far is in {failed}"
        ) from error
    notebook = cleaned(nbformat.read(aside, as_version=4))
    if published:
        stand_in.put(notebook, published, target.parent)
    nbformat.write(notebook, aside)
    aside.replace(done)
    failed.unlink(missing_ok=True)
    say(f"chapter {name} took {time.perf_counter() - started:.0f} s")
    return done


def run_all(names: Sequence[str], given: dict[str, object], target: Path, n_at_once: int) -> None:
    """Run chapters, some at the same time; what two of them need is computed by one while the other waits.

    Args:
        names: such as ``03_baselines``; begun in this order.
        given, target: see :func:`run`.
        n_at_once: chapters that run at the same time.

    Raises:
        StudyError: that of the first chapter that failed; those that run are finished, the others not begun.
    """
    # threads that wait must sleep, not spin, or they take the time that another chapter needs
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with ProcessPoolExecutor(n_at_once, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(run, name, given, target) for name in names]
        wait(running, return_when=FIRST_EXCEPTION)
        for chapter in running:
            chapter.cancel()
        for chapter in running:
            if not chapter.cancelled():
                chapter.result()


def _stands_in(given: dict[str, object]) -> Published | None:
    """The published results that a chapter reads in place of filings, if it does."""
    if given.get("results", "published") != "published":
        return None
    return Published.in_place_of(
        str(given.get("dataset", "")), Path(str(given.get("profile", "default"))).stem
    )


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without what belongs to one run on one machine: papermill's paths and times, progress bars."""
    notebook.metadata = nbformat.from_dict(
        {key: value for key, value in notebook.metadata.items() if key in ("kernelspec", "language_info")}
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags:
            tags = [*tags, PLUMBING]
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
    return notebook

"""Compiling the book: executed chapters, written pages, figures and tables, through jupyter-book."""

import html
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from lib.book.notebooks import ROOT
from lib.study import Study
from lib.words import StudyError

RUN_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
DEMO_BANNER = (
    "<strong>Synthetic demo.</strong> The filings, companies and questions of this book are invented; "
    "its numbers show how the instrument works, not how retrieval does on real filings."
)

STORED_TEXTS = " What a language model wrote is taken from stored generations; all else is computed."


def banner_of(study: Study) -> str:
    """The announcement on top of every page: that this is the demo, or that results were not recomputed."""
    if study.dataset.name == "demo":
        return DEMO_BANNER + (STORED_TEXTS if study.published else "")
    return "" if study.has_text else f"<strong>{html.escape(study.published.sentence)}</strong>"


def built_book(study: Study) -> Path:
    """Directory of a study's compiled book."""
    return ROOT / "book" / "_build" / study.dataset.name / "html"


def stage(study: Study, target: Path) -> None:
    """Lay out the book's sources: configuration, pages, executed chapters, figures, tables, explorer."""
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns("_build", "results", "*.py", "*.failed.ipynb", ".*")
    shutil.copytree(ROOT / "book", target / "book", ignore=ignored)
    shutil.copyfile(ROOT / "_toc.yml", target / "_toc.yml")
    for folder in ("notebooks", "figures", "tables", "pages"):
        if (study.outputs / folder).is_dir():
            shutil.copytree(study.outputs / folder, target / folder, ignore=ignored)
    if (study.outputs / "explorer").is_dir():
        shutil.copytree(study.outputs / "explorer", target / "book" / "_static" / "explorer")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    if banner := banner_of(study):
        config["sphinx"]["config"].setdefault("html_theme_options", {})["announcement"] = banner
    (target / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False))


def compile_book(study: Study, say=print) -> Path:
    """Build the book; a warning is an error.

    Returns:
        The book's ``index.html``, in ``book/_build/<dataset>/html``.

    Raises:
        StudyError: jupyter-book's warnings and errors.
    """
    source, compiled = study.outputs / "site", study.outputs / "site-build"
    stage(study, source)
    command = [sys.executable, "-c", RUN_JUPYTER_BOOK, "build", str(source), "--path-output", str(compiled)]
    command += ["-W", "--keep-going", "-q"]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "NO_COLOR": "1"}
    say("jupyter-book …")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        output = done.stdout + done.stderr
        lines = [line for line in output.splitlines() if "WARNING" in line or "ERROR" in line]
        raise StudyError("jupyter-book: " + ("\n".join(lines) or output[-3000:]))
    built = built_book(study)
    aside = built.with_name("html.aside")
    shutil.rmtree(aside, ignore_errors=True)
    built.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(compiled / "_build" / "html", aside)
    shutil.rmtree(built, ignore_errors=True)
    aside.replace(built)
    return built / "index.html"

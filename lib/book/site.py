"""Compiling the book: executed chapters, written pages, figures and tables, through jupyter-book."""

import html
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from lib.book.notebooks import ROOT
from lib.words import StudyError

RUN_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
DEMO_BANNER = (
    "<strong>Synthetic demo.</strong> The filings, companies and questions of this book are invented; "
    "its numbers show how the instrument works, not how retrieval does on real filings."
)

STORED_TEXTS = " What a language model wrote is taken from stored generations; all else is computed."


def banner_of(study) -> str:
    """What stands on top of every page: that this is the demo, or that results were not recomputed."""
    if study.dataset.name == "demo":
        return DEMO_BANNER + (STORED_TEXTS if study.published and study.published.generations else "")
    return "" if study.has_filings else f"<strong>{html.escape(study.published.sentence)}</strong>"


def built_book(study) -> Path:
    """Where a study's book lies when it is compiled."""
    return ROOT / "book" / "_build" / study.dataset.name / "html"


def stage(study, target: Path) -> None:
    """Lay out the book's sources: configuration, pages, executed chapters, figures, tables, explorer."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(
        ROOT / "book", target / "book", ignore=shutil.ignore_patterns("_build", "results", "*.py")
    )
    shutil.copyfile(ROOT / "_toc.yml", target / "_toc.yml")
    for folder in ("notebooks", "figures", "tables", "pages"):
        if (study.view / folder).is_dir():
            ignored = shutil.ignore_patterns("*.failed.ipynb", ".*")
            shutil.copytree(study.view / folder, target / folder, ignore=ignored)
    if (study.view / "explorer").is_dir():
        shutil.copytree(study.view / "explorer", target / "book" / "_static" / "explorer")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    if banner_of(study):
        config["sphinx"]["config"].setdefault("html_theme_options", {})["announcement"] = banner_of(study)
    (target / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False))


def compile_book(study, say=print) -> Path:
    """Build the book; a warning is an error.

    Returns:
        The book's ``index.html``, in ``book/_build/<dataset>/html``.

    Raises:
        StudyError: jupyter-book's warnings and errors.
    """
    source, output = study.view / "site", study.view / "site-build"
    stage(study, source)
    command = [sys.executable, "-c", RUN_JUPYTER_BOOK, "build", str(source), "--path-output", str(output)]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "NO_COLOR": "1"}
    say("jupyter-book …")
    done = subprocess.run(
        [*command, "-W", "--keep-going", "-q"], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        lines = [
            line for line in (done.stdout + done.stderr).splitlines() if "WARNING" in line or "ERROR" in line
        ]
        raise StudyError("jupyter-book: " + ("\n".join(lines) or (done.stdout + done.stderr)[-3000:]))
    built = built_book(study)
    aside = built.with_name("html.aside")
    shutil.rmtree(aside, ignore_errors=True)
    built.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(output / "_build" / "html", aside)
    shutil.rmtree(built, ignore_errors=True)
    aside.replace(built)
    return built / "index.html"

"""Building a book: chapters, results, generated pages, explorer, site; only what something has changed for."""

import html
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import nbformat
import pandas as pd
import yaml

from lib.book.downloads import write_downloads
from lib.book.environment import UNKNOWN, shortened
from lib.book.explorer import write_explorer
from lib.book.headline import budgets
from lib.book.manifest import stages_of, write_manifest
from lib.book.notebooks import (
    BOOK,
    STAMPS,
    changed_chapters,
    chapters,
    forget_stages,
    inputs_of,
    known_stamps,
    run_all,
    stamp,
    stamps,
)
from lib.book.pages import write_pages
from lib.book.pairs import write_pairs
from lib.book.repository import address, with_commits
from lib.book.results import write_exports, write_results
from lib.diagnose.stored import OUTSIDE
from lib.files import MANIFEST, ROOT, read_json
from lib.models.weights import hub_models
from lib.options import open_named
from lib.published import METRICS_FILE
from lib.schema import Names, StudyError
from lib.show import charts
from lib.show.drawn import NARROW
from lib.show.markup import escape
from lib.studies import NOTEBOOKS
from lib.study import Study

OTHERWISE = "published of other inputs, settings or version"  # what was computed now
NAMED = 3  # of the results of a kind, in a line of the report
DEMO_BANNER = (
    "<strong>Synthetic demo.</strong> The filings, companies and questions of this book are invented; "
    "its numbers show how the instrument works, not how retrieval does on real filings."
)
LICENCES = 'Code, text and published numbers: <a href="https://www.apache.org/licenses/LICENSE-2.0">Apache-2.0</a>.'
#: Of a collection's questions and filings.
LICENCES_OF = {
    "financebench": (
        'Questions and filings: <a href="https://github.com/patronus-ai/financebench">FinanceBench</a>, '
        '<a href="https://creativecommons.org/licenses/by-nc/4.0/">CC BY-NC 4.0</a>, not published here. '
        'Questions about unseen companies: <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>.'
    )
}
STORED_TEXTS = " What a language model wrote is taken from stored generations; all else is computed."
STORED_RESULTS = " Its results are the published ones; <code>make demo RESULTS=texts</code> computes them."


def build_book(names: Names, jobs: int = 0, check: Callable[[Study], None] | None = None, say=print) -> None:
    """Run the chapters that something has changed for, write the contract's files, and compile the book.

    Args:
        names: of the study.
        jobs: chapters that run at the same time; 0 for two, but one where there is one core or models fill a GPU.
        check: called before a run with models that only the hub has; its error ends the run before it begins.
        say: progress callback, one line per call.
    """
    started, study = time.perf_counter(), open_named(names, "book")
    index = ROOT / "book" / "_build" / study.dataset.name / "html" / "index.html"
    with study.alone():
        _build(study, names._asdict(), index, jobs, check, say)
    say(f"book: {index}\n{time.perf_counter() - started:.0f} s")


def _build(
    study: Study, given: dict[str, object], index: Path, jobs: int, check: Callable[[Study], None] | None, say: Callable
) -> None:
    inputs, one_writes = inputs_of(study, given), Lock()
    changed = changed_chapters(study, inputs)

    def finished(name: str) -> None:
        with one_writes:
            stamp(study, inputs, name)

    if not changed and BOOK in known_stamps(study) and is_current(study, index):
        say("nothing has changed since this book was built; to build it all the same, say make clean first")
    else:
        is_heavy = bool(hub_models(study.profile))
        if check and study.has_text and is_heavy:
            check(study)
        if changed == chapters(study.dataset.lacks):
            for name in ("tables", "figures"):
                shutil.rmtree(study.outputs / name, ignore_errors=True)
        forget_stages(study, [*changed, "book", "measure"])
        if study.has_text:
            study.digest("questions")  # files and gold pages are checked before a chapter begins
        n_at_once = jobs or (1 if is_heavy else min(2, os.cpu_count() or 1))
        run_all(changed, given, study.outputs / "notebooks", n_at_once, finished)
        write_results(study)
        budgets(study)  # what it stores is in the manifest
        manifest = write_manifest(study)
        if manifest["commit"] == UNKNOWN:
            say("the book states no commit: there is no git here, or no repository")
        write_pages(study, manifest)
        compile_book(study, index.parent, say)
        study.write(STAMPS, json.dumps(stamps(study, inputs) | {BOOK: index.parent.name}, indent=1) + "\n")
        for line in report(study):
            say(line)


def is_current(study: Study, index: Path) -> bool:
    """Whether a book has all runs from outside that were diagnosed over its questions."""
    outside = (study.home / OUTSIDE).glob(f"*/{METRICS_FILE}")
    return index.is_file() and all(path.stat().st_mtime < index.stat().st_mtime for path in outside)


def report(study: Study) -> list[str]:
    """What is published of the study's chapters but not in the book; how many stages were computed, reused or
    published; and what was computed, by the first two parts of a stage's name: how often, its seconds, and whether it
    was ever published."""
    stages = pd.DataFrame(stages_of(study), columns=["stage", "origin", "wall_s"])
    counts = [f"{(stages['origin'] == origin).sum()} {origin}" for origin in ("computed", "reused", "published")]
    lines = [f"results: {', '.join(counts)}"]
    if study.published:
        shown = study.published.root / "shown"
        names = [path.relative_to(shown) for path in sorted(shown.glob("*/*.csv"))]
        if absent := [str(name) for name in names if not (study.outputs / name).is_file()]:
            lines.insert(0, f"published, but not in this book: {', '.join(absent)}")
        published = {stage for stage, _ in study.published.stages}
        computed = stages[stages["origin"] == "computed"]
        is_known = computed["stage"].isin(published).map({True: OTHERWISE, False: "never published"})
        kind = computed["stage"].str.split("/").str[:2].str.join("/")
        for (reason, of), part in computed.groupby([is_known, kind], sort=False):
            names = [name.removeprefix(f"{of}/") for name in part["stage"].unique()]
            which = f" ({', '.join(names[:NAMED])}{' …' if len(names) > NAMED else ''})" if names != [of] else ""
            lines.append(f"computed: {len(part)} × {of}{which}, {part['wall_s'].sum():.0f} s; {reason}")
    return lines


def compile_book(study: Study, built: Path, say=print) -> None:
    """Build the book into ``built``; a StudyError has jupyter-book's warnings and errors."""
    static, new = study.outputs / "static", built.with_name("html.new")
    lay_out(study, study.outputs / "site")
    say("jupyter-book …")
    for folder in (static, study.outputs / "explorer", new):
        shutil.rmtree(folder, ignore_errors=True)
    with ThreadPoolExecutor(1) as pool:
        html_folder = pool.submit(run_jupyter_book, study.outputs / "site", study.outputs / "site-build")
        write_explorer(study)
        write_exports(study)
        write_downloads(study, static)
        write_pairs(study, static / "pairs")
        (static / charts.BUNDLE).write_text(charts.bundle(), encoding="utf-8")
    shutil.copytree(html_folder.result(), new, ignore=shutil.ignore_patterns("*.map"))  # of the theme's sources
    shutil.copytree(static, new / "_static", dirs_exist_ok=True)
    shutil.copytree(study.outputs / "explorer", new / "_static" / "explorer")
    if (narrow := study.outputs / "figures" / NARROW).is_dir():
        shutil.copytree(narrow, new / "_images" / NARROW)
    shutil.rmtree(built, ignore_errors=True)
    new.replace(built)


def lay_out(study: Study, target: Path) -> None:
    """The book's sources in one folder: configuration, pages, executed chapters, figures, tables."""
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns("_build", "results", "*.py", "*.failed.ipynb", ".*")
    shutil.copytree(ROOT / "book", target / "book", ignore=ignored)
    shutil.copytree(ROOT / "examples", target / "examples")
    shutil.copyfile(ROOT / "_toc.yml", target / "_toc.yml")
    for name in ("notebooks", "figures", "tables", "pages"):
        if (study.outputs / name).is_dir():
            shutil.copytree(study.outputs / name, target / name, ignore=ignored)
    for name in chapters():
        chapter = target / "notebooks" / f"{name}.ipynb"
        if name not in chapters(study.dataset.lacks):
            chapter.unlink(missing_ok=True)
            reason = f"needs answers, which no question of {escape(study.dataset.name)} has"
        else:
            profile = escape(study.profile.name)
            reason = f"needs filings that are not here, and its results are not published with profile {profile}"
        if not chapter.is_file():
            heading = nbformat.read(NOTEBOOKS / chapter.name, as_version=4).cells[0].source.splitlines()[0]
            text = f"{heading}\n\nThis chapter {reason}; it is left out.\n"
            left_out = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
            nbformat.write(left_out, chapter)  # a notebook, to which the other chapters' links lead
    (target / "_config.yml").write_text(yaml.safe_dump(config(study), sort_keys=False), encoding="utf-8")


def config(study: Study) -> dict:
    """jupyter-book's configuration, with what this book states of itself on every page."""
    found = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    is_published = study.published and (study.has_used_published_runs or not study.has_text)
    if is_published:
        footer = study.published.sentence
    else:
        made = read_json(study.outputs / MANIFEST)
        run = f"{made['dataset']}, profile {made['profile']}, commit {shortened(made['commit'])}"
        footer = f"Computed for this book from {run}."
    options = found["sphinx"]["config"]["html_theme_options"]
    options["extra_footer"] = f"<p>{with_commits(html.escape(footer))}</p>\n<p>{licences(study)}</p>"
    if study.dataset.name == "demo":
        stored = STORED_RESULTS if is_published else STORED_TEXTS if study.published else ""
        options["announcement"] = DEMO_BANNER + stored
    if url := address():  # options of the theme are these alone, not those of jupyter-book beside them
        options |= {"repository_url": url, "repository_branch": found["repository"]["branch"]}
        options |= {"use_repository_button": True, "path_to_docs": ""}
        options["launch_buttons"] = {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"}
    return found


def licences(study: Study) -> str:
    """The licences of what the book shows, and where its code is, as HTML."""
    found = [LICENCES_OF.get(study.dataset.collection, ""), LICENCES]
    found += [f'<a href="{html.escape(address())}">The repository</a>.'] if address() else []
    return " ".join(filter(None, found))


def run_jupyter_book(source: Path, compiled: Path) -> Path:
    """Compile a folder of sources; a warning is an error, a StudyError. Returns the folder of HTML."""
    command = [sys.executable, "-m", "lib.book.compile", "build", str(source), "--path-output", str(compiled)]
    command += ["-W", "--keep-going", "-q"]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)
    if done.returncode:
        output = done.stdout + done.stderr
        lines = [line for line in output.splitlines() if "WARNING" in line or "ERROR" in line]
        raise StudyError("jupyter-book: " + ("\n".join(lines) or output[-3000:]))
    return compiled / "_build" / "html"

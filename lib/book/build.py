"""Building a book: chapters, results, generated pages, explorer, site; only what something has changed for."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pandas as pd
import yaml

from lib.book.allowed import check_generated
from lib.book.downloads import write_downloads
from lib.book.explorer import write_explorer
from lib.book.manifest import UNKNOWN, shortened, stages_of, write_exports, write_manifest, write_results
from lib.book.notebooks import REPOSITORY, STAMPS, changed_chapters, chapters, forget_stages, read_json, run_all, stamps
from lib.book.pages import write_pages
from lib.diagnose.kept import OUTSIDE
from lib.files import ROOT
from lib.models.weights import hub_models
from lib.options import Names
from lib.published import METRICS_FILE
from lib.schema import StudyError
from lib.show.drawn import NARROW
from lib.show.markup import escape
from lib.studies import NOTEBOOKS
from lib.study import Study

#: Chapters that other pages may still link to by their old names, and where these lead.
MOVED = {
    "08_siblings": "08_claims",
    "09_claims": "08_claims",
    "10_question_sets": "09_question_sets",
    "11_growth": "10_growth",
}
#: Scripts of the theme that no page needs, and those of the index, which the search page alone reads.
ICONS = re.compile(r"\s*<!-- So that users can add custom icons -->|\s*<script[^>]*fontawesome\.js[^>]*></script>")
SEARCH = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')
DRAWING = re.compile(r'<img [^>]*src="([./]*_images/)([\w-]+\.svg)"[^>]*>')
LOGO = re.compile(r'<div class="sidebar-primary-item"(>\s*<a class="navbar-brand)')
#: What the search page leaves out of the excerpts that it shows; code of notebooks as well.
LEFT_OUT, CELLS = '".headerlink", ', '"details.hide, .cell_input, .code-switch", '
#: How the search page shows a heading or a caption, which its index has as text, behind a page's title, which is HTML.
FOUND = "titles[file] !== title ? `${titles[file]} > ${title}` : title"
AS_TEXT = FOUND.replace("${title}", "${title.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt()};`)}")
DEMO_BANNER = (
    "<strong>Synthetic demo.</strong> The filings, companies and questions of this book are invented; "
    "its numbers show how the instrument works, not how retrieval does on real filings."
)
STORED_TEXTS = " What a language model wrote is taken from stored generations; all else is computed."


def build_book(names: Names, jobs: int = 0, check: Callable[[Study], None] | None = None, say=print) -> None:
    """Run the chapters that something has changed for, write the contract's files, and compile the book.

    Args:
        names: of the study.
        jobs: chapters that run at the same time; 0 for two, but one where there is one core or models fill a GPU.
        check: called before a run with models that only the hub has; its error ends the run before it begins.
        say: progress callback, one line per call.
    """
    started = time.perf_counter()
    study, given = names.open("book"), names._asdict()
    index = ROOT / "book" / "_build" / study.dataset.name / "html" / "index.html"
    changed = changed_chapters(study, given)
    if not changed and is_current(study, index):
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
        at_once = jobs or (1 if is_heavy else min(2, os.cpu_count() or 1))
        run_all(changed, given, study.outputs / "notebooks", at_once)
        write_results(study)
        manifest = write_manifest(study)
        if manifest["commit"] == UNKNOWN:
            say("the book states no commit: there is no git here, or no repository")
        write_pages(study, manifest)
        if missing := unshown(study):
            say(f"published, but not in this book: {', '.join(missing)}")
        compile_book(study, index.parent, say)
        study.write(STAMPS, json.dumps(stamps(study, given), indent=1) + "\n")
        for line in report(study):
            say(line)
    say(f"book: {index}\n{time.perf_counter() - started:.0f} s")


def is_current(study: Study, index: Path) -> bool:
    """Whether a book has all runs from outside that were diagnosed over its questions."""
    kept = (study.home / OUTSIDE).glob(f"*/{METRICS_FILE}")
    return index.is_file() and all(path.stat().st_mtime < index.stat().st_mtime for path in kept)


def report(study: Study) -> list[str]:
    """Of how many stages the results were computed, reused or published; and a line for each that was computed although
    results are published: how often, its seconds, and why."""
    stages = pd.DataFrame(stages_of(study), columns=["stage", "key", "origin", "wall_s"])
    counts = [f"{(stages['origin'] == one).sum()} {one}" for one in ("computed", "reused", "published")]
    known = study.store.published.stages if study.store.published else {}
    computed = stages[(stages["origin"] == "computed") & bool(known)]
    why = {True: "its result is text, or large, and not published", False: "published of other inputs or settings"}
    reasons = [
        why[place in known] if place[0] in {stage for stage, _ in known} else "never published"
        for place in zip(computed["stage"], computed["key"], strict=True)
    ]
    of = computed.assign(why=reasons).groupby(["stage", "why"])["wall_s"].agg(["size", "sum"])
    lines = [f"computed: {n:.0f} × {stage}, {total:.0f} s ({why})" for (stage, why), (n, total) in of.T.items()]
    return [f"results: {', '.join(counts)}", *lines]


def unshown(study: Study) -> list[str]:
    """The data of tables and figures that are published of this study's chapters, but that this run did not show."""
    shown = study.published.root / "shown" if study.published else Path()
    names = [str(path.relative_to(shown)) for path in sorted(shown.glob("*/*.csv"))] if study.published else []
    return [name for name in names if not (study.outputs / name).is_file()]


def lay_out(study: Study, target: Path) -> None:
    """The book's sources in one folder: configuration, pages, executed chapters, figures, tables."""
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns("_build", "results", "submissions", "*.py", "*.failed.ipynb", ".*")
    shutil.copytree(ROOT / "book", target / "book", ignore=ignored)
    shutil.copytree(ROOT / "examples", target / "examples")
    shutil.copyfile(ROOT / "_toc.yml", target / "_toc.yml")
    for name in ("notebooks", "figures", "tables", "pages"):
        if (study.outputs / name).is_dir():
            shutil.copytree(study.outputs / name, target / name, ignore=ignored)
    unanswered = {*chapters()} - {*chapters(study.dataset.lacks)}
    for name in unanswered:
        (target / "notebooks" / f"{name}.ipynb").unlink(missing_ok=True)
    for name in chapters():
        if not (target / "notebooks" / f"{name}.ipynb").is_file():
            heading = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells[0].source.splitlines()[0]
            reason = f"needs answers, which no question of {escape(study.dataset.name)} has"
            if name not in unanswered:
                reason = f"needs the filings: its results are not published with profile {escape(study.profile.name)}"
            text = f"{heading}\n\nThis chapter {reason}; it is left out.\n"
            (target / "notebooks" / f"{name}.md").write_text(text, encoding="utf-8")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    if study.published and (study.provenance or not study.has_text):
        footer = study.published.sentence
    else:
        made = read_json(study.outputs / "manifest.json")
        of = f"{made['dataset']}, profile {made['profile']}, commit {shortened(made['commit'])}"
        footer = f"Computed for this book from {of}."
    options = config["sphinx"]["config"]["html_theme_options"]
    options["extra_footer"] = f"<p>{html.escape(footer)}</p>"
    if study.dataset.name == "demo":
        options["announcement"] = DEMO_BANNER + (STORED_TEXTS if study.published else "")
    if url := os.environ.get(REPOSITORY):
        config["repository"] = {"url": url, "branch": "main"}
        config["html"]["use_repository_button"] = True
        config["launch_buttons"] = {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"}
    (target / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


def compile_book(study: Study, built: Path, say=print) -> None:
    """Build the book into ``built``; a warning is an error.

    Raises:
        StudyError: generated text with something that it may not contain, or jupyter-book's warnings and errors.
    """
    explorer, downloads, aside = study.outputs / "explorer", study.outputs / "downloads", built.with_name("html.aside")
    check_generated(study.outputs)
    lay_out(study, study.outputs / "site")
    say("jupyter-book …")
    for folder in (explorer, downloads, aside):
        shutil.rmtree(folder, ignore_errors=True)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(run_jupyter_book, study.outputs / "site", study.outputs / "site-build")
        write_explorer(study)
        write_exports(study)
        write_downloads(study, downloads)
    shutil.copytree(found.result(), aside)
    shutil.copytree(downloads, aside / "_static", dirs_exist_ok=True)
    shutil.copytree(explorer, aside / "_static" / "explorer", dirs_exist_ok=True)
    if (narrow := study.outputs / "figures" / NARROW).is_dir():
        shutil.copytree(narrow, aside / "_images" / NARROW)
    tidy(aside)
    for old, new in MOVED.items():
        text = f'<!doctype html><title>Moved</title><meta http-equiv="refresh" content="0; url={new}.html">'
        (aside / "notebooks" / f"{old}.html").write_text(f'{text}<a href="{new}.html">Moved</a>', encoding="utf-8")
    shutil.rmtree(built, ignore_errors=True)
    aside.replace(built)


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


def tidy(site: Path) -> None:
    """Take from a folder of HTML the scripts that no page needs, correct what axe-core finds in the theme, and show on
    phones the figures that are laid out for them."""
    narrow = {path.name for path in (site / "_images" / NARROW).glob("*.svg")}

    def with_narrow(found: re.Match) -> str:
        image, folder, name = found[0], *found.groups()
        source = f'<source media="screen and (max-width: 700px)" srcset="{folder}{NARROW}/{name}">'
        return f"<picture>{source}{image}</picture>" if name in narrow else image

    for path in site.rglob("*.html"):
        text = ICONS.sub("", path.read_text(encoding="utf-8")).replace("<th></th>", "<td></td>")
        text = LOGO.sub(r'<div class="sidebar-primary-item" role="navigation" aria-label="Title"\1', text)
        text = text.replace(' role="doc-biblioentry"', "").replace('<div role="list" class="citation-list">', "<div>")
        text = DRAWING.sub(with_narrow, text)
        path.write_text(text if path.name == "search.html" else SEARCH.sub("", text), encoding="utf-8")
    tools = site / "_static" / "searchtools.js"
    code = tools.read_text(encoding="utf-8").replace(LEFT_OUT, LEFT_OUT + CELLS).replace(FOUND, AS_TEXT)
    tools.write_text(code, encoding="utf-8")

"""Building a book: chapters, results, generated pages, explorer, site; only what something has changed for."""

import os
import shutil
import time

from lib.book.explorer import write_explorer
from lib.book.manifest import stages_of, write_manifest
from lib.book.notebooks import changed_chapters, forget_stages, remember, run_all
from lib.book.pages import write_pages
from lib.book.results import write_results
from lib.book.site import built_book, compile_book
from lib.models.preflight import hub_models, preflight
from lib.studies import open_study
from lib.study import Study


def build_book(dataset: str, profile: str, results: str, jobs: int = 0, say=print) -> None:
    """Run the chapters that something has changed for, write the contract's files, and compile the book.

    Args:
        dataset, profile, results: see :func:`lib.studies.open_study`.
        jobs: chapters that run at the same time; 0 decides.
        say: progress callback, one line per call.
    """
    started = time.perf_counter()
    study = open_study(dataset, profile, results, chapter="book", say=say)
    given = {"dataset": dataset, "profile": profile, "results": results}
    changed = changed_chapters(study, given)
    if not changed and (built_book(study) / "index.html").is_file():
        say("nothing has changed since this book was built; to build it all the same, say make clean first")
    else:
        if study.has_text and hub_models(study.profile):
            preflight(study.profile, len(study.dataset.filings), len(study.questions), study.home)
        if len(changed) > 1:
            for name in ("tables", "figures"):
                shutil.rmtree(study.outputs / name, ignore_errors=True)
        forget_stages(study, [*changed, "book"])
        run_all(changed, given, study.outputs / "notebooks", jobs or at_once(study))
        write_results(study)
        manifest = write_manifest(study)
        write_pages(study, manifest)
        write_explorer(study)
        compile_book(study, say)
        remember(study, given)
        origins = [record["origin"] for record in stages_of(study)]
        counted = ", ".join(f"{origins.count(one)} {one}" for one in ("computed", "reused", "published"))
        say(f"results: {counted}")
    say(f"book: {built_book(study) / 'index.html'}\n{time.perf_counter() - started:.0f} s")


def at_once(study: Study) -> int:
    """Chapters that run at the same time: two, but one where there is one core or models fill a GPU."""
    return 1 if hub_models(study.profile) else min(2, os.cpu_count() or 1)

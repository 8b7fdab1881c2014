"""The commands behind the Makefile: ``python -m lib book`` and the others; ``--help`` lists them."""

import argparse
import os
import sys
import time
from pathlib import Path

import yaml

from lib.book import notebooks
from lib.command import status_of
from lib.models.preflight import needs_preflight
from lib.words import StudyError


def build_book(args: argparse.Namespace) -> None:
    """Run every chapter and compile the book."""
    from lib.book.explorer import write_explorer
    from lib.book.manifest import stages_of, write_manifest
    from lib.book.pages import write_pages
    from lib.book.results import write_results
    from lib.book.site import built_book, compile_book
    from lib.book.unchanged import is_unchanged, remember
    from lib.study import Study

    started = time.perf_counter()
    study = Study.open(args.dataset, args.profile, args.results, chapter="book")
    given = {"dataset": args.dataset, "profile": args.profile, "results": args.results}
    if is_unchanged(study, given):
        print("nothing has changed since this book was built; to build it all the same, say make clean first")
        print(f"book: {built_book(study) / 'index.html'}\n{time.perf_counter() - started:.0f} s")
        return
    if study.has_filings and needs_preflight(study.profile):
        look_before(study)
    (study.view / "stages.jsonl").unlink(missing_ok=True)
    notebooks.run_all(notebooks.chapters(), given, study.view / "notebooks", args.jobs or at_once(study))
    write_results(study)
    manifest = write_manifest(study)
    write_pages(study, manifest if study.has_filings else study.published.manifest)
    write_explorer(study)
    index = compile_book(study)
    remember(study, given)
    origins = [record["origin"] for record in stages_of(study)]
    counted = ", ".join(f"{origins.count(origin)} {origin}" for origin in ("computed", "reused", "published"))
    print(f"results: {counted}")
    print(f"book: {index}\n{time.perf_counter() - started:.0f} s")


def at_once(study) -> int:
    """Chapters that run at the same time: two, but one where there is one core or models fill a GPU."""
    return 1 if needs_preflight(study.profile) else min(2, os.cpu_count() or 1)


def look_before(study) -> None:
    """Say what a profile's models need, and stop where that is not there."""
    from lib.models.preflight import preflight

    preflight(study.profile, len(study.dataset.filings), len(study.questions), study.home)


def check_profile(args: argparse.Namespace) -> None:
    """Say what a profile would download, whether GPU and disk suffice, and roughly how long it takes."""
    from lib.study import Study

    look_before(Study.open(args.dataset, args.profile, args.results))


def run_notebook(args: argparse.Namespace) -> None:
    """Run one chapter with changed parameters, beside the book's own run."""
    given = {"dataset": args.dataset, "profile": args.profile, "results": args.results}
    for name, value in args.parameters or []:
        given[name] = yaml.safe_load(value)
    from lib.book.notebooks import ROOT
    from lib.store import digest_of
    from lib.study import VIEW_VARIABLE

    os.environ[VIEW_VARIABLE] = str(ROOT / "artifacts" / "reruns" / f"{args.name}-{digest_of(given)[:12]}")
    folder = Path(os.environ[VIEW_VARIABLE]) / "notebooks"
    print(f"executed notebook: {notebooks.run(args.name, given, folder)}")


def list_methods(args: argparse.Namespace) -> None:
    """Print the method table."""
    from lib.methods import METHODS

    for method in METHODS.values():
        print(f"{method.name:18} {method.pipeline}")


def publish_results(args: argparse.Namespace) -> None:
    """Copy the results of a whole run to book/results/, where they stand in for computing."""
    from lib.publish.publish import publish
    from lib.study import Study

    study = Study.open(args.dataset, args.profile, args.results)
    print(f"published: {publish(study)}")


def verify_results(args: argparse.Namespace) -> None:
    """Compute results again and compare them row by row with the published ones."""
    from lib.publish.verify import verify
    from lib.publish.verify_chapter import verify_chapter

    names = None if args.methods == "all" else args.methods.split()
    if args.chapter:
        is_equal = verify_chapter(args.dataset, args.profile, args.chapter)
    else:
        is_equal = verify(args.dataset, args.profile, names)
    if not is_equal:
        raise StudyError("the published results were not reproduced; the rows that differ are named above")


def command_line() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m lib")
    commands = parser.add_subparsers(required=True)
    functions = {
        "book": build_book,
        "notebook": run_notebook,
        "methods": list_methods,
        "publish": publish_results,
        "verify": verify_results,
        "preflight": check_profile,
    }
    for name, function in functions.items():
        command = commands.add_parser(name, help=function.__doc__)
        command.set_defaults(function=function)
        if name != "methods":
            command.add_argument("--dataset", default="")
            command.add_argument("--profile", default="default")
            command.add_argument("--results", default="published", choices=["published", "fresh"])
        if name == "book":
            command.add_argument("--jobs", type=int, default=0, help="chapters at the same time; 0 decides")
        if name == "verify":
            command.add_argument("--methods", default="bm25", help="names, or all")
            command.add_argument("--chapter", default="", help="compare a chapter's tables instead")
        if name == "notebook":
            command.add_argument("name")
            command.add_argument("-p", dest="parameters", nargs=2, action="append", metavar=("NAME", "VALUE"))
    return parser


def main() -> int:
    """Run a command; errors that a person can mend end in one sentence."""
    args = command_line().parse_args()
    return status_of(args.function, args)


if __name__ == "__main__":
    sys.exit(main())

"""The command line: ``retrieval-gap book`` and the others, or ``python -m lib book``; ``--help`` lists them.

A command is one declaration: its options, its help, what it calls; what that gives is printed. What is called is
imported only then, as some of it loads models' libraries, which takes seconds.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from shutil import get_terminal_size

import click
import yaml
from click import Choice, IntRange, option

from lib.files import exclusively, write_atomically
from lib.options import Names, command, commands, named_runs
from lib.schema import StudyError

PATH, FOLDER = click.Path(path_type=Path), click.Path(path_type=Path, exists=True)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)
COUNT = IntRange(min=1)

#: The commands that do no more than call a function with the study, and their help.
CALLING = {
    "measure": "Compute runs and metrics without a book, one method after another; a killed run resumes.",
    "mistakes": "Measure what evaluation mistakes add to the page scorer: hours of training, resumed where it stopped.",
    "page-scorer": "Train and score the folds of the page scorer.",
    "preflight": "Report what a profile downloads, whether GPU and disk suffice, and roughly how long it takes.",
    "publish": "Copy the results of a whole run to book/results/, where they are used in place of computing.",
    "train-ahead": "Train the page rankers that other filings are searched with, and save them in lib/ahead/model.",
    "train-preference": "Train the generator on preference pairs in folds by company, and compare its answers.",
}


def calls(name: str, called: str, *options: Callable, chapter: str = "", said: str = "") -> None:
    """Declare a command of CALLING: ``module:function``, the chapter that the study is opened for, what is printed."""

    def run(names: Names, /, **given: object) -> object:
        module, function = called.split(":")
        study = names.open(chapter)
        found = getattr(import_module(module), function)(study, **given)
        return said.format(found) if said else found

    run.__doc__, run.called = CALLING[name], called
    command(*options, name=name)(run)


@command(
    click.argument("files", type=FOLDER, nargs=-1),
    option("--run", "named", metavar="NAME=FILE", multiple=True, help="a run with a name of its own"),
    option("--pages-from", type=IntRange(0, 1), default=0, show_default=True, help="what the runs call a first page"),
    option("-k", "--k", type=COUNT, default=5, show_default=True, help="passages that are read"),
    option("--out", type=NEW_FILE, help="the page, in place of one among the artifacts"),
)
def diagnose(names: Names, files: list[Path], named: list[str], out: Path | None, **given: int) -> Iterator[str]:
    """Show where any systems lose evidence. FILES are their runs, in TREC's format or JSON lines, and name them."""
    from lib.diagnose.diagnosis import diagnose
    from lib.diagnose.page import file_name

    found = diagnose(named_runs(files, named), names.dataset, names.questions, names.profile, **given)
    yield found.to_text(get_terminal_size((120, 24)).columns)
    page = write_atomically(out or found.study.home / file_name(found.runs), found.to_html())
    yield f"the page: {page.resolve()}"


@command(option("--jobs", type=IntRange(min=0), default=0, help="chapters at the same time; 0 decides"))
def book(names: Names, jobs: int) -> None:
    """Run every chapter and compile the book."""
    from extras.preflight import preflight
    from lib.book.build import build_book
    from lib.files import ARTIFACTS

    with exclusively(ARTIFACTS / "locks" / "book", click.echo):
        build_book(names, jobs, preflight)


@command(
    click.argument("name"),
    option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="a parameter, as YAML"),
)
def notebook(names: Names, name: str, parameters: list[tuple[str, str]]) -> str:
    """Run one chapter with changed parameters, beside the book's own run."""
    from lib.book import notebooks
    from lib.files import ARTIFACTS, digest_of
    from lib.studies import OUTPUTS_VARIABLE

    given = names._asdict()
    for key, value in parameters:
        try:
            given[key] = yaml.safe_load(value)
            digest_of(given[key])
        except (yaml.YAMLError, TypeError, ValueError, RecursionError):  # a date is one, or half a letter
            raise StudyError(f"{key} is {value!r}: give its value as YAML, such as 5 or [bm25, dense]") from None
    folder = ARTIFACTS / "reruns" / f"{name}-{digest_of(given)[:12]}"
    os.environ[OUTPUTS_VARIABLE] = str(folder)
    executed = notebooks.run(name, given, folder / "notebooks")
    return f"executed notebook: {executed}\nits tables, as CSV: {folder / 'tables'}"


@commands.command()
def methods() -> None:
    """Print the method table."""
    from lib.methods import METHODS

    for method in METHODS.values():
        click.echo(f"{method.name:18} {method.pipeline}")


TO = option("--to", type=PATH, help="folder of the index, in place of one among the artifacts")


@command(TO)
def index(names: Names, to: Path | None) -> str:
    """Index a folder of filings, PDFs or page text, filing by filing; resumed where it stopped."""
    from lib.archive.described import described
    from lib.archive.index import archive_index, write_index
    from lib.archive.sources import passed_over

    archive = archive_index(names.dataset, names.profile, to)
    before, done = write_index(archive, partial(click.echo, err=True))
    left_out = before.left_out + [problem for problem in done["problem"] if problem]
    for problem in left_out:
        click.echo(f"left out: {problem}", err=True)
    for filing in done[(done["n_blank"] > 0) & (done["problem"] == "")].itertuples():
        blank = f"{filing.n_blank} of {filing.n_pages} pages have no text"
        click.echo(f"{filing.source.name}: {blank}; recognise them (OCR) if they are scans", err=True)
    indexed, changes, others = archive.names(), str(before), passed_over(archive.root)
    n_now = len(indexed)
    if n_now:
        described(archive, indexed)
    if not (n_now or left_out or changes):
        put = "put PDFs into it, or see the dataset layout in book/reproduce.md"
        raise StudyError(f"{archive.root} has no filings; {'; '.join(f'not read: {line}' for line in others) or put}")
    for line in others:
        click.echo(f"not read: {line}", err=True)
    changes = "".join(f", {words}" for words in (changes, left_out and f"{len(left_out)} left out") if words)
    return f"{archive.folder}: {n_now} filings{changes}; read now: {done['n_pages'].sum()} pages of {len(done)} filings"


@command(
    click.argument("question", required=False),
    option("-k", "--k", type=COUNT, default=5, show_default=True, help="pages"),
    option("-f", "--questions-file", "lines", type=click.File("rb"), help="a file of questions, one a line, or -"),
    option("--json", "as_json", is_flag=True, help="a line of JSON for each question"),
    TO,
)
def ask(
    names: Names, question: str | None, k: int, lines: Iterable[bytes] | None, as_json: bool, to: Path | None
) -> Iterator[str]:
    """Answer from an indexed folder where a table's figure is sure, and print the pages that fit best."""
    from lib.archive.ask import Archive, questions_in, with_pictures, written
    from lib.archive.index import archive_index

    if question == "-":
        question, lines = None, sys.stdin.buffer
    if (question is None) == (lines is None) or (question is not None and not question.strip()):
        raise StudyError("give a question, or a file of questions with -f, and not both")
    given = lines or [question.encode("utf-8", "surrogateescape")]
    kept = archive_index(names.dataset, names.profile, to)
    with Archive(kept) as archive:
        if any(archive.now.counts.values()):
            click.echo(f"the folder differs from its index: {archive.now}; run make index", err=True)
        for one in questions_in(given, getattr(lines, "name", "Q")):
            found = with_pictures(kept, archive.answer(one, k))
            yield json.dumps(found) if as_json else written(found)


@command(
    option("--methods", default="bm25", show_default=True, help="names with spaces between, or all"),
    option("--chapter", default="", help="compare a chapter's tables instead"),
)
def verify(names: Names, methods: str, chapter: str) -> None:
    """Compute results again and compare them row by row with the published ones."""
    from extras.publish.verify import verify, verify_chapter

    if not (verify_chapter(names, chapter) if chapter else verify(names, methods)):
        raise StudyError("the published results were not reproduced; the rows that differ are named above")


@commands.command()
def pin() -> None:
    """Write the SHA-256 of the hub's models into the lock file, where it has none."""
    from extras.pin import pin

    pin(click.echo)


calls(
    "measure",
    "extras.measure:measure",
    option("--methods", "names", default="all", show_default=True, help="names with spaces between"),
    chapter="measure",
    said="measured: {}",
)
calls("publish", "extras.publish.publish:publish", said="published: {}")
calls("preflight", "extras.preflight:preflight")
calls(
    "page-scorer",
    "extras.page_scorer.train:train_folds",
    option("--by", type=Choice(["company", "filing"]), multiple=True, default=("company", "filing")),
    option("--fold", "number", type=IntRange(min=0), help="only the fold with this number"),
    chapter="04_page_scorer",
)
DEPTH = option("-k", "--k", type=COUNT, default=5, show_default=True, help="depth of the metrics")
calls("mistakes", "extras.page_scorer.mistakes:train_mistakes", DEPTH, chapter="04_page_scorer")
TRAINED = "trained on {0[n_questions]} questions of {0[n_companies]} companies"
calls("train-ahead", "extras.ahead.train:train", chapter="07_ahead", said=TRAINED)
calls(
    "train-preference",
    "extras.preference.train:run",
    option("--fold", "only", type=IntRange(min=0), help="only the fold with this number"),
    chapter="preference",
)


def main() -> None:
    """Run the command that the arguments name."""
    sys.stdout.reconfigure(errors="backslashreplace")  # of a locale that lacks letters
    sys.exit(commands())


if __name__ == "__main__":
    main()

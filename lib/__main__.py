"""The command line: ``retrieval-gap book`` and the others, or ``python -m lib book``; ``--help`` lists them.

A command imports what it calls only when it runs, as some of it loads models' libraries, which takes seconds.
"""

import json
import os
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click
import yaml
from click import Choice, IntRange, argument, echo, option

from lib.files import fix_of, write_atomically
from lib.options import named_runs, open_named, study_options
from lib.schema import Names, StudyError

if TYPE_CHECKING:
    import pandas as pd

PATH, FILE = click.Path(path_type=Path), click.Path(path_type=Path, exists=True)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)
COUNT = IntRange(min=1)
index_folder = option("--to", type=PATH, help="folder of the index, in place of one among the artifacts")
depth = option("-k", "--k", type=COUNT, default=5, show_default=True, help="depth of the metrics")
one_fold = option("--fold", type=IntRange(min=0), help="only the fold with this number")


class Commands(click.Group):
    """Commands in the order of their declaration; an error that a person can correct is one sentence with status 1."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except StudyError as error:
            message = str(error)
        except OSError as error:
            if not (fix := fix_of(error.errno)):
                raise
            message = f"{error.filename or context.invoked_subcommand}: {error.strerror}; {fix}"
        echo(f"error: {message}", err=True)
        context.exit(1)


@click.group(cls=Commands, context_settings={"max_content_width": 120})
def commands() -> None:
    """Retrieval Gap: where evidence gets lost when RAG answers questions over long filings.

    Completion: eval "$(_RETRIEVAL_GAP_COMPLETE=bash_source retrieval-gap)"; zsh_source and fish_source are the others.
    """


@commands.command()
@study_options
@argument("files", type=FILE, nargs=-1)
@option("--run", "named", metavar="NAME=FILE", multiple=True, help="a run with a name of its own")
@option("--pages-from", type=Choice(["", "0", "1"]), default="", help="number of a filing's first page, else inferred")
@option("--condition", type=Choice(["", "standard", "oracle-document"]), default="", help="of the runs, else inferred")
@option("-k", "--k", type=COUNT, default=5, show_default=True, help="passages that are read")
@option("--out", type=NEW_FILE, help="the page, in place of one among the artifacts")
def diagnose(
    names: Names, files: list[Path], named: list[str], pages_from: str, condition: str, k: int, out: Path | None
) -> None:
    """Show where any systems lose evidence. FILES are their runs, named by file; book/measure.md lists formats."""
    from lib.diagnose.diagnosis import diagnose
    from lib.diagnose.page import file_name

    runs = named_runs(files, named)
    first = int(pages_from) if pages_from else None
    diagnosis = diagnose(runs, names.dataset, names.questions, names.profile, first, k, condition)
    echo(diagnosis.to_text(get_terminal_size((120, 24)).columns))
    page = write_atomically(out or diagnosis.study.home / file_name(diagnosis.runs), diagnosis.to_html())
    echo(f"the page: {page.resolve()}")


@commands.command()
@study_options
@argument("question", required=False)
@option("-k", "--k", type=COUNT, default=5, show_default=True, help="pages")
@option("-f", "--questions-file", "lines", type=click.File("rb"), help="a file of questions, one a line, or -")
@option("--json", "as_json", is_flag=True, help="a line of JSON for each question")
@index_folder
def ask(
    names: Names, question: str | None, k: int, lines: Iterable[bytes] | None, as_json: bool, to: Path | None
) -> None:
    """Answer from an indexed folder where a table's figure is sure, and print the pages that fit best."""
    from lib.archive.ask import Archive, answer_text, questions_in, with_pictures
    from lib.archive.index import archive_index

    if question == "-":
        question, lines = None, sys.stdin.buffer
    if (question is None) == (lines is None) or (question is not None and not question.strip()):
        raise StudyError("give a question, or a file of questions with -f, and not both")
    given = lines or [question.encode("utf-8", "surrogateescape")]
    files = archive_index(names.dataset, names.profile, to)
    with Archive(files) as archive:
        if any(archive.difference.counts.values()):
            echo(f"the folder differs from its index: {archive.difference}; run make index", err=True)
        for one in questions_in(given, getattr(lines, "name", "Q")):
            answer = with_pictures(files, archive.answer(one, k))
            echo(json.dumps(answer) if as_json else answer_text(answer))


@commands.command()
@study_options
@index_folder
def index(names: Names, to: Path | None) -> None:
    """Index a folder of filings, PDFs or page text, filing by filing; resumes where it stopped."""
    from lib.archive.index import archive_index, write_index
    from lib.archive.search_data import search_data
    from lib.archive.sources import passed_over

    archive = archive_index(names.dataset, names.profile, to)
    before, done = write_index(archive, partial(echo, err=True))
    left_out = before.left_out + [problem for problem in done["problem"] if problem]
    for problem in left_out:
        echo(f"left out: {problem}", err=True)
    for message in done.loc[done["problem"] == "", "unread"].explode().dropna():
        echo(f"not read: {message}", err=True)
    indexed, changes, others = archive.names(), str(before), passed_over(archive.root)
    if indexed:
        search_data(archive, indexed)
    if not (indexed or left_out or changes):
        put = "put PDFs into it, or see the dataset layout in book/reproduce.md"
        raise StudyError(f"{archive.root} has no filings; {'; '.join(f'not read: {line}' for line in others) or put}")
    for line in others:
        echo(f"not read: {line}", err=True)
    changes = "".join(f", {words}" for words in (changes, left_out and f"{len(left_out)} left out") if words)
    read = f"{done['n_pages'].sum()} pages of {len(done)} filings"
    echo(f"{archive.folder}: {len(indexed)} filings{changes}; read now: {read}")


@commands.command()
@argument("folder", type=PATH)
def new(folder: Path) -> None:
    """Start a dataset in FOLDER: write document information from the filings' covers, and a file for questions."""
    from lib.data.skeleton import new_folder, told

    echo(told(folder, new_folder(folder)))


@commands.command()
@study_options
@option("--jobs", type=IntRange(min=0), default=0, help="chapters at the same time; 0 chooses")
def book(names: Names, jobs: int) -> None:
    """Run every chapter and compile the book."""
    from extras.preflight import preflight
    from lib.book.build import build_book

    build_book(names, jobs, preflight)


@commands.command()
@study_options
@argument("name")
@option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="a parameter, as YAML")
def notebook(names: Names, name: str, parameters: list[tuple[str, str]]) -> None:
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
            raise StudyError(f"{key} is {value!r}; give its value as YAML, such as 5 or [bm25, dense]") from None
    folder = ARTIFACTS / "reruns" / f"{name}-{digest_of(given)[:12]}"
    os.environ[OUTPUTS_VARIABLE] = str(folder)
    executed = notebooks.run(name, given, folder / "notebooks")
    echo(f"executed notebook: {executed}")
    if (tables := folder / "tables").is_dir():
        echo(f"its tables, as CSV: {tables}")


@commands.command()
def methods() -> None:
    """Print the method table."""
    from lib.methods import METHODS

    for method in METHODS.values():
        echo(f"{method.name:18} {method.pipeline}")


@commands.command()
@study_options
@option("--methods", default="all", show_default=True, help="names with spaces between")
def measure(names: Names, methods: str) -> None:
    """Compute runs and metrics without a book, one method after another; a killed run resumes."""
    from extras.measure import measure

    study = open_named(names, "measure")
    with study.alone():
        echo(f"measured: {measure(study, methods)}")


@commands.command()
@study_options
@option("--methods", default="bm25", show_default=True, help="names with spaces between, or all")
@option("--chapter", default="", help="compare a chapter's tables instead")
def verify(names: Names, methods: str, chapter: str) -> None:
    """Recompute results and compare them row by row with the published ones."""
    from extras.publish.verify import verify, verify_chapter

    if not (verify_chapter(names, chapter) if chapter else verify(names, methods)):
        raise StudyError("the published results were not reproduced; the rows that differ are named above")


@commands.command()
@study_options
def publish(names: Names) -> None:
    """Copy the results of a whole run to book/results/, where later runs use them instead of computing."""
    from extras.publish.publish import publish

    echo(f"published: {publish(open_named(names))}")


@commands.command()
@study_options
def results(names: Names) -> None:
    """Pack all results of a built book, runs of every set and condition, into one file among the artifacts."""
    from lib.book.downloads import write_archive

    echo(f"all results: {write_archive(open_named(names))}")


@commands.command()
@study_options
def preflight(names: Names) -> None:
    """Report what a profile downloads, whether GPU and disk suffice, and roughly how long it takes."""
    from extras.preflight import preflight

    preflight(open_named(names))


@commands.command()
def pin() -> None:
    """Write the SHA-256 of the hub's models into the lock file, where it has none."""
    from extras.pin import pin

    pin(echo)


@commands.command()
@study_options
@option("--by", type=Choice(["company", "filing"]), multiple=True, default=("company", "filing"))
@one_fold
def page_scorer(names: Names, by: list[str], fold: int | None) -> None:
    """Train and score the folds of the page scorer."""
    from extras.page_scorer.train import train_folds

    train_folds(open_named(names, "04_page_scorer"), by, fold)


@commands.command()
@study_options
@depth
def mistakes(names: Names, k: int) -> None:
    """Measure what evaluation mistakes add to the page scorer: hours of training; resumes where it stopped."""
    from extras.page_scorer.mistakes import train_mistakes

    echo_frame(train_mistakes(open_named(names, "04_page_scorer"), k))


@commands.command()
@study_options
def train_ahead(names: Names) -> None:
    """Train the page rankers used on other filings, and save them in lib/ahead/model."""
    from extras.ahead.train import train

    record = train(open_named(names, "07_ahead"))
    echo(f"trained on {record['n_questions']} questions of {record['n_companies']} companies")


@commands.command()
@study_options
@one_fold
def train_preference(names: Names, fold: int | None) -> None:
    """Train the generator on preference pairs in folds by company, and compare its answers."""
    from extras.preference.train import run

    echo_frame(run(open_named(names, "preference"), fold))


def echo_frame(frame: "pd.DataFrame") -> None:
    """Print a frame."""
    echo(frame.to_string(index=False, float_format="%.3g"))


def main() -> None:
    """Run the command that the arguments name."""
    sys.stdout.reconfigure(errors="backslashreplace")  # of a locale that lacks letters
    sys.exit(commands())


if __name__ == "__main__":
    main()

"""The command line: ``python -m lib book`` and the others; ``python -m lib --help`` lists them."""

import os
import sys

import click
import yaml

from extras.commands import COMMANDS
from lib.files import exclusively, mend_of
from lib.options import Names, study_options
from lib.words import StudyError


class OneSentence(click.Group):
    """Commands whose errors that a person can correct end in one sentence."""

    def invoke(self, context: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(context)
        except StudyError as error:
            message = str(error)
        except OSError as error:
            if not (mend := mend_of(error.errno)):
                raise
            message = f"{error.filename or context.invoked_subcommand}: {error.strerror}; {mend}"
        click.echo(f"error: {message}", err=True)
        context.exit(1)


@click.group(cls=OneSentence, context_settings={"max_content_width": 120})
def commands() -> None:
    """Retrieval Gap: where evidence gets lost when RAG answers questions over long filings."""


@commands.command()
@study_options
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="chapters at the same time; 0 decides")
def book(names: Names, jobs: int) -> None:
    """Run every chapter and compile the book."""
    from extras.preflight import preflight
    from lib.book.build import build_book
    from lib.frames import ARTIFACTS

    with exclusively(ARTIFACTS / "locks" / "book", click.echo):
        build_book(names, jobs, preflight)


@commands.command()
@click.argument("name")
@study_options
@click.option(
    "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="a parameter, its value as YAML"
)
def notebook(names: Names, name: str, parameters: list[tuple[str, str]]) -> None:
    """Run one chapter with changed parameters, beside the book's own run."""
    from lib.book import notebooks
    from lib.files import digest_of
    from lib.frames import ARTIFACTS
    from lib.studies import OUTPUTS_VARIABLE

    given = names._asdict()
    for key, value in parameters:
        try:
            given[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise StudyError(
                f"{key} is {value!r}: give its value as YAML, such as 5 or [bm25, dense]"
            ) from None
    folder = ARTIFACTS / "reruns" / f"{name}-{digest_of(given)[:12]}"
    os.environ[OUTPUTS_VARIABLE] = str(folder)
    click.echo(f"executed notebook: {notebooks.run(name, given, folder / 'notebooks')}")


@commands.command()
def methods() -> None:
    """Print the method table."""
    from lib.methods import METHODS

    for method in METHODS.values():
        click.echo(f"{method.name:18} {method.pipeline}")


for command in COMMANDS:
    commands.add_command(command)

if __name__ == "__main__":
    sys.exit(commands(prog_name="python -m lib"))

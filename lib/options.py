"""The names of a study, as commands and checks give them, and what every command of :mod:`lib.__main__` has."""

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click import Choice, option

from lib.files import mend_of
from lib.schema import StudyError

if TYPE_CHECKING:
    from lib.study import Study

RESULTS = ("published", "fresh")
FIRST = ["diagnose", "ask", "index", "book"]  # the commands for everybody
STUDY = (
    option("--dataset", default="", help="financebench, demo or a folder; else what is available"),
    option("--profile", default="default", show_default=True, help="a name or a .yaml file"),
    option("--results", type=Choice(RESULTS), default=RESULTS[0], show_default=True),
    option("--questions", default="", help="another set over the dataset: a folder or a published one"),
)


class Names(NamedTuple):
    """The names of a study, see :func:`lib.studies.open_study`."""

    dataset: str = ""
    profile: str = "default"
    results: str = "published"
    questions: str = ""

    def open(self, chapter: str = "") -> "Study":
        """The study; ``chapter`` is the asking chapter, for the log of stages."""
        from lib.studies import open_study

        return open_study(**self._asdict(), chapter=chapter)


def named_runs(files: Iterable[Path | str], named: Iterable[str] = ()) -> dict[str, Path]:
    """Runs from outside by name: of files, which have their own without endings, and of texts ``name=file``."""
    pairs = [(Path(Path(file).name.removesuffix(".gz")).stem, file) for file in files]
    pairs += [(name, file) for name, _, file in (one.partition("=") for one in named)]
    if not pairs or len(dict(pairs)) < len(pairs) or not all(name and file for name, file in pairs):
        raise StudyError("give a run's file, or --run name=file; where there are several, each with a name of its own")
    return {name: Path(file) for name, file in pairs}


class OneSentence(click.Group):
    """Commands whose errors that a person can correct end in one sentence; help lists FIRST first."""

    def list_commands(self, context: click.Context) -> list[str]:
        return FIRST + sorted(self.commands.keys() - FIRST)

    def invoke(self, context: click.Context) -> object:
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
    """Retrieval Gap: where evidence gets lost when RAG answers questions over long filings.

    Completion: eval "$(_RETRIEVAL_GAP_COMPLETE=bash_source retrieval-gap)"; zsh_source and fish_source are the others.
    """


def command(*options: Callable, name: str | None = None) -> Callable:
    """Declare a command over a study: a function of its Names and of options, which gives a line, lines or a frame."""

    def declare(function: Callable) -> click.Command:
        @wraps(function)
        def run(dataset: str, profile: str, results: str, questions: str, **given: object) -> None:
            found = function(Names(dataset, profile, results, questions), **given)
            if hasattr(found, "to_string"):
                found = found.to_string(index=False, float_format="%.3g")
            for line in [found] if isinstance(found, str) else found or []:
                click.echo(line)

        for declared in reversed((*options, *STUDY)):
            run = declared(run)
        return commands.command(name)(run)

    return declare

"""What commands share: the options that name a study."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from lib.study import Study


RESULTS = ("published", "fresh")


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


def study_options(function: Callable) -> Callable:
    """The options that name a study; the command gets them as its first argument, Names."""

    @click.option("--dataset", default="", help="financebench, demo or a folder; else what is available")
    @click.option("--profile", default="default", show_default=True, help="a name or a .yaml file")
    @click.option("--results", type=click.Choice(RESULTS), default=RESULTS[0], show_default=True)
    @click.option("--questions", default="", help="another set over the dataset: a folder or a published one")
    @wraps(function)
    def command(dataset: str, profile: str, results: str, questions: str, **others: object) -> None:
        function(Names(dataset, profile, results, questions), **others)

    return command

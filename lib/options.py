"""What commands share: the options that name a study."""

from collections.abc import Callable

import click


def study_options(function: Callable) -> Callable:
    """The options that name a study."""
    which = click.Choice(["published", "fresh"])
    for option in (
        click.option("--results", type=which, default="published", show_default=True),
        click.option("--profile", default="default", show_default=True, help="a name or a .yaml file"),
        click.option("--dataset", default="", help="financebench, demo or a folder; else what is available"),
    ):
        function = option(function)
    return function


def opened(dataset: str, profile: str, results: str, chapter: str = ""):
    """The study that a command names; ``chapter`` is the asking chapter, for the log of stages."""
    from lib.studies import open_study

    return open_study(dataset, profile, results, chapter)

"""What the commands ``python -m lib.…`` share: a study to open, and one sentence for an error that one can mend."""

import argparse
import sys
from collections.abc import Callable

from lib.words import StudyError


def study_parser(module: str, description: str, profile: str = "default") -> argparse.ArgumentParser:
    """A command line that names a study.

    Args:
        module: such as ``lib.answers.answers``.
        description: what the command does.
        profile: taken where none is said.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument(
        "--dataset", default="", help="financebench, demo or a folder; empty: the first there is"
    )
    parser.add_argument("--profile", default=profile)
    parser.add_argument("--results", default="published", choices=["published", "fresh"])
    return parser


def open_study(args: argparse.Namespace, chapter: str):
    """The study that a command line names; ``chapter`` is who asks, for the log of stages."""
    from lib.study import Study

    return Study.open(args.dataset, args.profile, args.results, chapter=chapter)


def status_of(function: Callable[[argparse.Namespace], None], args: argparse.Namespace) -> int:
    """Run a command; 0, or 1 where it ended in an error that a person can mend, which is told in one sentence."""
    try:
        function(args)
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0

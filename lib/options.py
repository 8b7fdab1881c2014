"""The names of a study and of runs from outside, as commands and checks give them."""

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

from click import Choice, option

from lib.schema import USES, Names, StudyError

if TYPE_CHECKING:
    from lib.study import Study


def open_named(names: Names, chapter: str = "") -> "Study":
    """The study of these names; ``chapter`` is the asking chapter, for the log of stages."""
    from lib.studies import open_study

    return open_study(**names._asdict(), chapter=chapter)


def study_options(command: Callable) -> Callable:
    """Give a command the options that name a study; its function receives them as Names, its first argument."""

    @option("--dataset", default="", help="financebench, demo or a folder; else what is available")
    @option("--profile", default="default", show_default=True, help="a name or a .yaml file")
    @option("--results", type=Choice(USES), default=USES[0], show_default=True)
    @option("--questions", default="", help="another set over the dataset: a folder or a published one")
    @wraps(command)
    def with_names(dataset: str, profile: str, results: str, questions: str, **options: object) -> None:
        command(Names(dataset, profile, results, questions), **options)

    return with_names


def named_runs(files: Iterable[Path | str], named: Iterable[str] = ()) -> dict[str, Path]:
    """Runs from outside by name: files, named by their stem, and texts ``name=file``."""
    pairs = [(Path(Path(file).name.removesuffix(".gz")).stem, file) for file in files]
    pairs += [(name, file) for name, _, file in (text.partition("=") for text in named)]
    if not pairs or len(dict(pairs)) < len(pairs) or not all(name and file for name, file in pairs):
        raise StudyError("give the file of a run, or --run name=file; each of several runs needs a name of its own")
    return {name: Path(file) for name, file in pairs}

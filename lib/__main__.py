"""The command line: ``python -m lib book`` and the others; ``python -m lib --help`` lists them."""

import os
import sys
from collections.abc import Callable

import click
import yaml

from lib.words import StudyError


class OneSentence(click.Group):
    """Commands whose errors that a person can correct end in one sentence."""

    def invoke(self, context: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(context)
        except StudyError as error:
            click.echo(f"error: {error}", err=True)
            context.exit(1)


@click.group(cls=OneSentence, context_settings={"max_content_width": 120})
def commands() -> None:
    """Retrieval Gap: where evidence gets lost when RAG answers questions over long filings."""


def study_options(function: Callable) -> Callable:
    """The options that name a study."""
    for option in (
        click.option("--results", type=click.Choice(["published", "fresh"]), default="published", show_default=True),
        click.option("--profile", default="default", show_default=True, help="a profile's name or a .yaml file"),
        click.option("--dataset", default="", help="financebench, demo or a folder; empty: the first available"),
    ):
        function = option(function)
    return function


def opened(dataset: str, profile: str, results: str, chapter: str = ""):
    """The study that a command names; ``chapter`` is the asking chapter, for the log of stages."""
    from lib.studies import open_study

    return open_study(dataset, profile, results, chapter)


@commands.command()
@study_options
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="chapters at the same time; 0 decides")
def book(dataset: str, profile: str, results: str, jobs: int) -> None:
    """Run every chapter and compile the book."""
    from lib.book.build import build_book

    build_book(dataset, profile, results, jobs)


@commands.command()
@click.argument("name")
@study_options
@click.option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="a parameter, its value as YAML")
def notebook(name: str, dataset: str, profile: str, results: str, parameters: list[tuple[str, str]]) -> None:
    """Run one chapter with changed parameters, beside the book's own run."""
    from lib.book import notebooks
    from lib.files import digest_of
    from lib.studies import OUTPUTS_VARIABLE
    from lib.study import ARTIFACTS

    given = {"dataset": dataset, "profile": profile, "results": results}
    for key, value in parameters:
        try:
            given[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise StudyError(f"{key} is {value!r}: give its value as YAML, such as 5 or [bm25, dense]") from None
    folder = ARTIFACTS / "reruns" / f"{name}-{digest_of(given)[:12]}"
    os.environ[OUTPUTS_VARIABLE] = str(folder)
    click.echo(f"executed notebook: {notebooks.run(name, given, folder / 'notebooks')}")


@commands.command()
@study_options
def publish(dataset: str, profile: str, results: str) -> None:
    """Copy the results of a whole run to book/results/, where they are used in place of computing."""
    from lib.publish.publish import publish

    click.echo(f"published: {publish(opened(dataset, profile, results))}")


@commands.command()
@study_options
@click.option("--methods", default="bm25", help="names with spaces between, or all")
@click.option("--chapter", default="", help="compare a chapter's tables instead")
def verify(dataset: str, profile: str, results: str, methods: str, chapter: str) -> None:
    """Compute results again and compare them row by row with the published ones."""
    from lib.publish.verify import verify
    from lib.publish.verify_chapter import verify_chapter

    names = None if methods == "all" else methods.split()
    is_equal = verify_chapter(dataset, profile, chapter) if chapter else verify(dataset, profile, names, results)
    if not is_equal:
        raise StudyError("the published results were not reproduced; the rows that differ are named above")


@commands.command()
@study_options
def preflight(dataset: str, profile: str, results: str) -> None:
    """Report what a profile downloads, whether GPU and disk suffice, and roughly how long it takes."""
    from lib.models.preflight import preflight

    study = opened(dataset, profile, results)
    preflight(study.profile, len(study.dataset.filings), len(study.questions), study.home)


@commands.command()
def methods() -> None:
    """Print the method table."""
    from lib.methods import METHODS

    for method in METHODS.values():
        click.echo(f"{method.name:18} {method.pipeline}")


@commands.command()
@study_options
@click.option("--context", required=True, help="none, best-baseline, oracle-page, oracle-document, or a method")
@click.option("--k", default=5, show_default=True, help="depth that decides which baseline is best")
@click.option("--limit", type=int, help="only the first questions")
def answers(dataset: str, profile: str, results: str, context: str, k: int, limit: int | None) -> None:
    """Have the answers of one context written."""
    from extras.writing import write_answers

    click.echo(write_answers(opened(dataset, profile, results, "06_generation"), context, k, limit))


@commands.command()
@study_options
@click.option("--only", help="one kind of text; all by default")
def texts(dataset: str, profile: str, results: str, only: str | None) -> None:
    """Have the texts written that the rows of related studies search with."""
    from extras.writing import write_texts

    for line in write_texts(opened(dataset, profile, results, "08_siblings"), only):
        click.echo(line)


@commands.command()
@study_options
@click.option("--embed", type=click.Choice(["header", "written"]), help="encode the windows behind this context")
def contexts(dataset: str, profile: str, results: str, embed: str | None) -> None:
    """Have the filings' contexts written, or windows encoded with them."""
    from extras.writing import embed_contexts, write_contexts

    study = opened(dataset, profile, results, "08_siblings")
    click.echo(embed_contexts(study, embed) if embed else write_contexts(study))


@commands.command()
@study_options
def train_ahead(dataset: str, profile: str, results: str) -> None:
    """Train and save the page ranker that other filings are searched with."""
    from extras.ahead.train import train
    from lib.ahead.training import SAVED

    about = train(opened(dataset, profile, results, "07_ahead"))
    click.echo(f"trained on {about['n_questions']} questions of {about['n_companies']} companies; saved in {SAVED}")


@commands.command()
@study_options
def time_ahead(dataset: str, profile: str, results: str) -> None:
    """Measure the page ranker's seconds and memory."""
    from extras.ahead.timing import measure_times

    for name, value in measure_times(opened(dataset, profile, results, "07_ahead")).items():
        click.echo(f"{name}: {value:.1f}")


@commands.command()
@study_options
@click.option("--by", type=click.Choice(["company", "filing"]), multiple=True, default=("company", "filing"))
@click.option("--fold", type=click.IntRange(min=0), help="only the fold with this number")
def page_scorer(dataset: str, profile: str, results: str, by: tuple[str, ...], fold: int | None) -> None:
    """Train and score the folds of the page scorer."""
    from extras.page_scorer.train import train_folds

    train_folds(opened(dataset, profile, results, "04_page_scorer"), by, fold)


@commands.command()
@study_options
@click.option("-k", "--k", default=5, show_default=True, help="depth of the metrics")
def mistakes(dataset: str, profile: str, results: str, k: int) -> None:
    """Measure what evaluation mistakes add to the page scorer: hours of training, resumed where it stopped."""
    from extras.page_scorer.mistakes import train_mistakes

    click.echo(train_mistakes(opened(dataset, profile, results, "04_page_scorer"), k).to_string())


@commands.command()
@study_options
@click.option("--target", type=click.Path(file_okay=False), required=True, help="directory of the model")
def export_scorer(dataset: str, profile: str, results: str, target: str) -> None:
    """Train the page scorer on every question and write it with its card."""
    from extras.page_scorer.export import export_scorer, scores_of_folds

    study = opened(dataset, profile, results, "04_page_scorer")
    click.echo(f"exported: {export_scorer(study, scores_of_folds(study), target)}")


if __name__ == "__main__":
    sys.exit(commands(prog_name="python -m lib"))

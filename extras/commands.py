"""Commands beside the book, a part of ``python -m lib``."""

import sys
from pathlib import Path

import click

from lib.options import Names, study_options
from lib.words import StudyError


@click.command()
@study_options
@click.option(
    "--context", required=True, help="none, best-baseline, oracle-page, oracle-document, or a method"
)
@click.option(
    "--k",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="depth that decides which baseline is best",
)
@click.option("--limit", type=click.IntRange(min=1), help="only the first questions")
@click.option(
    "--prompt", "by", type=click.Choice(["plain", "rows"]), default="plain", help="rows: tables' rows to copy"
)
@click.option("--larger", is_flag=True, help="by the profile's larger generator")
@click.option("--numeric", is_flag=True, help="only the questions whose answer is a bare number")
def answers(
    names: Names, context: str, k: int, limit: int | None, by: str, larger: bool, numeric: bool
) -> None:
    """Have the answers of one context written."""
    from extras.writing import write_answers

    click.echo(write_answers(names.open("06_generation"), context, k, limit, by, larger, numeric))


@click.command()
@study_options
@click.option("--only", help="one kind of text; all by default")
def texts(names: Names, only: str | None) -> None:
    """Have the texts written that the rows of related studies search with."""
    from extras.writing import write_texts

    for line in write_texts(names.open("08_siblings"), only):
        click.echo(line)


@click.command()
@study_options
@click.option(
    "--embed", type=click.Choice(["header", "written"]), help="encode the windows behind this context"
)
def contexts(names: Names, embed: str | None) -> None:
    """Have the filings' contexts written, or windows encoded with them."""
    from extras.writing import embed_contexts, write_contexts

    study = names.open("08_siblings")
    click.echo(embed_contexts(study, embed) if embed else write_contexts(study))


@click.command()
@study_options
def train_ahead(names: Names) -> None:
    """Train and save the page rankers that other filings are searched with."""
    from extras.ahead.train import train
    from lib.ahead.search import SAVED

    about = train(names.open("07_ahead"))
    click.echo(
        f"trained on {about['n_questions']} questions of {about['n_companies']} companies; saved in {SAVED}"
    )


@click.command()
@study_options
@click.option("--by", type=click.Choice(["company", "filing"]), multiple=True, default=("company", "filing"))
@click.option("--fold", type=click.IntRange(min=0), help="only the fold with this number")
def page_scorer(names: Names, by: tuple[str, ...], fold: int | None) -> None:
    """Train and score the folds of the page scorer."""
    from extras.page_scorer.train import train_folds

    train_folds(names.open("04_page_scorer"), by, fold)


@click.command()
@study_options
@click.option(
    "-k", "--k", type=click.IntRange(min=1), default=5, show_default=True, help="depth of the metrics"
)
def mistakes(names: Names, k: int) -> None:
    """Measure what evaluation mistakes add to the page scorer: hours of training, resumed where it stopped."""
    from extras.page_scorer.mistakes import train_mistakes

    click.echo(train_mistakes(names.open("04_page_scorer"), k).to_string())


@click.command()
@study_options
@click.option("--cells", default="", help="such as '128-all-header 256-batch'; by default the profile's grid")
@click.option("--seed", "seeds", type=int, multiple=True, help="by default the profile's seeds")
@click.option("--fold", type=click.IntRange(min=0), help="only the fold with this number")
def scorer_experiments(names: Names, cells: str, seeds: tuple[int, ...], fold: int | None) -> None:
    """Train the page scorer by other recipes, cell by cell and fold by fold; resumed where it stopped."""
    from extras.page_scorer.experiments import train_cells

    for line in train_cells(names.open("04_page_scorer"), cells.split(), seeds, fold):
        click.echo(line)


@click.command()
@study_options
@click.option("--target", type=click.Path(file_okay=False), required=True, help="directory of the model")
def export_scorer(names: Names, target: str) -> None:
    """Train the page scorer on every question and write it with its card."""
    from extras.page_scorer.export import export_scorer, scores_of_folds

    study = names.open("04_page_scorer")
    click.echo(f"exported: {export_scorer(study, scores_of_folds(study), target)}")


@click.command()
@study_options
def benchmark(names: Names) -> None:
    """Measure how fast the parts are, each beside its reference."""
    from extras.benchmarks import run_and_keep

    click.echo(run_and_keep(names.open("benchmarks")).to_string())


@click.command()
@study_options
def speed(names: Names) -> None:
    """Measure encoders on each engine, and what a lower precision changes."""
    from extras.speed import measure_again

    click.echo(measure_again(names._replace(results="fresh").open("benchmarks")).to_string())


@click.command("time")
@study_options
@click.option("--methods", help="names, such as 'bm25 dense'; by default every row of the profile")
@click.option(
    "--n",
    "n_questions",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="questions, the same for all methods",
)
@click.option("--again", is_flag=True, help="time also what was timed before")
def time_methods(names: Names, methods: str | None, n_questions: int, again: bool) -> None:
    """Time the methods, warm and one question at a time; on an idle machine, resumed where it stopped."""
    from extras.timing import write_times
    from lib.methods import chosen, measured

    study = names.open("09_claims")
    rows = dict.fromkeys(name for name, condition in measured(study.profile) if condition == "standard")
    for line in write_times(study, chosen(methods, list(rows)), n_questions, again=again):
        click.echo(line)


@click.command()
@study_options
@click.option("--methods", default="all", show_default=True, help="names with spaces between")
def measure(names: Names, methods: str) -> None:
    """Compute runs and metrics without a book, one method after another; a killed run resumes."""
    from extras.measure import measure

    click.echo(f"measured: {measure(names.open('measure'), None if methods == 'all' else methods)}")


@click.command()
@study_options
def publish(names: Names) -> None:
    """Copy the results of a whole run to book/results/, where they are used in place of computing."""
    from extras.publish.publish import publish

    click.echo(f"published: {publish(names.open())}")


@click.command()
@study_options
@click.option("--methods", default="bm25", help="names with spaces between, or all")
@click.option("--chapter", default="", help="compare a chapter's tables instead")
def verify(names: Names, methods: str, chapter: str) -> None:
    """Compute results again and compare them row by row with the published ones."""
    from extras.publish.verify import verify, verify_chapter

    wanted = None if methods == "all" else methods.split()
    if not (verify_chapter(names, chapter) if chapter else verify(names, wanted)):
        raise StudyError("the published results were not reproduced; the rows that differ are named above")


@click.command()
@study_options
def preflight(names: Names) -> None:
    """Report what a profile downloads, whether GPU and disk suffice, and roughly how long it takes."""
    from extras.preflight import preflight

    preflight(names.open())


@click.command("pin")
def pin_() -> None:
    """Write the SHA-256 of the hub's models into the lock file, where it has none."""
    from extras.pin import pin

    pin(click.echo)


@click.command()
@study_options
@click.option(
    "--pages", type=click.Path(path_type=Path), required=True, help="page text of filings, as parquet"
)
@click.option("--seed", default=0, show_default=True, help="of every draw")
def silver(names: Names, pages: Path, seed: int) -> None:
    """Make training questions by rule from filings that no question is about."""
    from extras.silver.questions import write_silver

    made = write_silver(names.open(), pages, seed)
    click.echo(f"{len(made.questions)} questions about {len(made.filings)} filings")


@click.command("break")
@click.argument("part", type=click.Choice(["all", "inputs", "publication", "book"]), default="all")
def break_(part: str) -> None:
    """Try bad input, hostile text, faults and damage, and print what came of each."""
    import tempfile

    from extras.breaking import inputs, publication
    from extras.breaking.cases import run_cases

    parts = {"inputs": inputs.cases, "publication": publication.cases, "book": publication.book_cases}
    wanted = [cases for name, cases in parts.items() if part in ("all", name)]
    with tempfile.TemporaryDirectory(prefix="retrieval-gap-break-") as folder:
        outcomes = run_cases((case for cases in wanted for case in cases(Path(folder))), click.echo)
    if n_bad := sum(not one.is_good for one in outcomes):
        raise StudyError(f"{n_bad} of {len(outcomes)} cases are bad; they are named above")


@click.command()
@study_options
@click.option("--engine", type=click.Choice(["process", "ray"]), default="process", show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="of Ray")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    help="folder of the index, in place of one among the artifacts",
)
def index(names: Names, engine: str, workers: int, to: Path | None) -> None:
    """Index a folder of filings, PDFs or page text, filing by filing; resumed where it stopped."""
    from extras.archive.search import shards_of
    from extras.archive.shards import sources_of, write_shards

    root, shards = shards_of(names.dataset, names.profile, to)
    done = write_shards(shards, sources_of(root), engine, workers)
    for row in done[done["problem"] != ""].itertuples():
        click.echo(f"left out: {row.problem}", err=True)
    read = f"read now: {done['n_pages'].sum()} pages of {len(done)} filings"
    click.echo(f"{shards.folder}: {len(shards.names())} filings; {read}")


@click.command()
@click.argument("question")
@study_options
@click.option("-k", "--k", default=5, show_default=True, type=click.IntRange(min=1), help="pages")
def ask(names: Names, question: str, k: int) -> None:
    """Print the pages of an indexed folder that fit a question best; QUESTION is - to read questions line by line."""
    from extras.archive.search import Archive, picture, shards_of
    from lib.profile import load_profile

    root, shards = shards_of(names.dataset, names.profile)
    archive = Archive(shards, load_profile(names.profile))
    for asked in sys.stdin if question == "-" else [question]:
        for number, page in archive.ask(asked.strip(), k).iterrows():
            drawn = picture(root, page, shards.folder / "pictures") or "no picture: page text alone"
            click.echo(f"{number + 1}. {page['doc_name']}, page {page['page']}: {page['score']:.2f}; {drawn}")


@click.command()
@study_options
@click.option("--pages", type=click.Path(path_type=Path), required=True, help="page text of other filings")
@click.option("--to", "target", type=click.Path(path_type=Path, file_okay=False), required=True)
def collect(names: Names, pages: Path, target: Path) -> None:
    """Write a dataset with the same questions over these and other filings."""
    from extras.archive.collection import write_collection

    added, copies = write_collection(names.open(), pages, target)
    click.echo(f"{target}: {added} filings added, {copies} left out as copies of others")


larger_option = click.option(
    "--larger",
    type=click.Path(path_type=Path, exists=True),
    help="a folder of collect, indexed by make index",
)


@click.command()
@study_options
@larger_option
@click.option(
    "--methods", default="", help="rows of the method table, or ask; by default those of the chapter"
)
def growth(names: Names, larger: Path | None, methods: str) -> None:
    """Measure methods over growing parts of a collection; resumed where it stopped."""
    from extras.archive.growth import ROWS, measure, measure_asked, opened

    home = names.open()
    given, wanted = opened(home, larger), methods.split() or ROWS
    for found in measure_asked(home, *given) if methods == "ask" else measure(home, *given, wanted):
        first, mean = found.iloc[0], found[found["k"] == 5][["doc_recall", "page_recall"]].mean().round(3)
        part = f"{first['kind']} {first['draw']}, {first['n_filings']} filings, {first['method']}"
        click.echo(f"{part}: {mean.to_dict()}")


@click.command()
@study_options
@larger_option
@click.option("--names", "wanted", default="", help="of stores; by default all")
def stores(names: Names, larger: Path | None, wanted: str) -> None:
    """Compare stores for vectors side by side: exact, Chroma, its server, LanceDB."""
    from extras.archive.compare import STORES, write_stores
    from extras.archive.growth import opened

    home = names.open()
    home.need_filings("a comparison of stores")
    chosen = tuple(wanted.split(",")) if wanted else STORES
    found = write_stores(home, *opened(home, larger), chosen)
    click.echo(found.to_string(index=False, float_format="%.3g"))


@click.command()
@study_options
@larger_option
@click.option(
    "--beside", type=click.Path(path_type=Path, exists=True), help="compare an index in this folder"
)
def costs(names: Names, larger: Path | None, beside: Path | None) -> None:
    """Measure what each stage takes at growing sizes: seconds, memory, disk; or compare what two engines made."""
    from extras.archive.costs import write_costs, write_engines
    from extras.archive.growth import opened
    from extras.archive.shards import Shards

    home = names.open()
    collection, indexed = opened(home, larger)
    if beside and indexed:
        found = write_engines(home, indexed.shards, Shards(beside, indexed.shards.plan))
    else:
        found = write_costs(home, collection, indexed)
    click.echo(found.to_string(index=False, float_format="%.3g"))


COMMANDS = (
    index,
    ask,
    collect,
    growth,
    stores,
    costs,
    measure,
    publish,
    verify,
    break_,
    preflight,
    pin_,
    answers,
    texts,
    contexts,
    train_ahead,
    page_scorer,
    mistakes,
    scorer_experiments,
    export_scorer,
    benchmark,
    speed,
    time_methods,
    silver,
)

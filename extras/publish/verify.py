"""``make verify``: compute results again, from the PDFs on, and compare them row by row with what was published."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from extras.publish.compare import compare_approximate, compare_metrics, compare_runs, compare_tables
from extras.publish.follows import follows
from extras.publish.publish import files_of
from extras.publish.readme import not_of_results
from lib import files
from lib.book import notebooks
from lib.cache import Cache
from lib.chunkings.table import CHUNKINGS
from lib.data.layout import Dataset
from lib.data.locate import name_of, open_dataset
from lib.evaluation import SUMMARY_FILE, chunk_texts, evaluate, evaluate_given, merge_metrics, read_metrics
from lib.files import ARTIFACTS, INDEX, MANIFEST, digest_of_file, published_folders
from lib.method import STORED
from lib.method_sets import chosen
from lib.methods import METHODS
from lib.metrics.retrieval import METRICS as RETRIEVAL
from lib.models.encoders import PRECISION, fast_precision
from lib.profile import Settings, load_profile
from lib.published import METRICS_FILE, Published, TextsOnly
from lib.runs import trec_lines
from lib.schema import Names, StudyError
from lib.studies import OUTPUTS_VARIABLE, is_here
from lib.study import Study

N_NAMED = 5
TRAINED = ("page_scorer/scores", "page_scorer_light/scores")  # taken as published: these stages train models
FOLDER = "retrieval-gap-verify-"  # the beginning of temporary folders' names
NO_FILINGS = (
    "The filings are not here, so no method is run again. Checked instead: that the published files are those of the "
    "manifest, and what follows without text: shapes of runs, recall, ranked measures, losses, means and intervals. "
    "DATASET=financebench downloads the filings and runs the methods."
)


class TrainedOnly(Published):
    """Published results of which a study takes what language models wrote and the trained page scores."""

    def find(self, stage: str, key: str) -> tuple[Path, dict] | None:
        return super().find(stage, key) if stage.startswith(TRAINED) else None


def verify(named: Names, names: Sequence[str] | str, say=print) -> bool:
    """Whether a fresh computation gives the published rows, and the published means are those of the metrics.

    Args:
        named: the study. Without its texts here, recall and ranked measures of every published run are computed again.
            ``results`` is ``fresh`` to compute also the vectors and pair scores that this machine's models gave before.
        names: methods to compute again, or ``all``.

    Raises:
        StudyError: nothing was published, also of the methods; files are not the published ones, or the dataset here is
            another one.
    """
    published, names = published_of(named), chosen(None if names == "all" else names, otherwise=METHODS)
    methods = list(dict.fromkeys(method for _, method in published.runs))
    if not {*methods} & {*names}:
        raise StudyError(f"no run of {', '.join(names)} is published here; choose from {', '.join(methods)}")
    n_files = len(published.manifest["files"])
    signature = f"The manifest has the hashes of all {n_files} files; its own SHA-256 is {published.digest}."
    if not is_here(named.dataset, named.questions):
        say(f"{NO_FILINGS} {signature}")
        say_unpublished(published, (metric.name for metric in RETRIEVAL), say)
        return report_inconsistencies(inconsistencies(published), say)
    dataset = same_dataset(named, published)
    settings = load_profile(named.profile).for_sets(dataset.collection, dataset.name)
    with precision_of(published), study_of(dataset, settings, published, named) as study:
        precisions = settings.embedder.precision, settings.splade.precision
        if "auto" in precisions and fast_precision() != published.precision:
            say(f"Models are run in {published.precision}, as published, which is slow on this processor.")
        if named.results == "published":
            study.cache, study.index_folder = Cache(ARTIFACTS / "cache.sqlite"), ARTIFACTS / INDEX
        if any("generator" in METHODS[name].settings for name in names):
            say("What language models wrote is taken from the published generations; all else is computed.")
        say(signature)
        places = [(c, name) for name in names for c in METHODS[name].conditions if (c, name) in published.runs]
        parts, metrics = [], []
        for condition, name in places:
            run, compare = published.runs[condition, name], compare_runs
            if METHODS[name].family == STORED:
                compare = compare_approximate
            parts.append(compare(run, study.run(name, condition), name, condition))
            metrics.append(measured(study, run, parts[-1], name, condition))
        fresh = pd.concat(metrics)
        say_unpublished(published, fresh["metric"], say)
        rows = pd.concat([*parts, compare_metrics(published.metrics, fresh)], ignore_index=True)
        return report(rows, inconsistencies(published), say)


def say_unpublished(published: Published, metrics: Iterable[str], say: Callable[[str], None]) -> None:
    """Name those of some metrics that were added since the publication."""
    if names := sorted({*metrics} - {*published.metrics["metric"]}):
        say(f"Not published yet, so not compared: {', '.join(names)}")


def measured(study: Study, published: pd.DataFrame, rows: pd.DataFrame, method: str, condition: str) -> pd.DataFrame:
    """The metrics of a fresh run whose verdicts are ``rows``. Of a question of which chunks have changed places within
    the tolerance, and nothing differs, they are those of the published ranking."""
    fresh = evaluate(study, method, condition)
    then, now = (run.groupby("question_id")["chunk_id"].agg(tuple) for run in (published, study.run(method, condition)))
    reordered = {question for question in then.index if then[question] != now.get(question)}
    reordered -= {*rows.loc[rows["verdict"] == "differs", "question_id"]}
    if not reordered:
        return fresh
    texts = None if "evidence" in study.dataset.lacks else chunk_texts(study.with_chunks(study.method(method).chunking))
    of_published = evaluate_given(study, published, method, texts, condition)
    parts = fresh[~fresh["question_id"].isin(reordered)], of_published[of_published["question_id"].isin(reordered)]
    return pd.concat(parts)


@contextmanager
def precision_of(published: Published) -> Iterator[None]:
    """Models compute in the precision in which they gave the published results, whatever is fast on this processor."""
    before = os.environ.get(PRECISION)
    os.environ[PRECISION] = published.precision
    try:
        yield
    finally:
        os.environ.pop(PRECISION)
        if before is not None:
            os.environ[PRECISION] = before


@contextmanager
def study_of(dataset: Dataset, settings: Settings, published: Published, names: Names) -> Iterator[Study]:
    """A study that writes into a folder of its own, which is removed; others beside it are opened by ``names``."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        yield Study(dataset, settings, METHODS, CHUNKINGS, Path(folder), published, chapter="verify", names=names)


def verify_chapter(named: Names, chapter: str, say=print) -> bool:
    """Whether a chapter gives the published tables without published results, but with what this machine computed."""
    if chapter not in notebooks.chapters():
        raise StudyError(f"unknown chapter {chapter!r}; choose from {', '.join(notebooks.chapters())}")
    published = published_of(named)
    same_dataset(named, published)
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        os.environ[OUTPUTS_VARIABLE] = folder
        try:
            given = named._replace(dataset=named.dataset or "financebench", results="fresh")
            with precision_of(published):
                notebooks.run(chapter, given._asdict(), Path(folder) / "notebooks", say)
        finally:
            del os.environ[OUTPUTS_VARIABLE]
        return report(compare_tables(published.root / "shown/tables", Path(folder) / "tables", chapter, say), [], say)


def published_of(named: Names) -> Published:
    """The published results to compare with; a StudyError where nothing was, or files are not the published ones."""
    name = name_of(named.questions or named.dataset or "financebench")
    layer = TextsOnly if name == "demo" else TrainedOnly  # what is small is trained again
    published = layer.of(name, Path(named.profile).stem)
    if published is None:
        raise StudyError(f"nothing is published of {name} under profile {named.profile}; make publish does that")
    check_folder()
    check_files(published)
    return published


def same_dataset(named: Names, published: Published) -> Dataset:
    """The dataset on this machine; a StudyError where it is not the published one."""
    dataset, expected = (
        open_dataset(named.dataset or "financebench", named.questions),
        published.manifest["fingerprint"],
    )
    if dataset.fingerprint != expected:
        has = f"{dataset.root} has the fingerprint {dataset.fingerprint}, the published dataset {expected}"
        raise StudyError(f"{has}: the results cannot be compared")
    return dataset


def check_folder() -> None:
    """Refuse files under ``book/results`` that belong to no publication: a StudyError names them."""
    folders = {*published_folders()}
    others = [name for name, path in files_of(files.RESULTS).items() if not folders & {*path.parents}]
    refuse(files.RESULTS, [f"{name} belongs to no publication" for name in others])


def check_files(published: Published) -> None:
    """Refuse files and runs that are not those of the manifest: a StudyError names them."""
    hashes, there = published.manifest["files"], files_of(published.root)
    wrong = [f"{name} is missing" for name in sorted(hashes.keys() - there)]
    wrong += [f"{name} is not in the manifest" for name in sorted(there.keys() - hashes.keys() - {MANIFEST})]
    for name in sorted(hashes.keys() & there):
        if there[name].is_symlink() or not there[name].is_file() or digest_of_file(there[name]) != hashes[name]:
            wrong.append(f"{name} is not the published one")
    stored = {file["path"] for record in published.manifest["stages"] for file in record.get("files", {}).values()}
    wrong += [f"the stored file {path} is not in the manifest" for path in sorted(stored - hashes.keys())]
    if not wrong:
        runs = {
            ("/".join(of), hashlib.sha256(trec_lines(run, of[1])).hexdigest()) for of, run in published.runs.items()
        }
        others = runs ^ {(place, run["sha256"]) for place, run in published.manifest["runs"].items()}
        wrong = [f"the run {place} is not the one of the manifest" for place in sorted(dict(others))]
    refuse(published.root, wrong)


def refuse(root: Path, wrong: Sequence[str]) -> None:
    """A StudyError with what is wrong below a folder, if anything is."""
    if wrong:
        listed = "\n".join(f"  {line}" for line in wrong[:50])
        raise StudyError(f"{root}: {len(wrong)} files are not as published; restore them with git\n{listed}")


def inconsistencies(published: Published) -> list[str]:
    """What does not follow from the publication itself, without any text; for the README's, also its headline there."""
    wrong = list(follows(published))
    if published.root == files.RESULTS / "financebench" / "default":
        wrong += of_readme(Published(published.root), files.RESULTS.parents[1] / "README.md")
    return [f"differs: {line}" for line in wrong]


def of_readme(published: Published, readme: Path) -> list[str]:
    """What the README's headline has that the published results do not give."""
    names = Names(profile=published.manifest["profile"])
    settings = published.settings(load_profile(names.profile))
    with study_of(published.dataset(), settings, published, names) as study:
        study.write(SUMMARY_FILE, published.file(SUMMARY_FILE).read_bytes())
        merge_metrics(study, read_metrics(published.file(METRICS_FILE)))  # in the order that the outputs have
        try:
            return not_of_results(readme, study, published)
        except StudyError as error:
            return [f"{readme.name} cannot be compared: {error}"]


def report_inconsistencies(lines: Sequence[str], say=print) -> bool:
    """Print what differs, the first lines of many; whether nothing does."""
    for line in lines[:N_NAMED]:
        say(line)
    say(f"{len(lines)} differs" if lines else "all that follows without text is as published")
    return not lines


def report(rows: pd.DataFrame, inconsistent: Sequence[str], say=print) -> bool:
    """Print the verdicts by kind of row, and the largest differences or else what is ``inconsistent``; whether there
    are none."""
    kind = rows["what"].str.replace(r"^rank \d+$", "ranked chunks", regex=True).str.split("@").str[0]
    names = [rows["method"], rows["condition"], kind.rename("what")]
    table = pd.crosstab(names, rows["verdict"]).reindex(columns=["equal", "within", "differs"], fill_value=0)
    say(table.assign(tolerance=rows.groupby(names)["tolerance"].max()).to_string())
    largest = rows[rows["verdict"] == "differs"].sort_values("difference", ascending=False, kind="stable")
    for row in largest.head(N_NAMED).itertuples():
        where = f"{row.method}, {row.condition}, {row.question_id}, {row.what}"
        say(f"differs: {where}: published {row.published}, now {row.fresh}")
    counts = rows["verdict"].value_counts()
    say(", ".join(f"{counts.get(name, 0)} {name}" for name in ("equal", "within", "differs")))
    for line in inconsistent[:N_NAMED] if largest.empty else ():
        say(line)
    return largest.empty and not inconsistent

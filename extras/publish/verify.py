"""``make verify``: compute results again, from the PDFs on, and compare them row by row with what was published.

Verdicts: ``equal`` (a difference below EXACT, of ranked chunks RUN_EXACT), ``within`` a tolerance (of overlap and of
ranked chunks' scores), ``differs``.
"""

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from extras.publish.follows import follows
from extras.publish.publish import files_of
from extras.publish.readme import not_of_results
from lib import published as layout
from lib.book import notebooks
from lib.book.headline import READ
from lib.cache import Cache
from lib.chunkings.table import CHUNKINGS
from lib.data.layout import Dataset
from lib.data.locate import name_of, open_dataset
from lib.evaluation import (
    METRIC_COLUMNS,
    SUMMARY_FILE,
    chunk_texts,
    evaluate,
    evaluate_given,
    merge_metrics,
    read_metrics,
)
from lib.files import ARTIFACTS, INDEX, digest_of_file
from lib.method import STORED
from lib.method_sets import chosen
from lib.methods import METHODS
from lib.metrics import METRIC_TITLES, METRICS
from lib.models.encoders import PRECISION, fast_precision
from lib.options import Names
from lib.profile import Settings, load_profile
from lib.published import ANSWERS_FILE, MANIFEST, METRICS_FILE, Published
from lib.runs import trec_lines
from lib.schema import StudyError
from lib.studies import OUTPUTS_VARIABLE, is_here
from lib.study import Study

EXACT = 1e-9
RUN_EXACT = 1e-6  # of a ranked chunk's score, as a share of the spread of its list
LEAST_SPREAD = 0.1  # of a list, as a share of its largest score
TOLERANCES = {metric.name: metric.tolerance for metric in METRICS.values() if metric.tolerance}
TITLED = TOLERANCES | {METRIC_TITLES[name]: tolerance for name, tolerance in TOLERANCES.items()}
SCORE_TOLERANCE = 0.01  # of a ranked chunk's score, likewise: three times what another processor's bfloat16 changes
APART = 0.2  # share of chunks that one alone of two builds of an approximate index finds: twice the most that was seen
N_NAMED = 5
COMPARED = "method condition question_id what published fresh difference tolerance verdict".split()
TRAINED = ("page_scorer/scores", "page_scorer_light/scores")  # taken as published: these stages train models
TIMES = re.compile(r"\((?:s|ms|MiB)\)$|_s$|_ms$|seconds|Unit", re.IGNORECASE)
NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
FOLDER = "retrieval-gap-verify-"  # the beginning of temporary folders' names
NO_FILINGS = (
    "The filings are not here, so no method is run again. Checked instead: that the published files are those of the "
    "manifest, and what follows without text: shapes of runs, recall, ranked measures, losses, means and intervals. "
    "DATASET=financebench downloads the filings and runs the methods."
)


class TrainedOnly(Published):
    """Published results of which a study takes the trained page scores alone."""

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
    n_files, ran = len(published.manifest["files"]), dict.fromkeys(method for _, method in published.runs)
    signed = f"The manifest has the hashes of all {n_files} files; its own SHA-256 is {published.digest}."
    if not ran.keys() & set(names):
        raise StudyError(f"no run of {', '.join(names)} is published here: say one of {', '.join(ran)}")
    if not is_here(named.dataset, named.questions):
        say(f"{NO_FILINGS} {signed}")
        return told(apart(published), say)
    found = same_dataset(named, published)
    settings = load_profile(named.profile).for_sets(found.collection, found.name)
    with precision_of(published), study_of(found, settings, published) as study:
        say_precision(published, settings, say)
        if named.results == "published":
            study.cache, study.index_folder = Cache(ARTIFACTS / "cache.sqlite"), ARTIFACTS / INDEX
        if any("generator" in METHODS[name].settings for name in names):
            say("What language models wrote is taken from the published generations; all else is computed.")
        say(signed)
        wanted = [(name, c) for name in names for c in METHODS[name].conditions if (c, name) in published.runs]
        compare = {m: compare_found if METHODS[m].family == STORED else compare_runs for m in names}
        runs = {(m, c): compare[m](published.runs[c, m], study.run(m, c), m, c) for m, c in wanted}
        fresh = [measured(study, published.runs[c, m], rows, m, c) for (m, c), rows in runs.items()]
        rows = pd.concat([*runs.values(), compare_metrics(published.metrics, pd.concat(fresh))], ignore_index=True)
        return report(rows, apart(published), say)


def measured(study: Study, published: pd.DataFrame, rows: pd.DataFrame, method: str, condition: str) -> pd.DataFrame:
    """The metrics of a fresh run whose verdicts are ``rows``. Of a question of which chunks have changed places within
    the tolerance, and nothing differs, they are those of the published ranking."""
    found = evaluate(study, method, condition)
    before, now = (
        run.groupby("question_id")["chunk_id"].agg(tuple) for run in (published, study.run(method, condition))
    )
    moved = {question for question in before.index if before[question] != now.get(question)}
    moved -= {*rows.loc[rows["verdict"] == "differs", "question_id"]}
    if not moved:
        return found
    texts = None if "evidence" in study.dataset.lacks else chunk_texts(study.with_chunks(study.method(method).chunking))
    again = evaluate_given(study, published, method, texts, condition)
    return pd.concat([found[~found["question_id"].isin(moved)], again[again["question_id"].isin(moved)]])


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


def say_precision(published: Published, settings: Settings, say=print) -> None:
    """Tell where this processor is slow in the published results' precision."""
    if "auto" in (settings.embedder.precision, settings.splade.precision) and fast_precision() != published.precision:
        say(f"What models are asked again is computed in {published.precision}, as published; here that is slow.")


@contextmanager
def study_of(found: Dataset, settings: Settings, published: Published) -> Iterator[Study]:
    """A study that writes into a folder of its own, which is removed."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        yield Study(found, settings, METHODS, CHUNKINGS, Path(folder), published, chapter="verify")


def verify_chapter(named: Names, chapter: str, say=print) -> bool:
    """Whether a chapter gives the published tables without published results, but with what this machine computed."""
    if chapter not in notebooks.chapters():
        raise StudyError(f"no chapter {chapter!r}: say one of {', '.join(notebooks.chapters())}")
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
    found = TrainedOnly.of(name, Path(named.profile).stem)
    if found is None:
        raise StudyError(f"nothing is published of {name} under profile {named.profile}; make publish does that")
    check_folder()
    check_files(found)
    return found


def same_dataset(named: Names, published: Published) -> Dataset:
    """The dataset on this machine; a StudyError where it is not the published one."""
    found = open_dataset(named.dataset or "financebench", named.questions)
    expected = published.manifest["fingerprint"]
    if found.fingerprint != expected:
        has = f"{found.root} has the fingerprint {found.fingerprint}, the published dataset {expected}"
        raise StudyError(f"{has}: the results cannot be compared")
    return found


def check_folder() -> None:
    """Refuse what lies under ``book/results`` beside the publications' own folders: a StudyError names it."""
    known = {str(path.relative_to(layout.RESULTS)) for path in layout.RESULTS.glob(f"*/*/{MANIFEST}")}
    refuse(layout.RESULTS, unlisted(layout.RESULTS, known, {layout.RESULTS / Path(name).parent for name in known}))


def check_files(published: Published) -> None:
    """Refuse published files that are not the manifest's, and runs that it does not list: a StudyError names all."""
    root, known = published.root, published.manifest["files"]
    here = files_of(root)
    wrong = [f"{name} is missing" for name in sorted(known.keys() - here)]
    wrong += unlisted(root, {*known, MANIFEST})
    changed = (name for name in sorted(known.keys() & here) if digest_of_file(here[name]) != known[name])
    wrong += [f"{name} is not the published one" for name in changed]
    if not wrong:
        runs = {
            ("/".join(at), hashlib.sha256(trec_lines(run, at[1])).hexdigest()) for at, run in published.runs.items()
        }
        others = runs ^ {(place, run["sha256"]) for place, run in published.manifest["runs"].items()}
        wrong = [f"the run {place} is not the one of the manifest" for place in sorted(dict(others))]
    refuse(root, wrong)


def refuse(root: Path, wrong: Sequence[str]) -> None:
    """A StudyError with what is wrong below a folder, if anything is."""
    if wrong:
        listed = "\n".join(f"  {line}" for line in wrong[:50])
        raise StudyError(f"{root}: {len(wrong)} files are not as published; restore them with git\n{listed}")


def unlisted(root: Path, known: Collection[str], owned: Collection[Path] = ()) -> list[str]:
    """What lies below a folder, outside of ``owned`` ones, and is no known file; no link is followed."""
    wrong = []
    for folder, inner, files in os.walk(root):
        for path in sorted(Path(folder) / name for name in (*inner, *files)):
            name, mode = str(path.relative_to(root)), path.lstat().st_mode
            if stat.S_ISDIR(mode):
                wrong += [f"{name} is an empty folder"] if not any(path.iterdir()) else []
            elif not stat.S_ISREG(mode):
                wrong.append(f"{name} is a link or a device")
            elif name not in known:
                wrong.append(f"{name} is not in the manifest")
        inner[:] = [name for name in inner if Path(folder) / name not in owned]
    return wrong


def apart(published: Published) -> list[str]:
    """What does not follow from the publication itself, without any text; for the README's, also its headline there."""
    wrong = list(follows(published))
    if published.root == layout.RESULTS / "financebench" / "default":
        wrong += of_readme(Published(published.root), layout.RESULTS.parents[1] / "README.md")
    return [f"differs: {line}" for line in wrong]


def of_readme(published: Published, readme: Path) -> list[str]:
    """What the README's headline has that the published results do not give."""
    settings = published.settings(load_profile(published.manifest["profile"]))
    with study_of(published.dataset(), settings, published) as study:
        places = {name: name for name in (SUMMARY_FILE, ANSWERS_FILE)} | {name: f"shown/{name}" for name in READ}
        for name, place in places.items():
            if place in published.manifest["files"]:
                study.write(name, published.file(place).read_bytes())
        merge_metrics(study, read_metrics(published.file(METRICS_FILE)))  # in the order that the outputs have
        try:
            return not_of_results(readme, study, published)
        except StudyError as error:
            return [f"{readme.name} cannot be compared: {error}"]


def told(wrong: Sequence[str], say=print) -> bool:
    """Print what differs, the first lines of many; whether nothing does."""
    for line in wrong[:N_NAMED]:
        say(line)
    say(f"{len(wrong)} differs" if wrong else "all that follows without text is as published")
    return not wrong


def compare_metrics(published: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """Compare two metrics frames on the metrics that the fresh one has, see :func:`judged`; ``what`` is metric@k."""
    both = published.merge(fresh[["method", "condition", "metric"]].drop_duplicates())
    both = both.merge(fresh, on=METRIC_COLUMNS[:5], how="outer", suffixes=("_published", "_fresh"))
    difference = (both["value_fresh"] - both["value_published"]).abs()
    depth = both["k"].map(lambda k: "" if pd.isna(k) else f"@{k}")
    both = both.assign(what=both["metric"] + depth, tolerance=both["metric"].map(TOLERANCES).fillna(0.0))
    return judged(both, "value", difference)


def compare_runs(published: pd.DataFrame, fresh: pd.DataFrame, method: str, condition: str) -> pd.DataFrame:
    """Compare two runs rank by rank, see :func:`judged`; a difference is a share of the :func:`spread` of a question's
    published scores.

    Where another chunk is at a rank, its score is compared with the published score of that rank and with its own
    published score, or the least one where it was not ranked: two chunks of nearly one score may have changed places.
    Such a row is ``within`` at best. Where scores are no more than ranks, neighbours may have changed places.
    """
    both = published.merge(fresh, on=["question_id", "rank"], how="outer", suffixes=("_published", "_fresh"))
    lists = published.groupby("question_id")["score"]
    wide, least, step = (both["question_id"].map(lists.agg(of)) for of in (spread, "min", step_of_ranks))
    ranked = published.set_index(["question_id", "chunk_id"])["score"]
    own = ranked.reindex(pd.MultiIndex.from_frame(both[["question_id", "chunk_id_fresh"]])).set_axis(both.index)
    then, now = both["score_published"].astype(float), both["score_fresh"].astype(float)
    own = own.astype(float).fillna(least - step)
    difference = np.maximum((now - then).abs(), (now - own).abs())
    difference = (difference / wide).where(difference != 0, 0.0)
    is_same = both["chunk_id_published"] == both["chunk_id_fresh"]
    about = {"method": method, "condition": condition, "what": "rank " + both["rank"].astype(str)}
    about["tolerance"] = np.maximum(SCORE_TOLERANCE, np.where(is_same, 0.0, step / wide))
    for side in ("published", "fresh"):
        both[f"row_{side}"] = both[f"chunk_id_{side}"] + both[f"score_{side}"].map(" ({:.9g})".format)
    return judged(
        both.assign(**about), "row", difference.where(is_same, difference.clip(lower=2 * RUN_EXACT)), RUN_EXACT
    )


def compare_found(published: pd.DataFrame, fresh: pd.DataFrame, method: str, condition: str) -> pd.DataFrame:
    """Compare two runs of an approximate search chunk by chunk, see :func:`judged`: an index that is built again misses
    other chunks. A chunk of both is compared by its score, as :func:`compare_runs` does; one of a single run is
    ``within`` where no more than the share APART of the question's chunks is."""
    both = published.merge(fresh, on=["question_id", "chunk_id"], how="outer", suffixes=("_published", "_fresh"))
    then, now = both["score_published"].astype(float), both["score_fresh"].astype(float)
    wide = both["question_id"].map(published.groupby("question_id")["score"].agg(spread))
    is_apart = then.isna() | now.isna()
    share = is_apart.groupby(both["question_id"]).transform("mean")
    for side in ("published", "fresh"):
        both[f"row_{side}"] = both["chunk_id"] + both[f"score_{side}"].map(" ({:.9g})".format, na_action="ignore")
    rank = both["rank_published"].fillna(both["rank_fresh"]).astype(int).astype(str)
    about = {"method": method, "condition": condition, "what": "rank " + rank}
    about["tolerance"] = np.where(is_apart, APART, SCORE_TOLERANCE)
    return judged(both.assign(**about), "row", share.where(is_apart, (now - then).abs() / wide), RUN_EXACT)


def spread(scores: pd.Series) -> float:
    """The largest score less the least, and at least LEAST_SPREAD of the largest in size: one score alone, or some that
    are nearly equal, have no spread to compare by."""
    scores = scores.astype(float)
    return max(scores.max() - scores.min(), LEAST_SPREAD * scores.abs().max())


def step_of_ranks(scores: pd.Series) -> float:
    """1 where scores fall by 1 from rank to rank, as those of a method that orders what others have scored; else 0."""
    return float(len(scores) > 1 and (np.diff(scores.astype(float)) == -1).all())


def compare_tables(published: Path, fresh: Path, chapter: str, say=print) -> pd.DataFrame:
    """Compare a folder's tables with the published ones, see :func:`judged`; those of times are only named."""
    parts = []
    for path in sorted(fresh.glob("*.csv")):
        now = pd.read_csv(path, dtype=str, keep_default_na=False)
        if any(TIMES.search(column) for column in now):
            say(f"{path.stem}: holds times of one machine, not compared")
        elif not (published / path.name).is_file():
            say(f"{path.stem}: not published, as tables are that quote the dataset; not compared")
        else:
            then = pd.read_csv(published / path.name, dtype=str, keep_default_na=False)
            cells = pd.concat([then.stack(), now.stack()], axis=1, keys=["cell_published", "cell_fresh"])
            both = cells.rename_axis(["row", "what"]).reset_index()
            of_row = both["row"].map(now["metric"]).map(TITLED) if "metric" in now else 0.0
            about = {"method": chapter, "condition": path.stem, "tolerance": both["what"].map(TITLED).fillna(of_row)}
            about |= {"question_id": "row " + (both["row"] + 1).astype(str)}
            gaps = list(map(difference, both["cell_published"], both["cell_fresh"]))
            parts.append(judged(both.assign(**about).fillna({"tolerance": 0.0}), "cell", gaps))
    if not any(map(len, parts)):
        raise StudyError(f"{chapter} shows no table that can be compared")
    return pd.concat(parts, ignore_index=True)


def difference(published: str | None, fresh: str | None) -> float:
    """The largest difference of the numbers in two cells whose other text is the same; infinite where it is not."""
    if published == fresh:
        return 0.0
    if pd.isna(published) or pd.isna(fresh) or NUMBER.sub("#", published) != NUMBER.sub("#", fresh):
        return float("inf")
    then, now = ([float(n.replace("−", "-")) for n in NUMBER.findall(text)] for text in (published, fresh))
    return max(abs(a - b) for a, b in zip(then, now, strict=True))


def judged(both: pd.DataFrame, value: str, difference: Sequence[float], exact: float = EXACT) -> pd.DataFrame:
    """COMPARED of an outer merge with ``<value>_published`` and ``_fresh``; a row of one side alone differs."""
    both = both.rename(columns={f"{value}_published": "published", f"{value}_fresh": "fresh"})
    both = both.assign(difference=pd.Series(difference, both.index, dtype=float).fillna(float("inf")))
    limits = [both["difference"] <= exact, both["difference"] <= both["tolerance"]]
    return both.assign(verdict=np.select(limits, ["equal", "within"], "differs"))[COMPARED]


def report(rows: pd.DataFrame, apart: Sequence[str], say=print) -> bool:
    """Print the verdicts by kind of row, and the largest differences or those ``apart``; whether there are none."""
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
    for line in apart[:N_NAMED] if largest.empty else ():
        say(line)
    return largest.empty and not apart

"""``make verify``: compute results again, from the PDFs on, and compare them row by row with what was published.

Verdicts: ``equal`` (a difference below EXACT), ``within`` the metric's tolerance, ``differs``. What is only a ranking,
such as recall, has no tolerance: a page is found or it is not. Overlap scores may move in the last digits between
machines.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from lib.cache import Cache
from lib.chunkings.table import CHUNKINGS
from lib.data.locate import financebench_root, open_dataset
from lib.evaluation import METRIC_COLUMNS, evaluate
from lib.files import digest_of_file
from lib.methods import METHODS, chosen
from lib.metrics import METRICS
from lib.metrics.retrieval import retrieval_metrics
from lib.profile import load_profile
from lib.published import Published
from lib.runs import read_trec
from lib.study import ARTIFACTS, Study
from lib.words import StudyError

EXACT = 1e-9
TOLERANCES = {metric.name: metric.tolerance for metric in METRICS.values() if metric.tolerance}
SWAP_TOLERANCE = 3e-3  # of the scores of two chunks that changed places, relative
SCORE_TOLERANCE = 1e-3  # of a ranked chunk's score, relative
N_NAMED = 5
ROW = METRIC_COLUMNS[:5]
TRAINED = (
    "page_scorer/scores",
    "page_scorer_light/scores",
)  # stages that are taken as published: they train models


class TrainedOnly(Published):
    """Published results of which a study takes the trained page scores alone."""

    def copy_entry(self, stage: str, key: str, target: Path) -> dict | None:
        """See :meth:`lib.published.Published.copy_entry`."""
        return super().copy_entry(stage, key, target) if stage.startswith(TRAINED) else None


def verify(
    dataset: str, profile: str, names: Sequence[str] | None, results: str = "published", say=print
) -> bool:
    """Compare a fresh computation with the published results.

    Args:
        dataset: ``financebench`` (downloaded if it is not here), a path, or empty: FinanceBench where it is here, and
            else only what needs no text is computed again: recall and ranked measures of every published run.
        profile: the profile's name.
        names: methods to compute again; None for all.
        results: ``published`` to use vectors and pair scores that this machine's models gave before; ``fresh`` to
            compute these again, too.
        say: called with the table and the largest differences.

    Returns:
        Whether no row differs.

    Raises:
        StudyError: nothing was published, files are not the published ones, or the dataset here is another one.
    """
    published = published_of(dataset, profile)
    check_files(published)
    if not dataset and financebench_root() is None:
        say(
            "The filings are not here, so no method is run again. Checked instead: that the published files are those "
            "of the manifest, and that recall and ranked measures follow from the published runs and the gold pages. "
            "DATASET=financebench downloads the filings and runs the methods."
        )
        rows = compare_metrics(published.metrics, from_runs(published))
        runs = []
    else:
        with tempfile.TemporaryDirectory(prefix="retrieval-gap-verify-") as folder:
            study = fresh_study(dataset or "financebench", profile, published, Path(folder))
            if results == "published":
                study.cache = Cache(ARTIFACTS / "cache.sqlite")
            names = chosen(names, otherwise=METHODS)
            if any("generator" in METHODS[name].settings for name in names):
                say(
                    "What language models wrote is taken from the published generations; all else is computed."
                )
            wanted = [
                (name, condition)
                for name in names
                for condition in METHODS[name].conditions
                if f"{condition}/{name}" in published.manifest["runs"]
            ]
            fresh = pd.concat([evaluate(study, *pair) for pair in wanted], ignore_index=True)
            rows = compare_metrics(published.metrics, fresh)
            runs = [compare_runs(published_run(published, m, c), study.run(m, c), m, c) for m, c in wanted]
    rows = pd.concat([*runs, rows], ignore_index=True)
    report(rows, say)
    return not (rows["verdict"] == "differs").any()


def published_of(dataset: str, profile: str) -> Published:
    """The published results to compare with.

    Raises:
        StudyError: nothing was published of this dataset and profile.
    """
    name = Path(dataset or "financebench").name
    found = TrainedOnly.of(name, Path(profile).stem)
    if found is None:
        raise StudyError(f"nothing is published of {name} under profile {profile}; make publish does that")
    return found


def fresh_study(name: str, profile: str, published: Published, folder: Path) -> Study:
    """A study whose store is empty; from what is published it takes trained page scores and models' texts alone.

    Raises:
        StudyError: the dataset is not the published one.
    """
    found, settings = open_dataset(name), load_profile(profile)
    if found.fingerprint != published.manifest["fingerprint"]:
        raise StudyError(
            f"{found.root} has the fingerprint {found.fingerprint}, the published dataset "
            f"{published.manifest['fingerprint']}: the results cannot be compared"
        )
    settings = settings.replaced(settings.demo) if found.name == "demo" else settings
    return Study(found, settings, METHODS, CHUNKINGS, folder, published, chapter="verify")


def check_files(published: Published) -> None:
    """Make sure that the published files are those of the manifest.

    Raises:
        StudyError: naming every file that is missing, changed or not in the manifest.
    """
    root, known = published.root, published.manifest["files"]
    here = {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()}
    here.pop("manifest.json", None)
    wrong = [f"{name} is missing" for name in sorted(set(known) - set(here))]
    wrong += [f"{name} is not in the manifest" for name in sorted(set(here) - set(known))]
    wrong += [
        f"{name} is not the published one"
        for name in sorted(set(here) & set(known))
        if digest_of_file(here[name]) != known[name]
    ]
    if wrong:
        listed = "\n".join(f"  {line}" for line in wrong[:50])
        raise StudyError(f"{root}: {len(wrong)} files are not as published; restore them with git\n{listed}")


def published_run(published: Published, method: str, condition: str) -> pd.DataFrame:
    """One published run (RUN_COLUMNS)."""
    return read_trec(published.root / "runs" / condition / f"{method}.trec.gz")


def from_runs(published: Published) -> pd.DataFrame:
    """Recall and ranked measures of every published run (METRIC_COLUMNS), from gold pages alone."""
    ks, questions, parts = published.manifest["settings"]["metrics"]["ks"], published.dataset().questions, []
    for place in published.manifest["runs"]:
        condition, method = place.split("/")
        values = retrieval_metrics(published_run(published, method, condition), questions, ks)
        parts.append(values.assign(method=method, condition=condition))
    return pd.concat(parts, ignore_index=True)[METRIC_COLUMNS]


def compare_metrics(published: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """Compare two metrics frames on the metrics that the fresh one has.

    Returns:
        method, condition, question_id, what (metric and k), published, fresh, difference, verdict; a row that only one
        of them has differs.
    """
    kinds = ["method", "condition", "metric"]
    wanted = published.merge(fresh[kinds].drop_duplicates(), on=kinds)
    both = fresh.merge(wanted, on=ROW, how="outer", suffixes=("_fresh", "_published"))
    both["difference"] = (both["value_fresh"] - both["value_published"]).abs().fillna(float("inf"))
    tolerance = both["metric"].map(TOLERANCES).fillna(0.0)
    depth = both["k"].map(lambda k: "" if pd.isna(k) else f"@{k}")
    return both.assign(
        what=both["metric"] + depth,
        verdict=[verdict(*pair) for pair in zip(both["difference"], tolerance, strict=True)],
    ).rename(columns={"value_fresh": "fresh", "value_published": "published"})[
        ["method", "condition", "question_id", "what", "published", "fresh", "difference", "verdict"]
    ]


def compare_runs(published: pd.DataFrame, fresh: pd.DataFrame, method: str, condition: str) -> pd.DataFrame:
    """Compare two runs rank by rank.

    Another chunk at a rank differs, unless its score is so near that either order is a matter of rounding: vectors in
    bfloat16 depend a little on the batch that they were computed in.
    """
    keys = ["question_id", "rank"]
    both = published.merge(fresh, on=keys, how="outer", suffixes=("_published", "_fresh"))
    is_same = both["chunk_id_published"] == both["chunk_id_fresh"]
    gap = (both["score_fresh"] - both["score_published"]).abs() / both["score_published"].abs().clip(
        lower=EXACT
    )
    is_swapped = ~is_same & (gap <= SWAP_TOLERANCE)
    difference = gap.where(is_same, float("inf")).mask(is_swapped, SCORE_TOLERANCE)
    return pd.DataFrame(
        {
            "method": method,
            "condition": condition,
            "question_id": both["question_id"],
            "what": "rank " + both["rank"].astype(str),
            "published": both["chunk_id_published"],
            "fresh": both["chunk_id_fresh"],
            "difference": difference,
            "verdict": [verdict(value, SCORE_TOLERANCE, 1e-6) for value in difference],
        }
    )


def verdict(difference: float, tolerance: float, exact: float = EXACT) -> str:
    """``equal``, ``within`` or ``differs``."""
    return "equal" if difference <= exact else "within" if difference <= tolerance else "differs"


def report(rows: pd.DataFrame, say=print, tolerance: float | None = None) -> None:
    """Tell how many rows of each kind are equal, within tolerance, or differ, and name the largest differences.

    Args:
        rows: as compare_metrics and compare_runs give them.
        say: told.
        tolerance: of overlap scores, where ``what`` names no metric; by default each metric's own is told.
    """
    kind = rows["what"].str.replace(r"^rank \d+$", "ranked chunks", regex=True).str.split("@").str[0]
    table = pd.crosstab([rows["method"], rows["condition"], kind.rename("what")], rows["verdict"])
    table = table.reindex(columns=["equal", "within", "differs"], fill_value=0)
    if tolerance is None:
        known = TOLERANCES | {"ranked chunks": SCORE_TOLERANCE}
        table = table.assign(tolerance=table.index.get_level_values("what").map(known).fillna(0.0))
    say(table.to_string())
    if tolerance is not None:
        say(f"tolerance of BLEU and ROUGE-L: {tolerance}; of everything else: 0")
    largest = rows[rows["verdict"] == "differs"].sort_values("difference", ascending=False, kind="stable")
    for row in largest.head(N_NAMED).itertuples():
        where = f"{row.method}, {row.condition}, {row.question_id}, {row.what}"
        say(f"differs: {where}: published {row.published}, now {row.fresh}")
    counts = rows["verdict"].value_counts()
    say(", ".join(f"{counts.get(name, 0)} {name}" for name in ("equal", "within", "differs")))

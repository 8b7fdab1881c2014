"""Two computations of the same results compared row by row: metrics, runs, and tables of chapters.

Verdicts: ``equal`` (a difference below EXACT, of ranked chunks RUN_EXACT), ``within`` a tolerance (of overlap and of
ranked chunks' scores), ``differs``.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from lib.evaluation import METRIC_COLUMNS
from lib.metrics import METRIC_TITLES, METRICS
from lib.schema import StudyError

EXACT = 1e-9
RUN_EXACT = 1e-6  # of a ranked chunk's score, as a share of the spread of its list
LEAST_SPREAD = 0.1  # of a list, as a share of its largest score
TOLERANCES = {metric.name: metric.tolerance for metric in METRICS.values() if metric.tolerance}
TITLED = TOLERANCES | {METRIC_TITLES[name]: tolerance for name, tolerance in TOLERANCES.items()}
SCORE_TOLERANCE = 0.01  # of a ranked chunk's score, likewise: three times what another processor's bfloat16 changes
SINGLE = 0.2  # share of chunks that one alone of two builds of an approximate index finds: twice the most that was seen
COLUMNS = "method condition question_id what published fresh difference tolerance verdict".split()
TIMES = re.compile(r"\((?:s|ms|MiB)\)$|_s$|_ms$|seconds|Unit", re.IGNORECASE)
NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def compare_metrics(published: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """Compare two metrics frames on the metrics that both have, see :func:`judged`; ``what`` is metric@k."""
    fresh = fresh[fresh["metric"].isin(published["metric"].unique())]
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


def compare_approximate(published: pd.DataFrame, fresh: pd.DataFrame, method: str, condition: str) -> pd.DataFrame:
    """Compare two runs of an approximate search chunk by chunk, see :func:`judged`: an index that is built again misses
    other chunks. A chunk of both is compared by its score, as :func:`compare_runs` does; one of a single run is
    ``within`` where no more than the share SINGLE of the question's chunks is."""
    both = published.merge(fresh, on=["question_id", "chunk_id"], how="outer", suffixes=("_published", "_fresh"))
    then, now = both["score_published"].astype(float), both["score_fresh"].astype(float)
    wide = both["question_id"].map(published.groupby("question_id")["score"].agg(spread))
    is_single = then.isna() | now.isna()
    share = is_single.groupby(both["question_id"]).transform("mean")
    for side in ("published", "fresh"):
        both[f"row_{side}"] = both["chunk_id"] + both[f"score_{side}"].map(" ({:.9g})".format, na_action="ignore")
    rank = both["rank_published"].fillna(both["rank_fresh"]).astype(int).astype(str)
    about = {"method": method, "condition": condition, "what": "rank " + rank}
    about["tolerance"] = np.where(is_single, SINGLE, SCORE_TOLERANCE)
    return judged(both.assign(**about), "row", share.where(is_single, (now - then).abs() / wide), RUN_EXACT)


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
    """COLUMNS of an outer merge with ``<value>_published`` and ``_fresh``; a row of one side alone differs."""
    both = both.rename(columns={f"{value}_published": "published", f"{value}_fresh": "fresh"})
    both = both.assign(difference=pd.Series(difference, both.index, dtype=float).fillna(float("inf")))
    limits = [both["difference"] <= exact, both["difference"] <= both["tolerance"]]
    return both.assign(verdict=np.select(limits, ["equal", "within"], "differs"))[COLUMNS]

"""``make verify CHAPTER=…``: run one chapter again and compare its tables cell by cell with the published ones.

Nothing published is used; what this machine has computed before is, so that on a fresh clone everything is computed.
"""

import os
import re
import tempfile
from pathlib import Path

import pandas as pd

from lib.book import notebooks
from lib.data.locate import open_dataset
from lib.publish.verify import EXACT, TOLERANCES, report, verdict
from lib.published import Published
from lib.show.tables import METRIC_TITLES
from lib.studies import OUTPUTS_VARIABLE
from lib.words import StudyError

TIMES = re.compile(r"\((?:s|ms|MiB)\)$|_s$|_ms$|seconds|Unit", re.IGNORECASE)
TOLERANT = {*TOLERANCES, *(METRIC_TITLES[name] for name in TOLERANCES)}
TOLERANCE = max(TOLERANCES.values())
NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def verify_chapter(dataset: str, profile: str, chapter: str, say=print) -> bool:
    """Compare a chapter's tables with the published ones.

    Args:
        dataset: ``financebench``, ``demo``, a path, or empty for FinanceBench.
        profile: the profile's name.
        chapter: such as ``02_oracles``.
        say: told the table and the largest differences.

    Returns:
        Whether no cell differs.

    Raises:
        StudyError: nothing was published, the dataset here is another one, or the chapter failed.
    """
    name = dataset or "financebench"
    published = Published.of(Path(name).name, Path(profile).stem)
    if published is None:
        raise StudyError(f"nothing is published of {name} under profile {profile}; make publish does that")
    found = open_dataset(name)
    if found.fingerprint != published.manifest["fingerprint"]:
        raise StudyError(f"{found.root} is not the published dataset: the tables cannot be compared")
    with tempfile.TemporaryDirectory(prefix="retrieval-gap-verify-") as folder:
        before = os.environ.get(OUTPUTS_VARIABLE)
        os.environ[OUTPUTS_VARIABLE] = folder
        try:
            given = {"dataset": name, "profile": profile, "results": "fresh"}
            notebooks.run(chapter, given, Path(folder) / "notebooks", say)
        finally:
            os.environ.pop(OUTPUTS_VARIABLE) if before is None else os.environ.update(
                {OUTPUTS_VARIABLE: before}
            )
        rows = compare_tables(published.root / "shown" / "tables", Path(folder) / "tables", chapter, say)
    report(rows, say, TOLERANCE)
    return not (rows["verdict"] == "differs").any()


def compare_tables(published: Path, fresh: Path, chapter: str, say=print) -> pd.DataFrame:
    """Compare every table of ``fresh`` with the one of that name in ``published``; tables of times, and those that
    were not published, are only named.

    Returns:
        As :func:`lib.publish.verify.compare_metrics`: method (chapter), condition (table), question_id (row),
        what (the column), published, fresh, difference, verdict.
    """
    rows = []
    for path in sorted(fresh.glob("*.csv")):
        now = pd.read_csv(path, dtype=str, keep_default_na=False)
        if any(TIMES.search(column) for column in now):
            say(f"{path.stem}: holds times of one machine, not compared")
            continue
        if not (published / path.name).is_file():
            say(f"{path.stem}: not published, as tables are that quote the dataset; not compared")
            continue
        then = pd.read_csv(published / path.name, dtype=str, keep_default_na=False)
        for cell in _cells(then, now):
            rows.append({"method": chapter, "condition": path.stem, **cell})
    if not rows:
        raise StudyError(f"{chapter} shows no table that can be compared")
    return pd.DataFrame(rows)


def _cells(then: pd.DataFrame, now: pd.DataFrame):
    """Every cell that either table has, compared; a cell that only one has differs."""
    for row in range(max(len(then), len(now))):
        names = [str(frame["metric"].iloc[row]) for frame in (now,) if "metric" in frame and row < len(frame)]
        for column in dict.fromkeys([*now, *then]):
            old, new = (
                frame[column].iloc[row] if column in frame and row < len(frame) else None
                for frame in (then, now)
            )
            gap = difference(old, new)
            tolerance = TOLERANCE if {column, *names} & TOLERANT else 0.0
            yield {
                "question_id": f"row {row + 1}",
                "what": column,
                "published": old,
                "fresh": new,
                "difference": gap,
                "verdict": verdict(gap, tolerance),
            }


def difference(published: str | None, fresh: str | None) -> float:
    """The largest difference of the numbers in two cells whose other text is the same; infinite where it is not."""
    if published == fresh:
        return 0.0
    if published is None or fresh is None or NUMBER.sub("#", published) != NUMBER.sub("#", fresh):
        return float("inf")
    pairs = zip(NUMBER.findall(published), NUMBER.findall(fresh), strict=True)
    gap = max(abs(float(a.replace("−", "-")) - float(b.replace("−", "-"))) for a, b in pairs)
    return gap if gap > EXACT else 0.0

"""Rows of the method table that a published question set lacks, and what measuring them would cost.

The price is what a row took where it was timed, on FinanceBench's filings and two cores: seconds to index, scaled to
the set's pages, and seconds per question. What is written or trained beforehand comes on top.
"""

from collections.abc import Mapping

import pandas as pd

from lib.analysis.measured import TIME_COLUMNS, TIMES
from lib.chunkings import sizes
from lib.frames import read_csv
from lib.methods import METHODS, PAIRS, TEXTS, TRAINING
from lib.published import Published

TIMED_ON = "financebench"
#: What kind of row it is, the first that holds.
KINDS = {
    "asks a language model": lambda row: TEXTS in row.needs,
    "reads pairs with a cross-encoder": lambda row: PAIRS in row.needs,
    "is trained on questions": lambda row: TRAINING in row.needs,
    "searches chunks of another size": lambda row: row.chunking in sizes.NAMES,
    "searches chunks by elements or tables": lambda row: bool(row.chunking),
    "searches the study's own chunks": lambda row: True,
}
COLUMNS = ["set", "kind", "method", "minutes"]


def left_out(sets: Mapping[str, Published]) -> pd.DataFrame:
    """COLUMNS: rows that no run of a set, but the demo, is published of, and the minutes that one takes from nothing,
    NaN where neither it nor a row that it uses was timed."""
    if TIMED_ON not in sets or TIMES not in sets[TIMED_ON].manifest["files"]:
        return pd.DataFrame(columns=COLUMNS)
    times = read_csv(sets[TIMED_ON].file(TIMES))[TIME_COLUMNS].set_index("method")
    pages = {name: of.dataset().filings["n_pages"].sum() for name, of in sets.items() if name != "demo"}
    rows = []
    for name in pages:
        n, share = sets[name].manifest["n_questions"], pages[name] / pages[TIMED_ON]
        for row in METHODS.values():
            if f"standard/{row.name}" not in sets[name].manifest["runs"]:
                kind = next(kind for kind, holds in KINDS.items() if holds(row))
                rows.append((name, kind, row.name, _minutes(row.name, times, n, share)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _minutes(name: str, times: pd.DataFrame, n: int, share: float) -> float:
    """Of a row, or of the dearest of those that it uses or changes, beside which it takes seconds."""
    own = times.at[name, "index_s"] * share + times.at[name, "question_s"] * n if name in times.index else float("nan")
    others = {*METHODS[name].uses, METHODS[name].changes} - {"", name}
    beside = [_minutes(other, times, n, share) for other in others] if pd.isna(own) else [own / 60]
    return pd.Series(beside, dtype=float).max()


def by_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """:func:`left_out` by set and kind of row: how many, their names, and the fewest and most minutes of one."""
    groups = rows.groupby(["set", "kind"], sort=False)
    return groups.agg(
        rows=("method", "size"), fewest=("minutes", "min"), most=("minutes", "max"), methods=("method", ", ".join)
    ).reset_index()

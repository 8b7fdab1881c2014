"""Tables that were measured once, in a study's folder or as published; the times of methods.

Times were measured apart from the runs, all rows alike, by code that stands in commit d4ceab42: warm, one question at
a time, the same questions for every row.
"""

from pathlib import Path

import pandas as pd

from lib.study import Study
from lib.typed import read_csv

TIMES = "times.csv"
#: Medians and quartiles of seconds per question, mean tokens of a language model and pairs of a cross-encoder per
#: question, and seconds to index all filings (NaN where a stage was not timed).
TIME_COLUMNS = (
    "method n_questions question_s low_s high_s tokens_written tokens_read pairs_scored index_s machine"
).split()


def known_file(study: Study, name: str) -> Path | None:
    """A file of the study's own folder, or else of what was published; None where there is none."""
    path, published = study.home / name, study.published
    if not path.is_file() and published and name in published.manifest["files"]:
        path = published.file(name)
    return path if path.is_file() else None


def known_table(study: Study, name: str) -> pd.DataFrame | None:
    """A table of :func:`known_file`; None where there is none."""
    return read_csv(path) if (path := known_file(study, name)) else None


def times(study: Study) -> pd.DataFrame:
    """TIME_COLUMNS of the rows that were timed."""
    known = known_table(study, TIMES)
    return pd.DataFrame(columns=TIME_COLUMNS) if known is None else known

"""Tables that were measured once, in a study's folder or as published: times of methods, speeds of encoders.

Times were measured apart from the runs, all rows alike, by code that stands in commit d4ceab42: warm, one question at
a time, the same questions for every row.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from lib.frames import read_csv
from lib.models.weights import weights_hash
from lib.study import Study

TIMES = "times.csv"
#: Medians and quartiles of seconds per question, mean tokens of a language model and pairs of a cross-encoder per
#: question, and seconds to index all filings (NaN where a stage was not timed).
TIME_COLUMNS = (
    "method n_questions question_s low_s high_s tokens_written tokens_read pairs_scored index_s machine"
).split()
SPEEDS = "speed/encoders", 2  # stage and version
#: The encoders that are measured, and the tokens that each reads of a text.
MODELS = {"minilm": 256, "bge-small-int8": 256, "bge-small": 256}


def known_file(study: Study, name: str) -> Path | None:
    """A file of the study's own folder, or else of what was published; None where there is none."""
    path, published = study.home / name, study.published
    if not path.is_file() and published and name in published.manifest["files"]:
        path = published.file(name)
    return path if path.is_file() else None


def known_table(study: Study, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame | None:
    """A table of :func:`known_file`; where there is none, None, or no rows of the ``columns``."""
    path = known_file(study, name)
    return read_csv(path) if path else None if columns is None else pd.DataFrame(columns=columns)


def times(study: Study) -> pd.DataFrame:
    """TIME_COLUMNS of the rows that were timed."""
    return known_table(study, TIMES, TIME_COLUMNS)


def speeds(study: Study) -> pd.DataFrame | None:
    """How fast each of MODELS is by engine and precision, None where that was not measured: texts per second, also as a
    ``share`` of the fastest matrix product; changes of cosines against float32, and the share of a question's first 20
    texts that stay (NaN without a float32 form); seconds, memory (MiB) and the machine."""
    stage, version = SPEEDS
    params = {"models": {weights_hash(name): window for name, window in MODELS.items()}}
    params |= {name: study.digest(name) for name in ("chunks", "questions")}
    return study.store.frame(stage, params, None, version)

"""What programs import: ``retrieval_gap.diagnose("my.trec", "financebench")`` measures a run as the study's own."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from lib.diagnose.diagnosis import Diagnosis
from lib.diagnose.diagnosis import diagnose as diagnose_runs
from lib.options import named_runs

__all__ = ["Diagnosis", "diagnose"]


def diagnose(
    run: str | Path | pd.DataFrame | Mapping[str, Path | pd.DataFrame],
    dataset: str | Path = "",
    questions: str = "",
    profile: str = "default",
    pages_from: int = 0,
    k: int = 5,
) -> Diagnosis:
    """Where a system loses the evidence, beside the study's methods.

    Args:
        run: a TREC or JSON lines file, a frame (``question_id``, ``doc``, ``page``, and maybe ``score`` and ``text``),
            or several of them by name. A file's name is its stem, a frame's is ``run``.
        dataset: ``financebench``, ``demo`` or a folder; empty for what is available.
        questions: another question set over its filings: a folder, or the name of a published one.
        profile: whose methods and results it is compared with: a name or a YAML file.
        pages_from: the number of a filing's first page in the run, 0 or 1.
        k: depth of the metrics, in passages.

    Raises:
        StudyError: a run, the dataset or the profile cannot be used; the message says what mends it.
    """
    if isinstance(run, pd.DataFrame):
        run = {"run": run}
    elif not isinstance(run, Mapping):
        run = named_runs([run])
    return diagnose_runs(run, str(dataset), questions, profile, pages_from, k)

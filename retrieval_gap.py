"""What programs import: ``retrieval_gap.diagnose("my.trec", "financebench")`` measures a run as the study's own."""

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path

import pandas as pd

from lib.diagnose.diagnosis import Diagnosis
from lib.diagnose.diagnosis import diagnose as diagnose_runs
from lib.options import named_runs
from lib.schema import StudyError

__all__ = ["Diagnosis", "diagnose"]


def diagnose(
    run: str | Path | pd.DataFrame | Mapping[str, Path | pd.DataFrame],
    dataset: str | Path = "",
    questions: str = "",
    profile: str = "default",
    pages_from: int | None = None,
    k: int = 5,
    condition: str = "",
) -> Diagnosis:
    """Where a system loses the evidence, beside the study's methods.

    Args:
        run: a file in one of the formats of ``book/measure.md``, a frame (``question_id``, ``doc``, ``page``, and maybe
            ``score``, ``rank`` and ``text``), or several of them by name. A file's name is its stem, a frame's ``run``.
        dataset: ``financebench``, ``demo`` or a folder; empty for what is available.
        questions: another question set over its filings: a folder, or the name of a published one.
        profile: whose methods and results it is compared with: a name or a YAML file.
        pages_from: the number of a filing's first page in the run, 0 or 1; None to have it proved.
        k: depth of the metrics, in passages.
        condition: that the run was retrieved under, ``standard`` or ``oracle-document``; empty to see it from the run.

    Raises:
        StudyError: a run, the dataset or the profile cannot be used; the message says what mends it.
    """
    texts = {"dataset": dataset, "questions": questions, "profile": profile, "condition": condition}
    for name, value in texts.items():
        if not isinstance(value, str | Path):
            raise StudyError(f"{name} is {value!r:.60}; give a name or a path, or leave it out")
    for name, value in {"pages_from": 0 if pages_from is None else pages_from, "k": k}.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise StudyError(f"{name} is {value!r:.60}; give a whole number, or leave it out")
    if isinstance(run, pd.DataFrame):
        run = {"run": run}
    elif isinstance(run, str | Path):
        run = named_runs([run])
    if not isinstance(run, Mapping) or not all(map(_is_run, run, run.values())):
        raise StudyError(f"run is a {type(run).__name__}; give a file, a frame, or files and frames by name, as a dict")
    first = None if pages_from is None else int(pages_from)
    return diagnose_runs(run, str(dataset), str(questions), str(profile), first, int(k), condition)


def _is_run(name: object, given: object) -> bool:
    return isinstance(name, str) and isinstance(given, str | Path | pd.DataFrame)

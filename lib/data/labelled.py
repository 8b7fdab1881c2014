"""Answers that people labelled: 16 systems' answers to FinanceBench's questions (Islam et al., 2023).

The files may be missing: ``results/<system>.jsonl`` beside ``data/``, one answer a line.
"""

from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, Field

from lib.data.layout import Dataset
from lib.data.records import Problems, Text, read_records
from lib.files import digest_of, digest_of_file

RIGHT, WRONG, REFUSED = "Correct Answer", "Incorrect Answer", "Refusal"
LABELLED = ["system", "question_id", "prediction", "label"]  # the prediction is empty where the answer is null


class LabelledAnswer(BaseModel):
    """A line of a file of answers."""

    financebench_id: Annotated[str, Field(min_length=1)]
    model_answer: Text | None
    label: Literal[RIGHT, WRONG, REFUSED]


def _files(dataset: Dataset) -> list[Path]:
    return sorted((dataset.root / "results").glob("*.jsonl")) if dataset.has_text else []


def labels_digest(dataset: Dataset) -> str:
    """What identifies the labelled answers that are here, 20 hex digits; empty where there are none."""
    digests = {path.name: digest_of_file(path) for path in _files(dataset)}
    return digest_of(digests)[:20] if digests else ""


def labelled_answers(dataset: Dataset) -> pd.DataFrame:
    """The labelled answers of the dataset's questions as LABELLED; a DatasetError names every line that is wrong."""
    problems = Problems(dataset.root)
    rows = [
        (path.stem, record.financebench_id, record.model_answer or "", record.label)
        for path in _files(dataset)
        for _, _, record in read_records(path, LabelledAnswer, problems)
        if record
    ]
    problems.stop()
    table = pd.DataFrame(rows, columns=LABELLED)
    return table[table["question_id"].isin(dataset.questions["question_id"])].reset_index(drop=True)

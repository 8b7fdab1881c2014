"""Answers that people labelled: 16 systems' answers to FinanceBench's questions (Islam et al., 2023).

The files may be missing: ``results/<system>.jsonl`` beside ``data/``, one answer a line.
"""

from pathlib import Path

import pandas as pd

from lib.data.layout import Dataset
from lib.data.records import Problems, read_json_lines
from lib.files import digest_of, digest_of_file

LABELS = RIGHT, WRONG, REFUSED = ("Correct Answer", "Incorrect Answer", "Refusal")
LABELLED = ["system", "question_id", "prediction", "label"]  # the prediction is empty where the answer is null


def _files(dataset: Dataset) -> list[Path]:
    return sorted((dataset.root / "results").glob("*.jsonl")) if dataset.has_text else []


def labels_digest(dataset: Dataset) -> str:
    """What identifies the labelled answers that are here, 20 hex digits; empty where there are none."""
    found = {path.name: digest_of_file(path) for path in _files(dataset)}
    return digest_of(found)[:20] if found else ""


def labelled_answers(dataset: Dataset) -> pd.DataFrame:
    """The labelled answers of the dataset's questions as LABELLED; a DatasetError names every line that is none."""
    problems, rows = Problems(dataset.root), []
    for path in _files(dataset):
        for line, record in read_json_lines(path, problems):
            question_id, label = record.get("financebench_id"), record.get("label")
            if not question_id or label not in LABELS or "model_answer" not in record:
                problems.add(path, f"give financebench_id, model_answer and a label of {', '.join(LABELS)}", line)
            written = record.get("model_answer")
            rows.append((path.stem, question_id, "" if written is None else str(written), label))
    problems.stop()
    table = pd.DataFrame(rows, columns=LABELLED)
    return table[table["question_id"].isin(dataset.questions["question_id"])].reset_index(drop=True)

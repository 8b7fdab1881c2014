"""Answers that people labelled: 16 systems' answers to FinanceBench's questions (Islam et al., 2023).

The dataset's authors labelled each as correct, incorrect or a refusal. The files are a part of the dataset that may be
missing: ``results/<system>.jsonl`` beside ``data/``, one answer a line.
"""

from pathlib import Path

import pandas as pd

from lib.data.layout import Dataset
from lib.data.records import Problems, read_json_lines
from lib.files import digest_of, digest_of_file

LABELS = RIGHT, WRONG, REFUSED = ("Correct Answer", "Incorrect Answer", "Refusal")
LABELLED = ["system", "question_id", "prediction", "label"]


def label_files(dataset: Dataset) -> list[Path]:
    """The files of labelled answers, by name; none where the dataset has none, or is not here."""
    return sorted((dataset.root / "results").glob("*.jsonl")) if dataset.has_text else []


def labels_digest(dataset: Dataset) -> str:
    """What identifies the labelled answers that are here, 20 hex digits; empty where there are none."""
    found = {path.name: digest_of_file(path) for path in label_files(dataset)}
    return digest_of(found)[:20] if found else ""


def labelled_answers(dataset: Dataset) -> pd.DataFrame:
    """The labelled answers as LABELLED, of the dataset's questions; an answer that is null is empty.

    Raises:
        DatasetError: every line without a question's id, an answer or one of LABELS.
    """
    problems, rows = Problems(dataset.root), []
    for path in label_files(dataset):
        for line, record in read_json_lines(path, problems):
            question_id, label = record.get("financebench_id"), record.get("label")
            if not question_id or label not in LABELS or "model_answer" not in record:
                wanted = f"give financebench_id, model_answer and a label of {', '.join(LABELS)}"
                problems.add(path, wanted, line)
            written = record.get("model_answer")
            rows.append((path.stem, question_id, "" if written is None else str(written), label))
    problems.stop()
    table = pd.DataFrame(rows, columns=LABELLED)
    return table[table["question_id"].isin(dataset.questions["question_id"])].reset_index(drop=True)

"""What two rows of the leaderboard are compared by in a reader's browser: page recall of each question, by company.

``book/_static/paired.js`` draws companies as :class:`lib.stats.Resampling` does, with random numbers of its own.
"""

import json
from pathlib import Path

import pandas as pd

from lib.book.leaderboard import sets_of
from lib.diagnose.stored import stored_runs
from lib.evaluation import rows_at
from lib.files import write_atomically
from lib.method_sets import in_comparisons
from lib.schema import K
from lib.study import Study


def write_pairs(study: Study, target: Path) -> None:
    """Write a JavaScript file for each question set of the leaderboard into a folder; a page reads it when a set is
    chosen."""
    outside = {one.name: one for one in stored_runs(study) if one.condition == "standard"}
    names = [*in_comparisons(), *outside]
    for name, questions, _, metrics, _ in sets_of(study, [one.metrics for one in outside.values()]):
        data = json.dumps(of_questions(questions, metrics, names), separators=(",", ":"))
        write_atomically(target / f"{name}.js", f"(window.PAIRS ??= {{}})[{json.dumps(name)}] = {data};\n")


def of_questions(questions: pd.DataFrame, metrics: pd.DataFrame, names: list[str]) -> dict:
    """``companies``, the number of each question's company in the order of their first questions, and ``recall``: page
    recall at K of each method over all filings, question by question."""
    values = rows_at(metrics, "page_recall", K).astype({"question_id": object, "method": object})
    recall = values.pivot(index="question_id", columns="method", values="value").reindex(questions["question_id"])
    codes, _ = pd.factorize(questions["company"])
    return {
        "companies": codes.tolist(),
        "recall": {name: recall[name].round(6).tolist() for name in names if name in recall},
    }

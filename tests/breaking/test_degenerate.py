"""Valid sets with next to nothing in them: searched, measured, compared and diagnosed, with numbers one can tell."""

from pathlib import Path

import numpy as np
import pytest

from lib.diagnose.diagnosis import diagnosis_of
from lib.evaluation import evaluate, summarise
from lib.folds import make_folds
from lib.stats import Resampling
from tests.breaking.damage import cases
from tests.conftest import DatasetFolder

pytestmark = [pytest.mark.slow, pytest.mark.breaking]
WORDS = "alder beech chestnut dogwood elder fir gorse hazel".split()


def filled(made: DatasetFolder, n_filings: int, n_questions: int, n_pages: int = 3) -> DatasetFolder:
    """Filings whose first page has a word of its own, and questions, one a filing in turn, that ask for it."""
    for word in WORDS[:n_filings]:
        made.text(word, f"{word} sold {word}", *["other text"] * (n_pages - 1))
    for number in range(n_questions):
        word = WORDS[number % n_filings]
        made.question(f"q{number}", word, (0, f"{word} sold {word}"), question=f"What of {word}?")
    return made


def with_empty_pages(made: DatasetFolder) -> DatasetFolder:
    made.text("void", "", "", "Zzz")
    return filled(made, 2, 2)


def without_what_is_found(made: DatasetFolder) -> DatasetFolder:
    filled(made, 2, 2)
    for question in made.questions:
        question["question"] = "Zzz?"
    return made


def spelt_twice(made: DatasetFolder) -> DatasetFolder:
    filled(made, 2, 2)
    for about, company in zip(made.documents, ("Ash, Inc.", "ASH INC"), strict=True):
        about["company"] = company
    return made


#: The set, how much BM25 finds on the first page, and whether folds by company are possible.
SETS = {
    "one question, one filing, one page": (lambda made: filled(made, 1, 1, 1), 1.0, False),
    "one company, spelt twice": (spelt_twice, 1.0, False),
    "nothing lost": (lambda made: filled(made, 8, 8), 1.0, True),
    "no word of a question": (without_what_is_found, 0.5, True),  # by the order of ids
    "all questions of one page": (lambda made: filled(made, 1, 6), 1.0, False),
    "a filing of empty pages but one": (with_empty_pages, 1.0, True),
}


@cases(("make", "found", "has_folds"), SETS)
def test_a_set_with_next_to_nothing_is_measured(sound, told, tmp_path, make, found, has_folds):
    root = make(DatasetFolder(tmp_path / "mine")).write()
    study = sound.open(root, changes={"significance.n_draws": 50})
    metrics = evaluate(study, "bm25")
    assert np.isfinite(metrics["value"].astype(float)).all()
    assert metrics.query("metric == 'page_recall' and k == 1")["value"].mean() == found

    summary = summarise(metrics, Resampling.of(study))
    assert ((summary["low"] <= summary["mean"]) & (summary["mean"] <= summary["high"])).all()

    run = study.run("bm25").rename(columns={"doc_name": "doc"})[["question_id", "doc", "page", "score"]]
    given = run if len(run) else Path(study.write("none.trec", f"q0 Q0 {WORDS[0]}#p2 1 1 t\n"))
    diagnosis = diagnosis_of(study, {"mine": given})
    parts = diagnosis.decomposition.set_index("method").loc["mine", ["found", "page", "document"]]
    assert parts.sum() == pytest.approx(1)
    assert diagnosis.to_html()
    assert diagnosis.to_text()

    with told(None if has_folds else "two groups"):
        assert len(make_folds(study.questions, study.filings, "company", 5, 13)) >= 2

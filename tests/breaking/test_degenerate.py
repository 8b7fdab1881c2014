"""Valid sets with next to nothing in them: searched, measured, compared and diagnosed, with numbers one can tell."""

from pathlib import Path

import numpy as np
import pytest

from extras.measure import measure
from lib.diagnose.diagnosis import diagnosis_of
from lib.evaluation import evaluate, summarise
from lib.folds import make_folds
from lib.schema import StudyError
from lib.stats import Resampling
from tests.conftest import DatasetFolder

pytestmark = [pytest.mark.slow, pytest.mark.breaking]
WORDS = "alder beech chestnut dogwood elder fir gorse hazel".split()


def filled(made: DatasetFolder, n_filings: int, n_questions: int, n_pages: int = 3, **about: object) -> DatasetFolder:
    """Filings whose first page has a word of its own, and questions, one a filing in turn, that ask for it."""
    for number in range(n_filings):
        word = WORDS[number]
        made.text(word, f"{word} sold {word}", *["other text"] * (n_pages - 1), **about)
    for number in range(n_questions):
        word = WORDS[number % n_filings]
        made.question(f"q{number}", word, (0, f"{word} sold {word}"), question=f"What of {word}?", **about)
    return made


def with_empty_page(made: DatasetFolder) -> DatasetFolder:
    made.text("void", "", "", "Zzz")
    return filled(made, 2, 2)


def without_what_is_found(made: DatasetFolder) -> DatasetFolder:
    filled(made, 2, 2)
    for question in made.questions:
        question["question"] = "Zzz?"
    return made


#: The set, how much BM25 finds on the first page, and whether folds by company are possible.
SETS = {
    "one question, one filing, one page": (lambda made: filled(made, 1, 1, 1), 1.0, False),
    "one company, spelt twice": (lambda made: spelt(filled(made, 2, 2)), 1.0, False),
    "nothing lost": (lambda made: filled(made, 8, 8), 1.0, True),
    "no word of a question": (without_what_is_found, 0.5, True),  # by the order of ids
    "all questions of one page": (lambda made: filled(made, 1, 6), 1.0, False),
    "a filing of empty pages but one": (with_empty_page, 1.0, True),
}


def spelt(made: DatasetFolder) -> DatasetFolder:
    for about, company in zip(made.documents, ("Ash, Inc.", "ASH INC"), strict=True):
        about["company"] = company
    return made


@pytest.mark.parametrize("what", SETS)
def test_a_set_with_next_to_nothing_is_measured(sound, tmp_path, record_property, what):
    make, found, has_folds = SETS[what]
    root = make(DatasetFolder(tmp_path / "mine")).write()
    study = sound.open(root, changes={"significance.n_draws": 50})
    measure(study, "bm25")
    metrics = evaluate(study, "bm25")
    value = metrics.set_index(["metric", "k"])["value"]
    assert np.isfinite(value.astype(float)).all()
    assert value["page_recall", 1].mean() == found
    draws = Resampling.of(study)
    summary = summarise(metrics, draws)
    assert ((summary["low"] <= summary["mean"]) & (summary["mean"] <= summary["high"])).all()
    recall = metrics.query("metric == 'page_recall' and k == 5").set_index("question_id")["value"]
    compared = draws.compare({"bm25": recall}, {"bm25": recall})
    assert (compared["p"].item(), compared["difference"].item()) == (1, 0)
    run = study.run("bm25").rename(columns={"doc_name": "doc"})[["question_id", "doc", "page", "score"]]
    given = run if len(run) else Path(study.write("none.trec", f"{recall.index[0]} Q0 {WORDS[0]}#p2 1 1 t\n"))
    diagnosis = diagnosis_of(study, {"mine": given})
    parts = diagnosis.decomposition.set_index("method").loc["mine", ["found", "page", "document"]]
    assert parts.sum() == pytest.approx(1)
    assert (diagnosis.to_html() and diagnosis.to_text()) != ""
    record_property(
        "said", f"page recall {found:.0%}, interval {summary['low'].min():.2f} to {summary['high'].max():.2f}"
    )
    if has_folds:
        assert len(make_folds(study.questions, study.filings, "company", 5, 13)) >= 2
    else:
        with pytest.raises(StudyError, match="folds need two groups or more"):
            make_folds(study.questions, study.filings, "company", 5, 13)


def test_a_filing_of_one_empty_page_is_named(sound, told, tmp_path):
    made = filled(DatasetFolder(tmp_path / "mine"), 2, 2)
    made.text("void", "")
    with told("pages/void.jsonl: no page has text"):
        sound.results(made.write())

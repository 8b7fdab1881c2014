"""The fine-tuned scorer in folds: leaks, and what is stored."""

import json

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from lib.folds import LeakError
from lib.methods import METHODS
from lib.page_scorer import full, trainer
from lib.page_scorer.pages import base_vectors, folds, load_records, load_scores, page_texts
from lib.page_scorer.search import scorer_scores
from lib.retrievers.dense import cosines
from lib.words import StudyError


@pytest.fixture(scope="module")
def study(make_study):
    """A study whose folds are trained once for all tests that only read."""
    return make_study()


@pytest.mark.parametrize("by", ["company", "filing"])
def test_every_question_is_scored_by_the_model_that_did_not_see_it_and_recorded(study, by):
    entry = full.scores_entry(study, by)
    scores, records = load_scores(study, entry), load_records(entry)
    assert json.loads((study.outputs / f"folds/page_scorer-{by}.json").read_text()) == records
    assert [record["fold"] for record in records] == [0, 1, 2]
    for record, fold in zip(records, folds(study, by), strict=True):
        assert record["test_filings"] == sorted(study.questions["doc_name"].iloc[list(fold.test)])
        assert not set(record["test_filings"]) & set(record["train_filings"])
        assert by == "filing" or not set(record["test_companies"]) & set(record["train_companies"])
        rows, model = list(fold.test), SentenceTransformer(str(full.fold_model(study, fold).path))
        texts = study.questions["question"].iloc[rows].tolist(), page_texts(study)
        questions, pages = (model.encode(part, normalize_embeddings=True) for part in texts)
        assert scores[rows] == pytest.approx(questions @ pages.T, abs=1e-4)


def test_stored_folds_are_not_trained_again(study, monkeypatch):
    fold = folds(study, "company")[0]
    assert (full.fold_model(study, fold).path / "model.safetensors").is_file()
    assert not list(study.store.root.glob("page_scorer/model/checkpoints-*"))
    monkeypatch.setattr(study.store, "log", {})
    monkeypatch.setattr(trainer, "train", lambda *_, **__: pytest.fail("trained again"))
    assert full.fold_model(study, fold).origin == "reused"


def test_what_cannot_be_known_is_memorised_but_not_transferred(make_study):
    study = make_study(epochs=20, learning_rate=1e-3, batch_size=8)
    fold = folds(study, "company")[0]
    entry = full.fold_model(study, fold)
    gold = np.array([4 * number + pages[0] for number, pages in enumerate(study.questions["gold_pages"])])

    def ranks(rows):
        scores = full.scores_of_model(study, entry, rows)
        return (scores > scores[np.arange(len(rows)), gold[list(rows)]][:, None]).sum(axis=1)

    assert np.median(ranks(fold.train)) == 0
    assert ranks(fold.test).mean() > 8  # chance is 23.5 of 48 pages


def one_company(_, documents):
    for document in documents:
        document.update(company="ash")


@pytest.mark.parametrize(
    ("spoil", "error", "told"),
    [
        (one_company, StudyError, "folds need two groups or more"),
        (
            lambda questions, _: questions[2].update(question=questions[0]["question"].upper()),
            LeakError,
            "near copy in training: .*; training was not started",
        ),
    ],
)
def test_what_cannot_be_held_out_stops_the_training(make_study, spoil, error, told):
    study = make_study(spoil)
    with pytest.raises(error, match=told):
        full.scores_entry(study, "company")
    assert not list(study.store.root.glob("page_scorer/model/*"))


def test_too_few_companies_to_train_on_leave_the_untrained_encoder(make_study, monkeypatch):
    study = make_study()
    monkeypatch.setattr(full, "MIN_COMPANIES", 7)
    assert full.untrainable(study).startswith("12 questions about 6 companies are too few to train on some")
    queries, pages = base_vectors(study, "page_scorer")
    study.profile = study.profile.only(["chunks", "run", *METHODS["page_scorer"].settings], "page_scorer")
    assert (scorer_scores(study, "full", "company") == cosines(queries, pages)).all()


def test_a_question_asked_of_two_companies_is_never_trained_on(make_study):
    study = make_study(lambda questions, _: questions[0].update(question=questions[-1]["question"]))
    assert full.untrainable(study).endswith("training was not started")
    assert (scorer_scores(study, "light", "filing") == scorer_scores(study, "untrained")).all()

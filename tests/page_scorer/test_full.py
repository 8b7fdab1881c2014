"""The fine-tuned scorer in folds: leaks, and what is stored."""

import json

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from extras.page_scorer.train import train_folds
from lib.folds import LeakError
from lib.methods import METHODS
from lib.page_scorer import full, trainer
from lib.page_scorer.pages import base_vectors, folds, load_records, load_scores, page_texts
from lib.page_scorer.search import scorer_scores
from lib.retrievers.dense import cosines
from lib.schema import StudyError


def test_every_question_is_scored_by_the_model_that_did_not_see_it_and_recorded(study, monkeypatch):
    entry = full.scores_entry(study, "company")
    scores, records = load_scores(study, entry), load_records(entry)
    assert json.loads((study.outputs / "folds/page_scorer-company.json").read_text()) == records
    assert not list(study.store.root.glob("page_scorer/model/checkpoints-*"))
    monkeypatch.setattr(study.store, "log", {})
    monkeypatch.setattr(trainer, "train", lambda *_, **__: pytest.fail("trained again"))
    for record, fold in zip(records, folds(study, "company"), strict=True):
        assert record["fold"] == fold.number
        assert not set(record["test_companies"]) & set(record["train_companies"])
        rows, model = list(fold.test), full.fold_model(study, fold)
        assert record["test_filings"] == sorted(study.questions["doc_name"].iloc[rows])
        assert model.origin == "reused"
        texts = study.questions["question"].iloc[rows].tolist(), page_texts(study)
        encode = SentenceTransformer(str(model.path)).encode
        questions, pages = (encode(part, normalize_embeddings=True) for part in texts)
        assert scores[rows] == pytest.approx(questions @ pages.T, abs=1e-4)


def test_a_scored_fold_is_taken_alone_until_the_others_are_there(study, make_study):
    new = make_study()
    train_folds(new, ["company"], number=1)
    (waiting,) = full.finished_folds(new)
    assert (waiting["stage"], waiting["public"]) == ("page_scorer/fold/company/1", True)
    entry = new.store.entry(waiting["stage"], waiting["key"])
    rows = list(folds(new, "company")[1].test)
    assert np.isfinite(load_scores(new, entry)).any(axis=1).nonzero()[0].tolist() == rows
    whole = full.scores_entry(study, "company")
    assert load_scores(new, entry)[rows] == pytest.approx(load_scores(study, whole)[rows], abs=1e-6)
    assert not [record for record in full.finished_folds(study) if "company" in record["stage"]]


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


def test_folds_need_two_companies(make_study):
    def one_company(_, documents):
        for document in documents:
            document.update(company="ash")

    with pytest.raises(StudyError, match="two groups"):
        full.scores_entry(make_study(one_company), "company")


def test_a_near_copy_of_a_test_question_stops_the_training_and_leaves_the_untrained_encoder(make_study):
    study = make_study(lambda questions, _: questions[2].update(question=questions[0]["question"].upper()))
    with pytest.raises(LeakError, match="near copy"):
        full.scores_entry(study, "company")
    assert not list(study.store.root.glob("page_scorer/model/*"))
    assert "near copy" in full.untrainable(study)
    assert (scorer_scores(study, "light", "filing") == scorer_scores(study, "untrained")).all()


def test_too_few_companies_to_train_on_leave_the_untrained_encoder(make_study, monkeypatch):
    study = make_study()
    monkeypatch.setattr(full, "MIN_COMPANIES", 7)
    assert "6 companies" in full.untrainable(study)
    queries, pages = base_vectors(study, "page_scorer")
    study.profile = study.profile.only(["chunks", "run", *METHODS["page_scorer"].settings], "page_scorer")
    assert (scorer_scores(study, "full", "company") == cosines(queries, pages)).all()

"""The fine-tuned scorer on a tiny random BERT: batches, folds, resuming, leaks, and the way to the method's run."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from lib import runs
from lib.folds import LeakError
from lib.page_scorer import full as page_scorer
from lib.page_scorer import training as page_training
from lib.page_scorer.batches import GoldAwareBatches, false_negatives
from lib.page_scorer.final import export_final, model_card
from lib.page_scorer.search import (
    page_run,
    rank_pages,
    score,
    scorer_scores,
    search,
    search_in_page_order,
)
from lib.page_scorer.vectors import normalise_page, page_texts
from lib.retrievers import dense
from lib.study import Study
from lib.words import StudyError


@pytest.fixture(scope="module")
def study(make_study) -> Study:
    """A study whose folds are trained once for all tests that only read."""
    return make_study()


def pairs_table(*rows: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["question", "text"])


def batches_of(pairs: pd.DataFrame) -> GoldAwareBatches:
    return GoldAwareBatches(false_negatives(pairs), batch_size=4)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_page_is_collapsed_then_cut():
    assert normalise_page(" a \n\t b  c ", 4) == "a b "
    assert len(normalise_page("word \n" * 1000)) == 2000


def test_gold_pages_of_one_question_are_no_negatives_of_each_other():
    clash = false_negatives(pairs_table(("q1", "p1"), ("q1", "p2"), ("q2", "p2"), ("q3", "p3")))
    assert clash.tolist() == [
        [False, True, True, False],  # q2's page is gold for q1 too
        [True, False, True, False],
        [True, True, False, False],
        [False, False, False, False],
    ]


@given(st.integers(1, 40), st.integers(2, 8), st.floats(0, 0.5), st.integers(0, 99))
def test_an_epoch_holds_every_pair_once_and_no_clash(n_pairs, batch_size, density, seed):
    clash = np.random.default_rng(seed).random((n_pairs, n_pairs)) < density
    clash |= clash.T
    np.fill_diagonal(clash, False)
    sampler = GoldAwareBatches(clash, batch_size, seed)
    batches = list(sampler)
    assert sorted(pair for batch in batches for pair in batch) == list(range(n_pairs))
    assert len(batches) == len(sampler)
    assert max(map(len, batches)) <= batch_size
    assert not any(clash[np.ix_(batch, batch)].any() for batch in batches)


def test_epochs_differ_and_repeat_with_the_seed():
    sampler, again = (GoldAwareBatches(np.zeros((20, 20), bool), 4, seed=1) for _ in range(2))
    first = list(sampler)
    sampler.set_epoch(1)
    assert first == list(again) != list(sampler)
    assert len(sampler) == 5


def test_training_batches_are_the_samplers_own(study, tmp_path):
    seen, pairs = [], page_scorer.training_pairs(study, range(12))

    class Watched(GoldAwareBatches):
        def __iter__(self):
            batches = list(super().__iter__())
            seen.append((self.epoch, batches))
            return iter(batches)

    def watched(pairs, batch_size, seed):
        return Watched(false_negatives(pairs), batch_size, seed)

    page_training.train(study, pairs, 2, tmp_path, "t", batches=watched)
    assert [epoch for epoch, _ in seen] == [0, 1]
    assert seen[0][1] != seen[1][1]
    asked = pairs["question_id"].tolist()
    assert all(len({asked[pair] for pair in batch}) == len(batch) for _, epoch in seen for batch in epoch)


def test_page_zero_is_trained_on(study):
    pairs = page_scorer.training_pairs(study, range(12))
    assert pairs["page"].value_counts().to_dict() == {0: 6, 1: 6, 3: 6}
    assert pairs["text"][0] == page_texts(study)[0]


@pytest.mark.parametrize("by", ["company", "filing"])
def test_every_question_is_scored_by_the_model_that_did_not_see_it(study, by):
    scores = page_scorer.page_scores(study, by)
    asked = study.questions["question"]
    for fold in page_scorer.folds(study, by):
        rows, model = list(fold.test), SentenceTransformer(str(page_scorer.fold_model(study, fold).path))
        questions, pages = (
            unit(model.encode(list(texts))) for texts in (asked.iloc[rows], page_texts(study))
        )
        assert scores[rows] == pytest.approx(questions @ pages.T, abs=1e-4)


@pytest.mark.parametrize("by", ["company", "filing"])
def test_the_record_for_the_manifest_says_what_was_on_each_side(study, by):
    page_scorer.page_scores(study, by)
    records = json.loads((study.view / f"folds/page_scorer-{by}.json").read_text())
    assert [record["fold"] for record in records] == [0, 1, 2]
    for record, fold in zip(records, page_scorer.folds(study, by), strict=True):
        assert record["test_filings"] == sorted(study.questions["doc_name"].iloc[list(fold.test)])
        assert not set(record["test_filings"]) & set(record["train_filings"])
        assert by == "filing" or not set(record["test_companies"]) & set(record["train_companies"])


def test_stored_folds_are_not_trained_again(study, monkeypatch):
    fold = page_scorer.folds(study, "company")[0]
    entry = page_scorer.fold_model(study, fold)
    curve = json.loads((entry.path / "curves.json").read_text())
    pairs, _ = page_scorer.checked_pairs(study, fold)
    assert [row["step"] for row in curve] == list(range(1, 2 * len(batches_of(pairs)) + 1))
    assert {"loss", "learning_rate", "epoch", "grad_norm"} < set(curve[0])
    assert (entry.path / "model.safetensors").is_file()
    assert not list(study.store.root.glob("page_scorer/model/checkpoints-*"))
    monkeypatch.setattr(study.store, "log", {})
    monkeypatch.setattr(page_training, "train", lambda *_, **__: pytest.fail("trained again"))
    assert page_scorer.fold_model(study, fold).origin == "reused"


class KilledError(Exception):
    pass


class Kill(page_training.TrainerCallback):
    """Ends a training as a kill would, after a step."""

    def __init__(self, after: int):
        self.after = after

    def on_step_end(self, args, state, control, **_):
        if state.global_step == self.after:
            raise KilledError


def test_a_killed_training_goes_on_and_ends_the_same(study, tmp_path, monkeypatch):
    pairs = page_scorer.training_pairs(study, range(12))
    monkeypatch.setattr(page_training, "EPOCHS_BETWEEN_CHECKPOINTS", 1)
    whole, curve = page_training.train(study, pairs, 3, tmp_path / "whole", "t")
    kill = Kill(after=2 * len(batches_of(pairs)) + 1)
    with pytest.raises(KilledError):
        page_training.train(study, pairs, 3, tmp_path / "cut", "t", callbacks=[kill])
    (tmp_path / "cut" / "checkpoint-9999").mkdir()  # a checkpoint that was not written to its end
    steps = []
    monkeypatch.setattr(
        Kill, "on_step_end", lambda self, args, state, control, **_: steps.append(state.global_step)
    )
    rest, rest_curve = page_training.train(study, pairs, 3, tmp_path / "cut", "t", callbacks=[Kill(0)])
    assert min(steps) == 2 * len(batches_of(pairs)) + 1
    assert rest_curve == curve
    assert all(torch.equal(value, rest.state_dict()[name]) for name, value in whole.state_dict().items())


def test_a_planted_copy_of_a_test_question_stops_the_training(make_study):
    def copy(questions, documents):
        questions[2]["question"] = questions[0]["question"].upper()

    study = make_study(copy)
    with pytest.raises(LeakError, match=r"near copy in training: .*; training was not started"):
        page_scorer.page_scores(study, "company")
    assert not list(study.store.root.glob("page_scorer/model/*"))


def test_what_cannot_be_known_is_memorised_but_not_transferred(make_study):
    study = make_study(epochs=20, learning_rate=1e-3, batch_size=8)
    fold = page_scorer.folds(study, "company")[0]
    entry = page_scorer.fold_model(study, fold)
    gold = np.array([4 * number + pages[0] for number, pages in enumerate(study.questions["gold_pages"])])

    def ranks(rows):
        scores = page_scorer.scores_of_model(study, entry, rows)
        return (scores > scores[np.arange(len(rows)), gold[list(rows)]][:, None]).sum(axis=1)

    assert np.median(ranks(fold.train)) == 0
    assert ranks(fold.test).mean() > 8  # chance is 23.5 of 48 pages


def test_company_folds_need_two_companies(make_study):
    def one_company(questions, documents):
        for document in documents:
            document["company"] = "ash"

    with pytest.raises(StudyError, match="folds need two groups or more"):
        page_scorer.folds(make_study(one_company), "company")


def test_pages_are_ranked_among_those_with_a_candidate_chunk():
    scores = np.array([[0.1, 0.9, 0.5, 0.5]])
    pages, candidates = np.array([0, 0, 1, 2, 3]), np.array([[True, True, False, True, True]])
    assert rank_pages(scores, pages, candidates, 2)[0].tolist() == [2, 3]
    assert rank_pages(scores, pages, candidates, 9)[0].tolist() == [2, 3, 0]


def test_stage_two_searches_only_the_kept_pages_with_the_base_encoder(study):
    everything = study.candidates("standard")
    page_scores = scorer_scores(study, "full", "company")
    assert (score(study, everything) == search(study, page_scores, everything)).all()
    base, found = dense.score(study, everything), search(study, page_scores, everything, n_pages=2)
    best_two = page_run(study, page_scores, everything, depth=2)
    for row, question_id in enumerate(study.questions["question_id"]):
        kept = best_two[best_two["question_id"] == question_id]
        on_page = study.chunks.merge(kept, how="left", on=["doc_name", "page"])["rank"].notna().to_numpy()
        assert np.isfinite(found[row]).tolist() == on_page.tolist()
        assert (found[row][on_page] == base[row][on_page]).all()


def test_in_page_order_chunks_follow_their_pages(study):
    everything, page_scores = study.candidates("standard"), scorer_scores(study, "full", "company")
    ranked = page_run(study, page_scores, everything, study.profile.page_scorer.pages)
    found = runs.rank(search_in_page_order(study, page_scores, everything), study.questions, study.chunks, 50)
    columns = ["question_id", "doc_name", "page"]
    assert found.drop_duplicates(columns)[columns].values.tolist() == ranked[columns].values.tolist()
    base = runs.rank(dense.score(study, everything), study.questions, study.chunks, len(study.chunks))
    both = found.merge(base, on=["question_id", "chunk_id"], suffixes=("", "_base"))
    assert all(part["rank_base"].is_monotonic_increasing for _, part in both.groupby(columns, sort=False))


def test_under_an_oracle_only_its_pages_are_ranked(study):
    run = page_run(study, scorer_scores(study, "untrained"), study.candidates("oracle-page"), depth=5)
    wanted = study.questions.explode("gold_pages")
    found = sorted(zip(run["question_id"], run["page"], strict=True))
    assert found == sorted(zip(wanted["question_id"], wanted["gold_pages"], strict=True))


def test_the_final_model_loads_and_its_card_holds_the_folds_scores(study, tmp_path):
    scores = pd.DataFrame({"measure": ["page recall at 5"], "folds by company": ["0.31 [0.20, 0.42]"]})
    target = export_final(study, scores, tmp_path / "final")
    card = (target / "README.md").read_text()
    assert "| page recall at 5 | 0.31 [0.20, 0.42] |" in card
    assert "18 (question, gold page) pairs of 12 questions" in card
    assert SentenceTransformer(str(target)).encode(["a page"]).shape == (1, 32)
    with pytest.raises(ValueError, match="needs the folds' scores"):
        model_card(study, scores.head(0))


def test_too_few_companies_to_train_on_leave_the_untrained_encoder(make_study, monkeypatch):
    study = make_study(epochs=1)
    monkeypatch.setattr(page_scorer, "MIN_COMPANIES", 7)
    assert page_scorer.untrainable(study).startswith(
        "12 questions about 6 companies are too few to train on some"
    )
    assert (scorer_scores(study, "full", "company") == scorer_scores(study, "untrained")).all()


def test_a_question_asked_of_two_companies_is_never_trained_on(make_study):
    def spoil(questions, documents):
        questions[0]["question"] = questions[-1]["question"]

    study = make_study(spoil, epochs=1)
    assert page_scorer.untrainable(study).endswith("training was not started")
    assert (scorer_scores(study, "light", "filing") == scorer_scores(study, "untrained")).all()

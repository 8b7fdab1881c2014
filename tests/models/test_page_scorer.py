"""The fine-tuned scorer on a tiny random BERT: batches, folds, resuming, leaks, and the way to the method's run."""

import json
import random

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from lib.data.dataset import read_dataset
from lib.folds import LeakError
from lib.models import page_scorer, page_training
from lib.models.page_batches import GoldAwareBatches, false_negatives
from lib.models.page_scorer_final import export_final, model_card
from lib.models.page_vectors import normalise_page, page_texts
from lib.profile import load_profile
from lib.retrievers.page_then_chunk import page_run, rank_pages, score, scorer_scores, search
from lib.study import Study
from lib.words import StudyError

COMPANIES = "ash birch cedar dogwood elm fir".split()


@pytest.fixture(scope="session")
def tiny_bert(wordpiece, tmp_path_factory):
    """A sentence-transformers model of one layer with random weights."""
    path = tmp_path_factory.mktemp("tiny-bert")
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    PreTrainedTokenizerFast(tokenizer_object=wordpiece, **names).save_pretrained(path / "bert")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(
        BertConfig(vocab_size=wordpiece.get_vocab_size(), max_position_embeddings=64, **size)
    ).save_pretrained(path / "bert")
    encoder = Transformer(str(path / "bert"))
    SentenceTransformer(modules=[encoder, Pooling(32, "mean"), Normalize()]).save(str(path / "model"))
    return path / "model"


def code(random_letters: random.Random) -> str:
    return " ".join("".join(random_letters.choices("abcdefghijklm", k=4)) for _ in range(6))


@pytest.fixture
def make_study(folder, tiny_bert, tmp_path):
    """Six companies with two filings of four pages each; every filing has a question, two of them two gold pages."""

    def make(**changes) -> Study:
        letters = random.Random(0)
        for company in COMPANIES:
            for year in (2020, 2021):
                pages = [code(letters) for _ in range(4)]
                name, gold = f"{company}_{year}", (0,) if year == 2020 else (1, 3)
                folder.text(name, *pages)
                asked = f"{company} {code(letters)}?"
                folder.question(name, name, *((page, pages[page]) for page in gold), question=asked)
        spoil = changes.pop("spoil", None)
        if spoil:
            spoil(folder)
        dataset = read_dataset(folder.write(), "tiny")
        small = {"embedder.weights": str(tiny_bert), "embedder.window": 32, "embedder.precision": "float32"}
        small |= {
            "chunks.size": 16,
            "chunks.overlap": 0,
            "embedder.window_overlap": 0,
            "page_scorer.n_folds": 3,
        }
        small |= {"page_scorer.epochs": 2, "page_scorer.batch_size": 4, "page_scorer.max_tokens": 32}
        small |= {
            "page_scorer.learning_rate": 1e-3,
            "page_scorer.train_precision": "float32",
            "page_scorer.pages": 3,
        }
        profile = load_profile("default").replaced(small | changes)
        profile["name"] = "tiny"
        return Study(dataset, profile, tmp_path / "artifacts")

    return make


def pairs_table(*rows: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["question", "text"])


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


def test_training_batches_are_the_samplers_own(make_study, tmp_path, monkeypatch):
    study, seen = make_study(), []
    pairs = page_scorer.training_pairs(study, range(12))

    class Watched(GoldAwareBatches):
        def __iter__(self):
            batches = list(super().__iter__())
            seen.append((self.epoch, batches))
            return iter(batches)

    def batches(pairs, batch_size, seed):
        return Watched(false_negatives(pairs), batch_size, seed)

    page_training.train(study, pairs, 2, tmp_path / "c", "t", batches=batches)
    assert [epoch for epoch, _ in seen] == [0, 1]
    assert seen[0][1] != seen[1][1]
    question = pairs["question_id"].tolist()
    for batch in (batch for _, part in seen for batch in part):
        assert len({question[pair] for pair in batch}) == len(batch)


def test_page_zero_is_trained_on(make_study):
    study = make_study()
    pairs = page_scorer.training_pairs(study, range(12))
    assert sorted(pairs["page"].value_counts().items()) == [(0, 6), (1, 6), (3, 6)]
    assert pairs["text"].tolist()[0] == page_texts(study)[0]


@pytest.mark.parametrize("by", ["company", "filing"])
def test_every_question_is_scored_by_the_model_that_did_not_see_it(make_study, by):
    study = make_study()
    scores = page_scorer.page_scores(study, by)
    assert scores.shape == (12, 48)
    for fold in page_scorer.folds(study, by):
        entry = page_scorer.fold_model(study, fold)
        assert entry.origin == "computed"
        assert json.loads((entry.path / "fold.json").read_text())["test_filings"] == sorted(
            study.questions["doc_name"].iloc[list(fold.test)]
        )
        model = SentenceTransformer(str(entry.path))
        rows = list(fold.test)
        wanted = (
            model.encode(study.questions["question"].iloc[rows].tolist()) @ model.encode(page_texts(study)).T
        )
        assert scores[rows] == pytest.approx(wanted, abs=1e-4)
    records = json.loads((study.view / f"folds/page_scorer-{by}.json").read_text())
    assert [record["fold"] for record in records] == [0, 1, 2]
    assert all(record["shared_filings"] == [] for record in records)
    assert by == "filing" or all(record["shared_companies"] == [] for record in records)


def test_stored_folds_are_not_trained_again(make_study, monkeypatch):
    study = make_study()
    fold = page_scorer.folds(study, "company")[0]
    entry = page_scorer.fold_model(study, fold)
    curve = json.loads((entry.path / "curves.json").read_text())
    n_batches = len(GoldAwareBatches(false_negatives(page_scorer.checked_pairs(study, fold)[0]), 4))
    assert [row["step"] for row in curve] == list(range(1, 2 * n_batches + 1))
    assert {"loss", "learning_rate", "epoch", "grad_norm"} < set(curve[0])
    assert (entry.path / "model.safetensors").is_file()
    study.store.log.clear()
    monkeypatch.setattr(page_training, "train", lambda *_, **__: pytest.fail("trained again"))
    assert page_scorer.fold_model(study, fold).origin == "reused"


class Killed(Exception):
    pass


def test_a_killed_training_goes_on_and_ends_the_same(make_study, tmp_path, monkeypatch):
    study = make_study()
    pairs = page_scorer.training_pairs(study, range(12))
    monkeypatch.setattr(page_training, "EPOCHS_BETWEEN_CHECKPOINTS", 1)
    whole, curve = page_training.train(study, pairs, 3, tmp_path / "whole", "t")

    class Kill(page_training.TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step == 2 * len(GoldAwareBatches(false_negatives(pairs), 4)) + 1:
                raise Killed

    with pytest.raises(Killed):
        page_training.train(study, pairs, 3, tmp_path / "cut", "t", callbacks=[Kill()])
    (tmp_path / "cut" / "checkpoint-9999").mkdir()  # a checkpoint that was not written to its end
    rest, rest_curve = page_training.train(study, pairs, 3, tmp_path / "cut", "t")
    assert rest_curve == curve
    for name, value in whole.state_dict().items():
        assert torch.equal(value, rest.state_dict()[name]), name


def test_a_planted_copy_of_a_test_question_stops_the_training(make_study):
    def copy(folder):
        folder.questions[2]["question"] = folder.questions[0]["question"].upper()

    study = make_study(spoil=copy)
    with pytest.raises(LeakError, match=r"near copy in training: .*; training was not started"):
        page_scorer.page_scores(study, "company")
    assert not list(study.store.root.glob("page_scorer/model/*"))


def test_shuffled_labels_are_memorised_but_not_transferred(make_study):
    study = make_study(**{"page_scorer.epochs": 30, "page_scorer.learning_rate": 3e-3})
    gold = np.array(
        [row.gold_pages[0] + 4 * number for number, row in enumerate(study.questions.itertuples())]
    )
    first = page_scorer.folds(study, "company")[0]
    entry = page_scorer.fold_model(study, first)
    ranks = {}
    for name, rows in (("train", first.train), ("test", first.test)):
        scores = page_scorer.scores_of_model(study, entry, rows)
        ranks[name] = (scores > scores[np.arange(len(rows)), gold[list(rows)]][:, None]).sum(axis=1)
    assert (ranks["train"] < 2).mean() > 0.8  # letters are random, so a question tells nothing of its page
    assert ranks["test"].mean() > 8  # chance is 23.5 of 48 pages


def test_company_folds_need_two_companies(make_study):
    def one_company(folder):
        for document in folder.documents:
            document["company"] = "ash"

    with pytest.raises(StudyError, match="folds need two groups or more"):
        page_scorer.folds(make_study(spoil=one_company), "company")


def test_pages_are_ranked_among_those_with_a_candidate_chunk():
    scores = np.array([[0.1, 0.9, 0.5, 0.5]])
    pages, candidates = np.array([0, 0, 1, 2, 3]), np.array([[True, True, False, True, True]])
    assert rank_pages(scores, pages, candidates, 2)[0].tolist() == [2, 3]
    assert rank_pages(scores, pages, candidates, 9)[0].tolist() == [2, 3, 0]


def test_stage_two_searches_only_the_kept_pages_with_the_base_encoder(make_study):
    study = make_study()
    everything = np.ones((12, len(study.chunks)), bool)
    page_scores = scorer_scores(study, "full", "company")
    assert (score(study, everything) == search(study, page_scores, everything)).all()
    from lib.retrievers import dense

    base, found = dense.score(study, everything), search(study, page_scores, everything, n_pages=2)
    best_two = page_run(study, page_scores, everything, depth=2)
    for row, question_id in enumerate(study.questions["question_id"]):
        kept = best_two[best_two["question_id"] == question_id]
        on_page = study.chunks.merge(kept, how="left", on=["doc_name", "page"])["rank"].notna().to_numpy()
        assert np.isfinite(found[row]).tolist() == on_page.tolist()
        assert (found[row][on_page] == base[row][on_page]).all()


def test_under_an_oracle_only_its_pages_are_ranked(make_study):
    study = make_study()
    run = (
        study.rank_method
        if False
        else page_run(study, scorer_scores(study, "untrained"), study.candidates("oracle-page"), depth=5)
    )
    wanted = study.questions.explode("gold_pages")
    assert sorted(zip(run["question_id"], run["page"], strict=True)) == sorted(
        zip(wanted["question_id"], wanted["gold_pages"], strict=True)
    )


def test_the_final_model_loads_and_its_card_holds_the_folds_scores(make_study, tmp_path):
    study = make_study(**{"page_scorer.epochs": 1})
    scores = pd.DataFrame({"measure": ["page recall at 5"], "folds by company": ["0.31 [0.20, 0.42]"]})
    target = export_final(study, scores, tmp_path / "final")
    card = (target / "README.md").read_text()
    assert "| page recall at 5 | 0.31 [0.20, 0.42] |" in card
    assert "18 (question, gold page) pairs of 12 questions" in card
    assert SentenceTransformer(str(target)).encode(["a page"]).shape == (1, 32)
    with pytest.raises(ValueError, match="needs the folds' scores"):
        model_card(study, scores.head(0))

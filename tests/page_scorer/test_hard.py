"""Frozen lower layers and hard negatives from all pages, on a tiny random encoder of two layers."""

import math

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from lib.models.weights import fetch
from lib.page_scorer import hard
from lib.page_scorer.full import scores_entry, training_pairs
from lib.page_scorer.hard import Activations, Known, Trainee, contrastive_loss, fold_reading, rate, readable
from lib.page_scorer.pages import folds, load_records, load_scores, page_texts
from lib.page_scorer.search import scorer_scores
from lib.profile import Settings

TEXTS = ["net sales rose", "cash", "the profit in the year of net cash flow", "sales " * 60]
RECIPE = Settings(max_tokens=32, train_precision="float32", frozen_layers=1)


@pytest.fixture(scope="module", params=["BertModel", "MPNetModel"])
def weights(request, tiny, wordpiece, tmp_path_factory):
    """A tiny encoder of two layers; MPNet adds a bias of positions that all its layers share."""
    if request.param == "BertModel":
        return tiny("BertModel")
    import shutil

    import transformers

    config = transformers.MPNetConfig(
        vocab_size=wordpiece.get_vocab_size(), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=130, initializer_range=0.5,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("mpnet")
    transformers.MPNetModel(config).eval().save_pretrained(path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny("BertModel") / name, path)
    return path


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_are_those_of_the_whole_encoder(weights, tmp_path):
    trainee, whole = Trainee(weights, RECIPE), SentenceTransformer(str(weights))
    whole.max_seq_length = 32
    found = trainee.encode(trainee.inputs(TEXTS), [2, 0, 3, 1])
    assert found == pytest.approx(unit(whole.encode(TEXTS))[[2, 0, 3, 1]], abs=0.02)  # bfloat16 is cached
    trainee.freeze(TEXTS, tmp_path)
    stored = trainee.encode(Activations.load(tmp_path), range(len(TEXTS)))
    assert stored == pytest.approx(found[[1, 3, 0, 2]], abs=1e-6)


def test_frozen_layers_stay_and_the_saved_model_has_both(weights, tmp_path):
    trainee, before = Trainee(weights, RECIPE), SentenceTransformer(str(weights)).state_dict()
    inputs = trainee.inputs(TEXTS)
    generator = torch.Generator().manual_seed(1)
    trainee.load([one + 0.1 * torch.randn(one.shape, generator=generator) for one in trainee.parameters])
    changed = trainee.encode(inputs, range(len(TEXTS)))
    trainee.whole().save_pretrained(str(tmp_path / "saved"))
    saved = SentenceTransformer(str(tmp_path / "saved"))
    after = {name for name, value in saved.state_dict().items() if not torch.equal(value, before[name])}
    assert after
    assert all(".layer.1." in name for name in after)
    assert unit(saved.encode(TEXTS)) == pytest.approx(changed, abs=0.02)


def test_a_layer_must_be_left_to_train(weights):
    with pytest.raises(ValueError, match="2 frozen layers of 2 leave none"):
        Trainee(weights, Settings(RECIPE | {"frozen_layers": 2}))


def test_the_loss_leaves_the_other_gold_pages_out():
    scores, own = torch.tensor([[0.10, 0.15, 0.05]]), torch.tensor([0])
    alone = contrastive_loss(scores, own, torch.tensor([[True, False, False]]))
    assert alone.item() == pytest.approx(-2 + math.log(math.e**2 + math.e**3 + math.e**1))
    beside = contrastive_loss(scores, own, torch.tensor([[True, True, False]]))
    assert beside.item() == pytest.approx(-2 + math.log(math.e**2 + math.e**1))


def test_the_rate_rises_then_falls():
    assert [rate(step, 10, 0.2) for step in (0, 1, 2, 6, 9)] == [0, 0.5, 1, 0.5, 0.125]


def test_of_all_pages_the_hardest_are_encoded_and_the_others_remembered():
    known = Known(np.array([2, 4, 7]), np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))
    questions = torch.tensor([[1.0, 0.0]])
    assert known.hardest(questions, [frozenset({2})], 1).tolist() == [
        4
    ]  # the highest cosine of those not gold
    pages = torch.tensor([[0.0, 1.0], [0.8, 0.6]], requires_grad=True)
    scores, columns = known.scores(questions, np.array([2, 4]), pages)
    assert columns.tolist() == [2, 4, 7]
    assert scores.tolist() == [pytest.approx([0.0, 0.8, 0.0])]
    assert torch.equal(known.vectors, torch.tensor([[0.0, 1.0], [0.8, 0.6], [0.0, 1.0]]))


@pytest.fixture
def study(make_study):
    study = make_study()
    recipe = {"negatives": "all", "n_negatives": 2, "header": True, "frozen_layers": 1}
    best = dict(study.profile.page_scorer) | recipe
    return study._copy(profile=study.profile.updated({"page_scorer_best": best}), _memo={})


def test_nothing_of_a_tested_company_is_read(study):
    fold, recipe = folds(study, "company")[0], study.profile.page_scorer_best
    trainee = Trainee(fetch(study.profile.embedder.weights), recipe)
    reading = fold_reading(study, fold, recipe, training_pairs(study, fold.train), trainee)
    texts = dict.fromkeys(page_texts(study, header=True))
    row_of = {text: row for row, text in enumerate(texts)}
    is_tested = study.pages["doc_name"].isin(fold.test_filings)
    tested = {
        row_of[text] for text, is_one in zip(page_texts(study, header=True), is_tested, strict=True) if is_one
    }
    assert not tested & {*reading.pages, *reading.known}
    assert len(reading.known) == 32  # the pages of eight training filings


def test_a_page_with_the_text_of_a_test_questions_gold_page_is_no_negative(study, monkeypatch):
    fold, texts = folds(study, "company")[0], list(page_texts(study))
    asked = study.questions.iloc[fold.test[0]]
    gold = study.pages.index[study.pages["doc_name"] == asked["doc_name"]][asked["gold_pages"][0]]
    other = study.pages.index[study.pages["doc_name"].isin(fold.train_filings)][2]
    assert readable(study, fold).sum() == 32
    texts[other] = texts[gold]
    monkeypatch.setattr(hard, "page_texts", lambda study: texts)
    assert not readable(study, fold)[other]
    assert readable(study, fold).sum() == 31


@pytest.mark.parametrize("seed", [1, 2])
def test_a_killed_training_resumes_and_ends_the_same(study, tmp_path, monkeypatch, seed):
    monkeypatch.setattr(hard, "EPOCHS_BETWEEN_CHECKPOINTS", 1)
    fold = folds(study, "company")[0]
    recipe = Settings(study.profile.page_scorer_best | {"seed": seed})
    given = study, fold, recipe, training_pairs(study, fold.train)
    whole, curve = hard.train(*given, tmp_path / "whole", "t")
    monkeypatch.setattr(hard, "_save_checkpoint", kill_after(1, hard._save_checkpoint))
    with pytest.raises(KeyboardInterrupt):
        hard.train(*given, tmp_path / "cut", "t")
    (tmp_path / "cut" / "checkpoint-9999.part").touch()  # a checkpoint that was not written to its end
    monkeypatch.undo()
    rest, rest_curve = hard.train(*given, tmp_path / "cut", "t")
    others = rest.state_dict()
    assert rest_curve == curve
    assert all(torch.equal(value, others[name]) for name, value in whole.state_dict().items())


def kill_after(n_epochs, save):
    def saved(folder, state):
        save(folder, state)
        if state["epochs"] == n_epochs:
            raise KeyboardInterrupt

    return saved


def test_the_best_recipe_is_scored_in_folds_as_the_published_one(study):
    scores = scorer_scores(study, "best")
    entry = scores_entry(study, "company", "page_scorer_best")
    assert (scores == load_scores(study, entry)).all()
    assert entry.stage == "page_scorer_best/scores/company"
    assert [record["fold"] for record in load_records(entry)] == [0, 1, 2]
    assert (study.outputs / "folds/page_scorer_best-company.json").is_file()

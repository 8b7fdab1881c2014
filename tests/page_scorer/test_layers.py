"""Frozen lower layers: what is cached gives the vectors of the whole encoder, and only the others are trained."""

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from lib.page_scorer.layers import Activations, Trainee

TEXTS = ["net sales rose", "cash", "the profit in the year of net cash flow", "sales " * 60]


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


@pytest.mark.parametrize("frozen", [0, 1])
def test_vectors_are_those_of_the_whole_encoder(weights, frozen, tmp_path):
    trainee, whole = Trainee(weights, 32, "float32", frozen, False), SentenceTransformer(str(weights))
    whole.max_seq_length = 32
    expected = unit(whole.encode(TEXTS))
    found = trainee.encode(trainee.inputs(TEXTS), [2, 0, 3, 1])
    assert found == pytest.approx(expected[[2, 0, 3, 1]], abs=0.02 if frozen else 1e-5)  # bfloat16 is cached
    if frozen:
        trainee.freeze(TEXTS, tmp_path)
        stored = trainee.encode(Activations.load(tmp_path), range(len(TEXTS)))
        assert stored == pytest.approx(found[[1, 3, 0, 2]], abs=1e-6)


def test_frozen_layers_stay_and_the_saved_model_has_both(weights, tmp_path):
    trainee, before = (
        Trainee(weights, 32, "float32", 1, False),
        SentenceTransformer(str(weights)).state_dict(),
    )
    inputs = trainee.inputs(TEXTS)
    with torch.no_grad():
        for parameter in trainee.parameters:
            parameter += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    changed = trainee.encode(inputs, range(len(TEXTS)))
    trainee.whole().save_pretrained(str(tmp_path / "saved"))
    saved = SentenceTransformer(str(tmp_path / "saved"))
    after = {
        name: value for name, value in saved.state_dict().items() if not torch.equal(value, before[name])
    }
    assert after
    assert all(".layer.1." in name for name in after)
    assert unit(saved.encode(TEXTS)) == pytest.approx(changed, abs=0.02)


def test_a_state_brings_the_vectors_back(weights):
    trainee = Trainee(weights, 32, "float32", 1, False)
    inputs, state = trainee.inputs(TEXTS), trainee.state()
    before = trainee.encode(inputs, range(len(TEXTS)))
    trainee.load({name: torch.zeros_like(value) for name, value in state.items()})
    assert trainee.encode(inputs, [0]) != pytest.approx(before[:1], abs=1e-3, nan_ok=True)
    trainee.load(state)
    assert (trainee.encode(inputs, range(len(TEXTS))) == before).all()


def test_a_layer_must_be_left_to_train(weights):
    with pytest.raises(ValueError, match="2 frozen layers of 2 leave none"):
        Trainee(weights, 32, "float32", 2, False)

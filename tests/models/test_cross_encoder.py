"""Cross-encoders: the known fingerprint, and scores that do not depend on the company a pair is in."""

import numpy as np
import pytest

from lib.models.cross_encoder import TorchCrossEncoder, load_cross_encoder
from lib.models.weights import fetch


@pytest.mark.weights
def test_scores_do_not_depend_on_other_pairs_and_pairs_that_are_too_long_are_cut():
    onnx = load_cross_encoder(fetch("ms-marco-minilm-l12"), window=512)
    asked, text = "How many people live in Berlin?", "Berlin had a population of 3,520,031 registered inhabitants."
    pairs = [(asked, text), (asked, "New York City."), (asked, text + " word" * 900), (asked * 200, text), ("?", "")]
    scores = onnx.scores(pairs)
    assert scores[0] > 5 > -5 > scores[1], "logits"
    assert np.isfinite(scores).all()
    assert scores.tolist() == [onnx.scores([pair])[0] for pair in pairs]
    assert onnx.scores([]).shape == (0,)


def test_safetensors_go_through_sentence_transformers(tiny):
    model = load_cross_encoder(tiny("BertForSequenceClassification", num_labels=1), window=64)
    assert isinstance(model, TorchCrossEncoder)
    scores = model.scores([("net sales", "net sales rose"), ("net sales", "profit"), ("cash", "profit " * 200)])
    assert scores.shape == (3,)
    assert len(set(scores.tolist())) == 3

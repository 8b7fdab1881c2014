"""Cross-encoders: the known fingerprint, and scores that do not depend on the company a pair is in."""

import numpy as np
import pytest

from lib.models.cross_encoder import TorchCrossEncoder, load_cross_encoder
from lib.models.weights import fetch

QUESTION = "How many people live in Berlin?"
BERLIN = "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers."
MUSEUMS = "Berlin is well known for its museums."
NEW_YORK = "New York City is famous for the Metropolitan Museum of Art."


@pytest.mark.weights
def test_scores_are_the_model_card_s_whatever_the_other_pairs_and_pairs_that_are_too_long_are_cut():
    """The card gives 9.218911 and -4.0780287 for the float model; these weights have 8 bits."""
    onnx = load_cross_encoder(fetch("ms-marco-minilm-l12"), window=512)
    pairs = [(QUESTION, text) for text in (BERLIN, MUSEUMS, NEW_YORK, BERLIN + " word" * 900)]
    pairs += [(QUESTION * 200, BERLIN), ("?", "")]
    scores = onnx.scores(pairs)
    assert scores[:2] == pytest.approx([9.2, -4.1], abs=0.15)
    assert scores[2] < -10
    assert np.isfinite(scores).all()
    assert scores.tolist() == [onnx.scores([pair])[0] for pair in pairs]
    assert onnx.scores([]).shape == (0,)


def test_safetensors_go_through_sentence_transformers(tiny):
    model = load_cross_encoder(tiny("BertForSequenceClassification", num_labels=1), window=64)
    assert isinstance(model, TorchCrossEncoder)
    scores = model.scores([("net sales", "net sales rose"), ("net sales", "profit"), ("cash", "profit " * 200)])
    assert scores.shape == (3,)
    assert len(set(scores.tolist())) == 3

"""Parent-child: a parent scores as its best child."""

import numpy as np
import pytest

from lib.retrievers import parent_child


class WordEncoder:
    """Unit vectors that count a few words: the cosine is what one expects of shared words."""

    words = ("net", "sales", "cash", "flow", "profit")

    def __init__(self):
        self.seen = []

    def encode(self, texts, role="document") -> np.ndarray:
        self.seen += [(role, text) for text in texts]
        counts = np.array([[text.lower().count(word) for word in self.words] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True).clip(1e-12)


@pytest.fixture
def study(fake_study, tokenizer_folder, monkeypatch):
    embedder = {"weights": str(tokenizer_folder), "window": 64, "precision": "float32", "batch_size": 4}
    profile = {"embedder": embedder, "parent_child": {"size": 3, "overlap": 1}}
    texts = ["net sales in the year cash flow rose", "net cash", "profit"]
    made = fake_study(["cash flow", "profit"], texts, profile)
    made.encoder = WordEncoder()
    monkeypatch.setattr("lib.models.index.Encoder", lambda *args: made.encoder)
    return made


def test_children_are_short_spans_of_their_parents(study):
    table = parent_child.children(study)
    of_first = ["net sales in", "in the year", "year cash flow", "flow rose"]
    assert table["text"].tolist() == [*of_first, "net cash", "profit"]
    assert table["chunk"].tolist() == [0, 0, 0, 0, 1, 2]


def test_a_parent_scores_as_its_best_child(study):
    scores = parent_child.score(study, np.ones((2, 3), bool))
    # "year cash flow" is the question itself; "net cash" shares one of two words.
    assert scores == pytest.approx(np.array([[1, 1 / 2, 0], [0, 0, 1]]), abs=1e-6)


def test_questions_and_children_are_encoded_in_their_roles_and_once(study):
    for _ in range(2):
        parent_child.score(study, np.ones((2, 3), bool))
    asked = [text for role, text in study.encoder.seen if role == "query"]
    assert asked == ["cash flow", "profit"]
    assert len(study.encoder.seen) == 2 + 6

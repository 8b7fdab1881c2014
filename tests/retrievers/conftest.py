"""A study whose language model is a fake that answers by rule, and whose encoder counts words."""

import numpy as np
import pytest

from lib.models import vectors
from lib.models.prompts import Generation, GenerationError
from lib.models.written import GenerationLog, Model
from lib.profile import load_profile

CHANGES = {"embedder.window": 64, "embedder.window_overlap": 8, "embedder.precision": "float32"}
CHANGES |= {"hyde.n_passages": 3, "parent_child.size": 3, "parent_child.overlap": 1, "embedder.batch_size": 4}
CHANGES |= {"significance.n_draws": 200, "sibling_texts.judge.top": 2, "sibling_texts.judge.passage_tokens": 4}
CHANGES |= {"sibling_texts.selection.top": 3, "sibling_texts.selection.passage_tokens": 3}


class Rule:
    """A generator that answers ``rule(prompt)``, behind the seed if ``shows_seed``; None is a failure."""

    def __init__(self, rule, shows_seed: bool = False):
        self.rule, self.shows_seed, self.asked = rule, shows_seed, []

    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            self.asked.append(request)
            seed = f"{request.sampling.seed} " if self.shows_seed else ""
            text = self.rule(seed + request.prompt.user)
            on_done(number, GenerationError("it died") if text is None else Generation(text, 50, 3, "stop", 0.1))


class WordEncoder:
    """Unit vectors that count a few words; it keeps what it read, and as what."""

    words = ("net", "sales", "cash", "flow", "profit", "acme", "bolt")

    def __init__(self):
        self.seen = []

    def encode(self, texts, role="document") -> np.ndarray:
        self.seen += [(role, text) for text in texts]
        counts = np.array([[text.lower().split().count(word) for word in self.words] for text in texts])
        return (counts / np.linalg.norm(counts, axis=1, keepdims=True).clip(1e-12)).astype(np.float32)


@pytest.fixture
def written_study(fake_study, tokenizer_folder, tmp_path, monkeypatch):
    """Make a study whose generator follows a rule; ``hybrid_rrf`` has the given scores, the profile these changes."""

    def make(questions: list[str], texts: list[str], rule=None, scores: np.ndarray | None = None, **changes):
        made = fake_study(questions, texts, {}, {"hybrid_rrf": scores})
        weights = {"embedder.weights": str(tokenizer_folder)}
        made.profile = load_profile("default").replaced(CHANGES | weights | changes)
        made.encoder, made.generator = WordEncoder(), rule if isinstance(rule, Rule) else Rule(rule)
        monkeypatch.setattr(vectors, "load_encoder", lambda *args: made.encoder)
        made.make_generator = lambda: made.generator
        model, path = Model("tiny", "ab12"), tmp_path / "generations.jsonl"
        made.generation_log = lambda: GenerationLog(path, made.cache, model, say=lambda line: None)
        made.digest = made.settings_of = str
        return made

    return make

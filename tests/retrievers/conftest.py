"""A study whose language model is a fake that answers by rule, and whose encoder counts words."""

import numpy as np
import pytest

from lib.models import index
from lib.models.prompts import Generation, GenerationError
from lib.models.written import GenerationLog, Model

SETTINGS = {
    "rewrites": {"n": 3, "max_tokens": 60},
    "keywords": {"max_tokens": 20},
    "expansion": {"max_tokens": 20},
    "correction": {"max_tokens": 20, "temperature": 0.5},
    "judge": {"top": 2, "passage_tokens": 4, "max_tokens": 4},
    "selection": {"top": 3, "passage_tokens": 3, "max_tokens": 9},
    "answer_question": {"max_tokens": 20},
    "seed": 13,
}


class Rule:
    """A generator that answers ``rule(prompt)``; None is a failure. It keeps what it was asked."""

    def __init__(self, rule):
        self.rule, self.asked = rule, []

    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            self.asked.append(request)
            text = self.rule(request.prompt.user)
            failed = GenerationError("it died")
            on_done(number, failed if text is None else Generation(text, 50, 3, "stop", 0.1))


class WordEncoder:
    """Unit vectors that count a few words."""

    words = ("net", "sales", "cash", "flow", "profit")

    def encode(self, texts, role="document") -> np.ndarray:
        counts = np.array([[text.lower().split().count(word) for word in self.words] for text in texts])
        return (counts / np.linalg.norm(counts, axis=1, keepdims=True).clip(1e-12)).astype(np.float32)


@pytest.fixture
def judged_study(fake_study, tokenizer_folder, tmp_path, monkeypatch):
    """Make a study whose generator follows a rule; ``hybrid_rrf`` has the given scores."""

    def make(questions: list[str], texts: list[str], rule, scores: np.ndarray | None = None):
        weights = {"weights": str(tokenizer_folder)}
        profile = {
            "embedder": weights
            | {"window": 64, "window_overlap": 8, "long_chunks": "windows", "precision": "float32", "batch_size": 4},
            "hybrid_rrf": {"k_rrf": 60, "depth": 100},
            "bm25": {"k1": 1.5, "b": 0.75},
            "run": {"depth": 50},
            "significance": {"n_draws": 200, "seed": 0},
        }
        made = fake_study(questions, texts, profile, {"hybrid_rrf": scores})
        made.profile = made.profile.updated({"sibling_texts": SETTINGS})
        monkeypatch.setattr(index, "load_encoder", lambda *args: WordEncoder())
        made.generator = Rule(rule)
        made.make_generator = lambda: made.generator
        made.generation_log = lambda: GenerationLog(
            tmp_path / "generations.jsonl", made.cache, Model("tiny", "ab12"), say=lambda line: None
        )
        made.settings_of = lambda sections: {name: made.profile[name] for name in sections}
        return made

    return make

"""A study whose language model is a fake that answers by rule, and whose encoder counts words."""

import numpy as np
import pytest

from lib.models import index
from lib.models.prompts import Generation, GenerationError
from lib.models.written import GenerationLog, Model

ONE = {"n_passages": 1, "temperature": 0.0, "max_tokens": 150}
PROFILE = {
    "embedder": {"window": 64, "window_overlap": 8, "long_chunks": "windows", "precision": "float32", "batch_size": 4},
    "hybrid_rrf": {"k_rrf": 60, "depth": 100},
    "bm25": {"k1": 1.5, "b": 0.75},
    "run": {"depth": 50},
    "significance": {"n_draws": 200, "seed": 0},
    "hyde": {"n_passages": 3, "temperature": 0.7, "max_tokens": 200, "seed": 13},
    "parent_child": {"size": 3, "overlap": 1},
    "sibling_texts": {
        "rewrites": {"n": 3, "max_tokens": 60},
        "keywords": {"max_tokens": 20},
        "expansion": {"max_tokens": 20},
        "correction": {"max_tokens": 20, "temperature": 0.5},
        "judge": {"top": 2, "passage_tokens": 4, "max_tokens": 4},
        "selection": {"top": 3, "passage_tokens": 3, "max_tokens": 9},
        "answer_question": {"max_tokens": 20},
        "hyde_akarsu": ONE,
        "seed": 13,
    },
}


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
    """Make a study whose generator follows a rule; ``hybrid_rrf`` has the given scores, sections what is changed."""

    def make(questions: list[str], texts: list[str], rule=None, scores: np.ndarray | None = None, **sections):
        profile = {name: own | sections.get(name, {}) for name, own in PROFILE.items()}
        profile["embedder"]["weights"] = str(tokenizer_folder)
        made = fake_study(questions, texts, {}, {"hybrid_rrf": scores})
        made.profile = made.profile.updated(profile)
        made.encoder, made.generator = WordEncoder(), rule if isinstance(rule, Rule) else Rule(rule)
        monkeypatch.setattr(index, "load_encoder", lambda *args: made.encoder)
        made.make_generator = lambda: made.generator
        model, path = Model("tiny", "ab12"), tmp_path / "generations.jsonl"
        made.generation_log = lambda: GenerationLog(path, made.cache, model, say=lambda line: None)
        made.digest = made.settings_of = str
        return made

    return make

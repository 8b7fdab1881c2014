"""How long one question takes once everything is loaded, and what it holds in memory."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lib.ahead.combiner import Combiner
from lib.ahead.pool import SAVED, page_pool, training_params
from lib.models.encoders import Encoder
from lib.models.weights import fetch
from lib.store import peak_memory_mib

N_QUESTIONS = 30


def encode_now(study, texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of queries, computed and not stored."""
    settings = study.profile.embedder

    def load() -> Encoder:
        return Encoder(fetch(settings.weights), settings.window, settings.precision, settings.batch_size)

    return study.memo("ahead_encoder", load).encode(list(texts), "query")


def rank_pages(study, question: str, combiner: Combiner) -> np.ndarray:
    """The pages' rows for a question that was not seen before, best first."""
    pool = page_pool(study, [question], encode=encode_now)
    return pool.columns[np.argsort(-combiner.scores(pool), kind="stable")]


def seconds_a_question(study, questions: Sequence[str]) -> np.ndarray:
    """Wall seconds of each question, after one that is not counted and loads what is loaded once.

    It measures speed only: the saved combiner answers whatever is asked, and its pages are thrown away.
    """
    combiner, seconds = Combiner.load(SAVED), []
    rank_pages(study, questions[0], combiner)
    for question in questions:
        started = time.perf_counter()
        rank_pages(study, question, combiner)
        seconds.append(time.perf_counter() - started)
    return np.array(seconds)


def measured(study) -> dict[str, float]:
    """Median and 95th percentile of a question's milliseconds, and the process's peak memory; measured once."""

    def compute(target: Path) -> None:
        seconds = seconds_a_question(study, study.questions["question"].tolist()[:N_QUESTIONS])
        median, slow = np.quantile(seconds, [0.5, 0.95]) * 1000
        record = {"median_ms": median, "p95_ms": slow, "n": len(seconds), "peak_mib": peak_memory_mib()}
        (target / "timing.json").write_text(json.dumps(record))

    entry = study.shared("ahead/timing", lambda: training_params(study), compute)
    return json.loads((entry.path / "timing.json").read_text())

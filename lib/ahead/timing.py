"""How long one question takes once everything is loaded, and how much memory the process needs."""

import json
import time
from pathlib import Path

import numpy as np

from lib.ahead.combiner import Combiner
from lib.ahead.pool import page_pool
from lib.ahead.training import SAVED, VERSION, training_params
from lib.models.encoders import Encoder
from lib.models.weights import fetch
from lib.store import peak_memory_mib
from lib.study import Study

N_QUESTIONS = 30


def rank_pages(study: Study, question: str, combiner: Combiner, encoder: Encoder) -> np.ndarray:
    """The pages' rows for a question that was not seen before, best first; its vectors are not stored."""
    pool = page_pool(study, [question], encode=lambda _, texts: encoder.encode(list(texts), "query"))
    return pool.columns[np.argsort(-combiner.scores(pool), kind="stable")]


def question_seconds(study: Study, questions: list[str]) -> list[float]:
    """Wall seconds of each question, after one that is not counted and loads what is loaded once.

    Only for speed: the saved combiner may have been trained on these questions, and its pages are discarded.
    """
    settings = study.profile.embedder
    encoder = Encoder(fetch(settings.weights), settings.window, settings.precision, settings.batch_size)
    combiner, seconds = Combiner.load(SAVED), []
    for question in [questions[0], *questions]:
        started = time.perf_counter()
        rank_pages(study, question, combiner, encoder)
        seconds.append(time.perf_counter() - started)
    return seconds[1:]


def measure_times(study: Study) -> dict[str, float]:
    """Median and 95th percentile of a question's milliseconds, and the process's peak memory; measured once.

    Returns:
        median_ms, p95_ms, n (questions), peak_mib.
    """

    def compute(target: Path) -> None:
        seconds = question_seconds(study, study.questions["question"].tolist()[:N_QUESTIONS])
        median, slow = np.quantile(seconds, [0.5, 0.95]) * 1000
        record = {"median_ms": median, "p95_ms": slow, "n": len(seconds), "peak_mib": peak_memory_mib()}
        (target / "timing.json").write_text(json.dumps(record))

    entry = study.shared("ahead/timing", lambda: training_params(study), compute, VERSION)
    return json.loads((entry.path / "timing.json").read_text())

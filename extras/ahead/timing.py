"""How long one question takes once everything is loaded, and how much memory the process needs."""

import json
import resource
import time
from pathlib import Path

import numpy as np

from lib.ahead.combiner import Combiner
from lib.ahead.pool import page_pool
from lib.ahead.training import SAVED, training_params
from lib.models.encoders import Encoder
from lib.models.weights import fetch
from lib.study import Study

N_QUESTIONS = 30


def question_seconds(study: Study, questions: list[str]) -> list[float]:
    """Wall seconds to order the pages of each question, after one that is not counted and loads what is loaded once.

    Only for speed: the vectors are not stored, and the saved combiner may have been trained on these questions.
    """
    settings = study.profile.embedder
    encoder = Encoder(fetch(settings.weights), settings.window, settings.precision, settings.batch_size)
    combiner, seconds = Combiner.load(SAVED), []
    for question in [questions[0], *questions]:
        started = time.perf_counter()
        pool = page_pool(study, [question], encode=lambda _, texts: encoder.encode(list(texts), "query"))
        np.argsort(-combiner.scores(pool), kind="stable")
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
        peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        record = {"median_ms": median, "p95_ms": slow, "n": len(seconds), "peak_mib": peak_mib}
        (target / "timing.json").write_text(json.dumps(record))

    entry = study.store.get("ahead/timing", training_params(study), compute, public=True)
    return json.loads((entry.path / "timing.json").read_text())

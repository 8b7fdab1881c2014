"""How long one question takes once everything is loaded."""

import time
from collections.abc import Sequence

import numpy as np

from lib.ahead.combiner import Combiner
from lib.ahead.pool import SAVED, page_pool
from lib.models import index


def encode_now(study, texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of queries, computed and not stored."""
    return index._encoder(study).encode(list(texts), "query")


def rank_pages(study, question: str, combiner: Combiner) -> np.ndarray:
    """The pages' rows for a question that was not seen before, best first."""
    pool = page_pool(study, [question], encode=encode_now)
    return pool.columns[np.argsort(-combiner.scores(pool), kind="stable")]


def seconds_a_question(study, questions: Sequence[str]) -> np.ndarray:
    """Wall seconds of each question, after one that is not counted and loads what is loaded once.

    It measures speed only: the saved combiner answers whatever is asked, its pages are thrown away.
    """
    combiner, seconds = Combiner.load(SAVED), []
    rank_pages(study, questions[0], combiner)
    for question in questions:
        started = time.perf_counter()
        rank_pages(study, question, combiner)
        seconds.append(time.perf_counter() - started)
    return np.array(seconds)

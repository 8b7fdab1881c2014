"""What a question costs under Ahead and its variants: ``python -m extras.ahead.timing`` writes their rows of times.

They are measured as the other rows were (commit d4ceab42): warm, one question at a time, the same 20, drawn with SEED;
one more loads the index. Seconds to index are those to encode the spans, from a sample, and to describe the pages.
"""

import os
import time

import numpy as np
import pandas as pd

from lib import runs
from lib.ahead.pool import Pool
from lib.ahead.ranker import mixed
from lib.ahead.search import BLANK_COSINE, saved_ranker, spread_pages
from lib.ahead.views import PageViews, Vectors, pool_of, span_signals, untrained_sum
from lib.analysis.measured import TIME_COLUMNS, TIMES, times
from lib.files import write_atomically
from lib.filings.identity import identity_features
from lib.models.encoders import automatic_precision, load_encoder
from lib.models.weights import fetch
from lib.retrievers import spans
from lib.retrievers.dense import best_window_scores
from lib.retrievers.places import pages_of_chunks
from lib.studies import open_study
from lib.study import Study

SEED, N_QUESTIONS, SAMPLE = 13, 20, 256
RANKERS = {"ahead": "kinds", "ahead_general": "plain", "ahead_untrained": ""}  # by row


def seconds(study: Study) -> dict[str, list[float]]:
    """Seconds per question and row, and under ``index`` those to index the filings, with the hand-written kinds."""
    settings, pages = study.profile.spans, pages_of_chunks(study)
    encoder = load_encoder(fetch(settings.weights), settings.window, settings.precision, settings.batch_size)
    owners, vectors = spans.span_vectors(study)
    texts, named = spans.spans(study)["text"], spans.named_filings(study)
    sample = texts.sample(min(SAMPLE, len(texts)), random_state=SEED).tolist()
    encoder.encode(sample[:1])
    started = time.perf_counter()
    encoder.encode(sample)
    found = {"index": [(time.perf_counter() - started) * len(texts) / len(sample)]}
    started = time.perf_counter()
    views = PageViews(study.filings, study.pages, study.profile.bm25)
    pool_of(views, [""], Vectors(encoder.encode([""], "query"), pages[owners], vectors), has_kinds=True)
    found["index"][0] += time.perf_counter() - started
    asked = study.questions.sample(min(N_QUESTIONS + 1, len(study.questions)), random_state=SEED)
    for name, saved in RANKERS.items():
        ranker, found[name] = saved_ranker(saved) if saved else None, []
        for row in range(len(asked)):
            question = asked.iloc[[row]]
            text, started = question["question"].item(), time.perf_counter()
            query = encoder.encode(spans.asked_of_spans([text], named), "query")
            chunks = np.maximum(best_window_scores(query, vectors, owners, len(study.chunks)), BLANK_COSINE)
            given = Vectors(query, pages[owners], vectors)
            if ranker:
                pool = pool_of(views, [text], given, saved == "kinds")
                scores = mixed(ranker.booster, ranker.share, pool)
            else:
                pool, scores = untrained(views, text, given)
            runs.rank(spread_pages(pool, scores, chunks, pages), question, study.chunks, study.profile.run.depth)
            found[name].append(time.perf_counter() - started)
    return {name: of[1:] if name in RANKERS else of for name, of in found.items()}


def untrained(views: PageViews, question: str, vectors: Vectors) -> tuple[Pool, np.ndarray]:
    """All pages, and their untrained sum."""
    identity = identity_features([question], views.identities)["identity"][:, views.filing]
    words = views.words.get_scores(views.topic(question))[None]
    [scores] = untrained_sum(identity, words, span_signals(vectors, len(views.texts))["span"])
    return Pool(np.zeros(len(scores), int), np.arange(len(scores)), pd.DataFrame()), scores


if __name__ == "__main__":
    study = open_study("financebench")
    found, table = seconds(study), times(study).set_index("method")
    machine = f"{os.cpu_count()} cores, {automatic_precision()}"
    for name in RANKERS:
        low, middle, high = np.quantile(found[name], [0.25, 0.5, 0.75])
        table.loc[name] = [len(found[name]), middle, low, high, 0, 0, 0, *found["index"], machine]
        print(f"{name}: {middle:.3f} s per question, {found['index'][0]:.0f} s to index")
    rows = table.reset_index()[[*TIME_COLUMNS]]
    write_atomically(study.home / TIMES, rows.to_csv(index=False, float_format="%.6g").encode())

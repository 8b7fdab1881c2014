"""How fast the parts are, each beside its reference: ``python -m lib benchmark --dataset financebench``."""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from lib.analysis.frontier import BENCHMARKS
from lib.files import write_atomically
from lib.models.weights import fetch
from lib.retrievers import bm25
from lib.study import Study
from lib.tokens import tokenize
from lib.words import StudyError

COLUMNS = ["part", "variant", "value", "unit"]


def wall_times(run: Callable[[], object], repeats: int) -> list[float]:
    """The wall times of ``run`` after one run that does not count, in seconds."""
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return times


def seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """The median of :func:`wall_times`."""
    return float(np.median(wall_times(run, repeats)))


def bm25_rows(study: Study, n_questions: int = 10) -> list[tuple]:
    """Milliseconds a question: ours and ``rank_bm25``, over the same chunks."""
    from rank_bm25 import BM25Okapi

    texts = [tokenize(text) for text in study.chunks["text"]]
    queries = [tokenize(question) for question in study.questions["question"][:n_questions]]
    ours, reference = bm25.BM25(texts), BM25Okapi(texts)
    rows = []
    for name, score in (("sparse matrix (ours)", ours.scores), ("rank_bm25", reference.get_scores)):
        taken = seconds(lambda score=score: [score(query) for query in queries]) / len(queries)
        rows.append(("BM25", name, 1000 * taken, "ms a question"))
    return rows


def sparse_rows(study: Study, n_questions: int = 10) -> list[tuple]:
    """Milliseconds a question: the sparse product, and a scan of the same vectors laid out densely."""
    from lib.models.sparse import sparse_vectors

    documents = sparse_vectors(study, "sparse/chunks", study.chunks["text"].tolist())
    queries = sparse_vectors(study, "sparse/queries", study.questions["question"].tolist(), role="query")[
        :n_questions
    ]
    width = max(queries.shape[1], documents.shape[1])
    laid_out = np.zeros((documents.shape[0], width), np.float32)
    laid_out[:, : documents.shape[1]] = documents.toarray()
    asked = np.zeros((queries.shape[0], width), np.float32)
    asked[:, : queries.shape[1]] = queries.toarray()
    variants = (
        ("sparse product (ours)", lambda: (queries @ documents.T).toarray()),
        ("dense scan", lambda: asked @ laid_out.T),
    )
    return [
        ("SPLADE search", name, 1000 * seconds(run) / len(asked), "ms a question") for name, run in variants
    ]


def cross_encoder_rows(study: Study, n_pairs: int = 64) -> list[tuple]:
    """Pairs a second at 256 tokens: the int8 ONNX model, and sentence-transformers on the same architecture.

    The packaged cross-encoder has no weights for torch, so the reference carries random ones: as fast as real ones.
    """
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    from lib.models.cross_encoder import OnnxCrossEncoder

    weights = fetch(study.profile.rerank.weights)
    question = study.questions["question"].iloc[0]
    longest = study.chunks.loc[study.chunks["text"].str.len() > 2500, "text"].iloc[:n_pairs]
    pairs = [(question, text) for text in longest]
    if not pairs:
        raise StudyError("no chunk is long enough to time the cross-encoder; use a dataset with longer pages")
    ours = OnnxCrossEncoder(weights, window=256)
    size = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536}
    config = BertConfig(num_labels=1, **size)
    with TemporaryDirectory() as folder:
        BertForSequenceClassification(config).save_pretrained(folder)
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(weights / "tokenizer.json"), pad_token="[PAD]", model_max_length=256
        )
        tokenizer.save_pretrained(folder)
        reference = CrossEncoder(folder, max_length=256)
    variants = (
        ("int8 ONNX, one pair a thread (ours)", lambda: ours.scores(pairs)),
        (
            "sentence-transformers CrossEncoder, float32",
            lambda: reference.predict(pairs, show_progress_bar=False),
        ),
    )
    return [("Reranking", name, len(pairs) / seconds(run, 1), "pairs a second") for name, run in variants]


def generation_rows(study: Study, n_prompts: int = 4) -> list[tuple]:
    """New tokens a second of the language model with 1, 2 and 4 slots, each a single-threaded process."""
    from lib.models.generator import open_generator
    from lib.models.prompts import Generation, Request, Sampling
    from lib.retrievers.prompts import prompt

    rows = []
    for n_slots in (1, 2, 4):
        settings = study.profile.generator | {"n_slots": n_slots}
        generator = open_generator(settings, fetch(settings["weights"]))
        questions = study.questions["question"][: n_prompts * n_slots]
        sampling = Sampling(max_tokens=64, temperature=0.7, seed=1)
        written: list[Generation] = []
        started = time.perf_counter()
        generator.generate(
            [Request(prompt("hyde", {"question": q}), sampling) for q in questions],
            lambda _, one, to=written: to.append(one),
        )
        taken = time.perf_counter() - started
        rows.append(
            (
                "Generation",
                f"{n_slots} slots",
                sum(one.n_tokens for one in written) / taken,
                "tokens a second",
            )
        )
    return rows


def run_all(study: Study) -> pd.DataFrame:
    """Every benchmark: COLUMNS."""
    parts = (bm25_rows, sparse_rows, cross_encoder_rows, generation_rows)
    rows = [row for part in parts for row in part(study)]
    return pd.DataFrame(rows, columns=COLUMNS)


def run_and_keep(study: Study) -> pd.DataFrame:
    """Run the benchmarks and keep them as ``benchmarks.csv`` of the study's outputs: COLUMNS."""
    table = run_all(study)
    write_atomically(Path(study.home) / BENCHMARKS, table.to_csv(index=False).encode())
    return table

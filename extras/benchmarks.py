"""How fast the parts are, each beside its reference (``python -m lib benchmark --dataset financebench``); and how fast
encoders are, and what a lower precision changes (``python -m lib speed``)."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from lib.analysis.frontier import BENCHMARKS
from lib.analysis.speed import COLUMNS, MODELS, STAGE, VERSION, speed_params, speeds
from lib.book.manifest import processor
from lib.files import write_atomically
from lib.models.encoders import load_encoder
from lib.models.weights import fetch
from lib.retrievers import bm25
from lib.study import Study
from lib.tokens import tokenize
from lib.words import StudyError

N_QUESTIONS, N_PAIRS, N_PROMPTS = 10, 64, 4
N_TEXTS, N_ENCODED, N_TIMED, SEED = 96, 50, 8, 13
REPEATS, BATCH_SIZE = 4, 16
DEPTH = 20
CHARACTERS = 4000  # of a text that is longer than every window


def wall_times(run: Callable[[], object], repeats: int = 3) -> list[float]:
    """The wall times of ``run`` after one run that does not count, in seconds."""
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return times


def ms_each(variants: dict[str, Callable[[], object]], n: int) -> Iterator[tuple[str, float]]:
    """Milliseconds of one of ``n``, by variant: the median of three runs."""
    for name, run in variants.items():
        yield name, 1000 * float(np.median(wall_times(run))) / n


def bm25_ms(study: Study) -> Iterator[tuple[str, float]]:
    """Milliseconds per question over the same chunks."""
    from rank_bm25 import BM25Okapi

    texts, asked = ([tokenize(text) for text in part] for part in (study.chunks["text"], study.questions["question"]))
    asked, ours, theirs = asked[:N_QUESTIONS], bm25.BM25(texts), BM25Okapi(texts)
    variants = {
        "sparse matrix (ours)": lambda: list(map(ours.scores, asked)),
        "rank_bm25": lambda: list(map(theirs.get_scores, asked)),
    }
    return ms_each(variants, len(asked))


def sparse_ms(study: Study) -> Iterator[tuple[str, float]]:
    """Milliseconds per question: the sparse product, and a scan of the same vectors laid out densely."""
    from lib.models.sparse import sparse_vectors

    documents = sparse_vectors(study, "sparse/chunks", study.chunks["text"].tolist())
    queries = sparse_vectors(study, "sparse/queries", study.questions["question"].tolist(), role="query")
    queries, width = queries[:N_QUESTIONS], max(queries.shape[1], documents.shape[1])
    for matrix in (queries, documents):
        matrix.resize(matrix.shape[0], width)
    asked, laid_out = queries.toarray(), documents.toarray()
    variants = {
        "sparse product (ours)": lambda: (queries @ documents.T).toarray(),
        "dense scan": lambda: asked @ laid_out.T,
    }
    return ms_each(variants, len(asked))


def pairs_a_second(study: Study) -> Iterator[tuple[str, float]]:
    """Pairs per second at 256 tokens: the int8 ONNX model, and sentence-transformers on the same architecture.

    The packaged cross-encoder has no weights for torch, so the reference has random ones: as fast as real ones.
    """
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    from lib.models.cross_encoder import OnnxCrossEncoder

    weights, question = fetch(study.profile.rerank.weights), study.questions["question"].iloc[0]
    longest = study.chunks.loc[study.chunks["text"].str.len() > 2500, "text"].iloc[:N_PAIRS]
    pairs = [(question, text) for text in longest]
    if not pairs:
        raise StudyError("no chunk is long enough to time the cross-encoder; use a dataset with longer pages")
    size = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536}
    about = {"pad_token": "[PAD]", "model_max_length": 256}
    with TemporaryDirectory() as folder:
        BertForSequenceClassification(BertConfig(num_labels=1, **size)).save_pretrained(folder)
        PreTrainedTokenizerFast(tokenizer_file=str(weights / "tokenizer.json"), **about).save_pretrained(folder)
        reference = CrossEncoder(folder, max_length=256)
    ours = OnnxCrossEncoder(weights, window=256)
    yield "int8 ONNX, one pair a thread (ours)", len(pairs) / wall_times(lambda: ours.scores(pairs), 1)[0]
    scored = wall_times(lambda: reference.predict(pairs, show_progress_bar=False), 1)[0]
    yield "sentence-transformers CrossEncoder, float32", len(pairs) / scored


def tokens_a_second(study: Study) -> Iterator[tuple[str, float]]:
    """New tokens per second of the language model with 1, 2 and 4 slots, each a single-threaded process."""
    from lib.models.generator import open_generator
    from lib.models.prompts import Request, Sampling
    from lib.retrievers.prompts import prompt

    sampling, settings = Sampling(max_tokens=64, temperature=0.7, seed=1), study.profile.generator
    for n_slots in (1, 2, 4):
        generator = open_generator(settings | {"n_slots": n_slots}, fetch(settings["weights"]))
        questions = study.questions["question"][: N_PROMPTS * n_slots]
        requests, written = ([Request(prompt("hyde", {"question": question}), sampling) for question in questions], [])
        started = time.perf_counter()
        generator.generate(requests, lambda _, one, to=written: to.append(one.n_tokens))
        yield f"{n_slots} slots", sum(written) / (time.perf_counter() - started)


PARTS = {
    ("BM25", "ms a question"): bm25_ms,
    ("SPLADE search", "ms a question"): sparse_ms,
    ("Reranking", "pairs a second"): pairs_a_second,
    ("Generation", "tokens a second"): tokens_a_second,
}


def run_and_keep(study: Study) -> pd.DataFrame:
    """Run the benchmarks and keep them as ``benchmarks.csv`` of the study's outputs: part, variant, value, unit."""
    rows = [(part, *row, unit) for (part, unit), measure in PARTS.items() for row in measure(study)]
    table = pd.DataFrame(rows, columns=["part", "variant", "value", "unit"])
    write_atomically(study.home / BENCHMARKS, table.to_csv(index=False).encode())
    return table


def measure_again(study: Study) -> pd.DataFrame:
    """Measure every model and keep the result in place of an earlier one: COLUMNS.

    Args:
        study: opened without published results; its filings are here.
    """
    shutil.rmtree(study.store.root / STAGE / study.store.key(STAGE, speed_params(study), VERSION), True)
    chunks = study.chunks["text"][study.chunks["text"].str.len() > CHARACTERS]
    texts = chunks.sample(N_TEXTS, random_state=SEED).tolist()
    questions = study.questions["question"].tolist()[:N_ENCODED]
    return speeds(study, lambda: pd.concat([rows_of(*model, texts, questions) for model in MODELS.items()]))


def rows_of(name: str, window: int, texts: list[str], questions: list[str]) -> pd.DataFrame:
    """One model in every precision that it has (COLUMNS); float32 comes first, as what others are compared with.

    The seconds are the best of several repeats, since other programs may take the processor meanwhile.
    """
    weights, rate, rows, exact = fetch(name), matrix_rate(), [], None
    pairs = [("torch", "float32"), ("torch", "bfloat16")]
    for engine, precision in [("onnx", "int8")] if (weights / "model.onnx").is_file() else pairs:
        encoder = load_encoder(weights, window, precision, BATCH_SIZE)
        scores = encoder.encode(questions, "query") @ encoder.encode(texts).T
        texts_s = N_TIMED / min(wall_times(partial(encoder.encode, texts[:N_TIMED]), REPEATS))
        share = texts_s * operations(weights, window) / rate
        changed = changes(scores, exact) if exact is not None else (np.nan,) * 4
        exact = scores if precision == "float32" and exact is None else exact
        rows.append((name, window, engine, precision, texts_s, share, *changed, processor()))
    return pd.DataFrame(rows, columns=COLUMNS)


def changes(scores: np.ndarray, exact: np.ndarray) -> tuple[float, float, float, float]:
    """Of two score matrices (n_questions, n_texts) the four columns of COLUMNS on changes."""
    change = np.abs(scores - exact)
    first, wanted = (np.argsort(-one, axis=1, kind="stable")[:, :DEPTH] for one in (scores, exact))
    kept = [len(set(a) & set(b)) / len(b) for a, b in zip(first, wanted, strict=True)]
    return change.max(), change.mean(), float(np.mean(kept)), float((first == wanted).all(axis=1).mean())


def operations(weights: Path, window: int) -> float:
    """Floating-point operations of encoding one text of ``window`` tokens by a BERT of a directory.

    Two per weight of the layers and token, and four per layer, dimension and pair of tokens for attention.
    """
    config = json.loads((weights / "config.json").read_text(encoding="utf-8"))
    size, layers = config["hidden_size"], config["num_hidden_layers"]
    per_layer = 2 * (4 * size**2 + 2 * size * config["intermediate_size"]) * window + 4 * size * window**2
    return float(layers * per_layer)


def matrix_rate() -> float:
    """Operations per second of a product of 2048 × 2048 matrices in torch, in the faster of both precisions."""
    import torch

    squares = [torch.randn(2048, 2048).to(kind) for kind in (torch.float32, torch.bfloat16)]
    return 2 * 2048**3 / min(min(wall_times(lambda one=one: one @ one, 4 * REPEATS)) for one in squares)

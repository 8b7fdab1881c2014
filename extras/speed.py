"""How fast encoders are on this processor, and what a lower precision changes: ``python -m lib speed``."""

import json
import re
import shutil
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from lib.analysis.speed import COLUMNS, MODELS, STAGE, VERSION, speed_params, speeds
from lib.book.manifest import processor
from lib.models.encoders import load_encoder
from lib.models.index import windows
from lib.models.weights import fetch
from lib.study import Study

N_TEXTS, N_ENCODED, N_TIMED, SEED = 96, 50, 8, 13
REPEATS, BATCH_SIZE = 4, 16
DEPTH = 20
CHARACTERS = 4000  # of a text that is longer than every window


def wall_times(run: Callable[[], object], repeats: int) -> list[float]:
    """The wall times of ``run`` after one run that does not count, in seconds."""
    run()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return times


def measure_again(study: Study) -> pd.DataFrame:
    """Measure every model, and keep COLUMNS in place of an earlier result; the study has no published ones."""
    shutil.rmtree(study.store.root / STAGE / study.store.key(STAGE, speed_params(study), VERSION), True)
    chunks = study.chunks["text"][study.chunks["text"].str.len() > CHARACTERS]
    texts = chunks.sample(N_TEXTS, random_state=SEED).tolist()
    questions = study.questions["question"].tolist()[:N_ENCODED]
    n_windows = len(windows(study))
    return speeds(study, lambda: pd.concat([rows_of(*model, texts, questions, n_windows) for model in MODELS.items()]))


def rows_of(name: str, window: int, texts: list[str], questions: list[str], n_windows: int) -> pd.DataFrame:
    """One model in every precision that it has (COLUMNS); float32 comes first, as what others are compared with.

    The seconds are the best of several repeats, since other programs may take the processor meanwhile.
    """
    weights, rate, rows, exact = fetch(name), matrix_rate(), [], None
    pairs = [("torch", "float32"), ("torch", "bfloat16")]
    for engine, precision in [("onnx", "int8")] if (weights / "model.onnx").is_file() else pairs:
        encoder = load_encoder(weights, window, precision, BATCH_SIZE)
        encoded = encoder.encode(texts)
        scores = encoder.encode(questions, "query") @ encoded.T
        texts_s = N_TIMED / min(wall_times(partial(encoder.encode, texts[:N_TIMED]), REPEATS))
        share = texts_s * operations(weights, window) / rate
        changed = changes(scores, exact) if exact is not None else (np.nan,) * 4
        exact = scores if precision == "float32" and exact is None else exact
        question_s = min(wall_times(partial(encoder.encode, questions[:1], "query"), REPEATS))
        memory_mib = alone(peak_mib, weights, window, precision, texts)
        cost = question_s, n_windows / texts_s, memory_mib, n_windows * encoded[0].nbytes / 2**20
        rows.append((name, window, engine, precision, texts_s, share, *changed, *cost, processor()))
    return pd.DataFrame(rows, columns=COLUMNS)


def alone(function: Callable[..., float], *given: object) -> float:
    """What a function gives in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(function, given)


def peak_mib(weights: Path, window: int, precision: str, texts: list[str]) -> float:
    """The most memory that this process has had once it has encoded texts, in MiB."""
    load_encoder(weights, window, precision, BATCH_SIZE).encode(texts)
    status = Path("/proc/self/status").read_text(encoding="ascii")  # getrusage counts what the process was forked from
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024


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

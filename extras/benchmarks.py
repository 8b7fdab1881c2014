"""How fast the parts are, each beside its reference: ``python -m lib benchmark --dataset financebench``."""

import time
from collections.abc import Callable, Iterator
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

N_QUESTIONS, N_PAIRS, N_PROMPTS = 10, 64, 4


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

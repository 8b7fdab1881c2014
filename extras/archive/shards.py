"""An archive's index: two Parquet files a filing, its pages and its windows with their vectors.

Extraction, chunking and embedding are one step that maps a filing's file to its shard. The step runs in this process
or, with ``ENGINE=ray``, on Ray Data (Moritz et al., OSDI 2018), on the cluster of ``RAY_ADDRESS`` or a local one, and
gives the same bits on both: a filing is embedded alone. A shard that is there is not made again, so that a killed run
resumes with the next filing; memory holds one filing a worker.
"""

import json
import os
import resource
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm.auto import tqdm

from lib.data.chunks import load_tokenizer, split_chunks, split_pages
from lib.data.pages import read_filing
from lib.files import digest_of, digest_of_file, write_atomically
from lib.models.encoders import load_encoder
from lib.models.index import SPECIAL_TOKENS
from lib.models.weights import fetch, weights_hash
from lib.profile import Settings
from lib.words import PAGE_COLUMNS, StudyError

VERSION = 1  # raised when the same filing gets another shard
PLAN, COSTS, SOURCE = "plan.json", "costs.jsonl", b"source"
STEPS = ("read", "cut", "embed", "write")
WINDOW_COLUMNS = ("doc_name", "page", "chunk_id", "text", "vector")
RUNNERS = ("process", "ray")


class Plan(NamedTuple):
    """How filings become shards: the encoder by its weights' name and hash, and sizes in its tokens."""

    weights: str
    weights_hash: str
    precision: str
    batch_size: int
    window: int
    window_overlap: int
    chunk: int
    chunk_overlap: int
    version: int = VERSION

    @classmethod
    def of(cls, profile: Settings) -> "Plan":
        """That of a profile's chunks and embedder."""
        of, chunks = profile.embedder, profile.chunks
        return cls(
            of.weights,
            weights_hash(of.weights),
            of.precision,
            of.batch_size,
            of.window,
            of.window_overlap,
            chunks.size,
            chunks.overlap,
        )

    def encoder(self) -> object:
        """The encoder; its weights are fetched now, without a progress bar of their own."""
        from transformers.utils import logging

        logging.disable_progress_bar()
        logging.set_verbosity_error()
        return load_encoder(fetch(self.weights), self.window, self.precision, self.batch_size)


class Shards:
    """The index of an archive in a folder: ``pages/<DOC>.parquet``, ``windows/<DOC>.parquet`` and the plan.

    Raises:
        StudyError: the folder was filled by another plan.
    """

    def __init__(self, folder: Path, plan: Plan):
        self.folder, self.plan = Path(folder), plan
        path = self.folder / PLAN
        if path.is_file() and json.loads(path.read_text()) != plan._asdict():
            raise StudyError(
                f"{folder} was filled under another profile; name another folder, or remove this one"
            )
        if not path.is_file():
            write_atomically(path, json.dumps(plan._asdict(), indent=1).encode())

    def has(self, source: Path) -> bool:
        """Whether the shard of a filing's file is there, of these bytes; its pages are written last."""
        pages = self.folder / "pages" / f"{source.stem}.parquet"
        return (
            pages.is_file() and pq.read_schema(pages).metadata.get(SOURCE) == digest_of_file(source).encode()
        )

    def names(self) -> list[str]:
        """The filings whose shards are there, by name."""
        return sorted(path.stem for path in (self.folder / "pages").glob("*.parquet"))

    def pages(self, names: Sequence[str] = ()) -> pd.DataFrame:
        """PAGE_COLUMNS of some filings, by default of all."""
        wanted = names or self._named("search")
        parts = [pd.read_parquet(self.folder / "pages" / f"{name}.parquet") for name in wanted]
        return pd.concat(parts, ignore_index=True)

    def windows(self, names: Sequence[str] = ()) -> Iterator[pa.Table]:
        """WINDOW_COLUMNS of some filings, by default of all, one by one; vectors float32, of unit length."""
        for name in names or self._named("search"):
            yield self.table(name)

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """WINDOW_COLUMNS of one filing, or some of them."""
        return pq.read_table(self.folder / "windows" / f"{name}.parquet", columns=columns)

    def _named(self, what: str) -> list[str]:
        if not (names := self.names()):
            raise StudyError(f"{self.folder} contains no filing to {what}; run make index first")
        return names

    def digest(self) -> str:
        """What identifies the content of all windows, 20 hex digits: text, place and bits of the vectors."""
        parts = []
        for table in self.windows():
            ids, vectors = table["chunk_id"].to_pylist(), vectors_of(table)
            parts.append([ids, table["text"].to_pylist(), vectors.tobytes().hex()])
        return digest_of(parts)[:20]


def vectors_of(windows: pa.Table) -> np.ndarray:
    """The vectors of WINDOW_COLUMNS, float32, shape (n_windows, dimension)."""
    column = windows["vector"].combine_chunks()
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(windows), -1)


def sources_of(root: Path) -> list[Path]:
    """The files of an archive's filings by name: ``pages/*.jsonl`` before ``pdfs/*.pdf``, or PDFs in the folder itself.

    Raises:
        StudyError: there are none.
    """
    found = {path.stem: path for path in (*root.glob("*.pdf"), *root.glob("pdfs/*.pdf"))}
    found |= {path.stem: path for path in root.glob("pages/*.jsonl")}
    if not found:
        raise StudyError(f"{root} has no filings; put PDFs into it, or see the dataset layout in the README")
    return [found[name] for name in sorted(found)]


class Indexer:
    """The map step: reads a filing, cuts it, embeds it, and writes its shard."""

    def __init__(self, folder: str, plan: tuple):
        self.shards = Shards(Path(folder), Plan(*plan))

    @cached_property
    def tokenizer(self):
        """The encoder's tokenizer, loaded once a worker."""
        return load_tokenizer(fetch(self.shards.plan.weights))

    @cached_property
    def encoder(self):
        """The encoder, loaded once a worker."""
        return self.shards.plan.encoder()

    def __call__(self, row: dict) -> dict:
        """What became of a filing: ``source`` → the same, n_pages, n_windows, ``problem`` (empty if there is none).

        With what it took: processor seconds of each of STEPS, and the most memory that the worker has had, in MiB.
        """
        source, plan, times = Path(row["source"]), self.shards.plan, [time.process_time()]
        texts, problems = read_filing(source)
        if problems:
            return self._row(row, [], [], times, "; ".join(problems))
        pages = pd.DataFrame(
            [(source.stem, page, text) for page, text in enumerate(texts)], columns=[*PAGE_COLUMNS]
        )
        times.append(time.process_time())
        chunks = split_pages(pages, self.tokenizer, plan.chunk, plan.chunk_overlap)
        windows = split_chunks(chunks, self.tokenizer, plan.window - SPECIAL_TOKENS, plan.window_overlap)
        places = chunks.iloc[windows["chunk"]]
        encoder = self.encoder if len(windows) else None
        times.append(time.process_time())
        vectors = encoder.encode(windows["text"].tolist()) if len(windows) else np.zeros((0, 1))
        times.append(time.process_time())
        table = {name: places[name].to_numpy() for name in ("doc_name", "page", "chunk_id")}
        table |= {"text": windows["text"].to_numpy()}
        written = pa.table(table).append_column(
            "vector", pa.FixedSizeListArray.from_arrays(vectors.astype(np.float32).ravel(), vectors.shape[1])
        )
        self._write("windows", source, written)
        self._write("pages", source, pa.Table.from_pandas(pages, preserve_index=False))
        return self._row(row, pages, windows, [*times, time.process_time()], "")

    @staticmethod
    def _row(row: dict, pages: Sequence, windows: Sequence, times: Sequence[float], problem: str) -> dict:
        took = dict(zip(STEPS, [*np.diff(times), 0, 0, 0, 0], strict=False))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        about = {"n_pages": len(pages), "n_windows": len(windows), "problem": problem, "peak_mib": peak}
        return row | about | {f"{step}_s": round(float(seconds), 4) for step, seconds in took.items()}

    def _write(self, kind: str, source: Path, table: pa.Table) -> None:
        table = table.replace_schema_metadata({SOURCE: digest_of_file(source).encode()})
        packed = pa.BufferOutputStream()
        pq.write_table(table, packed, compression="zstd")
        write_atomically(self.shards.folder / kind / f"{source.stem}.parquet", packed.getvalue().to_pybytes())


def write_shards(
    shards: Shards, sources: Sequence[Path], runner: str = "process", n_workers: int = 1
) -> pd.DataFrame:
    """Write the shards that are missing, with a progress bar.

    Args:
        shards: where to and how.
        sources: files of filings.
        runner: one of RUNNERS.
        n_workers: of Ray; in this process the encoder itself uses all cores.

    Returns:
        A row for each filing that was read now, see :class:`Indexer`; also kept in COSTS beside the plan.

    Raises:
        StudyError: a runner that there is not, or Ray is not installed or not reachable.
    """
    if runner not in RUNNERS:
        raise StudyError(f"ENGINE is {runner!r}: say one of {', '.join(RUNNERS)}")
    missing = [{"source": str(source)} for source in sources if not shards.has(source)]
    step, rows = (str(shards.folder.resolve()), tuple(shards.plan)), []
    done = map(Indexer(*step), missing) if runner == "process" else _on_ray(missing, step, n_workers)
    for row in tqdm(done, total=len(missing), desc="index", unit="filing", mininterval=2):
        rows.append(row)
        with (shards.folder / COSTS).open("a") as file:
            file.write(json.dumps(row | {"source": Path(row["source"]).stem, "engine": runner}) + "\n")
    return pd.DataFrame(rows, columns=["source", "n_pages", "n_windows", "problem"])


def _on_ray(rows: list[dict], step: tuple, n_workers: int) -> Iterator[dict]:
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # a busy machine starts it slowly
    try:
        import ray
    except ImportError:
        raise StudyError("ENGINE=ray needs Ray: run make archive, or say ENGINE=process") from None
    try:
        ray.init(ignore_reinit_error=True, log_to_driver=False, include_dashboard=False)
    except ConnectionError as error:
        raise StudyError(
            f"no Ray cluster at RAY_ADDRESS ({error}); start it, or unset the variable"
        ) from None
    ray.data.DataContext.get_current().enable_progress_bars = False
    if rows:
        filings = ray.data.from_items(rows, override_num_blocks=len(rows))
        yield from filings.map(Indexer, fn_constructor_args=step, concurrency=n_workers).iter_rows()

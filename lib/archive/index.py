"""The index of an archive: two Parquet files per filing, its pages and its windows with their vectors.

One step maps a filing's file to its shard, in this process or, with ``ENGINE=ray``, on Ray Data (Moritz et al., OSDI
2018), on the cluster of ``RAY_ADDRESS`` or a local one: the bits are the same, as a filing is embedded alone. A shard
that exists is not made again, so that a killed run resumes; memory holds one filing per worker.
"""

import json
import os
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm.auto import tqdm

from lib.corpus import ARTIFACTS
from lib.data.chunks import load_tokenizer, split_chunks, split_pages
from lib.data.locate import DEMO, financebench_root, name_of
from lib.data.pages import read_filing
from lib.files import digest_of_file, write_atomically
from lib.models.encoders import load_encoder
from lib.models.index import SPECIAL_TOKENS
from lib.models.weights import fetch, weights_hash
from lib.profile import Settings, load_profile
from lib.words import PAGE_COLUMNS, StudyError

VERSION = 1  # raised when the same filing gets another shard
PLAN, COSTS, SOURCE = "plan.json", "costs.jsonl", b"source"
STEPS = ("read", "cut", "embed", "write")


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
        of, chunks = profile.embedder, profile.chunks
        model = of.weights, weights_hash(of.weights), of.precision, of.batch_size
        return cls(*model, of.window, of.window_overlap, chunks.size, chunks.overlap)

    def encoder(self) -> object:
        """The encoder; its weights are fetched now, without a progress bar of their own."""
        from transformers.utils import logging

        logging.disable_progress_bar()
        logging.set_verbosity_error()
        return load_encoder(fetch(self.weights), self.window, self.precision, self.batch_size)


class Shards:
    """The index of an archive in a folder: ``pages/<DOC>.parquet``, ``windows/<DOC>.parquet`` and the plan."""

    def __init__(self, folder: Path, plan: Plan):
        self.folder, self.plan, path = Path(folder), plan, Path(folder) / PLAN
        if not path.is_file():
            write_atomically(path, json.dumps(plan._asdict(), indent=1).encode())
        elif json.loads(path.read_text()) != plan._asdict():
            raise StudyError(f"{folder} was filled under another profile; name another folder, or remove this one")

    def path(self, kind: str, name: str) -> Path:
        """The file of a filing's part, ``pages`` or ``windows``."""
        return self.folder / kind / f"{name}.parquet"

    def has(self, source: Path) -> bool:
        """Whether the shard of a filing's file exists, made of these bytes; its pages are written last."""
        path = self.path("pages", source.stem)
        return path.is_file() and pq.read_schema(path).metadata.get(SOURCE) == digest_of_file(source).encode()

    def names(self) -> list[str]:
        """The filings whose shards exist, by name."""
        # what a killed write left is hidden
        return sorted(path.stem for path in (self.folder / "pages").glob("[!.]*.parquet"))

    def windows(self, name: str, columns: list[str] | None = None) -> tuple[pd.DataFrame, np.ndarray]:
        """The windows of a filing (doc_name, page, chunk_id, text), and their unit vectors."""
        table = pq.read_table(self.path("windows", name), columns=columns and [*columns, "vector"])
        vectors = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return table.drop_columns("vector").to_pandas(), vectors.reshape(len(table), -1)


def shards_of(dataset: str, profile: str = "default", to: Path | None = None) -> tuple[Path, Shards]:
    """The folder of a dataset's filings, by name or path, and their shards, among the artifacts or in a folder."""
    named = {"demo": DEMO, "financebench": financebench_root(), "": financebench_root() or DEMO}
    root = named.get(dataset) or Path(dataset).expanduser()
    if not root.is_dir():
        raise StudyError(f"{dataset}: no folder; give financebench, demo, or a folder with PDFs")
    settings = load_profile(profile)
    return root, Shards(to or ARTIFACTS / name_of(root) / settings.name / "index", Plan.of(settings))


def sources_of(root: Path) -> list[Path]:
    """The files of an archive's filings by name: ``pages/*.jsonl`` before ``pdfs/*.pdf`` before ``*.pdf``."""
    found = {path.stem: path for path in (*root.glob("*.pdf"), *root.glob("pdfs/*.pdf"))}
    found |= {path.stem: path for path in root.glob("pages/*.jsonl")}
    if not found:
        raise StudyError(f"{root} has no filings; put PDFs into it, or see the dataset layout in the README")
    return [found[name] for name in sorted(found)]


class Indexer:
    """The map step: reads a filing, cuts it, embeds it, and writes its shard."""

    def __init__(self, folder: str, plan: tuple):
        self.shards = Shards(Path(folder), Plan(*plan))
        self.encoder = self.shards.plan.encoder()
        self.tokenizer = load_tokenizer(fetch(self.shards.plan.weights))

    def __call__(self, row: dict) -> dict:
        """What became of a filing: ``source`` → the same, n_pages, n_windows, ``problem`` (empty if there is none),
        processor seconds of each of STEPS, and the largest memory of the worker so far, in MiB."""
        source, plan, marks = Path(row["source"]), self.shards.plan, [time.process_time()]
        pages, windows = pd.DataFrame(columns=[*PAGE_COLUMNS]), []
        texts, problems = read_filing(source)
        marks.append(time.process_time())
        if not problems:
            pages = pages.assign(page=range(len(texts)), text=texts, doc_name=source.stem)
            chunks = split_pages(pages, self.tokenizer, plan.chunk, plan.chunk_overlap)
            windows = split_chunks(chunks, self.tokenizer, plan.window - SPECIAL_TOKENS, plan.window_overlap)
            marks.append(time.process_time())
            problems = [f"{source.name} has no text; recognise it (OCR)"] if windows.empty else []
        if not problems:
            vectors = self.encoder.encode(windows["text"].tolist()).astype(np.float32)
            marks.append(time.process_time())
            places = chunks[["doc_name", "page", "chunk_id"]].iloc[windows["chunk"]]
            table = pa.Table.from_pandas(places.assign(text=windows["text"].to_numpy()), preserve_index=False)
            flat = pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1])
            self._write("windows", source, table.append_column("vector", flat))
            self._write("pages", source, pa.Table.from_pandas(pages, preserve_index=False))
            marks.append(time.process_time())
        took = dict.fromkeys(STEPS, 0.0) | dict(zip(STEPS, np.diff(marks).tolist(), strict=False))
        about = {"n_pages": len(pages), "n_windows": len(windows), "problem": "; ".join(problems)}
        about["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return row | about | {f"{step}_s": round(took[step], 4) for step in STEPS}

    def _write(self, kind: str, source: Path, table: pa.Table) -> None:
        table = table.replace_schema_metadata({SOURCE: digest_of_file(source).encode()})
        packed = pa.BufferOutputStream()
        pq.write_table(table, packed, compression="zstd")
        write_atomically(self.shards.path(kind, source.stem), packed.getvalue().to_pybytes())


def write_shards(shards: Shards, sources: Sequence[Path], engine: str = "process", n_workers: int = 1) -> pd.DataFrame:
    """Write the shards that are missing, with a progress bar.

    ``engine`` is ``process``, where the encoder itself uses all cores, or ``ray``, with ``n_workers``. Gives a row for
    each filing that was read now, see :class:`Indexer`; it is also appended to COSTS beside the plan.
    """
    missing = [{"source": str(source)} for source in sources if not shards.has(source)]
    step, rows, done = (str(shards.folder.resolve()), tuple(shards.plan)), [], []
    if missing:
        done = map(Indexer(*step), missing) if engine == "process" else _on_ray(missing, step, n_workers)
    for row in tqdm(done, total=len(missing), desc="index", unit="filing", mininterval=2):
        rows.append(row)
        with (shards.folder / COSTS).open("a") as file:
            file.write(json.dumps(row | {"source": Path(row["source"]).stem, "engine": engine}) + "\n")
    return pd.DataFrame(rows, columns=["source", "n_pages", "n_windows", "problem"])


def _on_ray(rows: list[dict], step: tuple, n_workers: int) -> Iterator[dict]:
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # a busy machine starts it slowly
    try:
        import ray

        ray.init(ignore_reinit_error=True, log_to_driver=False, include_dashboard=False)
    except ImportError:
        raise StudyError("ENGINE=ray needs Ray: run make archive, or say ENGINE=process") from None
    except ConnectionError as error:
        raise StudyError(f"no Ray cluster at RAY_ADDRESS ({error}); start it, or unset the variable") from None
    ray.data.DataContext.get_current().enable_progress_bars = False
    filings = ray.data.from_items(rows, override_num_blocks=len(rows))
    yield from filings.map(Indexer, fn_constructor_args=step, concurrency=n_workers).iter_rows()

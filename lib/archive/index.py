"""The index of an archive: two Parquet files per filing, its pages and its windows with their vectors.

One step maps a filing's file to its shard; a filing is embedded alone, so that the bits are the same in any order. A
shard that is whole and of its file's bytes is not made again, so that a killed run resumes; memory holds one filing.
"""

import errno
import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm.auto import tqdm

from lib.corpus import ARTIFACTS
from lib.data.chunks import load_tokenizer, split_chunks, split_pages
from lib.data.layout import DOCUMENT_ENDINGS, in_sub_folders
from lib.data.locate import DEMO, financebench_root, folder_of, named_apart
from lib.data.pages import read_filing
from lib.data.records import CONTROL, MOST_LETTERS, Problems, printable
from lib.files import digest_of, digest_of_file, exclusively, write_atomically
from lib.models.encoders import load_encoder
from lib.models.weights import fetch, weights_hash
from lib.profile import SPECIAL_TOKENS, Settings, load_profile
from lib.words import PAGE_COLUMNS, StudyError

VERSION = 1  # raised when the same filing gets another shard
PLAN, LOCK, PICTURES = "plan.json", "index.lock", "pictures"
KINDS = {"pages": ".parquet", "windows": ".parquet", "facts": ".parquet", "records": ".json"}  # the record goes last
PICTURE = r"[0-9a-f]{16}-p\d{4,}(?:-[0-9a-f]{8})?\.png"
#: What an index writes, by paths in its folder, and what a killed write leaves of any of that.
OWN = re.compile(
    rf"plan\.json|index\.lock|described-[0-9a-f]{{20}}\.npz|(?:pages|windows|facts)(?:/[^/]+\.parquet)?"
    rf"|records(?:/[^/]+\.json)?|pictures(?:/{PICTURE})?"
)
HALF = re.compile(r"\..+\.[0-9a-f]{8}\.(?:json|npz|parquet|png)")
MOST_BYTES = 200  # of a file's name: that of its shard is longer
MOST_NAMED = 5  # sub-folders in a message


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


class Difference(NamedTuple):
    """A folder beside its index, by the names of filings."""

    kept: dict[str, dict]  # records of those that are indexed as they are in the folder
    missing: dict[str, Path]  # files to be indexed
    counts: dict[str, int]  # of filings added, changed, removed, that cannot be read, damaged (in the index)
    problems: list[str]  # files that are no filings

    @property
    def names(self) -> list[str]:
        """The filings that can be searched."""
        return [name for name, record in self.kept.items() if not record["problem"]]

    @property
    def left_out(self) -> list[str]:
        """What is wrong with each file that is left out."""
        return self.problems + [record["problem"] for record in self.kept.values() if record["problem"]]

    def __str__(self) -> str:
        return ", ".join(f"{n} {what}" for what, n in self.counts.items() if n)


class Shards:
    """The index of an archive, mirrored in a folder: ``pages/<DOC>.parquet``, ``windows/<DOC>.parquet``, the plan.

    ``records/<DOC>.json`` is written last: the source's path in the archive, its size, time and SHA-256, those of the
    two files, and what is wrong with a filing that is left out. Files of others in the folder stay as they are.

    To open an index writes nothing. A StudyError names a folder that is no index and not empty, is another's, or is
    where the filings are.
    """

    def __init__(self, folder: Path, plan: Plan, root: Path):
        self.folder, self.plan, self.root = Path(folder), plan, Path(root).resolve()
        known = _read(self.folder / PLAN)
        if self.root.is_relative_to(at := self.folder.resolve()) or at in (self.root / "pages", self.root / "pdfs"):
            raise StudyError(f"{folder} cannot be the index: the filings are in it; name another folder")
        if not (known or _is_index(self.folder)):
            raise StudyError(f"{folder} holds other files and is no index; name a new or an empty folder")
        if known and known != self._plan():
            wrong = f"{folder} is the index of {known.get('root')}, or was filled under another profile"
            raise StudyError(f"{wrong}; name another folder, or remove this one")

    def _plan(self) -> dict:
        return {"root": str(self.root)} | self.plan._asdict()

    def begin(self) -> None:
        """Make the folder an index, where it is none."""
        if not _read(self.folder / PLAN):
            _write(self.folder / PLAN, self._plan())

    def path(self, kind: str, name: str) -> Path:
        """The file of a filing's part, one of KINDS."""
        return self.folder / kind / f"{name}{KINDS[kind]}"

    def record(self, name: str) -> dict:
        """What was written of a filing; nothing where that is damaged, or of another plan."""
        record = _read(self.path("records", name))
        return record if record.get("plan") == digest_of(self.plan._asdict()) else {}

    def records(self) -> dict[str, dict]:
        """Of every filing with a sound record, by name."""
        paths = [path for path in self.folder.glob("records/*.json") if path.name[0] != "."]
        return {name: self.record(name) for name in sorted(path.stem for path in paths if _read(path))}

    def names(self) -> list[str]:
        """The filings whose shards exist, by name."""
        return [name for name, record in self.records().items() if record and not record["problem"]]

    def compare(self) -> Difference:
        """The folder as it is now beside the index; every byte of the index is read."""
        (found, problems), records = sources_of(self.root), self.records()
        same = {name: self.renewed(found[name], records[name]) for name in found if name in records}
        kept = {name: record for name, record in same.items() if record and self._is_whole(name, record)}
        gone = records.keys() - found.keys()
        there = {name for name in gone if records[name] and not _is_gone(self.root / records[name]["source"])}
        sets = {
            "added": found.keys() - records.keys(),
            "changed": {name for name, record in same.items() if not record},
            "removed": gone - there,
            "that cannot be read": there,
            "damaged": {name for name, record in same.items() if record} - kept.keys(),
        }
        missing = {name: path for name, path in found.items() if name not in kept}
        return Difference(kept, missing, {what: len(names) for what, names in sets.items()}, problems)

    def about(self, source: Path) -> dict:
        """Path in the archive, size and time of a filing's file."""
        stat = source.stat()
        path = source.relative_to(self.root).as_posix()
        return {"source": path, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}

    def renewed(self, source: Path, record: dict) -> dict:
        """A record with what its file is now; nothing where that has other bytes. Equal sizes and times are equal."""
        with suppress(OSError):
            now = record | self.about(source)
            if record and (now == record or digest_of_file(source) == record["sha256"]):
                return now
        return {}

    def _is_whole(self, name: str, record: dict) -> bool:
        with suppress(OSError):
            return all(digest_of_file(self.path(kind, name)) == sha256 for kind, sha256 in record["files"].items())
        return False

    def sweep(self, kept: dict[str, dict]) -> None:
        """Write these records, and remove what the index made of other filings and what a killed write left."""
        for name in self.records().keys() - kept.keys():
            for kind in KINDS:
                self.path(kind, name).unlink(missing_ok=True)
        for name, record in kept.items():
            if record != self.record(name):
                _write(self.path("records", name), record)
        pictured, at = {record["sha256"][:16] for record in kept.values()}, self.folder
        pictures = [path for path in at.glob(f"{PICTURES}/*") if re.fullmatch(PICTURE, path.name)]
        halves = [path for part in ("", *KINDS, PICTURES) for path in (at / part).glob(".*")]
        old = [path for path in pictures if path.name[:16] not in pictured]
        for path in [*old, *(path for path in halves if HALF.fullmatch(path.name))]:
            path.unlink(missing_ok=True)

    def windows(self, name: str, columns: list[str] | None = None) -> tuple[pd.DataFrame, np.ndarray]:
        """The windows of a filing (doc_name, page, chunk_id, text), and their unit vectors."""
        table = pq.read_table(self.path("windows", name), columns=columns and [*columns, "vector"])
        vectors = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return table.drop_columns("vector").to_pandas(), vectors.reshape(len(table), table["vector"].type.list_size)


def _is_gone(path: Path) -> bool:
    """Whether nothing is at a path, which then no right hides."""
    try:
        path.lstat()
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR)
    return False


def _is_index(folder: Path) -> bool:
    """Whether a folder without a sound plan is an index all the same, or may become one: it is not there or empty, has
    a sound record, or the lock and nothing else than what an index writes."""
    if not folder.exists() or not os.listdir(folder) or any(map(_read, folder.glob("records/*.json"))):
        return True
    paths = itertools.chain(folder.glob("*"), folder.glob("*/*"))
    is_own = (OWN.fullmatch(path.relative_to(folder).as_posix()) or HALF.fullmatch(path.name) for path in paths)
    return (folder / LOCK).exists() and all(is_own)


def _write(path: Path, record: dict) -> None:
    write_atomically(path, json.dumps(record | {"digest": digest_of(record)}, indent=1))


def _read(path: Path) -> dict:
    """What :func:`_write` wrote; nothing where it is missing or damaged."""
    with suppress(OSError, ValueError):
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and record.pop("digest", "") == digest_of(record):
            return record
    return {}


def shards_of(dataset: str, profile: str = "default", to: Path | None = None) -> Shards:
    """The index of a dataset's filings, by name or path, among the artifacts or in a folder."""
    named = {"demo": DEMO, "financebench": financebench_root(), "": financebench_root() or DEMO}
    root = named.get(dataset) or folder_of(dataset)
    if root is None:
        raise StudyError(f"{printable(dataset[:MOST_LETTERS])}: no folder; give financebench, demo, or one with PDFs")
    settings = load_profile(profile)
    return Shards(to or ARTIFACTS / named_apart(root) / settings.name / "index", Plan.of(settings), root)


def sources_of(root: Path) -> tuple[dict[str, Path], list[str]]:
    """The files of an archive's filings by name (``pages/*.jsonl`` before ``pdfs/*.pdf`` before ``*.pdf``; no hidden
    ones), and what is wrong with files that are none."""
    problems, found = Problems(root), {}
    for folder, suffix in ((root / "pages", ".jsonl"), (root / "pdfs", ".pdf"), (root, ".pdf")):
        is_there = folder.is_dir() and problems.can_read(folder, is_folder=True)
        for path in sorted(folder.iterdir()) if is_there else ():
            other = found.get(path.stem)
            if path.name[0] == "." or path.suffix.lower() != suffix or (other and other.suffix == ".jsonl"):
                continue
            if CONTROL.search(path.name) or len(path.name.encode()) > MOST_BYTES:
                problems.add(path, f"rename the file; at most {MOST_BYTES} bytes, no control characters")
            elif other:
                problems.add(path, f"has the name of {other.relative_to(root)}; rename or remove one of the two")
            elif problems.can_read(path):
                found[path.stem] = path
    return dict(sorted(found.items())), problems.messages


def passed_over(root: Path) -> list[str]:
    """What a folder holds that may be a filing and is not read, a line each: in another format, and in sub-folders."""
    read, lines = {root: ".pdf", root / "pdfs": ".pdf", root / "pages": ".jsonl"}, []
    there = [path for folder in read if folder.is_dir() for path in sorted(folder.iterdir()) if path.is_file()]
    others = [path for path in there if path.name[0] != "." and path.suffix.lower() != read[path.parent]]
    if others := [path for path in others if path.suffix.lower() in DOCUMENT_ENDINGS]:
        lines.append(f"{_counted(others)}; save what is a filing as PDF in pdfs/, or as page text in pages/")
    nested = [path for path in in_sub_folders(root) if path.parent not in read and root / "data" not in path.parents]
    if nested:
        folders = list(dict.fromkeys(printable(path.parent.relative_to(root).as_posix()) for path in nested))
        more = f" and {len(folders) - MOST_NAMED} more" if len(folders) > MOST_NAMED else ""
        named = ", ".join(folders[:MOST_NAMED]) + more
        lines.append(f"{_counted(nested)} in sub-folders ({named}); move the PDFs into pdfs/")
    return lines


def _counted(paths: Sequence[Path]) -> str:
    endings = Counter(path.suffix.lower() for path in paths)
    return ", ".join(f"{n} {ending}" for ending, n in sorted(endings.items()))


class Indexer:
    """The map step: reads a filing, cuts it, embeds it, and writes its shard."""

    def __init__(self, shards: Shards):
        self.shards, self.encoder = shards, shards.plan.encoder()
        self.tokenizer = load_tokenizer(fetch(shards.plan.weights))

    def __call__(self, source: Path) -> dict:
        """What became of a filing: source, n_pages, n_blank, ``problem`` (empty if there is none)."""
        shards, plan, files = self.shards, self.shards.plan, {}
        try:
            record = shards.about(source) | {"sha256": digest_of_file(source), "plan": digest_of(plan._asdict())}
        except OSError as error:  # it was removed meanwhile; not recorded
            problem = f"{source.name}: cannot be opened ({error.strerror})"
            return {"source": source, "n_pages": 0, "n_blank": 0, "problem": problem}
        texts, problems = read_filing(source, shards.root)
        if not problems:
            pages = pd.DataFrame(columns=[*PAGE_COLUMNS])
            pages = pages.assign(page=range(len(texts)), text=texts, doc_name=source.stem)
            chunks = split_pages(pages, self.tokenizer, plan.chunk, plan.chunk_overlap)
            windows = split_chunks(chunks, self.tokenizer, plan.window - SPECIAL_TOKENS, plan.window_overlap)
            problems = [f"{record['source']}: no page has a word; remove the filing"] if windows.empty else []
        if not problems:
            vectors = self.encoder.encode(windows["text"].tolist()).astype(np.float32)
            places = chunks[["doc_name", "page", "chunk_id"]].iloc[windows["chunk"]]
            table = pa.Table.from_pandas(places.assign(text=windows["text"].to_numpy()), preserve_index=False)
            flat = pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1])
            files["windows"] = self._write("windows", source, table.append_column("vector", flat))
            files["pages"] = self._write("pages", source, pa.Table.from_pandas(pages, preserve_index=False))
        n_blank = sum(not text.strip() for text in texts)
        about = {"n_pages": len(texts), "n_blank": n_blank, "problem": "; ".join(problems)}
        _write(shards.path("records", source.stem), record | about | {"files": files})
        return {"source": source} | about

    def _write(self, kind: str, source: Path, table: pa.Table) -> str:
        packed = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata(None), packed, compression="zstd")
        return digest_of_file(write_atomically(self.shards.path(kind, source.stem), packed.getvalue().to_pybytes()))


def write_shards(shards: Shards, say: Callable[[str], None] = print) -> tuple[Difference, pd.DataFrame]:
    """Make the index a mirror of its folder, with a progress bar; another process that does so is waited for.

    Gives how the folder differed, and a row for each filing that was read now, see :class:`Indexer`.
    """
    with exclusively(shards.folder / "index", say):
        shards.begin()
        before = shards.compare()
        shards.sweep(before.kept)
        missing = before.missing.values()
        done = map(Indexer(shards), missing) if missing else ()
        rows = list(tqdm(done, total=len(missing), desc="index", unit="filing", mininterval=2, disable=not missing))
    return before, pd.DataFrame(rows, columns=["source", "n_pages", "n_blank", "problem"])

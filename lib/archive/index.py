"""The index of an archive: the spans of a folder's filings in Chroma, in the collection of a study of that folder.

Beside it lie, for every filing, its pages with what each says by itself, and a record. One step maps a filing's file to
all of that (:mod:`lib.archive.step`); a filing that is whole and of its file's bytes is not read again, so that a
killed run resumes; memory holds one filing.
"""

import errno
import json
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from tqdm.auto import tqdm

from lib.archive.engine import mapped
from lib.archive.sources import file_stat, sources_of
from lib.archive.step import Reading, Step, step_digest
from lib.data.locate import DEMO, financebench_root, folder_of, named_apart
from lib.data.records import MOST_LETTERS, printable
from lib.files import ARTIFACTS, INDEX, digest_of, digest_of_file, exclusively, write_atomically
from lib.keys import settings_of
from lib.models.index import Index, open_index
from lib.models.vectors import collection_name
from lib.profile import Settings, load_profile
from lib.retrievers.spans import SECTION
from lib.schema import StudyError

PLAN, LOCK, PICTURES = "plan.json", "index.lock", "pictures"
KINDS = {"pages": ".parquet", "records": ".json"}  # the record goes last
COUNTED = ("n_pages", "n_blank", "unread", "problem")
PICTURE = re.compile(r"[0-9a-f]{16}-p\d{4,}(?:-[0-9a-f]{8})?\.png")
HALF = re.compile(r"\..+\.[0-9a-f]{8}\.(?:json|npz|parquet|png)")  # what a killed write leaves


class Difference(NamedTuple):
    """A folder beside its index, by the names of filings."""

    unchanged: dict[str, dict]  # records of those that are indexed as they are in the folder
    missing: dict[str, Path]  # files to be indexed
    counts: dict[str, int]  # of filings added, changed, removed, that cannot be read, damaged, without vectors
    problems: list[str]  # files that are no filings

    @property
    def names(self) -> list[str]:
        """The filings that can be searched."""
        return [name for name, record in self.unchanged.items() if not record["problem"]]

    @property
    def left_out(self) -> list[str]:
        """What is wrong with each file that is left out."""
        return self.problems + [record["problem"] for record in self.unchanged.values() if record["problem"]]

    def __str__(self) -> str:
        return ", ".join(f"{n} {what}" for what, n in self.counts.items() if n)


class ArchiveIndex:
    """The index of an archive, a mirror of the folder ``root``; ``chroma`` is where its collection is.

    In ``folder`` are ``pages/<DOC>.parquet``, the settings, and ``records/<DOC>.json``: the source's path in the
    archive, its size, time and SHA-256, the digest of its spans, the SHA-256 of its pages' file, and what is wrong
    with a filing that is left out. Files of others in the folder stay as they are.

    To open an index writes nothing. A StudyError names a folder that is no index and not empty, is another's, or is
    where the filings are.
    """

    def __init__(self, folder: Path, profile: Settings, root: Path, chroma: Path | None = None):
        self.folder, self.root = Path(folder), Path(root).resolve()
        self.profile, self.chroma = profile, Path(chroma or self.folder / INDEX)
        settings = settings_of(profile, ("chunks", SECTION))
        self.collection = collection_name(SECTION, self.root, settings, profile.spans.precision)
        self.plan = {"root": str(self.root), "settings": digest_of(settings)}
        plan, place = _read(self.folder / PLAN), self.folder.resolve()
        if self.root.is_relative_to(place) or place in (self.root / "pages", self.root / "pdfs"):
            raise StudyError(f"{folder} cannot be the index: the filings are in it; name another folder")
        if not (plan or self._may_become_index()):
            raise StudyError(f"{folder} holds other files and is not an index; name a new or an empty folder")
        if plan and plan != self.plan:
            wrong = f"{folder} is the index of {plan.get('root')}, or was filled under another profile"
            raise StudyError(f"{wrong}; name another folder, or remove this one")

    def _may_become_index(self) -> bool:
        """Whether the folder without a sound plan has nothing but a lock and a collection, or has a sound record."""
        there = os.listdir(self.folder) if self.folder.exists() else []
        others = [name for name in there if name not in (LOCK, INDEX) and not HALF.fullmatch(name)]
        return not others or any(map(_read, self.folder.glob("records/*.json")))

    def open(self, writes: bool, say: Callable[[str], None] = print) -> AbstractContextManager[Index | None]:
        """The collection, see :func:`lib.models.index.open_index`."""
        return open_index(self.collection, self.chroma, writes, say)

    def path(self, kind: str, name: str) -> Path:
        """The file of a filing's part, one of KINDS."""
        return self.folder / kind / f"{name}{KINDS[kind]}"

    def record(self, name: str) -> dict:
        """What was written of a filing; nothing where that is damaged, or of another step."""
        record = _read(self.path("records", name))
        return record if record.get("step") == step_digest() else {}

    def records(self) -> dict[str, dict]:
        """Of every filing with a sound record, by name."""
        paths = [path for path in self.folder.glob("records/*.json") if path.name[0] != "."]
        return {name: self.record(name) for name in sorted(path.stem for path in paths if _read(path))}

    def names(self) -> list[str]:
        """The filings that are indexed, by name."""
        return [name for name, record in self.records().items() if record and not record["problem"]]

    def compare(self, index: Index | None) -> Difference:
        """The folder as it is now beside its records, the files of pages and the open collection."""
        (sources, problems), records = sources_of(self.root), self.records()
        vectors = index.filings() if index else {}
        same = {name: self.record_if_unchanged(sources[name], records[name]) for name in sources if name in records}
        whole = {name: record for name, record in same.items() if record and self._has_pages(name, record)}
        unchanged = {name: record for name, record in whole.items() if vectors.get(name, "") == record["spans"]}
        gone = records.keys() - sources.keys()
        unreadable = {name for name in gone if records[name] and not _is_gone(self.root / records[name]["source"])}
        sets = {
            "added": sources.keys() - records.keys(),
            "changed": {name for name, record in same.items() if not record},
            "removed": gone - unreadable,
            "that cannot be read": unreadable,
            "damaged": {name for name, record in same.items() if record} - whole.keys(),
            "without vectors here": whole.keys() - unchanged.keys(),
        }
        missing = {name: path for name, path in sources.items() if name not in unchanged}
        return Difference(unchanged, missing, {what: len(names) for what, names in sets.items()}, problems)

    def record_if_unchanged(self, source: Path, record: dict) -> dict:
        """A record with the size and time that its file has now; nothing where its bytes have changed."""
        with suppress(OSError):
            now = record | file_stat(source, self.root)
            if record and (now == record or digest_of_file(source) == record["sha256"]):
                return now
        return {}

    def _has_pages(self, name: str, record: dict) -> bool:
        with suppress(OSError):
            return bool(record["problem"]) or digest_of_file(self.path("pages", name)) == record["pages"]
        return False

    def clean(self, unchanged: dict[str, dict]) -> None:
        """Write these records, and remove what the index has of other filings and what a killed write left."""
        for name in self.records().keys() - unchanged.keys():
            for kind in KINDS:
                self.path(kind, name).unlink(missing_ok=True)
        for name, record in unchanged.items():
            if record != self.record(name):
                _write(self.path("records", name), record)
        hashes = {record["sha256"][:16] for record in unchanged.values()}
        pictures = [path for path in self.folder.glob(f"{PICTURES}/*") if PICTURE.fullmatch(path.name)]
        hidden = [path for part in ("", *KINDS, PICTURES) for path in (self.folder / part).glob(".*")]
        old = [path for path in pictures if path.name[:16] not in hashes]
        for path in [*old, *(path for path in hidden if HALF.fullmatch(path.name))]:
            path.unlink(missing_ok=True)

    def put(self, index: Index, reading: Reading) -> None:
        """Write what was read of a filing: its vectors, its pages, and then its record."""
        name, record = Path(reading.record["source"]).stem, reading.record
        if reading.vectors is not None:
            index.put(name, record["spans"], reading.chunk_ids, reading.vectors)
        elif not record["spans"]:
            index.drop([name])
        if reading.pages:
            record |= {"pages": digest_of_file(write_atomically(self.path("pages", name), reading.pages))}
        if "sha256" in record:
            _write(self.path("records", name), record)

    def pages(self, names: list[str], columns: list[str] | None = None) -> pd.DataFrame:
        """PAGE_COLUMNS of filings and what each page says by itself (:func:`lib.ahead.facts.facts_of`)."""
        tables = (pd.read_parquet(self.path("pages", name), columns=columns) for name in names)
        return pd.concat(tables, ignore_index=True)


def _is_gone(path: Path) -> bool:
    """Whether nothing is at a path, which then no right hides."""
    try:
        path.lstat()
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR)
    return False


def _write(path: Path, record: dict) -> None:
    write_atomically(path, json.dumps(record | {"digest": digest_of(record)}, indent=1))


def _read(path: Path) -> dict:
    """What :func:`_write` wrote; nothing where it is missing or damaged."""
    with suppress(OSError, ValueError):
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and record.pop("digest", "") == digest_of(record):
            return record
    return {}


def archive_index(dataset: str, profile: str = "default", to: Path | None = None) -> ArchiveIndex:
    """The index of a dataset's filings, by name or path, among the artifacts or, with its collection, in a folder."""
    roots = {"demo": DEMO, "financebench": financebench_root(), "": financebench_root() or DEMO}
    root = roots.get(dataset) or folder_of(dataset)
    if root is None:
        raise StudyError(
            f"{printable(dataset[:MOST_LETTERS])}: not a folder; give financebench, demo, or a folder with PDFs"
        )
    settings = load_profile(profile)
    folder = to or ARTIFACTS / named_apart(root) / settings.name / "archive"
    return ArchiveIndex(folder, settings, root, None if to else ARTIFACTS / INDEX)


def write_index(archive: ArchiveIndex, say: Callable[[str], None] = print) -> tuple[Difference, pd.DataFrame]:
    """Make the index a mirror of its folder, with a progress bar; another process that does so is waited for.

    Gives how the folder differed, and a row for each filing that was read now: its source and what is COUNTED.
    """
    with exclusively(archive.folder / "index", say):
        if not _read(archive.folder / PLAN):
            _write(archive.folder / PLAN, archive.plan)
        with archive.open(writes=True, say=say) as index:
            index.drop(index.damaged())
            before = archive.compare(index)
            archive.clean(before.unchanged)
            index.drop([*index.filings().keys() - before.unchanged.keys() - before.missing.keys()])
            missing, rows = [*before.missing.values()], []
            readings = mapped(Step(archive.root, archive.profile, index.filings()), missing) if missing else ()
            for one in tqdm(readings, "index", len(missing), unit="filing", mininterval=2, disable=not missing):
                archive.put(index, one)
                rows.append([archive.root / one.record["source"], *(one.record[name] for name in COUNTED)])
    return before, pd.DataFrame(rows, columns=["source", *COUNTED])

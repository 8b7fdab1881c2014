"""What a language model wrote, one JSON line each, appended as it is written: a killed run only fills gaps.

A record's key is the hash of the model's weights, the prompt, the sampling and the seed. The prompt itself is not kept:
it may hold a filing's text. A line that a kill left half-written, or that was changed by hand, is noticed and not used:
a record has a checksum, and one from before there were any is appended with its own when it is first used.
"""

import fcntl
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tqdm.auto import tqdm

from lib.files import digest_of, exclusively
from lib.models.prompts import Generation, GenerationError, Generator, Prompt, Request, Sampling, fault

SUM = "sha"  # of a record: the hash of its key and what was written
FIELDS = ("key", "kind", "question_id", "prompt_sha", "params", "seed", "model", "text", "finish_reason")


@dataclass(frozen=True)
class Model:
    """Which model writes: its name in the lock file and what its weights hash to."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Item:
    """One text that is wanted."""

    id: str  # names the text among those asked for together
    question_id: str  # the question it is for
    prompt: Prompt
    sampling: Sampling


@dataclass
class Filled:
    """What :meth:`GenerationLog.fill` found and made."""

    records: dict[str, dict] = field(default_factory=dict)  # by item id
    missing: dict[str, str] = field(default_factory=dict)  # item id to why there is no text
    origins: Counter = field(
        default_factory=Counter
    )  # how many were ``computed`` now, ``reused``, ``published``

    def add(self, items: Iterable[Item], record: dict, origin: str) -> None:
        """Take one record for the items that share it."""
        for item in items:
            self.records[item.id] = record
            self.origins[origin] += 1

    @property
    def texts(self) -> dict[str, str]:
        """Item id to text."""
        return {item: record["text"] for item, record in self.records.items()}

    @property
    def cut(self) -> list[str]:
        """Items whose text was cut off at the most tokens it may have."""
        return [item for item, record in self.records.items() if record["finish_reason"] == "length"]


class GenerationLog:
    """An append-only log of generations.

    Args:
        path: the log, ``generations.jsonl``; made when missing.
        model: which model writes.
        published: records that are used too, and copied into the log, marked as published. With None, the copies that
            an earlier run took are ignored as well.
        say: progress callback, one line per call.
    """

    def __init__(
        self,
        path: Path,
        model: Model,
        published: Iterable[dict] | None = None,
        say: Callable[[str], None] = print,
    ):
        self.path, self.model, self.say = Path(path), model, say
        self.uses_published = published is not None
        self.published = {record["key"]: record for record in published or () if is_sound(record)}

    def take_published(self) -> None:
        """Copy every published record into the log that it does not contain."""
        here = read_records(self.path, lambda _: None) if self.published else {}
        missing = (record for key, record in self.published.items() if key not in here)
        append_records(self.path, (record | {"origin": "published"} for record in missing))

    def key(self, item: Item) -> str:
        """What identifies an item's text, 64 hex digits."""
        return key_of(self._identity(item))

    def _identity(self, item: Item) -> dict:
        params = asdict(item.sampling)
        if not params["grammar"]:
            del params["grammar"]  # texts without one keep their keys
        prompt_sha, seed = digest_of(item.prompt.messages), params.pop("seed")
        return {"model": asdict(self.model), "prompt_sha": prompt_sha, "seed": seed, "params": params}

    def fill(
        self,
        kind: str,
        items: Sequence[Item],
        make_generator: Callable[[], Generator],
        may_be_cut: bool = False,
    ) -> Filled:
        """Look items up, and have what is not there written; what then is missing is tried again next time.

        Args:
            kind: what the texts are, such as ``hyde`` or ``answer``; kept in the records.
            items: the texts wanted; ids must differ.
            make_generator: called only if a text is missing.
            may_be_cut: whether a text's beginning is enough, as a label's is; else it is told how many were cut.
        """
        by_id = {item.id: item for item in items}
        if len(by_id) != len(items):
            raise ValueError(f"{kind}: {len(items) - len(by_id)} items have the id of another")
        self.take_published()
        filled, here = Filled(), read_records(self.path, self.say, self.uses_published)
        wanted: dict[str, list[Item]] = {}
        for item in items:
            if (key := self.key(item)) in here:
                filled.add([item], here[key], "published" if "origin" in here[key] else "reused")
            else:
                wanted.setdefault(key, []).append(item)
        found = (here[key] for key in dict.fromkeys(map(self.key, items)) if key in here)
        append_records(self.path, (record for record in found if SUM not in record))
        if wanted:
            with exclusively(self.path, self.say):
                # another process may have written some meanwhile; damage was told by the first reading
                here = read_records(self.path, lambda _: None, self.uses_published)
                for key in wanted.keys() & here.keys():
                    filled.add(wanted.pop(key), here[key], "reused")
                if wanted:
                    self._write(kind, list(wanted.values()), make_generator, filled)
        filled.records = {item.id: filled.records[item.id] for item in items if item.id in filled.records}
        cut, missing, of = len(filled.cut), filled.missing, f"of {len(items)} texts"
        if cut and not may_be_cut:
            self.say(f"{kind}: {cut} {of} were cut at the most tokens they may have")
        for item, reason in missing.items():
            self.say(f"{kind}: nothing for question {by_id[item].question_id} ({item}): {reason}")
        if missing:
            self.say(f"{kind}: {len(missing)} {of} are missing; run again to try them again")
        return filled

    def _write(self, kind: str, wanted: list[list[Item]], make_generator, filled: Filled) -> None:
        """Have a text written for each list of items that share it, and keep each at once."""
        requests = [Request(same[0].prompt, same[0].sampling) for same in wanted]
        reasons: dict[int, str | None] = {}
        with tqdm(total=len(requests), desc=kind, unit="text", mininterval=5) as progress:

            def on_done(number: int, outcome: Generation | GenerationError) -> None:
                is_error, sampling = isinstance(outcome, GenerationError), requests[number].sampling
                reasons[number] = str(outcome) if is_error else fault(outcome, sampling)
                progress.update()
                if reasons[number] is None:
                    record = self._record(kind, wanted[number][0], outcome)
                    append_records(self.path, [record])
                    filled.add(wanted[number], record, "computed")

            failure = "the generator said nothing of it"
            try:
                make_generator().generate(requests, on_done)
            except GenerationError as error:
                failure = f"the generator stopped: {error}"
        for number, same in enumerate(wanted):
            if (reason := reasons.get(number, failure)) is not None:
                filled.missing.update((item.id, reason) for item in same)

    def _record(self, kind: str, item: Item, generation: Generation) -> dict:
        identity, created = self._identity(item), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        about = {"key": key_of(identity), "kind": kind, "question_id": item.question_id}
        return about | identity | asdict(generation) | {"created": created}


def key_of(identity: dict) -> str:
    """The key of a record: the hash of the weights, the prompt, the sampling and the seed, 64 hex digits."""
    weights = identity["model"]["sha256"]
    return digest_of([weights, identity["prompt_sha"], identity["params"], identity["seed"]])


def sum_of(record: dict) -> str:
    """The checksum of what was written, with what it was written for, 16 hex digits."""
    return digest_of([record[name] for name in ("key", "question_id", "text", "finish_reason")])[:16]


def is_sound(record: object) -> bool:
    """Whether a record has every field, the key that follows from them, and its checksum if it has one."""
    try:
        is_whole = all(name in record for name in FIELDS) and key_of(record) == record["key"]
        return is_whole and record.get(SUM, own := sum_of(record)) == own
    except (TypeError, KeyError):
        return False


def read_records(path: Path, say: Callable[[str], None], with_copies: bool = True) -> dict[str, dict]:
    """The sound records of a log by key; one made here goes before a published copy, then one with a checksum before
    one without, else the first counts.

    Args:
        path: the log; it may be missing.
        say: called with the number of damaged lines, if there are any.
        with_copies: whether copies of published records count.
    """
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    records = [_parsed(line) for line in lines if line.strip()]
    if n_damaged := records.count(None):
        say(f"{path.name}: {n_damaged} damaged lines are not used")
    by_key: dict[str, dict] = {}
    for record in filter(None, records):
        if with_copies or "origin" not in record:
            known = by_key.setdefault(record["key"], record)
            if _rank(record) > _rank(known):
                by_key[record["key"]] = record
    return by_key


def _rank(record: dict) -> tuple[bool, bool]:
    return "origin" not in record, SUM in record


def take_over(source: Path, target: Path, question_ids: set[str], model: Model) -> None:
    """Add to a log the records of another by a model about some questions or filings, if it does not contain them."""
    here = read_records(target, lambda _: None)
    records = read_records(source, lambda _: None).items()
    about = [one for key, one in records if one["question_id"] in question_ids and key not in here]
    append_records(target, [one for one in about if one["model"]["sha256"] == model.sha256])


def _parsed(line: bytes) -> dict | None:
    """A line's record, or None when it is not whole or not the one that its key names."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if is_sound(record) else None


def append_records(path: Path, records: Iterable[dict]) -> None:
    """Add lines with checksums, on the disk when it returns; a last line without its end is ended, or cut if broken."""
    summed = ({SUM: sum_of(record)} | record for record in records)
    added = b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in summed)
    if not added:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        if file.read() not in (b"", b"\n"):
            file.seek(0)
            start = file.read().rfind(b"\n") + 1
            file.seek(start)
            if _parsed(file.read()) is None:
                file.truncate(start)
            else:
                file.write(b"\n")
        file.write(added)
        file.flush()
        os.fsync(file.fileno())

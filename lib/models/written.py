"""What a language model wrote, one JSON line each, appended as it is written: a killed run only fills gaps.

A record's key is the hash of the model's weights, the prompt, the sampling and the seed. The prompt itself is not kept:
it may hold a filing's text. A line that a kill left half-written, or that was changed by hand, is noticed and not used.
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

FIELDS = ("key", "kind", "question_id", "prompt_sha", "params", "seed", "model", "text", "finish_reason")


@dataclass(frozen=True)
class Model:
    """Which model writes: its name in the lock file and what its weights hash to."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Item:
    """One text that is wanted.

    Attributes:
        id: names the text among those asked for together.
        question_id: the question it is for.
    """

    id: str
    question_id: str
    prompt: Prompt
    sampling: Sampling


@dataclass
class Filled:
    """What :meth:`GenerationLog.fill` found and made.

    Attributes:
        records: item id to record.
        missing: item id to why there is no text.
        origins: how many records were ``computed`` now, ``reused`` from the log, or ``published``.
    """

    records: dict[str, dict] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    origins: Counter = field(default_factory=Counter)

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
        here = read_records(self.path, self.say)
        copies = [
            record | {"origin": "published"} for key, record in self.published.items() if key not in here
        ]
        if copies:
            append_records(self.path, copies)

    def key(self, item: Item) -> str:
        """What identifies an item's text, 64 hex digits."""
        return key_of(self._identity(item))

    def _identity(self, item: Item) -> dict:
        params = asdict(item.sampling)
        return {
            "model": asdict(self.model),
            "prompt_sha": digest_of(item.prompt.messages),
            "seed": params.pop("seed"),
            "params": params,
        }

    def fill(
        self,
        kind: str,
        items: Sequence[Item],
        make_generator: Callable[[], Generator],
        may_be_cut: bool = False,
    ) -> Filled:
        """Look items up, and have what is not there written.

        Args:
            kind: what the texts are, such as ``hyde`` or ``answer``; kept in the records.
            items: the texts wanted; ids must differ.
            make_generator: called only if a text is missing.
            may_be_cut: whether a text's beginning is enough, as a label's is; else it is told how many were cut.

        Returns:
            The records, and for every item without one the reason. What is missing is tried again next time.
        """
        by_id = {item.id: item for item in items}
        if len(by_id) != len(items):
            raise ValueError(f"{kind}: {len(items) - len(by_id)} items have the id of another")
        filled, here = Filled(), read_records(self.path, self.say, self.uses_published)
        copies: dict[str, dict] = {}
        wanted: dict[str, list[Item]] = {}
        for item in items:
            key = self.key(item)
            if key in here:
                filled.records[item.id] = here[key]
                filled.origins["published" if "origin" in here[key] else "reused"] += 1
            elif key in self.published:
                copies[key] = filled.records[item.id] = self.published[key] | {"origin": "published"}
                filled.origins["published"] += 1
            else:
                wanted.setdefault(key, []).append(item)
        if copies:
            append_records(self.path, copies.values())
        if wanted:
            with exclusively(self.path, self.say):
                self._write_missing(kind, wanted, make_generator, filled)
        filled.records = {item.id: filled.records[item.id] for item in items if item.id in filled.records}
        self._report(kind, by_id, filled, may_be_cut)
        return filled

    def _write_missing(
        self, kind: str, wanted: dict[str, list[Item]], make_generator, filled: Filled
    ) -> None:
        """Have written what is still not in the log: another process may have written it meanwhile."""
        here = read_records(
            self.path, lambda _: None, self.uses_published
        )  # damage was told by the first reading
        for key in [key for key in wanted if key in here]:
            same = wanted.pop(key)
            filled.records.update((item.id, here[key]) for item in same)
            filled.origins["reused"] += len(same)
        if wanted:
            self._write(kind, list(wanted.values()), make_generator, filled)

    def _write(self, kind: str, wanted: list[list[Item]], make_generator, filled: Filled) -> None:
        requests = [Request(same[0].prompt, same[0].sampling) for same in wanted]
        outcomes: dict[int, Generation | GenerationError] = {}
        with tqdm(total=len(requests), desc=kind, unit="text", mininterval=5) as progress:

            def on_done(number: int, outcome: Generation | GenerationError) -> None:
                outcomes[number] = outcome
                progress.update()
                if _reason(outcome, requests[number].sampling) is None:
                    record = self._record(kind, wanted[number][0], outcome)
                    append_records(self.path, [record])
                    filled.records.update((item.id, record) for item in wanted[number])
                    filled.origins["computed"] += len(wanted[number])

            failure = "the generator said nothing of it"
            try:
                make_generator().generate(requests, on_done)
            except GenerationError as error:
                failure = f"the generator stopped: {error}"
        for number, same in enumerate(wanted):
            reason = _reason(outcomes[number], requests[number].sampling) if number in outcomes else failure
            if reason is not None:
                filled.missing.update((item.id, reason) for item in same)

    def _record(self, kind: str, item: Item, generation: Generation) -> dict:
        identity = self._identity(item)
        return {
            "key": key_of(identity),
            "kind": kind,
            "question_id": item.question_id,
            **identity,
            **asdict(generation),
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def _report(self, kind: str, by_id: dict[str, Item], filled: Filled, may_be_cut: bool) -> None:
        if filled.cut and not may_be_cut:
            self.say(
                f"{kind}: {len(filled.cut)} of {len(by_id)} texts were cut at the most tokens they may have"
            )
        for item, reason in filled.missing.items():
            self.say(f"{kind}: nothing for question {by_id[item].question_id} ({item}): {reason}")
        if filled.missing:
            self.say(
                f"{kind}: {len(filled.missing)} of {len(by_id)} texts are missing; run again to try them again"
            )


def _reason(outcome: Generation | GenerationError, sampling: Sampling) -> str | None:
    return str(outcome) if isinstance(outcome, GenerationError) else fault(outcome, sampling)


def key_of(identity: dict) -> str:
    """The key of a record: the hash of the weights, the prompt, the sampling and the seed, 64 hex digits."""
    return digest_of(
        [identity["model"]["sha256"], identity["prompt_sha"], identity["params"], identity["seed"]]
    )


def is_sound(record: object) -> bool:
    """Whether a record has every field, and the key that follows from them."""
    try:
        return all(name in record for name in FIELDS) and key_of(record) == record["key"]
    except (TypeError, KeyError):
        return False


def read_records(path: Path, say: Callable[[str], None], with_copies: bool = True) -> dict[str, dict]:
    """The sound records of a log by key; one made here goes before a published copy, else the first counts.

    Args:
        path: the log; it may be missing.
        say: called with the number of damaged lines, if there are any.
        with_copies: whether copies of published records count.
    """
    by_key: dict[str, dict] = {}
    n_damaged = 0
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        record = _parsed(line)
        n_damaged += record is None and bool(line.strip())
        if record is not None and (with_copies or "origin" not in record):
            known = by_key.get(record["key"])
            if known is None or ("origin" in known and "origin" not in record):
                by_key[record["key"]] = record
    if n_damaged:
        say(f"{path.name}: {n_damaged} damaged lines are not used")
    return by_key


def _parsed(line: bytes) -> dict | None:
    """A line's record, or None when it is not whole or not the one that its key names."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if is_sound(record) else None


def append_records(path: Path, records: Iterable[dict]) -> None:
    """Add lines that are on the disk when this returns; a half-written last line is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        _mend_end(file)
        file.write(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))
        file.flush()
        os.fsync(file.fileno())


def _mend_end(file) -> None:
    """Make the file end with a whole line: end the last one if its record is whole, else cut it off."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    start = file.read().rfind(b"\n") + 1
    file.seek(start)
    if _parsed(file.read()) is None:
        file.truncate(start)
    else:
        file.write(b"\n")

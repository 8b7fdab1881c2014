"""What a language model wrote: stored in the cache's table ``texts`` as it is written, so that a killed run only fills
gaps, and listed in a study's ``generations.jsonl``, one record each.

A record's key is the hash of the model's weights, the prompt, the sampling and the seed; studies on one machine share
texts by it. The prompt itself is not stored: it may hold a filing's text.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tqdm.auto import tqdm

from lib.cache import Cache
from lib.files import digest_of, exclusively, report, write_atomically
from lib.models.prompts import Generation, GenerationError, Generator, Prompt, Request, Sampling, fault
from lib.schema import StudyError

OF_STUDY, OF_KEYS = "log = ? ORDER BY rowid", "key IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True)
class Model:
    """Which model writes."""

    name: str  # in the lock file
    sha256: str  # what its weights hash to


@dataclass(frozen=True)
class Item:
    """One text that is wanted."""

    id: str  # names the text among those asked for together
    question_id: str
    prompt: Prompt
    sampling: Sampling


@dataclass
class Filled:
    """What :meth:`GenerationLog.fill` gives."""

    records: dict[str, dict] = field(default_factory=dict)  # by item id
    missing: dict[str, str] = field(default_factory=dict)  # item id to why there is no text
    origins: Counter = field(default_factory=Counter)  # number computed now, reused, published

    @property
    def texts(self) -> dict[str, str]:
        """Item id to text."""
        return {item: record["text"] for item, record in self.records.items()}

    @property
    def cut(self) -> list[str]:
        """Items whose text was cut off."""
        return [item for item, record in self.records.items() if record["finish_reason"] == "length"]


class GenerationLog:
    """The texts of a study: stored in ``cache``, listed in ``path``, written by ``model``.

    ``published`` records are used too, and listed as published; with None, copies in the list are ignored as well.
    """

    def __init__(self, path: Path, cache: Cache, model: Model, published: Iterable[dict] | None = None, say=report):
        self.path, self.cache, self.model, self.say = Path(path), cache, model, say
        self.uses_published = published is not None
        self.published = {record["key"]: record | {"origin": "published"} for record in published or ()}

    def key(self, item: Item) -> str:
        """The key of an item's record."""
        return key_of(self._identity(item))

    def _identity(self, item: Item) -> dict:
        identity = {"model": asdict(self.model), "prompt_sha": digest_of(item.prompt.messages)}
        return identity | {"seed": item.sampling.seed, "params": item.sampling.params}

    def _records(self, items: Sequence[Item]) -> dict[str, dict]:
        """Item id to record of the texts that this study has; its own go before published ones."""
        records = self.published | self._stored(OF_STUDY, str(self.path))
        return {item.id: records[key] for item in items if (key := self.key(item)) in records}

    def fill(
        self, kind: str, items: Sequence[Item], make_generator: Callable[[], Generator], may_be_cut: bool = False
    ) -> Filled:
        """Look items up and have missing texts written; one that then fails is tried again the next time.

        ``kind`` (such as ``hyde`` or ``answer``) is stored in the records; ``make_generator`` is called only if a text
        is missing. The number of texts that were cut is reported unless a beginning is enough (``may_be_cut``).
        """
        before = records = self._records(items)
        reasons = {}
        if missing := [item for item in items if item.id not in records]:
            with exclusively(self.path, self.say):
                self._adopt(kind, missing)
                before = self._records(items)
                if missing := [item for item in missing if item.id not in before]:
                    reasons = self._write(kind, missing, make_generator)
                self.list_all()
            records = self._records(items)
        origins = (before[id].get("origin", "reused") if id in before else "computed" for id in records)
        filled, total = Filled(records, reasons, Counter(origins)), f"of {len(items)} texts"
        if filled.cut and not may_be_cut:
            self.say(f"{kind}: {len(filled.cut)} {total} were cut at their token limit")
        questions = {item.id: item.question_id for item in items}
        for id, reason in reasons.items():
            self.say(f"{kind}: no text for question {questions[id]} ({id}): {reason}")
        if reasons:
            self.say(f"{kind}: {len(reasons)} {total} are missing; run again to retry")
        return filled

    def _adopt(self, kind: str, items: Sequence[Item]) -> None:
        """Take items' texts from the list, should the cache be lost, and from other studies."""
        self._store(read_records(self.path).values(), "IGNORE")
        wanted = {self.key(item): {"kind": kind, "question_id": item.question_id} for item in reversed(items)}
        shared = self._stored(OF_KEYS, json.dumps([*wanted]))
        self._store(record | wanted[key] for key, record in shared.items())

    def _write(self, kind: str, items: Sequence[Item], make_generator: Callable[[], Generator]) -> dict[str, str]:
        """Have the texts written, one for items that share it, each stored at once; gives item id to why it failed."""
        first: dict[str, Item] = {}
        for item in items:
            first.setdefault(self.key(item), item)
        wanted, reasons, failure = [*first.items()], {}, "no answer received"
        requests = [Request(item.prompt, item.sampling) for item in first.values()]
        with tqdm(total=len(wanted), desc=kind, unit="text", mininterval=5) as progress:

            def on_done(number: int, outcome: Generation | GenerationError) -> None:
                key, item = wanted[number]
                reasons[key] = fault(outcome, item.sampling) if isinstance(outcome, Generation) else str(outcome)
                if reasons[key] is None:
                    record = {"key": key, "kind": kind, "question_id": item.question_id} | self._identity(item)
                    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                    self._store([record | asdict(outcome) | {"created": created}])
                progress.update()

            try:
                make_generator().generate(requests, on_done)
            except GenerationError as error:
                failure = f"the generator stopped: {error}"
        by_item = {item.id: reasons.get(self.key(item), failure) for item in items}
        return {id: reason for id, reason in by_item.items() if reason is not None}

    def _stored(self, which: str, value: str) -> dict[str, dict]:
        with self.cache.open() as connection:
            rows = connection.execute(f"SELECT record FROM texts WHERE {which}", [value])
            records = [json.loads(text) for [text] in rows]
        return {one["key"]: one for one in records if self.uses_published or "origin" not in one}

    def _store(self, records: Iterable[dict], on_conflict: str = "REPLACE") -> None:
        rows = [(one["key"], str(self.path), json.dumps(one, ensure_ascii=False)) for one in records]
        with self.cache.open() as connection, connection:
            connection.executemany(f"INSERT OR {on_conflict} INTO texts VALUES (?, ?, ?)", rows)

    def list_all(self) -> None:
        """Write the study's texts, and the published ones that it uses, into ``generations.jsonl``."""
        records = self.published | read_records(self.path) | self._stored(OF_STUDY, str(self.path))
        if records:
            write_atomically(self.path, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records.values()))


def key_of(identity: dict) -> str:
    """The key of a record, 64 hex digits."""
    return digest_of([identity["model"]["sha256"], *(identity[name] for name in ("prompt_sha", "params", "seed"))])


def read_records(path: Path) -> dict[str, dict]:
    """The records of a list by key, the last of each; an unfinished last line is not read."""
    lines, records = path.read_bytes().split(b"\n")[:-1] if path.exists() else [], {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            records[record["key"]] = record
        except (ValueError, KeyError, TypeError):
            raise StudyError(f"{path} line {number} is damaged; delete the line") from None
    return records

"""What a language model wrote: kept in the cache's table ``texts`` as it is written, so that a killed run only fills
gaps, and listed in a study's ``generations.jsonl``, one record each.

A record's key is the hash of the model's weights, the prompt, the sampling and the seed. The prompt itself is not kept:
it may hold a filing's text. Another study on this machine that wants the same text takes it.
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

LISTS = "*/*/generations*.jsonl"  # of every study, from the cache's folder
OF_LOG, OF_KEYS = "log = ? ORDER BY rowid", "key IN (SELECT value FROM json_each(?))"


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
    """What :meth:`GenerationLog.fill` found and made."""

    records: dict[str, dict] = field(default_factory=dict)  # by item id
    missing: dict[str, str] = field(default_factory=dict)  # item id to why there is no text
    origins: Counter = field(default_factory=Counter)  # how many were computed now, reused, published

    @property
    def texts(self) -> dict[str, str]:
        """Item id to text."""
        return {item: record["text"] for item, record in self.records.items()}

    @property
    def cut(self) -> list[str]:
        """Items whose text was cut off."""
        return [item for item, record in self.records.items() if record["finish_reason"] == "length"]


class GenerationLog:
    """The texts of a study: kept in ``cache``, listed in ``path``, written by ``model``.

    ``published`` records are used too, and listed as published; with None, copies that earlier runs listed are not.
    """

    def __init__(self, path: Path, cache: Cache, model: Model, published: Iterable[dict] | None = None, say=report):
        self.path, self.cache, self.model, self.say = Path(path), cache, model, say
        self.uses_published = published is not None
        self.published = {record["key"]: record | {"origin": "published"} for record in published or ()}

    def key(self, item: Item) -> str:
        """The key of an item's record."""
        return key_of(self._identity(item))

    def _identity(self, item: Item) -> dict:
        about = {"model": asdict(self.model), "prompt_sha": digest_of(item.prompt.messages)}
        return about | {"seed": item.sampling.seed, "params": item.sampling.params}

    def _known(self, items: Sequence[Item]) -> dict[str, dict]:
        """Item id to record, of the texts that are here; one that was written here goes before a published one."""
        here = self.published | self._kept(OF_LOG, str(self.path))
        return {item.id: here[key] for item in items if (key := self.key(item)) in here}

    def fill(
        self, kind: str, items: Sequence[Item], make_generator: Callable[[], Generator], may_be_cut: bool = False
    ) -> Filled:
        """Look items up, and have what is not there written; what then is missing is tried again next time.

        ``kind`` (such as ``hyde`` or ``answer``) is kept in the records; ``make_generator`` is called if a text is
        missing. How many texts were cut is told unless a beginning is enough (``may_be_cut``).
        """
        known = before = self._known(items)
        missing = {}
        if lacking := [item for item in items if item.id not in known]:
            with exclusively(self.path, self.say):
                self._take_over(kind, lacking)
                before = self._known(items)  # another process may have written some meanwhile
                if lacking := [item for item in lacking if item.id not in before]:
                    missing = self._write(kind, lacking, make_generator)
                self.list_all()
            known = self._known(items)
        origins = (before[id].get("origin", "reused") if id in before else "computed" for id in known)
        filled, of = Filled(known, missing, Counter(origins)), f"of {len(items)} texts"
        if filled.cut and not may_be_cut:
            self.say(f"{kind}: {len(filled.cut)} {of} were cut at the most tokens they may have")
        questions = {item.id: item.question_id for item in items}
        for id, reason in missing.items():
            self.say(f"{kind}: nothing for question {questions[id]} ({id}): {reason}")
        if missing:
            self.say(f"{kind}: {len(missing)} {of} are missing; run again to try them again")
        return filled

    def _take_over(self, kind: str, items: Sequence[Item]) -> None:
        """Keep what lists (should the cache be lost) and other studies have of items' texts; another study's list that
        cannot be read is passed over, which is said."""
        for path in self.cache.path.parent.glob(LISTS):
            try:
                self._keep(read_records(path).values(), str(path), "IGNORE")
            except (StudyError, OSError, UnicodeEncodeError) as error:
                if path == self.path:
                    raise
                self.say(f"{path}, another study's list, is passed over: {error}")
        about = {self.key(item): {"kind": kind, "question_id": item.question_id} for item in reversed(items)}
        found = self._kept(OF_KEYS, json.dumps([*about]))
        self._keep(record | about[key] for key, record in found.items())

    def _write(self, kind: str, items: Sequence[Item], make_generator: Callable[[], Generator]) -> dict[str, str]:
        """Have one text written for items that share it, and keep it at once; gives item id to why there is none."""
        first: dict[str, Item] = {}
        for item in items:
            first.setdefault(self.key(item), item)
        wanted, reasons, failure = [*first.items()], {}, "the generator said nothing of it"
        requests = [Request(item.prompt, item.sampling) for item in first.values()]
        with tqdm(total=len(wanted), desc=kind, unit="text", mininterval=5) as progress:

            def on_done(number: int, outcome: Generation | GenerationError) -> None:
                key, item = wanted[number]
                reasons[key] = fault(outcome, item.sampling) if isinstance(outcome, Generation) else str(outcome)
                if reasons[key] is None:
                    about = {"key": key, "kind": kind, "question_id": item.question_id} | self._identity(item)
                    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                    self._keep([about | asdict(outcome) | {"created": created}])
                progress.update()

            try:
                make_generator().generate(requests, on_done)
            except GenerationError as error:
                failure = f"the generator stopped: {error}"
        why = {item.id: reasons.get(self.key(item), failure) for item in items}
        return {id: reason for id, reason in why.items() if reason is not None}

    def _kept(self, which: str, value: str) -> dict[str, dict]:
        with self.cache.open() as connection:
            rows = connection.execute(f"SELECT record FROM texts WHERE {which}", [value])
            records = [json.loads(text) for [text] in rows]
        return {one["key"]: one for one in records if self.uses_published or "origin" not in one}

    def _keep(self, records: Iterable[dict], log: str = "", else_do: str = "REPLACE") -> None:
        rows = [(one["key"], log or str(self.path), json.dumps(one, ensure_ascii=False)) for one in records]
        with self.cache.open() as connection, connection:
            connection.executemany(f"INSERT OR {else_do} INTO texts VALUES (?, ?, ?)", rows)

    def list_all(self) -> None:
        """Write the study's texts, and the published ones that it uses, into ``generations.jsonl``."""
        records = self.published | read_records(self.path) | self._kept(OF_LOG, str(self.path))
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

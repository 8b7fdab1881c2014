"""What a question costs under each method, all measured alike: ``python -m lib time --dataset financebench``.

One process asks one question at a time, the same ones of every method. Each method first answers another question,
which loads all that belongs to the index: vectors, BM25, models, the language model's processes. Then a question's own
work is done as when it is asked for the first time: its embedding, its texts and its pairs are looked up neither
in the cache nor in the store nor in the log. Texts that two methods ask for are written once, and both methods are
charged the seconds that it took. A trained method answers as it does a question of another dataset, with what was
trained before.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.pool import ThreadPool
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from lib.analysis.frontier import TIME_COLUMNS, TIMES, known_table
from lib.cache import Cache
from lib.files import write_atomically
from lib.models.encoders import automatic_precision
from lib.models.generator import LlamaCppGenerator, Slot
from lib.models.prompts import Generator, OnDone, Prompt, Request, Sampling
from lib.models.written import Filled, GenerationLog, Item, read_records
from lib.store import RECORD, Store
from lib.study import Study
from lib.words import StudyError

N_QUESTIONS, SEED = 20, 13
SAMPLE = 128  # texts of an index that are computed again, for their seconds
MOST_OWN_ITEMS = 2000  # texts or pairs of one question; more can only be an index that was not computed
FRAMES = ("pages", "chunks")
#: Stages that prepare questions, or are another method's run; all others that a run asked for index the filings.
OF_QUESTIONS = (
    "digests/",
    "embeddings/page_questions/",
    "embeddings/passages/",
    "embeddings/queries/",
    "gold/",
    "page_scorer/questions/",
    "runs/",
    "siblings/",
    "sparse/queries/",
)
#: HyDE reads the first of the passages that are written for Multi-HyDE; alone it would have one written.
CHANGES = {"hyde": {"hyde.n_passages": 1}}
#: A fine-tuned encoder has the size of the untrained one, with which a question alone is answered.
_TUNED = [(name, order) for name in ("page_scorer", "page_scorer_best") for order in ("order", "sum")]
SAME_WORK = {
    **dict.fromkeys(
        ("page_scorer", "page_scorer_filing", *(f"{name}_{order}" for name, order in _TUNED)),
        "page_then_chunk",
    ),
    **{
        f"{name}_{order}_{kind}": f"page_scorer_light_{order}_{kind}"
        for name, order in _TUNED
        for kind in ("records", "covers")
    },
}


@dataclass
class Meter:
    """What one question has cost so far, beside the seconds that passed."""

    charged_s: float = 0.0  # of texts that were written for an earlier method
    tokens_written: int = 0
    tokens_read: int = 0
    n_pairs: int = 0


@dataclass
class Built:
    """What a value that a study keeps in memory was made from, and how long that took."""

    seconds: float = 0.0  # without the values inside it
    inner_s: float = 0.0
    is_of_question: bool = False
    inside: set = field(default_factory=set)  # the places of all values that it was made from


class Absent(Exception):
    """A row that the cache does not contain."""


class OwnRows:
    """A cache that computes what belongs to a question, and takes from another what belongs to the index.

    What the first question asks for is taken from the other cache where it is there, and kept. What a later question
    asks for alike is of the index; everything else is computed, and kept until the next question.

    Attributes:
        index_s: seconds to compute all rows of a stage that prepares the index, from those of a sample.
    """

    def __init__(self, cache: object, clock: Callable[[], float], index_s: dict[str, float]):
        self.cache, self.is_loading, self.of_index, self.own = cache, True, [], []
        self.clock, self.index_s = clock, index_s

    def turn(self, is_first: bool) -> None:
        """Forget what the last question asked for; ``is_first``: what comes may be of the index."""
        self.is_loading, self.own = is_first, []

    def rows(self, space, items, compute, batch_size=512, dtype=np.float32, label="") -> np.ndarray:
        """As :meth:`lib.cache.Cache.rows`."""
        items, kept = list(items), self.of_index if self.is_loading else self.own
        for known, others, rows in (*self.of_index, *self.own):
            if known == space and others == items:
                return rows
        found = self._stored(space, items, batch_size, dtype) if self.is_loading else None
        if found is None:
            if len(items) > MOST_OWN_ITEMS:
                raise StudyError(f"{label}: {len(items)} rows of the index are missing; run the method first")
            starts = range(0, len(items), batch_size)
            parts = [np.asarray(compute(items[start : start + batch_size]), dtype) for start in starts]
            found = np.concatenate(parts).reshape(len(items), -1)
        elif items and label not in self.index_s and not f"{label}/".startswith(OF_QUESTIONS):
            self.index_s[label] = self._seconds(list(dict.fromkeys(items)), compute)
        kept.append((space, items, found))
        return found

    def _seconds(self, items: list, compute: Callable) -> float:
        """Seconds to compute the rows of items, from those of SAMPLE of them."""
        sample = items[:: max(1, len(items) // SAMPLE)][:SAMPLE]
        compute(sample[:1])  # loads the model
        started = self.clock()
        compute(sample)
        return (self.clock() - started) * len(items) / len(sample)

    def _stored(self, space, items, batch_size, dtype) -> np.ndarray | None:
        def refuse(_: list) -> np.ndarray:
            raise Absent

        try:
            return self.cache.rows(space, items, refuse, batch_size, dtype)
        except Absent:
            return None


class OwnTexts:
    """A log that has each question's texts written anew, and charges for those that were written for another method."""

    def __init__(self, log: GenerationLog, folder: Path, clock: Callable[[], float]):
        self.log, self.folder, self.clock = log, folder, clock
        self.meter, self.own, self.known = Meter(), {}, {}

    def turn(self) -> None:
        """Forget what the last question had written."""
        self.meter, self.own = Meter(), {}

    def fill(self, kind: str, items: list[Item], make_generator, may_be_cut: bool = False) -> Filled:
        """As :meth:`lib.models.written.GenerationLog.fill`; a text is written once for a question."""
        keys = {item.id: self.log.key(item) for item in items}
        new = [item for item in items if keys[item.id] not in self.own]
        asked = kind, tuple(keys[item.id] for item in new)
        if new and asked in self.known:
            seconds, written = self.known[asked]
            self.meter.charged_s += seconds
        else:
            path = self.folder / f"texts-{len(self.known)}.jsonl"
            cache, started = Cache(path.with_suffix(".sqlite")), self.clock()
            empty = GenerationLog(path, cache, self.log.model, None, self.log.say)
            written = list(empty.fill(kind, new, make_generator, may_be_cut).records.values())
            self.known[asked] = self.clock() - started, written
        for record in {record["key"]: record for record in written}.values():
            self.own[record["key"]] = record
            self.meter.tokens_written += record["n_tokens"]
            self.meter.tokens_read += record["n_prompt_tokens"]
        return Filled({name: self.own[key] for name, key in keys.items() if key in self.own})


class KeptSlots:
    """llama.cpp's processes, as many as the profile has, kept between calls; they are started at once."""

    def __init__(self, generator: LlamaCppGenerator):
        self.slots = [Slot(generator) for _ in range(generator.n_slots)]
        self.generate(
            [Request(Prompt("One word."), Sampling(1))] * len(self.slots), lambda number, outcome: None
        )

    def generate(self, requests: list[Request], on_done: OnDone) -> None:
        """As :meth:`lib.models.prompts.Generator.generate`."""
        idle = SimpleQueue()
        for slot in self.slots:
            idle.put(slot)

        def answer(request: Request) -> object:
            slot = idle.get()
            outcome = slot.outcome(request)
            idle.put(slot)
            return outcome

        with ThreadPool(len(self.slots)) as threads:
            for number, outcome in enumerate(threads.imap(answer, requests)):
                on_done(number, outcome)

    def close(self) -> None:
        """End the processes."""
        for slot in self.slots:
            slot.end(is_closed=True)


class CountedPairs:
    """A cross-encoder whose pairs are counted."""

    def __init__(self, model: object, meter: Callable[[], Meter]):
        self.model, self.meter = model, meter

    def scores(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """The model's scores."""
        self.meter().n_pairs += len(pairs)
        return self.model.scores(pairs)


class StoredIndex:
    """A store's entries as another store's published layer: the index is read, and nothing is written to it."""

    stages: dict = {}  # noqa: RUF012  (as the protocol has it)

    def __init__(self, store: Store):
        self.store = store

    def find(self, stage: str, key: str) -> tuple[Path, dict] | None:
        """See :class:`lib.store.PublishedLayer`."""
        folder, record = self.store.root / stage / key, self.store.record(f"{stage}/{key}")
        return (folder, record) if record and (folder / RECORD).is_file() else None


class AskedAlone(Study):
    """A study with one question, over an index that stays in memory from one question to the next.

    Attributes:
        asked: the only question.
        built: what each value in memory was made from; one that depends on the question is not kept for the next.
    """

    def __init__(self, study: Study, folder: Path, clock: Callable[[], float]):
        self.__dict__.update(study.__dict__)
        self.real, self.published, self.clock = study, None, clock
        self.home = self.outputs = folder
        self._memo, self.built, self.index_s = {}, {}, {}
        log = study.generation_log()
        records = (log.published | read_records(log.path)).values()
        cache = Cache(folder / "texts.sqlite")
        self.known = GenerationLog(folder / "known.jsonl", cache, log.model, records, lambda line: None)
        self.texts = OwnTexts(log, folder, clock)
        self.generators: list[Generator] = []

    def begin(self, name: str, folder: Path) -> None:
        """Turn to a method: the index stays in memory if it is of the same chunk table, nothing of a question does."""
        chunkings = ("", self.real.method(name).chunking)
        self._memo = {place: kept for place, kept in self._index().items() if place[0] in chunkings}
        self.profile = self.real.profile.replaced(CHANGES.get(name, {}))
        self.store = Store(folder, say=lambda line: None, published=StoredIndex(self.real.store))
        self.cache, self.building = OwnRows(self.real.cache, self.clock, self.index_s), [Built()]

    def ask(self, question: pd.DataFrame, is_first: bool) -> None:
        """Turn to a question; the first of a method may use what is stored."""
        self.asked = question.assign(question_id="asked/" + question["question_id"])
        self._memo = self._index()
        self.cache.turn(is_first)
        self.texts.turn()

    def _index(self) -> dict:
        """What is in memory and does not depend on the question."""
        return {place: kept for place, kept in self._memo.items() if not self.built[place].is_of_question}

    @property
    def questions(self) -> pd.DataFrame:
        """The question alone."""
        self.building[-1].is_of_question = True
        return self.asked

    def digest(self, name: str) -> str:
        """As :meth:`lib.frames.Frames.digest`; the question alone has a digest of its own."""
        return (
            f"asked {self.questions['question_id'].tolist()}" if name == "questions" else super().digest(name)
        )

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """As :meth:`lib.frames.Frames.memo`; notes what the value was made from."""
        place = (self.chunking, key)
        if place not in self._memo:
            built, started = Built(), self.clock()
            self.building.append(built)
            try:
                value = super().memo(key, compute)
            finally:
                self.building.pop()
            if isinstance(key, tuple) and key[0] == "cross_encoder":
                self._memo[place] = CountedPairs(value, lambda: self.texts.meter), set()
            whole_s = self.clock() - started
            built.seconds = whole_s - built.inner_s
            self.building[-1].inner_s += whole_s
            self.built[place] = built
        built, around = self.built[place], self.building[-1]
        around.inside |= {place, *built.inside}
        around.is_of_question |= built.is_of_question
        return super().memo(key, compute)

    def generation_log(self) -> object:
        """A copy of the study's log for the first question, afterwards one that has everything written."""
        self.make_generator()
        return self.known if self.cache.is_loading else self.texts

    def make_generator(self) -> Generator:
        """The profile's language model, started once."""
        if not self.generators:
            generator = self.real.make_generator()
            is_llama = isinstance(generator, LlamaCppGenerator)
            self.generators.append(KeptSlots(generator) if is_llama else generator)
        return self.generators[0]


def answer_seconds(study: AskedAlone, name: str) -> float:
    """Rank the chunks for the study's question by a method; seconds, with those of texts written before."""
    name, started = SAME_WORK.get(name, name), study.clock()
    searched = study.with_chunks(study.method(name).chunking)
    searched.rank_method(name, searched.candidates("standard"), study.profile.run.depth)
    return study.clock() - started + study.texts.meter.charged_s


def index_seconds(study: AskedAlone, name: str, asked: Iterable[str]) -> float:
    """Seconds to index the filings for a method; NaN where the time of a stage was not stored.

    They are those of the stages that its run asked for, given as ``stage/key``, of the texts that a language model
    wrote of the filings, and of what is built in memory from chunks or pages, such as BM25. Stages of vectors are
    measured by a sample of their texts, as many vectors may have been known; others took what is stored.
    """
    real, inside = study.real, study.building[0].inside
    asked = [one for one in asked if not one.startswith(OF_QUESTIONS)]

    def seconds(stage: str) -> float:
        record = real.store.record(stage)
        return study.index_s.get(stage.rpartition("/")[0], record["wall_s"] if record else np.nan)

    stages = [seconds(one) for one in asked]
    in_memory = [
        study.built[place].seconds
        for place in inside
        if not study.built[place].is_of_question
        and any(key in FRAMES for _, key in (place, *study.built[place].inside))
    ]
    kinds, known = real.method(name).writes, set(real.questions["question_id"])
    records = read_records(real.home / "generations.jsonl").values() if kinds else ()
    texts = [
        record.get("seconds", np.nan)
        for record in records
        if record["kind"] in kinds and record["question_id"] not in known
    ]
    return float(np.sum([*stages, *in_memory, *texts]))


def time_method(study: AskedAlone, name: str, questions: pd.DataFrame, folder: Path) -> dict:
    """Time a method: TIME_COLUMNS. The first of the questions loads the index, and is not counted."""
    run = study.real.store.find(f"runs/standard/{name}", study.real.run_params(name, "standard"))
    if run is None:
        raise StudyError("its run is not stored; run the book first")
    study.begin(name, folder)
    seconds, meters = [], []
    for row in range(len(questions)):
        study.ask(questions.iloc[[row]], is_first=row == 0)
        seconds.append(answer_seconds(study, name))
        meters.append(study.texts.meter)
    index_s = index_seconds(study, name, run.asked)
    low, middle, high = np.quantile(seconds[1:], [0.25, 0.5, 0.75])
    written, read, pairs = np.mean(
        [(one.tokens_written, one.tokens_read, one.n_pairs) for one in meters[1:]], axis=0
    )
    machine = f"{os.cpu_count()} cores, {automatic_precision()}"
    row = (name, len(seconds) - 1, middle, low, high, written, read, pairs, index_s, machine)
    return dict(zip(TIME_COLUMNS, row, strict=True))


def write_times(
    study: Study,
    names: Iterable[str],
    n_questions: int = N_QUESTIONS,
    seed: int = SEED,
    again: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[str]:
    """Time methods and keep the result of each at once in ``times.csv`` of the study's folder; gives a line for each.

    Args:
        study: its filings are here, and the methods' runs are stored.
        names: methods; those that are in the file are left out unless ``again``.
        n_questions: drawn with ``seed``, the same for all methods; one more loads the index.
        clock: gives seconds.
    """
    study.need_filings("timing")
    path, asked = Path(study.home) / TIMES, study.questions
    if len(asked) < 2:
        raise StudyError("timing takes two questions or more: the first loads the index")
    questions = asked.sample(min(n_questions + 1, len(asked)), random_state=seed)
    known = known_table(study, TIMES)
    rows = {} if known is None else {row["method"]: row for row in known.to_dict("records")}
    wanted = [name for name in names if again or name not in rows]
    with TemporaryDirectory() as folder:
        alone = AskedAlone(study, Path(folder), clock)
        try:
            # the methods of one chunk table follow each other, so that its index is loaded once
            for number, name in enumerate(sorted(wanted, key=lambda name: study.method(name).chunking)):
                try:
                    rows[name] = time_method(alone, name, questions, Path(folder) / f"store-{number}")
                except StudyError as error:
                    yield f"{name}: not timed: {error}"
                    continue
                ordered = [rows[one] for one in study.methods if one in rows]
                table = pd.DataFrame(ordered, columns=TIME_COLUMNS)
                write_atomically(path, table.to_csv(index=False, float_format="%.6g").encode())
                yield "{method}: {question_s:.3f} s per question, {index_s:.0f} s to index".format(
                    **rows[name]
                )
        finally:
            for generator in alone.generators:
                if isinstance(generator, KeptSlots):
                    generator.close()

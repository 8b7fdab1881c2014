"""What a question costs under each method, all measured alike: ``python -m lib time --dataset financebench``.

One process asks one question at a time, the same ones of every method. A first question, which is not counted, loads
all that belongs to the index: vectors, BM25, models, the language model's processes. Each further one is asked of a
study with an empty cache, store and log, so that its embedding, its texts and its pairs are made anew. A trained method
answers as it does a question of another dataset, with what was trained before.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.pool import ThreadPool
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pandas as pd

from lib.analysis.frontier import TIME_COLUMNS, TIMES, known_table
from lib.cache import Cache
from lib.files import write_atomically
from lib.models.encoders import automatic_precision
from lib.models.generator import LlamaCppGenerator, Slot
from lib.models.prompts import Generator, OnDone, Prompt, Request, Sampling
from lib.store import RECORD, Store
from lib.study import GENERATIONS, Study
from lib.words import StudyError

SEED = 13
SAMPLE = 128  # texts of an index that are encoded again, for their seconds
FRAMES = ("pages", "chunks")
#: Stages that prepare questions, or are another method's run; all others that a run asked for index the filings.
OF_QUESTIONS = ("digests/", "embeddings/page_questions/", "embeddings/passages/", "embeddings/queries/", "gold/")
OF_QUESTIONS += ("page_scorer/questions/", "rerank/", "runs/", "siblings/", "sparse/queries/")
#: HyDE reads the first of the passages that are written for Multi-HyDE; alone it would have one written.
CHANGES = {"hyde": {"hyde.n_passages": 1}}
#: A fine-tuned encoder has the size of the untrained one, with which a question alone is answered.
SAME_WORK = {
    r"page_scorer(_best)?(_filing|_order|_sum)?": "page_then_chunk",
    r"page_scorer(?:_best)?(_(?:order|sum)_(?:records|covers))": r"page_scorer_light\1",
}


class KeptSlots:
    """llama.cpp's processes, as many as the profile has, kept between calls; they are started at once."""

    def __init__(self, generator: LlamaCppGenerator):
        self.slots = [Slot(generator) for _ in range(generator.n_slots)]
        word = Request(Prompt("One word."), Sampling(1))
        self.generate([word] * len(self.slots), lambda number, outcome: None)

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


@dataclass
class Built:
    """What a value in memory was made from, and the seconds that took without those of the values inside it."""

    seconds: float = 0.0
    inner_s: float = 0.0
    is_of_question: bool = False
    inside: set = field(default_factory=set)  # the places of all values that it was made from


@dataclass
class Warm:
    """What stays from one question to the next."""

    real: Study  # whose methods are timed
    clock: Callable[[], float]
    values: dict = field(default_factory=dict)  # in a study's memory, by chunk table and key: their place
    built: dict[object, Built] = field(default_factory=dict)  # by place
    index_s: dict[str, float] = field(default_factory=dict)  # to compute all rows of a stage, by its label
    n_pairs: int = 0  # that a cross-encoder has scored
    generators: list[Generator] = field(default_factory=list)  # the language model, once it was started


class CountedPairs:
    """A cross-encoder whose pairs are counted."""

    def __init__(self, model: object, warm: Warm):
        self.model, self.warm = model, warm

    def scores(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """The model's scores."""
        self.warm.n_pairs += len(pairs)
        return self.model.scores(pairs)


class OwnRows(Cache):
    """A cache that takes the index's rows from the real one."""

    def __init__(self, path: Path, warm: Warm):
        super().__init__(path)
        self.warm = warm

    def rows(self, space, items, compute, batch_size=512, dtype=np.float32, label="") -> np.ndarray:
        """As :meth:`lib.cache.Cache.rows`; seconds to encode all texts of the index are those of a sample of them."""
        if f"{label}/".startswith(OF_QUESTIONS):
            return super().rows(space, items, compute, batch_size, dtype, label)

        def refuse(missing: list) -> np.ndarray:
            raise StudyError(f"{label}: rows of the index are missing; run the method first")

        found = self.warm.real.cache.rows(space, items, refuse, batch_size, dtype, label)
        if len(items) and label not in self.warm.index_s:
            texts = list(dict.fromkeys(items))
            sample = texts[:: max(1, len(texts) // SAMPLE)][:SAMPLE]
            compute(sample[:1])  # loads the model
            started = self.warm.clock()
            compute(sample)
            self.warm.index_s[label] = (self.warm.clock() - started) * len(texts) / len(sample)
        return found


def stored_index(store: Store) -> SimpleNamespace:
    """A store's entries as another store's published layer: the index is read, and nothing is written to it."""

    def find(stage: str, key: str) -> tuple[Path, dict] | None:
        folder, record = store.root / stage / key, store.record(f"{stage}/{key}")
        return (folder, record) if record and (folder / RECORD).is_file() else None

    return SimpleNamespace(stages={}, find=find)


class AskedAlone(Study):
    """A study with one question, an empty cache, store and log, over the index that is in memory."""

    def __init__(self, warm: Warm, name: str, question: pd.DataFrame, folder: Path, store: Store, is_first: bool):
        real = warm.real
        profile = real.profile.replaced(CHANGES.get(name, {}))
        super().__init__(real.dataset, profile, real.methods, real.chunkings, folder)
        self.store = store
        self.cache = OwnRows(self.cache.path, warm)
        self.asked = question.assign(question_id="asked/" + question["question_id"])
        self.warm, self.is_first, self.building = warm, is_first, [Built()]
        chunkings = ("", real.method(name).chunking)  # no more of the index than one chunk table in memory
        kept = {place for place in warm.values if place[0] in chunkings}
        kept -= {place for place in kept if warm.built[place].is_of_question}
        warm.values = self._memo = {place: warm.values[place] for place in kept}

    @property
    def questions(self) -> pd.DataFrame:
        """The question alone; what reads it is not kept for the next."""
        self.building[-1].is_of_question = True
        return self.asked

    def digest(self, name: str) -> str:
        """As :meth:`lib.frames.Frames.digest`; the question alone has a digest of its own."""
        return f"asked {self.questions['question_id'].item()}" if name == "questions" else super().digest(name)

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """As :meth:`lib.frames.Frames.memo`; notes what the value was made from."""
        place, known, clock = (self.chunking, key), self.warm.built, self.warm.clock
        if place not in self._memo:
            built, started = Built(), clock()
            self.building.append(built)
            try:
                value = super().memo(key, compute)
            finally:
                self.building.pop()
            if key[0] == "cross_encoder":
                self._memo[place] = CountedPairs(value, self.warm), set()
            whole_s = clock() - started
            built.seconds = whole_s - built.inner_s
            self.building[-1].inner_s += whole_s
            known[place] = built
        around = self.building[-1]
        around.inside |= {place, *known[place].inside}
        around.is_of_question |= known[place].is_of_question
        return super().memo(key, compute)

    def generation_log(self) -> object:
        """The real study's log for the first question, afterwards an empty one."""
        self.make_generator()
        return self.warm.real.generation_log() if self.is_first else super().generation_log()

    def make_generator(self) -> Generator:
        """The profile's language model, started once."""
        if not self.warm.generators:
            generator = self.warm.real.make_generator()
            is_llama = isinstance(generator, LlamaCppGenerator)
            self.warm.generators.append(KeptSlots(generator) if is_llama else generator)
        return self.warm.generators[0]

    def seconds(self, name: str) -> float:
        """Seconds in which a method ranks the chunks for the question."""
        for pattern, same in SAME_WORK.items():
            name = re.sub(f"^{pattern}$", same, name)
        started = self.warm.clock()
        searched = self.with_chunks(self.method(name).chunking)
        searched.rank_method(name, searched.candidates("standard"), self.profile.run.depth)
        return self.warm.clock() - started

    def index_seconds(self, name: str, asked: Iterable[str]) -> float:
        """Seconds to index the filings for a method; NaN where the time of a stage was not stored.

        They are those of the stages that its run asked for, given as ``stage/key``, of the texts that a language model
        wrote of the filings, and of what is built in memory from chunks or pages, such as BM25. Stages of vectors are
        measured by a sample of their texts, as many vectors may have been known; others took what is stored.
        """
        real, built, index_s = self.warm.real, self.warm.built, self.warm.index_s
        stages = {one: real.store.record(one) for one in asked if not one.startswith(OF_QUESTIONS)}
        walls = {one: record["wall_s"] if record else np.nan for one, record in stages.items()}
        stored = [index_s.get(one.rpartition("/")[0], wall_s) for one, wall_s in walls.items()]
        of_index = (place for place in self.building[0].inside if not built[place].is_of_question)
        of_frames = [one for one in of_index if any(key in FRAMES for _, key in (one, *built[one].inside))]
        texts = texts_of(real.home)
        is_of_filing = ~texts["question_id"].isin(real.questions["question_id"])
        written = texts.loc[is_of_filing & texts["kind"].isin(real.method(name).writes), "seconds"]
        return float(np.sum([*stored, *(built[place].seconds for place in of_frames), *written]))


def texts_of(home: Path) -> pd.DataFrame:
    """What a language model wrote for a study: kind, question_id, n_tokens, n_prompt_tokens, seconds."""
    path, columns = home / GENERATIONS, ["kind", "question_id", "n_tokens", "n_prompt_tokens", "seconds"]
    lines = path.read_text().splitlines() if path.is_file() else ()
    return pd.DataFrame(map(json.loads, lines), columns=columns)


def time_method(warm: Warm, name: str, questions: pd.DataFrame, folder: Path) -> dict:
    """Time a method: TIME_COLUMNS. The first of the questions loads the index, and is not counted."""
    run = warm.real.store.find(f"runs/standard/{name}", warm.real.run_params(name, "standard"))
    if run is None:
        raise StudyError("its run is not stored; run the book first")
    store = Store(folder / "store", say=lambda line: None, published=stored_index(warm.real.store))
    seconds, counts, asked = [], [], []
    for row in range(len(questions)):
        asked.append(AskedAlone(warm, name, questions.iloc[[row]], folder / str(row), store, row == 0))
        before = warm.n_pairs
        seconds.append(asked[-1].seconds(name))
        texts = texts_of(asked[-1].home)
        n_pairs = warm.n_pairs - before
        counts.append((texts["n_tokens"].sum(), texts["n_prompt_tokens"].sum(), n_pairs))
    low, middle, high = np.quantile(seconds[1:], [0.25, 0.5, 0.75])
    counted = np.mean(counts[1:], axis=0)
    index_s = asked[0].index_seconds(name, run.asked)
    machine = f"{os.cpu_count()} cores, {automatic_precision()}"
    row = (name, len(seconds) - 1, middle, low, high, *counted, index_s, machine)
    return dict(zip(TIME_COLUMNS, row, strict=True))


def write_times(
    study: Study,
    names: Iterable[str],
    n_questions: int = 20,
    again: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[str]:
    """Time methods and keep the result of each at once in ``times.csv`` of the study's folder; gives a line for each.

    Args:
        study: its filings are here, and the methods' runs are stored.
        names: methods; those that are in the file are left out unless ``again``.
        n_questions: drawn with SEED, the same for all methods; one more loads the index.
        clock: gives seconds.
    """
    study.need_filings("timing")
    path, asked = Path(study.home) / TIMES, study.questions
    if len(asked) < 2:
        raise StudyError("timing takes two questions or more: the first loads the index")
    questions = asked.sample(min(n_questions + 1, len(asked)), random_state=SEED)
    known = known_table(study, TIMES)
    rows = {} if known is None else {row["method"]: row for row in known.to_dict("records")}
    wanted = [name for name in names if again or name not in rows]
    warm = Warm(study, clock)
    try:
        # the methods of one chunk table follow each other, so that its index is loaded once
        for name in sorted(wanted, key=lambda name: study.method(name).chunking):
            try:
                with TemporaryDirectory() as folder:
                    rows[name] = time_method(warm, name, questions, Path(folder))
            except StudyError as error:
                yield f"{name}: not timed: {error}"
                continue
            table = pd.DataFrame([rows[one] for one in study.methods if one in rows], columns=TIME_COLUMNS)
            write_atomically(path, table.to_csv(index=False, float_format="%.6g").encode())
            yield "{method}: {question_s:.3f} s per question, {index_s:.0f} s to index".format(**rows[name])
    finally:
        for slot in (slot for one in warm.generators for slot in getattr(one, "slots", ())):
            slot.end(is_closed=True)

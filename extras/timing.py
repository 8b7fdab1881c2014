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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pandas as pd

from lib.analysis.measured import TIME_COLUMNS, TIMES, known_table
from lib.cache import Cache
from lib.corpus import GENERATIONS, Corpus
from lib.files import write_atomically
from lib.models.encoders import automatic_precision
from lib.models.generator import LlamaCppGenerator, Slot
from lib.models.prompts import Generator, OnDone, Prompt, Request, Sampling
from lib.profile import Settings
from lib.retrievers.rerank import cross_encoder
from lib.store import RECORD, Store
from lib.study import Study
from lib.words import StudyError

SEED = 13
SAMPLE = 128  # texts of an index that are encoded again, for their seconds
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
        self.slots, self.idle = [Slot(generator) for _ in range(generator.n_slots)], SimpleQueue()
        for slot in self.slots:
            self.idle.put(slot)
        word = Request(Prompt("One word."), Sampling(1))
        self.generate([word] * len(self.slots), lambda number, outcome: None)

    def generate(self, requests: list[Request], on_done: OnDone) -> None:
        """As :meth:`lib.models.prompts.Generator.generate`."""

        def answer(request: Request) -> object:
            slot = self.idle.get()
            outcome = slot.outcome(request)
            self.idle.put(slot)
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
    is_of_filings: bool = False  # of their pages or chunks


@dataclass
class OwnRows(Cache):
    """A cache that takes the index's rows from the real one."""

    path: Path
    real: Cache
    index_s: dict[str, float]  # by label, filled: seconds to encode all texts of the index, from a sample of them
    clock: Callable[[], float]

    def rows(self, space, items, compute, batch_size=512, dtype=np.float32, label="") -> np.ndarray:
        """As :meth:`lib.cache.Cache.rows`."""
        if f"{label}/".startswith(OF_QUESTIONS):
            return super().rows(space, items, compute, batch_size, dtype, label)

        def refuse(missing: list) -> np.ndarray:
            raise StudyError(f"{label}: rows of the index are missing; run the method first")

        found = self.real.rows(space, items, refuse, batch_size, dtype, label)
        if len(items) and label not in self.index_s:
            texts = list(dict.fromkeys(items))
            sample = texts[:: max(1, len(texts) // SAMPLE)][:SAMPLE]
            compute(sample[:1])  # loads the model
            started = self.clock()
            compute(sample)
            self.index_s[label] = (self.clock() - started) * len(texts) / len(sample)
        return found


def stored_index(store: Store) -> SimpleNamespace:
    """A store's entries as another store's published layer: the index is read, and nothing is written to it."""

    def find(stage: str, key: str) -> tuple[Path, dict] | None:
        folder, record = store.root / stage / key, store.record(f"{stage}/{key}")
        return (folder, record) if record and (folder / RECORD).is_file() else None

    return SimpleNamespace(stages={}, find=find)


class AskedAlone(Corpus):
    """A corpus whose method is asked one question at a time, each with an empty cache and log, over an index in memory.

    ``real`` is the study that has been run, ``folder`` for what is written meanwhile; ``index_s`` as of OwnRows.
    """

    def __init__(self, real: Study, name: str, folder: Path, index_s: dict, clock: Callable, make_generator: Callable):
        profile = real.profile.replaced(CHANGES.get(name, {}))
        super().__init__(real.dataset, profile, real.corpus.chunkings, folder)
        self.store = Store(folder / "store", say=lambda line: None, published=stored_index(real.store))
        self.real, self.name, self.folder, self.started_generator = real, name, folder, make_generator
        self.index_s, self.clock = index_s, clock
        self.building, self.built, self.counts = [Built()], {}, Counter()

    def ask(self, question: pd.DataFrame) -> tuple[float, int, int, int]:
        """Ask a question (one row): its seconds, tokens written and read, and pairs scored."""
        for place in [place for place in self._memo if self.built[place].is_of_question]:
            del self._memo[place]  # of the question before
        self.asked, self.is_first = question.assign(question_id="asked/" + question["question_id"]), not self.built
        self.home = self.folder / question["question_id"].item()
        self.cache = OwnRows(self.home / "cache.sqlite", self.real.cache, self.index_s, self.clock)
        name, before = self.name, self.counts["pairs"]
        for pattern, same in SAME_WORK.items():
            name = re.sub(f"^{pattern}$", same, name)
        started = self.clock()
        study = Study(self, self.real.methods)
        searched = study.over(study.method(name).chunking)
        searched.rank_method(name, searched.candidates("standard"), self.profile.run.depth)
        seconds, texts = self.clock() - started, texts_of(self.home)
        return seconds, texts["n_tokens"].sum(), texts["n_prompt_tokens"].sum(), self.counts["pairs"] - before

    @property
    def questions(self) -> pd.DataFrame:
        """The question alone; what reads it is not kept for the next."""
        self.building[-1].is_of_question = True
        return self.asked

    def digest(self, name: str, table: str = "") -> str:
        """As :meth:`lib.corpus.Corpus.digest`; the question alone has a digest of its own."""
        return f"asked {self.questions['question_id'].item()}" if name == "questions" else super().digest(name, table)

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """As :meth:`lib.corpus.Corpus.memo`; notes what the value was made from."""
        if key not in self._memo:
            inner = key[-1] if isinstance(key, tuple) else key
            is_of_filings = key in ("pages", "chunks") or key[0] == "chunks"
            built, started = Built(is_of_filings=is_of_filings), self.clock()
            self.building.append(built)
            try:
                value = super().memo(key, compute)
            finally:
                self.building.pop()
            if inner[0] == cross_encoder.key()[0]:
                self._memo[key] = SimpleNamespace(scores=partial(self._counted, value.scores)), set()
            whole_s = self.clock() - started
            built.seconds = whole_s - built.inner_s
            self.building[-1].inner_s += whole_s
            self.built[key] = built
        around, built = self.building[-1], self.built[key]
        around.is_of_question |= built.is_of_question
        around.is_of_filings |= built.is_of_filings
        return super().memo(key, compute)

    def _counted(self, scores: Callable, pairs: list[tuple[str, str]]) -> np.ndarray:
        self.counts["pairs"] += len(pairs)
        return scores(pairs)

    def generation_log(self, weights: str) -> object:
        """The real study's log for the first question, afterwards an empty one."""
        self.started_generator()
        return self.real.generation_log() if self.is_first else super().generation_log(weights)

    def make_generator(self, settings: Settings) -> Generator:
        """The language model that was started with the first question."""
        return self.started_generator()

    def index_seconds(self, asked: Iterable[str]) -> float:
        """Seconds to index the filings for the method; NaN where the time of a stage was not stored.

        They are those of the stages that its run ``asked`` for, of the texts that a language model wrote of the
        filings, and of what is built in memory from chunks or pages, such as BM25. Stages of vectors are measured by a
        sample of their texts, as many vectors may have been known; others took what is stored.
        """
        real = self.real
        stages = {one: real.store.record(one) for one in asked if not one.startswith(OF_QUESTIONS)}
        walls = {one: record["wall_s"] if record else np.nan for one, record in stages.items()}
        stored = [self.index_s.get(one.rpartition("/")[0], wall_s) for one, wall_s in walls.items()]
        in_memory = [one.seconds for one in self.built.values() if one.is_of_filings and not one.is_of_question]
        texts = texts_of(real.home)
        is_of_filing = ~texts["question_id"].isin(real.questions["question_id"])
        written = texts.loc[is_of_filing & texts["kind"].isin(real.method(self.name).writes), "seconds"]
        return float(np.sum([*stored, *in_memory, *written]))


def texts_of(home: Path) -> pd.DataFrame:
    """What a language model wrote for a study: kind, question_id, n_tokens, n_prompt_tokens, seconds."""
    path, columns = home / GENERATIONS, ["kind", "question_id", "n_tokens", "n_prompt_tokens", "seconds"]
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else ()
    return pd.DataFrame(map(json.loads, lines), columns=columns)


def time_method(alone: AskedAlone, questions: pd.DataFrame) -> dict:
    """Time a method: TIME_COLUMNS. The first of the questions loads the index, and is not counted."""
    real, name = alone.real, alone.name
    run = real.store.find(f"runs/standard/{name}", real.run_params(name, "standard"))
    if run is None:
        raise StudyError("its run is not stored; run the book first")
    seconds, *counts = np.array([alone.ask(questions.iloc[[row]]) for row in range(len(questions))], float)[1:].T
    low, middle, high = np.quantile(seconds, [0.25, 0.5, 0.75])
    machine = f"{os.cpu_count()} cores, {automatic_precision()}"
    row = (name, len(seconds), middle, low, high, *np.mean(counts, axis=1), alone.index_seconds(run.asked), machine)
    return dict(zip(TIME_COLUMNS, row, strict=True))


def write_times(
    study: Study, names: Iterable[str], n_questions: int = 20, again: bool = False, clock=time.perf_counter
) -> Iterator[str]:
    """Time methods and keep the result of each at once in ``times.csv`` of the study's folder; gives a line for each.

    Their runs are stored; those that are in the file are left out unless ``again``. The questions are drawn with SEED,
    the same for all methods; one more loads the index. ``clock`` gives seconds.
    """
    study.need_filings("timing")
    path, asked = study.home / TIMES, study.questions
    if len(asked) < 2:
        raise StudyError("timing takes two questions or more: the first loads the index")
    questions = asked.sample(min(n_questions + 1, len(asked)), random_state=SEED)
    known = known_table(study, TIMES)
    rows = {} if known is None else {row["method"]: row for row in known.to_dict("records")}

    @cache
    def make_generator() -> Generator:
        generator = study.make_generator()
        return KeptSlots(generator) if isinstance(generator, LlamaCppGenerator) else generator

    open_alone = partial(AskedAlone, study, index_s={}, clock=clock, make_generator=make_generator)
    try:
        for name in [name for name in names if again or name not in rows]:
            try:
                with TemporaryDirectory() as folder:
                    rows[name] = time_method(open_alone(name, Path(folder)), questions)
            except StudyError as error:
                yield f"{name}: not timed: {error}"
                continue
            table = pd.DataFrame([rows[one] for one in study.methods if one in rows], columns=TIME_COLUMNS)
            write_atomically(path, table.to_csv(index=False, float_format="%.6g").encode())
            yield "{method}: {question_s:.3f} s per question, {index_s:.0f} s to index".format(**rows[name])
    finally:
        for slot in getattr(make_generator(), "slots", ()) if make_generator.cache_info().currsize else ():
            slot.end(is_closed=True)

"""What a question costs: by a clock that only the work itself moves, with texts, rows and pairs that are counted."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from extras.timing import AskedAlone, KeptSlots, OwnRows, write_times
from lib.analysis.measured import TIME_COLUMNS, TIMES
from lib.corpus import Corpus
from lib.data.dataset import read_dataset
from lib.method import Method
from lib.models.prompts import Generation, GenerationError, Prompt, Request, Sampling
from lib.models.written import Item
from lib.profile import load_profile
from lib.retrievers.rerank import cross_encoder
from lib.study import Study
from lib.words import StudyError

SECONDS = {"What was sold?": 1.0, "What was spent?": 2.0, "What was left?": 4.0, "What was owed?": 9.0}
INDEX_S, VECTOR_S, WRITING_S = 100.0, 3.0, 5.0


class Work:
    """The methods that are timed, the clock that they move, and what they did."""

    def __init__(self):
        self.now, self.asked, self.encoded, self.written = 0.0, [], [], 0

    def clock(self) -> float:
        return self.now

    def take(self, seconds: float) -> float:
        self.now += seconds
        return seconds

    def searched(self, study: Study, candidates: np.ndarray) -> np.ndarray:
        """100 s over the chunks, once; SECONDS for the question."""
        study.memo("index", lambda: (study.chunks, self.take(INDEX_S)))
        study.memo("own", lambda: [self.take(SECONDS[text]) for text in study.questions["question"]])
        self.asked.append(study.questions["question"].tolist())
        return np.zeros(candidates.shape)

    def embedded(self, study: Study, candidates: np.ndarray) -> np.ndarray:
        """3 s for each text that is encoded; the question is asked for twice."""

        def encode(texts: list[str]) -> np.ndarray:
            self.encoded += texts
            return np.full((len(texts), 2), self.take(VECTOR_S * len(texts)))

        study.store.kept("embeddings/windows", {}, dict)
        chunks, questions = study.chunks["text"].tolist() * 2, study.questions["question"].tolist()
        study.cache.rows({"model": "m"}, chunks, encode, label="embeddings/windows")
        for _ in range(2):
            study.cache.rows({"model": "m"}, questions, encode, label="embeddings/queries")
        return np.zeros(candidates.shape)

    def lengthened(self, study: Study, candidates: np.ndarray) -> np.ndarray:
        """One text for the question, asked for twice."""
        texts = dict(zip(study.questions["question_id"], study.questions["question"], strict=True))
        items = [Item(id_, id_, Prompt(text), Sampling(40)) for id_, text in texts.items()]
        for _ in range(2):
            found = study.generation_log().fill("text", items, study.make_generator)
            assert found.texts == {id_: f"of {text}" for id_, text in texts.items()}
        return np.zeros(candidates.shape)

    def reranked(self, study: Study, candidates: np.ndarray) -> np.ndarray:
        """Three pairs for each question."""
        model = study.memo(cross_encoder.key(256), lambda: SimpleNamespace(scores=len))
        model.scores([("question", "passage")] * 3 * len(study.questions))
        return np.zeros(candidates.shape)

    def generate(self, requests: list[Request], on_done) -> None:
        for number, request in enumerate(requests):
            self.written += 1
            on_done(number, Generation(f"of {request.prompt.user}", 11, 7, "stop", self.take(WRITING_S)))


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def study(folder, tokenizer_folder, tmp_path, work) -> Study:
    """Four questions about a filing of two pages, the methods of :class:`Work`, and their runs."""
    folder.text("ACME_2020_10K", "net sales rose", "cash flow of the year")
    for number, text in enumerate(SECONDS):
        folder.question(f"q{number}", "ACME_2020_10K", (0, "net sales rose"), question=text)
    scored = {"indexed": work.searched, "embedded": work.embedded, "reranked": work.reranked}
    scored |= {"written": work.lengthened, "again": work.lengthened}
    methods = {name: Method(name, name, "", "", score, ("generator",)) for name, score in scored.items()}
    profile = load_profile("default").replaced({"embedder.weights": str(tokenizer_folder)})
    profile["name"] = "default"
    dataset = read_dataset(folder.write(), "small")
    found = Study(Corpus(dataset, profile, {}, tmp_path / "artifacts"), methods)
    found.make_generator = lambda: work
    for name in methods:
        found.run_entry(name)
    work.__init__()
    return found


def walls(study: Study, name: str) -> tuple[list[str], float]:
    """The stages of pages and chunks that a run asked for, and the seconds that they took."""
    stages = [one for one in study.run_entry(name).asked if one.startswith(("chunks/", "pages/"))]
    assert len(stages) == 2
    return stages, sum(study.store.record(one)["wall_s"] for one in stages)


@pytest.fixture
def timed(study, work):
    """Time methods; gives ``times.csv`` by method."""

    def times(*names: str, **options) -> pd.DataFrame:
        work.said = list(write_times(study, names, clock=work.clock, **options))
        table = pd.read_csv(study.home / TIMES)
        assert list(table) == TIME_COLUMNS
        return table.set_index("method")

    return times


def test_questions_are_asked_alone_and_the_first_loads_the_index_whose_stages_count(study, timed, work):
    row, (stages, wall_s) = timed("indexed").loc["indexed"], walls(study, "indexed")
    seconds = [SECONDS[text] for (text,) in work.asked]
    assert sorted(seconds) == [1, 2, 4, 9]
    assert (row["n_questions"], row["question_s"]) == (3, sorted(seconds[1:])[1])
    assert row["low_s"] == np.quantile(seconds[1:], 0.25)
    assert work.now == sum(seconds) + INDEX_S
    assert row["index_s"] == pytest.approx(INDEX_S + wall_s, abs=1e-3)  # of six digits
    for one in stages:
        (study.store.root / one / "entry.json").unlink()
    assert np.isnan(timed("indexed", again=True).loc["indexed", "index_s"])


def test_a_question_is_encoded_anew_and_the_index_by_a_sample_of_its_texts(study, timed, work, monkeypatch):
    monkeypatch.setattr("extras.timing.SAMPLE", 1)
    row, texts = timed("embedded").loc["embedded"], study.chunks["text"].tolist()
    assert row["question_s"] == VECTOR_S
    asked = [text for text in work.encoded if text in SECONDS]
    assert len(asked) == len(set(asked)) == 4
    assert len(texts) == 2
    assert row["index_s"] == pytest.approx(VECTOR_S * len(texts) + walls(study, "embedded")[1], abs=1e-3)
    assert [text for text in work.encoded if text not in SECONDS] == texts[:1] * 2  # once to load the model


def test_texts_are_written_anew_for_every_method_and_pairs_are_counted(timed, work):
    table = timed("written", "again", "reranked", "indexed")
    assert table.loc[["written", "again"], "question_s"].tolist() == [WRITING_S] * 2
    assert table["tokens_written"].to_dict() == {"indexed": 0, "reranked": 0, "written": 7, "again": 7}
    assert table["tokens_read"].to_dict() == {"indexed": 0, "reranked": 0, "written": 11, "again": 11}
    assert table["pairs_scored"].to_dict() == {"indexed": 0, "reranked": 3, "written": 0, "again": 0}
    assert work.written == 6  # the first question's were known


def test_nothing_but_the_table_is_left_behind(study, timed):
    def left() -> dict[Path, bytes]:
        paths = [path for path in study.home.parents[1].rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in paths if not path.name.startswith("cache.sqlite")}

    before = left()
    timed("written", "indexed", "embedded")
    after = left()
    assert set(after) - set(before) == {study.home / TIMES}
    assert all(after[path] == content for path, content in before.items() if path.name != "stages.jsonl")


def test_what_was_timed_is_not_timed_again_unless_that_is_wanted_and_a_method_without_a_run_is_named(
    study, timed, work
):
    study.methods["absent"] = Method("absent", "", "", "", work.searched)
    timed("absent", "indexed")
    assert work.said[0] == "absent: not timed: its run is not stored; run the book first"
    assert list(timed("indexed", "reranked").index) == ["indexed", "reranked"]
    assert [line.partition(":")[0] for line in work.said] == ["reranked"]
    timed("indexed", again=True)
    assert [line.partition(":")[0] for line in work.said] == ["indexed"]


def test_an_index_that_is_missing_is_not_computed_for_hours_and_a_question_has_a_digest_of_its_own(
    study, work, tmp_path
):
    rows = OwnRows(tmp_path / "cache.sqlite", study.cache, {}, work.clock)
    with pytest.raises(StudyError, match="windows: rows of the index are missing"):
        rows.rows({}, ["a text"], lambda texts: np.zeros((len(texts), 1)), label="windows")
    alone = AskedAlone(study, "indexed", tmp_path, {}, work.clock, None)
    alone.ask(study.questions.iloc[[0]])
    assert alone.digest("questions") != study.digest("questions")
    assert alone.digest("chunks") == study.digest("chunks")


def test_processes_are_kept_between_calls(monkeypatch):
    made, outcomes = [], []
    slot = SimpleNamespace(outcome=lambda request: GenerationError(request.prompt.user))
    monkeypatch.setattr("extras.timing.Slot", lambda generator: made.append(generator) or slot)
    kept = KeptSlots(SimpleNamespace(n_slots=2))
    for text in "abc":
        kept.generate([Request(Prompt(text), Sampling(1))] * 2, lambda number, one: outcomes.append(str(one)))
    assert outcomes == list("aabbcc")
    assert len(made) == 2

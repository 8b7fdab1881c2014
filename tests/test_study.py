"""A study from its names and filings to run files: what is refused, and what is computed again after a change."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib import keys
from lib.chunkings.table import CHUNKINGS
from lib.data.chunks import as_chunks
from lib.data.dataset import read_questions
from lib.evaluation import MEASURED, evaluate
from lib.files import ROOT, digest_of, digest_of_file
from lib.keys import settings_of
from lib.method import Chunking
from lib.methods import METHODS
from lib.models.encoders import Encoder
from lib.profile import UndeclaredSetting, load_profile
from lib.schema import CHUNK_COLUMNS, CONDITIONS, FILING_COLUMNS, PAGE_COLUMNS, RUN_COLUMNS, StudyError
from lib.studies import OUTPUTS_VARIABLE, open_study
from lib.study import Study
from tests.conftest import open_folder, write_questions

NAMES, USING_BM25 = ("dense", "bm25", "hybrid_rrf"), ["reused", "computed", "computed"]


def again(study: Study, changes: dict | None = None, chapter: str = "") -> Study:
    """The study as another process opens it."""
    profile, artifacts = study.profile.replaced(changes or {}), study.home.parents[1]
    found = Study(study.dataset, profile, METHODS, CHUNKINGS, artifacts, chapter=chapter)
    found.store.say = lambda line: None
    return found


def run_all(study: Study) -> dict[str, str]:
    """Run every method under every condition; where each came from, by ``condition/method``."""
    pairs = [(name, condition) for condition in CONDITIONS for name in NAMES]
    assert [tuple(study.run(*pair)) for pair in pairs] == [RUN_COLUMNS] * len(pairs)
    return {f"{condition}/{name}": study.run_entry(name, condition).origin for name, condition in pairs}


@pytest.fixture(scope="module")
def computed(make_study) -> Study:
    """A study whose runs are stored."""
    study = make_study()
    run_all(study)
    return study


def test_stored_metrics_that_lack_a_new_one_are_refused(computed, monkeypatch):
    evaluate(computed, "bm25")
    monkeypatch.setattr("lib.evaluation.MEASURED", {*MEASURED, "new_metric"})
    with pytest.raises(StudyError, match="bm25 lack new_metric: raise VERSION"):
        evaluate(computed, "bm25")


def test_two_question_sets_share_pages_chunks_and_vectors(make_study, tmp_path, monkeypatch):
    read, encode = [], Encoder.encode
    monkeypatch.setattr(Encoder, "encode", lambda self, texts, role: read.extend(texts) or encode(self, texts, role))
    first = make_study()
    evaluate(first, "dense")
    n_read, stored = len(read), set(first.store.log)
    root = write_questions(tmp_path / "second", {"financebench_id": "s1", "doc_name": "fir_2020", "pages": [2]})
    dataset = read_questions(root, "second", first.dataset)
    second = Study(dataset, first.profile, METHODS, CHUNKINGS, first.home.parents[1])
    found = evaluate(second, "dense")
    assert read[n_read:] == ["What of s1?"]
    for name in ("pages", "chunks", "filings"):
        assert first.digest(name) == second.digest(name)
    shared = {"pages", "chunks", "windows", "digests/pages", "digests/chunks", "embeddings/windows"}
    assert {stage for stage, key in second.store.log if (stage, key) in stored} == shared
    assert found["question_id"].unique().tolist() == ["s1"]
    assert {*found["metric"]} & {"page_recall", "ctx_bleu"} == {"page_recall"}


def test_what_changed_is_computed_again_with_what_uses_it_and_nothing_else(computed, monkeypatch):
    second = again(computed, chapter="03_baselines")
    assert set(run_all(second).values()) == {"reused"} == {entry.origin for entry in second.store.log.values()}
    last = json.loads((second.outputs / "stages.jsonl").read_text().splitlines()[-1])
    assert (last["chapter"], last["stage"], last["origin"]) == ("03_baselines", "runs/oracle-page/hybrid_rrf", "reused")
    changed = again(computed, changes={"bm25.k1": 0.4})
    origins = run_all(changed)
    assert [origins[f"{condition}/{name}"] for condition in CONDITIONS for name in NAMES] == USING_BM25 * 3
    assert {one.origin for (stage, _), one in changed.store.log.items() if stage[:5] != "runs/"} == {"reused"}
    monkeypatch.setitem(METHODS, "bm25", dataclasses.replace(METHODS["bm25"], version=99))
    assert [again(computed).run_entry(name).origin for name in NAMES] == USING_BM25


def lines_of(study) -> pd.DataFrame:
    """A chunk table of the lines of all pages."""
    rows = []
    for page in study.pages.itertuples():
        rows += [(page.doc_name, page.page, line, -1, -1) for line in page.text.splitlines() if line.strip()]
    return as_chunks(rows)


def by_length(study, candidates, *, weight):
    return np.tile(study.chunks["text"].str.len().to_numpy() * weight, (len(study.questions), 1))


#: Rows of a method table, by what they change of BM25's.
ROWS = {
    "bm25": {},
    "lines": {"chunking": "lines"},
    "steep": {"score": by_length, "options": {"weight": 2.0}},
    "reading": {"inputs": lambda study: study.chunks["text"].str.split().str[0].tolist()},
    "peeking": {"score": lambda study, candidates: study.published},
    "borrowing": {"score": lambda study, candidates: study.run("lines")},
    "undeclared": {"score": lambda study, candidates: study.profile.hyde.n},
    "unknown": {"score": lambda study, candidates: np.where(candidates, np.nan, 1.0)},
    "turned": {"score": lambda study, candidates: candidates.T.tolist()},
}


@pytest.fixture
def lined(folder, tmp_path, tokenizer_folder):
    """A study of two filings and ROWS, with a chunk table of lines beside its own; no model."""
    folder.text("ACME_2020_10K", "Annual report\nof Acme", "Net sales rose\nCash flow was 45")
    folder.text("BOLT_2020_10K", "Annual report\nof Bolt", "Net sales fell\nCash flow was 7")
    asked = "What was Acme's cash flow of 45?"
    folder.question("q0", "ACME_2020_10K", (1, "Cash flow was 45"), question=asked)
    rows = {name: dataclasses.replace(METHODS["bm25"], name=name, **change) for name, change in ROWS.items()}
    given = {"chunkings": {"lines": Chunking(lines_of)}, "methods": rows}
    return open_folder(folder.write(), tmp_path / "artifacts", {"embedder.weights": str(tokenizer_folder)}, **given)


def test_a_row_searches_its_own_chunk_table_and_the_study_s_own_chunks_stay_as_they_are(lined):
    over, before = lined.with_chunks("lines"), lined.digest("chunks")
    lines = over.chunks.set_index("chunk_id")["text"]
    assert lines[lined.run("lines")["chunk_id"].iloc[0]] == "Cash flow was 45"
    assert {*lined.run("lines")["doc_name"]} == {"ACME_2020_10K", "BOLT_2020_10K"}
    assert {*lined.run("lines", "oracle-document")["doc_name"]} == {"ACME_2020_10K"}
    assert len(lines) == 8 > len(over.with_chunks("").chunks) == len(lined.chunks) == 4
    assert tuple(pd.read_parquet(lined.outputs / "chunkings" / "lines.parquet")) == CHUNK_COLUMNS
    assert tuple(pd.read_parquet(lined.outputs / "pages.parquet")) == PAGE_COLUMNS
    assert (tuple(lined.filings), lined.filings["n_pages"].tolist()) == (FILING_COLUMNS, [2, 2])
    assert over.digest("chunks") != before == lined.digest("chunks") == over.with_chunks("").digest("chunks")
    found = [evaluate(lined, name).set_index(["metric", "k"])["value"] for name in ("lines", "bm25")]
    assert found[0]["page_recall", 1] == 1.0
    assert found[0]["ctx_rouge_l", 1] == pytest.approx(1.0) != found[1]["ctx_rouge_l", 1]  # on what was searched


def test_a_run_depends_on_the_options_of_its_row_and_on_what_else_it_reads(lined):
    assert lined.run("steep")["score"].max() == 2 * lined.chunks["text"].str.len().max()
    assert lined.run_params("steep", "standard")["options"] == {"weight": 2.0}
    assert lined.run_params("reading", "standard")["inputs"] == digest_of(["Annual", "Net"] * 2)[:20]


@pytest.mark.parametrize(
    ("name", "error", "culprit"),
    [
        ("bm52", StudyError, "'bm52'; is bm25 meant"),
        ("undeclared", UndeclaredSetting, "undeclared reads the section 'hyde'"),
        ("peeking", AttributeError, "'published'"),
        ("borrowing", AttributeError, "'lines'"),
        ("unknown", ValueError, "unknown, question q0"),
        ("turned", StudyError, r"turned .*\(4, 1\).*\(1, 4\)"),
    ],
)
def test_a_row_that_reads_what_it_may_not_or_gives_what_are_no_scores_is_named(lined, name, error, culprit):
    with pytest.raises(error, match=culprit):
        lined.run(name)
    with pytest.raises(StudyError, match="'words'"):
        lined.with_chunks("words")


def test_what_a_run_depends_on_names_no_code(monkeypatch):
    """All that is hashed into keys is settings, digests and versions: moving a function changes no key."""
    monkeypatch.setattr(Study, "digest", lambda self, name: digest_of([name, self.chunking]))
    monkeypatch.setattr(Study, "inputs_digest", lambda self, name: digest_of(name))
    dataset = SimpleNamespace(name="any", filings_digest="00", questions=None, has_text=True)
    study = Study(dataset, load_profile("default"), METHODS, CHUNKINGS)
    params = [study.run_params(name, condition) for name, row in METHODS.items() for condition in row.conditions]
    assert len({digest_of(one) for one in params}) == len(params)
    params += [study.chunks_params(name) for name in CHUNKINGS]
    text = json.dumps(params)
    assert json.loads(text) == params
    assert "lib." not in text


def test_keys_have_settings_that_are_none_and_edited_files_of_data(monkeypatch):
    profile, path = load_profile("default").updated({"bm25": {"k1": None}}), "text/stop_words.txt"
    assert settings_of(profile, ("bm25", "run")) == {"bm25": {"k1": None}, "run": {"depth": 50}}
    monkeypatch.setattr(keys, "data_file_digests", keys.data_file_digests.__wrapped__)
    monkeypatch.setitem(keys.DATA_FILES, "bm25", {path: "0" * 20})
    digest = digest_of_file(ROOT / "lib" / path)[:20]
    assert settings_of(profile, ("bm25",)) == {"bm25": {"k1": None, "files": {path: digest}}}
    assert {"bm25", "ahead"} < set(METHODS["ahead"].settings)


CHAPTER = "03_baselines"
OWN = {"methods": None, "k": 5}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Open the demo with artifacts of the test's own."""
    monkeypatch.delenv(OUTPUTS_VARIABLE, raising=False)

    def open_demo(**given):
        arguments = {"dataset": "demo", "results": "fresh", "chapter": CHAPTER, "artifacts": tmp_path}
        return open_study(**arguments | given)

    return open_demo


def test_a_book_s_own_parameters_write_into_its_outputs_and_changed_ones_beside_them(opened, tmp_path):
    study = opened(**OWN)
    assert study.outputs == study.home == opened(changes={"bm25.k1": None}).home == tmp_path / "demo" / "default"
    changes = ({"methods": ["bm25"]}, {"methods": ["bm25", "dense"]}, {"k": 10}, {"changes": {"bm25.k1": 0.4}})
    folders = [opened(**OWN | changed).outputs for changed in changes]
    assert len(set(folders)) == len(folders)
    assert {(folder.parent, folder.name[: len(CHAPTER)]) for folder in folders} == {(study.home / "reruns", CHAPTER)}
    assert opened(**OWN | {"methods": ["bm25"]}).outputs == folders[0]
    assert opened(changes={"bm25.k1": 0.4}).profile.bm25.k1 == 0.4


def test_outputs_go_to_the_one_folder_that_the_environment_names(opened, tmp_path, monkeypatch):
    monkeypatch.setenv(OUTPUTS_VARIABLE, str(tmp_path / "mine"))
    study = opened(k=10, results="published")
    assert (study.outputs, study.home) == (tmp_path / "mine", tmp_path / "demo" / "default")
    assert study.published.root.name == "default"


@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        ({"k": 7}, "k is 7; choose from 1, 3, 5, 10, 20"),
        ({"dataset": 5}, "dataset is 5"),
        ({"core_hour": float("nan"), "chapter": "10_growth"}, "core_hour is nan"),
        ({"second": "no-set", "chapter": "06_generation"}, "second is 'no-set'"),
        ({"results": "new"}, "results is 'new'"),
        ({"changes": {"bm25.k": 1}}, "'bm25.k'"),
        ({"questions": "no-set"}, "no-set: no question set"),
        ({"dataset": "no/folder"}, "no/folder: no folder"),
    ],
)
def test_a_name_or_value_that_cannot_be_is_told(opened, given, culprit):
    with pytest.raises(StudyError, match=culprit):
        opened(**given)


def test_another_question_set_has_outputs_of_its_own_and_its_collection_s_settings(opened, tmp_path):
    demo = opened()
    asked = {"financebench_id": "s1", "doc_name": demo.dataset.filings["doc_name"].iloc[0]}
    study = opened(questions=str(write_questions(tmp_path / "my set", asked)))
    assert (study.home, study.profile) == (tmp_path / "my-set" / "default", demo.profile)
    assert opened(questions="demo").dataset.fingerprint == demo.dataset.fingerprint
    with pytest.raises(StudyError, match="chapter 6 .*my-set"):
        study.need_answers("chapter 6")


def test_two_profiles_of_one_name_never_share_a_folder(opened, tmp_path):
    first, second = (tmp_path / name / "mine.yaml" for name in ("first", "second"))
    for path in (first, second):
        path.parent.mkdir()
        path.write_text("bm25: {k1: 1.0}")
    home = opened(profile=str(first)).home
    assert home == opened(profile=str(second)).home == opened(profile=str(first)).home  # the same content
    first.write_text("bm25: {k1: 1.1}")
    assert opened(profile=str(first)).profile.bm25.k1 == 1.1  # the same file
    with pytest.raises(StudyError, match=f"{first}; rename {second}"):
        opened(profile=str(second))
    first.unlink()
    assert opened(profile=str(second)).home == home
    assert not (opened().home / "profile.path").exists()

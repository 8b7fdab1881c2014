"""A study from filings to run files, other chunk tables, and what is computed again when something changes."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib import corpus, runs
from lib.chunkings.table import CHUNKINGS
from lib.corpus import Corpus, settings_of
from lib.data.chunks import chunk_key
from lib.data.dataset import read_dataset, read_questions
from lib.evaluation import evaluate
from lib.files import ROOT, digest_of, digest_of_file
from lib.method import Chunking
from lib.methods import METHODS
from lib.models.encoders import Encoder
from lib.models.prompts import Generation, Prompt, Sampling
from lib.models.written import Item, read_records
from lib.profile import UndeclaredSetting, load_profile
from lib.study import Study
from lib.words import CHUNK_COLUMNS, CONDITIONS, FILING_COLUMNS, PAGE_COLUMNS, RUN_COLUMNS, StudyError, chunk_id

NAMES = ("dense", "bm25", "hybrid_rrf")


def again(study: Study, changes: dict | None = None, chapter: str = "") -> Study:
    """The study as another process opens it."""
    profile, artifacts = study.profile.replaced(changes or {}), study.home.parents[1]
    found = Study(Corpus(study.dataset, profile, CHUNKINGS, artifacts, chapter=chapter), METHODS)
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


def test_frames_have_the_columns_of_the_contract(computed):
    assert tuple(computed.filings) == FILING_COLUMNS
    assert computed.filings["n_pages"].tolist() == [4] * 12
    for name, columns in (("pages", PAGE_COLUMNS), ("chunks", CHUNK_COLUMNS)):
        shown = pd.read_parquet(computed.outputs / f"{name}.parquet")
        assert tuple(shown) == columns
        pd.testing.assert_frame_equal(shown, getattr(computed, name))


def test_two_question_sets_share_pages_chunks_and_vectors(make_study, question_folder, tmp_path, monkeypatch):
    read, encode = [], Encoder.encode
    monkeypatch.setattr(Encoder, "encode", lambda self, texts, role: read.extend(texts) or encode(self, texts, role))
    first = make_study()
    evaluate(first, "dense")
    n_read, stored = len(read), set(first.store.log)
    root = question_folder(tmp_path / "second", {"financebench_id": "s1", "doc_name": "fir_2020", "pages": [2]})
    dataset = read_questions(root, "second", first.dataset)
    second = Study(Corpus(dataset, first.profile, CHUNKINGS, first.home.parents[1]), METHODS)
    found = evaluate(second, "dense")
    assert read[n_read:] == ["What of s1?"]
    for name in ("pages", "chunks", "filings"):
        assert first.digest(name) == second.digest(name)
    shared = {"pages", "chunks", "windows", "digests/pages", "digests/chunks", "embeddings/windows"}
    assert {stage for stage, key in second.store.log if (stage, key) in stored} == shared
    assert found["question_id"].unique().tolist() == ["s1"]
    assert "page_recall" in set(found["metric"])
    assert "ctx_bleu" not in set(found["metric"])


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_run_has_every_candidate_in_strict_order(computed, name, condition):
    run, allowed = computed.run(name, condition), computed.candidates(condition).sum(axis=1)
    assert (computed.outputs / "runs" / condition / f"{name}.trec.gz").read_bytes() == runs.to_trec(run, name)
    for question, n_allowed in zip(computed.questions.itertuples(), allowed, strict=True):
        part = run[run["question_id"] == question.question_id]
        assert part["rank"].tolist() == list(range(1, min(n_allowed, computed.profile.run.depth) + 1))
        assert part["score"].diff().dropna().lt(0).all()
        assert part["chunk_id"].is_unique
        assert condition == "standard" or set(part["doc_name"]) == {question.doc_name}
        assert condition != "oracle-page" or set(part["page"]) <= set(question.gold_pages)


def test_a_second_study_reuses_everything_and_logs_it(computed):
    second = again(computed, chapter="03_baselines")
    assert set(run_all(second).values()) == {"reused"}
    assert {entry.origin for entry in second.store.log.values()} == {"reused"}
    pd.testing.assert_frame_equal(second.run("hybrid_rrf"), computed.run("hybrid_rrf"))
    last = json.loads((second.outputs / "stages.jsonl").read_text().splitlines()[-1])
    assert (last["chapter"], last["stage"], last["origin"]) == ("03_baselines", "runs/oracle-page/hybrid_rrf", "reused")


def test_a_changed_setting_recomputes_what_depends_on_it_and_nothing_else(computed):
    changed = again(computed, changes={"bm25.k1": 0.4})
    origins = run_all(changed)
    for condition in CONDITIONS:
        assert [origins[f"{condition}/{name}"] for name in NAMES] == ["reused", "computed", "computed"]
    others = {entry.origin for (stage, _), entry in changed.store.log.items() if not stage.startswith("runs/")}
    assert others == {"reused"}


def test_a_raised_version_recomputes_its_method_and_those_that_use_it(computed, monkeypatch):
    monkeypatch.setitem(METHODS, "bm25", dataclasses.replace(METHODS["bm25"], version=99))
    origins = run_all(again(computed))
    assert [origins[f"standard/{name}"] for name in NAMES] == ["reused", "computed", "computed"]


def test_a_damaged_run_is_computed_again_with_the_same_bytes(computed):
    path = computed.run_entry("bm25").path / "run.trec.gz"
    before = path.read_bytes()
    path.write_bytes(before[:-9])
    assert again(computed).run_entry("bm25").origin == "computed"
    assert path.read_bytes() == before


def lines_of(study) -> pd.DataFrame:
    """Every line of a page is a chunk."""
    lines = study.pages.assign(text=study.pages["text"].str.split("\n")).explode("text", ignore_index=True)
    lines = lines[lines["text"].str.strip().astype(bool)]
    numbers = lines.groupby(["doc_name", "page"]).cumcount()
    ids = map(chunk_id, lines["doc_name"], lines["page"], numbers)
    keys = map(chunk_key, lines["text"], lines["doc_name"], lines["page"])
    return lines.assign(chunk_id=list(ids), key=list(keys), start=-1, end=-1)


def weighted(study, candidates, *, weight):
    """The length of each chunk times a weight."""
    return np.tile(study.chunks["text"].str.len().to_numpy() * weight, (len(study.questions), 1))


def first_words(study) -> list[str]:
    return study.chunks["text"].str.split().str[0].tolist()


@pytest.fixture
def lined(tmp_path, dataset_folder, tokenizer_folder):
    """Open two filings; BM25 over their chunks, over their lines, and chunks scored by length; no model."""
    folder = dataset_folder(tmp_path / "tiny")
    folder.pdf("ACME_2020_10K", "Annual report\nof Acme", "Net sales rose\nCash flow was 45")
    folder.pdf("BOLT_2020_10K", "Annual report\nof Bolt", "Net sales fell\nCash flow was 7")
    asked = "What was Acme's cash flow of 45?"
    folder.question("q0", "ACME_2020_10K", (1, "Cash flow was 45"), question=asked)
    root = folder.write()
    settings = load_profile("default").replaced({"embedder.weights": str(tokenizer_folder)})
    row, rows = METHODS["bm25"], {"bm25": METHODS["bm25"]}
    for name, changes in {
        "lines": {"chunking": "lines"},
        "flat": {"score": weighted, "options": {"weight": 0.0}},
        "steep": {"score": weighted, "options": {"weight": 2.0}},
        "reading": {"score": weighted, "options": {"weight": 1.0}, "inputs": first_words},
        "undeclared": {"score": lambda study, candidates: study.profile.hyde.n},
    }.items():
        rows[name] = dataclasses.replace(row, name=name, **changes)

    def open_again() -> Study:
        tables, dataset = {"lines": Chunking(lines_of)}, read_dataset(root, "tiny")
        found = Study(Corpus(dataset, settings, tables, tmp_path / "artifacts"), rows)
        found.store.say = lambda line: None
        return found

    return open_again


def test_a_row_searches_its_own_chunk_table_and_the_study_s_own_chunks_stay_as_they_are(lined):
    study = lined()
    over, before = study.over("lines"), study.digest("chunks")
    lines = over.chunks.set_index("chunk_id")["text"]
    assert lines[study.run("lines")["chunk_id"].iloc[0]] == "Cash flow was 45"
    assert len(lines) == 8 > len(over.over("").chunks) == len(study.chunks) == 4
    assert over.digest("chunks") != before == study.digest("chunks") == over.over("").digest("chunks")
    assert study.over("") is study
    assert (study.outputs / "chunkings" / "lines.parquet").is_file()


def test_the_overlap_is_measured_on_the_texts_that_were_searched(lined):
    found = [evaluate(lined(), name).set_index(["metric", "k"])["value"] for name in ("lines", "bm25")]
    assert found[0]["page_recall", 1] == 1.0
    assert found[0]["ctx_rouge_l", 1] == pytest.approx(1.0) != found[1]["ctx_rouge_l", 1]


def test_options_reach_the_function_and_tell_runs_apart(lined):
    study = lined()
    assert np.ptp(study.run("flat")["score"]) < 1e-6
    assert np.ptp(study.run("steep")["score"]) >= 2
    assert study.run_entry("flat").key != study.run_entry("steep").key


def test_a_table_that_is_not_there_and_a_section_that_is_not_declared_are_named(lined):
    with pytest.raises(StudyError, match="no chunk table 'words': say one of lines"):
        lined().over("words")
    with pytest.raises(StudyError, match="no method 'bm52': say one of bm25, lines"):
        lined().run("bm52")
    with pytest.raises(UndeclaredSetting, match="undeclared reads the section 'hyde' of the profile, which its row"):
        lined().run("undeclared")


def test_inputs_may_read_the_chunks_whatever_the_method_declares(lined):
    lined().run("bm25")  # the digest of the chunks is stored, the chunks are not read below
    assert lined().inputs_digest("reading") == digest_of(["Annual", "Net"] * 2)[:20]


def test_what_a_run_depends_on_names_no_code(monkeypatch):
    """All that is hashed into keys is settings, digests and versions: moving a function changes no key."""
    monkeypatch.setattr(Corpus, "digest", lambda self, *names: digest_of(names))
    monkeypatch.setattr(Study, "inputs_digest", lambda self, name: digest_of(name))
    dataset = SimpleNamespace(name="any", filings_digest="00")
    study = Study(Corpus(dataset, load_profile("default"), CHUNKINGS), METHODS)
    params = [study.run_params(name, condition) for name, row in METHODS.items() for condition in row.conditions]
    params += [study.corpus.chunks_params(name) for name in CHUNKINGS]
    text = json.dumps(params)
    assert json.loads(text) == params
    assert "lib." not in text
    assert len({digest_of(one) for one in params[: -len(CHUNKINGS)]}) == len(params) - len(CHUNKINGS)


def test_keys_have_settings_that_are_none_and_edited_files_of_data(monkeypatch):
    profile, path = load_profile("default").updated({"bm25": {"k1": None}}), "retrievers/stop_words.txt"
    assert settings_of(profile, ("bm25", "run")) == {"bm25": {"k1": None}, "run": {"depth": 50}}
    monkeypatch.setattr(corpus, "edited", corpus.edited.__wrapped__)
    monkeypatch.setitem(corpus.READ, "bm25", {path: "0" * 20})
    digest = digest_of_file(ROOT / "lib" / path)[:20]
    assert settings_of(profile, ("bm25",)) == {"bm25": {"k1": None, "files": {path: digest}}}
    assert {"bm25", "ahead"} < set(METHODS["ahead"].settings)


def test_texts_that_the_same_model_wrote_under_the_extended_profile_are_used(tmp_path):
    dataset = SimpleNamespace(name="any", collection="any", has_text=True)
    profiles = map(load_profile, ("smoke", "default"))
    smoke, default = (Study(Corpus(dataset, profile, CHUNKINGS, tmp_path), METHODS) for profile in profiles)
    item = Item("q1", "q1", Prompt("?"), Sampling(max_tokens=5))
    log = default.generation_log()
    record = {"key": log.key(item), "kind": "hyde", "question_id": "q1", "origin": "published"}
    record |= log._identity(item) | dataclasses.asdict(Generation("words", 1, 1, "stop", 0.1))
    default.home.mkdir(parents=True)
    (default.home / "generations.jsonl").write_text(json.dumps(record) + "\n")
    assert not smoke.generation_log().uses_published
    smoke.corpus.uses_published = True
    assert smoke._for("hyde").generation_log().uses_published
    found = smoke.generation_log().fill("hyde", [item], None)
    assert (found.texts, found.origins) == ({"q1": "words"}, {"published": 1})
    assert read_records(smoke.home / "generations.jsonl") == {record["key"]: record}

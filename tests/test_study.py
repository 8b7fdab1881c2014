"""A study from PDFs to run files, and what it computes again when something changes (real MiniLM, profile smoke)."""

import dataclasses
import gzip
import hashlib
import json

import pandas as pd
import pytest

from lib import runs
from lib.methods import METHODS
from lib.published import Published
from lib.study import Study
from lib.words import CHUNK_COLUMNS, CONDITIONS, FILING_COLUMNS, PAGE_COLUMNS, RUN_COLUMNS, StudyError

NAMES = ("dense", "bm25", "hybrid_rrf")
SUBJECTS = (
    "revenue and net sales",
    "capital expenditure",
    "share repurchases",
    "legal proceedings",
    "debt maturities",
)
ACME = [
    f"Acme annual report 2020. {subject.capitalize()} were $ 1,{n}77." for n, subject in enumerate(SUBJECTS)
]
BOLT = [
    f"Bolt quarterly report. {subject.capitalize()} rose by 4.{n}%." for n, subject in enumerate(SUBJECTS)
]

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def root(dataset_folder, tmp_path_factory):
    """Two filings, one with a blank page and one with a page of several chunks; three questions."""
    folder = dataset_folder(tmp_path_factory.mktemp("data") / "tiny")
    long_page = " ".join(f"Item {n}: dividends of series {n} were declared." for n in range(60))
    folder.pdf("ACME_2020_10K", *ACME, "", *(f"Note {n} to the statements of Acme." for n in range(20)))
    folder.pdf("BOLT_2020Q1_10Q", *BOLT, long_page)
    folder.question(
        "q0", "ACME_2020_10K", (1, ACME[1]), question="What was Acme's capital expenditure in FY2020?"
    )
    folder.question(
        "q1", "BOLT_2020Q1_10Q", (0, BOLT[0]), (4, BOLT[4]), question="Did Bolt's net sales rise?"
    )
    folder.question(
        "q2", "BOLT_2020Q1_10Q", (5, "dividends of series 7"), question="Bolt dividends of series 7?"
    )
    return folder.write()


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    return tmp_path_factory.mktemp("artifacts")


@pytest.fixture
def open_study(root, artifacts):
    def open_again(**arguments) -> Study:
        arguments = {"profile": "smoke", "results": "fresh", "artifacts": artifacts} | arguments
        study = Study.open(str(root), **arguments)
        study.store.say = lambda line: None
        return study

    return open_again


def run_all(study: Study) -> dict[str, str]:
    """Run every method under every condition; where each came from, by ``condition/method``."""
    origins = {}
    for condition in CONDITIONS:
        for name in NAMES:
            study.run(name, condition)
            origins[f"{condition}/{name}"] = study.run_entry(name, condition).origin
    return origins


@pytest.fixture
def computed(open_study) -> Study:
    """A study whose runs are stored."""
    study = open_study()
    run_all(study)
    return study


def test_frames_have_the_columns_of_the_contract(computed):
    assert tuple(computed.filings) == FILING_COLUMNS
    assert computed.filings.set_index("doc_name")["n_pages"].to_dict() == {
        "ACME_2020_10K": 26,
        "BOLT_2020Q1_10Q": 6,
    }
    for name, columns in (("pages", PAGE_COLUMNS), ("chunks", CHUNK_COLUMNS)):
        shown = pd.read_parquet(computed.view / f"{name}.parquet")
        assert tuple(shown) == columns
        pd.testing.assert_frame_equal(shown, getattr(computed, name))
    assert len(computed.pages) == 32
    assert "ACME_2020_10K#p0005#c00" not in set(computed.chunks["chunk_id"])
    assert "BOLT_2020Q1_10Q#p0005#c01" in set(computed.chunks["chunk_id"])


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", NAMES)
def test_run_files_are_trec_with_every_candidate_in_strict_order(computed, name, condition):
    path = computed.view / "runs" / condition / f"{name}.trec.gz"
    lines = [line.split(" ") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    table = pd.DataFrame(lines, columns=["question", "q0", "chunk", "rank", "score", "tag"])
    assert set(table["q0"]) == {"Q0"}
    assert set(table["tag"]) == {name}
    assert set(table["chunk"]) <= set(computed.chunks["chunk_id"])
    allowed = computed.candidates(condition).sum(axis=1)
    for question_id, n_allowed in zip(computed.questions["question_id"], allowed, strict=True):
        part = table[table["question"] == question_id]
        assert part["rank"].astype(int).tolist() == list(range(1, len(part) + 1))
        assert part["score"].astype("float32").diff().dropna().lt(0).all()
        assert len(part) == min(n_allowed, computed.profile.run.depth)
        assert part["chunk"].is_unique
    frame = computed.run(name, condition)
    assert tuple(frame) == RUN_COLUMNS
    assert runs.to_trec(frame, name) == path.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_oracles_let_nothing_else_through(computed, name):
    gold = computed.questions.set_index("question_id")
    for condition in ("oracle-document", "oracle-page"):
        for row in computed.run(name, condition).itertuples():
            assert row.doc_name == gold.loc[row.question_id, "doc_name"]
            assert condition != "oracle-page" or row.page in gold.loc[row.question_id, "gold_pages"]


@pytest.mark.parametrize("name", NAMES)
def test_each_question_finds_its_page(computed, name):
    first = computed.run(name)[lambda run: run["rank"] == 1].set_index("question_id")
    assert first.loc["q0", ["doc_name", "page"]].tolist() == ["ACME_2020_10K", 1]
    assert first.loc["q2", ["doc_name", "page"]].tolist() == ["BOLT_2020Q1_10Q", 5]


def test_a_second_study_reuses_everything(computed, open_study):
    again = open_study()
    assert set(run_all(again).values()) == {"reused"}
    assert {entry.origin for entry in again.store.log.values()} == {"reused"}
    pd.testing.assert_frame_equal(again.run("hybrid_rrf"), computed.run("hybrid_rrf"))


def test_every_stage_is_logged_with_where_it_came_from(computed, open_study):
    again = open_study(chapter="03_baselines")
    again.run("bm25")
    last = json.loads((again.view / "stages.jsonl").read_text().splitlines()[-1])
    assert (last["chapter"], last["stage"], last["origin"]) == (
        "03_baselines",
        "runs/standard/bm25",
        "reused",
    )


def test_a_changed_setting_recomputes_what_depends_on_it_and_nothing_else(computed, open_study):
    changed = open_study(changes={"bm25.k1": 0.4})
    origins = run_all(changed)
    for condition in CONDITIONS:
        assert [origins[f"{condition}/{name}"] for name in NAMES] == ["reused", "computed", "computed"]
    origin_of = {stage: entry.origin for (stage, _), entry in changed.store.log.items()}
    assert {origin for stage, origin in origin_of.items() if not stage.startswith("runs/")} == {"reused"}
    assert sorted(changed.run("bm25")["score"]) != sorted(computed.run("bm25")["score"])


def test_a_rerun_with_changes_leaves_the_study_s_files_alone(computed, open_study):
    before = (computed.view / "runs" / "standard" / "bm25.trec.gz").read_bytes()
    changed = open_study(changes={"bm25.k1": 0.3})
    changed.run("bm25")
    assert changed.view.parent == computed.view / "reruns"
    assert (changed.view / "runs" / "standard" / "bm25.trec.gz").read_bytes() != before
    assert (computed.view / "runs" / "standard" / "bm25.trec.gz").read_bytes() == before
    assert open_study(changes={"bm25.k1": None}).view == computed.view


def test_a_misspelt_change_lists_the_settings(open_study):
    with pytest.raises(StudyError, match=r"no setting 'bm25\.k'; it has .*bm25\.k1, bm25\.b"):
        open_study(changes={"bm25.k": 1})


def test_a_raised_version_recomputes_its_method_and_those_that_use_it(computed, open_study, monkeypatch):
    monkeypatch.setitem(METHODS, "bm25", dataclasses.replace(METHODS["bm25"], version=2))
    origins = run_all(open_study())
    assert [origins[f"standard/{name}"] for name in NAMES] == ["reused", "computed", "computed"]


def test_a_damaged_run_is_computed_again_with_the_same_bytes(computed, open_study):
    entry = computed.run_entry("bm25", "standard")
    before = (entry.path / "run.trec.gz").read_bytes()
    (entry.path / "run.trec.gz").write_bytes(before[:-9])
    again = open_study()
    assert again.run_entry("bm25", "standard").origin == "computed"
    assert (again.run_entry("bm25", "standard").path / "run.trec.gz").read_bytes() == before


def test_hybrid_is_the_fusion_of_the_two_runs_it_names(computed):
    ranks = [computed.run(name).set_index(["question_id", "chunk_id"])["rank"] for name in ("dense", "bm25")]
    fused = pd.concat([1 / (60 + rank) for rank in ranks], axis=1).sum(axis=1)
    got = computed.run("hybrid_rrf").set_index(["question_id", "chunk_id"])["score"]
    assert got.to_numpy() == pytest.approx(fused[got.index].to_numpy(), rel=1e-5)


@pytest.fixture
def published(computed, tmp_path) -> Published:
    """The study's bm25 run as a publication of its own."""
    entry = computed.run_entry("bm25", "standard")
    content = (entry.path / "run.trec.gz").read_bytes()
    run = {"key": entry.key, "sha256": hashlib.sha256(content).hexdigest()}
    path = tmp_path / "results" / "runs" / "standard" / "bm25.trec.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    stage = {"stage": entry.stage, "wall_s": 7.0, "peak_mib": 9.0}
    manifest = {"runs": {"standard/bm25": run}, "stages": [stage]}
    (tmp_path / "results" / "manifest.json").write_text(json.dumps(manifest))
    return Published(tmp_path / "results")


def test_a_published_run_stands_in_where_its_key_is_the_same(computed, published, tmp_path):
    fresh = Study(computed.dataset, computed.profile, tmp_path / "artifacts", published)
    assert fresh.run_entry("bm25", "standard").origin == "published"
    pd.testing.assert_frame_equal(fresh.run("bm25"), computed.run("bm25"))


@pytest.mark.parametrize("spoil", ["bytes", "key"])
def test_a_published_run_with_another_key_or_other_bytes_does_not(computed, published, tmp_path, spoil):
    profile = computed.profile.replaced({"bm25.b": 0.1}) if spoil == "key" else computed.profile
    if spoil == "bytes":
        path = published.root / "runs" / "standard" / "bm25.trec.gz"
        path.write_bytes(path.read_bytes() + b"x")
    fresh = Study(computed.dataset, profile, tmp_path / "artifacts", published)
    assert fresh.run_entry("bm25", "standard").origin == "computed"

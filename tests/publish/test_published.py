"""Published results as a layer of the store: the same keys and numbers without filings; what needs filings says so."""

import dataclasses
import gzip
import json

import nbformat
import pandas as pd
import pytest

from lib import studies
from lib.book import notebooks
from lib.book.explorer import explorer_data
from lib.book.manifest import write_manifest
from lib.book.results import write_exports, write_results
from lib.cache import Cache
from lib.data.dataset import read_dataset
from lib.evaluation import evaluate, metrics_entry
from lib.files import RESULTS
from lib.method_sets import measured
from lib.methods import METHODS
from lib.profile import load_profile
from lib.published import Published
from lib.schema import CONDITIONS, NeedsFilings, StudyError
from lib.studies import open_study
from lib.study import Study
from tests.small import ECHO, READERS


def counts(study: Study) -> pd.DataFrame:
    """A public frame of the study."""
    params = {"pages": study.digest("pages"), "run": study.run_entry("bm25").digest}
    count = lambda: study.pages.groupby("doc_name", as_index=False).size()  # noqa: E731
    return study.store.frame("analysis/counts", params, count, public=True)


@pytest.fixture
def study(study) -> Study:
    """The small study with a derived frame, which is published with it."""
    counts(study)
    return study


@pytest.fixture
def without(results, no_filings, tmp_path) -> Study:
    """The study of a machine that has no filings."""
    return open_study("", chapter="book", artifacts=tmp_path / "elsewhere", say=lambda line: None)


def test_keys_runs_metrics_and_derived_frames_are_the_published_ones_and_captions_say_so(without, study, results):
    assert not without.has_used_published_runs
    assert not study.has_used_published_runs
    for name in ("filings", "pages", "chunks", "questions", "evidence"):
        assert without.digest(name) == study.digest(name), name
    for condition in CONDITIONS:
        assert without.run_entry("bm25", condition).key == study.run_entry("bm25", condition).key
        pd.testing.assert_frame_equal(without.run("bm25", condition), study.run("bm25", condition))
    found, expected = evaluate(without, "bm25"), evaluate(study, "bm25")
    pd.testing.assert_frame_equal(found.astype(expected.dtypes), expected)
    pd.testing.assert_frame_equal(counts(without), counts(study))
    assert {entry.origin for entry in without.store.log.values()} == {"published"}
    assert without.has_used_published_runs
    assert without.questions["gold_pages"].tolist() == [[2], [1], [0]]
    assert not {"question", "answer", "evidence"} & set(without.questions)
    with pytest.raises(NeedsFilings, match="chunks needs the filings"):
        _ = without.chunks
    for changes in ({"bm25.k1": 9.0}, {"chunks.size": 64, "chunks.overlap": 0}):
        with pytest.raises(NeedsFilings, match="needs the filings"):
            evaluate(without.with_changes(changes), "bm25")


def test_the_outputs_get_the_contract_s_files_whose_gaps_do_not_stay(without, study, results, open_small, tmp_path):
    for one in (without, study):
        write_results(one)
        write_exports(one)
    assert write_manifest(without)["runs"] == write_manifest(study)["runs"]
    for name in ("summary.csv", "metrics.csv.gz", "runs/standard/bm25.trec.gz"):
        contents = [(one.outputs / name).read_bytes() for one in (without, study)]
        assert contents[0] == contents[1], name
    assert explorer_data(without)["questions"][0]["written"] == []  # its echo of the question still gave the answer
    whole = open_small(tmp_path / "elsewhere", results)
    write_results(whole)
    texts = [json.loads(line)["text"] for line in (whole.home / "generations.jsonl").read_text().splitlines()]
    assert ECHO in texts
    assert not [text for text in texts if "[…]" in text]


def test_with_filings_published_results_are_used_unless_fresh(study, results, small_folder, tmp_path, monkeypatch):
    def open_small(say=lambda line: None, **named) -> Study:
        weights = {"embedder.weights": results.manifest["settings"]["embedder"]["weights"]}
        return open_study("financebench", changes=weights, artifacts=tmp_path / "elsewhere", say=say, **named)

    monkeypatch.setattr(studies, "open_dataset", lambda *names: read_dataset(small_folder, "financebench"))
    used, fresh, reports = open_small(), open_small(results="fresh"), []
    entry, expected = used.run_entry("bm25"), evaluate(study, "bm25")
    assert (entry.origin, entry.wall_s) == ("published", study.run_entry("bm25").wall_s)
    assert evaluate(used, "bm25").astype(expected.dtypes).equals(expected)
    assert used.generation_log().published
    assert (fresh.published, fresh.run_entry("bm25").origin) == (None, "computed")
    assert not fresh.generation_log().uses_published
    (results.root / "manifest.json").write_text(json.dumps(results.manifest | {"fingerprint": "0123"}))
    assert open_small(say=reports.append).published is None
    assert "nothing published is used" in reports[0]


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_cannot_be_read_is_one_error_with_its_path(results, name):
    path = results.root / name
    for content in (b"\0", b"{}", gzip.compress(b"n" * 999, mtime=0)[:20], None):
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(StudyError, match=rf"{name} cannot be read"):
            READERS[name](Published(results.root))


def run_chapter(name: str, dataset: str) -> dict:
    """Run the cells of a chapter in this process; gives its variables."""
    found = nbformat.read(studies.NOTEBOOKS / f"{name}.ipynb", as_version=4)
    cells = [cell.source for cell in found.cells if cell.cell_type == "code"]
    variables = {"__name__": name}
    exec("\n\n".join([cells[0], f"dataset = {dataset!r}", *cells[1:]]), variables)
    return variables


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", notebooks.chapters())
def test_with_filings_no_chapter_encodes_a_text_whose_results_are_published(name, tmp_path, monkeypatch):
    class UsesPublished(Study):
        def __init__(self, dataset, profile, methods, chunkings, artifacts, *others):
            super().__init__(dataset, profile, methods, chunkings, tmp_path, *others)
            self.store.published = self.published  # for the demo, too, which else shows everything at work

    def encode(items):
        raise AssertionError(f"{len(items)} texts are encoded")

    rows = Cache.rows
    monkeypatch.setattr(studies, "Study", UsesPublished)
    monkeypatch.setenv(studies.OUTPUTS_VARIABLE, str(tmp_path / "outputs"))
    monkeypatch.setattr(Cache, "rows", lambda self, space, items, *_, **__: rows(self, space, items, encode))
    run_chapter(name, "demo")


#: Tables of texts, for which the demo stands in.
EXAMPLES = {"01_data": {"examples"}, "02_oracles": {"example", "retrieved"}}
OFTEN = ("03_baselines", "05_breakdowns", "07_ahead", "a1_training", "a3_judge")  # the other chapters are slow


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow) for name in notebooks.chapters()]
)
def test_without_filings_a_chapter_shows_what_is_published(name, no_filings, tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "Study", lambda *given, **named: Study(*given[:4], tmp_path, *given[5:], **named))
    monkeypatch.setenv(studies.OUTPUTS_VARIABLE, str(tmp_path / "outputs"))
    log = run_chapter(name, "")["study"].store.log
    assert {stage for (stage, _), entry in log.items() if entry.origin != "published"} <= {"analysis/claims"}
    paths = [path.relative_to(tmp_path / "outputs") for path in (tmp_path / "outputs").glob("*/*.csv")]
    shown = RESULTS / "financebench" / "default" / "shown"
    published = [one for one in paths if (shown / one).is_file()]
    assert published in ([], paths), "all of a chapter's tables, or none of one that is newer than the publication"
    differ = {one.stem for one in published if (shown / one).read_bytes() != (tmp_path / "outputs" / one).read_bytes()}
    assert differ <= EXAMPLES.get(name, set())


def test_without_filings_a_row_that_has_no_published_run_is_left_out_and_named(no_filings, tmp_path, monkeypatch):
    runs, listed = Published.of("financebench", "default").manifest["runs"], load_profile("default").siblings.without
    for name in [name for name in METHODS if f"standard/{name}" not in runs and name not in listed]:
        monkeypatch.delitem(METHODS, name)  # a row that is new in this checkout
    assert open_study("", artifacts=tmp_path, say=lambda line: None).profile.siblings.without == listed
    monkeypatch.setitem(METHODS, "mine", dataclasses.replace(METHODS["bm25"], name="mine"))
    messages = []
    study = open_study("", artifacts=tmp_path, say=messages.append)
    assert [line.endswith(": mine") for line in messages[1:]] == [True]
    names = {name for name, _ in measured(study.profile)}
    assert {"bm25", "mine"} & names == {"bm25"}


def test_without_filings_a_new_version_of_the_metrics_is_measured_from_the_published_runs(
    no_filings, tmp_path, monkeypatch
):
    study = open_study("", artifacts=tmp_path, say=lambda line: None)
    published = evaluate(study, "bm25").astype({"metric": str, "method": str, "condition": str, "question_id": str})
    monkeypatch.setattr("lib.evaluation.VERSION", 99)
    measured_again = evaluate(study, "bm25")
    pd.testing.assert_frame_equal(measured_again, published, check_dtype=False)
    assert metrics_entry(study, "bm25", "standard").origin == "computed"

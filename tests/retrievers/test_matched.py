"""Filings are matched by company, period and form before a method ranks; the match reads records or covers."""

import pytest

from lib.corpus import Corpus
from lib.data.dataset import read_dataset
from lib.method import MATCHED
from lib.method_sets import of_family
from lib.methods import METHODS
from lib.profile import load_profile
from lib.retrievers.matched import fits_best, identities
from lib.study import Study
from tests.ahead.conftest import BALANCE, CASH, cover


@pytest.fixture
def study(folder, tokenizer_folder, tmp_path):
    """The annual reports of one company for two years, and of another; the names of two files say nothing."""
    for doc_name, name, year in (
        ("scan1", "OSKARVALE PLC", 2021),
        ("scan2", "OSKARVALE PLC", 2022),
        ("GLIMMERFEN_2021_10K", "GLIMMERFEN MILLS, INC.", 2021),
    ):
        folder.pdf(doc_name, cover(name, "10-K", f"December 31, {year}"), BALANCE, CASH)
    folder.question("q1", "scan2", (1, BALANCE), question="What are Oskarvale's total assets in FY2022?")
    folder.question("q2", "GLIMMERFEN_2021_10K", (1, BALANCE), question="What are the total assets in FY2022?")
    profile = load_profile("default").replaced({"embedder.weights": str(tokenizer_folder)})
    profile["name"] = "default"
    return Study(Corpus(read_dataset(folder.write(), "matched"), profile, {}, tmp_path / "artifacts"), METHODS)


def test_covers_alone_say_whose_filing_it_is_and_records_are_another_source(study):
    filed = identities(study, True)
    assert {one.doc_name for one in filed} == {""}  # files' names say nothing
    read = ["GLIMMERFEN MILLS, INC. 2021 10-K", "OSKARVALE PLC 2021 10-K", "OSKARVALE PLC 2022 10-K"]
    assert [one.header for one in filed] == read
    named, unnamed = fits_best(study.questions["question"].tolist(), filed).tolist()
    assert named == [False, False, True]
    assert unnamed == [True, True, True]  # no company is named: every filing is searched
    recorded = [one.header for one in identities(study, False)]
    periods = study.filings["doc_period"].astype(int)
    assert all(f" {period} " in header for period, header in zip(periods, recorded, strict=True))


def test_the_filing_that_fits_is_searched_first_and_then_all(study):
    run = study.run("bm25_covers").set_index("question_id")
    assert set(run.loc["q1", "doc_name"]) == {"scan1", "scan2", "GLIMMERFEN_2021_10K"}
    assert (run.loc["q1", "doc_name"] == "scan2").is_monotonic_decreasing
    assert run.loc["q1", "chunk_id"].is_unique
    plain = study.run("bm25").set_index("question_id")  # the other question names no company
    assert run.loc["q2", "chunk_id"].tolist() == plain.loc["q2", "chunk_id"].tolist()


def test_every_matched_row_changes_the_method_that_it_uses():
    for row in map(METHODS.get, of_family(MATCHED)):
        assert row.options.get("method", row.options.get("first_stage")) == row.changes == row.uses[0]

"""Filings are matched by company, period and form before a method ranks; the match reads records or covers."""

import pytest

from lib.corpus import Corpus
from lib.data.dataset import read_dataset
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


def best(study, is_from_covers):
    filed = identities(study, is_from_covers)
    fit = fits_best(study.questions["question"].tolist(), filed)
    return [{study.filings["doc_name"][column] for column in row.nonzero()[0]} for row in fit]


def test_covers_alone_say_whose_filing_it_is(study):
    named, unnamed = best(study, is_from_covers=True)
    assert named == {"scan2"}
    assert unnamed == {"scan1", "scan2", "GLIMMERFEN_2021_10K"}  # no company is named: every filing is searched


def test_records_and_covers_are_two_sources(study):
    recorded, read = ({one.header for one in identities(study, kind)} for kind in (False, True))
    assert read == {"OSKARVALE PLC 2021 10-K", "OSKARVALE PLC 2022 10-K", "GLIMMERFEN MILLS, INC. 2021 10-K"}
    periods = study.filings["doc_period"].astype(int).astype(str)
    assert all(any(f" {period} " in header for period in periods) for header in recorded)
    assert {one.doc_name for one in identities(study, True)} == {""}  # files' names say nothing


def test_the_filing_that_fits_is_searched_first_and_then_all(study):
    run = study.run("bm25_covers")
    ranked = run[run["question_id"] == "q1"]
    assert set(ranked["doc_name"]) == {"scan1", "scan2", "GLIMMERFEN_2021_10K"}
    assert (ranked["doc_name"] == "scan2").is_monotonic_decreasing
    assert ranked["chunk_id"].is_unique


def test_a_question_without_a_company_is_searched_as_by_the_method(study):
    matched, plain = (study.run(name).query("question_id == 'q2'") for name in ("bm25_covers", "bm25"))
    assert matched["chunk_id"].tolist() == plain["chunk_id"].tolist()


def test_every_matched_row_changes_the_method_that_it_uses():
    for row in METHODS.values():
        if row.family == "matched":
            assert row.options.get("method", row.options.get("first_stage")) == row.changes == row.uses[0]

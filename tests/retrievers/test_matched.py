"""Filings are matched by company, period and form before a method ranks; the match reads records or covers."""

from lib.corpus import Corpus
from lib.data.dataset import read_dataset
from lib.methods import METHODS
from lib.profile import load_profile
from lib.retrievers.matched import fits_best, identities
from lib.study import Study
from tests.ahead.conftest import BALANCE, CASH, cover


def test_the_filing_that_fits_by_cover_or_records_is_searched_first_then_all(folder, tokenizer_folder, tmp_path):
    """The annual reports of one company for two years, and of another; the names of two files say nothing."""
    reports = {"scan1": ("OSKARVALE PLC", 2021), "scan2": ("OSKARVALE PLC", 2022)}
    for doc_name, (name, year) in (reports | {"GLIMMERFEN_2021_10K": ("GLIMMERFEN MILLS, INC.", 2021)}).items():
        folder.pdf(doc_name, cover(name, "10-K", f"December 31, {year}"), BALANCE, CASH)
    folder.question("q1", "scan2", (1, BALANCE), question="What are Oskarvale's total assets in FY2022?")
    folder.question("q2", "GLIMMERFEN_2021_10K", (1, BALANCE), question="What are the total assets in FY2022?")
    profile = load_profile("default").replaced({"embedder.weights": str(tokenizer_folder)})
    profile["name"] = "default"
    study = Study(Corpus(read_dataset(folder.write(), "matched"), profile, {}, tmp_path / "artifacts"), METHODS)
    filed = identities(study, True)
    assert {one.doc_name for one in filed} == {""}  # files' names say nothing
    read = ["GLIMMERFEN MILLS, INC. 2021 10-K", "OSKARVALE PLC 2021 10-K", "OSKARVALE PLC 2022 10-K"]
    assert [one.header for one in filed] == read
    named, unnamed = fits_best(study.questions["question"].tolist(), filed).tolist()
    assert named == [False, False, True]
    assert unnamed == [True, True, True]  # no company is named: every filing is searched
    headers = [one.header for one in identities(study, False)]
    assert all(f" {int(year)} " in header for year, header in zip(study.filings["doc_period"], headers, strict=True))
    run = study.run("bm25_covers").set_index("question_id")
    assert set(run.loc["q1", "doc_name"]) == {"scan1", "scan2", "GLIMMERFEN_2021_10K"}
    assert (run.loc["q1", "doc_name"] == "scan2").is_monotonic_decreasing
    assert run.loc["q1", "chunk_id"].is_unique
    plain = study.run("bm25").set_index("question_id")  # the other question names no company
    assert run.loc["q2", "chunk_id"].tolist() == plain.loc["q2", "chunk_id"].tolist()

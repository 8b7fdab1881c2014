"""Nested parts of a collection, and methods over them."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from extras.archive.collection import write_collection
from extras.archive.growth import Index, drawn_parts, measure, needs_vectors, part_of
from lib.analysis.growth import ASKED, asked, measured
from lib.archive.index import Plan, Shards, write_shards
from lib.data.locate import DEMO
from lib.models.index import window_vectors
from lib.studies import open_study
from lib.words import StudyError


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return open_study("demo", "smoke", artifacts=tmp_path_factory.mktemp("artifacts"))


@pytest.fixture(scope="module")
def shards(study, tmp_path_factory):
    made = Shards(tmp_path_factory.mktemp("index"), Plan.of(study.profile), DEMO)
    write_shards(made)
    return made


def frames():
    """Three asked filings of two companies, four others of these, and three of another company."""
    names = "A_0 A_1 A_2 A_3 B_0 B_1 B_2 C_0 C_1 C_2".split()
    filings = pd.DataFrame({"doc_name": names, "company": [name[0] for name in names]})
    return filings, filings[filings["doc_name"].isin(["A_0", "A_1", "B_0"])]


def test_parts_contain_every_asked_filing_and_a_larger_one_of_a_draw_contains_the_smaller():
    parts = drawn_parts(*frames(), sizes=(5, 8), draws=2)
    assert parts[0].doc_names == {"A_0", "A_1", "B_0"}
    assert len(parts[-1].doc_names) == 10
    for draw in (0, 1):
        mixed = [part.doc_names for part in parts if (part.kind, part.draw) == ("mixed", draw)]
        assert all(small < large for small, large in pairwise(mixed))


def test_kinds_are_drawn_apart_and_are_equally_large():
    parts = drawn_parts(*frames(), sizes=(), draws=3)
    known, others = ([one.doc_names for one in parts if one.kind == f"{kind} companies"] for kind in ("asked", "other"))
    assert {len(names) for names in known + others} == {6}
    assert all(name[0] in "AB" for names in known for name in names)
    assert others == [{"A_0", "A_1", "B_0", "C_0", "C_1", "C_2"}]


def test_the_whole_as_a_part_gives_the_study_s_own_run(study):
    part = part_of(study, frozenset(study.filings["doc_name"]))
    for name in ("dense", "bm25", "hybrid_rrf"):
        whole = study.rank_method(name, study.candidates("standard"), 10)
        allowed = np.ones((len(study.questions), len(part.chunks)), bool)
        np.testing.assert_array_equal(part.rank_method(name, allowed, 10)["chunk_id"], whole["chunk_id"], err_msg=name)


def test_a_part_retrieves_nothing_from_other_filings_and_has_words_of_its_own(study):
    asked = frozenset(study.questions["doc_name"])
    part = part_of(study, asked)
    for name in ("dense", "bm25"):
        run = part.rank_method(name, np.ones((len(study.questions), len(part.chunks)), bool), 50)
        assert set(run["doc_name"]) <= asked
    assert part.run_params("bm25", "standard") != study.run_params("bm25", "standard")


def test_what_is_measured_is_the_recall_of_every_question_and_is_kept_in_the_study_s_table(study):
    found = next(measure(study, study, None, ["bm25"]))
    assert set(found["question_id"]) == set(study.questions["question_id"])
    assert found[["doc_recall", "page_recall"]].stack().between(0, 1).all()
    kept, wanted = measured(study, 5), found[found["k"] == 5].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, wanted, check_names=False, check_dtype=False)


def test_a_larger_collection_takes_other_filings_vectors_from_the_index(study, shards):
    """The index knows all filings, the study all but one; the part's vectors are those of both."""
    names = frozenset(study.filings["doc_name"])
    home = part_of(study, names - {min(names)})
    owners, vectors = window_vectors(part_of(study, names, Index(home, shards)))
    wanted_owners, wanted = window_vectors(study)
    np.testing.assert_array_equal(owners, wanted_owners)
    np.testing.assert_allclose(vectors, wanted, atol=0.02)


def test_rows_of_words_alone_need_no_index_and_what_make_ask_finds_does(study):
    assert not needs_vectors(study, "bm25_records")
    assert needs_vectors(study, "hybrid_rrf")
    with pytest.raises(StudyError, match="make index"):
        next(measure(study, study, None, ["ask"]))


def test_what_make_ask_finds_is_measured_for_every_question_beside_the_methods(study, shards):
    next(measure(study, study, None, ["bm25"]))
    found = pd.concat(measure(study, study, Index(study, shards), ["ask"]))
    assert set(found["question_id"]) == set(study.questions["question_id"])
    table = asked(study)
    assert set(table["n"]) == {len(study.questions)}
    assert table["page_recall"].between(0, 1).all()
    assert table[table["k"] == 20]["page_recall"].iloc[-1] > 0.5
    assert ASKED not in set(measured(study, 5)["method"])


def test_a_larger_collection_has_the_same_questions_and_no_copies(study, tmp_path):
    """The other filings are one of the study's under a second name, and one that is new."""
    copy = study.pages[study.pages["doc_name"] == study.pages["doc_name"][0]]
    new = copy.head(2).assign(doc_name="HADDENMOOR_1999_10K", page=[1, 0])
    pd.concat([copy.assign(doc_name="COPY"), new]).to_parquet(tmp_path / "other.parquet")
    said = write_collection(study, tmp_path / "other.parquet", tmp_path / "larger")
    assert said.endswith("larger: 1 filings added, 1 left out as copies of others")
    larger = open_study(str(tmp_path / "larger"), "smoke", artifacts=tmp_path / "artifacts")
    assert larger.questions["question_id"].tolist() == study.questions["question_id"].tolist()
    added = larger.filings.set_index("doc_name")["company"]
    assert added["HADDENMOOR_1999_10K"] == "Haddenmoor Stores"
    pages = larger.pages.set_index("doc_name")["text"]
    assert pages["HADDENMOOR_1999_10K"].tolist() == copy["text"].tolist()[1::-1]

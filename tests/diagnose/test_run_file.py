"""Reading runs from outside: the forms, what is odd and how it is said, and that nothing is lost in silence."""

import contextlib
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.diagnose.run_file import NO_PAGE, read_run
from lib.schema import StudyError

FILINGS = pd.DataFrame({"doc_name": ["ACME_2020_10K", "BOLT 2021", "C-1"], "n_pages": [60, 3, 9]})
QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2", "7"]})


def read(tmp_path: Path, text: str | bytes, **options):
    path = tmp_path / "my.trec"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_run(path, QUESTIONS, FILINGS, **options)


def places(run: pd.DataFrame) -> list[tuple]:
    return [*run[["question_id", "rank", "doc_name", "page"]].itertuples(index=False, name=None)]


TREC = "q1 Q0 ACME_2020_10K#p0049 1 2.5 me\nq1 Q0 BOLT 2021.pdf#p0002#c01 2 1.5 me\nq2 Q0 C-1#p1 1 9 me\n"
FOUND = [("q1", 1, "ACME_2020_10K", 49), ("q1", 2, "BOLT 2021", 2), ("q2", 1, "C-1", 1)]


def test_a_trec_file_is_read_with_names_of_files_spaces_and_marks(tmp_path):
    found = read(tmp_path, TREC)
    assert places(found.run) == FOUND
    assert found.run["chunk_id"].tolist() == ["ACME_2020_10K#p0049", "BOLT 2021#p0002#c01", "C-1#p0001"]
    assert found.notes == [
        "Read my.trec (TREC): 3 rows, 1 to 2 for each of 2 of the set's 3 questions; pages from 0.",
        "Questions without a row: 1, such as '7'; they score 0.",
        "Documents named by a path or with .pdf: 1, such as 'BOLT 2021.pdf', taken as 'BOLT 2021'.",
    ]


def test_the_same_run_in_every_form_is_the_same(tmp_path):
    whole = read(tmp_path, TREC).run
    pages = {"q1": ["ACME_2020_10K#p0049", "x/BOLT 2021.pdf#p0002"], "q2": ["C-1#p0001"]}
    passages = [{"doc": "ACME_2020_10K", "page": 49, "score": 2.5}, {"document": "BOLT 2021.PDF", "page": "2"}]
    lines = [{"question_id": name, "pages": listed} for name, listed in pages.items()]
    others = [{"question_id": "q1", "passages": passages}, {"question_id": "q2", "results": pages["q2"]}]
    frame = whole.rename(columns={"doc_name": "doc"})[["question_id", "doc", "page", "score"]]
    forms = ["\n".join(map(json.dumps, lines)), "\ufeff\n" + "\r\n".join(map(json.dumps, others)), frame]
    forms += [frame.drop(columns="score"), frame[::-1], gzip.compress(TREC.encode())]
    for form in forms:
        found = read_run(form, QUESTIONS, FILINGS) if isinstance(form, pd.DataFrame) else read(tmp_path, form)
        assert sorted(places(found.run)) == FOUND


def test_pages_from_1_are_those_from_0(tmp_path):
    text = "q1 Q0 ACME_2020_10K#p50 1 2 x\nq1 Q0 ACME_2020_10K#p0 1 1 x"
    assert [row[3] for row in places(read(tmp_path, text, pages_from=1).run)] == [49, NO_PAGE]
    with pytest.raises(StudyError, match="pages_from is 2; give 0 or 1"):
        read(tmp_path, TREC, pages_from=2)


ROW = "q1 Q0 ACME_2020_10K#p0049 1 2.5 me\n"
LISTED = '{"question_id": "q1", "pages": ["ACME_2020_10K#p1"%s]}\n'


BOLT = "q1 Q0 BOLT 2021#p1 2 {} me\n"
AGAIN = "Rows of a page that is ranked above already: 1; a page counts once, where it is first."
EQUAL = "Rows with the score of the row above: 1; they stay in the given order, where trec_eval orders by docno."
RISES = "Questions with a row above one of a higher score: 1; "
INFINITE = "Rows with an infinite score: 1; inf is above all other scores, -inf below."
FROM_1 = "No page is 0, and one is just behind a filing's last: if pages count from 1, give pages_from=1."


@pytest.mark.parametrize(
    ("text", "note", "n_rows"),
    [
        (ROW + BOLT.format("inf"), INFINITE, 2),
        (ROW + BOLT.format("-1e999"), INFINITE, 2),
        (LISTED % ', {"doc": "BOLT 2021", "page": true}', "0 or higher: 1, such as 'BOLT 2021, page True'; they", 2),
        (ROW + "Q Q0 x#p1 1 1 me\n", "Rows of questions not in the set: 1, such as 'Q'; left out.", 1),
        (ROW, "Questions without a row: 2, such as 'q2'; they score 0.", 1),
        (ROW + "q1 Q0 <b>#p01 1 1 me\n", "Rows that name a document that the set does not have: 1, such as '<b>#p0", 2),
        (ROW + "q1 Q0 BOLT 2021#p3 1 1 me\n", "Rows that name a page behind the last one of its filing: 1, such as", 2),
        (ROW + "q1 Q0 BOLT 2021#p3 1 1 me\n", FROM_1, 2),
        (ROW + "q1 Q0 BOLT 2021 1 1 me\n", "Rows that name no page by its number, 0 or higher: 1, such as 'BOLT 2", 2),
        (LISTED % ', {"doc": "BOLT 2021", "page": "ii"}', "0 or higher: 1, such as 'BOLT 2021, page ii'; they keep", 2),
        (LISTED % ', {"doc": "BOLT 2021", "page": 1.5}', "0 or higher: 1, such as 'BOLT 2021, page 1.5'; they", 2),
        (ROW + BOLT.format(2.5), EQUAL, 2),
        (ROW + BOLT.format(3.5), RISES + "rows are ordered by falling score, so negate distances.", 2),
        (LISTED % "" + LISTED % "", AGAIN, 2),
        (ROW + "q1 Q0 ACME_2020_10K#p49#c2 1 1 me\n", AGAIN, 2),
    ],
)
def test_each_oddity_is_counted_in_a_note(tmp_path, text, note, n_rows):
    found = read(tmp_path, text)
    assert sum(note in one for one in found.notes) == 1
    assert len(found.run) == n_rows
    assert found.run["rank"].tolist() == list(range(1, n_rows + 1))


def test_a_list_stays_in_its_order_and_its_scores_are_then_ranks(tmp_path):
    items = [{"doc": "ACME_2020_10K", "page": page, "score": score} for page, score in ((3, 0.1), (4, 0.9))]
    found = read(tmp_path, json.dumps({"question_id": "q1", "passages": items}))
    assert found.run["page"].tolist() == [3, 4]
    assert found.run["score"].tolist() == [-1, -2]
    assert RISES + "the order is left as it is." in found.notes


def test_an_infinite_score_is_above_or_below_all_others_and_loses_no_row(tmp_path):
    scores = {1: "-inf", 2: "0.5", 3: "inf", 4: "1e308", 5: "Infinity", 6: "-3"}
    text = "".join(f"q1 Q0 C-1#p{page} 9 {score} x\n" for page, score in scores.items())
    frame = pd.DataFrame({"question_id": "q1", "doc": "C-1", "page": [*scores], "score": map(float, scores.values())})
    for found in (read(tmp_path, text), read_run(frame, QUESTIONS, FILINGS)):
        assert found.run["page"].tolist() == [3, 5, 4, 2, 6, 1]
        assert found.run["score"].tolist() == [-1, -2, -3, -4, -5, -6]  # an order that float32 keeps
        assert EQUAL in found.notes


NAN = '{"question_id": "q2", "passages": [{"doc": "C-1", "page": 1, "score": NaN}]}'
#: A line that is not a row of a run, behind a sound one, and what is wrong with it.
BROKEN = {
    BOLT.format("nan"): "the score is NaN, .*; give a number, inf or -inf",
    BOLT.format("best"): "could not convert string to float: 'best'",
    "q1 Q0 x": "3 fields in place of six",
    NAN: "the score is NaN",
    "{": "Expecting property name",
    '{"question_id": "q1"}': "no object with question_id and a list of pages",
    LISTED % ', {"page": 1}': "the passage .* names no document",
    LISTED % ", 3": "the passage .* names no document",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_line_that_is_not_a_row_is_one_error_with_its_place(tmp_path, line):
    first = LISTED % "" if line[0] == "{" else ROW
    with pytest.raises(StudyError, match=rf"my\.trec line 3: {BROKEN[line]}") as error:
        read(tmp_path, f"{first}\n{line}")
    assert "\n" not in str(error.value)


def test_a_path_may_have_a_hash_in_a_folder_s_name(tmp_path):
    passages = [{"document": "/home/#projects/BOLT 2021.pdf", "page": 1}, "/home/#projects/C-1.pdf#p2"]
    found = read(tmp_path, json.dumps({"question_id": "q1", "results": passages}))
    assert places(found.run) == [("q1", 1, "BOLT 2021", 1), ("q1", 2, "C-1", 2)]


def test_a_truth_value_is_no_page(tmp_path):
    frame = pd.DataFrame({"question_id": "q1", "doc": "ACME_2020_10K", "page": [True, 1, False]})
    assert read_run(frame, QUESTIONS, FILINGS).run["page"].tolist() == [NO_PAGE, 1, NO_PAGE]
    assert read_run(frame.iloc[::2], QUESTIONS, FILINGS).run["page"].tolist() == [NO_PAGE] * 2


FRAME = pd.DataFrame({"question_id": [None], "doc": ["C-1"], "page": [1]})
UNSCORED = pd.DataFrame({"question_id": ["q1"] * 3, "doc": "C-1", "page": 1, "score": [1.0, None, np.nan]})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"%PDF-1.7 \xff\xfe\x00", "is not UTF-8"),
        (b"", "has no row; give 'question_id Q0 docno rank score tag', or JSON"),
        (b'{"question_id": "q1", "pages": []}', "has no row"),
        (gzip.compress(TREC.encode(), mtime=0)[:40], "cannot be read"),
        (b"a Q0 ACME_2020_10K#p1 1 1 x", "has no question of the set: its first is 'a', the set's 'q1'"),
        (b"q1 Q0 acme#p1 1 1 x", "has no document of the set: its first is 'acme', a filing is named 'ACME_2020_10K'"),
        (Path("none.trec"), "No such file or directory"),
        (FRAME[["question_id"]], "the frame is not a run; give rows with the columns"),
        (FRAME, "the frame: row 1 has no question_id"),
        (UNSCORED, "the frame: row 2 has no score; give a number, or leave the column out"),
    ],
)
def test_what_is_no_run_of_the_set_is_refused_in_one_sentence(tmp_path, given, message):
    with pytest.raises(StudyError, match=message) as refused:
        read(tmp_path, given) if isinstance(given, bytes) else read_run(given, QUESTIONS, FILINGS)
    assert "\n" not in str(refused.value)


def test_texts_come_by_chunk_where_every_passage_has_one(tmp_path):
    items = [{"doc": "ACME_2020_10K", "page": 3, "text": text} for text in ("Sales rose", "", "Sales rose")]
    found = read(tmp_path, json.dumps({"question_id": "q1", "passages": items}))
    assert [found.texts[one] for one in found.run["chunk_id"]] == ["Sales rose", "", "Sales rose"]
    assert found.run["chunk_id"].nunique() == 2
    del items[1]["text"]
    assert read(tmp_path, json.dumps({"question_id": "q1", "passages": items})).texts == {}


NAMES = st.sampled_from(["ACME_2020_10K", "BOLT 2021", "C-1", "none", "a/BOLT 2021.pdf"])
ROWS = st.tuples(st.sampled_from(["q1", "q2", "7", "Q"]), NAMES, st.integers(0, 70), st.floats(-9, 9))


@given(st.lists(ROWS, min_size=1, max_size=30))
def test_every_row_of_a_known_question_keeps_its_place(tmp_path_factory, rows):
    text = "".join(f"{q} Q0 {doc}#p{page} 1 {score!r} t\n" for q, doc, page, score in rows)
    known = [row for row in rows if row[0] != "Q"]
    path = tmp_path_factory.mktemp("run") / "run.txt"
    path.write_text(text)
    if not known or all(row[1] == "none" for row in known):
        with pytest.raises(StudyError, match="has no (question|document) of the set"):
            read_run(path, QUESTIONS, FILINGS)
        return
    run = read_run(path, QUESTIONS, FILINGS).run
    for question_id, part in run.groupby("question_id"):
        own = sorted((row for row in known if row[0] == question_id), key=lambda row: -row[3])
        bare = [(doc.removeprefix("a/").removesuffix(".pdf"), page) for _, doc, page, _ in own]
        assert [*part[["doc_name", "page"]].itertuples(index=False, name=None)] == bare
        assert part["rank"].tolist() == [*range(1, len(own) + 1)]
    assert len(run) == len(known)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("C-1#p1"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["doc", "page", "score", "text", "question_id", "pages"]), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode) | JSON.map(json.dumps).map(str.encode), JSON)
def test_anything_is_a_run_with_finite_scores_or_one_error(tmp_path_factory, content, value):
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    listed = LISTED % "" + json.dumps({"question_id": "q2", "passages": [value]}) + "\n"
    for lines in (content, ROW.encode() + content, listed.encode(), listed.encode() + content):
        path.write_bytes(lines)
        with contextlib.suppress(StudyError):
            found = read_run(path, QUESTIONS, FILINGS)
            assert found.run["rank"].min() == 1
            assert np.isfinite(found.run["score"]).all()

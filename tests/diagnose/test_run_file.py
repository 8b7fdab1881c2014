"""Reading runs from outside: the formats, where passages stand, what is odd and how it is said, nothing lost."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from lib.diagnose.places import NO_PAGE, Archive
from lib.diagnose.run_file import read_run
from lib.schema import StudyError

FILINGS = pd.DataFrame({"doc_name": ["ACME_2020_10K", "BOLT 2021", "C-1"], "n_pages": [60, 3, 9]})
QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2", "7"], "gold_pages": [[49], [2], [1]]})
QUESTIONS = QUESTIONS.assign(question=["What are sales?", "Why?", "Who audits Bolt?"], doc_name=FILINGS["doc_name"])


def read(tmp_path: Path, given: str | bytes | list | dict, **options):
    """Read a file of a text, of bytes, or of a value as JSON."""
    path = tmp_path / "my.trec"
    text = given if isinstance(given, str | bytes) else json.dumps(given)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_run(path, QUESTIONS, FILINGS, **options)


def read_list(tmp_path: Path, *passages: object, **options):
    """Read a file of one question's list of passages."""
    return read(tmp_path, {"question_id": "q1", "passages": passages}, **options)


def places(run: pd.DataFrame) -> list[tuple]:
    return [*run[["question_id", "rank", "doc_name", "page"]].itertuples(index=False, name=None)]


FOUND = [("q1", 1, "ACME_2020_10K", 49), ("q1", 2, "BOLT 2021", 2), ("q2", 1, "C-1", 1)]
TREC = "q1 Q0 ACME_2020_10K#p0049 1 2.5 me\nq1 Q0 BOLT 2021.pdf#p0002#c01 2 1.5 me\nq2 Q0 C-1#p1 1 9 me\n"
ROWS = [("q1", "ACME_2020_10K", 49, 2.5), ("q1", "/a/#p/BOLT 2021.PDF", "2", 1.5), ("q2", "c-1.md", 1.0, 9)]
DOCNOS = {"q1": {"ACME_2020_10K#p49": 2.5, "BOLT 2021#p2": 1.5}, "q2": {"C-1#p1": 9}}


def listed(of, question: str = "question_id", passages: str = "results") -> list[dict]:
    """A record a question, with passages that ``of`` makes of a row."""
    return [{question: one, passages: [of(*row) for row in ROWS if row[0] == one]} for one in ("q1", "q2")]


def langchain(_, doc, page, __) -> dict:
    metadata = {"source": doc, "page": page, "page_label": "ix"}
    return {"lc": 1, "id": ["x"], "kwargs": {"page_content": "Sales rose", "metadata": metadata}}


def llamaindex(_, doc, page, score) -> dict:
    node = {"id_": "x", "metadata": {"file_name": doc, "page_label": str(int(float(page)))}, "text": "Sales rose"}
    return {"node": node, "score": score, "class_name": "NodeWithScore"}


def haystack(_, doc, page, score) -> dict:
    return {"id": "x", "content": "Sales", "meta": {"file_path": doc, "page_number": int(float(page))}, "score": score}


def table(rows: list[tuple], delimiter: str) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(rows)
    return written.getvalue()


SCORED = listed(lambda _, doc, page, score: [{"doc": doc, "page": page}, score])
PAIRS = {one["question_id"]: one["results"] for one in SCORED}
FLAT = [{"query_id": one, "document": doc, "page": page, "similarity": score} for one, doc, page, score in ROWS]
FAR = [{"query_id": one, "document": doc, "page": page, "distance": 10 - score} for one, doc, page, score in ROWS]
SOURCES = [{"source": doc, "page": page} for _, doc, page, _ in ROWS]
CHROMA = [
    {"qid": "q1", "documents": [["a", "a"]], "metadatas": [SOURCES[:2]], "distances": [[0.1, 0.2]]},
    {"qid": "q2", "documents": [["a"]], "metadatas": SOURCES[2:], "distances": [[0.1]]},
]
BY_TEXT = " WHAT ARE SALES?", "Why"
CELLS_OF_ROWS = [("Query ID", "File Name", "Page", "Rank"), *((*row[:3], 1) for row in ROWS)]
LONG_TEXTS = [("qid", "doc", "page", "score", "text"), *((*row, "a\0" + "b" * 200_000) for row in ROWS)]
FORMATS = {
    "TREC": TREC,
    "TREC, gzipped": gzip.compress(TREC.encode()),
    "TREC without a tag": TREC.replace(" me\n", "\n"),
    "TREC, tags with spaces": TREC.replace(" me\n", " my run v2\n"),
    "MS MARCO": "q1\tACME_2020_10K#p49\t1\nq1\tBOLT 2021#p2\t2\nq2\tC-1#p1\t1\n",
    "MS MARCO with scores": "q1\tACME_2020_10K#p49\t1\t9\nq1\tBOLT 2021#p2\t2\t8\nq2\tC-1#p1\t1\t9\n",
    "JSON lines, docnos": "\n".join(json.dumps({"qid": one, "pages": [*of]}) for one, of in DOCNOS.items()),
    "JSON lines, printed": "\ufeff\n" + "\n".join(json.dumps(one, indent=2) for one in FLAT),
    "JSON array": listed(lambda _, doc, page, __: {"document": doc, "page_index": page}, question="financebench_id"),
    "JSON array of rows": FLAT,
    "rows with distances": [FAR[1], FAR[0], FAR[2]],
    "wrapped": {"data": listed(lambda _, doc, page, __: {"doc_id": doc, "page": page}, passages="retrieved_context")},
    "ranx, named": {"bm25": DOCNOS},
    "by question": PAIRS,
    "by question, nested": {one: {"answer": "", "nodes": of} for one, of in PAIRS.items()},
    "pages in names": {"q1": ["ACME_2020_10K_page_49", "x/BOLT 2021.pdf#page=2"], "q2": ["C-1-p1"]},
    "in a component": [{"qid": one, "retriever": {"documents": of}} for one, of in PAIRS.items()],
    "LangChain": listed(langchain, passages="source_documents"),
    "LlamaIndex": listed(llamaindex, passages="source_nodes"),
    "Haystack": listed(haystack, passages="documents"),
    "Chroma": CHROMA,
    "CSV, long texts": table(LONG_TEXTS, ","),
    "CSV, semicolons": "\ufeff" + table(CELLS_OF_ROWS, ";"),
    "questions by text": [{"query": text, "hits": of} for text, of in zip(BY_TEXT, PAIRS.values(), strict=True)],
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_run(tmp_path, form):
    found = read(tmp_path, FORMATS[form])
    assert places(found.run) == FOUND
    assert found.answered == ("q1", "q2")


def test_a_workbook_is_read_as_a_table(tmp_path):
    path, book = tmp_path / "my.xlsx", Workbook()
    for row in CELLS_OF_ROWS:
        book.active.append(row)
    book.save(path)
    assert places(read_run(path, QUESTIONS, FILINGS).run) == FOUND
    path.write_bytes(b"PK")
    with pytest.raises(StudyError, match="my.xlsx .*workbook"):
        read_run(path, QUESTIONS, FILINGS)


def test_a_frame_is_read_as_a_file(tmp_path):
    frame = read(tmp_path, TREC).run.rename(columns={"doc_name": "doc"})[["question_id", "doc", "page", "score"]]
    for one in (frame, frame.drop(columns="score"), frame[::-1]):
        assert sorted(places(read_run(one, QUESTIONS, FILINGS).run)) == FOUND


ROW = "q1 Q0 ACME_2020_10K#p0049 1 2.5 me\n"
LISTED = '{"question_id": "q1", "pages": ["ACME_2020_10K#p1"%s]}\n'
BOLT = "q1 Q0 BOLT 2021#p1 2 {} me\n"
PAST = ROW.replace("49", "0") + BOLT.format(1).replace("#p1", "#p3")  # of three pages from 0
RISES = ROW + BOLT.format(3.5)


def beside(doc: str, page: object) -> str:
    """A list of two passages, of which the second is of this document and page."""
    return LISTED % f", {json.dumps({'doc': doc, 'page': page})}"


#: What is odd: a file, words of the note that counts it, and how many rows the run has.
ODDITIES = {
    "no row of two questions": (ROW, "does not have: 2, such as 'q2'", 1),
    "few passages": (TREC, "fewer than 5 passages: 2;", 3),
    "a path": (TREC, "other case: 1, such as 'BOLT 2021.pdf'", 3),
    "a first page that nothing proves": (TREC, "from 0, 1 of 2 questions have .*; counted from 1, 0", 3),
    "a page 0, and one past the end": (PAST, "page 0, though 1 would .* some may count", 2),
    "a score too large": (ROW + BOLT.format("-1e999"), "infinite score: 1;", 2),
    "page true": (beside("BOLT 2021", True), "no page .*: 1, such as 'BOLT 2021, page True'", 2),
    "page 1.5": (beside("BOLT 2021", 1.5), "no page .*: 1, such as 'BOLT 2021, page 1.5'", 2),
    "past the end": (PAST, "behind the last one of its filing: 1,", 2),
    "another question": (ROW + "Q Q0 x#p1 1 1 me\n", "not in the set: 1, such as 'Q'; their 1 passage", 1),
    "another document": (ROW + "q1 Q0 <b>#p01 2 1 me\n", "a document .*: 1, such as '<b>, page 01'", 2),
    "another filing of FinanceBench": (beside("OTHER_2020_10K", 4), "FinanceBench has .*: 1, of 1 filings", 2),
    "equal scores": (ROW + BOLT.format(2.5), "score of the row above: 1; ties follow the rank", 2),
    "equal scores and ranks": (ROW + BOLT.format(2.5).replace(" 2 ", " 1 "), "above: 1; ties keep the file's", 2),
    "rising scores of one question": (RISES + "q2 Q0 C-1#p1 1 2 me\nq2 Q0 C-1#p2 2 1 me\n", "higher score: 1;", 4),
    "rising scores": (RISES, "ordered by rank", 2),
    "a page twice": (ROW + ROW.replace("p0049 1", "p49#c2 2"), "repeat a page ranked higher: 1;", 2),
    "two pages": (beside("BOLT 2021", "0-1"), "two pages or three: 1;", 3),
}


@pytest.mark.parametrize("what", ODDITIES)
def test_each_oddity_is_counted_in_a_note(tmp_path, what):
    text, words, n_rows = ODDITIES[what]
    found = read(tmp_path, text, archive=Archive(others=frozenset({"OTHER_2020_10K"})))
    assert sum(bool(re.search(words, one)) for one in found.notes) == 1, found.notes
    assert len(found.run) == n_rows
    assert not re.search(r"\bnan\b", " ".join(found.notes))


def test_a_list_stays_in_its_order_and_its_scores_are_then_ranks(tmp_path):
    items = [{"doc": "C-1", "page": page, "score": score} for page, score in ((3, 0.1), (4, 0.9))]
    found = read_list(tmp_path, *items)
    assert found.run[["page", "score"]].values.tolist() == [[3, -1], [4, -2]]
    ranked = [one | {"rank": rank} for one, rank in zip(items, (2, 1), strict=True)]
    assert read_list(tmp_path, *ranked).run["page"].tolist() == [4, 3]


def test_an_infinite_score_is_above_or_below_all_others_and_loses_no_row(tmp_path):
    scores = {1: "-inf", 2: "0.5", 3: "inf", 4: "1e308", 5: "Infinity", 6: "-3"}
    text = "".join(f"q1 Q0 C-1#p{page} 9 {score} x\n" for page, score in scores.items())
    frame = pd.DataFrame({"question_id": "q1", "doc": "C-1", "page": [*scores], "score": map(float, scores.values())})
    for found in (read(tmp_path, text), read_run(frame, QUESTIONS, FILINGS)):
        assert found.run["page"].tolist() == [3, 5, 4, 2, 6, 1]
        assert found.run["score"].tolist() == [-1, -2, -3, -4, -5, -6]  # an order that float32 keeps


@pytest.mark.parametrize("row", ["q1 Q0 C-1#p{} {} 1.0 x\n", "q1 C-1#p{} {}\n"])
def test_ranks_order_equal_scores_and_rows_without_one(tmp_path, row):
    text = "".join(row.format(page, rank) for page, rank in ((4, 1), (2, 3), (3, 2)))
    assert read(tmp_path, text).run["page"].tolist() == [4, 3, 2]


def test_a_passage_over_two_pages_counts_for_both_at_its_rank(tmp_path):
    pages = "3\u20134", [6, 7], "pp. 8-9", "p. 5"  # the third goes past the end
    found = read_list(tmp_path, *({"doc": "C-1", "page": page} for page in pages)).run
    assert found[["rank", "page"]].values.tolist() == [[1, 3], [1, 4], [2, 6], [2, 7], [3, 8], [4, 5]]
    assert found["chunk_id"].is_unique


# which page is the first


TEXTS = {
    (doc, page): f"{doc} page {page} " + " ".join(f"word{page}x{i} of {doc}" for i in range(40))
    for doc, n_pages in zip(FILINGS["doc_name"], FILINGS["n_pages"], strict=True)
    for page in range(n_pages)
}
ARCHIVE = Archive(texts=lambda: TEXTS, labels=lambda doc: ["i", "ii", *map(str, range(1, 8))] if doc == "C-1" else [])


def with_texts(first: int) -> list[dict]:
    """Six passages with their texts, of the pages from the third on; ``first`` is the number of the first page."""
    return [{"doc": "C-1", "page": page + first, "text": TEXTS["C-1", page][9:]} for page in range(2, 8)]


@pytest.mark.parametrize("first", [0, 1])
def test_texts_prove_which_page_is_the_first(tmp_path, first):
    found = read_list(tmp_path, *with_texts(first), archive=ARCHIVE)
    assert found.run["page"].tolist() == [2, 3, 4, 5, 6, 7]
    assert f"pages from {first}, as the texts" in found.notes[0]
    with pytest.raises(StudyError, match=f"from {first}, not from {1 - first}; give --pages-from"):
        read_list(tmp_path, *with_texts(first), archive=ARCHIVE, pages_from=1 - first)


def test_pages_behind_the_named_ones_are_an_error(tmp_path):
    with pytest.raises(StudyError, match="100% of 6 passages stand on the page behind"):
        read_list(tmp_path, *with_texts(-1), archive=ARCHIVE)


def asked(n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A run that finds the gold page of each question if pages count from 1, and the set of so many questions."""
    questions = pd.DataFrame({"question_id": [f"m{page}" for page in range(n)], "doc_name": "C-1"})
    questions = questions.assign(gold_pages=[[page] for page in range(n)])
    run = pd.DataFrame({"question_id": questions["question_id"], "doc": "C-1", "page": range(1, n + 1)})
    return run, questions


def test_a_first_page_in_doubt_is_asked_about_and_a_setting_against_the_numbers_refused(tmp_path):
    assert read_run(*asked(3), FILINGS).run["page"].tolist() == [1, 2, 3]  # 1 / 2**3 is no sign of another first page
    run, many = asked(4)
    with pytest.raises(StudyError, match="0 of 4 questions .*; counted from 1, 4; give --pages-from 0 or 1"):
        read_run(run, many, FILINGS)
    assert read_run(run, many, FILINGS, pages_from=1).run["page"].tolist() == [0, 1, 2, 3]
    with pytest.raises(StudyError, match="leave out --pages-from 0"):
        read_run(run, many, FILINGS, pages_from=0)
    with pytest.raises(StudyError, match="pages_from is 2"):
        read_run(run, many, FILINGS, pages_from=2)
    last = read(tmp_path, "q1 Q0 C-1#p9 1 1 t\nq1 Q0 C-1#p1 2 1 t\n")  # of pages 0 to 8
    assert last.run["page"].tolist() == [8, 0]
    assert "pages from 1, as no page is 0, and 1 would" in last.notes[0]


def labelled(doc: str, *labels: object, text: str | None = None) -> list[dict]:
    return [{"file_name": doc, "page_label": label, "text": text} for label in labels]


def test_labels_are_those_of_the_pdf(tmp_path):
    found = read_list(tmp_path, *labelled("C-1", "ii", "1", "7"), archive=ARCHIVE)
    assert found.run["page"].tolist() == [1, 2, 8]
    numbers = read_list(tmp_path, *labelled("BOLT 2021", "1", "3"), archive=ARCHIVE)  # whose PDF has no labels
    assert numbers.run["page"].tolist() == [0, 2]


@pytest.mark.parametrize("labels", [["iv", "3"], ["F-3"], ["1-40"]])
def test_labels_that_no_pdf_has_are_refused_unless_the_text_says_where(tmp_path, labels):
    with pytest.raises(StudyError, match=f"labels, such as '{labels[0]}' of 'BOLT 2021'"):
        read_list(tmp_path, *labelled("BOLT 2021", *labels), archive=ARCHIVE)
    with_text = labelled("BOLT 2021", *labels, text=TEXTS["BOLT 2021", 1])
    assert {*read_list(tmp_path, *with_text, archive=ARCHIVE).run["page"]} == {1}


def test_passages_that_are_texts_are_found_on_their_pages(tmp_path):
    over = TEXTS["C-1", 3][-120:] + " " + TEXTS["C-1", 4][:160]
    texts = [TEXTS["ACME_2020_10K", 49], over, "Nothing of this stands anywhere at all, in no filing", TEXTS["C-1", 0]]
    found = read_list(tmp_path, *texts, archive=ARCHIVE)
    rows = found.run[["rank", "doc_name", "page"]].values.tolist()
    assert rows == [[1, "ACME_2020_10K", 49], [2, "C-1", 3], [2, "C-1", 4], [3, "", NO_PAGE], [4, "C-1", 0]]
    assert sum("3 of 4 (75%)" in note for note in found.notes) == 1
    with pytest.raises(StudyError, match="RETRIEVAL_GAP_DATA"):  # the filings are not here
        read_list(tmp_path, *texts)
    with pytest.raises(StudyError, match="0 of 1 .0%."):
        read_list(tmp_path, texts[2], archive=ARCHIVE)


def test_a_text_that_several_pages_hold_stands_on_none(tmp_path):
    twice = TEXTS | {("C-1", 7): TEXTS["ACME_2020_10K", 49]}
    texts = [TEXTS["ACME_2020_10K", 49], TEXTS["C-1", 1], TEXTS["C-1", 2]]
    found = read_list(tmp_path, *texts, archive=Archive(texts=lambda: twice))
    assert found.run["page"].tolist() == [NO_PAGE, 1, 2]
    assert sum("1 stand on several pages" in note for note in found.notes) == 1


def test_texts_come_by_chunk_where_every_passage_has_one(tmp_path):
    items = [{"doc": "ACME_2020_10K", "page": 3, "text": text} for text in ("Sales rose", "", "Sales rose")]
    found = read_list(tmp_path, *items)
    assert [found.texts[one] for one in found.run["chunk_id"]] == ["Sales rose", "", "Sales rose"]
    assert found.run["chunk_id"].nunique() == 2
    del items[1]["text"]
    assert read_list(tmp_path, *items).texts == {}


# what is refused


#: A line that is not a row of a run, behind a sound one, and what is wrong with it.
BROKEN = {
    BOLT.format("nan"): "NaN",
    BOLT.format("best"): "score 'best'",
    BOLT.format("0,97"): "'0,97' .*; write 0.97",
    "q1 Q0 x": "3 fields",
    "q1 Q0 C-1#p1 first 1 me": "rank 'first'",
    "q1 Q0 C-1#p1 2 1 other": "'me' and 'other'",
    '{"question_id": "q2", "passages": [{"doc": "C-1", "page": 1, "score": NaN}]}': "NaN",
    "{": "JSON",
    '{"question_id": "q2"}': "a passage, where others are questions",
    '{"id": "q2", "pages": 3}': "keys id, pages; .*'question_id'",
    '{"question_id": "q2", "pages": [{"page": 1}]}': "keys page; .*'document'",
    '{"question_id": "q2", "pages": [3]}': "passage '3'",
    '{"question_id": "q2", "pages": [], "pages": []}': "'pages' stands twice",
    LISTED % "": "'q1' stands in line 1",
    "[]": "no object",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_line_that_is_not_a_row_is_one_error_with_its_place(tmp_path, line):
    first = LISTED % "" if line[0] in "{[" else ROW
    with pytest.raises(StudyError, match=rf"my\.trec line 3: .*{BROKEN[line]}") as error:
        read(tmp_path, f"{first}\n{line}")
    assert "\n" not in str(error.value)


FRAME = pd.DataFrame({"question_id": ["q1"] * 3, "doc": "C-1", "page": 1, "score": [1.0, None, np.nan]})
#: What is no run of the set, and what the error names.
REFUSED = {
    "not UTF-8": (b"\xc3\x28 Q0 x", "UTF-8"),
    "UTF-16": (TREC.encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": (TREC.encode("utf-16-le"), "null characters"),
    "a PDF": (b"%PDF-1.7 \xff\xfe\x00", "a PDF"),
    "an empty file": (b"", "no row"),
    "half of a gzip file": (gzip.compress(TREC.encode(), mtime=0)[:40], "cannot be read"),
    "no file": (Path("none.trec"), "none.trec cannot be read"),
    "no passage": ({"question_id": "q1", "pages": []}, "no passage"),
    "other questions": ("a Q0 ACME_2020_10K#p1 1 1 x", "first is 'a', the set's 'q1'"),
    "other documents": ("q1 Q0 acme#p1 1 1 x", "first is 'acme#p1', .* 'ACME_2020_10K'"),
    "no page": ("q1 Q0 C-1 1 1 x", "page .none"),
    "a page that is a word": ({"qid": "q1", "docs": [{"doc": "C-1", "page": "folio"}]}, "page is 'folio'"),
    "ranks twice": (2 * "q1 Q0 C-1#p1 1 1 t\nq1 Q0 C-1#p2 2 1 t\n", "each rank of question 'q1'"),
    "two runs": ({"a": DOCNOS, "b": DOCNOS}, "runs a, b"),
    "two systems": ("qid,doc,page,system\nq1,C-1,1,a\nq1,C-1,2,b", "row 3: the system .*'a' and 'b'"),
    "two components": ({"q1": {"a": {"docs": []}, "b": {"docs": []}}}, "question 'q1': .* a, b"),
    "a printed object": ({"qid": "q1", "docs": ["Document(id=7, content)"]}, "line 1: .* printed"),
    "a cell too many": ("question_id,doc,page\nq1,C-1,1,2\n", "row 2: 4 cells"),
    "a question by id and by text": ([{"qid": "q2", "docs": ["C-1#p1"]}, {"qid": "Why?", "docs": []}], "'q2' twice"),
    "no question in a frame": (FRAME.assign(question_id=None), "row 1: no question"),
    "no document in a frame": (FRAME[["question_id", "page"]], "row 1: .* keys question_id, page"),
    "no score in a frame": (FRAME, "passage 2 has no score"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_run_of_the_set_is_refused_in_one_sentence(tmp_path, what):
    given, words = REFUSED[what]
    with pytest.raises(StudyError, match=words) as refused:
        read_run(given, QUESTIONS, FILINGS) if isinstance(given, Path | pd.DataFrame) else read(tmp_path, given)
    assert "\n" not in str(refused.value)


# anything at all


NAMES = st.sampled_from(["ACME_2020_10K", "BOLT 2021", "C-1", "none", "a/BOLT 2021.pdf"])
RANDOM = st.tuples(st.sampled_from(["q1", "q2", "7", "Q"]), NAMES, st.integers(0, 70), st.floats(-9, 9))


@given(st.lists(RANDOM, max_size=30))
def test_every_row_of_a_known_question_keeps_its_place(tmp_path_factory, rows):
    rows = [("q1", "C-1", 0, 9.5), *rows]
    path = tmp_path_factory.getbasetemp() / "run.txt"
    path.write_text("".join(f"{q} Q0 {doc}#p{page} 1 {score!r} t\n" for q, doc, page, score in rows))
    run = read_run(path, QUESTIONS, FILINGS).run
    for question_id, part in run.groupby("question_id"):
        own = sorted((row for row in rows if row[0] == question_id), key=lambda row: -row[3])
        bare = [(doc.removeprefix("a/").removesuffix(".pdf"), page) for _, doc, page, _ in own]
        assert [*part[["doc_name", "page"]].itertuples(index=False, name=None)] == bare
        assert part["rank"].tolist() == [*range(1, len(own) + 1)]
    assert len(run) == sum(row[0] != "Q" for row in rows)


KEYS = "doc page score text question_id pages metadata source page_label results rank financebench_id C-1#p1 q1".split()
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["C-1#p1", "C-1", "q1", "1-2", "iv", "Why?", TEXTS["C-1", 1]])
)  # fmt: skip
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)
CELLS = st.lists(st.lists(VALUES, min_size=3, max_size=3), max_size=5)
LINES = st.lists(st.lists(st.sampled_from("q1 Q0 C-1#p1 1 2.5 t q2 BOLT 2021#p2 0,5".split()), max_size=7), max_size=6)
CONTENT = (
    st.binary(max_size=300)
    | st.text(max_size=300).map(str.encode)
    | JSON.map(json.dumps).map(str.encode)
    | JSON.map(lambda value: (LISTED % "" + json.dumps({"question_id": "q2", "passages": [value]})).encode())
    | JSON.map(lambda value: json.dumps({"q1": value, "q2": value}).encode())
    | CELLS.map(lambda rows: table([("question_id", "doc", "page"), *rows], ",").encode("utf-8", "replace"))
    | LINES.map(lambda lines: "\n".join(map(" ".join, lines)).encode())
)


@settings(max_examples=400)
@given(CONTENT)
def test_anything_is_a_run_with_finite_scores_or_one_error(tmp_path_factory, content):
    """``make break`` tries 10,000 files (tests/breaking/test_runs.py)."""
    check(tmp_path_factory.getbasetemp() / "run.jsonl", content)


def check(path: Path, content: bytes) -> None:
    """A file is refused in one sentence, or read as a run in which all of its passages are accounted for."""
    path.write_bytes(content)
    refused = ""
    try:
        found = read_run(path, QUESTIONS, FILINGS, archive=ARCHIVE)
    except StudyError as error:
        refused = str(error)
    if refused:
        assert "\n" not in refused
        return
    n_passages = found.run.groupby("question_id")["rank"].nunique().sum()
    assert re.search(rf": {n_passages:,} passages?, ", found.notes[0])
    assert f" for each of {len(found.answered):,} of the set's" in found.notes[0]
    assert np.isfinite(found.run["score"]).all()
    assert found.run["chunk_id"].notna().all()

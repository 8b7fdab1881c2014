"""Reading runs from outside: the formats, where passages stand, what is odd and how it is said, nothing lost."""

import contextlib
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
QUESTIONS = pd.DataFrame(
    {"question_id": ["q1", "q2", "7"], "question": ["What are sales?", "Why?", "Who audits Bolt?"]}
)
QUESTIONS = QUESTIONS.assign(doc_name=FILINGS["doc_name"], gold_pages=[[49], [2], [1]])


def read(tmp_path: Path, text: str | bytes | list | dict, **options):
    path = tmp_path / "my.trec"
    text = text if isinstance(text, str | bytes) else json.dumps(text)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_run(path, QUESTIONS, FILINGS, **options)


def places(run: pd.DataFrame) -> list[tuple]:
    return [*run[["question_id", "rank", "doc_name", "page"]].itertuples(index=False, name=None)]


FOUND = [("q1", 1, "ACME_2020_10K", 49), ("q1", 2, "BOLT 2021", 2), ("q2", 1, "C-1", 1)]
TREC = "q1 Q0 ACME_2020_10K#p0049 1 2.5 me\nq1 Q0 BOLT 2021.pdf#p0002#c01 2 1.5 me\nq2 Q0 C-1#p1 1 9 me\n"
ROWS = [("q1", "ACME_2020_10K", 49, 2.5), ("q1", "/a/#p/BOLT 2021.PDF", "2", 1.5), ("q2", "c-1.md", 1.0, 9)]
DOCNOS = {"q1": {"ACME_2020_10K#p49": 2.5, "BOLT 2021#p2": 1.5}, "q2": {"C-1#p1": 9}}


def listed(of: dict, **names: str) -> list[dict]:
    """A record a question, with passages that ``of`` makes of a row."""
    names = {"question": "question_id", "passages": "results"} | names
    return [
        {names["question"]: question, names["passages"]: [of(*row) for row in ROWS if row[0] == question]}
        for question in ("q1", "q2")
    ]


def langchain(_, doc, page, __) -> dict:
    return {
        "page_content": "Sales rose",
        "metadata": {"source": doc, "page": page, "page_label": "ix"},
        "type": "Document",
    }


def llamaindex(_, doc, page, score) -> dict:
    node = {"id_": "x", "metadata": {"file_name": doc, "page_label": str(int(float(page)))}, "text": "Sales rose"}
    return {"node": node, "score": score, "class_name": "NodeWithScore"}


def haystack(_, doc, page, score) -> dict:
    return {"id": "x", "content": "Sales", "meta": {"file_path": doc, "page_number": int(float(page))}, "score": score}


def lines_of(records: list[dict], **options: object) -> str:
    return "\n".join(json.dumps(one, **options) for one in records)


def table(rows: list[tuple], delimiter: str) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(rows)
    return written.getvalue()


PAIRS = listed(lambda _, doc, page, score: [{"doc": doc, "page": page}, score])
CHROMA = [
    {"qid": one, "documents": [["a"] * n], "metadatas": [metadata], "distances": [[0.1, 0.2][:n]]}
    for one, n, metadata in (
        ("q1", 2, [{"source": doc, "page": page} for _, doc, page, _ in ROWS[:2]]),
        ("q2", 1, [{"source": "C-1", "page": 1}]),
    )
]
FLAT = [{"query_id": one, "document": doc, "page": page, "similarity": score} for one, doc, page, score in ROWS]
FORMATS = {
    "TREC": TREC,
    "TREC, gzipped": gzip.compress(TREC.encode()),
    "TREC without a tag": TREC.replace(" me\n", "\n"),
    "TREC, tags with spaces": TREC.replace(" me\n", " my run v2\n"),
    "MS MARCO": "q1\tACME_2020_10K#p49\t1\nq1\tBOLT 2021#p2\t2\nq2\tC-1#p1\t1\n",
    "MS MARCO with scores": "q1\tACME_2020_10K#p49\t1\t9\nq1\tBOLT 2021#p2\t2\t8\nq2\tC-1#p1\t1\t9\n",
    "JSON lines": lines_of(listed(lambda _, doc, page, score: {"doc": doc, "page": page, "score": score})),
    "JSON lines, docnos": lines_of([{"question_id": one, "pages": [*of]} for one, of in DOCNOS.items()]),
    "JSON lines, printed": "\ufeff\n" + lines_of(listed(lambda _, doc, page, __: {"url": doc, "page": page}), indent=2),
    "JSON array": listed(lambda _, doc, page, __: {"document": doc, "page_index": page}, question="financebench_id"),
    "JSON rows": lines_of(FLAT),
    "JSON array of rows": FLAT,
    "wrapped": {"data": listed(lambda _, doc, page, __: {"doc_id": doc, "page": page}, passages="retrieved_context")},
    "ranx": DOCNOS,
    "ranx, named": {"bm25": DOCNOS},
    "by question": {one["question_id"]: one["results"] for one in PAIRS},
    "by question, nested": {one["question_id"]: {"answer": "", "nodes": one["results"]} for one in PAIRS},
    "pairs": PAIRS,
    "pages in names": {"q1": ["ACME_2020_10K_page_49", "x/BOLT 2021.pdf#page=2"], "q2": ["C-1-p1"]},
    "Haystack, a component": {one["question_id"]: {"retriever": {"documents": one["results"]}} for one in PAIRS},
    "CSV, long texts": table([("qid", "doc", "page", "text"), *((*r[:3], "a\0" + "b" * 200_000) for r in ROWS)], ","),
    "in a component": [{"qid": one["question_id"], "retriever": {"documents": one["results"]}} for one in PAIRS],
    "LangChain": listed(langchain, passages="source_documents"),
    "LangChain, dumped": listed(lambda *row: {"lc": 1, "id": ["x"], "kwargs": langchain(*row)}, passages="context"),
    "LlamaIndex": listed(llamaindex, passages="source_nodes"),
    "Haystack": listed(haystack, passages="documents"),
    "Chroma": CHROMA,
    "CSV": table([("question_id", "doc", "page", "score"), *ROWS], ","),
    "CSV, semicolons": "\ufeff" + table([("Query ID", "File Name", "Page", "Rank"), *((*r[:3], 1) for r in ROWS)], ";"),
    "questions by text": [{"question": f" {QUESTIONS['question'][i].upper()}"} | one for i, one in enumerate(
        {"results": one["results"]} for one in PAIRS)],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_run(tmp_path, form):
    found = read(tmp_path, FORMATS[form])
    assert places(found.run) == FOUND
    assert found.answered == ("q1", "q2")
    assert found.notes[0].startswith("Read my.trec (")


def test_a_workbook_is_read_as_a_table(tmp_path):
    book = Workbook()
    for row in [("Question ID", "File Name", "Page", "Score"), *ROWS]:
        book.active.append(row)
    book.save(tmp_path / "my.xlsx")
    assert places(read_run(tmp_path / "my.xlsx", QUESTIONS, FILINGS).run) == FOUND
    (tmp_path / "my.xlsx").write_bytes(b"PK")
    with pytest.raises(StudyError, match="my.xlsx is no .xlsx workbook that can be read"):
        read_run(tmp_path / "my.xlsx", QUESTIONS, FILINGS)


def test_a_frame_is_read_as_a_file(tmp_path):
    frame = read(tmp_path, TREC).run.rename(columns={"doc_name": "doc"})[["question_id", "doc", "page", "score"]]
    for one in (frame, frame.drop(columns="score"), frame[::-1]):
        assert sorted(places(read_run(one, QUESTIONS, FILINGS).run)) == FOUND


def test_how_a_file_was_read_is_said_with_counts_and_examples(tmp_path):
    assert read(tmp_path, TREC).notes == [
        "Read my.trec (TREC): 3 passages, 1 to 2 for each of 2 of the set's 3 questions; pages from 0, which nothing "
        "proves: counted from 0, 1 of 2 questions have a page with evidence in the first 5 passages; counted from 1, "
        "0.",
        "Questions that the run does not have: 1, such as '7'.",
        "Documents named by a path, an ending or other case: 1, such as 'BOLT 2021.pdf', taken as 'BOLT 2021'.",
        "Questions with fewer than 5 passages: 2; recall at 5 is taken over the passages there are.",
    ]


ROW = "q1 Q0 ACME_2020_10K#p0049 1 2.5 me\n"
LISTED = '{"question_id": "q1", "pages": ["ACME_2020_10K#p1"%s]}\n'
BOLT = "q1 Q0 BOLT 2021#p1 2 {} me\n"
AGAIN = "Rows that repeat a page ranked higher: 1; only the first counts."
EQUAL = "Rows with the score of the row above: 1; "
RISES = "Questions with a row above one of a higher score: 1; "
INFINITE = "Rows with an infinite score: 1; inf is above all other scores, -inf below."
SCORED = ', {"doc": "BOLT 2021", "page": 1, "score": 9}'


@pytest.mark.parametrize(
    ("text", "note", "n_rows"),
    [
        (ROW + BOLT.format("inf"), INFINITE, 2),
        (ROW + BOLT.format("-1e999"), INFINITE, 2),
        (LISTED % ', {"doc": "BOLT 2021", "page": true}', "0 or higher: 1, such as 'BOLT 2021, page True'; they", 2),
        (LISTED % ', {"doc": "BOLT 2021", "page": null}', "0 or higher: 1, such as 'BOLT 2021'; they", 2),
        (ROW + "Q Q0 x#p1 1 1 me\n", "Questions not in the set: 1, such as 'Q'; their 1 passage left out.", 1),
        (ROW, "Questions that the run does not have: 2, such as 'q2'.", 1),
        (
            ROW + "q1 Q0 <b>#p01 2 1 me\n",
            "Rows that name a document that the set does not have: 1, such as '<b>, pa",
            2,
        ),
        (ROW + "q1 Q0 BOLT 2021#p4 2 1 me\n", "Rows that name a page behind the last one of its filing: 1, such as", 2),
        (ROW + "q1 Q0 BOLT 2021 2 1 me\n", "Rows that name no page by its number, 0 or higher: 1, such as 'BOLT 2", 2),
        (LISTED % ', {"doc": "BOLT 2021", "page": 1.5}', "0 or higher: 1, such as 'BOLT 2021, page 1.5'; they", 2),
        (ROW + BOLT.format(2.5), EQUAL + "ties follow the rank, trec_eval would sort by docno.", 2),
        (ROW + "q1 Q0 BOLT 2021#p1 1 2.5 me\n", EQUAL + "ties keep the file's order", 2),
        (
            ROW + BOLT.format(3.5) + "q2 Q0 C-1#p1 1 2 me\nq2 Q0 C-1#p2 2 1 me\n",
            RISES + "rows are ordered by falling",
            4,
        ),
        (ROW + BOLT.format(3.5), "Scores rise with the rank, as distances do; rows are ordered by rank.", 2),
        (ROW + "q1 Q0 ACME_2020_10K#p49#c2 2 1 me\n", AGAIN, 2),
        (
            LISTED % ', {"doc": "OTHER_2020_10K", "page": 4}',
            "Rows of filings that FinanceBench has and this set does",
            2,
        ),
        (
            LISTED % ', {"doc": "BOLT 2021", "page": "0-1"}',
            "Passages over two pages or three: 1; each counts for all",
            3,
        ),
    ],
)
def test_each_oddity_is_counted_in_a_note(tmp_path, text, note, n_rows):
    found = read(tmp_path, text, archive=Archive(others=frozenset({"OTHER_2020_10K"})))
    assert sum(note in one for one in found.notes) == 1
    assert len(found.run) == n_rows
    assert not re.search(r"\bnan\b", " ".join(found.notes))


def test_a_list_stays_in_its_order_and_its_scores_are_then_ranks(tmp_path):
    items = [{"doc": "ACME_2020_10K", "page": page, "score": score} for page, score in ((3, 0.1), (4, 0.9))]
    found = read(tmp_path, {"question_id": "q1", "passages": items})
    assert found.run[["page", "score"]].values.tolist() == [[3, -1], [4, -2]]
    assert RISES + "the order stays." in found.notes
    ranked = [{"doc": "C-1", "page": page, "rank": rank} for page, rank in ((3, 2), (4, 1))]
    assert read(tmp_path, {"question_id": "q1", "passages": ranked}).run["page"].tolist() == [4, 3]


def test_an_infinite_score_is_above_or_below_all_others_and_loses_no_row(tmp_path):
    scores = {1: "-inf", 2: "0.5", 3: "inf", 4: "1e308", 5: "Infinity", 6: "-3"}
    text = "".join(f"q1 Q0 C-1#p{page} 9 {score} x\n" for page, score in scores.items())
    frame = pd.DataFrame({"question_id": "q1", "doc": "C-1", "page": [*scores], "score": map(float, scores.values())})
    for found in (read(tmp_path, text), read_run(frame, QUESTIONS, FILINGS)):
        assert found.run["page"].tolist() == [3, 5, 4, 2, 6, 1]
        assert found.run["score"].tolist() == [-1, -2, -3, -4, -5, -6]  # an order that float32 keeps


def test_ranks_order_equal_scores_and_rows_without_one(tmp_path):
    order = [(4, 1), (2, 3), (3, 2)]
    for score in ("1.0 x", ""):
        middle = "Q0 " if score else ""
        text = "".join(f"q1 {middle}C-1#p{page} {rank} {score}\n" for page, rank in order)
        assert read(tmp_path, text).run["page"].tolist() == [4, 3, 2]


def test_a_passage_over_two_pages_counts_for_both_at_its_rank(tmp_path):
    items = [{"doc": "C-1", "page": page} for page in ("3\u20134", [6, 7], "pp. 8-9", "p. 5")]
    found = read(tmp_path, {"question_id": "q1", "passages": items}).run
    assert found[["rank", "page"]].values.tolist() == [[1, 3], [1, 4], [2, 6], [2, 7], [3, 8], [4, 5]]
    assert found["chunk_id"].is_unique


# which page is the first


TEXTS = {
    (doc, page): f"{doc} page {page} " + " ".join(f"word{page}x{i} of {doc}" for i in range(40))
    for doc, n_pages in zip(FILINGS["doc_name"], FILINGS["n_pages"], strict=True)
    for page in range(n_pages)
}
ARCHIVE = Archive(texts=lambda: TEXTS, labels=lambda doc: ["i", "ii", *map(str, range(1, 8))] if doc == "C-1" else [])


def with_texts(first: int, start: int = 2) -> list[dict]:
    rows = [{"doc": "C-1", "page": page + first, "text": TEXTS["C-1", page][9:]} for page in range(start, 8)]
    return [{"question_id": "7", "results": rows}]


@pytest.mark.parametrize("first", [0, 1])
def test_texts_prove_which_page_is_the_first(tmp_path, first):
    found = read(tmp_path, with_texts(first), archive=ARCHIVE)
    assert found.run["page"].tolist() == [2, 3, 4, 5, 6, 7]
    assert f"pages from {first}, as the texts of 100% of 6 passages prove." in found.notes[0]
    with pytest.raises(
        StudyError, match=f"stand where pages count from {first}, not from {1 - first}; give --pages-from"
    ):
        read(tmp_path, with_texts(first), archive=ARCHIVE, pages_from=1 - first)


def test_pages_behind_the_named_ones_are_an_error(tmp_path):
    with pytest.raises(
        StudyError, match="the texts of 100% of 6 passages stand on the page behind the one that is named"
    ):
        read(tmp_path, with_texts(-1), archive=ARCHIVE)


GOLD_FROM_1 = [
    {"question_id": name, "results": [{"doc": doc, "page": page + 1}, {"doc": "C-1", "page": 4}]}
    for name, doc, [page] in zip(QUESTIONS["question_id"], QUESTIONS["doc_name"], QUESTIONS["gold_pages"], strict=True)
]


def test_a_first_page_in_doubt_is_asked_about_and_a_setting_against_the_numbers_refused(tmp_path):
    many = pd.concat([QUESTIONS.assign(question_id=QUESTIONS["question_id"] + str(i)) for i in range(4)])
    rows = [
        one | {"question_id": f"{one['question_id']}{i}"} for i in range(4) for one in GOLD_FROM_1[:1] + GOLD_FROM_1[2:]
    ]
    path = tmp_path / "one.jsonl"
    path.write_text(lines_of(rows))
    asked = "one.jsonl: counted from 0, 0 of 8 questions have .*; counted from 1, 8; give --pages-from 0 or 1"
    with pytest.raises(StudyError, match=asked):
        read_run(path, many, FILINGS)
    assert read_run(path, many, FILINGS, pages_from=1).run["page"].tolist()[::2] == [49, 1] * 4
    with pytest.raises(StudyError, match="counted from 1, 8; leave out --pages-from 0, or correct the pages"):
        read_run(path, many, FILINGS, pages_from=0)
    path.write_text(
        lines_of([one | {"question_id": f"{one['question_id']}{i}"} for i in range(4) for one in GOLD_FROM_1])
    )
    found = read_run(path, many, FILINGS)  # page 3 of three is none, counted from 0
    assert "pages from 1, as no page is 0, and 4 would lie one past a filing's end, counted from 0" in found.notes[0]
    assert read(tmp_path, TREC.replace("#p1 ", "#p0 ")).notes[0].endswith("pages from 0, as there is a page 0.")
    with pytest.raises(StudyError, match="pages_from is 2; give 0 or 1"):
        read(tmp_path, TREC, pages_from=2)


def labelled(doc: str, *labels: object, text: str | None = None) -> list[dict]:
    return [
        {"question_id": "7", "results": [{"file_name": doc, "page_label": label, "text": text} for label in labels]}
    ]


def test_labels_are_those_of_the_pdf(tmp_path):
    found = read(tmp_path, labelled("C-1", "ii", "1", "7"), archive=ARCHIVE)
    assert found.run["page"].tolist() == [1, 2, 8]
    assert "Rows whose page is a label of its PDF: 3." in found.notes
    numbers = read(tmp_path, labelled("BOLT 2021", "1", "3"), archive=ARCHIVE)
    assert numbers.run["page"].tolist() == [0, 2]
    assert "Rows whose label is a number, and whose PDF has no labels: 2." in numbers.notes


@pytest.mark.parametrize(
    ("labels", "message"),
    [(["iv", "3"], "'iv' of 'BOLT 2021', and the PDF has"), (["F-3"], "'F-3'"), (["1-40"], "'1-40'")],
)
def test_labels_that_no_pdf_has_are_refused_unless_the_text_says_where(tmp_path, labels, message):
    given = labelled("BOLT 2021", *labels)
    with pytest.raises(StudyError, match=f"names pages by labels, such as {message}.*; give positions in the PDF"):
        read(tmp_path, given, archive=ARCHIVE)
    for one in given[0]["results"]:
        one["text"] = TEXTS["BOLT 2021", 1]
    assert {*read(tmp_path, given, archive=ARCHIVE).run["page"]} == {1}


def test_passages_that_are_texts_are_found_on_their_pages(tmp_path):
    over = TEXTS["C-1", 3][-120:] + " " + TEXTS["C-1", 4][:160]
    texts = [TEXTS["ACME_2020_10K", 49], over, "Nothing of this stands anywhere at all, in no filing", TEXTS["C-1", 0]]
    found = read(tmp_path, [{"user_input": "What are sales?", "retrieved_contexts": texts}], archive=ARCHIVE)
    places = found.run[["rank", "doc_name", "page"]].values.tolist()
    assert places == [[1, "ACME_2020_10K", 49], [2, "C-1", 3], [2, "C-1", 4], [3, "", NO_PAGE], [4, "C-1", 0]]
    said = "Passages without a page, found by their texts: 3 of 4 (75%); the others keep their ranks."
    assert said in found.notes
    with pytest.raises(
        StudyError, match="texts are looked for in the filings, which are not here: set RETRIEVAL_GAP_DATA"
    ):
        read(tmp_path, [{"user_input": "Why?", "retrieved_contexts": texts}])
    with pytest.raises(StudyError, match="of which the filings' pages hold 0 of 1 .0%.; give their pages"):
        read(tmp_path, [{"user_input": "Why?", "contexts": texts[2:3]}], archive=ARCHIVE)


def test_a_text_that_several_pages_hold_stands_on_none(tmp_path):
    twice = TEXTS | {("C-1", 7): TEXTS["ACME_2020_10K", 49]}
    texts = [TEXTS["ACME_2020_10K", 49], TEXTS["C-1", 1], TEXTS["C-1", 2]]
    found = read(tmp_path, [{"qid": "q1", "contexts": texts}], archive=Archive(texts=lambda: twice))
    assert found.run["page"].tolist() == [NO_PAGE, 1, 2]
    assert sum("(1 stand on several pages alike)" in one for one in found.notes) == 1


def test_texts_come_by_chunk_where_every_passage_has_one(tmp_path):
    items = [{"doc": "ACME_2020_10K", "page": 3, "text": text} for text in ("Sales rose", "", "Sales rose")]
    found = read(tmp_path, {"question_id": "q1", "passages": items})
    assert [found.texts[one] for one in found.run["chunk_id"]] == ["Sales rose", "", "Sales rose"]
    assert found.run["chunk_id"].nunique() == 2
    del items[1]["text"]
    assert read(tmp_path, {"question_id": "q1", "passages": items}).texts == {}


# what is refused


NAN = '{"question_id": "q2", "passages": [{"doc": "C-1", "page": 1, "score": NaN}]}'
#: A line that is not a row of a run, behind a sound one, and what is wrong with it.
BROKEN = {
    BOLT.format("nan"): "line 3: the score is NaN, .*; give a number, inf or -inf",
    BOLT.format("best"): "line 3: the score 'best' is no number",
    BOLT.format("0,97"): "line 3: the score '0,97' has a decimal comma; write 0.97",
    "q1 Q0 x": "line 3: 3 fields in place of six",
    "q1 Q0 C-1#p1 first 1 me": "line 3: the rank 'first' is no whole number",
    "q1 Q0 C-1#p1 2 1 other": "line 3: two runs in one file, with the tags 'me' and 'other'; give each a file of",
    NAN: "line 3: the score is NaN",
    "{": "line 3: Expecting property name enclosed in double quotes; correct the JSON",
    '{"question_id": "q2"}': "line 3: a passage, where others are questions with lists, or the reverse; give one kind",
    '{"id": "q2", "pages": 3}': "line 3: no question among the keys id, pages; name its id 'question_id'",
    '{"question_id": "q2", "doc": "C-1", "page": 1}': "line 3: a passage, where others are questions with lists",
    '{"question_id": "q2", "pages": [{"page": 1}]}': "line 3: a passage has the keys page; name its filing 'document'",
    '{"question_id": "q2", "pages": [3]}': "line 3: the passage '3' is no object",
    '{"question_id": "q2", "pages": [], "pages": []}': "line 3: the key 'pages' stands twice in one object",
    LISTED % "": "line 3: question 'q1' stands in line 1, too; if the file has two runs, give each a file of its own",
    "[]": "line 3: '..' is no object",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_line_that_is_not_a_row_is_one_error_with_its_place(tmp_path, line):
    first = LISTED % "" if line[0] in "{[" else ROW
    with pytest.raises(StudyError, match=rf"my\.trec {BROKEN[line]}") as error:
        read(tmp_path, f"{first}\n{line}")
    assert "\n" not in str(error.value)


DOUBLE = "".join(f"q1 Q0 C-1#p{page} {rank} 1 t\n" for page, rank in ((1, 1), (2, 2), (3, 1), (4, 2)))
FRAME = pd.DataFrame({"question_id": [None], "doc": ["C-1"], "page": [1]})
UNSCORED = pd.DataFrame({"question_id": ["q1"] * 3, "doc": "C-1", "page": 1, "score": [1.0, None, np.nan]})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"\xc3\x28 Q0 x", "is not UTF-8 .*; save it as UTF-8"),
        (TREC.encode("utf-16"), "is UTF-16, as PowerShell's > writes; save it as UTF-8"),
        (TREC.encode("utf-16-le"), "has null characters, as a text in UTF-16 without a mark; save it as UTF-8"),
        (b"%PDF-1.7 \xff\xfe\x00", "is a PDF; give what the system retrieved"),
        (b"PK\x03\x04", "is a zip file; unpack it, and name a workbook of Excel .xlsx"),
        (b"PAR1", "is a Parquet file; write it as JSON lines"),
        (b"", "has no row; give TREC lines"),
        (b'{"question_id": "q1", "pages": []}', "has no passage; give what was retrieved"),
        (gzip.compress(TREC.encode(), mtime=0)[:40], "cannot be read"),
        (b"a Q0 ACME_2020_10K#p1 1 1 x", "has no question of the set: its first is 'a', the set's 'q1'"),
        (
            b"q1 Q0 acme#p1 1 1 x",
            "has no document of the set: its first is 'acme#p1', a filing is named 'ACME_2020_10K'",
        ),
        (b"q1 Q0 C-1 1 1 x", "no passage of a filing of the set has a number as its page .none has one.; name each"),
        (DOUBLE.encode(), "has each rank of question 'q1' several times; if the file has two runs"),
        (json.dumps({"a": DOCNOS, "b": DOCNOS}).encode(), "has the runs a, b; give each a file of its own"),
        (
            b"qid,doc,page,system\nq1,C-1,1,a\nq1,C-1,2,b",
            "row 3: the system of this question is 'a' and 'b'; if the file",
        ),
        (b'{"q1": {"a": {"docs": []}, "b": {"docs": []}}}', "question 'q1': lists of passages in a, b; leave the one"),
        (
            b'{"qid": "q1", "docs": ["Document(id=7, content)"]}',
            "line 1: the passage .* is a printed object; write its",
        ),
        (
            b'{"qid": "q1", "docs": [{"doc": "C-1", "page": "folio"}]}',
            "as its page .its first page is 'folio'.; name each",
        ),
        (b"question_id,doc,page\nq1,C-1,1,2\n", "row 2: 4 cells in place of 3; quote cells that have the delimiter"),
        (b"id,doc,page\nq1,C-1,1\n", "row 2: no question among the keys id, doc, page; name its id 'question_id'"),
        (Path("none.trec"), "No such file or directory"),
        (FRAME[["question_id"]], "the frame: row 1: no question among the columns question_id"),
        (
            FRAME.assign(question_id="q1")[["question_id", "page"]],
            "the frame: row 1: a passage has the keys question_id, page",
        ),
        (FRAME, "the frame: row 1: no question"),
        (UNSCORED, "passage 2 has no score, and others have; give one, or leave scores out"),
    ],
)
def test_what_is_no_run_of_the_set_is_refused_in_one_sentence(tmp_path, given, message):
    with pytest.raises(StudyError, match=message) as refused:
        read(tmp_path, given) if isinstance(given, bytes) else read_run(given, QUESTIONS, FILINGS)
    assert "\n" not in str(refused.value)


# anything at all


NAMES = st.sampled_from(["ACME_2020_10K", "BOLT 2021", "C-1", "none", "a/BOLT 2021.pdf"])
RANDOM = st.tuples(st.sampled_from(["q1", "q2", "7", "Q"]), NAMES, st.integers(0, 70), st.floats(-9, 9))


@given(st.lists(RANDOM, min_size=1, max_size=30))
def test_every_row_of_a_known_question_keeps_its_place(tmp_path_factory, rows):
    text = "".join(f"{q} Q0 {doc}#p{page} 1 {score!r} t\n" for q, doc, page, score in rows)
    known = [row for row in rows if row[0] != "Q"]
    path = tmp_path_factory.mktemp("run") / "run.txt"
    path.write_text(text)
    if not known or all(row[1] == "none" for row in known):
        with pytest.raises(StudyError, match="has no (question|document) of the set"):
            read_run(path, QUESTIONS, FILINGS)
        return
    with contextlib.suppress(StudyError):  # the first page is in doubt
        run = read_run(path, QUESTIONS, FILINGS, pages_from=0).run
        for question_id, part in run.groupby("question_id"):
            own = sorted((row for row in known if row[0] == question_id), key=lambda row: -row[3])
            bare = [(doc.removeprefix("a/").removesuffix(".pdf"), page) for _, doc, page, _ in own]
            assert [*part[["doc_name", "page"]].itertuples(index=False, name=None)] == bare
            assert part["rank"].tolist() == [*range(1, len(own) + 1)]
        assert len(run) == len(known)


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
    path = tmp_path_factory.getbasetemp() / "run.jsonl"
    check(path, content)


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
    assert f": {n_passages:,} passages, " in found.notes[0]
    assert f" for each of {len(found.answered):,} of the set's" in found.notes[0]
    assert np.isfinite(found.run["score"]).all()
    assert found.run["chunk_id"].notna().all()

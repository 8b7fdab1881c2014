"""Questions as people write them: spreadsheets, other names of fields, pages from 1, quotations, several filings."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import date
from types import MappingProxyType

import pytest
from openpyxl import Workbook

from lib.data.dataset import read_dataset, read_questions
from lib.data.layout import SEVERAL, UNANSWERABLE
from lib.data.located import FOR_PERSONS, GIVEN
from lib.data.pages import check_gold, extract_pages, hint_of_shift
from lib.data.skeleton import QUESTION_HEADER, new_folder, told
from lib.schema import StudyError
from tests.data.conftest import problems_of

ACME, BOLT = "ACME_2020_10K", "BOLT_2020_10K"
COVER = "FORM 10-K\nFor the fiscal year ended December 31, 2020\n{name}\n(Exact name of registrant as specified)"
PAGES = {
    ACME: (
        COVER.format(name="Acme Corporation"),
        "Risk factors. Our results may vary with demand for anvils, which customers defer",
        "Header of Acme\nin hard times, so that an agree-\nment may end.\nRevenue 4,210 3,980",
        "The eﬃcient oﬃce of the company is in Springﬁeld and has no name",
    ),
    BOLT: (
        COVER.format(name="Bolt Inc."),
        "Cost of sales of bolts 1,804 1,633",
        "The company has no debt of its own and none of others",
    ),
}
HEADER = ("Question ID", "Question", "Answer", "File", "Page No.", "Quote")
ROWS = [
    ("q1", "What was the revenue of Acme?", "$4,210", f"{ACME}.pdf", 2, "Revenue 4,210\n3,980"),
    ("q2", "And the cost of Bolt?", "“1,804”; less", f"pdfs/{BOLT}.PDF", 1, "Cost of sales of bolts 1,804"),
]
TWO = {"q1": (ACME, [2]), "q2": (BOLT, [1])}


@pytest.fixture
def filings(folder):
    """Two filings as text, described; the question file is a test's own."""
    for name, texts in PAGES.items():
        folder.text(name, *texts)
    folder.write()
    (folder.root / "data" / "test_open_source.jsonl").unlink()
    return folder


def written_csv(rows: Sequence[Sequence], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode("utf-8-sig")


def written_xlsx(rows: Sequence[Sequence], formats: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """A workbook whose second sheet is not read, with formats of numbers by place."""
    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append([*row])
    for place, code in formats.items():
        book.active[place].number_format = code
    book.create_sheet("Notes").append(["Not read"])
    book.save(file)
    return file.getvalue()


def loaded(filings, content: bytes | list[tuple], name: str = "my_questions.csv", artifacts=None):
    """The dataset with this question file, bytes or the rows of a CSV, checked against its pages."""
    content = written_csv(content) if isinstance(content, list) else content
    (filings.root / "data" / name).write_bytes(content)
    dataset = read_dataset(filings.root, "mine", artifacts)
    check_gold(dataset, extract_pages(dataset))
    return dataset


def wrong(filings, content: bytes | list[tuple], name: str = "my_questions.csv") -> str:
    """The one problem that there is."""
    [line] = problems_of(loaded, filings, content, name)
    return line


def places(dataset) -> dict[str, tuple[str, list[int]]]:
    columns = dataset.questions[["question_id", "doc_name", "gold_pages"]]
    return {id: (name, pages) for id, name, pages in columns.itertuples(index=False, name=None)}


SPREADSHEETS = {
    "semicolons": written_csv([HEADER, *ROWS], ";"),
    "tabs in UTF-16": written_csv([HEADER, *ROWS], "\t").decode("utf-8-sig").encode("utf-16"),
    "a declared delimiter": b"sep=;\r\n" + written_csv([HEADER, *ROWS], ";").removeprefix(b"\xef\xbb\xbf"),
    "blank rows": written_csv([[], HEADER, [""] * 6, *ROWS, [""] * 9]),
    "further columns": written_csv([(*HEADER, "evidence_text_full_page"), *((*row, "All") for row in ROWS)]),
}


@pytest.mark.parametrize("content", SPREADSHEETS.values(), ids=SPREADSHEETS)
def test_a_csv_of_excel_is_read(filings, content):
    dataset = loaded(filings, content)
    assert places(dataset) == TWO
    assert dataset.questions["answer"].tolist() == ["$4,210", "“1,804”; less"]
    assert dataset.questions["question_type"].tolist() == ["unlabelled"] * 2


def test_a_workbook_is_read_and_its_questions_may_take_several_rows(filings):
    rows = [
        HEADER,
        (7, "Revenue?", 4210, ACME, 2, "Revenue 4,210 3,980"),
        ("", "", "", "", "3", "The eﬃcient oﬃce"),
        (),
        ("shared", "Cost?", 0.125, BOLT, 1.0, "of bolts 1,804"),
    ]
    dataset = loaded(filings, written_xlsx(rows, {"C5": "0.0%"}), "gold questions.xlsx")
    assert places(dataset) == {"7": (ACME, [2, 3]), "shared": (BOLT, [1])}
    assert dataset.questions["answer"].tolist() == ["4210", "12.5%"]
    assert dataset.evidence["line"].tolist() == [2, 3, 5]


ONE = ("q1", "Revenue?", "1", ACME, 2, "Revenue 4,210 3,980")


def workbook_with(page: object) -> bytes:
    """A workbook of one question, whose page this is."""
    return written_xlsx([HEADER, (*ONE[:4], page, ONE[5])])


#: The rows of a CSV, or a workbook, and what names the culprit in it.
BAD_SPREADSHEETS = {
    "no question": ([("id", "text of it", "file"), ("a", "b", "c")], "no column question"),
    "no page": ([("question", "answer", "file"), ("a", "b", "c")], "no column evidence_page_num"),
    "two filings": ([("question", "page", "file", "doc"), ("a", 1, ACME, "x")], "'file' and 'doc'"),
    "one column twice": ([("question", "question", "page"), ("a", "b", 1)], "'question'"),
    "a page that is none": ([("question", "file", "page seen", "quote"), ("a", ACME, 2, "b")], "'page seen'"),
    "a cell too many": ([HEADER, (*ONE, "more")], "row 2 has 7 cells"),
    "another question": ([HEADER, ONE, ("q1", "Else?", "1", ACME, 3, "no name")], "row 3: question"),
    "a row twice": ([HEADER, ONE, ONE], "row 3: repeats"),
    "a row twice without an id": ([HEADER, ("", *ONE[1:]), ("", *ONE[1:])], "row 3: asks what row 2 asks"),
    "a printed page": ([HEADER, (*ONE[:4], "F-12", ONE[5])], "row 2: Page No. is 'F-12'; give a whole number"),
    "a page without a text": ([HEADER, ONE, ("q2", "Which?", "1", ACME, 1, "")], "row 3: page 1 has no text"),
    "a misspelt column": (
        [("question", "anwser", "file", "page", "mood"), ("a", "b", ACME, 1, "")],
        "is answer meant?",
    ),
    "a misspelt other name": (
        [("question", "expected_anwser", "file", "page"), ("a", "b", ACME, 1)],
        "which is answer",
    ),
    "unlike numbers": ([HEADER, (*ONE[:3], f"{ACME}; {BOLT}", "1, 2, 3", "a")], "row 2: has 2 filings, 3 pages"),
    "a date": (workbook_with(date(2023, 3, 15)), "cell E2 is a date"),
    "a formula": (workbook_with("=A1"), "cell E2 has a formula"),
    "an error": (workbook_with("#REF!"), "cell E2 has the error #REF!"),
    "of another program": (b"\xd0\xcf", "workbook"),
}


@pytest.mark.parametrize(("content", "culprit"), BAD_SPREADSHEETS.values(), ids=BAD_SPREADSHEETS)
def test_what_is_wrong_with_a_spreadsheet_is_named(filings, content, culprit):
    name = "my_questions.csv" if isinstance(content, list) else "my_questions.xlsx"
    line = wrong(filings, content, name)
    assert line.startswith(f"data/{name}")
    assert culprit in line


def test_columns_that_are_not_read_are_named_and_are_no_problem(filings, capsys):
    loaded(filings, [(*HEADER, "Difficulty", "doc_link"), *((*row, "easy", "") for row in ROWS)])
    assert "my_questions.csv: columns that are not read: 'Difficulty'\n" in capsys.readouterr().err


def test_a_misspelt_field_of_records_is_named_unless_another_record_has_the_field(filings):
    record = {"question": "Revenue?", "doc_name": ACME, "page": 2}
    assert "'anwser' is not read; is answer meant?" in wrong(
        filings, json.dumps([record | {"anwser": "1"}]).encode(), "my_questions.json"
    )
    (filings.root / "data" / "my_questions.json").unlink()
    both = [record | {"answer": "1", "id": "a"}, record | {"answer": "2", "anwser": "1", "id": "b"}]
    assert len(loaded(filings, json.dumps(both).encode(), "my_questions.json").questions) == 2


def test_all_pages_that_are_given_with_one_text_are_gold_where_it_stands_on_one(filings, tmp_path):
    rows = [HEADER, ("q1", "Revenue?", "1", ACME, "2; 3", "Revenue 4,210 3,980"), ROWS[1]]
    for _ in range(2):  # found, then remembered
        dataset = loaded(filings, rows, artifacts=tmp_path)
        assert places(dataset)["q1"] == (ACME, [2, 3])
        assert dataset.evidence["text"].tolist()[:2] == ["Revenue 4,210 3,980", ""]
    with (tmp_path / "mine" / FOR_PERSONS).open(encoding="utf-8-sig", newline="") as lines:
        shown = [(row["page"], row["share"], row["other_pages"]) for row in csv.DictReader(lines)]
    assert shown == [("2", "1.00", ""), ("3", "", GIVEN)]
    line = wrong(filings, [HEADER, ("q1", "Revenue?", "1", ACME, "1; 3", "Revenue 4,210 3,980"), ROWS[1]])
    assert "stands on none of the pages given (1 and 3), best are page 2" in line


FIGURES = [
    ("q1", "Revenue?", "$4,210", ACME, 2),
    ("q2", "Before?", "3,980", ACME, 2),
    ("q3", "Cost?", "1,804", BOLT, 1),
]


@pytest.mark.parametrize(("shift", "first", "answers"), [(1, 1, 3), (0, 0, 3), (1, 1, 2)])
def test_answers_on_the_page_before_hint_at_pages_from_1(filings, shift, first, answers):
    rows = [(*row[:4], row[4] + shift) for row in FIGURES[:answers]]
    rows += [("q9", "Margin?", "57.1%", ACME, 1 + shift), ("q8", "Year?", "2020", ACME, shift)]  # on no page; a year
    dataset = loaded(filings, [HEADER[:5], *rows])
    hint = hint_of_shift(dataset, extract_pages(dataset))
    if first and answers == 3:
        assert "of 4 answers with a figure, 3 have it on the page before the one given" in hint
        assert "'pages_from: 1'" in hint
    else:  # nothing is wrong, or two are too few
        assert hint == ""
    (filings.root / "data" / "settings.yaml").write_text("pages_from: 1\n")
    if shift:
        assert hint_of_shift(loaded(filings, [HEADER[:5], *rows]), extract_pages(dataset)) == ""


def test_an_open_quote_in_the_last_column_swallows_no_questions(filings):
    rows = 'question,doc_name,page,answer\nRevenue?,ACME_2020_10K,2,"4210\nCost?,ACME_2020_10K,3,1804\n'
    assert "row 1: unexpected end of data" in wrong(filings, rows.encode())


def test_a_csv_in_latin_1_is_named(filings):
    assert "line 2: byte 0xe9" in wrong(filings, "question,page\ncafé,1".encode("latin1"))


PIECE = {"doc_name": ACME, "evidence_page_num": 2, "evidence_text": "Revenue 4,210"}
RECORDS = {
    "evidence as JSON": {"evidence": json.dumps([PIECE])},
    "evidence as Python prints it": {"evidence": str([PIECE])},
    "a float": {"evidence": [PIECE | {"evidence_page_num": 2.0}]},
    "a float as text": {"evidence": [PIECE | {"evidence_page_num": "2.0"}]},
    "as a book prints it": {"evidence": [PIECE | {"evidence_page_num": "p. 2"}]},
    "one piece": {"evidence": PIECE},
    "other names": {"evidence": [{"file": f"{ACME}.pdf", "page": 2, "quote": "Revenue 4,210"}]},
    "columns": {"page": 2, "quotation": "Revenue 4,210"},
    "quotations": {"evidence": ["Revenue 4,210"], "page": [2]},
    "no page": {"evidence": [PIECE | {"evidence_page_num": None}]},
    "no filing": {"evidence": "Revenue 4,210", "doc_name": None},
    "no labels": {"evidence": [PIECE], "question_type": None, "financebench_id": None},
}


@pytest.mark.parametrize("changes", RECORDS.values(), ids=RECORDS)
def test_a_record_may_be_written_in_other_ways(filings, changes):
    record = {"financebench_id": 1, "question": "Revenue?", "answer": "1", "doc_name": f"{ACME}.pdf"}
    record |= {"question_type": "t"} | changes
    line = json.dumps({name: value for name, value in record.items() if value is not None})
    found = loaded(filings, line.encode(), "my_questions.jsonl")
    assert places(found) == {"1" if record["financebench_id"] else "line-1": (ACME, [2])}


def test_pages_from_1_are_proved_by_the_texts_and_said_once_and_read_by_a_setting(filings):
    given = [HEADER, *ROWS]
    from_1 = [HEADER, *((*row[:4], row[4] + 1, row[5]) for row in ROWS)]
    quoted = ("q3", "Debt?", "1", BOLT, "", "The company has no debt of its own and none of others")
    for rows in (from_1, [*from_1, quoted]):  # a page that was looked for proves nothing
        assert "pages_from: 1" in wrong(filings, rows)
    before = loaded(filings, given).fingerprint
    settings = filings.root / "data" / "settings.yaml"
    settings.write_text("pages_from: 1\n")
    dataset = loaded(filings, from_1)
    assert places(dataset) == TWO
    assert dataset.fingerprint != before
    assert "pages_from: 0" in wrong(filings, given)
    assert "page 0" in wrong(filings, [HEADER, (*ONE[:4], 0, "a")])
    settings.write_text("page_from: 1")
    assert problems_of(loaded, filings, from_1)[0].startswith("data/settings.yaml")


QUOTED = [
    ("our results MAY vary with demand for anvils", [1]),
    ("so that an agreement may end", [2]),  # hyphenated there
    ("The efficient office  of the\ncompany is in Springfield", [3]),  # ligatures there
    ("anvils, which customers defer, in hard times, so that an agreement may end", [1, 2]),  # a header between
    ("Our results may vary with the demand for anvils", [1]),  # one word more
]


def test_the_page_of_a_quotation_is_found_and_shown(filings, tmp_path, capsys):
    rows = [(f"q{number}", f"Which {number}?", "1", ACME, "", text) for number, (text, _) in enumerate(QUOTED)]
    dataset = loaded(filings, [HEADER, *rows], artifacts=tmp_path)
    assert [pages for _, pages in places(dataset).values()] == [pages for _, pages in QUOTED]
    parts = ["anvils, which customers defer,", "in hard times, so that an agreement may end"]
    assert dataset.evidence["text"].tolist()[3:5] == parts
    file = tmp_path / "mine" / FOR_PERSONS
    assert str(file) in capsys.readouterr().err
    with file.open(encoding="utf-8-sig", newline="") as lines:
        shown = [*csv.DictReader(lines)]
    assert [(row["question_id"], row["page"]) for row in shown[:2]] == [("q0", "1"), ("q1", "2")]
    assert shown[0]["share"] == "1.00"
    assert float(shown[-1]["share"]) < 1
    again = loaded(filings, [HEADER, *rows], artifacts=tmp_path)
    assert places(again) == places(dataset)
    assert str(file) not in capsys.readouterr().err  # it is remembered


NOT_FOUND = {
    "too few words": ("The company has no name", ACME, "too short"),
    "in two filings": ("has no", "", "page 3 of ACME_2020_10K (100%), page 2 of BOLT_2020_10K"),
    "nowhere": ("Dividends were paid in gold", BOLT, "nowhere"),
}


@pytest.mark.parametrize(("text", "name", "said"), NOT_FOUND.values(), ids=NOT_FOUND)
def test_a_quotation_that_stands_nowhere_or_twice_is_a_problem(filings, text, name, said):
    line = wrong(filings, [HEADER, ROWS[0], ("q2", "Which?", "1", name, "", text)])
    assert line.startswith(f"data/my_questions.csv row 3: “{text}”")
    assert said in line


def test_questions_of_several_filings_and_without_evidence_are_apart(filings):
    both = [("q3", "Which earns more?", "Acme", *row[3:]) for row in ROWS]
    dataset = loaded(filings, [HEADER, *ROWS, *both, ("q4", "Who is the CEO?", "", ACME, "n/a", "")])
    apart = dataset.apart
    fingerprints = {dataset.fingerprint, apart.fingerprint}
    alone = loaded(filings, [HEADER, *ROWS])
    assert places(dataset) == places(alone) == TWO
    assert dataset.questions.equals(alone.questions)
    assert alone.apart is None
    assert apart.questions.set_index("question_id")["kind"].to_dict() == {"q3": SEVERAL, "q4": UNANSWERABLE}
    assert apart.evidence[["doc_name", "page", "line"]].to_numpy().tolist() == [[ACME, 2, 4], [BOLT, 1, 5]]
    assert len({*fingerprints, alone.fingerprint}) == 3
    far = [("q3", "Which earns more?", "Acme", ACME, 2, ""), ("q3", "", "", BOLT, 9, "")]
    rows = [(*row[:5], "") for row in ROWS]
    assert "row 5: gold page 9 of BOLT_2020_10K" in wrong(filings, [HEADER, *rows, *far])
    assert "no question has evidence in one filing" in wrong(filings, [HEADER, *both])


def test_document_information_may_be_a_spreadsheet_and_another_set_an_array(filings, tmp_path):
    (filings.root / "data" / "test_document_information.jsonl").unlink()
    rows = [("File name", "Issuer", "Form", "Fiscal year"), (f"{ACME}.pdf", "Acme", "10-K", 2020)]
    rows.append((BOLT, "Bolt", "", "2020.0"))
    (filings.root / "data" / "my_document_information.csv").write_bytes(written_csv(rows, ";"))
    dataset = loaded(filings, [HEADER, *ROWS])
    known = dataset.filings[["company", "doc_type", "doc_period"]].to_numpy().tolist()
    assert known == [["Acme", "10-K", 2020], ["Bolt", "other", 2020]]
    (tmp_path / "second" / "data").mkdir(parents=True)
    (tmp_path / "second" / "data" / "settings.yaml").write_text("pages_from: 1")
    record = [{"question": "Cost?", "file": f"{BOLT}.pdf", "page": 2}]
    (tmp_path / "second" / "data" / "my_questions.json").write_text(json.dumps(record))
    assert places(read_questions(tmp_path / "second", "second", dataset)) == {"record-1": (BOLT, [1])}


def test_a_page_of_which_the_next_one_has_all_words_is_named(filings):
    texts = "the cost of goods sold rose in the year by four per cent", "the cost of goods rose in the year"
    filings.text(ACME, *texts)
    line = wrong(filings, [HEADER, ("q1", "Cost?", "1", ACME, 1, "cost of goods sold rose by four")])
    assert "57%" in line
    assert "page 0 all" in line


def test_a_new_folder_has_records_from_covers_and_nothing_is_written_over(folder):
    for at, name in ((folder.root, ACME), (folder.root / "pdfs", BOLT)):
        folder.pdf(name, *PAGES[name]).rename(at / f"{name}.pdf")
    (folder.root / "2023").mkdir()
    not_read = ["My report.pdf", "2023/OTHER.pdf", "pdfs/old.htm"]
    for name in not_read:
        (folder.root / name).touch()
    made = new_folder(folder.root)
    assert [path.name for path in made.written] == ["document_information.csv", "questions.csv"]
    names = ("doc_name", "company", "doc_type", "doc_period")
    assert sorted([filing[name] for name in names] for filing in made.filings) == [
        [ACME, "Acme Corporation", "10-K", 2020],
        [BOLT, "Bolt Inc.", "10-K", 2020],
    ]
    assert [problem.partition(":")[0] for problem in made.problems] == not_read
    (folder.root / "My report.pdf").unlink()
    rows = [QUESTION_HEADER, ("q1", "Cost?", "1,804", "", BOLT, "", "Cost of sales of bolts 1,804")]
    made.written[1].write_bytes(content := written_csv(rows))
    assert places(read_dataset(folder.root, "mine")) == {"q1": (BOLT, [1])}
    again = new_folder(folder.root)
    assert (again.written, again.kept) == ([], made.written)
    assert made.written[1].read_bytes() == content
    assert str(folder.root) in told(folder.root, again).splitlines()[-1]


def test_a_new_folder_of_page_text_has_records_from_it_and_no_folder_for_pdfs(filings):
    (filings.root / "data" / "test_document_information.jsonl").unlink()
    (filings.root / "pdfs").rmdir()
    filings.text("BROKEN_2020_10K", "a").write_text("{")
    made = new_folder(filings.root)
    assert [(one["doc_name"], one["company"]) for one in made.filings] == [
        (ACME, "Acme Corporation"),
        (BOLT, "Bolt Inc."),
    ]
    assert [problem.partition(":")[0] for problem in made.problems] == ["pages/BROKEN_2020_10K.jsonl line 1"]
    assert not (filings.root / "pdfs").exists()
    assert told(filings.root, made).splitlines()[-1].startswith("      3. make measure")


def test_a_new_folder_without_filings_says_where_to_put_them_and_has_a_name_of_its_own(tmp_path):
    made = new_folder(tmp_path / "mine")
    assert str(tmp_path / "mine" / "pdfs") in told(tmp_path / "mine", made).splitlines()[-1]
    with pytest.raises(StudyError, match="financebench"):
        new_folder(tmp_path / "financebench")

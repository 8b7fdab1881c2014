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
from lib.data.located import FOR_PERSONS
from lib.data.pages import check_gold, extract_pages
from lib.data.rows import other_names
from lib.data.skeleton import QUESTION_HEADER, new_folder, told
from lib.schema import DatasetError, StudyError

ACME, BOLT = "ACME_2020_10K", "BOLT_2020_10K"
COVER = "FORM 10-K\nFor the fiscal year ended December 31, {year}\n{name}\n(Exact name of registrant as specified)"
PAGES = {
    ACME: (
        COVER.format(year=2020, name="Acme Corporation"),
        "Risk factors. Our results may vary with demand for anvils, which customers defer",
        "Header of Acme\nin hard times, so that an agree-\nment may end.\nRevenue 4,210 3,980",
        "The eﬃcient oﬃce of the company is in Springﬁeld and has no name",
    ),
    BOLT: (
        COVER.format(year=2020, name="Bolt Inc."),
        "Cost of sales of bolts 1,804 1,633",
        "The company has no debt of its own and none of others",
    ),
}
HEADER = ("Question ID", "Question", "Answer", "File", "Page No.", "Quote")
ROWS = [
    ("q1", "What was the revenue of Acme?", "$4,210", f"{ACME}.pdf", 2, "Revenue 4,210\n3,980"),
    ("q2", "And the cost of Bolt?", "“1,804”; less", f"pdfs/{BOLT}.PDF", 1, "Cost of sales of bolts 1,804"),
]


@pytest.fixture
def filings(folder):
    """Two filings as text, described."""
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


def loaded(filings, content: bytes | list[dict], name: str = "my_questions.csv", artifacts=None):
    """The dataset with this question file, checked against its pages."""
    if isinstance(content, list):
        name, content = "my_questions.jsonl", "\n".join(map(json.dumps, content)).encode()
    (filings.root / "data" / name).write_bytes(content)
    dataset = read_dataset(filings.root, "mine", artifacts)
    check_gold(dataset, extract_pages(dataset))
    return dataset


def wrong(filings, *given, **more) -> list[str]:
    with pytest.raises(DatasetError) as caught:
        loaded(filings, *given, **more)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


def places(dataset) -> dict[str, tuple[str, list[int]]]:
    columns = dataset.questions[["question_id", "doc_name", "gold_pages"]]
    return {id: (name, pages) for id, name, pages in columns.itertuples(index=False, name=None)}


TWO = {"q1": (ACME, [2]), "q2": (BOLT, [1])}
SPREADSHEETS = {
    "Excel": written_csv([HEADER, *ROWS]),
    "semicolons": written_csv([HEADER, *ROWS], ";"),
    "tabs": written_csv([HEADER, *ROWS], "\t"),
    "UTF-16": written_csv([HEADER, *ROWS], "\t").decode("utf-8-sig").encode("utf-16"),
    "sep": b"sep=;\r\n" + written_csv([HEADER, *ROWS], ";").removeprefix(b"\xef\xbb\xbf"),
    "blank rows": written_csv([[], HEADER, [""] * 6, *ROWS, [""] * 9]),
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


BAD_CELLS = [
    (date(2023, 3, 15), "cell E2 is a date or a time; format its column as text"),
    ("=A1", "cell E2 has a formula without its value"),
    ("#REF!", "cell E2 has the error #REF!"),
]


@pytest.mark.parametrize(("given", "said"), BAD_CELLS)
def test_a_cell_of_a_workbook_that_may_mean_two_things_is_named(filings, given, said):
    rows = [HEADER, ("q1", "Revenue?", "1", ACME, given, "Revenue 4,210")]
    [line] = wrong(filings, written_xlsx(rows), "my_questions.xlsx")
    assert line.startswith(f"data/my_questions.xlsx: {said}")


ONE = ("q1", "Revenue?", "1", ACME, 2, "Revenue 4,210 3,980")
BAD_SPREADSHEETS = [
    (written_csv([("id", "text of it", "file"), ("a", "b", "c")]), ": no column question (or query,"),
    (written_csv([("question", "answer", "file"), ("a", "b", "c")]), ": no column evidence_page_num (or page, pages,"),
    (
        written_csv([("question", "page", "file", "doc"), ("a", 1, ACME, "x")]),
        ": 'file' and 'doc' may both be doc_name",
    ),
    (written_csv([("question", "question", "page"), ("a", "b", 1)]), ": two columns are named 'question'"),
    (written_csv([HEADER, (*ONE, "more")]), ": row 2 has 7 cells and the header 6"),
    (written_csv([HEADER, ONE, ("q1", "Else?", "1", ACME, 3, "no name")]), " row 3: question is not that of row 2"),
    (written_csv([HEADER, ONE, ONE]), " row 3: repeats the evidence of row 2"),
    (written_csv([HEADER, ("", *ONE[1:]), ("", *ONE[1:])]), " row 3: asks what row 2 asks, of the same filing"),
    (written_csv([HEADER, (*ONE[:4], "F-12", ONE[5])]), " row 2: evidence.0.evidence_page_num is 'F-12'; give a whole"),
    (written_csv([HEADER, (*ONE[:3], f"{ACME}; {BOLT}", "1, 2, 3", "a")]), " row 2: has 2 filings, 3 pages, 1 texts"),
    (b'question,page,file\n"open,1,x\n', ": "),
    ("question,page\ncafé,1".encode("latin1"), ": line 2: byte 0xe9 is not UTF-8; save it as “CSV UTF-8”"),
]


@pytest.mark.parametrize(("content", "said"), BAD_SPREADSHEETS)
def test_what_is_wrong_with_a_spreadsheet_is_one_sentence(filings, content, said):
    [line] = wrong(filings, content)
    assert line.startswith(f"data/my_questions.csv{said}")


def test_a_workbook_of_another_program_is_named(filings):
    assert (
        "there are my_questions.xls, test_document_information.jsonl: if one of them"
        in wrong(filings, b"\xd0\xcf", "my_questions.xls")[0]
    )
    (filings.root / "data" / "my_questions.xls").unlink()
    assert wrong(filings, b"\xd0\xcf", "my_questions.xlsx")[0].startswith(
        "data/my_questions.xlsx: is no .xlsx workbook"
    )


PIECE = {"doc_name": ACME, "evidence_page_num": 2, "evidence_text": "Revenue 4,210"}
RECORDS = {
    "evidence as JSON": {"evidence": json.dumps([PIECE])},
    "evidence as Python prints it": {"evidence": str([PIECE])},
    "a float": {"evidence": [PIECE | {"evidence_page_num": 2.0}]},
    "a text": {"evidence": [PIECE | {"evidence_page_num": "2"}]},
    "a float as text": {"evidence": [PIECE | {"evidence_page_num": "2.0"}]},
    "as a book prints it": {"evidence": [PIECE | {"evidence_page_num": "p. 2"}]},
    "one piece": {"evidence": PIECE},
    "other names": {"evidence": [{"file": f"{ACME}.pdf", "page": 2, "quote": "Revenue 4,210"}]},
    "columns": {"page": 2, "quotation": "Revenue 4,210"},
    "quotation": {"evidence": "Revenue 4,210"},
    "quotations": {"evidence": ["Revenue 4,210"], "page": [2]},
    "no page": {"evidence": [PIECE | {"evidence_page_num": None}]},
    "no filing": {"evidence": "Revenue 4,210", "doc_name": None},
    "no labels": {"evidence": [PIECE], "question_type": None, "financebench_id": None},
}


@pytest.mark.parametrize("changes", RECORDS.values(), ids=RECORDS)
def test_a_record_may_be_written_in_other_ways(filings, changes):
    record = {"financebench_id": 1, "question": "Revenue?", "answer": "1", "doc_name": f"{ACME}.pdf"}
    record |= {"question_type": "t"} | changes
    found = places(loaded(filings, [{name: value for name, value in record.items() if value is not None}]))
    assert [*found.values()] == [(ACME, [2])]
    assert [*found] == (["1"] if record["financebench_id"] else ["line-1"])


def test_pages_from_1_are_proved_by_the_texts_and_said_once_and_read_by_a_setting(filings):
    rows = [(*row[:4], row[4] + 1, row[5]) for row in ROWS]
    [line] = wrong(filings, written_csv([HEADER, *rows]))
    assert line.startswith("data/my_questions.csv: the evidence's texts stand one page before those given")
    assert line.endswith("; write 'pages_from: 1' into data/settings.yaml")
    before = loaded(filings, written_csv([HEADER, *ROWS])).fingerprint
    settings = filings.root / "data" / "settings.yaml"
    settings.write_text("pages_from: 1\n")
    dataset = loaded(filings, written_csv([HEADER, *rows]))
    assert (places(dataset), dataset.fingerprint == before) == (TWO, False)
    [line] = wrong(filings, written_csv([HEADER, *ROWS]))
    assert line.endswith(
        "stand one page after those given, so that pages count from 0; write 'pages_from: 0' into data/settings.yaml"
    )
    assert (
        "evidence.0 has page 0, and pages count from 1" in wrong(filings, written_csv([HEADER, (*ONE[:4], 0, "a")]))[0]
    )
    settings.write_text("page_from: 1")
    assert wrong(filings, written_csv([HEADER, *rows]))[0].startswith("data/settings.yaml: not understood")


QUOTED = [
    ("our results MAY vary with demand for anvils", [1]),
    ("so that an agreement may end", [2]),  # hyphenated there
    ("The efficient office  of the\ncompany is in Springfield", [3]),  # ligatures there
    ("anvils, which customers defer in hard times, so that an agreement may end", [1, 2]),  # a header between
    ("Our results may vary with the demand for anvils", [1]),  # one word more
]


def test_the_page_of_a_quotation_is_found_and_shown(filings, tmp_path, capsys):
    rows = [(f"q{number}", "Which?", "1", ACME, "", text) for number, (text, _) in enumerate(QUOTED)]
    rows = [row[:1] + (f"Which {row[0]}?",) + row[2:] for row in rows]
    dataset = loaded(filings, written_csv([HEADER, *rows]), artifacts=tmp_path)
    assert [pages for _, pages in places(dataset).values()] == [pages for _, pages in QUOTED]
    assert dataset.evidence["text"].tolist()[3:5] == [
        "anvils, which customers defer",
        "in hard times, so that an agreement may end",
    ]
    file = tmp_path / "mine" / FOR_PERSONS
    assert (
        f"The pages of 5 quotations were found; look them over (pages count from 0): {file}" in capsys.readouterr().err
    )
    with file.open(encoding="utf-8-sig", newline="") as lines:
        shown = [*csv.DictReader(lines)]
    assert [(row["question_id"], row["page"]) for row in shown[:2]] == [("q0", "1"), ("q1", "2")]
    assert (shown[0]["share"], float(shown[-1]["share"]) < 1) == ("1.00", True)
    again = loaded(filings, written_csv([HEADER, *rows]), artifacts=tmp_path)
    assert (places(again), "were found" in capsys.readouterr().err) == (places(dataset), False)


NOT_FOUND = [
    (
        "The company has no name",
        ACME,
        "“The company has no name” is too short to be found by its words in ACME_2020_10K, most of which",
    ),
    ("has no", "", "“has no” stands in more than one place in the filings: page 3 of ACME_2020_10K (100%), page 2 of"),
    ("Dividends were paid in gold", BOLT, "“Dividends were paid in gold” stands nowhere in"),
]


@pytest.mark.parametrize(("text", "name", "said"), NOT_FOUND)
def test_a_quotation_that_stands_nowhere_or_twice_is_a_problem_with_the_places(filings, text, name, said):
    [line] = wrong(filings, written_csv([HEADER, ROWS[0], ("q2", "Which?", "1", name, "", text)]))
    assert line.startswith(f"data/my_questions.csv row 3: {said}")


def test_questions_of_several_filings_and_without_evidence_are_apart(filings, capsys):
    both = [("q3", "Which earns more?", "Acme", *row[3:]) for row in ROWS]
    dataset = loaded(filings, written_csv([HEADER, *ROWS, *both, ("q4", "Who is the CEO?", "", ACME, "n/a", "")]))
    fingerprints = {dataset.fingerprint, dataset.apart.fingerprint}
    alone = loaded(filings, written_csv([HEADER, *ROWS]))
    assert places(dataset) == places(alone) == TWO
    assert dataset.questions.equals(alone.questions)
    assert alone.apart is None
    assert dataset.apart.questions[["question_id", "kind"]].to_numpy().tolist() == [
        ["q3", SEVERAL],
        ["q4", UNANSWERABLE],
    ]
    assert dataset.apart.evidence[["doc_name", "page", "line"]].to_numpy().tolist() == [[ACME, 2, 4], [BOLT, 1, 5]]
    assert len(fingerprints | {alone.fingerprint}) == 3
    assert f"Measured apart, {UNANSWERABLE}: q4" in capsys.readouterr().err
    far = [("q3", "Which earns more?", "Acme", ACME, 2, ""), ("q3", "", "", BOLT, 9, "")]
    rows = [(*row[:5], "") for row in ROWS]
    assert (
        "row 5: gold page 9 of BOLT_2020_10K is past its end" in wrong(filings, written_csv([HEADER, *rows, *far]))[0]
    )
    [line] = wrong(filings, written_csv([HEADER, *both]))
    assert "no question has evidence in one filing" in line


def test_document_information_may_be_a_spreadsheet_and_another_set_a_spreadsheet_too(filings, tmp_path):
    (filings.root / "data" / "test_document_information.jsonl").unlink()
    rows = [
        ("File name", "Issuer", "Form", "Fiscal year"),
        (f"{ACME}.pdf", "Acme", "10-K", 2020),
        (BOLT, "Bolt", "", "2020.0"),
    ]
    (filings.root / "data" / "my_document_information.csv").write_bytes(written_csv(rows, ";"))
    dataset = loaded(filings, written_csv([HEADER, *ROWS]))
    known = dataset.filings[["company", "doc_type", "doc_period"]].to_numpy().tolist()
    assert known == [["Acme", "10-K", 2020], ["Bolt", "other", 2020]]
    (tmp_path / "second" / "data").mkdir(parents=True)
    (tmp_path / "second" / "data" / "settings.yaml").write_text("pages_from: 1")
    record = [{"question": "Cost?", "file": f"{BOLT}.pdf", "page": 2}]
    (tmp_path / "second" / "data" / "my_questions.json").write_text(json.dumps(record))
    assert places(read_questions(tmp_path / "second", "second", dataset)) == {"record-1": (BOLT, [1])}


def test_a_new_folder_has_records_from_covers_and_nothing_is_written_over(folder):
    for at, name in ((folder.root, ACME), (folder.root / "pdfs", BOLT)):
        folder.pdf(name, *PAGES[name]).rename(at / f"{name}.pdf")
    (folder.root / "pdfs" / "old.htm").write_text("<html>")
    (folder.root / "My report.pdf").write_text("")
    (folder.root / "2023").mkdir()
    (folder.root / "2023" / "OTHER.pdf").write_text("")
    made = new_folder(folder.root)
    assert [path.name for path in made.written] == ["document_information.csv", "questions.csv"]
    records = [[filing[name] for name in ("doc_name", "doc_type", "doc_period")] for filing in made.filings]
    assert sorted(records) == [[ACME, "10-K", 2020], [BOLT, "10-K", 2020]]
    assert {filing["company"] for filing in made.filings} == {"Acme Corporation", "Bolt Inc."}
    assert [problem.partition(":")[0] for problem in made.problems] == [
        "My report.pdf",
        "2023/OTHER.pdf",
        "pdfs/old.htm",
    ]
    text = told(folder.root, made)
    assert text.splitlines()[-1].startswith("      3. make measure DATASET=")
    (folder.root / "My report.pdf").unlink()
    rows = [QUESTION_HEADER, ("q1", "Cost?", "1,804", "", BOLT, "", "Cost of sales of bolts 1,804")]
    made.written[1].write_bytes(content := written_csv(rows))
    assert places(read_dataset(folder.root, "mine")) == {"q1": (BOLT, [1])}
    again = new_folder(folder.root)
    assert (again.written, again.kept, made.written[1].read_bytes()) == ([], made.written, content)


def test_other_names_of_columns_are_texts_and_one_of_evidence_that_is_not_understood_is_named(filings):
    assert all(isinstance(name, str) for names in other_names().values() for name in names)
    rows = [("No.", "Question", "File", "PDF page"), ("q1", "Revenue?", ACME, 2)]
    assert places(loaded(filings, written_csv(rows))) == {"q1": (ACME, [2])}
    rows[0] = ("No.", "Question", "File", "Page seen")
    [line] = wrong(filings, written_csv([(*rows[0], "Quote"), (*rows[1], "Revenue 4,210")]))
    assert "column 'Page seen' is not understood; name it evidence_page_num, or remove it" in line
    both = (*HEADER, "evidence_text_full_page", "Document type")
    assert places(loaded(filings, written_csv([both, *((*row, "All", "10-K") for row in ROWS)]))) == TWO


def test_pages_that_were_looked_for_do_not_vote_on_where_pages_count_from(filings):
    given = [
        ("q1", "Revenue?", "1", ACME, 3, "Revenue 4,210 3,980"),
        ("q2", "Cost?", "1", BOLT, 2, "bolts 1,804 1,633"),
    ]
    quoted = ("q3", "Debt?", "1", BOLT, "", "The company has no debt of its own and none of others")
    for rows in (given, [*given, quoted]):
        [line] = wrong(filings, written_csv([HEADER, *rows]))
        assert "so that pages count from 1; write 'pages_from: 1' into data/settings.yaml" in line


def test_a_page_of_which_the_next_one_has_all_words_is_named(folder):
    folder.text(ACME, "the cost of goods sold rose in the year by four per cent", "the cost of goods rose in the year")
    folder.write()
    (folder.root / "data" / "test_open_source.jsonl").unlink()
    quote = "cost of goods sold rose by four"
    [line] = wrong(folder, written_csv([HEADER, ("q1", "Cost?", "1", ACME, 1, quote)]))
    assert "has 57% of the evidence's words, and page 0 all; correct evidence_page_num" in line


def test_a_new_folder_without_filings_says_where_to_put_them(tmp_path):
    made = new_folder(tmp_path / "mine")
    assert (
        told(tmp_path / "mine", made).splitlines()[-1].startswith(f"next: put PDFs into {tmp_path / 'mine' / 'pdfs'}")
    )
    for name in ("demo", "financebench"):
        with pytest.raises(StudyError, match="name a folder of your own"):
            new_folder(tmp_path / name)

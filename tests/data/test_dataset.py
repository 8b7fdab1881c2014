"""Loading a dataset: what is read, and every bad input with its message, all told at once."""

import json
import re

import pymupdf
import pytest

from lib.data.dataset import read_dataset, read_questions
from lib.data.pages import check_gold, extract_pages
from lib.words import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError

TEXT = ("cover", "net sales rose", "cash flow fell")


def load(folder) -> tuple:
    """The dataset and its pages, as a study gets them."""
    dataset = read_dataset(folder.write(), "test")
    return dataset, extract_pages(dataset)


def problems_of(folder) -> list[str]:
    """The lines of the one error that loading ends in; the first gives their number."""
    with pytest.raises(DatasetError) as caught:
        load(folder)
    first, *rest = str(caught.value).splitlines()
    count = f"{len(rest)} problem" + ("s" if len(rest) > 1 else "")
    assert first == f"{folder.root}: {count}"
    return [line.strip() for line in rest]


@pytest.fixture
def sound(folder):
    """A folder with one sound filing of each kind and a question about each."""
    folder.pdf("ACME_2020_10K", *TEXT)
    folder.text("BOLT_2020_10Q", "cover of bolt", "profit fell in the year")
    folder.question("q1", "ACME_2020_10K", (1, "net sales rose"))
    folder.question("q2", "BOLT_2020_10Q", (1, "profit fell"))
    return folder


def test_a_sound_folder_gives_the_frames(sound):
    dataset, pages = load(sound)
    assert tuple(dataset.questions) == QUESTION_COLUMNS
    assert tuple(dataset.filings) == FILING_COLUMNS[:-1]
    first = dataset.questions.iloc[0]
    assert (first.question_id, first.doc_type, first.company, first.gold_pages) == ("q1", "10-K", "ACME", [1])
    assert pages[["doc_name", "page"]].to_numpy().tolist() == [
        *(["ACME_2020_10K", page] for page in range(3)),
        *(["BOLT_2020_10Q", page] for page in range(2)),
    ]
    assert pages["text"].str.strip().tolist() == [*TEXT, "cover of bolt", "profit fell in the year"]


def test_both_files_may_be_named_after_the_questions(sound):
    for path in sorted((sound.write() / "data").iterdir()):
        ending = "document_information" if "document_information" in path.name else "set"
        path.rename(path.with_name(f"my_questions_{ending}.jsonl"))
    assert read_dataset(sound.root, "test").question_file.name == "my_questions_set.jsonl"


@pytest.fixture
def second(question_folder, sound, tmp_path):
    """Write another set over the sound folder and read it; gives it with the folder's own."""

    def read(*records: dict) -> tuple:
        own = read_dataset(sound.write(), "test")
        return read_questions(question_folder(tmp_path / "second", *records), "second", own), own

    return read


def test_another_set_has_its_questions_and_the_collection_s_filings(second):
    record = {"financebench_id": "s1", "doc_name": "BOLT_2020_10Q", "pages": [1, 0], "company": "Bolts Ltd."}
    found, own = second(record | {"answer": 5})
    assert (found.name, found.collection, own.collection) == ("second", "test", "test")
    [row] = found.questions.to_dict("records")
    assert (row["question_id"], row["company"], row["gold_pages"]) == ("s1", "BOLT", [0, 1])
    assert (row["answer"], row["evidence"]) == ("5", "")
    assert found.filings_digest == own.filings_digest
    assert found.fingerprint != own.fingerprint
    assert (found.lacks, own.lacks) == (("evidence",), ())


def test_a_set_may_lack_answers_and_evidence_texts_but_no_gold_page(second):
    first = {"financebench_id": "s1", "doc_name": "ACME_2020_10K"}
    assert second(first)[0].lacks == ("answer", "evidence")
    bare = {"financebench_id": "s2", "doc_name": "ACME_2020_10K", "pages": [None]}
    with pytest.raises(DatasetError) as caught:
        second(first | {"answer": "yes"}, bare | {"answer": ""}, bare | {"financebench_id": "s3", "answer": "no"})
    assert [line.strip() for line in str(caught.value).splitlines()[1:]] == [
        "data/my_questions.jsonl line 2: evidence_page_num of evidence 1 is missing; give the PDF's page index, from 0",
        "data/my_questions.jsonl line 3: evidence_page_num of evidence 1 is missing; give the PDF's page index, from 0",
    ]


def test_the_gold_pages_of_another_set_are_checked_against_the_pages(second, sound):
    found, own = second({"financebench_id": "s1", "doc_name": "ACME_2020_10K", "pages": [2, 3]})
    pages = extract_pages(own)
    assert check_gold(own, pages) == 2
    with pytest.raises(DatasetError) as caught:
        check_gold(found, pages)
    assert [line.strip() for line in str(caught.value).splitlines()[1:]] == [
        "data/my_questions.jsonl line 1: gold page 3 is past the end of ACME_2020_10K (3 pages, 0-based)"
    ]


def test_a_set_over_other_filings_is_one_sentence_that_names_the_collection(second):
    with pytest.raises(DatasetError, match=r"my_questions.jsonl: no question asks about a filing of test; name"):
        second({"financebench_id": "s1", "doc_name": "COIL_2020_10K"})


def test_the_filings_have_a_digest_of_their_own(sound):
    def digests() -> tuple[str, str]:
        dataset = read_dataset(sound.write(), "test")
        return dataset.filings_digest, dataset.fingerprint

    first = digests()
    sound.question("q3", "ACME_2020_10K", (0, "cover"))
    more = digests()
    assert (more[0] == first[0], more[1] == first[1]) == (True, False)
    sound.documents[0]["gics_sector"] = "Else"
    assert digests()[0] != first[0]


def test_gold_page_0_is_a_page(sound):
    sound.question("q3", "ACME_2020_10K", (0, "cover"))
    dataset, _ = load(sound)
    assert dataset.questions["gold_pages"].tolist()[2] == [0]


def test_gold_pages_are_a_sorted_set_and_evidence_is_joined_as_it_stands(sound):
    sound.question("q3", "ACME_2020_10K", (2, "cash flow"), (1, "net sales"), (2, "fell"))
    question = load(sound)[0].questions.iloc[2]
    assert question.gold_pages == [1, 2]
    assert question.evidence == "cash flow\n\nnet sales\n\nfell"


def test_blank_pages_are_kept(folder):
    folder.pdf("ACME_2020_10K", "", "one", "", "three", "")
    folder.text("BOLT_2020_10K", "", "one", "")
    folder.question("q1", "ACME_2020_10K", (3, "three"))
    pages = load(folder)[1]
    assert pages["text"].str.strip().tolist() == ["", "one", "", "three", "", "", "one", ""]
    assert pages["page"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]


def test_page_text_stands_before_a_pdf_of_the_same_name(sound):
    sound.text("ACME_2020_10K", "cover", "net sales rose, as text")
    assert load(sound)[1]["text"][1] == "net sales rose, as text"


def test_a_filing_that_no_question_asks_about_is_read_too(sound):
    sound.pdf("COIL_2020_10K", "nobody asks")
    dataset, pages = load(sound)
    assert "COIL_2020_10K" in set(dataset.filings["doc_name"])
    assert "COIL_2020_10K" in set(pages["doc_name"])


def test_a_pdf_with_an_owners_password_only_can_be_read(folder):
    folder.pdf("ACME_2020_10K", *TEXT, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="")
    folder.question("q1", "ACME_2020_10K", (1, "net sales rose"))
    assert len(load(folder)[1]) == 3


def test_fingerprint_changes_with_any_byte_that_is_read_and_with_no_other(sound):
    before = read_dataset(sound.write(), "test").fingerprint
    (sound.root / "README.txt").write_text("not read")
    assert read_dataset(sound.root, "other name").fingerprint == before
    sound.text("BOLT_2020_10Q", "cover of bolt", "profit fell in the year.")
    assert read_dataset(sound.root, "test").fingerprint != before


QUESTIONS = "data/test_open_source.jsonl"
DESCRIPTIONS = "data/test_document_information.jsonl"
ID_RULE = "give a text without a space, such as 'q-1'"
NAME_RULE = "use ASCII letters, digits, '_', '-' and '.' only, at most 200"
EVIDENCE_RULE = "give a list of objects with evidence_page_num and evidence_text"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": ""}, "the question has no answer, and others have; give it, or take all away"),
        (
            {"question": None, "answer": None, "evidence": []},
            "the line has no question, evidence; fill in what is missing",
        ),
        ({"financebench_id": 17}, f"financebench_id is 17; {ID_RULE}"),
        ({"financebench_id": "q 3"}, f"financebench_id is 'q 3'; {ID_RULE}"),
        ({"financebench_id": "q\x003"}, f"financebench_id is 'q\\x003'; {ID_RULE}"),
        ({"financebench_id": "q\ud800"}, f"financebench_id is 'q\\ud800'; {ID_RULE}"),
        ({"question": "a\ud800"}, "question is 'a\\ud800'; give a text"),
        ({"question": " \t"}, "the line has no question; fill in what is missing"),
        ({"question_type": "a\nb"}, "question_type is 'a\\nb'; give one line of text"),
        ({"answer": False}, "answer is False; give a text or a number"),
        ({"answer": ["12", "13"]}, "answer is ['12', '13']; give a text or a number"),
        ({"doc_name": ["ACME"]}, f"doc_name is ['ACME']; {NAME_RULE}"),
        ({"evidence": "net sales"}, f"evidence is 'net sales'; {EVIDENCE_RULE}"),
        ({"evidence": ["net sales"]}, f"evidence 1 is 'net sales'; {EVIDENCE_RULE}"),
        ({"financebench_id": "q1"}, "question id q1 is used twice; give each question its own"),
    ],
)
def test_bad_question(sound, changes, message):
    sound.question("q3", "ACME_2020_10K", (1, "net sales"), **changes)
    assert problems_of(sound) == [f"{QUESTIONS} line 3: {message}"]


ENCRYPTED = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "o", "user_pw": "u"}
ELSEWHERE = {"doc_name": "BOLT_2020_10Q", "evidence_page_num": 0, "evidence_text": "cover"}
COIL, COIL_PDF = "pages/COIL_2020_10K.jsonl", "pdfs/COIL_2020_10K.pdf"


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (
            lambda one: one.question("q3", "ACME_2020_10K", evidence=[ELSEWHERE]),
            f"{QUESTIONS} line 3: evidence 1 is in BOLT_2020_10Q, not in the gold filing ACME_2020_10K",
        ),
        (
            lambda one: one.question("q3", "ACME_2020_10K", (2, "cash flow"), (3, "cash flow")),
            f"{QUESTIONS} line 3: gold page 3 is past the end of ACME_2020_10K (3 pages, 0-based)",
        ),
        (
            lambda one: one.question("q3", "ACME_2020_10K", (1, "cash flow fell in spring")),
            f"{QUESTIONS} line 3: only 0% of the evidence's words stand on page 1 of ACME_2020_10K; "
            "correct evidence_page_num (the PDF's index, from 0) or the text",
        ),
        (
            lambda one: one.question("q3", "COIL_2020_10K", (0, "coil")),
            f"{QUESTIONS} line 3: neither {COIL_PDF} nor {COIL} exists; add one of them",
        ),
        (
            lambda one: one.document("ACME_2020_10K", company="ACME", doc_period=1999),
            f"{DESCRIPTIONS} line 3: ACME_2020_10K is described twice, differently; remove one of the two lines",
        ),
        (lambda one: one.questions.clear(), f"{QUESTIONS}: no question; give at least one"),
        (
            lambda one: one.pdf("COIL_2020_10K", "coil", **ENCRYPTED),
            f"{COIL_PDF}: the PDF is encrypted; save it without a password",
        ),
        (
            lambda one: (one.pdf("COIL_2020_10K", "coil"), one.documents.pop()),
            f"{COIL_PDF}: no line of test_document_information.jsonl describes the filing; "
            "add one with doc_name, company, doc_type and doc_period",
        ),
        (
            lambda one: one.text("COIL_2020_10K", *"abcde", numbers=[0, 1, 3, 4, 5]),
            f"{COIL} line 3: page 3 where 2 comes next; count from 0, leave none out",
        ),
        (
            lambda one: one.text("COIL_2020_10K", *"abc", numbers=[1, 2, 3]),
            f"{COIL} line 1: page 1 where 0 comes next; count from 0, leave none out",
        ),
        (lambda one: one.text("COIL_2020_10K"), f"{COIL}: no page; give one page a line, or remove the file"),
    ],
)
def test_one_problem(sound, change, wanted):
    change(sound)
    assert problems_of(sound) == [wanted]


@pytest.mark.parametrize("page", [None, -1, "1", 1.0, True])
def test_bad_evidence_page(sound, page):
    sound.question("q3", "ACME_2020_10K", (page, "net sales"))
    value = "missing" if page is None else repr(page)
    wanted = f"evidence_page_num of evidence 1 is {value}; give the PDF's page index, from 0"
    assert problems_of(sound) == [f"{QUESTIONS} line 3: {wanted}"]


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_bad_evidence_text(sound, text):
    sound.question("q3", "ACME_2020_10K", (1, text))
    assert problems_of(sound) == [
        f"{QUESTIONS} line 3: evidence 1 has no text, and others have; quote the page, or take all away"
    ]


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a/b", "..", ".hidden", "a b", "C:\\x"])
def test_a_doc_name_that_is_a_path_is_refused(sound, name):
    sound.document(name)
    sound.question("q3", name, (0, "root"))
    wanted = f"doc_name is {name!r}; {NAME_RULE}"
    assert problems_of(sound) == [f"{place} line 3: {wanted}" for place in (DESCRIPTIONS, QUESTIONS)]


def test_a_file_whose_name_cannot_stand_in_a_run_is_refused(sound):
    path = sound.pdf("COIL_2020_10K", "coil")
    path.rename(path.with_name("Annual Report.pdf"))
    assert problems_of(sound) == [f"pdfs/Annual Report.pdf: rename the file; {NAME_RULE}"]


def test_broken_json_with_its_line(sound):
    sound.questions[1] = '{"financebench_id": "q2", '
    sound.questions.append("[1, 2]")
    broken, no_object = problems_of(sound)
    assert broken.startswith(f"{QUESTIONS} line 2: broken JSON (Expecting property name")
    assert broken.endswith("; mend or remove the line")
    assert no_object == f"{QUESTIONS} line 3: not a JSON object; one record a line, in braces"


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95])
def test_truncated_pdf(sound, share):
    path = sound.pdf("COIL_2020_10K", *(f"page {n} of coil" for n in range(9)))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    (message,) = problems_of(sound)
    assert message.startswith("pdfs/COIL_2020_10K.pdf: the PDF ")
    assert "truncated" in message
    assert message.endswith("; download it again")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the PDF cannot be read (it is empty, truncated, damaged or no PDF); download it again"),
        (
            b"\x00\x01\x02 nothing",
            "the PDF cannot be read (it is empty, truncated, damaged or no PDF); download it again",
        ),
        (
            b"<!DOCTYPE html><html><body><p>404</p></body></html>",
            "the PDF is something else under a PDF's name; download it again",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n",
            "the PDF cannot be read (it is empty, truncated, damaged or no PDF); download it again",
        ),
    ],
)
def test_what_is_no_pdf(sound, content, message):
    sound.pdf("COIL_2020_10K", "coil").write_bytes(content)
    assert problems_of(sound) == [f"pdfs/COIL_2020_10K.pdf: {message}"]


def test_one_filing_under_two_names(sound):
    path = sound.root / "pdfs" / "ACME_2020_10K.pdf"
    sound.pdf("ACME_2020_ANNUAL", "x").write_bytes(path.read_bytes())
    wanted = "the same bytes as ACME_2020_10K.pdf; its pages would count twice; remove one of the two"
    assert problems_of(sound) == [f"pdfs/ACME_2020_ANNUAL.pdf: {wanted}"]


def test_page_text_of_another_filing_or_without_text(sound):
    path = sound.text("COIL_2020_10K", "a")
    lines = [{"doc_name": "BOLT_2020_10Q", "page": 0, "text": "a"}, {"doc_name": "COIL_2020_10K", "page": 1}]
    path.write_text("\n".join([*map(json.dumps, lines), "{broken"]))
    name, text, broken = sorted(problems_of(sound))
    assert name == "pages/COIL_2020_10K.jsonl line 1: doc_name is not COIL_2020_10K; mend the name"
    assert text == "pages/COIL_2020_10K.jsonl line 2: the line has no text; fill in what is missing"
    assert broken.startswith("pages/COIL_2020_10K.jsonl line 3: broken JSON (")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"doc_period": "FY2024"}, "doc_period is 'FY2024'; give a year such as 2024, or leave it out"),
        ({"doc_period": 10**30}, f"doc_period is {10**30}; give a year such as 2024, or leave it out"),
        ({"doc_period": [2024]}, "doc_period is [2024]; give a year such as 2024, or leave it out"),
        ({"company": {"name": "COIL"}}, "company is {'name': 'COIL'}; give one line of text"),
        ({"company": ""}, "the line has no company; fill in what is missing"),
        ({"gics_sector": ["Tools"]}, "gics_sector is ['Tools']; give one line of text"),
        ({"doc_type": True}, "doc_type is True; give one line of text"),
    ],
)
def test_bad_description(sound, changes, message):
    sound.document("COIL_2020_10K", **changes)
    assert problems_of(sound) == [f"{DESCRIPTIONS} line 3: {message}"]


def test_a_year_may_be_text_or_missing_and_a_company_a_number(sound):
    sound.documents[0] |= {"doc_period": "2021", "company": 3}
    sound.documents[1] |= {"doc_period": None, "doc_type": None, "gics_sector": ""}
    filings = load(sound)[0].filings.fillna("")
    assert filings[["company", "doc_type", "doc_period", "sector"]].to_numpy().tolist() == [
        ["3", "10-K", 2021.0, "Tools"],
        ["BOLT", "other", "", ""],
    ]


@pytest.mark.parametrize("name", ["pdfs/COIL_2020_10K.pdf", QUESTIONS])
@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda path: path.mkdir(), "is a folder or a device and no file; rename or remove it"),
        (lambda path: path.symlink_to("nowhere"), "cannot be opened (No such file or directory)"),
        (lambda path: path.symlink_to(path), "cannot be opened (Too many levels of symbolic links)"),
    ],
)
def test_what_is_no_file_is_told_before_anything_is_read(sound, name, make, wrong):
    path = sound.write() / name
    path.unlink(missing_ok=True)
    make(path)
    with pytest.raises(DatasetError, match=re.escape(f"{name}: {wrong}")):
        read_dataset(sound.root, "test")


def test_json_that_cannot_be_read_is_a_problem_of_its_line(sound):
    sound.questions += ["[" * 200_000, '{"a": ' + "1" * 5000 + "}", '{"doc_name": "x", "doc_name": "y"}']
    deep, long, twice = problems_of(sound)
    assert deep == f"{QUESTIONS} line 3: broken JSON (nested too deep); mend or remove the line"
    assert long.startswith(f"{QUESTIONS} line 4: broken JSON (Exceeds the limit")
    assert twice.startswith(f"{QUESTIONS} line 5: broken JSON (the field 'doc_name' stands in it twice)")


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ('{"question": "é"}'.encode("latin1"), "byte 0xe9 is no UTF-8; save the file as UTF-8"),
        (b'[\n {"question": "e"}\n]', "the file is one JSON list; write one record a line, without"),
    ],
)
def test_a_file_that_is_no_json_lines_is_one_problem(sound, content, wanted):
    (sound.write() / QUESTIONS).write_bytes(content)
    with pytest.raises(DatasetError, match=f": 1 problem\n  {QUESTIONS} line 1: {wanted}"):
        read_dataset(sound.root, "test")


@pytest.mark.parametrize(
    ("words", "other"), [("売上高は増加した", "現金は減少しました"), ("Чистые продажи выросли", "Денежный поток упал")]
)
def test_evidence_in_any_script_is_looked_for_on_its_page(sound, words, other):
    sound.text("COIL_2020_10K", f"{words[:4]}\n{words[4:]}", other)
    sound.question("q3", "COIL_2020_10K", (0, words))
    assert len(load(sound)[1]) == 7
    sound.question("q4", "COIL_2020_10K", (1, words))
    (message,) = problems_of(sound)
    assert message.startswith(f"{QUESTIONS} line 4: only ")


def test_pages_without_text(sound):
    scan = sound.pdf("COIL_2020_10K", "", "")
    sound.text("DUCT_2020_10K", "cover", " ")
    assert problems_of(sound) == [
        f"pdfs/{scan.name}: no page has text, as in a scan; recognise it (OCR), or remove the filing"
    ]
    sound.question("q3", "DUCT_2020_10K", (1, ""))
    sound.questions[0] |= {"evidence": [{"evidence_page_num": 1}]}
    sound.questions[1] |= {"evidence": [{"evidence_page_num": 1}]}
    mend = "recognise it (OCR), or correct evidence_page_num (the PDF's index, from 0)"
    assert problems_of(sound) == [f"{QUESTIONS} line 3: gold page 1 of DUCT_2020_10K has no text; {mend}"]


def test_a_thousand_problems_are_fifty_lines_and_a_count(sound):
    sound.questions += ["{"] * 1000
    with pytest.raises(DatasetError) as caught:
        read_dataset(sound.write(), "test")
    first, *rest = str(caught.value).splitlines()
    assert first.endswith(": 1000 problems")
    assert (len(rest), rest[-1]) == (51, "  and 950 more")


def test_every_problem_is_told_at_once(sound):
    """One message for the whole folder, records and files alike, so that one round of mending is enough."""
    sound.pdf("COIL_2020_10K", "coil", **ENCRYPTED)
    cut = sound.pdf("DUCT_2020_10K", *TEXT)
    cut.write_bytes(cut.read_bytes()[:700])
    sound.pdf("ACME_2020_ANNUAL", "x").write_bytes((sound.root / "pdfs" / "ACME_2020_10K.pdf").read_bytes())
    sound.text("EDGE_2020_10K", "a", "b", numbers=[0, 2])
    sound.questions.append('{"broken')
    sound.question("q1", "ACME_2020_10K", (1, "net sales"))
    sound.question("q5", "../../x", (0, "x"))
    sound.question("q6", "GONE_2020_10K", (0, "gone"))
    sound.question("q7", "ACME_2020_10K", (212, "net sales"))
    sound.question("q8", "ACME_2020_10K", (None, "net sales"))
    sound.question("q9", "ACME_2020_10K", (0, "entirely other words"))
    sound.question("q10", "ACME_2020_10K", (0, "cover"), answer="")
    text = "\n".join(problems_of(sound))
    for message in (
        f"{QUESTIONS} line 3: broken JSON",
        f"{QUESTIONS} line 4: question id q1 is used twice",
        f"{QUESTIONS} line 5: doc_name is '../../x'; use",
        f"{QUESTIONS} line 6: neither pdfs/GONE_2020_10K.pdf nor pages/GONE_2020_10K.jsonl exists",
        f"{QUESTIONS} line 7: gold page 212 is past the end of ACME_2020_10K (3 pages, 0-based)",
        f"{QUESTIONS} line 8: evidence_page_num of evidence 1 is missing",
        f"{QUESTIONS} line 9: only 0% of the evidence's words stand on page 0",
        f"{QUESTIONS} line 10: the question has no answer",
        "pdfs/COIL_2020_10K.pdf: the PDF is encrypted",
        "pdfs/DUCT_2020_10K.pdf: the PDF ",
        "pdfs/ACME_2020_ANNUAL.pdf: the same bytes as ACME_2020_10K.pdf",
        "pages/EDGE_2020_10K.jsonl line 2: page 2 where 1 comes next",
    ):
        assert message in text
    assert len(text.splitlines()) == 12


def test_files_that_are_missing_or_twice_in_data_are_told_at_once(sound):
    sound.write()
    (sound.root / "data" / "test_document_information.jsonl").unlink()
    (sound.root / "data" / "other_open_source.jsonl").touch()
    with pytest.raises(DatasetError) as caught:
        read_dataset(sound.root, "test")
    assert str(caught.value).splitlines()[1:] == [
        "  data: more than one *open_source*.jsonl: other_open_source.jsonl, test_open_source.jsonl; leave one",
        "  data: no *document_information*.jsonl; see the dataset layout in the README",
    ]

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
    found = extract_pages(dataset)
    check_gold(dataset, found)
    return dataset, found


def problems_of(read, *given) -> list[str]:
    """The lines of the one error that reading ends in; the first gives their number."""
    with pytest.raises(DatasetError) as caught:
        read(*given)
    first, *rest = str(caught.value).splitlines()
    assert first.endswith(f": {len(rest)} problem" + ("s" if len(rest) > 1 else ""))
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
    given = first | {"answer": "yes"}, bare | {"answer": ""}, bare | {"financebench_id": "s3", "answer": "no"}
    wanted = "evidence_page_num of evidence 1 is missing; give the PDF's page index, from 0"
    assert problems_of(second, *given) == [f"data/my_questions.jsonl line {line}: {wanted}" for line in (2, 3)]


def test_the_gold_pages_of_another_set_are_checked_against_the_pages(second):
    found, own = second({"financebench_id": "s1", "doc_name": "ACME_2020_10K", "pages": [2, 3]})
    given = extract_pages(own)
    assert check_gold(own, given) == 2
    assert problems_of(check_gold, found, given) == [
        "data/my_questions.jsonl line 1: gold page 3 is past the end of ACME_2020_10K (3 pages, 0-based)"
    ]


def test_a_set_over_other_filings_is_one_sentence_that_names_the_collection(second):
    with pytest.raises(DatasetError, match=r"my_questions.jsonl: no question asks about a filing of test; name"):
        second({"financebench_id": "s1", "doc_name": "COIL_2020_10K"})


def test_gold_pages_are_a_sorted_set_from_0_and_evidence_is_joined_as_it_stands(sound):
    sound.question("q3", "ACME_2020_10K", (2, "cash flow"), (0, "cover"), (2, "fell"))
    question = load(sound)[0].questions.iloc[2]
    assert question.gold_pages == [0, 2]
    assert question.evidence == "cash flow\n\ncover\n\nfell"


def test_blank_pages_are_kept(folder):
    folder.pdf("ACME_2020_10K", "", "one", "", "three", "")
    folder.text("BOLT_2020_10K", "", "one", "")
    folder.question("q1", "ACME_2020_10K", (3, "three"))
    pages = load(folder)[1]
    assert pages["text"].str.strip().tolist() == ["", "one", "", "three", "", "", "one", ""]
    assert pages["page"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]


def test_page_text_stands_before_a_pdf_and_a_filing_that_no_question_asks_about_is_read(sound):
    sound.text("ACME_2020_10K", "cover", "net sales rose, as text")
    sound.pdf("COIL_2020_10K", "nobody asks")
    dataset, found = load(sound)
    assert found["text"][1] == "net sales rose, as text"
    assert "COIL_2020_10K" in set(dataset.filings["doc_name"]) & set(found["doc_name"])


def test_a_pdf_with_an_owners_password_only_can_be_read(folder):
    folder.pdf("ACME_2020_10K", *TEXT, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="")
    folder.question("q1", "ACME_2020_10K", (1, "net sales rose"))
    assert len(load(folder)[1]) == 3


def test_fingerprint_and_filings_digest_change_with_what_they_are_of(sound):
    def identity(name: str = "test") -> tuple[str, str]:
        dataset = read_dataset(sound.write(), name)
        return dataset.fingerprint, dataset.filings_digest

    first = identity()
    (sound.root / "README.txt").write_text("not read")
    assert identity("other name") == first
    sound.question("q3", "ACME_2020_10K", (0, "cover"))
    asked = identity()
    assert (asked[0] == first[0], asked[1] == first[1]) == (False, True)
    sound.documents[0]["gics_sector"] = "Else"
    described = identity()
    sound.text("BOLT_2020_10Q", "cover of bolt", "profit fell in the year.")
    seen = [first, asked, described, identity()]
    assert [len(set(column)) for column in zip(*seen, strict=True)] == [4, 3]


QUESTIONS = "data/test_open_source.jsonl"
DESCRIPTIONS = "data/test_document_information.jsonl"
ID_RULE = "give a text without a space, such as 'q-1'"
NAME_RULE = "use ASCII letters, digits, '_', '-' and '.' only, at most 200"
EVIDENCE_RULE = "give a list of objects with evidence_page_num and evidence_text"


YEAR_RULE = "give a year such as 2024, or leave it out"
PAGE_RULE = "give the PDF's page index, from 0"
TEXT_RULE = "quote the page, or take all away"
BAD_QUESTIONS = [
    ({"answer": ""}, "the question has no answer, and others have; give it, or take all away"),
    ({"question": None, "answer": None, "evidence": []}, "the line has no question, evidence; fill in what is missing"),
    ({"question": " \t"}, "the line has no question; fill in what is missing"),
    ({"doc_name": None}, "the line has no doc_name; fill in what is missing"),
    ({"financebench_id": 17}, f"financebench_id is 17; {ID_RULE}"),
    ({"financebench_id": "q 3"}, f"financebench_id is 'q 3'; {ID_RULE}"),
    ({"financebench_id": "q\x003"}, f"financebench_id is 'q\\x003'; {ID_RULE}"),
    ({"financebench_id": "q\ud800"}, f"financebench_id is 'q\\ud800'; {ID_RULE}"),
    ({"financebench_id": "q1"}, "question id q1 is used twice; give each question its own"),
    ({"question": "a\ud800"}, "question is 'a\\ud800'; give a text"),
    ({"question": 99 * [0]}, f"question is {str(99 * [0])[:79]}…; give a text"),
    ({"question_type": "a\nb"}, "question_type is 'a\\nb'; give one line of text"),
    ({"answer": False}, "answer is False; give a text or a number"),
    ({"answer": ["12", "13"]}, "answer is ['12', '13']; give a text or a number"),
    ({"answer": float("inf")}, "answer is inf; give a text or a number"),
    ({"doc_name": ["ACME"]}, f"doc_name is ['ACME']; {NAME_RULE}"),
    ({"doc_name": "COIL_1"}, "neither pdfs/COIL_1.pdf nor pages/COIL_1.jsonl exists; add one of them"),
    ({"evidence": "net sales"}, f"evidence is 'net sales'; {EVIDENCE_RULE}"),
    ({"evidence": ["net sales"]}, f"evidence 1 is 'net sales'; {EVIDENCE_RULE}"),
    *(
        ({"evidence": [{"evidence_page_num": page}]}, f"evidence_page_num of evidence 1 is {page!r}; {PAGE_RULE}")
        for page in (-1, "1", 1.0, True)
    ),
    ({"evidence": [{"evidence_text": "x"}]}, f"evidence_page_num of evidence 1 is missing; {PAGE_RULE}"),
    *(
        ({"evidence": [{"evidence_page_num": 1, "evidence_text": text}]},
         f"evidence 1 has no text, and others have; {TEXT_RULE}")
        for text in (None, "", "  \n")
    ),
    ({"evidence": [{"evidence_page_num": 0, "doc_name": "BOLT_2020_10Q", "evidence_text": "cover"}]},
     "evidence 1 is in BOLT_2020_10Q, not in the gold filing ACME_2020_10K"),
    ({"evidence": [{"evidence_page_num": 3, "evidence_text": "cover"}]},
     "gold page 3 is past the end of ACME_2020_10K (3 pages, 0-based)"),
    ({"evidence": [{"evidence_page_num": 1, "evidence_text": "cash flow fell in spring"}]},
     "only 0% of the evidence's words stand on page 1 of ACME_2020_10K; "
     "correct evidence_page_num (the PDF's index, from 0) or the text"),
]  # fmt: skip
BAD_DESCRIPTIONS = [
    *(({"doc_period": year}, f"doc_period is {year!r}; {YEAR_RULE}") for year in ("FY24", 10**30, [24], True, 2024.5)),
    ({"company": {"name": "COIL"}}, "company is {'name': 'COIL'}; give one line of text"),
    ({"company": ""}, "the line has no company; fill in what is missing"),
    ({"gics_sector": ["Tools"]}, "gics_sector is ['Tools']; give one line of text"),
    ({"doc_type": True}, "doc_type is True; give one line of text"),
    ({"doc_name": "ACME_2020_10K", "company": "ACME", "doc_period": 1999},
     "ACME_2020_10K is described twice, differently; remove one of the two lines"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), BAD_QUESTIONS)
def test_bad_question(sound, changes, message):
    sound.question("q3", "ACME_2020_10K", (1, "net sales"), **changes)
    assert problems_of(load, sound) == [f"{QUESTIONS} line 3: {message}"]


@pytest.mark.parametrize(("changes", "message"), BAD_DESCRIPTIONS)
def test_bad_description(sound, changes, message):
    sound.document("COIL_2020_10K", **changes)
    assert problems_of(load, sound) == [f"{DESCRIPTIONS} line 3: {message}"]


ENCRYPTED = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "o", "user_pw": "u"}
UNREADABLE = "the PDF cannot be read (it is empty, truncated, damaged or no PDF); download it again"
COIL = "COIL_2020_10K"
BAD_FILES = [
    (lambda one: one.questions.clear(), f"{QUESTIONS}: no question; give at least one"),
    (lambda one: one.pdf(COIL, "coil", **ENCRYPTED),
     "pdfs/COIL_2020_10K.pdf: the PDF is encrypted; save it without a password"),
    (lambda one: (one.pdf(COIL, "coil"), one.documents.pop()),
     "pdfs/COIL_2020_10K.pdf: no line of test_document_information.jsonl describes the filing; "
     "add one with doc_name, company, doc_type and doc_period"),
    (lambda one: one.pdf(COIL, "coil").rename(one.root / "pdfs/Annual Report.pdf"),
     f"pdfs/Annual Report.pdf: rename the file; {NAME_RULE}"),
    (lambda one: one.text(COIL, *"abcde", numbers=[0, 1, 3, 4, 5]),
     "pages/COIL_2020_10K.jsonl line 3: page 3 where 2 comes next; count from 0, leave none out"),
    (lambda one: one.text(COIL, *"abc", numbers=[1, 2, 3]),
     "pages/COIL_2020_10K.jsonl line 1: page 1 where 0 comes next; count from 0, leave none out"),
    (lambda one: one.text(COIL), "pages/COIL_2020_10K.jsonl: no page; give one page a line, or remove the file"),
    (lambda one: one.pdf(COIL, "", ""),
     "pdfs/COIL_2020_10K.pdf: no page has text, as in a scan; recognise it (OCR), as with "
     "ocrmypdf pdfs/COIL_2020_10K.pdf pdfs/COIL_2020_10K.pdf, or remove the filing"),
    (lambda one: one.pdf(COIL, "x").write_bytes((one.root / "pdfs/ACME_2020_10K.pdf").read_bytes()),
     "pdfs/COIL_2020_10K.pdf: the same bytes as ACME_2020_10K.pdf; its pages would count twice; remove one of the two"),
    *((lambda one, content=content: one.pdf(COIL, "coil").write_bytes(content), f"pdfs/COIL_2020_10K.pdf: {wrong}")
      for content, wrong in {
          b"": UNREADABLE,
          b"\x00\x01\x02 nothing": UNREADABLE,
          b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n": UNREADABLE,
          b"<!DOCTYPE html><html><body><p>404</p></body></html>":
              "the PDF is something else under a PDF's name; download it again",
      }.items()),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "told"), BAD_FILES)
def test_bad_file(sound, spoil, told):
    spoil(sound)
    assert problems_of(load, sound) == [told]


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a/b", "..", ".hidden", "a b", "C:\\x"])
def test_a_doc_name_that_is_a_path_is_refused(sound, name):
    sound.document(name)
    sound.question("q3", name, (0, "root"))
    wanted = f"doc_name is {name!r}; {NAME_RULE}"
    assert problems_of(load, sound) == [f"{place} line 3: {wanted}" for place in (DESCRIPTIONS, QUESTIONS)]


def test_json_that_cannot_be_read_is_a_problem_of_its_line(sound):
    sound.questions += ['{"financebench_id": "q2", ', "[1, 2]", "[" * 200_000, '{"a": ' + "1" * 5000 + "}"]
    sound.questions.append('{"doc_name": "x", "doc_name": "y"}')
    told = [
        "broken JSON (Expecting property name",
        "not a JSON object; one record a line, in braces",
        "broken JSON (nested too deep); mend or remove the line",
        "broken JSON (Exceeds the limit",
        "broken JSON (the field 'doc_name' stands in it twice); mend or remove the line",
    ]
    for line, (problem, words) in enumerate(zip(problems_of(load, sound), told, strict=True), 3):
        assert problem.startswith(f"{QUESTIONS} line {line}: {words}")


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95])
def test_truncated_pdf(sound, share):
    path = sound.pdf(COIL, *(f"page {n} of coil" for n in range(9)))
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    (message,) = problems_of(load, sound)
    assert re.fullmatch(r"pdfs/COIL_2020_10K.pdf: the PDF .*truncated.*; download it again", message)


def test_page_text_of_another_filing_or_without_text(sound):
    path = sound.text(COIL, "a")
    lines = [{"doc_name": "BOLT_2020_10Q", "page": 0, "text": "a"}, {"doc_name": COIL, "page": 1}]
    path.write_text("\n".join([*map(json.dumps, lines), "{broken"]))
    name, text, broken = sorted(problems_of(load, sound))
    assert name == "pages/COIL_2020_10K.jsonl line 1: doc_name is not COIL_2020_10K; mend the name"
    assert text == "pages/COIL_2020_10K.jsonl line 2: the line has no text; fill in what is missing"
    assert broken.startswith("pages/COIL_2020_10K.jsonl line 3: broken JSON (")


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
    assert problems_of(read_dataset, sound.root, "test")[0].startswith(f"{name}: {wrong}")


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ('{"question": "é"}'.encode("latin1"), "byte 0xe9 is no UTF-8; save the file as UTF-8"),
        (b'[\n {"question": "e"}\n]', "the file is one JSON list; write one record a line, without a list around them"),
    ],
)
def test_a_file_that_is_no_json_lines_is_one_problem(sound, content, wanted):
    (sound.write() / QUESTIONS).write_bytes(content)
    assert problems_of(read_dataset, sound.root, "test") == [f"{QUESTIONS} line 1: {wanted}"]


@pytest.mark.parametrize(
    ("words", "other"), [("売上高は増加した", "現金は減少しました"), ("Чистые продажи выросли", "Денежный поток упал")]
)
def test_evidence_in_any_script_is_looked_for_on_its_page(sound, words, other):
    sound.text(COIL, f"{words[:4]}\n{words[4:]}", other)
    sound.question("q3", COIL, (0, words))
    assert len(load(sound)[1]) == 7
    sound.question("q4", COIL, (1, words))
    (message,) = problems_of(load, sound)
    assert message.startswith(f"{QUESTIONS} line 4: only ")


def test_a_gold_page_without_text_is_told(sound):
    sound.text("DUCT_2020_10K", "cover", " ")
    sound.question("q3", "DUCT_2020_10K", (1, ""))
    for question in sound.questions[:2]:
        question["evidence"] = [{"evidence_page_num": 1}]
    mend = "recognise it (OCR), or correct evidence_page_num (the PDF's index, from 0)"
    assert problems_of(load, sound) == [f"{QUESTIONS} line 3: gold page 1 of DUCT_2020_10K has no text; {mend}"]


def test_a_thousand_problems_are_fifty_lines_and_a_count(sound):
    sound.questions += ["{"] * 1000
    with pytest.raises(DatasetError) as caught:
        read_dataset(sound.write(), "test")
    first, *rest = str(caught.value).splitlines()
    assert first == f"{sound.root}: 1000 problems"
    assert (len(rest), rest[-1]) == (51, "  and 950 more")


def test_every_problem_is_told_at_once(sound):
    """One message for the whole folder, records, files and gold pages alike, so that one round of mending is enough."""
    sound.pdf(COIL, "coil", **ENCRYPTED)
    cut = sound.pdf("DUCT_2020_10K", *TEXT)
    cut.write_bytes(cut.read_bytes()[:700])
    sound.text("EDGE_2020_10K", "a", "b", numbers=[0, 2])
    sound.pdf("FLUX_2020_10K", "")
    sound.questions.append('{"broken')
    sound.question("q4", "ACME_2020_10K", (212, "net sales"))
    sound.question("q5", "ACME_2020_10K", (0, "entirely other words"))
    sound.question("q6", "GONE_2020_10K", (0, "gone"), answer=False)
    told = [
        f"{QUESTIONS} line 3: broken JSON",
        f"{QUESTIONS} line 6: answer is False",
        f"{QUESTIONS} line 6: neither pdfs/GONE_2020_10K.pdf nor pages/GONE_2020_10K.jsonl exists",
        "pdfs/COIL_2020_10K.pdf: the PDF is encrypted",
        "pdfs/DUCT_2020_10K.pdf: the PDF ",
        "pages/EDGE_2020_10K.jsonl line 2: page 2 where 1 comes next",
        "pdfs/FLUX_2020_10K.pdf: no page has text",
        f"{QUESTIONS} line 4: gold page 212 is past the end of ACME_2020_10K (3 pages, 0-based)",
        f"{QUESTIONS} line 5: only 0% of the evidence's words stand on page 0",
    ]
    for problem, words in zip(problems_of(load, sound), told, strict=True):
        assert problem.startswith(words)


def test_files_that_are_missing_or_twice_in_data_are_told_at_once(sound):
    sound.write()
    (sound.root / DESCRIPTIONS).unlink()
    (sound.root / "data" / "other_open_source.jsonl").touch()
    assert problems_of(read_dataset, sound.root, "test") == [
        "data: more than one *open_source*.jsonl: other_open_source.jsonl, test_open_source.jsonl; leave one",
        "data: no *document_information*.jsonl; see the dataset layout in the README",
    ]

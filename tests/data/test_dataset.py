"""Loading a dataset: what is read, and every bad input with its place, all reported at once."""

from collections.abc import Callable

import pymupdf
import pytest

from lib.data.dataset import read_dataset, read_questions
from lib.data.pages import check_gold, extract_pages
from lib.schema import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError
from tests.conftest import write_questions
from tests.data.conftest import problems_of

TEXT = ("cover", "net sales rose", "cash flow fell")
QUESTIONS, DESCRIPTIONS = "data/test_open_source.jsonl", "data/test_document_information.jsonl"
ACME, BOLT, COIL, DUCT = "ACME_2020_10K", "BOLT_2020_10Q", "COIL_2020_10K", "DUCT_2020_10K"
ENCRYPTED = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "o", "user_pw": "u"}


def load(folder) -> tuple:
    """The dataset and its pages, as a study gets them."""
    dataset = read_dataset(folder.write(), "test")
    found = extract_pages(dataset)
    check_gold(dataset, found)
    return dataset, found


def assert_problems(folder, wanted: list[str]) -> None:
    """Loading a folder ends in one error of these problems, each by its beginning: file, line and field."""
    found = problems_of(load, folder)
    assert [[one for one in found if one.startswith(start)] for start in wanted] == [[one] for one in sorted(found)]


@pytest.fixture
def sound(folder):
    """A folder with one sound filing of each kind and a question about each."""
    folder.pdf(ACME, *TEXT)
    folder.text(BOLT, "cover of bolt", "profit fell in the year")
    folder.question("q1", ACME, (1, "net sales rose"))
    folder.question("q2", BOLT, (1, "profit fell"))
    return folder


def test_a_sound_folder_gives_the_frames(sound):
    sound.question("q3", ACME, (2, "cash flow"), (0, "cover"), (2, "fell"))
    sound.pdf(COIL, "", "the text is taken in place of the PDF")
    sound.text(COIL, "", "one", "")
    sound.pdf(DUCT, "", "an owner's password hides nothing", **ENCRYPTED | {"user_pw": ""})
    sound.documents[0] |= {"doc_period": "2021", "company": 3}  # a text and a number
    sound.documents[1] |= {"doc_period": None, "doc_type": None, "gics_sector": ""}
    dataset, pages = load(sound)
    assert tuple(dataset.questions) == QUESTION_COLUMNS
    assert tuple(dataset.filings) == FILING_COLUMNS[:-1]
    first, _, third = dataset.questions.itertuples()
    assert (first.question_id, first.doc_type, first.company, first.gold_pages) == ("q1", "10-K", "3", [1])
    assert (third.gold_pages, third.evidence) == ([0, 2], "cash flow\n\ncover\n\nfell")
    texts = pages["text"].str.strip().groupby(pages["doc_name"]).agg(list)
    assert texts[[ACME, COIL]].tolist() == [[*TEXT], ["", "one", ""]]
    assert texts[DUCT] == ["", "an owner's password hides nothing"]
    assert pages["page"].tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 0, 1]
    known = dataset.filings.fillna("")[["company", "doc_type", "doc_period", "sector"]].to_numpy().tolist()
    assert known[:2] == [["3", "10-K", 2021.0, "Tools"], ["BOLT", "other", "", ""]]


@pytest.fixture
def second(sound, tmp_path):
    """Write another set over the sound folder and read it; gives it with the folder's own."""

    def read(record: dict) -> tuple:
        own = read_dataset(sound.write(), "test")
        return read_questions(write_questions(tmp_path / "second", record), "second", own), own

    return read


RECORD = {"financebench_id": "s1", "doc_name": BOLT, "pages": [1, 0], "company": "Bolts Ltd.", "answer": 5}


def test_another_set_has_its_questions_and_the_collection_s_filings(second):
    found, own = second(RECORD | {"also": [1, 0, 1], "other_filings": [f"{ACME}#p0002"]})
    assert (found.name, found.collection, own.collection) == ("second", "test", "test")
    [row] = found.questions.to_dict("records")
    assert (row["question_id"], row["company"], row["gold_pages"]) == ("s1", "BOLT", [0, 1])
    assert (row["answer"], row["evidence"]) == ("5", "")
    assert (row["also"], row["other_filings"]) == ([0, 1], [f"{ACME}#p0002"])
    assert found.filings_digest == own.filings_digest
    assert found.fingerprint != own.fingerprint
    assert (found.lacks, own.lacks) == (("evidence",), ())


def test_pages_of_another_set_are_within_the_collection_s_filings(second):
    found, own = second(RECORD | {"pages": [2]})
    [past] = problems_of(check_gold, found, extract_pages(own))
    assert past.startswith(f"data/my_questions.jsonl line 1: gold page 2 of {BOLT} is past its end")
    found, own = second(RECORD | {"also": [2], "other_filings": [f"{ACME}#p0003"]})
    lines = problems_of(check_gold, found, extract_pages(own))
    assert [line.partition(" is past")[0] for line in lines] == [
        f"data/my_questions.jsonl: page 2 of {BOLT}",
        f"data/my_questions.jsonl: page 3 of {ACME}",
    ]
    with pytest.raises(DatasetError, match=r"my_questions\.jsonl: no question asks about a filing of test"):
        second({"financebench_id": "s1", "doc_name": COIL})


def test_fingerprint_and_filings_digest_change_with_what_they_are_of(sound):
    def identity(name: str = "test") -> tuple[str, str]:
        dataset = read_dataset(sound.write(), name)
        return dataset.fingerprint, dataset.filings_digest

    seen = [identity()]
    (sound.root / "README.txt").write_text("not read")
    assert identity("other name") == seen[0]
    sound.question("q3", ACME, (0, "cover"))
    seen.append(identity())
    sound.documents[0]["gics_sector"] = "Else"
    seen.append(identity())
    sound.text(BOLT, "cover of bolt", "profit fell in the year.")
    fingerprints, filings = zip(*seen, identity(), strict=True)
    assert len(set(fingerprints)) == 4
    assert filings[0] == filings[1]
    assert len(set(filings)) == 3


def evidence(**piece) -> dict:
    return {"evidence": [{"evidence_page_num": 1, "evidence_text": "net sales"} | piece]}


BAD_QUESTIONS = [
    ({"answer": ""}, "the question has no answer"),
    ({"question": "a\ud800"}, "question is 'a\\ud800'"),
    ({"question": 99 * [0]}, f"question is {str(99 * [0])[:80]};"),
    ({"financebench_id": "q 3"}, "financebench_id is 'q 3'"),
    ({"financebench_id": "<img/src/onerror=alert(9)>"}, "financebench_id is '<img"),
    ({"financebench_id": "q&amp;1"}, "financebench_id is 'q&amp;1'"),
    ({"financebench_id": "q\u200b1"}, "financebench_id is 'q\\u200b1'"),
    ({"financebench_id": "q1"}, "question id q1 is repeated"),
    ({"question_type": "a\nb"}, "question_type is 'a\\nb'"),
    ({"answer": False}, "answer is False"),
    ({"doc_name": "../../x"}, "doc_name is '../../x'"),
    ({"doc_name": "COIL_1"}, "neither pdfs/COIL_1.pdf nor pages/COIL_1.jsonl exists; add"),
    ({"doc_name": "acme_2020_10K"}, "neither pdfs/acme_2020_10K.pdf nor pages/acme_2020_10K.jsonl exists; is ACME"),
    ({"evidence": '[{"evidence_page_num": 1'}, "evidence begins"),
    ({"evidence": [17]}, "evidence.0 is 17"),
    ({"also": [-1]}, "also.0 is -1"),
    ({"other_filings": ["ACME_2020_10K page 3"]}, "other_filings.0 is 'ACME"),
    (evidence(evidence_page_num=-1), "evidence.0.evidence_page_num is -1"),
    (evidence(evidence_page_num=True), "evidence.0.evidence_page_num is True"),
    (evidence(evidence_page_num=None, evidence_text=""), "evidence.0 has neither"),
    (evidence(evidence_text=" \n"), "evidence.0 has no text"),
    (evidence(doc_name=BOLT), f"evidence.0 is in {BOLT}"),
    (evidence(evidence_page_num=3), f"gold page 3 of {ACME} is past its end"),
    (
        evidence(evidence_text="cash flow fell in spring"),
        f"gold page 1 of {ACME} has only 0% of the evidence's words, page 2 has 60%",
    ),
]
BAD_DESCRIPTIONS = [
    ({"doc_period": "FY24"}, "doc_period is 'FY24'"),
    ({"company": ""}, "company is missing"),
    ({"doc_name": ACME, "company": "ACME", "doc_period": 1999}, f"{ACME} is described twice"),
]


def test_every_problem_of_the_records_is_listed_with_file_line_and_field(sound):
    wanted = []
    for line, (changes, problem) in enumerate(BAD_DESCRIPTIONS, 3):
        sound.document(COIL, **changes)
        wanted.append(f"{DESCRIPTIONS} line {line}: {problem}")
    for line, (changes, problem) in enumerate(BAD_QUESTIONS, 3):
        sound.question(f"q{line}", ACME, (1, "net sales"), **changes)
        wanted.append(f"{QUESTIONS} line {line}: {problem}")
    assert_problems(sound, sorted(wanted))


def page_text(content: str | bytes) -> Callable:
    """Write a filing's page text; NAME in it is the filing's."""
    given = content if isinstance(content, bytes) else content.encode()
    return lambda folder, name: folder.text(name, "a").write_bytes(given.replace(b"NAME", name.encode()))


def cut(folder, name: str) -> None:
    path = folder.pdf(name, *(f"page {number} of {name}" for number in range(9)))
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 95 // 100])


def copied(folder, name: str) -> None:
    folder.pdf(name, name).write_bytes((folder.root / f"pdfs/{ACME}.pdf").read_bytes())


def undescribed(folder, name: str) -> None:
    folder.pdf(name, name)
    folder.documents.pop()


def _line(page: int) -> str:
    return f'{{"doc_name": "NAME", "page": {page}, "text": "a"}}\n'


#: A way to spoil the file of a filing, and the beginning of what is reported of it.
BAD_FILES = [
    (lambda folder, name: folder.pdf(name, name, **ENCRYPTED), ": the PDF is encrypted"),
    (lambda folder, name: folder.pdf(name, "", ""), ": no page has text"),
    (lambda folder, name: folder.pdf(name, name).write_bytes(b"<!DOCTYPE html><p>404</p>"), ": the PDF is damaged"),
    (cut, ": the PDF is damaged"),
    (copied, f": the same bytes as {ACME}.pdf"),
    (undescribed, ": test_document_information.jsonl has no line"),
    (lambda folder, name: (folder.root / f"pdfs/{name}.pdf").mkdir(), ": not a readable file"),
    (lambda folder, name: (folder.root / f"pdfs/{name}.pdf").symlink_to("/etc/hostname"), ": a link out of the folder"),
    (lambda folder, name: folder.text(name, *"abc", numbers=[0, 2, 3]), " line 2: page 2 where 1 is next"),
    (page_text(""), ": no page"),
    (page_text("[]\n"), " line 1: the line is []"),
    (page_text(f'{{"doc_name": "{BOLT}", "page": 0, "text": "a"}}'), " line 1: doc_name is not FILING_"),
    (page_text('{"doc_name": "NAME", "page": 0}'), " line 1: text is missing"),
    (
        page_text('{"doc_name": "NAME", "pg": 0, "text": "a"}'),
        " line 1: page is missing; field required, and 'pg' is not",
    ),
    (page_text(_line(0) + '{"doc_name": "NAME", "pa\n' + _line(2)), " line 2: invalid JSON"),  # and no page is left out
    (page_text('\n{"text": "é"}'.encode("latin1")), " line 2: byte 0xe9 is not UTF-8"),
]


def test_every_problem_of_the_files_is_listed(sound):
    bad_names = [f"pdfs/{name}.pdf" for name in ("Annual Report", "a..b", "é")]
    wanted = [f"{name}: rename the file" for name in bad_names]
    for number, name in enumerate(bad_names):
        sound.pdf(COIL, f"coil {number}").rename(sound.root / name)
    for number, (spoil, problem) in enumerate(BAD_FILES):
        spoil(sound, name := f"FILING_{number}")
        path = f"pdfs/{name}.pdf" if (sound.root / f"pdfs/{name}.pdf").exists() else f"pages/{name}.jsonl"
        wanted.append(path + problem)
    assert_problems(sound, sorted(wanted))


def test_a_thousand_problems_are_fifty_and_a_count(sound):
    sound.questions[2:] = ["[" * 200_000, '{"doc_name": "x", "doc_name": "y"}', *["{"] * 998]
    with pytest.raises(DatasetError) as caught:
        read_dataset(sound.write(), "test")
    first, *listed, rest = str(caught.value).splitlines()
    assert (first, len(listed), rest) == (f"{sound.root}: 1000 problems", 50, "  and 950 more")
    assert all(one.startswith(f"  {QUESTIONS} line {number}: ") for number, one in enumerate(listed, 3))


def test_a_dataset_has_a_question_and_its_gold_pages_have_text(sound):
    words = "Чистые продажи выросли"
    sound.text(DUCT, "cover", " ", words.replace(" ", "\n"))
    sound.questions[:] = []
    sound.question("q1", DUCT, (2, words), (0, words))
    assert_problems(sound, [f"{QUESTIONS} line 1: gold page 0 of {DUCT} has only 0%"])
    sound.questions[:] = []
    sound.question("q1", DUCT, (1, ""))
    assert_problems(sound, [f"{QUESTIONS} line 1: gold page 1 of {DUCT} has no text"])
    sound.questions[:] = []
    assert_problems(sound, [f"{QUESTIONS}: no question"])


def test_files_that_are_missing_or_twice_in_data_are_listed(sound):
    sound.write()
    (sound.root / DESCRIPTIONS).unlink()
    (sound.root / "data" / "other_open_source.jsonl").touch()
    twice, missing = problems_of(read_dataset, sound.root, "test")
    assert "other_open_source.jsonl, test_open_source.jsonl" in twice
    assert "no *document_information*" in missing


def test_an_id_has_letters_of_any_script_digits_and_a_few_signs(sound):
    ids = ["q-1", "ADI/2009/page_49.pdf-1", "form#p3", "abc+/=", "a@b.c", "问题:१", "हिन्दी"]
    for one in ids:
        sound.question(one, ACME, (1, "net sales"))
    assert load(sound)[0].questions["question_id"].tolist() == ["q1", "q2", *ids]


def test_filings_in_sub_folders_and_beside_data_are_read_and_one_name_twice_is_refused(sound):
    _, pages = load(sound)
    (folder := sound.root / "pdfs" / "2020" / "Acme").mkdir(parents=True)
    moved = (sound.root / f"pdfs/{ACME}.pdf").rename(folder / f"{ACME}.Pdf")
    dataset, found = load(sound)
    assert found.equals(pages)
    assert dataset.source(ACME) == moved
    (sound.root / f"{ACME}.pdf").write_bytes(moved.read_bytes())
    assert_problems(sound, [f"pdfs/2020/Acme/{ACME}.Pdf: same name as {ACME}.pdf"])
    moved.unlink()
    assert load(sound)[1].equals(pages)


def test_a_filing_that_is_no_pdf_is_named(sound):
    (sound.root / "pdfs" / f"{COIL}.htm").write_text("<html>")
    sound.question("q3", COIL, (0, "net sales"))
    assert_problems(sound, [f"pdfs/{COIL}.htm: .htm is not read"])

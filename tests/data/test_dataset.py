"""Loading a dataset: what is read, and every bad input with its message, all reported at once."""

import json
from pathlib import Path

import pymupdf
import pytest

from lib.data.dataset import read_dataset, read_questions
from lib.data.pages import check_gold, extract_pages
from lib.schema import FILING_COLUMNS, QUESTION_COLUMNS, DatasetError
from tests.conftest import write_questions

TEXT = ("cover", "net sales rose", "cash flow fell")
QUESTIONS, DESCRIPTIONS = "data/test_open_source.jsonl", "data/test_document_information.jsonl"
ACME, BOLT, COIL, DUCT = "ACME_2020_10K", "BOLT_2020_10Q", "COIL_2020_10K", "DUCT_2020_10K"
INDEX = "evidence_page_num (the PDF's index, from 0)"
ENCRYPTED = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "o", "user_pw": "u"}


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

    def read(*records: dict) -> tuple:
        own = read_dataset(sound.write(), "test")
        return read_questions(write_questions(tmp_path / "second", *records), "second", own), own

    return read


def test_another_set_has_its_questions_and_the_collection_s_filings_and_pages(second):
    record = {"financebench_id": "s1", "doc_name": BOLT, "pages": [1, 0], "company": "Bolts Ltd.", "answer": 5}
    found, own = second(record)
    assert (found.name, found.collection, own.collection) == ("second", "test", "test")
    [row] = found.questions.to_dict("records")
    assert (row["question_id"], row["company"], row["gold_pages"]) == ("s1", "BOLT", [0, 1])
    assert (row["answer"], row["evidence"]) == ("5", "")
    assert (found.filings_digest == own.filings_digest, found.fingerprint == own.fingerprint) == (True, False)
    assert (found.lacks, own.lacks) == (("evidence",), ())
    found, _ = second(record | {"pages": [2]})
    past = f"data/my_questions.jsonl line 1: gold page 2 is past the end of {BOLT} (2 pages, 0-based); correct {INDEX}"
    assert problems_of(check_gold, found, extract_pages(own)) == [past]
    with pytest.raises(DatasetError, match=r"my_questions.jsonl: no question asks about a filing of test; name"):
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
    assert (len(set(fingerprints)), filings[0] == filings[1], len(set(filings))) == (4, True, 3)


def evidence(**piece) -> dict:
    return {"evidence": [{"evidence_page_num": 1, "evidence_text": "net sales"} | piece]}


ID_RULE = "use letters, digits and - _ . : / # + = @ only, such as 'q-1'"
NAME_RULE = "use ASCII letters, digits, '_', '-' and '.' only, at most 200"
PAGE_RULE = "give the PDF's page index, from 0"
PIECES_RULE = "give a list of objects with evidence_page_num and evidence_text"
BAD_QUESTIONS = [
    ({"answer": ""}, "the question has no answer, and others have; give it, or take all away"),
    ({"question": " \t"}, "question is missing; give a text"),
    ({"doc_name": None}, f"doc_name is missing; {NAME_RULE}"),
    *(({"financebench_id": one}, f"financebench_id is {one!r}; {ID_RULE}")
      for one in (17, "q 3", "<img/src/onerror=alert(9)>", "q&amp;1", "q\u200b1")),
    ({"financebench_id": "q1"}, "question id q1 is used twice; give each question its own"),
    ({"question": "a\ud800"}, "question is 'a\\ud800'; give a text"),
    ({"question": 99 * [0]}, f"question is {str(99 * [0])[:79]}…; give a text"),
    ({"question_type": "a\nb"}, "question_type is 'a\\nb'; give one line of text"),
    *(({"answer": one}, f"answer is {one!r}; give a text or a number") for one in (False, ["12"])),
    ({"doc_name": "../../x"}, f"doc_name is '../../x'; {NAME_RULE}"),
    ({"doc_name": "COIL_1"}, "neither pdfs/COIL_1.pdf nor pages/COIL_1.jsonl exists; add one of them"),
    ({"evidence": ["net sales"]}, f"evidence 1 is 'net sales'; {PIECES_RULE}"),
    *((evidence(evidence_page_num=page), f"evidence_page_num of evidence 1 is {page!r}; {PAGE_RULE}")
      for page in (-1, "1")),
    (evidence(evidence_page_num=None), f"evidence_page_num of evidence 1 is missing; {PAGE_RULE}"),
    (evidence(evidence_text=" \n"), "evidence 1 has no text, and others have; quote the page, or take all away"),
    (evidence(doc_name=BOLT), f"evidence 1 is in {BOLT}, not in the gold filing {ACME}; leave out what is in others"),
    (evidence(evidence_page_num=3), f"gold page 3 is past the end of {ACME} (3 pages, 0-based); correct {INDEX}"),
    (evidence(evidence_text="cash flow fell in spring"), f"only 0% of the evidence's words stand on page 1 of {ACME}; "
     f"correct {INDEX} or the text"),
]  # fmt: skip
BAD_DESCRIPTIONS = [
    *(({"doc_period": year}, f"doc_period is {year!r}; give a year such as 2024, or leave it out")
      for year in ("FY24", 2024.5)),
    ({"company": ""}, "company is missing; give one line of text"),
    ({"doc_name": ACME, "company": "ACME", "doc_period": 1999},
     f"{ACME} is described twice, differently; remove one of the two lines"),
]  # fmt: skip


def test_what_is_wrong_with_records_is_told_at_once_with_file_and_line(sound):
    wanted = []
    for line, (changes, message) in enumerate(BAD_QUESTIONS, 3):
        sound.question(f"q{line}", ACME, (1, "net sales"), **changes)
        wanted.append(f"{QUESTIONS} line {line}: {message}")
    for line, (changes, message) in enumerate(BAD_DESCRIPTIONS, 3):
        sound.document(COIL, **changes)
        wanted.append(f"{DESCRIPTIONS} line {line}: {message}")
    assert sorted(problems_of(load, sound)) == sorted(wanted)


def shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 95 // 100])


UNREADABLE = "the PDF is damaged, truncated or no PDF; download it again"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n"
BAD_FILES = [
    (lambda one, name: one.pdf(name, name, **ENCRYPTED), "the PDF is encrypted; save it without a password"),
    (lambda one, name: one.pdf(name, "", ""), "no page has text, as in a scan; recognise it (OCR), as with "
     "ocrmypdf pdfs/NAME.pdf pdfs/NAME.pdf, or remove the filing"),
    (lambda one, name: one.pdf(name, name).write_bytes((one.root / f"pdfs/{ACME}.pdf").read_bytes()),
     f"the same bytes as {ACME}.pdf; its pages would count twice; remove one of the two"),
    *((lambda one, name, content=content: one.pdf(name, name).write_bytes(content + name.encode()), UNREADABLE)
      for content in (b"", LFS)),
    (lambda one, name: one.pdf(name, name).write_bytes(b"<!DOCTYPE html><html><body><p>404</p></body></html>"),
     UNREADABLE),
    (lambda one, name: (one.pdf(name, name), one.documents.pop()), "no line of test_document_information.jsonl "
     "describes the filing; add one with doc_name, company, doc_type and doc_period"),
    (lambda one, name: shortened(one.pdf(name, *(f"page {n} of {name}" for n in range(9)))),
     UNREADABLE),
    (lambda one, name: one.text(name, *"abc", numbers=[0, 2, 3]),
     "line 2: page 2 where 1 comes next; count from 0, leave none out"),
    (lambda one, name: one.text(name), "no page; give one page a line, or remove the file"),
    (lambda one, name: one.text(name, "a").write_text('[]\n'),
     "line 1: not a JSON object; write one record a line, in braces"),
    (lambda one, name: (one.root / f"pdfs/{name}.pdf").mkdir(),
     "is no file that can be opened; mend, rename or remove it"),
    (lambda one, name: (one.root / f"pdfs/{name}.pdf").symlink_to("/etc/hostname"),
     "leads out of the folder, to /etc/hostname; copy it here, or remove it"),
    (lambda one, name: one.text(name, "", " "), "no page has text, as in a scan; give it text, or remove the filing"),
    (lambda one, name: one.text(name, "a").write_text(json.dumps({"doc_name": BOLT, "page": 0, "text": "a"})),
     "line 1: doc_name is not NAME; mend the name"),
    (lambda one, name: one.text(name, "a").write_text(json.dumps({"doc_name": name, "page": 0})),
     "line 1: text is missing; give the page's text; a blank page has the empty text"),
    (lambda one, name: one.text(name, "a").write_bytes('\n{"text": "é"}'.encode("latin1")),
     "line 2: byte 0xe9 is no UTF-8; save the file as UTF-8"),
]  # fmt: skip


def test_what_is_wrong_with_files_is_told_at_once(sound):
    bad_names = [f"pdfs/{name}.pdf" for name in ("Annual Report", "a..b", "é")]
    wanted = [f"{name}: rename the file; {NAME_RULE}" for name in bad_names]
    for number, name in enumerate(bad_names):
        sound.pdf(COIL, f"coil {number}").rename(sound.root / name)
    for number, (spoil, message) in enumerate(BAD_FILES):
        name = f"FILING_{number}"
        spoil(sound, name)
        path = f"pdfs/{name}.pdf" if (sound.root / f"pdfs/{name}.pdf").exists() else f"pages/{name}.jsonl"
        separator = " " if message.startswith("line ") else ": "
        wanted.append(path + separator + message.replace("NAME", name))
    assert sorted(problems_of(load, sound)) == sorted(wanted)


def test_a_thousand_problems_are_fifty_and_a_count(sound):
    sound.questions[2:] = ["[" * 200_000, '{"doc_name": "x", "doc_name": "y"}', *["{"] * 998]
    with pytest.raises(DatasetError) as caught:
        read_dataset(sound.write(), "test")
    first, deep, doubled, broken, *rest = str(caught.value).splitlines()
    assert (first, len(rest), rest[-1]) == (f"{sound.root}: 1000 problems", 48, "  and 950 more")
    assert deep.startswith(f"  {QUESTIONS} line 3: broken JSON (maximum recursion depth exceeded")
    assert doubled.startswith(f"  {QUESTIONS} line 4: broken JSON (the field 'doc_name' stands in it twice)")
    assert broken.startswith(f"  {QUESTIONS} line 5: broken JSON (Expecting property name")


def test_a_dataset_has_a_question_and_its_gold_pages_have_text(sound):
    sound.text(DUCT, "cover", " ", "Чистые\nпродажи\nвыросли")
    for question in sound.questions:
        question["evidence"] = [{"evidence_page_num": 1}]
    sound.question("q3", DUCT, (1, ""))
    mend = f"recognise it (OCR), or correct {INDEX}"
    assert problems_of(load, sound) == [f"{QUESTIONS} line 3: gold page 1 of {DUCT} has no text; {mend}"]
    words = "Чистые продажи выросли"
    sound.questions[:] = []
    sound.question("q1", DUCT, (2, words), (0, words))
    [message] = problems_of(load, sound)
    assert message.startswith(f"{QUESTIONS} line 1: only 0% of the evidence's words stand on page 0 of {DUCT}")
    sound.questions[:] = []
    assert problems_of(load, sound) == [f"{QUESTIONS}: no question; give at least one"]


def test_files_that_are_missing_or_twice_in_data_are_told_at_once(sound):
    sound.write()
    (sound.root / DESCRIPTIONS).unlink()
    (sound.root / "data" / "other_open_source.jsonl").touch()
    assert problems_of(read_dataset, sound.root, "test") == [
        "data: more than one *open_source*.jsonl: other_open_source.jsonl, test_open_source.jsonl; leave one",
        "data: no *document_information*.jsonl; see the dataset layout in book/reproduce.md",
    ]


def test_an_id_has_letters_of_any_script_digits_and_a_few_signs(sound):
    ids = ["q-1", "ADI/2009/page_49.pdf-1", "form#p3", "abc+/=", "a@b.c", "问题:१", "हिन्दी"]
    for one in ids:
        sound.question(one, ACME, (1, "net sales"))
    assert load(sound)[0].questions["question_id"].tolist() == ["q1", "q2", *ids]


def test_the_ending_of_a_pdf_may_be_in_capitals(sound):
    content = (sound.root / f"pdfs/{ACME}.pdf").read_bytes()
    _, pages = load(sound)
    (sound.root / f"pdfs/{ACME}.pdf").unlink()
    (sound.root / f"pdfs/{ACME}.PDF").write_bytes(content)
    dataset, found = load(sound)
    assert found.equals(pages)
    assert dataset.source(ACME).name == f"{ACME}.PDF"
    (sound.root / f"pdfs/{ACME}.pdf").write_bytes(content)
    assert problems_of(load, sound) == [
        f"pdfs/{ACME}.pdf: has the name of pdfs/{ACME}.PDF; rename or remove one of the two"
    ]


def test_a_filing_in_a_sub_folder_is_named_with_where_it_belongs(sound):
    for name in (COIL, DUCT):
        sound.pdf(name, name)
        sound.question(f"q {name}".replace(" ", "-"), name, (0, name))
        (folder := sound.root / "pdfs" / "2020" / name).mkdir(parents=True)
        (sound.root / f"pdfs/{name}.pdf").rename(folder / f"{name}.Pdf")
    (sound.root / "pdfs" / "2020" / "OTHER.pdf").write_text("of no question")
    wanted = [f"pdfs/2020/{name}/{name}.Pdf: is in a sub-folder, where no filing is read; move it into pdfs/"
              for name in (COIL, DUCT)]  # fmt: skip
    assert problems_of(load, sound) == wanted

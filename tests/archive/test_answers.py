"""Answers of an archive over tables as filings print them, whatever the question's wording."""

from pathlib import Path

import pymupdf
import pytest

from lib.archive.ask import Archive, answer_text, fits, with_pictures
from lib.archive.index import ArchiveIndex, write_index
from lib.archive.wording import one_wording
from lib.files import ROOT, read_yaml
from lib.filings.identity import asked_period
from lib.statements.asked import asked_for
from tests.archive.conftest import PROFILE

WORDINGS = read_yaml(ROOT / "tests" / "statements" / "wordings.yaml")
COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
FORM {form}
For the fiscal year ended {end}
{name}
(Exact name of registrant as specified in its charter)"""
TALK = "The company sells goods by wholesale.\nOur fiscal 2023 is the 52 weeks ended January 28, 2024."
#: Form, end, unit, and rows: cells from left to right, with the right edge of each figure.
FILINGS = {
    "NORVANE PLC": ("20-F", "December 31, 2023", "(in millions of euros)", [
        ["", ("Note", 300), ("2023", 370), ("2022", 440)], ["Revenue", ("4", 300), ("4,210", 370), ("3,980", 440)],
        ["Net loss", ("9", 300), ("310", 370), ("290", 440)],
    ]),
    "QUARNE CORP": ("10-K", "January 28, 2024", "(in thousands)", [
        ["", ("Jan 28, 2024", 340), ("Jan 29, 2023", 440)], ["Revenue", ("$ 5,125", 340), ("$ 4,600", 440)],
        ["Net income", ("", 340), ("31", 440)],
    ]),
}  # fmt: skip


def write_filing(path: Path, name: str) -> None:
    """A filing of a cover, a page of prose and an income statement."""
    form, end, unit, rows = FILINGS[name]
    with pymupdf.open() as pdf:
        for text in (COVER.format(form=form, end=end, name=name), TALK if "28" in end else "We sell goods."):
            pdf.new_page().insert_text((50, 60), text, fontsize=10)
        page = pdf.new_page()
        page.insert_text((50, 60), f"{name}\nCONSOLIDATED STATEMENTS OF INCOME\nYears ended\n{unit}", fontsize=9)
        for n, (label, *cells) in enumerate(rows):
            page.insert_text((50, 130 + 14 * n), label, fontsize=9)
            for text, right in cells:
                page.insert_text((right - pymupdf.get_text_length(text, fontsize=9), 130 + 14 * n), text, fontsize=9)
        pdf.save(path)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """An archive of FILINGS, opened."""
    folder = tmp_path_factory.mktemp("printed")
    for name in FILINGS:
        write_filing(folder / f"{name.split()[0]}_2023.pdf", name)
    index = ArchiveIndex(tmp_path_factory.mktemp("index"), PROFILE, folder)
    write_index(index)
    with Archive(index) as opened:
        yield opened


ANSWERED = {
    "What was Norvane's revenue in FY2023?": "€4,210 (in millions)",
    "turnover of Norvane in fiscal 2022": "€3,980 (in millions)",
    "What was Norvane's revenue in FY2022, in EUR billions?": "€3.98 billion",
    "What was Norvane's net income in 2023?": "-€310 (in millions)",
    "What was Norvane's net margin in FY2023?": "-7.36%",
    "What was Quarne's revenue in fiscal 2023?": "$5,125 (in thousands)",
    "What was Quarne's net income in fiscal 2022?": "$31 (in thousands)",
}
REFUSED = {
    "What was Norvane's revenue in 2023 in US dollars?": "the table is in EUR",
    "What was Norvane's adjusted net income in FY2023?": "adjusted",
    "What was Quarne's net income in fiscal 2023?": "no row of net income in 2023",
    "What was Tarnbeck's revenue in 2023?": "Tarnbeck",
}


@pytest.mark.parametrize(("question", "answer"), ANSWERED.items())
def test_figures_of_a_pdf_are_read_by_where_they_stand(archive, question, answer):
    assert archive.answer(question)["answer"] == answer


@pytest.mark.parametrize(("question", "why_not"), REFUSED.items())
def test_what_is_not_printed_is_not_answered(archive, question, why_not):
    found = archive.answer(question)
    assert found["answer"] is None
    assert why_not in found["why_not"]


def test_an_answer_names_its_cells_and_its_filing_as_the_cover_has_it(archive):
    found = archive.answer("What was Norvane's revenue in FY2023?")
    (cell,) = found["cells"]
    assert (cell["row"], cell["value"], cell["unit"], cell["currency"]) == ("Revenue", "4,210", "million", "EUR")
    assert found["pages"][0]["filing"] == "NORVANE PLC 2023 20-F"
    assert answer_text(with_pictures(archive.files, found)).startswith("€4,210 (in millions) = revenue")


def test_a_filing_fits_a_question_by_company_and_by_how_many_years_it_is_later(archive):
    (filing,) = [filing for filing in archive.filings if filing.doc_name == "NORVANE_2023"]
    assert fits(filing, {"NORVANE_2023"}, asked_period("revenue in 2021")) == "company, +2 years"


def worded(question: str) -> str:
    period = asked_period(question)._replace(doc_type="")
    return one_wording(question, asked_for(question, ["Tarnbeck"]), "Tarnbeck", period)


@pytest.mark.parametrize("wordings", WORDINGS.values(), ids=WORDINGS)
def test_questions_that_ask_the_same_are_searched_in_one_wording(wordings):
    (text,) = {worded(wording.format(c="Tarnbeck", y=2021)) for wording in wordings}
    assert text.startswith("What was Tarnbeck's ")


def test_a_question_of_which_words_were_not_read_stays_as_it_is():
    question = "What was Tarnbeck's revenue from batteries in 2021?"
    assert worded(question) == question

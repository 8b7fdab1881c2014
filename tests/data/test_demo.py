"""The demo dataset: same bytes each time, figures that agree, evidence where it is said to be, and hard enough."""

import hashlib
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from rank_bm25 import BM25Okapi

from lib.data.dataset import read_dataset
from lib.data.demo import write_demo
from lib.data.demo.companies import COMPANIES
from lib.data.demo.corpus import ledgers
from lib.data.demo.economics import LAST_YEAR, Note, wobble
from lib.data.demo.ledger import add_up
from lib.data.demo.pdf import Sheets, Span
from lib.data.demo.questions import cut
from lib.data.demo.text import paragraphs, rows
from lib.data.pages import extract_pages

QUESTION_KEYS = [
    "financebench_id", "company", "doc_name", "question_type", "question_reasoning", "domain_question_num", "question",
    "answer", "justification", "dataset_subset_label", "evidence",
]  # fmt: skip
EVIDENCE_KEYS = ["evidence_text", "doc_name", "evidence_page_num", "evidence_text_full_page"]
DOCUMENT_KEYS = ["doc_name", "company", "gics_sector", "doc_type", "doc_period", "doc_link"]


def _lines(root: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (root / "data" / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("demo")
    write_demo(root)
    return root


@pytest.fixture(scope="module")
def questions(demo) -> list[dict]:
    return _lines(demo, "financebench_open_source.jsonl")


@pytest.fixture(scope="module")
def pages(demo) -> dict[str, list[str]]:
    """Filing -> text of each of its pages."""
    found = {}
    for path in sorted((demo / "pdfs").glob("*.pdf")):
        with pymupdf.open(path) as document:
            found[path.stem] = [page.get_text() for page in document]
    return found


@pytest.fixture(scope="module")
def books() -> dict:
    return ledgers()


def test_writing_it_again_gives_the_same_bytes(demo, tmp_path):
    write_demo(tmp_path)
    files = {path.relative_to(demo) for path in demo.rglob("*") if path.is_file()}
    assert len(files) == 12 + 2
    assert files == {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert [name for name in files if (demo / name).read_bytes() != (tmp_path / name).read_bytes()] == []


def test_records_have_the_keys_of_financebench(demo, questions):
    documents = _lines(demo, "financebench_document_information.jsonl")
    assert {tuple(document) for document in documents} == {tuple(DOCUMENT_KEYS)}
    assert {tuple(question) for question in questions} == {tuple(QUESTION_KEYS)}
    assert {tuple(piece) for question in questions for piece in question["evidence"]} == {
        tuple(EVIDENCE_KEYS)
    }
    assert {document["doc_name"] for document in documents} == {
        path.stem for path in (demo / "pdfs").iterdir()
    }
    assert len({question["financebench_id"] for question in questions}) == len(questions)


def test_it_has_all_types_of_filings_and_questions(demo, questions):
    documents = _lines(demo, "financebench_document_information.jsonl")
    assert Counter(d["doc_type"] for d in documents) == {"10k": 7, "10q": 2, "8k": 1, "Earnings": 2}
    assert Counter(d["company"] for d in documents) == {company.short: 3 for company in COMPANIES.values()}
    assert {d["doc_period"] for d in documents} == {2020, 2021, 2022}
    counts = Counter(q["question_type"] for q in questions)
    assert counts == {"metrics-generated": 14, "domain-relevant": 13, "novel-generated": 14}


def test_the_project_reads_it_without_a_problem(demo, questions, pages):
    dataset = read_dataset(demo, "demo")
    read = extract_pages(dataset, n_workers=1)
    assert list(dataset.questions["question_id"]) == [question["financebench_id"] for question in questions]
    assert len(read) == sum(map(len, pages.values()))


def test_evidence_is_a_part_of_its_page(questions, pages):
    for question in questions:
        for piece in question["evidence"]:
            page = pages[piece["doc_name"]][piece["evidence_page_num"]]
            assert piece["doc_name"] == question["doc_name"]
            assert piece["evidence_text_full_page"] == page
            assert piece["evidence_text"].strip() == piece["evidence_text"] != ""
            assert piece["evidence_text"] in page


def test_gold_pages_are_of_every_kind(questions):
    gold = [[piece["evidence_page_num"] for piece in question["evidence"]] for question in questions]
    assert all(numbers == sorted(set(numbers)) for numbers in gold)
    assert sum(0 in numbers for numbers in gold) == 3
    assert sum(len(numbers) == 2 for numbers in gold) >= 8
    assert sum(len(numbers) == 3 for numbers in gold) >= 1


def test_one_statement_goes_on_over_the_page(questions, pages):
    (question,) = [q for q in questions if "working capital ratio" in q["question"]]
    first, second = (piece["evidence_page_num"] for piece in question["evidence"])
    assert second == first + 1
    assert "Total assets" in pages[question["doc_name"]][first]
    assert "(CONTINUED)" in pages[question["doc_name"]][second]


def test_some_pages_are_blank(pages):
    blank = {name for name, texts in pages.items() if any(text == "" for text in texts)}
    assert blank == {"TARNBECK_2021_10K", "ORVELLOW_2021_10K", "VEYLORIA_2021_10K"}


def test_filings_have_the_length_of_small_real_ones(pages):
    for name, texts in pages.items():
        low, high = (14, 22) if name.endswith("10K") else (4, 8)
        assert low <= len(texts) <= high, name
    lengths = [len(text) for texts in pages.values() for text in texts]
    assert np.median(lengths) >= 1500
    assert max(lengths) < 5000


def test_books_balance_in_every_period(books):
    for company, ledger in books.items():
        for period, now in ledger.items():
            assert now["total_assets"] == now["total_liabilities"] + now["equity"], (company, period)
            assert min(now["cash"], now["receivables"], now["ppe"], now["intangibles"]) > 0, (company, period)


def test_cash_flows_explain_the_change_in_cash(books):
    for ledger in books.values():
        for before, now in pairwise(ledger.values()):
            flows = now["operating_cash"] + now["investing_cash"] + now["financing_cash"] + now["fx"]
            assert now["cash"] - before["cash"] == flows
            assert now["opening_cash"] == before["cash"]


def test_segments_add_up_to_revenue(books):
    for key, ledger in books.items():
        for now in list(ledger.values())[1:]:
            parts = [now[f"revenue:{segment.name}"] for segment in COMPANIES[key].economics.segments]
            assert sum(parts) == now["revenue"]


def test_two_quarters_add_up(books):
    ledger = books["HADDENMOOR"]
    first, second = ledger[2022, 1], ledger[2022, 2]
    half = add_up([first, second])
    assert half["net_income"] == first["net_income"] + second["net_income"]
    assert half["opening_cash"] + half["net_change"] == second["cash"] == half["cash"]
    assert half["eps_basic"] == pytest.approx(half["net_income"] / half["average_shares"])


def _printed_row(pages: list[str], title: str, label: str) -> list[str]:
    """The figures after a label, on the page that has a title in capitals."""
    (page,) = [text for text in pages if f"\n{title}\n" in text]
    lines = page[page.index(f"\n{title}\n") :].split("\n")
    found = []
    for line in lines[lines.index(label) + 1 :]:
        if line == "$":
            continue
        if not re.fullmatch(r"\(?[\d,.]+\)?|-", line):
            break
        found.append(line)
    return found


@pytest.mark.parametrize("company", ["TARNBECK", "ORVELLOW", "VEYLORIA"])
@pytest.mark.parametrize(
    ("title", "labels"),
    [
        ("CONSOLIDATED STATEMENTS OF INCOME", ("Gross profit", "Operating income", "Net income", "Diluted")),
        ("CONSOLIDATED BALANCE SHEETS", ("Goodwill", "Inventories", "Total assets")),
        (
            "CONSOLIDATED STATEMENTS OF CASH FLOWS",
            ("Depreciation and amortization", "Repurchase of common stock"),
        ),
    ],
)
def test_comparatives_equal_the_report_of_the_year_before(pages, company, title, labels):
    years = sorted(name for name in pages if name.startswith(company) and name.endswith("10K"))
    for earlier, later in pairwise(years):
        for label in labels:
            old, new = (_printed_row(pages[name], title, label) for name in (earlier, later))
            assert len(old) == len(new) == (2 if "BALANCE" in title else 3)
            assert new[1:] == old[:-1], (later, label)


def test_a_quarter_equals_the_comparative_of_the_next_year(pages):
    title = "CONDENSED CONSOLIDATED STATEMENTS OF INCOME"
    old, new = (
        _printed_row(pages[f"HADDENMOOR_{year}Q2_10Q"], title, "Operating income") for year in (2021, 2022)
    )
    assert new[1] == old[0]


def test_a_metric_is_what_its_page_prints(questions, pages):
    (question,) = [q for q in questions if "capital expenditure amount" in q["question"]]
    report = pages[question["doc_name"]]
    title, label = "CONSOLIDATED STATEMENTS OF CASH FLOWS", "Purchases of property, plant and equipment"
    spent = _printed_row(report, title, label)[0]
    assert question["answer"] == f"${spent.strip('()')}.00"


def test_a_ratio_is_computed_from_what_its_pages_print(questions, pages):
    (question,) = [q for q in questions if "fixed asset turnover" in q["question"]]
    report = pages[question["doc_name"]]
    sales = _number(_printed_row(report, "CONSOLIDATED STATEMENTS OF INCOME", "Net sales")[0])
    title, label = "CONSOLIDATED BALANCE SHEETS", "Property, plant and equipment, net"
    now, before = map(_number, _printed_row(report, title, label))
    assert question["answer"] == f"{sales / ((now + before) / 2):.2f}"


def _number(printed: str) -> float:
    return float(printed.replace(",", ""))


def test_summaries_repeat_the_statements(pages):
    """The distractor: figures of the statements stand in the selected data too."""
    report = pages["TARNBECK_2022_10K"]
    capex = _printed_row(
        report, "CONSOLIDATED STATEMENTS OF CASH FLOWS", "Purchases of property, plant and equipment"
    )
    (selected,) = [text for text in report if "Item 6. Selected Financial Data\n(in" in text]
    assert f"\nPurchases of property, plant and equipment\n{capex[0].strip('()')}\n" in selected


def test_it_is_neither_trivial_nor_hopeless_for_bm25(questions, pages):
    keys = [(name, number) for name, texts in pages.items() for number in range(len(texts))]
    index = BM25Okapi([_words(pages[name][number]) or [""] for name, number in keys])
    right_filing_first, n_gold_in_ten = 0, 0.0
    for question in questions:
        best = [
            keys[i] for i in np.argsort(-index.get_scores(_words(question["question"])), kind="stable")[:10]
        ]
        gold = {(piece["doc_name"], piece["evidence_page_num"]) for piece in question["evidence"]}
        right_filing_first += best[0][0] == question["doc_name"]
        n_gold_in_ten += len(gold & set(best)) / len(gold)
    assert 0.1 < right_filing_first / len(questions) < 0.7
    assert 0.1 < n_gold_in_ten / len(questions) < 0.7


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_cut_counts_printed_characters_only():
    assert cut("Net\n sales\n$\n12", Span(0, 3, 9)) == "sales\n$"
    with pytest.raises(ValueError, match="page 7 has 3 printed characters"):
        cut("a b\nc", Span(7, 0, 4))


def test_a_mark_that_runs_over_a_page_has_a_span_on_each():
    sheets = Sheets("title")
    with sheets.mark("both"):
        sheets.paragraph("one")
        sheets.new_page()
        sheets.paragraph("two three")
    assert sheets.marks["both"] == [Span(0, 0, 3), Span(1, 0, 8)]


def test_a_note_is_current_in_the_last_four_quarters():
    note = Note(coupon=4.0, issued=2018, matures=2022, principal=300)
    assert not note.is_current((2021, 3))
    assert [note.is_current(period) for period in ((2021, 4), (2022, 1), (2022, 3))] == [True, True, True]
    assert note.is_outstanding((2022, 3))
    assert not note.is_outstanding((2022, 4))


def test_fiscal_periods_end_on_the_last_day_of_a_month():
    assert COMPANIES["TARNBECK"].end_of((2021, 4)) == "December 31, 2021"
    assert COMPANIES["VEYLORIA"].end_of((2021, 4)) == "September 30, 2021"
    assert [COMPANIES["HADDENMOOR"].end_of((2022, quarter)) for quarter in (1, 2, 4)] == [
        "April 30, 2022", "July 31, 2022", "January 31, 2023",
    ]  # fmt: skip


def test_wobble_is_the_same_on_every_machine():
    first_six_bytes = int(hashlib.sha256(b"a/1").hexdigest()[:12], 16)
    assert wobble("a", 1) == first_six_bytes / 2**47 - 1
    values = [wobble("x", number) for number in range(200)]
    assert -1 <= min(values) < -0.9
    assert 0.9 < max(values) < 1


def test_text_keeps_to_its_years_and_names_a_missing_slot():
    (only,) = paragraphs("annual", "new_standards", 2021, {})
    assert only.text.startswith("In fiscal 2021 we adopted")
    with pytest.raises(KeyError, match="lease_term"):
        paragraphs("annual", "leases", 2021, {})


def test_every_segment_has_its_reasons():
    for company in COMPANIES.values():
        names = [name for name, up, down in rows(company.key.lower(), "reasons") if up and down]
        assert names == [segment.name for segment in company.economics.segments]
    assert LAST_YEAR == 2022

"""The demo dataset: the bytes that were drawn, with evidence where it is said to be."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from lib.data.locate import DEMO, RESULTS, open_dataset
from lib.data.pages import extract_pages
from lib.files import digest_of, digest_of_file

DRAWN = "f731953fb01b869b6d86"  # of all files, in order
TYPES = {"metrics-generated": 14, "domain-relevant": 13, "novel-generated": 14}
QUESTION_KEYS = [
    "financebench_id", "company", "doc_name", "question_type", "question_reasoning", "domain_question_num", "question",
    "answer", "justification", "dataset_subset_label", "evidence",
]  # fmt: skip
EVIDENCE_KEYS = ["evidence_text", "doc_name", "evidence_page_num", "evidence_text_full_page"]


@pytest.fixture(scope="module")
def dataset():
    return open_dataset("demo")


@pytest.fixture(scope="module")
def pages(dataset) -> dict[tuple[str, int], str]:
    found = extract_pages(dataset)
    return dict(zip(zip(found["doc_name"], found["page"], strict=True), found["text"], strict=True))


@pytest.fixture(scope="module")
def records() -> list[dict]:
    lines = (DEMO / "data" / "financebench_open_source.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_it_is_what_was_published(dataset):
    published = json.loads((RESULTS / "demo" / "default" / "manifest.json").read_text())
    assert dataset.fingerprint == published["fingerprint"]


def test_its_bytes_are_those_that_were_drawn():
    files = sorted(path for folder in ("data", "pdfs") for path in (DEMO / folder).iterdir())
    assert digest_of([digest_of_file(path) for path in files])[:20] == DRAWN


def test_twelve_filings_and_41_questions_of_every_type(dataset):
    assert Counter(dataset.filings["doc_type"]) == {"10-K": 7, "10-Q": 2, "8-K": 1, "earnings": 2}
    assert set(Counter(dataset.filings["company"]).values()) == {3}
    assert set(dataset.filings["doc_period"]) == {2020, 2021, 2022}
    assert dataset.questions["question_type"].value_counts().to_dict() == TYPES


def test_records_have_the_keys_of_financebench(records):
    assert {tuple(record) for record in records} == {tuple(QUESTION_KEYS)}
    assert {tuple(piece) for record in records for piece in record["evidence"]} == {tuple(EVIDENCE_KEYS)}


def test_evidence_is_a_part_of_its_page(records, pages):
    for record in records:
        for piece in record["evidence"]:
            page = pages[piece["doc_name"], piece["evidence_page_num"]]
            assert piece["doc_name"] == record["doc_name"]
            assert piece["evidence_text_full_page"] == page
            assert piece["evidence_text"].strip() == piece["evidence_text"] != ""
            assert piece["evidence_text"] in page


def test_gold_pages_are_of_every_kind(dataset, pages):
    gold = dataset.questions["gold_pages"]
    assert Counter(map(len, gold)) == {1: 31, 2: 9, 3: 1}
    assert sum(0 in numbers for numbers in gold) == 3
    blank = {doc_name for (doc_name, _), text in pages.items() if not text}
    assert blank == {"TARNBECK_2021_10K", "ORVELLOW_2021_10K", "VEYLORIA_2021_10K"}


def test_it_is_neither_trivial_nor_hopeless_for_bm25(records, pages):
    keys = list(pages)
    index = BM25Okapi([_words(pages[key]) or [""] for key in keys])
    right_filing_first, n_gold_in_ten = 0, 0.0
    for record in records:
        order = np.argsort(-index.get_scores(_words(record["question"])), kind="stable")
        best = [keys[i] for i in order[:10]]
        gold = {(piece["doc_name"], piece["evidence_page_num"]) for piece in record["evidence"]}
        right_filing_first += best[0][0] == record["doc_name"]
        n_gold_in_ten += len(gold & set(best)) / len(gold)
    assert 0.1 < right_filing_first / len(records) < 0.7
    assert 0.1 < n_gold_in_ten / len(records) < 0.7


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())

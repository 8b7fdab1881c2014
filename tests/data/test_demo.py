"""The demo dataset: the bytes that were drawn, with evidence where its records place it."""

import json
from collections import Counter

from lib.data.locate import DEMO, RESULTS, open_dataset
from lib.data.pages import check_gold, extract_pages
from lib.files import digest_of, digest_of_file

DRAWN = "f731953fb01b869b6d86"  # of all files, in order
BLANK = {"TARNBECK_2021_10K", "ORVELLOW_2021_10K", "VEYLORIA_2021_10K"}  # filings with pages without text


def test_its_bytes_are_those_that_were_drawn_and_published():
    files = sorted(path for folder in ("data", "pdfs") for path in (DEMO / folder).iterdir())
    assert digest_of([digest_of_file(path) for path in files])[:20] == DRAWN
    published = json.loads((RESULTS / "demo" / "default" / "manifest.json").read_text())
    assert open_dataset("demo").fingerprint == published["fingerprint"]


def test_its_pages_are_read_as_its_records_quote_them():
    dataset = open_dataset("demo")
    pages = extract_pages(dataset)
    assert check_gold(dataset, pages) == 52
    assert set(pages.loc[pages["text"] == "", "doc_name"]) == BLANK
    assert Counter(map(len, dataset.questions["gold_pages"])) == {1: 31, 2: 9, 3: 1}

"""The whole book of a reader's own folder: filings as PDFs, and questions."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from lib.book import notebooks
from lib.data.locate import DEMO
from tests.breaking.hostile import build_book

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
FILINGS, N_QUESTIONS = ("ORVELLOW_2022_10K", "TARNBECK_2022_10K"), 3  # of each


def write_folder(root: Path) -> Path:
    """Two filings of the demo as PDFs, and the first questions of each."""
    for name in ("data", "pdfs"):
        (root / name).mkdir(parents=True)
    for path in (DEMO / "data").iterdir():
        records = [json.loads(line) for line in path.read_text().splitlines()]
        kept = [[one for one in records if one["doc_name"] == filing][:N_QUESTIONS] for filing in FILINGS]
        lines = [json.dumps(one) + "\n" for part in kept for one in part]
        (root / "data" / path.name.replace("financebench", "mine")).write_text("".join(lines))
    for filing in FILINGS:
        shutil.copy(DEMO / "pdfs" / f"{filing}.pdf", root / "pdfs")
    return root


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    return build_book(folder, write_folder(folder / "my-filings"), ["Net sales rose to 1,577."])


def test_every_chapter_is_there_under_the_folder_s_name(book):
    assert [name for name in notebooks.chapters() if not (book / "notebooks" / f"{name}.html").is_file()] == []
    data = (book / "notebooks" / "01_data.html").read_text()
    assert "my-filings" in data
    assert "Synthetic demo" not in data


def test_recall_is_of_the_folder_s_questions(book):
    [path] = (book.parents[3] / "artifacts" / "my-filings").glob("*/summary.csv")
    rows = pd.read_csv(path).query("condition == 'standard' and metric == 'page_recall' and k == 5")
    assert {"bm25", "dense", "ahead", "page_scorer"} <= {*rows["method"]}
    assert set(rows["n"]) == {N_QUESTIONS * len(FILINGS)}
    assert set(rows["n_companies"]) == {len(FILINGS)}
    assert rows["mean"].between(0, 1).all()
    assert rows["mean"].max() > 0

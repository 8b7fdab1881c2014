"""Text that would run, include or break something is text in the book: compiled, and opened in Chromium.

Once in every kind of output, and once in the whole book of a dataset that has it in every field.
"""

from pathlib import Path

import pandas as pd
import pytest
from lxml import html

from lib.book.notebooks import chapters
from tests.breaking import hostile
from tests.browser import problems_of

pytestmark = [pytest.mark.slow, pytest.mark.breaking, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def secret(tmp_path_factory) -> Path:
    """A file that hostile text points to."""
    path = tmp_path_factory.mktemp("secret") / "secret.txt"
    path.write_text(f"{hostile.SECRET}\n")
    return path


@pytest.fixture(scope="module")
def of_outputs(secret, tmp_path_factory) -> Path:
    """The pages of hostile text, compiled without a warning."""
    return hostile.few_pages(tmp_path_factory.mktemp("outputs"), secret)


@pytest.fixture(scope="module")
def of_dataset(secret, tmp_path_factory) -> Path:
    """The whole book of the hostile dataset."""
    return hostile.build_dataset(tmp_path_factory.mktemp("dataset"), secret)


def pages_of(site: Path) -> list[Path]:
    return [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]


def test_the_book_of_an_own_folder_has_every_chapter_and_the_recall_of_its_questions(of_dataset):
    assert [name for name in chapters() if not (of_dataset / "notebooks" / f"{name}.html").is_file()] == []
    data = (of_dataset / "notebooks" / "01_data.html").read_text()
    assert "Synthetic demo" not in data
    [path] = (of_dataset.parents[3] / "artifacts" / "mine").glob("*/summary.csv")
    rows = pd.read_csv(path).query("condition == 'standard' and metric == 'page_recall' and k == 5")
    questions = pd.read_parquet(path.with_name("questions.parquet"))
    assert {"bm25", "dense", "ahead", "page_scorer"} <= {*rows["method"]}
    assert (set(rows["n"]), set(rows["n_companies"])) == ({len(questions)}, {questions["company"].nunique()})
    assert 0 < rows["mean"].max() <= 1


def test_every_text_is_shown_as_text(of_outputs, secret):
    pages = [of_outputs / name for name in ("notebooks/01_data.html", "book/intro.html")]
    shown = " ".join(" ".join(text for page in pages for text in html.parse(str(page)).getroot().itertext()).split())
    assert [text for text in hostile.texts(secret) if " ".join(text.split()) not in shown] == []


@pytest.mark.parametrize("name", ["of_outputs", "of_dataset"])
def test_nothing_is_executed_no_file_leaks_and_nothing_is_broken(name, request, browser):
    site = request.getfixturevalue(name)
    assert hostile.leaks(site) == []
    assert len(pages_of(site)) >= 4
    assert problems_of(site, browser, pages_of(site)) == []


def test_the_browser_would_see_what_was_not_escaped(of_outputs, browser):
    page = of_outputs / "book" / "open.html"
    page.write_text("<html><body><script>window.hacked=1</script><img src='/hacked.png'></body></html>")
    said = " ".join(problems_of(of_outputs, browser, [page]))
    page.unlink()
    assert "Content Security Policy" in said

"""Text that would run, include or break something is text in the whole book of a dataset that has it in every field;
datasets of which nothing is lost, or nothing is answered, have whole books."""

import json
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

from lib.book.notebooks import chapters
from tests.breaking import hostile
from tests.breaking.damage import cases
from tests.browser import problems_of

pytestmark = [pytest.mark.slow, pytest.mark.breaking, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def secret(tmp_path_factory) -> Path:
    """A file that hostile text points to."""
    path = tmp_path_factory.mktemp("secret") / "secret.txt"
    path.write_text(f"{hostile.SECRET}\n")
    return path


@pytest.fixture(scope="module")
def of_dataset(secret, tmp_path_factory) -> Path:
    """The whole book of the hostile dataset."""
    folder = tmp_path_factory.mktemp("dataset")
    return hostile.build_book(folder, hostile.write_dataset(folder / "mine", secret), hostile.texts(secret))


def pages_of(site: Path) -> list[Path]:
    return [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]


def searches(site: Path) -> list[Path]:
    """The search page asked for words of hostile text, and for every heading and caption that has a sign of a tag."""
    index = json.loads((site / "searchindex.js").read_text().removeprefix("Search.setIndex(").removesuffix(")"))
    wanted = ["onerror", "<img/src/onerror=x>", *(title for title in index["alltitles"] if "<" in title)]
    return [site / f"search.html?q={quote(one, safe='')}" for one in wanted]


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


def test_nothing_is_executed_no_file_leaks_and_nothing_is_broken(of_dataset, browser):
    assert hostile.leaks(of_dataset) == []
    assert problems_of(of_dataset, browser, [*pages_of(of_dataset), *searches(of_dataset)]) == []
    page = of_dataset / "book" / "open.html"  # what was not escaped would be seen
    page.write_text("<html><body><script>window.hacked=1</script><img src='/hacked.png'></body></html>")
    assert "Content Security Policy" in " ".join(problems_of(of_dataset, browser, [page]))


NO_GIT = "the book states no commit: there is no git here, or no repository"
#: Number of questions, what is added to each, environment, and what the first page then begins with.
DEGENERATE = {
    "one question, nothing lost, no git": (1, "", {"PATH": "/nowhere"}, "No evidence is missed"),
    "questions that no model takes": (5, hostile.TOO_LONG, {}, ""),
}


@cases(("n", "addition", "environment", "finding"), DEGENERATE)
def test_a_set_at_the_end_of_what_is_valid_has_a_whole_book(tmp_path, browser, n, addition, environment, finding):
    data = hostile.write_small(tmp_path / "mine", n, addition)
    site = hostile.build_book(tmp_path, data, ["1,577"], **environment)
    assert (tmp_path / "said.txt").read_text().count(NO_GIT) == 1  # a copy is no repository
    assert "commit unknown." in (site / "book" / "intro.html").read_text()
    assert f"<h1>{finding}" in (site / "book" / "intro.html").read_text()
    assert problems_of(site, browser, pages_of(site)) == []

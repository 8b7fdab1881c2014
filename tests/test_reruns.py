"""Every chapter runs in a kernel as in Jupyter, every cell again after that, and with one thing changed as well."""

import re

import pytest

from lib.book.notebooks import chapters
from lib.studies import NOTEBOOKS
from tests.rerun import rerun

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the demo may have to be computed first

#: One thing changed: the chapters that have the parameter, and its value.
CHANGED = {
    "one trained method": (["02_oracles", "03_baselines", "05_breakdowns"], {"methods": ["ahead"]}),
    "one method": (["03_baselines", "05_breakdowns"], {"methods": ["bm25"]}),
    "one baseline": (["07_ahead"], {"baselines": ["bm25"]}),
    "ten chunks": (["02_oracles", "03_baselines"], {"k": 10}),
    "a better encoder": ([name for name in chapters() if name[0] == "0"], {"profile": "base"}),
}
#: Whose results are not published with the better encoder: without filings they end in one sentence.
UNPUBLISHED = {"04_page_scorer", "06_generation"}


@pytest.fixture(autouse=True)
def without_filings(monkeypatch):
    """FinanceBench as it is published, where its filings are not in ``data``."""
    monkeypatch.delenv("RETRIEVAL_GAP_DATA", raising=False)


@pytest.mark.parametrize("name", chapters())
def test_a_chapter_runs_on_published_results_and_each_of_its_cells_again_shows_the_same(name, tmp_path):
    assert rerun(name, {}, tmp_path) == []


@pytest.mark.parametrize("name", chapters())
def test_a_chapter_runs_on_the_demo_and_each_of_its_cells_again_shows_the_same(name, tmp_path):
    assert rerun(name, {"dataset": "demo"}, tmp_path) == []


@pytest.mark.parametrize(("name", "given"), [(name, given) for names, given in CHANGED.values() for name in names])
def test_a_chapter_runs_with_one_thing_changed(name, given, tmp_path):
    faults = rerun(name, given, tmp_path, again=False)
    if name in UNPUBLISHED and given.get("profile") == "base":
        assert re.fullmatch(
            r"\w+, cell \d: NeedsFilings: .* needs? the filings, which are not on this machine; .*", *faults
        )
    else:
        assert faults == []


def test_the_chapters_are_all_there():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {*chapters()}

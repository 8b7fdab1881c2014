"""Every chapter runs in a kernel as in Jupyter, every cell again after that, and with one thing changed as well."""

import pytest

from lib.book.notebooks import chapters
from lib.studies import NOTEBOOKS
from tests.rerun import rerun

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the demo may have to be computed first

#: One thing changed: the chapters that have the parameter, and its value.
CHANGED = {
    "one trained method": (["02_oracles", "03_baselines", "05_breakdowns"], {"methods": ["ahead"]}),
    "one method": (["02_oracles", "03_baselines", "05_breakdowns"], {"methods": ["bm25"]}),
    "one baseline": (["07_ahead"], {"baselines": ["bm25"]}),
    "ten chunks": (["03_baselines", "04_page_scorer"], {"k": 10}),
    "a better encoder": (chapters(), {"profile": "base"}),
}


@pytest.fixture(autouse=True)
def without_filings(monkeypatch):
    """FinanceBench as it is published, where its filings are not in ``data``."""
    monkeypatch.delenv("RETRIEVAL_GAP_DATA", raising=False)


@pytest.mark.parametrize("dataset", ["", "demo"])
@pytest.mark.parametrize("name", chapters())
def test_a_chapter_runs_and_each_of_its_cells_again_shows_the_same(name, dataset, tmp_path):
    assert rerun(name, {"dataset": dataset}, tmp_path) == []


@pytest.mark.parametrize(("name", "given"), [(name, given) for names, given in CHANGED.values() for name in names])
def test_a_chapter_runs_with_one_thing_changed(name, given, tmp_path):
    assert rerun(name, given, tmp_path, again=False) == []


def test_the_chapters_are_all_there():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {*chapters()}

"""Every chapter runs in a kernel as in Jupyter, every cell again after that, and with one thing changed as well."""

import re

import pytest

from lib.book.notebooks import chapters
from tests.rerun import rerun

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the demo may have to be computed first

#: One thing changed, and the chapters that have the parameter.
CHANGED = [
    ({"methods": ["ahead"]}, ["02_oracles", "03_baselines", "05_breakdowns"]),  # one that is trained
    ({"methods": ["bm25"]}, ["03_baselines", "05_breakdowns"]),
    ({"baselines": ["bm25"]}, ["07_ahead"]),
    ({"k": 10}, ["02_oracles", "03_baselines"]),
    ({"profile": "base"}, [name for name in chapters() if name[0] == "0"]),  # a better encoder
]
#: Whose results are not published with the better encoder: without filings they end in one sentence.
UNPUBLISHED = {"04_page_scorer", "06_generation"}


@pytest.fixture(autouse=True)
def without_filings(monkeypatch):
    """FinanceBench as it is published, where its filings are not in ``data``."""
    monkeypatch.delenv("RETRIEVAL_GAP_DATA", raising=False)


@pytest.mark.parametrize("given", [{}, {"dataset": "demo"}], ids=["published results", "the demo"])
@pytest.mark.parametrize("name", chapters())
def test_a_chapter_runs_and_each_of_its_cells_again_shows_the_same(name, given, tmp_path):
    assert rerun(name, given, tmp_path) == []


@pytest.mark.parametrize(("name", "given"), [(name, given) for given, names in CHANGED for name in names])
def test_a_chapter_runs_with_one_thing_changed(name, given, tmp_path):
    faults = rerun(name, given, tmp_path, again=False)
    if name in UNPUBLISHED and given.get("profile") == "base":
        assert re.fullmatch(r"\w+, cell \d: NeedsFilings: .*filings.*", *faults)
    else:
        assert faults == []

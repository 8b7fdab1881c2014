"""The search page of a book shows titles, captions and headings as text."""

from urllib.parse import quote_plus

import pytest
from selenium.webdriver.support.ui import WebDriverWait
from sphinx.application import Sphinx

from lib.book.build import tidy
from lib.show.markup import escape
from tests.browser import TRACES, open_page, served

TAG = "<img/src/onerror=window.hacked=1> & so on"
CONFIG = "extensions = ['myst_parser']\nmyst_enable_extensions = ['colon_fence']\nproject = 'x'\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A page whose title, heading and caption have a tag, compiled and tidied."""
    source, built = (tmp_path_factory.mktemp(name) for name in ("source", "built"))
    (source / "conf.py").write_text(CONFIG)
    table = f"::::{{table}} Caption of {escape(TAG)}\n:name: tab-x\n\n| a |\n|---|\n| b |\n::::"
    (source / "index.md").write_text(f"# Title of {escape(TAG)}\n\n## Heading of {escape(TAG)}\n\n{table}\n")
    Sphinx(source, source, built, built / "doctrees", "html", status=None, warningiserror=True).build()
    tidy(built)
    return built


@pytest.mark.parametrize("word", ["title", "heading", "caption"])
def test_what_a_search_finds_is_shown_as_text(site, browser, word):
    with served(site) as server:
        open_page(browser, f"http://127.0.0.1:{server.server_port}/search.html?q={quote_plus(f'{word} of {TAG}')}")
        found = "return [...document.querySelectorAll('ul.search > li > a')].map(link => link.textContent)"
        WebDriverWait(browser, 20).until(lambda _: browser.execute_script(found))
        titles = browser.execute_script(found)
        assert any(title.endswith(f"{word.title()} of {TAG}") for title in titles), titles
        assert browser.execute_script(TRACES) == []

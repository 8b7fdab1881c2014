"""The search page of a book shows titles, captions and headings as text, and excerpts without code."""

from urllib.parse import quote_plus

import pytest
from selenium.webdriver.support.ui import WebDriverWait
from sphinx.application import Sphinx

from lib.files import ROOT
from lib.show.markup import escape
from tests.browser import TRACES, open_page, served

TAG = "<img/src/onerror=window.hacked=1> & so on"
CONFIG = f"""
extensions, myst_enable_extensions, project = ["myst_parser", "lib.book.site"], ["colon_fence"], "x"
html_theme, templates_path, html_static_path = "sphinx_book_theme", ["{ROOT}/book/_templates"], ["{ROOT}/book/_static"]
"""
#: A page that comes first by the alphabet, and one with an index entry.
OTHERS = {
    "aardvark": "# Aardvark\n\nThe latency of latency.",
    "zebra": "# Zebra\n\n```{index} ! latency, ! response time\n```\n\n## How long?\n\nLatency.",
}
LINKS = "[...document.querySelectorAll('ul.search > li > a')]"
CODE = '<div class="cell_input">caption in code</div>'


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A page whose title, heading and caption have a tag, compiled with the book's templates."""
    source, built = (tmp_path_factory.mktemp(name) for name in ("source", "built"))
    (source / "conf.py").write_text(CONFIG)
    table = f"::::{{table}} Caption of {escape(TAG)}\n:name: tab-x\n\n| a |\n|---|\n| b |\n::::"
    parts = (f"# Title of {escape(TAG)}", f"## Heading of {escape(TAG)}", table, CODE, "The index is here alone.")
    (source / "index.md").write_text("\n\n".join(parts))
    for name, text in OTHERS.items():
        (source / f"{name}.md").write_text(f"---\norphan: true\n---\n{text}\n")
    Sphinx(source, source, built, built / "doctrees", "html", status=None, warningiserror=True).build()
    assert "searchindex.js" not in (built / "index.html").read_text(), "the search page alone has the index"
    with served(built) as server:
        yield f"http://127.0.0.1:{server.server_port}/search.html"


def found(browser, code: str):
    """What a script finds on the page, once it finds something."""
    return WebDriverWait(browser, 20).until(lambda _: browser.execute_script(f"return {code}"))


@pytest.mark.parametrize("word", ["title", "heading", "caption"])
def test_what_a_search_finds_is_shown_as_text(site, browser, word):
    open_page(browser, f"{site}?q={quote_plus(f'{word} of {TAG}')}")
    titles = found(browser, f"{LINKS}.map(link => link.textContent)")
    assert any(title.endswith(f"{word.title()} of {TAG}") for title in titles), titles
    excerpts = "[...document.querySelectorAll('ul.search p.context')].map(one => one.textContent).join(' ')"
    assert "in code" not in found(browser, excerpts)
    assert browser.execute_script(TRACES) == []


def test_a_page_with_an_index_entry_comes_first_and_opens_at_its_place(site, browser):
    open_page(browser, f"{site}?q=latency")
    first, *others = found(browser, f"{LINKS}.map(link => link.getAttribute('href'))")
    assert first == "zebra.html#index-0"
    assert any(link.startswith("aardvark.html") for link in others)
    assert [entry for entry in browser.get_log("browser") if entry["source"] == "javascript"] == []

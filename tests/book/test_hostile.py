"""Text that would run, include or break something is text in the book: compiled, and opened in Chromium."""

import pytest

from extras.breaking import hostile
from extras.breaking.browser import problems_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def secret(tmp_path_factory):
    """A file that hostile text points to."""
    return hostile.write_secret(tmp_path_factory.mktemp("secret"))


@pytest.fixture(scope="module")
def site(secret, tmp_path_factory):
    """The pages of hostile text, compiled without a warning."""
    return hostile.few_pages(tmp_path_factory.mktemp("hostile"), secret)


def test_nothing_is_included_and_every_text_is_shown(site, secret):
    assert hostile.leaks(site) == []
    shown = hostile.missing_texts(site, ["notebooks/01_data.html", "book/intro.html"], hostile.texts(secret))
    assert shown == []


def test_nothing_is_executed_and_nothing_is_broken(site, browser):
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    assert len(pages) >= 5
    assert problems_of(site, browser, pages) == []


def test_the_browser_would_see_what_was_not_escaped(site, browser):
    page = site / "book" / "open.html"
    page.write_text("<html><body><script>window.hacked=1</script><img src='/hacked.png'></body></html>")
    said = " ".join(problems_of(site, browser, [page]))
    page.unlink()
    assert "Content Security Policy" in said
    assert "asked for" not in said or "hacked" in said

"""Links to the repository: commits and paths of pages, where ``_config.yml`` gives an address, and text where not."""

import pytest
from docutils import nodes
from docutils.utils import new_document

from lib.book import repository
from lib.book.build import config
from lib.book.repository import commit_url, path_url, with_commits
from lib.book.site import linked

URL = "https://github.com/mine/study"


@pytest.fixture
def named(monkeypatch):
    """A repository with an address."""
    monkeypatch.setattr(repository, "_settings", lambda: {"url": f"{URL}/", "branch": "main"})


def test_commits_and_paths_of_the_project_have_an_address(named):
    assert commit_url("0123abc") == f"{URL}/commit/0123abc"
    assert path_url("lib/study.py") == f"{URL}/blob/main/lib/study.py"
    assert [path_url(one) for one in ("lib/none.py", "make book", "book/_build/x", "../lib")] == [""] * 4
    assert with_commits("Run, commit 0123abcdef, manifest 99.") == (
        f'Run, commit <a href="{URL}/commit/0123abcdef">0123abcdef</a>, manifest 99.'
    )
    assert with_commits("commit unknown") == "commit unknown"


def test_without_an_address_nothing_is_linked(monkeypatch):
    monkeypatch.setattr(repository, "_settings", lambda: {"url": "", "branch": "main"})
    assert (commit_url("0123abc"), path_url("lib/study.py")) == ("", "")
    assert with_commits("commit 0123abcdef") == "commit 0123abcdef"


def page_of(*children: nodes.Node) -> nodes.document:
    page = new_document("page")
    page += nodes.paragraph("", "", *children)
    return page


def test_paths_and_commits_of_a_page_lead_to_the_repository(named):
    page = page_of(nodes.literal("", "lib/study.py"), nodes.Text(" and "), nodes.literal("", "k = 5"))
    page += nodes.paragraph("", "By commit 0123abc, of 99.")
    linked(None, page, "page")
    assert [(one.astext(), one["refuri"]) for one in page.findall(nodes.reference)] == [
        ("lib/study.py", f"{URL}/blob/main/lib/study.py"),
        ("0123abc", f"{URL}/commit/0123abc"),
    ]
    assert page.astext() == "lib/study.py and k = 5\n\nBy commit 0123abc, of 99."


def test_the_theme_has_a_button_for_the_repository_and_one_for_binder_where_it_has_an_address(study, named):
    options = config(study)["sphinx"]["config"]["html_theme_options"]
    assert (options["repository_url"], options["use_repository_button"]) == (URL, True)
    assert options["launch_buttons"]["binderhub_url"] == "https://mybinder.org"
    assert f'<a href="{URL}">The repository</a>' in options["extra_footer"]
    assert "https://github.com/patronus-ai/financebench" in options["extra_footer"]


def test_without_an_address_the_theme_has_no_such_buttons(study):
    options = config(study)["sphinx"]["config"]["html_theme_options"]
    assert not {"repository_url", "use_repository_button", "launch_buttons"} & {*options}
    assert "The repository" not in options["extra_footer"]

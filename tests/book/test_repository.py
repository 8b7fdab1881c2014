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
    assert path_url("lib/study.py") == f"{URL}/blob/main/lib/study.py"
    assert [path_url(one) for one in ("lib/none.py", "make book", "book/_build/x", "../lib")] == [""] * 4
    link = f'<a href="{URL}/commit/0123abcdef">0123abcdef</a>'
    assert with_commits("Run, commit 0123abcdef, manifest 99.") == f"Run, commit {link}, manifest 99."
    assert with_commits("commit unknown") == "commit unknown"


def test_without_an_address_nothing_is_linked(monkeypatch, study):
    monkeypatch.setattr(repository, "_settings", lambda: {"url": "", "branch": "main"})
    assert (commit_url("0123abc"), path_url("lib/study.py")) == ("", "")
    assert with_commits("commit 0123abcdef") == "commit 0123abcdef"
    options = config(study)["sphinx"]["config"]["html_theme_options"]
    assert not {"repository_url", "use_repository_button", "launch_buttons"} & {*options}


def test_paths_and_commits_of_a_page_lead_to_the_repository(named):
    page = new_document("page")
    page += nodes.paragraph("", "", nodes.literal("", "lib/study.py"), nodes.Text(" and "), nodes.literal("", "k = 5"))
    page += nodes.paragraph("", "By commit 0123abc, of 99.")
    linked(None, page, "page")
    assert [(one.astext(), one["refuri"]) for one in page.findall(nodes.reference)] == [
        ("lib/study.py", f"{URL}/blob/main/lib/study.py"),
        ("0123abc", f"{URL}/commit/0123abc"),
    ]
    assert page.astext() == "lib/study.py and k = 5\n\nBy commit 0123abc, of 99."


def test_the_theme_has_a_button_for_the_repository_and_the_licences_of_the_questions(study, named):
    options = config(study)["sphinx"]["config"]["html_theme_options"]
    assert (options["repository_url"], options["use_repository_button"]) == (URL, True)
    assert f'<a href="{URL}">' in options["extra_footer"]
    assert "https://github.com/patronus-ai/financebench" in options["extra_footer"]

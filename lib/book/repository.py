"""The project's repository on the web, as ``_config.yml`` names it: what commits and paths link to, if it is named."""

import re

from lib.files import ROOT, read_yaml

COMMIT = re.compile(r"(?<=\bcommit )([0-9a-f]{7,40})(?![0-9a-f])")  # as text names one
PATH = re.compile(r"(?:lib|extras|notebooks|book|data|examples|tests)/[\w./-]+")


def address() -> str:
    """The repository's address; empty where ``_config.yml`` names none."""
    return _settings()["url"].rstrip("/")


def commit_url(commit: str) -> str:
    """The address of a commit; empty where the repository has none."""
    return f"{address()}/commit/{commit}" if address() else ""


def path_url(text: str) -> str:
    """The address of a file or folder of the project; empty where the text is none, or the repository has none."""
    is_path = PATH.fullmatch(text) and "_build" not in text and (ROOT / text).exists()
    return f"{address()}/blob/{_settings()['branch']}/{text}" if is_path and address() else ""


def with_commits(text: str) -> str:
    """HTML or Markdown in which each commit that is named leads to the repository."""
    return COMMIT.sub(rf'<a href="{commit_url("")}\1">\1</a>', text) if address() else text


def _settings() -> dict[str, str]:
    return read_yaml(ROOT / "_config.yml")["repository"]

"""Whether a book would come out as it lies there: then a second ``make book`` takes seconds.

What a book is made from and what was made are compared with what was there when it was built. The sources count by
their content; the store, the view and the pages by each file's name, size and time. Where anything differs, the book is
built anew, which reuses what is stored.
"""

from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path

from lib.book.manifest import git_commit
from lib.book.notebooks import ROOT
from lib.book.site import built_book
from lib.store import digest_of, digest_of_file

SOURCES = ("lib", "notebooks", "book", "_config.yml", "_toc.yml")
NOT_SOURCES = ("__pycache__", "_build", ".ipynb_checkpoints")
NOT_MADE = (
    "locks",
    "chroma",
    "reruns",
)  # of the store: taken and left by any command; of the view: reruns' own
STAMP = "built.txt"


def is_unchanged(study, given: dict[str, str]) -> bool:
    """Whether :func:`remember` was called with the same arguments, and nothing has changed since then."""
    stamp = study.view / STAMP
    return stamp.is_file() and stamp.read_text() == _state(study, given)


def remember(study, given: dict[str, str]) -> None:
    """Keep what a book was just made from.

    Args:
        study: whose book it is.
        given: the parameters of the chapters.
    """
    study.write(STAMP, _state(study, given))


def _state(study, given: dict[str, str]) -> str:
    sources = [path for name in SOURCES for path in _files(ROOT / name, NOT_SOURCES)]
    made = (study.store.root, study.view, built_book(study))
    return digest_of(
        {
            "given": given,
            "dataset": study.dataset.fingerprint,
            "settings": study.profile,
            "commit": git_commit(),
            "packages": sorted(f"{one.name} {one.version}" for one in distributions()),
            "sources": [(str(path.relative_to(ROOT)), digest_of_file(path)) for path in sources],
            "made": [_listed(folder) for folder in made],
        }
    )


def _files(path: Path, without: Sequence[str]) -> list[Path]:
    if path.is_file():
        return [path]
    found = (one for one in path.rglob("*") if not set(without) & set(one.relative_to(path).parts))
    return sorted(one for one in found if one.is_file())


def _listed(folder: Path) -> list[tuple[str, int, int]]:
    files = [path for path in _files(folder, NOT_MADE) if path.name != STAMP]
    found = [(path, path.stat()) for path in files]
    return [(str(path.relative_to(folder)), stat.st_size, stat.st_mtime_ns) for path, stat in found]

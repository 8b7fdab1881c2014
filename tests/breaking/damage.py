"""Ways to damage a file, and how a table of cases becomes a parametrised test."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "one bit flipped": _flip,
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a dangling link": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "a line more": lambda path: path.write_bytes(path.read_bytes() + b"\n0,0\n"),
}


def cases(names: str | Sequence[str], table: dict[str, object]) -> pytest.MarkDecorator:
    """A test for every value of a table, named by its key."""
    return pytest.mark.parametrize(names, list(table.values()), ids=list(table))

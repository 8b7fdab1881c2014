"""Ways to damage a file, and how a table of cases becomes a parametrised test."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

Spoil = Callable[[Path], object]


def rewritten(change: Callable[[bytes], bytes]) -> Spoil:
    """Gives a file other content."""
    return lambda path: path.write_bytes(change(path.read_bytes()))


def replaced(make: Spoil) -> Spoil:
    """Makes something else where a file is."""
    return lambda path: (path.unlink(), make(path))


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(byte ^ 1 for byte in content[middle : middle + 1]) + content[middle + 1 :]


DAMAGES: dict[str, Spoil] = {
    "one bit flipped": rewritten(_flipped),
    "cut in half": rewritten(lambda content: content[: len(content) // 2]),
    "emptied": rewritten(lambda content: b""),
    "gone": Path.unlink,
    "a folder": replaced(Path.mkdir),
    "a dangling link": replaced(lambda path: path.symlink_to("nowhere")),
    "a line more": rewritten(lambda content: content + b"\n0,0\n"),
}


def cases(names: str | Sequence[str], table: dict[str, object]) -> pytest.MarkDecorator:
    """A test for every value of a table, named by its key."""
    return pytest.mark.parametrize(names, list(table.values()), ids=list(table))

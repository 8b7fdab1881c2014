"""Damage to what is published and stored, and hostile text in the book."""

from collections.abc import Iterator
from pathlib import Path

from extras.breaking.cases import Case


def cases(folder: Path) -> Iterator[Case]:
    """The cases of this part, made and tried below ``folder``."""
    yield from ()

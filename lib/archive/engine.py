"""Where the step that reads filings runs: in this process."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path


def mapped(step: Callable, sources: Sequence[Path]) -> Iterator:
    """The step over each source."""
    return map(step, sources)

"""One process at a time: a lock beside a file, which other processes respect."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

PATIENCE_S = 10


@contextmanager
def exclusively(path: Path, say: Callable[[str], None] = print) -> Iterator[None]:
    """Hold a lock beside ``path`` that other processes respect; a wait of more than a few seconds is told."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f"{path.name}.lock"))
    try:
        lock.acquire(timeout=PATIENCE_S)
    except Timeout:
        say(f"{path.name}: another process is at it; waiting for it to end")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()

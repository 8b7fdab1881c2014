"""Processes that end with their parent, locks that a killed process does not keep, and what mends a disk."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lib.files import ROOT, exclusively, mend_of, write_atomically

PARENT = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from lib.files import end_with_parent, exclusively

def work(path):
    Path(path).write_text(str(os.getpid()))
    time.sleep(300)

if __name__ == "__main__":
    with exclusively(Path(sys.argv[1]) / "held"), ProcessPoolExecutor(1, initializer=end_with_parent) as pool:
        pool.submit(work, sys.argv[1] + "/worker").result()
"""


def until(is_so, seconds: float = 60) -> bool:
    """Wait for something, at most so long."""
    end = time.monotonic() + seconds
    while not (found := is_so()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def test_a_killed_process_leaves_no_worker_and_no_lock(tmp_path):
    script, worker = tmp_path / "parent.py", tmp_path / "worker"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, script, tmp_path], env=os.environ | {"PYTHONPATH": str(ROOT)})
    try:
        assert until(lambda: worker.is_file() and worker.read_text())
        parent.send_signal(signal.SIGKILL)
        parent.wait(60)
        process = Path("/proc") / worker.read_text()
        assert until(lambda: not process.exists() or "\nState:\tZ" in (process / "status").read_text())
        said: list[str] = []
        with exclusively(tmp_path / "held", said.append):
            assert said == []
    finally:
        parent.kill()


def test_what_mends_an_error_of_the_system():
    assert all(map(mend_of, (errno.ENOSPC, errno.EROFS, errno.ENOTDIR)))
    assert mend_of(errno.ENOENT) == mend_of(None) == ""


def test_a_write_replaces_a_file_that_its_reader_keeps_whole_and_one_that_fails_leaves_the_old(tmp_path, monkeypatch):
    path = write_atomically(tmp_path / "deep" / "file", "old")
    with path.open() as reader:
        write_atomically(path, b"newer and longer")
        assert reader.read() == "old"
    monkeypatch.setattr(os, "fsync", lambda file: os.write(-1, b""))
    with pytest.raises(OSError, match="Bad file"):
        write_atomically(path, "new")
    assert [(one.name, one.read_text()) for one in path.parent.iterdir()] == [("file", "newer and longer")]


def test_a_file_that_cannot_be_written_is_named_itself_and_not_what_is_written_first(tmp_path):
    for place in (tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(OSError, match=re.escape(str(place))) as refused:
            write_atomically(place, "text")
        assert refused.value.filename == str(place)
    assert [*tmp_path.iterdir()] == []

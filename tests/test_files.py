"""Processes that end with their parent, locks that a killed process does not keep, and files that are whole."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lib.files import ROOT, exclusively, write_atomically

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


def test_a_write_replaces_a_file_that_its_reader_keeps_whole_and_one_that_fails_leaves_the_old(tmp_path, monkeypatch):
    path = write_atomically(tmp_path / "deep" / "file", "old")
    with path.open() as reader:
        write_atomically(path, b"newer and longer")
        assert reader.read() == "old"
    monkeypatch.setattr(os, "fsync", lambda file: os.write(-1, b""))
    with pytest.raises(OSError, match="Bad file") as refused:
        write_atomically(path, "new")
    assert refused.value.filename == str(path)  # and not what is written first
    assert [(one.name, one.read_text()) for one in path.parent.iterdir()] == [("file", "newer and longer")]

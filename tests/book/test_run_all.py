"""Chapters end with the command that runs them, and none begins after one has failed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from lib.files import ROOT

SCRIPT = """
import sys
from pathlib import Path
from lib.book import notebooks
folder = Path({folder!r})
notebooks.NOTEBOOKS = folder
if __name__ == "__main__":
    notebooks.run_all({names!r}, {{}}, folder / "out", 1)
"""
WAITS = "import os, pathlib, time\npathlib.Path('{folder}/kernel').write_text(str(os.getpid()))\ntime.sleep(600)"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def start(folder: Path, **chapters: str) -> subprocess.Popen:
    """A process that runs chapters of one cell."""
    for name, code in chapters.items():
        kernel = {"name": "python3", "display_name": "", "language": "python"}
        cells = [nbformat.v4.new_code_cell(code.format(folder=folder), metadata={"tags": ["parameters"]})]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / f"{name}.ipynb")
    script = folder / "script.py"
    script.write_text(SCRIPT.format(folder=str(folder), names=list(chapters)))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, str(script)], env=environment, stderr=subprocess.PIPE, text=True)


def until(is_so) -> bool:
    """Wait for something, at most two minutes."""
    end = time.monotonic() + 120
    while not (found := is_so()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_kernel_ends_with_the_command(tmp_path, number):
    running = start(tmp_path, waits=WAITS)
    try:
        assert until(lambda: (tmp_path / "kernel").is_file() and (tmp_path / "kernel").read_text())
        kernel = Path("/proc") / (tmp_path / "kernel").read_text()
        assert kernel.exists()
        running.send_signal(number)
        running.wait(60)
        assert until(lambda: not kernel.exists() or "(zombie)" in (kernel / "status").read_text())
    finally:
        running.kill()


def test_no_chapter_begins_after_one_has_failed(tmp_path):
    running = start(tmp_path, fails="1 / 0", follows="1", last="1")
    errors = running.communicate(timeout=200)[1]
    assert "fails failed in cell 0: ZeroDivisionError" in errors or "fails failed in cell 1" in errors
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["fails.failed.ipynb"]

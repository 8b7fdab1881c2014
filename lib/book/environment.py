"""Where results are made: the commit of the code, the machine, and the Python packages with their licences."""

import os
import platform
import re
import shutil
import subprocess
import textwrap
from importlib.metadata import metadata
from pathlib import Path

from lib.files import ROOT
from lib.models.encoders import gpu

SOURCES = "lib notebooks book data _config.yml _toc.yml requirements.txt :!book/results".split()
UNKNOWN = "unknown"  # in place of a commit
PACKAGES = (
    "torch", "transformers", "sentence-transformers", "tokenizers", "chromadb", "rank-bm25", "sacrebleu", "rouge-score",
    "rapidfuzz", "ir_measures", "onnxruntime", "xllamacpp", "lightgbm", "pymupdf", "numpy", "scipy", "pandas",
    "matplotlib", "papermill", "jupyter", "jupyter-book",
)  # fmt: skip


def git_commit() -> str:
    """The last commit that changed the code, with ``-dirty`` where files differ from it; ``unknown`` without git."""

    def git(*command: str) -> str:
        command = ["git", "-C", str(ROOT), *command, "--", *SOURCES]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False).stdout.strip()

    try:
        return (git("log", "-1", "--format=%H") or UNKNOWN) + ("-dirty" if git("status", "--porcelain") else "")
    except OSError:  # there is no git on the PATH, or none that may be run
        return UNKNOWN


def shortened(commit: str) -> str:
    """A commit of :func:`git_commit` as a page prints it: ten of its digits, and whether files differ from it."""
    return re.sub(r"^([0-9a-f]{10})[0-9a-f]+", r"\1", commit)


def processor() -> str:
    """The processor's name, cores and memory, and the GPU where there is one."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = gpu() if shutil.which("nvidia-smi") else None  # importing torch takes seconds
    graphics = f"; {found[0]}, {found[1]:.0f} GiB" if found else ""
    return f"{(names or [platform.processor()])[0]}, {os.cpu_count()} cores, {memory:.0f} GiB{graphics}"


def licence_of(package: str) -> str:
    """A Python package's licence as its own metadata states it, in a few words."""
    about = metadata(package)
    classifiers = [line.split(" :: ") for line in about.get_all("Classifier") or []]
    listed = "; ".join(parts[-1] for parts in classifiers if parts[0] == "License")
    stated = about.get("License-Expression") or listed or (about.get("License") or "unknown").splitlines()[0]
    return textwrap.shorten(stated, 60, placeholder=" …")

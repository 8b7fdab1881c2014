"""Finding a dataset by name or path: FinanceBench where it lies, the embedded demo, or the reader's own folder."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

from lib.data.dataset import read_dataset
from lib.data.download import download_financebench
from lib.data.layout import Dataset
from lib.files import ROOT
from lib.words import DatasetError

DATA, DEMO, RESULTS = ROOT / "data", ROOT / "data" / "demo", ROOT / "book" / "results"
DATA_VARIABLE = "RETRIEVAL_GAP_DATA"


def is_dataset(root: Path) -> bool:
    """Whether a folder has the layout's questions."""
    return any((root / "data").glob("*.jsonl"))


def financebench_root() -> Path | None:
    """Where FinanceBench lies on this machine: in ``$RETRIEVAL_GAP_DATA``, else in ``data``; or None.

    Raises:
        DatasetError: the variable names a folder that does not contain it.
    """
    chosen = os.environ.get(DATA_VARIABLE)
    root = Path(chosen or DATA).expanduser() / "financebench"
    if chosen and not is_dataset(root):
        wrong = "no folder financebench with data/*.jsonl in it; correct or unset it"
        raise DatasetError(f"{DATA_VARIABLE}={chosen}: {wrong}")
    return root if is_dataset(root) else None


def open_dataset(name: str) -> Dataset:
    """Find and read a dataset: ``financebench`` (downloaded if it is not here), ``demo``, or a folder in their layout.

    An empty name is FinanceBench where it lies on this machine, else the demo.

    Raises:
        DatasetError: there is no such dataset, or it has problems; all of them are listed.
    """
    if name in ("", "financebench"):
        root = financebench_root()
        if root is None and name == "financebench":
            root = download_financebench(DATA / "financebench")
        if root is not None:
            return read_dataset(root, "financebench")
        print("FinanceBench is not here: this is the synthetic DEMO. For the study say DATASET=financebench.")
        name = "demo"
    if name == "demo":
        return read_dataset(DEMO, "demo")
    root = Path(name).expanduser()
    if not is_dataset(root):
        wrong = "no folder with data/*.jsonl; give financebench, demo, or such a folder's path"
        raise DatasetError(f"{name}: {wrong}")
    dataset = read_dataset(root, re.sub(r"[^A-Za-z0-9_.-]+", "-", root.resolve().name))
    manifest = RESULTS / dataset.name / "default" / "manifest.json"
    if dataset.name not in ("demo", "financebench") or not manifest.is_file():
        return dataset
    is_published = json.loads(manifest.read_text())["fingerprint"] == dataset.fingerprint
    # one that has a published dataset's name and other content is named after its content too
    return dataset if is_published else replace(dataset, name=f"{dataset.name}-{dataset.fingerprint[:6]}")

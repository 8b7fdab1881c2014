"""Finding a dataset by name or path: FinanceBench where it lies, the embedded demo, or the reader's own folder."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path

from lib.data.dataset import read_dataset, read_questions
from lib.data.download import download_financebench
from lib.data.layout import Dataset
from lib.files import ROOT, write_atomically
from lib.words import DatasetError

DATA, DEMO, RESULTS = ROOT / "data", ROOT / "data" / "demo", ROOT / "book" / "results"
DATA_VARIABLE = "RETRIEVAL_GAP_DATA"
NAMES = ("demo", "financebench", "store", "reruns", "locks")  # with a meaning of their own
RECORD = "dataset.json"  # in a dataset's folder of artifacts: which dataset that is


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


def questions_root(name: str) -> Path | None:
    """Where a question set lies on this machine: the folder of this path, or of this name where datasets lie."""
    beside = Path(os.environ.get(DATA_VARIABLE) or DATA).expanduser() / name
    return next((root for root in (Path(name).expanduser(), beside) if is_dataset(root)), None)


def open_dataset(name: str, questions: str = "", artifacts: Path | None = None) -> Dataset:
    """Find and read a dataset: ``financebench`` (downloaded if it is not here), ``demo``, or a folder in their layout.

    An empty name is FinanceBench where it lies on this machine, else the demo. ``questions`` names another question set
    over its filings, by folder, or by name where datasets lie. With ``artifacts`` it is recorded there, see
    :func:`recorded`.

    Raises:
        DatasetError: there is no such dataset or question set, its name is another's, or it has problems; all of them
            are listed.
    """
    collection = recorded(_open_collection(name), artifacts)
    if questions in ("", collection.name):
        return collection
    if root := questions_root(questions):
        return recorded(read_questions(root, name_of(questions), collection), artifacts)
    published = ", ".join(sorted(path.parents[1].name for path in RESULTS.glob("*/default/manifest.json")))
    other = f", or the name of a published one: {published}" if published else ""
    raise DatasetError(f"{questions}: no question set; give a folder with data/*questions*.jsonl{other}")


def _open_collection(name: str) -> Dataset:
    if name in ("", "financebench"):
        root = financebench_root()
        if root is None and name == "financebench":
            root = download_financebench(DATA / "financebench")
        if root is not None:
            return read_dataset(root, "financebench")
        print("FinanceBench is not here: this is the synthetic DEMO. For the study say DATASET=financebench.")
    root = DEMO if name in ("", "demo") else Path(name).expanduser()
    if not is_dataset(root):
        wrong = "no folder with data/*.jsonl; give financebench, demo, or such a folder's path"
        if (root / "data").is_dir() and not os.access(root / "data", os.R_OK | os.X_OK):
            wrong = "its folder data must not be read; give yourself the right, as with chmod u+rx"
        raise DatasetError(f"{name}: {wrong}")
    return read_dataset(root, "demo" if root.resolve() == DEMO.resolve() else name_of(root))


def name_of(root: Path | str) -> str:
    """A folder's name as it is used in paths."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(root).expanduser().resolve().name)


def recorded(dataset: Dataset, artifacts: Path | None) -> Dataset:
    """The dataset, recorded in its folder of artifacts. A copy is the same dataset; so is what changed at its place.

    Raises:
        DatasetError: its name is that of another dataset, in the artifacts or among the study's own names.
    """
    own = {"questions": str(dataset.question_file.resolve()), "filings": str(dataset.root.resolve())}
    record = artifacts / dataset.name / RECORD if artifacts else None
    of_study = RESULTS / dataset.name / "default" / "manifest.json"
    known = {}
    with suppress(ValueError):  # a damaged record is written again
        known = json.loads(record.read_text()) if record and record.is_file() else {}
    is_studys = dataset.root in (DEMO, financebench_root()) and dataset.collection == dataset.name
    if not known and not is_studys and (dataset.name in NAMES or of_study.is_file()):
        known = json.loads(of_study.read_text()) if of_study.is_file() else {"fingerprint": ""}
    is_here = all(known.get(name) == path for name, path in own.items())
    own["fingerprint"] = dataset.fingerprint
    if known and not is_here and known.get("fingerprint") != dataset.fingerprint:
        raise DatasetError(f"{dataset.root}: another dataset has the name {dataset.name}; rename the folder")
    if record and known != own:
        write_atomically(record, json.dumps(own, indent=1) + "\n")
    return dataset

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
        raise DatasetError(
            f"{DATA_VARIABLE}={chosen}: no folder financebench with data/*.jsonl in it; correct or unset it"
        )
    return root if is_dataset(root) else None


def questions_root(name: str) -> Path | None:
    """Where a question set lies on this machine: the folder of this path, or of this name where datasets lie."""
    roots = Path(name).expanduser(), Path(os.environ.get(DATA_VARIABLE) or DATA).expanduser() / name
    return next(filter(is_dataset, roots), None)


def open_dataset(name: str, questions: str = "", artifacts: Path | None = None) -> Dataset:
    """A dataset: ``financebench`` (downloaded if it is not here), ``demo``, or a folder in their layout.

    Args:
        name: empty for FinanceBench where it lies on this machine, else the demo.
        questions: another question set over its filings: a folder, or a name where datasets lie.
        artifacts: where it is recorded, see :func:`recorded`.

    Raises:
        DatasetError: there is no such dataset or set, its name is another's, or it has problems; all are listed.
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
    root = financebench_root() if name in ("", "financebench") else None
    if name == "financebench" or root:
        return read_dataset(root or download_financebench(DATA / "financebench"), "financebench")
    if not name:
        print("FinanceBench is not here: this is the synthetic DEMO. For the study say DATASET=financebench.")
    root = DEMO if name in ("", "demo") else Path(name).expanduser()
    if is_dataset(root):
        return read_dataset(root, "demo" if root.resolve() == DEMO.resolve() else name_of(root))
    if (root / "data").is_dir() and not os.access(root / "data", os.R_OK | os.X_OK):
        raise DatasetError(f"{name}: its folder data must not be read; give yourself the right, as with chmod u+rx")
    raise DatasetError(f"{name}: no folder with data/*.jsonl; give financebench, demo, or such a folder's path")


def name_of(root: Path | str) -> str:
    """A folder's name as it is used in paths."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(root).expanduser().resolve().name)


def recorded(dataset: Dataset, artifacts: Path | None) -> Dataset:
    """The dataset, recorded in its folder of artifacts. A copy is the same dataset; so is what changed at its place.

    Raises:
        DatasetError: its name is that of another dataset, in the artifacts or among the study's own names.
    """
    place = {"questions": str(dataset.question_file.resolve()), "filings": str(dataset.root.resolve())}
    own, known, records = place | {"fingerprint": dataset.fingerprint}, {}, []
    if dataset.root not in (DEMO, financebench_root()) or dataset.collection != dataset.name:  # not the study's
        known = {"fingerprint": ""} if dataset.name in NAMES else {}
        records.append(RESULTS / dataset.name / "default" / "manifest.json")
    if artifacts:
        records.append(artifacts / dataset.name / RECORD)
    for record in filter(Path.is_file, records):
        with suppress(ValueError):  # a damaged record is written again
            known = json.loads(record.read_text())
    is_here = known.items() >= place.items()
    if known and not is_here and known.get("fingerprint") != dataset.fingerprint:
        raise DatasetError(f"{dataset.root}: another dataset has the name {dataset.name}; rename the folder")
    if artifacts and known != own:
        write_atomically(records[-1], json.dumps(own, indent=1) + "\n")
    return dataset

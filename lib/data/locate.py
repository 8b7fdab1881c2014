"""Finding a dataset by name or path: FinanceBench where it lies, the embedded demo, or the reader's own folder."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

from lib.data.dataset import read_dataset, read_questions
from lib.data.download import download_financebench
from lib.data.layout import Dataset
from lib.files import ROOT, digest_of, write_atomically
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
    over its filings, by folder, or by name where datasets lie. With ``artifacts`` its name is its own among all whose
    results are there.

    Raises:
        DatasetError: there is no such dataset or question set, or it has problems; all of them are listed.
    """
    collection = _named_apart(_open_collection(name), artifacts)
    if questions in ("", collection.name):
        return collection
    if (root := questions_root(questions)) is None:
        wanted = f"give a folder with data/*questions*.jsonl{_published()}"
        raise DatasetError(f"{questions}: no question set; {wanted}")
    return _named_apart(read_questions(root, name_of(questions), collection), artifacts)


def _published() -> str:
    names = ", ".join(sorted(path.parents[1].name for path in RESULTS.glob("*/default/manifest.json")))
    return f", or the name of a published one: {names}" if names else ""


def _open_collection(name: str) -> Dataset:
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
        if (root / "data").is_dir() and not os.access(root / "data", os.R_OK | os.X_OK):
            wrong = "its folder data must not be read; give yourself the right, as with chmod u+rx"
        raise DatasetError(f"{name}: {wrong}")
    return read_dataset(root, "demo" if root.resolve() == DEMO.resolve() else name_of(root))


def name_of(root: Path | str) -> str:
    """A folder's name as it is used in paths."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(root).expanduser().resolve().name)


def _named_apart(dataset: Dataset, artifacts: Path | None) -> Dataset:
    """The dataset with a folder of artifacts of its own, in which it is recorded: of one name with another, published
    or used before, it is named after its place too. A copy is the same dataset, and so is what changed at its place.
    """
    place = {"questions": str(dataset.question_file.resolve()), "filings": str(dataset.root.resolve())}
    own = place | {"fingerprint": dataset.fingerprint}
    if _is_another(dataset, own, _read(artifacts / dataset.name / RECORD if artifacts else None)):
        name = f"{dataset.name}-{digest_of(place)[:6]}"
        is_own = dataset.collection == dataset.name
        dataset = replace(dataset, name=name, collection=name if is_own else dataset.collection)
    if artifacts and _read(artifacts / dataset.name / RECORD) != own:
        write_atomically(artifacts / dataset.name / RECORD, json.dumps(own, indent=1) + "\n")
    return dataset


def _is_another(dataset: Dataset, own: dict, recorded: dict) -> bool:
    """Whether a dataset's name is that of another, in the artifacts or else among the study's own names."""
    if recorded:
        is_here = all(recorded.get(name) == own[name] for name in ("questions", "filings"))
        return not is_here and recorded.get("fingerprint") != own["fingerprint"]
    if dataset.root in (DEMO, financebench_root()) and dataset.collection == dataset.name:
        return False
    published = _read(RESULTS / dataset.name / "default" / "manifest.json")
    is_taken = published or dataset.name in NAMES
    return bool(is_taken) and published.get("fingerprint") != own["fingerprint"]


def _read(path: Path | None) -> dict:
    """A file's JSON object; empty where there is none that can be read."""
    try:
        found = json.loads(path.read_text()) if path else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

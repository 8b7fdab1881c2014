"""Finding a dataset by name or path: FinanceBench on this machine, the embedded demo, or the reader's own folder."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path

from lib.data.dataset import read_dataset, read_questions
from lib.data.download import download_financebench
from lib.data.layout import DATA_ENDINGS, Dataset
from lib.data.records import CONTROL, MOST_LETTERS, printable
from lib.files import MANIFEST, ROOT, digest_of, published_folders, write_atomically
from lib.schema import DatasetError

DATA, DEMO = ROOT / "data", ROOT / "data" / "demo"
DATA_VARIABLE = "RETRIEVAL_GAP_DATA"
UNSEEN = "unseen-companies"  # the study's own questions, in ``data/``; its filings' text is not in the repository
RESERVED_NAMES = ("demo", "financebench", "store", "reruns", "locks")  # of datasets and of folders among the artifacts
RECORD = "dataset.json"  # in a dataset's folder of artifacts: which dataset that is


def folder_of(name: str | Path) -> Path | None:
    """The folder of this path; None where there is none, or the path is invalid."""
    with suppress(OSError, RuntimeError, ValueError):  # too long; of an unknown ~user; with a null character
        path = Path(name).expanduser()
        return path if path.is_dir() and not CONTROL.search(str(path.resolve())) else None
    return None


def is_dataset(root: Path | None) -> bool:
    """Whether a folder has the layout's questions."""
    return root is not None and any(path.suffix.lower() in DATA_ENDINGS for path in (root / "data").glob("*"))


def financebench_root() -> Path | None:
    """FinanceBench's folder on this machine: in ``$RETRIEVAL_GAP_DATA``, which then must contain it, or ``data``."""
    chosen = os.environ.get(DATA_VARIABLE)
    root = folder_of(Path(chosen or DATA) / "financebench")
    if chosen and not is_dataset(root):
        wrong = "no folder financebench with data/*.jsonl in it"
        raise DatasetError(f"{DATA_VARIABLE}={chosen}: {wrong}; correct or unset it")
    return root if is_dataset(root) else None


def unseen_root() -> Path | None:
    """The folder of UNSEEN where the filings lie beside the questions, in ``$RETRIEVAL_GAP_DATA`` or ``data``."""
    roots = Path(os.environ.get(DATA_VARIABLE) or DATA) / UNSEEN, DATA / UNSEEN
    return next((root for root in map(folder_of, roots) if is_dataset(root) and (root / "pages").is_dir()), None)


def unseen_questions() -> dict[str, dict]:
    """The questions of UNSEEN by id, as ``data`` has them: their texts are this study's own, CC BY 4.0."""
    text = (DATA / UNSEEN / "data" / "unseen_questions.jsonl").read_text(encoding="utf-8")
    return {one["financebench_id"]: one for one in map(json.loads, text.splitlines())}


def questions_root(name: str) -> Path | None:
    """The folder of a question set on this machine: of this path, or of this name beside datasets or in ``data``."""
    roots = name, Path(os.environ.get(DATA_VARIABLE) or DATA) / name, DATA / name
    return next(filter(is_dataset, map(folder_of, roots)), None)


def open_dataset(name: str, questions: str = "", artifacts: Path | None = None) -> Dataset:
    """A dataset: ``financebench`` (downloaded if it is not here), ``unseen-companies``, ``demo``, or a folder in their
    layout; without a name FinanceBench if it is on this machine, else the demo.

    ``questions`` is another question set over its filings: a folder, or a name beside other datasets. ``artifacts`` is
    the folder in which it is :func:`recorded`.
    """
    collection = recorded(_open_collection(name, artifacts), artifacts)
    if questions in ("", collection.name):
        return collection
    if root := questions_root(questions):
        return recorded(read_questions(root, name_of(questions), collection, artifacts), artifacts)
    published = ", ".join(_published())
    other = f", or the name of a published one: {published}" if published else ""
    wanted = f"give a folder with data/*questions* ({', '.join(DATA_ENDINGS)}){other}"
    raise DatasetError(f"{printable(questions[:MOST_LETTERS])}: no question set; {wanted}")


def _published() -> dict[str, Path]:
    """The manifests of what is published under the default profile, by dataset."""
    return {folder.parent.name: folder / MANIFEST for folder in published_folders() if folder.name == "default"}


def _open_collection(name: str, artifacts: Path | None) -> Dataset:
    root = financebench_root() if name in ("", "financebench") else None
    if name == "financebench" or root:
        return read_dataset(root or download_financebench(DATA / "financebench"), "financebench")
    if name == UNSEEN:
        if root := unseen_root():
            return read_dataset(root, UNSEEN)
        raise DatasetError(f"{UNSEEN}: the filings are not here; put their text into {DATA / UNSEEN}/pages")
    if not name:
        print("FinanceBench is not here: this is the synthetic DEMO. For the study use DATASET=financebench.")
    root = DEMO if name in ("", "demo") else folder_of(name)
    if is_dataset(root):
        return read_dataset(root, "demo" if root.resolve() == DEMO.resolve() else name_of(root), artifacts)
    wanted = "give financebench, demo, or such a folder's path, with read permission"
    raise DatasetError(f"{printable(name[:MOST_LETTERS])}: no folder with questions in data/; {wanted}")


def name_of(root: Path | str) -> str:
    """A folder's name as it is used in paths."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(root).expanduser().resolve().name)


def named_apart(root: Path) -> str:
    """A folder's name with a digest of its path, so that no two folders share it; the study's datasets have a name."""
    path, financebench = root.resolve(), financebench_root()
    if path == DEMO.resolve():
        return "demo"
    if financebench and path == financebench.resolve():
        return "financebench"
    return f"{name_of(path) or 'root'}-{digest_of(str(path))[:8]}"


def recorded(dataset: Dataset, artifacts: Path | None) -> Dataset:
    """The dataset, recorded in its folder of artifacts, unless another dataset there or of the study has its name.

    A copy is the same dataset; so is what changed at its place.
    """
    place = {"questions": str(dataset.question_file.resolve()), "filings": str(dataset.root.resolve())}
    record, other, files = place | {"fingerprint": dataset.fingerprint}, {}, []
    is_own = dataset.root in (DEMO, financebench_root(), unseen_root()) and dataset.collection == dataset.name
    if not is_own:
        other = {"fingerprint": ""} if dataset.name in RESERVED_NAMES else {}
        files += [path for name, path in _published().items() if name == dataset.name]
    if artifacts:
        files.append(artifacts / dataset.name / RECORD)
    for file in filter(Path.is_file, files):
        with suppress(ValueError):  # a damaged record is written again
            other = json.loads(file.read_text(encoding="utf-8"))
    is_same_place = other.items() >= place.items()
    if other and not is_same_place and other.get("fingerprint") != dataset.fingerprint:
        folder = dataset.question_file.parent.parent
        raise DatasetError(f"{folder}: another dataset has the name {dataset.name}; rename the folder")
    if artifacts and other != record:
        write_atomically(files[-1], json.dumps(record, indent=1) + "\n")
    return dataset

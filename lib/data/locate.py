"""Finding a dataset by name or path: FinanceBench where it lies, the embedded demo, or the reader's own folder."""

import re
from pathlib import Path

from lib.data.dataset import Dataset, read_dataset
from lib.store import digest_of, digest_of_file
from lib.words import DatasetError

ROOT = Path(__file__).resolve().parents[2]
FINANCEBENCH_PLACES = (ROOT / "data" / "financebench", ROOT.parent / "shared" / "financebench")
DEMO_SOURCES = Path(__file__).with_name("demo")


def is_dataset(root: Path) -> bool:
    """Whether a folder has the layout's questions."""
    return any((root / "data").glob("*.jsonl"))


def financebench_root() -> Path | None:
    """Where FinanceBench lies on this machine, or None."""
    return next((place for place in FINANCEBENCH_PLACES if is_dataset(place)), None)


def open_dataset(name: str, artifacts: Path) -> Dataset:
    """Find and read a dataset.

    Args:
        name: ``financebench`` (found on this machine, else downloaded), ``demo``, the path of a folder in the same
            layout, or empty: FinanceBench where it lies on this machine, else the demo.
        artifacts: where the demo is written.

    Raises:
        DatasetError: there is no such dataset, or it has problems; all of them are listed.
    """
    if name in ("", "financebench"):
        root = financebench_root()
        if root is None and name == "financebench":
            from lib.data.download import download_financebench

            root = download_financebench(FINANCEBENCH_PLACES[0])
        if root is not None:
            return read_dataset(root, "financebench")
        print("FinanceBench is not here: this is the synthetic DEMO. For the study say DATASET=financebench.")
        name = "demo"
    if name == "demo":
        return read_dataset(demo_root(artifacts), "demo")
    root = Path(name).expanduser()
    if not is_dataset(root):
        raise DatasetError(
            f"{name}: no folder with data/*.jsonl; give financebench, demo, or such a folder's path"
        )
    return read_dataset(root, re.sub(r"[^A-Za-z0-9_.-]+", "-", root.resolve().name))


def demo_root(artifacts: Path) -> Path:
    """The folder of the demo's filings, written when it is missing or when the code that writes it has changed."""
    from lib.data.demo import write_demo

    sources = sorted(path for path in DEMO_SOURCES.rglob("*") if path.suffix in (".py", ".txt"))
    version = digest_of({path.relative_to(DEMO_SOURCES).as_posix(): digest_of_file(path) for path in sources})
    root = Path(artifacts) / f"demo-filings-{version[:12]}"
    if not (root / "complete").is_file():
        write_demo(root)
        (root / "complete").touch()
    return root

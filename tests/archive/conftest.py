"""A folder of filings, its index, and what an index holds."""

import shutil

import pytest

from lib.archive.index import ArchiveIndex, write_index
from lib.data.locate import DEMO
from lib.profile import load_profile

NAMES = sorted(path.stem for path in DEMO.glob("pdfs/*.pdf"))[:3]
PROFILE = load_profile("default")
#: A process that indexes a folder, and prints how many filings it read.
PROGRAM = """
from pathlib import PosixPath
from lib.archive.index import ArchiveIndex, write_index
from lib.profile import load_profile
print(len(write_index(ArchiveIndex({!r}, load_profile("default"), {!r}))[1]))
"""


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """A folder of three filings of the demo."""
    folder = tmp_path_factory.mktemp("filings")
    for name in NAMES:
        shutil.copyfile(DEMO / "pdfs" / f"{name}.pdf", folder / f"{name}.pdf")
    return folder


@pytest.fixture(scope="session")
def written(root, tmp_path_factory) -> ArchiveIndex:
    """Its index."""
    index = ArchiveIndex(tmp_path_factory.mktemp("index"), PROFILE, root)
    write_index(index)
    return index


def contents(written: ArchiveIndex) -> tuple[dict[str, bytes], dict]:
    """The bytes of records and pages by path, and the ids and vectors of spans by filing."""
    paths = [*written.folder.glob("pages/*.parquet"), *written.folder.glob("records/*.json")]
    with written.open(writes=False) as index:
        spans = index.read([*index.filings()])
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in paths}, spans

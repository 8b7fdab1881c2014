"""A folder of filings that an archive is made of."""

import shutil

import pytest

from lib.data.locate import DEMO

NAMES = sorted(path.stem for path in DEMO.glob("pdfs/*.pdf"))[:3]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder of three filings of the demo."""
    folder = tmp_path_factory.mktemp("filings")
    for name in NAMES:
        shutil.copyfile(DEMO / "pdfs" / f"{name}.pdf", folder / f"{name}.pdf")
    return folder

"""How a fault is judged, a sound dataset and an index to be damaged, and a line of each outcome: ``make break``."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
import yaml

from lib.archive import step
from lib.archive.index import ArchiveIndex, write_index
from lib.evaluation import evaluate
from lib.profile import load_profile
from lib.schema import StudyError
from lib.studies import open_study
from lib.study import Study
from tests.conftest import bag_of_words
from tests.small import browser, write_dataset  # noqa: F401

LONGEST = 9000  # characters of an error that a person still reads: 50 problems, a line each


@pytest.fixture
def told(record_property):
    """A context in which a fault is tried: see ``expect``."""

    @contextmanager
    def expect(words: str | None, may_work: bool = False) -> Iterator[None]:
        """The block ends in one StudyError that contains the words, which are None where the fault must do no harm; a
        traceback is bad, and silence unless it ``may_work``."""
        said = ""
        try:
            yield
        except StudyError as error:
            said = str(error)
        record_property("said", said or "right")
        if words is None:
            assert said == ""
        elif said or not may_work:
            assert said, "nothing was told"
            assert words in said
            assert len(said) <= LONGEST

    return expect


class Sound:
    """A sound dataset, that of :mod:`tests.small`, its profile and its results, below a folder."""

    def __init__(self, folder: Path, tokenizer: Path):
        self.folder, self.profile = folder, folder / "small.yaml"
        settings = {"embedder": {"weights": str(tokenizer)}, "chunks": {"size": 8, "overlap": 2}}
        self.profile.write_text(yaml.safe_dump({"extends": "default"} | settings))

    def new(self) -> Path:
        """A new empty folder."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def dataset(self, root: Path | None = None) -> Path:
        """Write the dataset; its folder."""
        return write_dataset(root or self.new() / "mine")

    def open(self, root: Path, artifacts: Path | None = None, **given: object) -> Study:
        """The study of a dataset."""
        named = {"dataset": str(root), "profile": str(self.profile), "results": "fresh"} | given
        return open_study(artifacts=artifacts or self.new(), say=lambda line: None, **named)

    def results(self, root: Path, artifacts: Path | None = None) -> list[str]:
        """The runs and metrics of a dataset."""
        study = self.open(root, artifacts)
        conditions = ("standard", "oracle-page")
        frames = [frame(study, "bm25", one) for one in conditions for frame in (evaluate, Study.run)]
        return [frame.to_csv(index=False) for frame in frames]

    @cached_property
    def expected(self) -> list[str]:
        """The results of the sound dataset."""
        return self.results(self.dataset())


@pytest.fixture(scope="session")
def sound(tmp_path_factory, tokenizer_folder) -> Sound:
    return Sound(tmp_path_factory.mktemp("sound"), tokenizer_folder)


@pytest.fixture(scope="module")
def small_profile(tokenizer_folder):
    """A profile of small sizes, whose encoder is a bag of words."""
    sizes = {"chunks.size": 16, "chunks.overlap": 4, "embedder.window": 16, "embedder.window_overlap": 4}
    with mock.patch.object(step, "load_encoder", return_value=SimpleNamespace(encode=bag_of_words)):
        yield load_profile("default").replaced(sizes | {"embedder.weights": str(tokenizer_folder)})


@pytest.fixture
def new_index(folder, small_profile, tmp_path) -> ArchiveIndex:
    """The index of the folder of filings, not yet written."""
    return ArchiveIndex(tmp_path / "index", small_profile, folder.root)


@pytest.fixture
def written_index(new_index) -> ArchiveIndex:
    write_index(new_index)
    return new_index


def pytest_terminal_summary(terminalreporter) -> None:
    """Print what came of each case."""
    for kind in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(kind, ()):
            if "breaking" in report.keywords:
                said = [str(value) for _, value in report.user_properties]
                line = " | ".join([kind, report.nodeid.partition("::")[2], *said])
                terminalreporter.write_line(line.replace("\n", " ⏎ ")[:200])

"""Where an index is written and by how many: a served Chroma and Ray give the records and answers of one process."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from lib.archive.ask import Archive
from lib.archive.engine import ADDRESS, ENGINE, Worker, mapped
from lib.archive.index import ArchiveIndex, write_index
from lib.files import ROOT
from lib.models.index import SERVER
from lib.schema import StudyError
from tests.archive.conftest import NAMES, PROFILE, PROGRAM, contents
from tests.served import Server

QUESTIONS = [
    "What were net sales of Haddenmoor Stores in the second quarter of fiscal 2022?",
    "Who audits the company?",
]
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: run make ray")


def counted(source: Path) -> int:
    """A step: the letters of a file's name; 3 is no name."""
    if source.name == "3":
        raise ValueError("three")
    return len(source.name)


@pytest.mark.parametrize(("engine", "words"), {"Ray": "ENGINE is 'Ray'", "ray": "make ray"}.items())
def test_an_engine_that_is_not_there_is_one_error(monkeypatch, engine, words):
    monkeypatch.setenv(ENGINE, engine)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(StudyError, match=words):
        next(mapped(counted, [Path("a")]))


def test_a_worker_hands_over_what_a_step_gives_or_the_error_with_the_filing():
    assert Worker(counted)({"source": "a/bb"}) == {"result": 2}
    error = Worker(counted)({"source": "a/3"})["result"]
    assert isinstance(error, StudyError)
    assert str(error).startswith("a/3: ValueError('three')")


def answers(written: ArchiveIndex) -> list[dict]:
    """The answers without pictures and scores."""
    with Archive(written) as archive:
        found = [archive.answer(question, 3) for question in QUESTIONS]
    for answer in found:
        for page in answer["pages"]:
            page.pop("score")
    return found


@pytest.fixture(scope="module")
def plain(written) -> tuple[dict[str, bytes], dict, list[dict]]:
    """The files, spans and answers of the index that one process writes to a folder."""
    return *contents(written), answers(written)


def assert_same(index: ArchiveIndex, plain: tuple[dict[str, bytes], dict, list[dict]]) -> None:
    """An index has the records, pages and answers of another, and its vectors but for the last bits."""
    files, spans = contents(index)
    assert files == plain[0]
    assert len(files) == 2 * len(NAMES)
    assert answers(index) == plain[2]
    for name, (ids, vectors) in plain[1].items():
        assert spans[name][0] == ids
        np.testing.assert_allclose(spans[name][1], vectors, atol=1e-6)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("server"))
    yield one
    one.kill()


@pytest.fixture
def served(monkeypatch, server):
    monkeypatch.setenv(SERVER, server.address)


@pytest.fixture(scope="module")
def cluster():
    """The address of a Ray cluster of two nodes of one processor each, on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    yield nodes.address
    nodes.shutdown()


@pytest.fixture
def on_ray(monkeypatch, cluster):
    monkeypatch.setenv(ENGINE, "ray")
    monkeypatch.setenv(ADDRESS, cluster)


PLACES = [["served"], pytest.param(["on_ray"], marks=needs_ray), pytest.param(["on_ray", "served"], marks=needs_ray)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("place", PLACES, ids=" ".join)
def test_an_index_on_a_server_or_by_two_workers_is_that_of_one_process(root, plain, request, tmp_path, place):
    for fixture in place:
        request.getfixturevalue(fixture)
    made = ArchiveIndex(tmp_path / "made", PROFILE, root)
    assert sorted(path.stem for path in write_index(made)[1]["source"]) == NAMES
    assert_same(made, plain)
    assert (tmp_path / "made" / "chroma").exists() == ("served" not in place)
    assert write_index(made)[1].empty


@needs_ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_filings_are_mapped_by_two_workers_and_an_error_of_one_ends_the_run(on_ray):
    def process(source: Path) -> int:
        time.sleep(0.5)
        if source.name == "3":
            raise ValueError("three")
        return os.getpid()

    assert len({*mapped(process, [Path("a")] * 8)} - {os.getpid()}) == 2
    with pytest.raises(StudyError, match=r"^3: ValueError\('three'\)"):
        list(mapped(process, [Path(str(number)) for number in range(5)]))
    with pytest.raises(StudyError, match=r"^Ray failed \(.* died"):
        list(mapped(lambda source: os.kill(os.getpid(), signal.SIGKILL), [Path("a")]))


@needs_ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_arrived_before_the_process_was_killed_is_kept(root, plain, served, on_ray, tmp_path, monkeypatch):
    command = [sys.executable, "-c", PROGRAM.format(tmp_path, root)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not [*tmp_path.glob("records/[!.]*")]:
            time.sleep(0.05)
        run.kill()
    n_there = len([path for path in tmp_path.glob("records/[!.]*") if json.loads(path.read_text())])
    assert n_there
    monkeypatch.delenv(ENGINE)
    resumed = ArchiveIndex(tmp_path, PROFILE, root)
    assert len(write_index(resumed)[1]) == len(NAMES) - n_there
    assert_same(resumed, plain)


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize("address", ["localhost:1", "nosuchhost.invalid:6379", "x"])
def test_a_cluster_that_is_none_is_one_sentence(monkeypatch, address):
    monkeypatch.setenv(ENGINE, "ray")
    monkeypatch.setenv(ADDRESS, address)
    with pytest.raises(StudyError, match=r"^Ray failed \(.*RAY_ADDRESS"):
        next(mapped(counted, [Path("a")]))

"""A served Chroma that is killed, is not there, is another service, or whose records another client changes."""

import socketserver
import threading
from collections.abc import Iterator
from unittest import mock

import chromadb
import numpy as np
import pytest

from lib.archive.ask import Archive
from lib.archive.index import ArchiveIndex, write_index
from lib.models import index
from lib.models.index import SERVER, Index
from tests.breaking.damage import cases
from tests.conftest import DatasetFolder
from tests.served import Server, free_port

pytestmark = [pytest.mark.breaking, pytest.mark.slow]  # a server takes seconds to start
NAMES = ["ACME", "BOLT", "CORK", "DOVE"]


@pytest.fixture(scope="module", autouse=True)
def two_at_once():
    """Two windows go to the server at once."""
    with mock.patch.object(index, "AT_ONCE", 2):
        yield


@pytest.fixture
def folder(folder) -> DatasetFolder:
    """A folder of four filings of five windows."""
    for name in NAMES:
        folder.text(name, *(f"{name.title()} net sales {number}" for number in range(5)))
    return folder


@pytest.fixture(scope="module")
def one_server(tmp_path_factory) -> Iterator[Server]:
    one = Server(tmp_path_factory.mktemp("server"))
    yield one
    one.kill()


@pytest.fixture
def server(one_server, monkeypatch) -> Server:
    """A server that runs, with a collection for each test, whose folder is its own."""
    if one_server.process.poll() is not None:
        one_server.start()
    monkeypatch.setenv(SERVER, one_server.address)
    return one_server


@pytest.fixture
def written(server, written_index) -> ArchiveIndex:
    """The served index of the folder."""
    return written_index


def answer(archive_index: ArchiveIndex) -> dict:
    with Archive(archive_index) as archive:
        return archive.answer("net sales of Bolt")


@pytest.mark.parametrize("n_writes", [1, 4, 11])
def test_a_server_that_is_killed_while_it_is_written_to_loses_no_filing_that_it_had(new_index, server, told, n_writes):
    n_calls, call = 0, Index._call

    def killing(self, function, **given):
        nonlocal n_calls
        n_calls += function == self.records.add if hasattr(self, "records") else 0
        if n_calls == n_writes:
            server.kill()
        return call(self, function, **given)

    with mock.patch.object(Index, "_call", killing), told(server.address):
        write_index(new_index)
    n_there = len(new_index.names())
    assert n_there == (n_writes - 1) // 3  # a filing is written three times two windows
    server.start()
    before, done = write_index(new_index)
    assert [len(before.unchanged), len(done)] == [n_there, len(NAMES) - n_there]
    with new_index.open(writes=False) as there:
        assert [sorted(there.filings()), there.damaged()] == [NAMES, []]


@pytest.mark.parametrize("doing", [write_index, Archive])
def test_a_server_that_is_gone_is_one_sentence_and_what_is_there_stays(written, server, told, doing):
    before = answer(written)
    with Archive(written) as archive:
        server.kill()
        with told(server.address):
            archive.answer("net sales of Bolt")
    with told(server.address):
        doing(written)
    server.start()
    assert answer(written) == before
    assert write_index(written)[1].empty


REPLIES = {
    "a web page": b"HTTP/1.0 200 OK\r\n\r\n<html>hello",
    "JSON of its own": b'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"hello": 1}',
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "an end at once": b"",
}


@cases("reply", REPLIES)
def test_a_port_where_another_service_listens_is_one_sentence(new_index, monkeypatch, told, reply):
    class Service(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            if reply:
                self.request.recv(4096)
                self.request.sendall(reply)

    with socketserver.ThreadingTCPServer(("127.0.0.1", free_port()), Service) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        address = f"localhost:{other.server_address[1]}"
        monkeypatch.setenv(SERVER, address)
        with told(address):
            write_index(new_index)
        other.shutdown()


def about(records) -> dict[str, dict]:
    """The metadata of every record, by its id."""
    found = records.get(include=["metadatas"])
    return dict(zip(found["ids"], found["metadatas"], strict=True))


def adding(window: str, **metadata: object) -> tuple[str, dict]:
    return "add", {"ids": [window], "embeddings": VECTOR, "metadatas": [metadata]}


FIRST, FOURTH, VECTOR = "BOLT#p0000#c00#w00", "BOLT#p0003#c00#w00", np.eye(256, dtype=np.float32)[:1]
#: What another client does: the function, and what it is given.
CHANGES = {
    "a filing is deleted": ("delete", {"where": {"doc_name": "BOLT"}}),
    "its first window is deleted": ("delete", {"ids": [FIRST]}),
    "another window is deleted": ("delete", {"ids": [FOURTH]}),
    "a vector is another": ("update", {"ids": [FOURTH], "embeddings": VECTOR}),
    "a window is of another filing": ("update", {"ids": [FOURTH], "metadatas": [{"doc_name": "CORK"}]}),
    "a window is added": adding("BOLT#p0099#c00#w00", doc_name="BOLT", page=99, place=99),
    "the place of a window is another": ("update", {"ids": [FOURTH], "metadatas": [{"place": 0}]}),
    "the page of a window is another": ("update", {"ids": [FOURTH], "metadatas": [{"page": 4}]}),
    "the digest is another": ("update", {"ids": [FIRST], "metadatas": [{"digest": "0" * 20}]}),
    "the checksum is another": ("update", {"ids": [FIRST], "metadatas": [{"sha256": "0" * 64}]}),
    "a filing of nobody is added": adding("X#p0000#c00#w00", doc_name="X", page=0, place=0, digest="0", sha256="0"),
    "a filing of nobody is written in part": adding("X#p0007#c00#w00", doc_name="X", page=7, place=1),
}


@cases(("function", "given"), CHANGES)
def test_what_another_client_changes_is_written_again(written, server, function, given):
    records = chromadb.HttpClient("localhost", server.port).get_collection(written.collection)
    whole, before = about(records), answer(written)
    assert FIRST in whole
    getattr(records, function)(**given)
    write_index(written)
    assert (about(records), answer(written)) == (whole, before)
    assert write_index(written)[1].empty


def test_a_collection_that_another_client_deletes_is_written_again(written, server, told):
    before = answer(written)
    chromadb.HttpClient("localhost", server.port).delete_collection(written.collection)
    with told("has no vectors of"):
        Archive(written)
    assert len(write_index(written)[1]) == len(NAMES)
    assert answer(written) == before

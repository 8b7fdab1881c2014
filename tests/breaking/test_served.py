"""A served Chroma that is killed, is not there, is another service, or whose records another client changes."""

import http.server
import socketserver
import threading
from collections.abc import Iterator
from unittest import mock

import numpy as np
import pytest

from lib.archive import step
from lib.archive.ask import Archive
from lib.archive.index import ArchiveIndex, write_index
from lib.models import index
from lib.models.index import SERVER, Index
from lib.profile import load_profile
from tests.breaking.damage import cases
from tests.breaking.test_index import Stub
from tests.conftest import DatasetFolder
from tests.served import Server, free_port

pytestmark = [pytest.mark.breaking, pytest.mark.slow]  # a server takes seconds to start
NAMES = ["ACME", "BOLT", "CORK", "DOVE"]
QUESTIONS = ["net sales of Acme", "cash flow of Bolt", "Who makes cork?"]


@pytest.fixture(scope="module", autouse=True)
def profile(tokenizer_folder):
    """A profile of small sizes, whose encoder is the stub; two windows go to the server at once."""
    sizes = {"chunks.size": 16, "chunks.overlap": 4, "embedder.window": 16, "embedder.window_overlap": 4}
    small = load_profile("default").replaced(sizes | {"embedder.weights": str(tokenizer_folder)})
    with mock.patch.object(step, "load_encoder", return_value=Stub()), mock.patch.object(index, "AT_ONCE", 2):
        yield small


@pytest.fixture
def folder(folder) -> DatasetFolder:
    """A folder of four filings of five windows."""
    for name in NAMES:
        folder.text(name, *(f"{name.title()} net sales {number}" for number in range(5)))
    return folder


@pytest.fixture
def kept(folder, profile, tmp_path) -> ArchiveIndex:
    """Its index, of which nothing is written yet."""
    return ArchiveIndex(tmp_path / "index", profile, folder.root)


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


def answers(kept: ArchiveIndex) -> list[dict]:
    with Archive(kept) as archive:
        return [archive.answer(question) for question in QUESTIONS]


@pytest.fixture
def undisturbed(folder, profile, tmp_path) -> list[dict]:
    """The answers of an index in a folder."""
    with pytest.MonkeyPatch.context() as here:
        here.delenv(SERVER, raising=False)
        alone = ArchiveIndex(tmp_path / "alone", profile, folder.root)
        write_index(alone)
        return answers(alone)


@pytest.mark.parametrize("n_writes", [1, 2, 4, 6, 11])
def test_a_server_that_is_killed_while_it_is_written_to_loses_no_filing_that_it_had(
    kept, server, undisturbed, told, n_writes
):
    n_calls, call = 0, Index._call

    def killing(self, function, **given):
        nonlocal n_calls
        n_calls += function == self.records.add if hasattr(self, "records") else 0
        if n_calls == n_writes:
            server.kill()
        return call(self, function, **given)

    with mock.patch.object(Index, "_call", killing), told(f"{SERVER}={server.address}: Chroma failed"):
        write_index(kept)
    n_there = len(kept.names())
    assert n_there == (n_writes - 1) // 3  # a filing is written three times two windows
    server.start()
    before, done = write_index(kept)
    assert [len(before.kept), len(done)] == [n_there, len(NAMES) - n_there]
    assert answers(kept) == undisturbed
    assert write_index(kept)[1].empty


def test_a_server_that_is_killed_while_it_is_asked_is_one_sentence(kept, server, undisturbed, told):
    write_index(kept)
    with Archive(kept) as archive, told(f"{SERVER}={server.address}: Chroma failed"):
        server.kill()
        archive.answer(QUESTIONS[0])
    server.start()
    assert answers(kept) == undisturbed


@pytest.mark.parametrize("doing", [write_index, Archive], ids=["index", "ask"])
def test_no_server_is_one_sentence_and_what_is_there_stays(kept, server, undisturbed, told, doing):
    write_index(kept)
    server.kill()
    with told(f"{SERVER}={server.address}: no answer"):
        doing(kept)
    server.start()
    assert answers(kept) == undisturbed
    assert write_index(kept)[1].empty


WRONG = [
    *("x", "localhost", "localhost:port", ":8000", "localhost:", "localhost:0", "localhost:99999999", "http://a:1"),
    *("no such host:8000", "nosuchhost.invalid:8000", "localhost:8000/x", "é:1", "[::1]:1", "localhost:-1"),
]


@pytest.mark.parametrize("value", WRONG)
def test_a_value_that_names_no_server_is_one_sentence(kept, monkeypatch, told, value):
    monkeypatch.setenv(SERVER, value)
    with told(SERVER):
        write_index(kept)


class Page(http.server.BaseHTTPRequestHandler):
    """Another service: a web page for whatever is asked."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>hello")

    do_POST = do_GET

    def log_message(self, *given: object) -> None:
        pass


class Missing(Page):
    """Another service: nothing is found there."""

    def do_GET(self) -> None:
        self.send_error(404)

    do_POST = do_GET


class Json(Page):
    """Another service: JSON of its own."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"hello": 1}')

    do_POST = do_GET


class Banner(socketserver.BaseRequestHandler):
    """Another service that speaks no HTTP."""

    def handle(self) -> None:
        self.request.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")


class Closes(socketserver.BaseRequestHandler):
    """Another service that ends a call at once."""


@pytest.mark.parametrize("service", [Page, Missing, Json, Banner, Closes])
def test_a_port_where_another_service_listens_is_one_sentence(kept, monkeypatch, told, service):
    with socketserver.ThreadingTCPServer(("127.0.0.1", free_port()), service) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        address = f"localhost:{other.server_address[1]}"
        monkeypatch.setenv(SERVER, address)
        with told(f"{SERVER}={address}"):
            write_index(kept)
        other.shutdown()


def first_of(records, name: str) -> str:
    return next(id for id in sorted(records.get(where={"doc_name": name})["ids"]))


def about(records) -> dict[str, dict]:
    """The metadata of every record, by its id."""
    found = records.get(include=["metadatas"])
    return dict(zip(found["ids"], found["metadatas"], strict=True))


CHANGES = {
    "a filing is deleted": lambda records: records.delete(where={"doc_name": "BOLT"}),
    "its first window is deleted": lambda records: records.delete(ids=[first_of(records, "BOLT")]),
    "another window is deleted": lambda records: records.delete(ids=["BOLT#p0003#c00#w00"]),
    "a vector is another": lambda records: records.update(
        ids=["BOLT#p0003#c00#w00"], embeddings=np.eye(26, dtype=np.float32)[:1]
    ),
    "a window is of another filing": lambda records: records.update(
        ids=["BOLT#p0003#c00#w00"], metadatas=[{"doc_name": "CORK", "page": 3, "place": 3}]
    ),
    "a window is added": lambda records: records.add(
        ids=["BOLT#p0099#c00#w00"],
        embeddings=np.eye(26, dtype=np.float32)[:1],
        metadatas=[{"doc_name": "BOLT", "page": 99, "place": 99}],
    ),
    "the place of a window is another": lambda records: records.update(
        ids=["BOLT#p0003#c00#w00"], metadatas=[{"place": 0}]
    ),
    "the page of a window is another": lambda records: records.update(
        ids=["BOLT#p0003#c00#w00"], metadatas=[{"page": 4}]
    ),
    "the digest is another": lambda records: records.update(
        ids=[first_of(records, "BOLT")], metadatas=[{"digest": "0" * 20}]
    ),
    "the checksum is another": lambda records: records.update(
        ids=[first_of(records, "BOLT")], metadatas=[{"sha256": "0" * 64}]
    ),
    "a filing of nobody is added": lambda records: records.add(
        ids=["X#p0000#c00#w00"],
        embeddings=np.eye(26, dtype=np.float32)[:1],
        metadatas=[{"doc_name": "X", "page": 0, "place": 0, "digest": "0", "sha256": "0"}],
    ),
    "a filing of nobody is written in part": lambda records: records.add(
        ids=["X#p0007#c00#w00"],
        embeddings=np.eye(26, dtype=np.float32)[:1],
        metadatas=[{"doc_name": "X", "page": 7, "place": 1}],
    ),
}


@cases("change", CHANGES)
def test_what_another_client_changes_is_written_again(kept, server, undisturbed, change):
    import chromadb

    write_index(kept)
    records = chromadb.HttpClient("localhost", server.port).get_collection(kept.collection)
    whole = about(records)
    change(records)
    write_index(kept)
    assert about(records) == whole
    assert answers(kept) == undisturbed
    assert write_index(kept)[1].empty


def test_a_collection_that_another_client_deletes_is_written_again(kept, server, undisturbed, told):
    import chromadb

    write_index(kept)
    chromadb.HttpClient("localhost", server.port).delete_collection(kept.collection)
    with told("contains no filing to search; run make index first"):
        Archive(kept)
    assert len(write_index(kept)[1]) == len(NAMES)
    assert answers(kept) == undisturbed

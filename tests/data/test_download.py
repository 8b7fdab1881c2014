"""Downloading FinanceBench: from a server on this machine that can break off, lie and go away."""

import hashlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lib.data import download
from lib.data.download import DOCUMENTS, QUESTIONS, checksums, download_financebench
from lib.data.locate import is_dataset
from lib.words import DatasetError

PDF = {name: b"%PDF-1.7 " + name.encode() * 25_000 for name in ("3M_2018_10K", "ADOBE_2015_10K")}
QUESTION_LINES = [{"doc_name": name} for name in ("3M_2018_10K", "ADOBE_2015_10K", "3M_2018_10K")]
FILES = {
    f"/{QUESTIONS}": "\n".join(map(json.dumps, QUESTION_LINES)).encode(),
    f"/{DOCUMENTS}": b'{"doc_name": "3M_2018_10K"}\n',
    **{f"/pdfs/{name}.pdf": content for name, content in PDF.items()},
}
PDF_PATH, ADOBE = (f"/pdfs/{name}.pdf" for name in PDF)
BREAK = 200_000
KNOWN = {name.strip("/"): hashlib.sha256(content).hexdigest() for name, content in FILES.items()}


class Server:
    """Gives files; notes what was asked.

    Attributes:
        files: path to bytes.
        breaks: paths that break off after so many bytes, once.
        errors: paths that answer with a status, so many times.
        asked: the path of every request.
    """

    def __init__(self):
        self.files, self.breaks, self.errors = dict(FILES), {}, {}
        self.asked = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *_):
                """Quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        status, times = self.errors.get(request.path, (0, 0))
        if times:
            self.errors[request.path] = (status, times - 1)
            return request.send_error(status)
        if (content := self.files.get(request.path)) is None:
            return request.send_error(404)
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[: self.breaks.pop(request.path, len(content))])
        return None


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "WAITS_S", (0, 0, 0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    monkeypatch.setenv("FINANCEBENCH_URL", server.url)
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def fetch(server, tmp_path, monkeypatch):
    """Download from the server; gives what is then in the folder."""

    def run(known: dict[str, str] = KNOWN, say=lambda line: None) -> dict[str, bytes]:
        monkeypatch.setattr(download, "checksums", lambda: known)
        assert download_financebench(tmp_path / "fb", say) == tmp_path / "fb"
        return folder()

    def folder() -> dict[str, bytes]:
        root = tmp_path / "fb"
        return {f"/{p.relative_to(root).as_posix()}": p.read_bytes() for p in root.rglob("*") if p.is_file()}

    run.folder, run.root = folder, tmp_path / "fb"
    return run


@pytest.mark.parametrize(
    ("fault", "n_tries"), [({}, 1), ({"breaks": {PDF_PATH: BREAK}}, 2), ({"errors": {PDF_PATH: (503, 2)}}, 3)]
)
def test_the_folder_holds_the_questions_and_each_filing_they_use_whatever_broke_off(fetch, server, fault, n_tries):
    vars(server).update(fault)
    assert fetch() == FILES
    assert sorted(server.asked) == sorted([*FILES, *[PDF_PATH] * (n_tries - 1)])


def test_a_download_that_was_stopped_receives_what_is_missing(fetch, server, monkeypatch):
    server.breaks[ADOBE] = BREAK
    monkeypatch.setattr(download, "WAITS_S", (0,))
    with pytest.raises(DatasetError, match="ADOBE_2015_10K.pdf failed"):
        fetch()
    assert fetch.folder() == {PDF_PATH: FILES[PDF_PATH]}
    assert not is_dataset(fetch.root)
    server.asked.clear()
    assert fetch() == FILES
    assert sorted(server.asked) == sorted({*FILES} - {PDF_PATH})


def test_what_is_there_and_sound_is_not_asked_for_again(fetch, server):
    for path, content in {PDF_PATH: FILES[PDF_PATH], ADOBE: b"%PDF- damaged"}.items():
        (fetch.root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (fetch.root / path[1:]).write_bytes(content)
    assert fetch() == FILES
    assert (server.asked.count(PDF_PATH), server.asked.count(ADOBE)) == (0, 1)


REFUSED = [
    (PDF_PATH, b"%PDF- another", KNOWN, r"3M_2018_10K\.pdf does not hash to what financebench\.sha256 says"),
    (PDF_PATH, b"<html>Sign in</html>", {}, r"3M_2018_10K\.pdf is no PDF; look at it in a browser"),
    (PDF_PATH, None, KNOWN, r"3M_2018_10K\.pdf does not exist; is FINANCEBENCH_URL right\?"),
    (f"/{QUESTIONS}", b'{"doc_name": "../../x"}', {}, r"'\.\./\.\./x' is no file name; the source is not FinanceBench"),
    (f"/{QUESTIONS}", b'{"doc_name": "/etc/passwd"}', {}, "is no file name; the source is not FinanceBench"),
    (f"/{QUESTIONS}", b"<html>", {}, "holds no questions"),
    (f"/{QUESTIONS}", b"[1]", {}, "holds no questions"),
]


@pytest.mark.parametrize(("path", "content", "known", "words"), REFUSED)
def test_what_is_not_the_file_is_refused_and_not_kept(fetch, server, path, content, known, words):
    server.files[path] = content
    with pytest.raises(DatasetError, match=words):
        fetch(known)
    assert server.asked.count(path) == 1
    assert fetch.folder() == {}


def test_a_filing_without_a_known_checksum_is_taken_and_that_is_said(fetch):
    said = []
    assert fetch({name: sha for name, sha in KNOWN.items() if "3M" not in name}, said.append) == FILES
    assert said == ["download: no checksum is known for pdfs/3M_2018_10K.pdf; taken as they came"]


def test_a_server_that_stays_busy_is_given_up_and_what_came_is_kept(fetch, server):
    server.errors[PDF_PATH] = (503, 99)
    with pytest.raises(DatasetError, match=r"cannot be downloaded: .*3M_2018_10K\.pdf failed \(503 .*received"):
        fetch()
    assert server.asked.count(PDF_PATH) == 3


def test_no_network_is_one_clear_sentence(tmp_path, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setattr(download, "WAITS_S", (0, 0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("FINANCEBENCH_URL", url)
    with pytest.raises(DatasetError) as caught:
        download_financebench(tmp_path / "fb")
    assert str(caught.value) == (
        f"FinanceBench cannot be downloaded: {url.removeprefix('http://')} cannot be reached. Connect to the network, "
        "put the dataset into data/financebench, set RETRIEVAL_GAP_DATA to a folder that contains financebench/, or "
        "take DATASET=demo."
    )
    assert not is_dataset(tmp_path / "fb")


def test_the_known_checksums_are_of_the_two_tables_and_of_filings():
    known = checksums()
    assert {QUESTIONS, DOCUMENTS} <= set(known)
    assert all(name.startswith("pdfs/") and name.endswith(".pdf") for name in set(known) - {QUESTIONS, DOCUMENTS})
    assert all(len(sha) == 64 and int(sha, 16) for sha in known.values())
    assert len(known) == 76

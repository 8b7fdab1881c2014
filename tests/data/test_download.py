"""Downloading FinanceBench: from a source that can break off, lie and go away."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
import requests

from lib.data import download
from lib.data.download import DOCUMENTS, QUESTIONS, checksums, download_financebench
from lib.data.locate import is_dataset
from lib.schema import DatasetError

PDF = {name: b"%PDF-1.7 " + name.encode() for name in ("3M_2018_10K", "ADOBE_2015_10K")}
QUESTION_LINES = [{"doc_name": name} for name in ("3M_2018_10K", "ADOBE_2015_10K", "3M_2018_10K")]
FILES = {
    f"/{QUESTIONS}": "\n".join(map(json.dumps, QUESTION_LINES)).encode(),
    f"/{DOCUMENTS}": b'{"doc_name": "3M_2018_10K"}\n',
    **{f"/pdfs/{name}.pdf": content for name, content in PDF.items()},
}
PDF_PATH, ADOBE = (f"/pdfs/{name}.pdf" for name in PDF)
BREAK = requests.ConnectionError()
KNOWN = {name.strip("/"): hashlib.sha256(content).hexdigest() for name, content in FILES.items()}


@pytest.fixture
def server(monkeypatch):
    """A source of ``files``, once a path's ``faults`` are over: a status, or an error."""
    found = SimpleNamespace(files=dict(FILES), faults={}, asked=[])

    def get(url: str, timeout) -> requests.Response:
        path, reply = urlsplit(url).path, requests.Response()
        found.asked.append(path)
        fault = found.faults.get(path) and found.faults[path].pop(0)
        if isinstance(fault, Exception):
            raise fault
        reply.url, reply.status_code, reply._content = url, fault or 200, found.files[path]
        return reply

    monkeypatch.setattr(requests, "get", get)
    monkeypatch.setattr(download, "WAITS_S", (0, 0, 0))
    monkeypatch.setenv("FINANCEBENCH_URL", "http://mirror.example")
    return found


@pytest.fixture
def root(tmp_path) -> Path:
    """The folder that the files go to."""
    return tmp_path / "fb"


def held(root: Path) -> dict[str, bytes]:
    """What is in a folder, by path below it."""
    return {f"/{path.relative_to(root).as_posix()}": path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def fetch(server, root, monkeypatch):
    """Download from the server with checksums that are known; gives what is then in the folder."""

    def run(known: dict[str, str] = KNOWN, say=lambda line: None) -> dict[str, bytes]:
        monkeypatch.setattr(download, "checksums", lambda: known)
        assert download_financebench(root, say) == root
        return held(root)

    return run


def test_what_broke_off_or_was_stopped_is_received_again_and_what_is_here_and_sound_is_not(fetch, server, root):
    server.faults |= {PDF_PATH: [BREAK], ADOBE: [BREAK, 503, 503]}
    with pytest.raises(DatasetError, match=r"503 .*ADOBE_2015_10K\.pdf"):
        fetch()
    assert held(root) == {PDF_PATH: FILES[PDF_PATH]}
    assert not is_dataset(root)
    (root / ADOBE[1:]).write_bytes(b"%PDF- damaged")
    server.asked.clear()
    assert fetch() == FILES
    assert sorted(server.asked) == sorted({*FILES} - {PDF_PATH})


REFUSED = [
    (PDF_PATH, b"%PDF- another", KNOWN, r"3M_2018_10K\.pdf does not have the SHA-256"),
    (f"/{QUESTIONS}", b'{"doc_name": "../../x"}', {}, r"'\.\./\.\./x' is not a file name"),
    (f"/{QUESTIONS}", b"<html>", {}, "not a file of questions"),
]


@pytest.mark.parametrize(("path", "content", "known", "words"), REFUSED)
def test_what_is_not_the_file_is_refused_and_not_kept(fetch, server, root, path, content, known, words):
    server.files[path] = content
    with pytest.raises(DatasetError, match=words):
        fetch(known)
    assert server.asked.count(path) == 1
    assert held(root) == {}


def test_a_filing_without_a_checksum_is_used_and_reported(fetch):
    assert {f"/{name}" for name in checksums()} > {*FILES}
    said = []
    assert fetch({name: sha for name, sha in KNOWN.items() if "3M" not in name}, said.append) == FILES
    assert len(said) == 1
    assert "pdfs/3M_2018_10K.pdf" in said[0]


def test_no_network_is_one_clear_sentence(fetch, server):
    server.faults[f"/{DOCUMENTS}"] = [BREAK] * 3
    with pytest.raises(DatasetError, match=r"mirror\.example cannot be reached"):
        fetch()

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


def contents(root: Path) -> dict[str, bytes]:
    """The files of a folder, by path below it."""
    return {f"/{path.relative_to(root).as_posix()}": path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def fetch(server, tmp_path, monkeypatch):
    """Download from the server with these checksums; returns what is then in the folder."""

    def run(expected: dict[str, str] = KNOWN, say=lambda line: None) -> dict[str, bytes]:
        monkeypatch.setattr(download, "checksums", lambda: expected)
        assert download_financebench(tmp_path, say) == tmp_path
        return contents(tmp_path)

    return run


def test_failed_downloads_are_retried_and_intact_files_are_not_downloaded_again(fetch, server, tmp_path):
    server.faults |= {PDF_PATH: [BREAK], ADOBE: [BREAK, 503, 503]}
    with pytest.raises(DatasetError, match=r"503 .*ADOBE_2015_10K\.pdf"):
        fetch()
    assert contents(tmp_path) == {PDF_PATH: FILES[PDF_PATH]}
    assert not is_dataset(tmp_path)
    (tmp_path / ADOBE[1:]).write_bytes(b"%PDF- damaged")
    server.asked.clear()
    assert fetch() == FILES
    assert sorted(server.asked) == sorted({*FILES} - {PDF_PATH})


#: A file, what the source has in its place, the checksums that are known, and what names the culprit.
REFUSED = {
    "another file": (PDF_PATH, b"%PDF- another", KNOWN, r"3M_2018_10K\.pdf .*SHA-256"),
    "a path": (f"/{QUESTIONS}", b'{"doc_name": "../../x"}', {}, r"'\.\./\.\./x'"),
    "a web page": (f"/{QUESTIONS}", b"<html>", {}, QUESTIONS),
}


@pytest.mark.parametrize(("path", "content", "expected", "culprit"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_file_is_refused_and_not_written(fetch, server, tmp_path, path, content, expected, culprit):
    server.files[path] = content
    with pytest.raises(DatasetError, match=culprit):
        fetch(expected)
    assert server.asked.count(path) == 1
    assert contents(tmp_path) == {}


def test_a_filing_without_a_checksum_is_used_and_reported(fetch):
    assert {f"/{name}" for name in checksums()} > {*FILES}
    reported = []
    assert fetch({name: sha for name, sha in KNOWN.items() if "3M" not in name}, reported.append) == FILES
    assert ["pdfs/3M_2018_10K.pdf" in line for line in reported] == [True]


def test_no_network_is_an_error_that_names_the_host(fetch, server):
    server.faults[f"/{DOCUMENTS}"] = [BREAK] * 3
    with pytest.raises(DatasetError, match=r"mirror\.example"):
        fetch()

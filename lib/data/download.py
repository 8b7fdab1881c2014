"""FinanceBench from its public repository: the questions, and the PDFs of the filings that they ask about."""

import json
import os
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import requests
from tqdm.auto import tqdm

from lib.data.layout import is_safe_name
from lib.files import digest_of_file
from lib.words import DatasetError

BASE_URL = "https://raw.githubusercontent.com/patronus-ai/financebench/main"
CHECKSUMS = Path(__file__).with_name("financebench.sha256")
QUESTIONS = "data/financebench_open_source.jsonl"
DOCUMENTS = "data/financebench_document_information.jsonl"
UNREACHABLE = """{} cannot be reached. Connect to the network, put the dataset into data/financebench, set \
RETRIEVAL_GAP_DATA to a folder that contains financebench/, or take DATASET=demo."""
WAITS_S = (0, 1, 3, 9)
TIMEOUTS_S = (10, 60)
PIECE = 1 << 16


def checksums() -> dict[str, str]:
    """SHA-256 of the files that are known, by their name in the repository."""
    return {name: sha256 for sha256, name in map(str.split, CHECKSUMS.read_text().splitlines())}


def download_financebench(target: Path, say=print) -> Path:
    """Download the questions and their filings, about 150 MB, to ``target``, which is returned.

    They come from ``$FINANCEBENCH_URL``, else from GitHub; a broken download is resumed. The questions take their place
    last, so that a folder with questions is whole. A file without a known checksum is taken as it comes, which is said.

    Raises:
        DatasetError: no network, a file that is not there, or one with another checksum than the known.
    """
    base_url = (os.environ.get("FINANCEBENCH_URL") or BASE_URL).rstrip("/")
    known, aside = checksums(), target / "downloading"
    with requests.Session() as session:
        for name in (QUESTIONS, DOCUMENTS):
            _download(session, f"{base_url}/{quote(name)}", aside / name, known.get(name))
        names = [f"pdfs/{doc_name}.pdf" for doc_name in _gold_filings(aside / QUESTIONS)]
        for name in tqdm(names, desc="download", unit="filing"):
            _download(session, f"{base_url}/{quote(name)}", target / name, known.get(name))
    if unknown := [name for name in (QUESTIONS, DOCUMENTS, *names) if name not in known]:
        say(f"download: no checksum is known for {', '.join(unknown)}; taken as they came")
    (target / "data").mkdir(exist_ok=True)
    for name in (DOCUMENTS, QUESTIONS):
        (aside / name).replace(target / name)
    (aside / "data").rmdir()
    aside.rmdir()
    return target


def _gold_filings(questions: Path) -> list[str]:
    try:
        found = {json.loads(line)["doc_name"] for line in questions.read_text().splitlines() if line.strip()}
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise DatasetError(f"{questions} holds no questions ({error!r}); remove it and try again") from None
    if bad := [doc_name for doc_name in found if not is_safe_name(str(doc_name))]:
        raise DatasetError(f"{questions}: {bad[0]!r} is no file name; the source is not FinanceBench")
    return sorted(found)


def _download(session: requests.Session, url: str, path: Path, sha256: str | None) -> None:
    """Put one file at ``path``: the one that is there, if it is sound, else a download."""
    if path.is_file() and sha256 in (None, digest_of_file(path)):
        return
    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    for left, wait_s in zip(reversed(range(len(WAITS_S))), WAITS_S, strict=True):
        time.sleep(wait_s)
        try:
            _receive(session, url, part)
            break
        except OSError as error:  # of requests or of the disk
            if left:
                continue
            reason = f"{url} failed ({error}). Try again; what was received is kept."
            if isinstance(error, requests.ConnectionError | requests.Timeout):
                reason = UNREACHABLE.format(urlsplit(url).netloc)
            raise DatasetError(f"FinanceBench cannot be downloaded: {reason}") from None
    wrong = ""
    if sha256 and digest_of_file(part) != sha256:
        wrong = f"does not hash to what {CHECKSUMS.name} says; try again, or remove its line there to accept the file"
    elif url.endswith(".pdf") and part.read_bytes()[:5] != b"%PDF-":
        wrong = "is no PDF; look at it in a browser"
    if wrong:
        part.unlink()
        raise DatasetError(f"{url} {wrong}")
    part.replace(path)


def _receive(session: requests.Session, url: str, part: Path) -> None:
    """Append to ``part`` what it lacks; start anew where the server does not go on."""
    have = part.stat().st_size if part.is_file() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with session.get(url, headers=headers, stream=True, timeout=TIMEOUTS_S) as response:
        if response.status_code == 404:
            raise DatasetError(f"{url} does not exist; is FINANCEBENCH_URL right?")
        if response.status_code == 416:
            part.unlink()
        response.raise_for_status()
        with part.open("ab" if response.status_code == 206 else "wb") as file:
            for piece in response.iter_content(PIECE):
                file.write(piece)

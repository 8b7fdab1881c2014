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
WAITS_S = (0, 1, 3, 9)
TIMEOUTS_S = (10, 60)
PIECE = 1 << 16


def checksums(path: Path = CHECKSUMS) -> dict[str, str]:
    """SHA-256 of the files that are known, by their name in the repository."""
    return {name: sha256 for sha256, name in map(str.split, path.read_text().splitlines())}


def download_financebench(
    target: Path, base_url: str | None = None, known: dict[str, str] | None = None, say=print
) -> Path:
    """Download the questions and their filings, about 150 MB; a broken download goes on where it was.

    The questions take their place last, so that a folder with questions is whole.

    Args:
        target: the dataset's folder.
        base_url: where the repository's files are; by default ``$FINANCEBENCH_URL``, else GitHub.
        known: SHA-256 by name; by default those in ``financebench.sha256``. Other files are taken as they come.
        say: receives their names.

    Returns:
        ``target``.

    Raises:
        DatasetError: no network, a file that is not there, or one with another checksum than the known.
    """
    base_url = (base_url or os.environ.get("FINANCEBENCH_URL") or BASE_URL).rstrip("/")
    known = checksums() if known is None else known
    target = Path(target)
    aside = target / "downloading"
    with requests.Session() as session:
        for name in (QUESTIONS, DOCUMENTS):
            _download(session, base_url, name, aside / name, known)
        names = [f"pdfs/{doc_name}.pdf" for doc_name in _gold_filings(aside / QUESTIONS)]
        for name in tqdm(names, desc="download", unit="filing"):
            _download(session, base_url, name, target / name, known)
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


def _download(session: requests.Session, base_url: str, name: str, path: Path, known: dict[str, str]) -> None:
    """Have one file at ``path``: the one that is there, if it is sound, else a download."""
    if path.is_file() and known.get(name, "") in ("", digest_of_file(path)):
        return
    url, part = f"{base_url}/{quote(name)}", path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    for last, wait_s in enumerate(WAITS_S, 1 - len(WAITS_S)):
        time.sleep(wait_s)
        try:
            _receive(session, url, part)
            break
        except (requests.RequestException, OSError) as error:
            if last == 0:
                raise DatasetError(_sentence(url, error)) from None
    wrong = ""
    if name in known and digest_of_file(part) != known[name]:
        wrong = f"does not hash to what {CHECKSUMS.name} says; try again, or remove its line there to accept the file"
    elif name.endswith(".pdf") and part.read_bytes()[:5] != b"%PDF-":
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


def _sentence(url: str, error: Exception) -> str:
    host = urlsplit(url).netloc
    if isinstance(error, requests.ConnectionError | requests.Timeout):
        return (
            f"FinanceBench cannot be downloaded: {host} cannot be reached. Connect to the network, put the dataset "
            "into data/financebench, set RETRIEVAL_GAP_DATA to a folder that contains financebench/, or take "
            "DATASET=demo."
        )
    return f"FinanceBench cannot be downloaded: {url} failed ({error}). Try again; what was received is kept."

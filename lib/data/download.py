"""FinanceBench from its public repository: the questions, and the PDFs of the filings that they ask about."""

import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

from tqdm.auto import tqdm

from lib.data.records import is_safe_name
from lib.files import digest_of_file, write_atomically
from lib.words import DatasetError

BASE_URL = "https://raw.githubusercontent.com/patronus-ai/financebench/main"
CHECKSUMS = Path(__file__).with_name("financebench.sha256")
QUESTIONS = "data/financebench_open_source.jsonl"
DOCUMENTS = "data/financebench_document_information.jsonl"
UNREACHABLE = """{} cannot be reached. Connect to the network, put the dataset into data/financebench, set \
RETRIEVAL_GAP_DATA to a folder that contains financebench/, or take DATASET=demo."""
WAITS_S = (0, 1, 3, 9)
TIMEOUTS_S = (10, 60)


def checksums() -> dict[str, str]:
    """SHA-256 of the files that are known, by their name in the repository."""
    return {name: sha256 for sha256, name in map(str.split, CHECKSUMS.read_text().splitlines())}


def download_financebench(target: Path, say=print) -> Path:
    """Download the questions and their filings, about 150 MB, to ``target``, which is returned.

    They come from ``$FINANCEBENCH_URL``, else from GitHub; files that are here and sound are not received again. The
    questions take their place last, so that a folder with questions is whole. A file without a known checksum is taken
    as it comes, which is said.

    Raises:
        DatasetError: no network, a file that is not there, or one with another checksum than the known.
    """
    base_url = (os.environ.get("FINANCEBENCH_URL") or BASE_URL).rstrip("/")
    known, aside = checksums(), target / "downloading"

    def download(name: str, folder: Path) -> None:
        _download(f"{base_url}/{quote(name)}", folder / name, known.get(name))

    for name in (QUESTIONS, DOCUMENTS):
        download(name, aside)
    names = [f"pdfs/{doc_name}.pdf" for doc_name in _gold_filings(aside / QUESTIONS)]
    for name in tqdm(names, desc="download", unit="filing"):
        download(name, target)
    if unknown := [name for name in (QUESTIONS, DOCUMENTS, *names) if name not in known]:
        say(f"download: no checksum is known for {', '.join(unknown)}; taken as they came")
    (target / "data").mkdir(exist_ok=True)
    for name in (DOCUMENTS, QUESTIONS):
        (aside / name).replace(target / name)
    shutil.rmtree(aside)
    return target


def _gold_filings(questions: Path) -> list[str]:
    try:
        found = {json.loads(line)["doc_name"] for line in questions.read_text().splitlines() if line.strip()}
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise DatasetError(f"{questions} holds no questions ({error!r}); remove it and try again") from None
    if bad := [doc_name for doc_name in found if not is_safe_name(doc_name)]:
        raise DatasetError(f"{questions}: {bad[0]!r} is no file name; the source is not FinanceBench")
    return sorted(found)


def _download(url: str, path: Path, sha256: str | None) -> None:
    """Put one file at ``path``: the one that is there, if it is sound, else a download."""
    if path.is_file() and sha256 in (None, digest_of_file(path)):
        return
    content = _received(url)
    if sha256 not in (None, hashlib.sha256(content).hexdigest()):
        wrong = f"does not hash to what {CHECKSUMS.name} says; try again, or remove its line there to accept the file"
        raise DatasetError(f"{url} {wrong}")
    if sha256 is None and url.endswith(".pdf") and not content.startswith(b"%PDF-"):
        raise DatasetError(f"{url} is no PDF; look at it in a browser")
    write_atomically(path, content)


def _received(url: str) -> bytes:
    """The content of a file; a connection that breaks off, within the file too, is tried again."""
    import requests  # not by the chapters, which import this

    for wait_s in WAITS_S:
        time.sleep(wait_s)
        try:
            response = requests.get(url, timeout=TIMEOUTS_S)
            if response.status_code == 404:
                raise DatasetError(f"{url} does not exist; is FINANCEBENCH_URL right?")
            response.raise_for_status()
            return response.content
        except requests.RequestException as error:
            reason = f"{url} failed ({error}). Try again; the files that were received are kept."
            if isinstance(error, requests.ConnectionError | requests.Timeout):
                reason = UNREACHABLE.format(urlsplit(url).netloc)
    raise DatasetError(f"FinanceBench cannot be downloaded: {reason}")

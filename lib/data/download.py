"""FinanceBench from its public repository: the questions, and the PDFs of the filings that they ask about."""

import hashlib
import json
import os
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

from tqdm.auto import tqdm

from lib.data.records import is_safe_name
from lib.files import digest_of_file, report, write_atomically
from lib.schema import DatasetError

BASE_URL = "https://raw.githubusercontent.com/patronus-ai/financebench/main"
CHECKSUMS = Path(__file__).with_name("financebench.sha256")
TABLES = DOCUMENTS, QUESTIONS = ("data/financebench_document_information.jsonl", "data/financebench_open_source.jsonl")
UNREACHABLE = """{} cannot be reached. Connect to the network, put the dataset into data/financebench, set \
RETRIEVAL_GAP_DATA to a folder that contains financebench/, or use DATASET=demo."""
WAITS_S = (0, 1, 3, 9)
TIMEOUTS_S = (10, 60)


def checksums() -> dict[str, str]:
    """The expected SHA-256 of files, by their name in the repository."""
    return {name: sha256 for sha256, name in map(str.split, CHECKSUMS.read_text(encoding="utf-8").splitlines())}


def download_financebench(target: Path, say=report) -> Path:
    """Download the questions and their filings, about 150 MB, to ``target``, which is returned.

    They come from ``$FINANCEBENCH_URL``, else from GitHub; intact filings in ``target`` are not downloaded again. The
    questions are written last, so that a folder with questions is complete.
    """
    base_url, expected = (os.environ.get("FINANCEBENCH_URL") or BASE_URL).rstrip("/"), checksums()
    tables = {name: _download(f"{base_url}/{name}", expected.get(name)) for name in TABLES}
    names = [f"pdfs/{doc_name}.pdf" for doc_name in _gold_filings(tables[QUESTIONS], f"{base_url}/{QUESTIONS}")]
    for name in tqdm(names, desc="download", unit="filing"):
        path, sha256 = target / name, expected.get(name)
        if not path.is_file() or sha256 not in (None, digest_of_file(path)):
            write_atomically(path, _download(f"{base_url}/{quote(name)}", sha256))
    if unchecked := [name for name in (*TABLES, *names) if name not in expected]:
        say(f"download: no checksum for {', '.join(unchecked)}; not checked")
    for name, content in tables.items():
        write_atomically(target / name, content)
    return target


def _gold_filings(questions: bytes, url: str) -> list[str]:
    """The names of the filings that the questions of a JSON-lines file are about."""
    try:
        names = {str(json.loads(line)["doc_name"]) for line in questions.splitlines() if line.strip()}
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{url}: not a file of questions ({error!r}); check FINANCEBENCH_URL") from None
    if invalid := [doc_name for doc_name in names if not is_safe_name(doc_name)]:
        raise DatasetError(f"{url}: {invalid[0]!r} is not a file name; check FINANCEBENCH_URL")
    return sorted(names)


def _download(url: str, sha256: str | None) -> bytes:
    """The content of a file; retried where the connection fails, also within the file."""
    import requests  # not by the chapters, which import this

    for wait_s in WAITS_S:
        time.sleep(wait_s)
        try:
            response = requests.get(url, timeout=TIMEOUTS_S)
            response.raise_for_status()
            break
        except requests.HTTPError as error:
            reason = f"{error}. Check FINANCEBENCH_URL, or try again; files downloaded so far are kept."
        except requests.RequestException:
            reason = UNREACHABLE.format(urlsplit(url).netloc)
    else:
        raise DatasetError(f"FinanceBench cannot be downloaded: {reason}")
    if sha256 not in (None, hashlib.sha256(response.content).hexdigest()):
        wrong = f"{url} does not have the SHA-256 in {CHECKSUMS.name}"
        raise DatasetError(f"{wrong}; try again, or remove its line there to accept the file")
    return response.content

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
RETRIEVAL_GAP_DATA to a folder that contains financebench/, or take DATASET=demo."""
WAITS_S = (0, 1, 3, 9)
TIMEOUTS_S = (10, 60)


def checksums() -> dict[str, str]:
    """SHA-256 of the files that are known, by their name in the repository."""
    return {name: sha256 for sha256, name in map(str.split, CHECKSUMS.read_text(encoding="utf-8").splitlines())}


def download_financebench(target: Path, say=report) -> Path:
    """Download the questions and their filings, about 150 MB, to ``target``, which is returned.

    They come from ``$FINANCEBENCH_URL``, else from GitHub; filings that are here and sound are not received again. The
    questions are written last, so that a folder with questions is whole.
    """
    base_url, known = (os.environ.get("FINANCEBENCH_URL") or BASE_URL).rstrip("/"), checksums()
    tables = {name: _received(f"{base_url}/{name}", known.get(name)) for name in TABLES}
    names = [f"pdfs/{doc_name}.pdf" for doc_name in _gold_filings(tables[QUESTIONS], f"{base_url}/{QUESTIONS}")]
    for name in tqdm(names, desc="download", unit="filing"):
        path, sha256 = target / name, known.get(name)
        if not path.is_file() or sha256 not in (None, digest_of_file(path)):
            write_atomically(path, _received(f"{base_url}/{quote(name)}", sha256))
    if unknown := [name for name in (*TABLES, *names) if name not in known]:
        say(f"download: no checksum is known for {', '.join(unknown)}; taken as they came")
    for name, content in tables.items():
        write_atomically(target / name, content)
    return target


def _gold_filings(questions: bytes, url: str) -> list[str]:
    try:
        found = {str(json.loads(line)["doc_name"]) for line in questions.splitlines() if line.strip()}
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{url} holds no questions ({error!r}); is FINANCEBENCH_URL right?") from None
    if bad := [doc_name for doc_name in found if not is_safe_name(doc_name)]:
        raise DatasetError(f"{url}: {bad[0]!r} is no file name; the source is not FinanceBench")
    return sorted(found)


def _received(url: str, sha256: str | None) -> bytes:
    """The content of a file; a connection that breaks off, within the file too, is tried again."""
    import requests  # not by the chapters, which import this

    for wait_s in WAITS_S:
        time.sleep(wait_s)
        try:
            response = requests.get(url, timeout=TIMEOUTS_S)
            response.raise_for_status()
            break
        except requests.HTTPError as error:
            reason = f"{error}. Is FINANCEBENCH_URL right? Try again; the files that were received are kept."
        except requests.RequestException:
            reason = UNREACHABLE.format(urlsplit(url).netloc)
    else:
        raise DatasetError(f"FinanceBench cannot be downloaded: {reason}")
    if sha256 not in (None, hashlib.sha256(response.content).hexdigest()):
        wrong = f"{url} does not hash to what {CHECKSUMS.name} says"
        raise DatasetError(f"{wrong}; try again, or remove its line there to accept the file")
    return response.content

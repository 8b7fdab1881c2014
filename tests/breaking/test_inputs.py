"""Bad datasets, disks that fail, and processes that are killed.

All of it happens to a dataset of two filings, searched by BM25. What is valid is stated here again, in other words than
the library's.
"""

import json
import multiprocessing
import os
import random
import re
import resource
import signal
import threading
import time
import unicodedata
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import takewhile
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as some
from tqdm.auto import tqdm

from lib.files import fix_of
from lib.schema import StudyError
from tests.breaking.damage import rewritten

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

QUESTIONS, DOCUMENTS = "data/test_open_source.jsonl", "data/test_document_information.jsonl"
ACME = "pages/ACME_2020_10K.jsonl"
FILES = (QUESTIONS, DOCUMENTS, ACME)
N_RECORDS, N_KILLS = 120, 20
SIGNS = "-_.:/#+=@"
HALF, CONTROL = re.compile("[\ud800-\udfff]"), re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
ODD = ["", " ", "../../etc/passwd", "a\x00b", "\ud800", "2024", "<script>", "{include}`x`", "売上高"]
NUMBERS = some.integers(-(10**20), 10**20) | some.floats()
WORDS = some.text(some.characters(), max_size=8) | some.sampled_from(ODD)
NESTED = some.lists(some.integers(), max_size=2) | some.dictionaries(some.text(max_size=3), some.integers(), max_size=2)
JSON = some.none() | some.booleans() | NUMBERS | WORDS | NESTED
ANY = {"phases": [hypothesis.Phase.generate], "suppress_health_check": list(hypothesis.HealthCheck)}


def edit(path: Path, line: int = 0, **changes: object) -> None:
    """Change fields of a line of JSON."""
    lines = path.read_text().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | changes)
    path.write_text("\n".join(lines) + "\n")


def is_letter_or_digit(one: str) -> bool:
    """Whether a character is one of a word in any script, marks on letters among them."""
    return one.isalnum() or unicodedata.category(one) in ("Mn", "Mc", "Me")


def kinds_of(value: object) -> set[str]:
    """What a value may be as a field of a record."""
    is_string = isinstance(value, str)
    is_text = is_string and bool(value.strip()) and not HALF.search(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
    is_digits = is_string and bool(re.fullmatch("[0-9]{4}", value))
    found = {
        "text": is_text,
        "label": is_number or (is_text and not CONTROL.search(value)),
        "missing": value in (None, []) or (is_string and not value.strip()),
        "year": (is_digits or is_number) and 1900 <= float(value) <= 2100 and float(value) % 1 == 0,
        "id": is_string and bool(value) and all(one in SIGNS or is_letter_or_digit(one) for one in value),
        "whole": type(value) is int,
        "1": value == 1 and type(value) is int,
    }
    return {kind for kind, is_so in found.items() if is_so}


#: File and field to what it may be; its line is named otherwise.
RIGHT = {
    **dict.fromkeys([(DOCUMENTS, "doc_name"), (ACME, "doc_name")], ""),
    **dict.fromkeys([(QUESTIONS, "doc_name"), (QUESTIONS, "evidence")], "missing"),
    **dict.fromkeys([(QUESTIONS, "company"), (DOCUMENTS, "gics_sector"), (DOCUMENTS, "doc_type")], "label missing"),
    **dict.fromkeys([(DOCUMENTS, "company")], "label"),
    (QUESTIONS, "question_type"): "label missing",
    (QUESTIONS, "financebench_id"): "id whole missing",
    (QUESTIONS, "question"): "text",
    (QUESTIONS, "answer"): "label text",
    (DOCUMENTS, "doc_period"): "missing year",
    (ACME, "page"): "1",
}


@hypothesis.settings(max_examples=N_RECORDS, **ANY)
@hypothesis.given(some.sampled_from(sorted(RIGHT)), JSON)
def test_any_value_in_any_field_is_refused_with_its_file_or_used(sound, told, place, value):
    (file, field), root = place, sound.dataset()
    edit(root / file, int(file == ACME), **{field: value})
    with told(None if kinds_of(value) & {*RIGHT[place].split()} else Path(file).name):
        sound.results(root)


CHANGES = {
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "UTF-32": lambda content: content.decode().encode("utf-32"),
    "Latin-1": lambda content: content.replace(b"e", b"\xe9"),
    "carriage returns alone": lambda content: content.replace(b"\n", b"\r"),
    "cut": lambda content: content[: len(content) // 2],
    "blank": lambda content: b"\n \n",
    "a wrong line 20,000 times": lambda content: content + b"{\n" * 20_000,
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "Windows' line ends": lambda content: content.replace(b"\n", b"\r\n"),
    "blank lines": lambda content: content.replace(b"\n", b"\n\n"),
}
READ_ALL_THE_SAME = [*CHANGES][-3:]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("what", CHANGES)
def test_a_broken_dataset_is_named_and_an_unusual_one_is_read(sound, told, file, what):
    with told(None if what in READ_ALL_THE_SAME else Path(file).name):
        sound.attempt(lambda root: rewritten(CHANGES[what])(root / file))


@pytest.mark.parametrize("name", ["empty", "half"])
def test_a_model_without_a_whole_tokenizer_is_named(sound, told, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).mkdir()
    if name == "half":
        Path("half/tokenizer.json").write_text("{")
    Path("mine.yaml").write_text(f"extends: default\nembedder: {{weights: ./{name}}}")
    with told(name):
        _ = sound.open(sound.dataset(), profile="mine.yaml").chunks


def apart(sound, home: Path, prepare: Callable[[], object]) -> None:
    """Search ``mine`` of a folder under other rights or limits, in a process of its own, as a command would."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), prepare) as pool:
        try:
            pool.submit(sound.results, home / "mine", home / "artifacts").result()
        except OSError as error:
            if fix := fix_of(error.errno):
                raise StudyError(f"{error.filename}: {error.strerror}; {fix}") from None
            raise


def limit(n_bytes: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


@pytest.fixture
def home(sound) -> Path:
    """A folder with a dataset, ``mine``, and one for artifacts, which another user may open."""
    found, _ = sound.new(), sound.expected  # what is imported late may be the other user's to read
    above = takewhile(lambda path: path.name.startswith(("pytest-", "popen-")), sound.folder.parents)
    for path in (sound.folder, *above, found):
        path.chmod(0o755)
    (found / "artifacts").mkdir()
    (found / "artifacts").chmod(0o777)
    sound.dataset(found / "mine")
    return found


@pytest.mark.parametrize("n_bytes", [0, 1, 64, 256, 1024, 4096, 16384, 10**8])
def test_a_full_disk_is_told_and_what_was_computed_is_kept(sound, home, told, n_bytes):
    with told("disk", may_work=n_bytes > 0):
        apart(sound, home, partial(limit, n_bytes))
    assert sound.results(home / "mine", home / "artifacts") == sound.expected  # now that there is room


RIGHTS = {f"mine/{name}": 0 for name in (QUESTIONS, ACME, "data", "pages")} | {"artifacts": 0o555}


@pytest.mark.parametrize("name", RIGHTS)
def test_what_must_not_be_read_or_written_is_named(sound, home, told, name):
    (home / name).chmod(RIGHTS[name])
    with told(Path(name).name):
        apart(sound, home, partial(os.setuid, 65534) if os.geteuid() == 0 else bool)  # root may do all
    (home / name).chmod(0o755)


@pytest.mark.parametrize("name", ["mine", "store", "store/locks", "store/runs", "store/pages"])
def test_a_file_in_place_of_a_folder_is_told(sound, home, told, name):
    path = home / "artifacts" / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with told(name):
        apart(sound, home, bool)


@pytest.fixture(scope="module")
def whole_s(sound):
    """Seconds that the results take."""
    tqdm.set_lock(threading.RLock())  # that of tqdm is shared with forked processes; killed ones would keep it
    root, started = sound.dataset(), time.perf_counter()
    sound.results(root)
    return time.perf_counter() - started


@pytest.mark.parametrize("share", [round(random.Random(seed).random(), 2) for seed in range(N_KILLS)])
def test_a_killed_process_leaves_no_lock_and_nothing_half(sound, whole_s, share):
    root, artifacts = sound.dataset(), sound.new()
    expected = sound.expected
    process = multiprocessing.get_context("fork").Process(target=sound.results, args=(root, artifacts))
    process.start()
    time.sleep(share * whole_s)
    process.kill()
    process.join()
    assert sound.results(root, artifacts) == expected

"""Bad datasets, disks that fail, and processes that are killed: it happens to a dataset of two filings and BM25."""

import json
import math
import multiprocessing
import os
import resource
import signal
import threading
import time
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
from tests.breaking.damage import cases, rewritten

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

QUESTIONS, DOCUMENTS = "data/test_open_source.jsonl", "data/test_document_information.jsonl"
ACME = "pages/ACME_2020_10K.jsonl"
FIELDS = {
    QUESTIONS: "financebench_id question answer question_type company doc_name evidence".split(),
    DOCUMENTS: "doc_name company gics_sector doc_type doc_period".split(),
    ACME: "doc_name page text".split(),
}
ODD = ["", " ", "../../etc/passwd", "a\x00b", "\ud800", "2024", "<script>", "{include}`x`", "売上高"]
NUMBERS = some.integers(-(10**20), 10**20) | some.floats()
WORDS = some.text(some.characters(), max_size=8) | some.sampled_from(ODD)
NESTED = some.lists(some.integers(), max_size=2) | some.dictionaries(some.text(max_size=3), some.integers(), max_size=2)
JSON = some.none() | some.booleans() | NUMBERS | WORDS | NESTED
ANY = {"phases": [hypothesis.Phase.generate], "suppress_health_check": list(hypothesis.HealthCheck)}


def edit(path: Path, **changes: object) -> None:
    """Change fields of the second line of JSON."""
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | changes)
    path.write_text("\n".join(lines) + "\n")


@hypothesis.settings(max_examples=60, **ANY)
@hypothesis.given(some.sampled_from([(file, field) for file, fields in FIELDS.items() for field in fields]), JSON)
def test_any_value_in_any_field_is_refused_with_its_file_or_used(sound, told, place, value):
    (file, field), root = place, sound.dataset()
    edit(root / file, **{field: value})
    with told(Path(file).name, may_work=True):
        sound.results(root)


#: Values at the edge of what a field may be: those that are used, and those that are refused.
EDGES = {
    (DOCUMENTS, "doc_period"): ([1900, "2100", 2020.0, None], [1899, 2101, "２０２０", math.inf, True]),
    (QUESTIONS, "answer"): ([5, -0.5, "a\nb"], [math.nan, "a\ud800", None]),
    (QUESTIONS, "company"): (["売上高", 3, None], ["a\x85b", "a\u2028b", math.inf]),
    (QUESTIONS, "financebench_id"): (["é/1", 17], ["a b", True]),
    (ACME, "page"): ([1], [0, 1.0, "1", True, None]),
}


@pytest.mark.parametrize(("file", "field"), EDGES)
def test_a_value_at_the_edge_is_used_and_one_beyond_is_refused(sound, told, file, field):
    used, refused = EDGES[file, field]
    for value, words in [(one, None) for one in used] + [(one, Path(file).name) for one in refused]:
        root = sound.dataset()
        edit(root / file, **{field: value})
        with told(words):
            sound.results(root)


#: What is done to a file, and whether it is then read all the same.
CHANGES = {
    "UTF-16": (lambda content: content.decode().encode("utf-16"), False),
    "Latin-1": (lambda content: content.replace(b"e", b"\xe9"), False),
    "carriage returns alone": (lambda content: content.replace(b"\n", b"\r"), False),
    "cut": (lambda content: content[: len(content) // 2], False),
    "a byte order mark": (lambda content: b"\xef\xbb\xbf" + content, True),
    "Windows' line ends": (lambda content: content.replace(b"\n", b"\r\n"), True),
    "blank lines": (lambda content: content.replace(b"\n", b"\n\n"), True),
}


@pytest.mark.parametrize("file", FIELDS)
@cases(("change", "is_read"), CHANGES)
def test_a_broken_dataset_is_named_and_an_unusual_one_is_read(sound, told, file, change, is_read):
    expected, root = sound.expected, sound.dataset()
    rewritten(change)(root / file)
    with told(None if is_read else Path(file).name):
        assert sound.results(root) == expected


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


@pytest.mark.parametrize("n_bytes", [0, 64, 1024, 4096, 16384])
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


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_a_killed_process_leaves_no_lock_and_nothing_half(sound, whole_s, share):
    root, artifacts, expected = sound.dataset(), sound.new(), sound.expected
    process = multiprocessing.get_context("fork").Process(target=sound.results, args=(root, artifacts))
    process.start()
    time.sleep(share * whole_s)
    process.kill()
    process.join()
    assert sound.results(root, artifacts) == expected

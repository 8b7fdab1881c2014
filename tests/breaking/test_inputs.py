"""Bad datasets, profiles and parameters, damage to what is stored, disks that fail, and processes that are killed.

All of it happens to a dataset of two filings, searched by BM25. What is valid is stated here again, in other words than
the library's.
"""

import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import threading
import time
from itertools import takewhile
from pathlib import Path

import hypothesis
import psutil
import pytest
import yaml
from hypothesis import strategies as some
from tqdm.auto import tqdm

from lib.cache import Cache
from lib.files import mend_of
from lib.models.prompts import Generation, Prompt, Sampling
from lib.models.written import GenerationLog, Item, Model
from lib.profile import load_profile
from lib.words import DatasetError, StudyError
from tests.breaking.damage import DAMAGES, cases

pytestmark = [pytest.mark.slow, pytest.mark.breaking]

QUESTIONS, DOCUMENTS = "data/test_open_source.jsonl", "data/test_document_information.jsonl"
ACME = "pages/ACME_2024.jsonl"
FILES = (QUESTIONS, DOCUMENTS, ACME)
N_RECORDS, N_SETTINGS, N_KILLS = 120, 80, 20
PATIENCE_S = 10  # in which a worker ends that has lost its parent
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


# What a field may be; its line is named otherwise.
def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not HALF.search(value)


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")


def is_label(value: object) -> bool:
    return is_number(value) or (is_text(value) and not CONTROL.search(value))


def is_missing(value: object) -> bool:
    return value in (None, [], "") or (isinstance(value, str) and not value.strip())


def is_year(value: object) -> bool:
    is_digits = isinstance(value, str) and re.fullmatch("[0-9]{4}", value)
    return bool(is_digits or is_number(value)) and 1900 <= float(value) <= 2100 and float(value) % 1 == 0


def is_id(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value.split() == [value]


NEVER = [(QUESTIONS, "evidence"), (QUESTIONS, "doc_name"), (DOCUMENTS, "doc_name"), (ACME, "doc_name")]
MAY_MISS = [(QUESTIONS, "company"), (DOCUMENTS, "gics_sector"), (DOCUMENTS, "doc_type")]
RIGHT = {
    **dict.fromkeys(NEVER, lambda value: False),
    **dict.fromkeys(MAY_MISS, lambda value: is_missing(value) or is_label(value)),
    **dict.fromkeys([(QUESTIONS, "question_type"), (DOCUMENTS, "company")], is_label),
    (QUESTIONS, "financebench_id"): is_id,
    (QUESTIONS, "question"): is_text,
    (QUESTIONS, "answer"): lambda value: is_label(value) or is_text(value),
    (DOCUMENTS, "doc_period"): lambda value: is_missing(value) or is_year(value),
    (ACME, "page"): lambda value: value == 1 and type(value) is int,
}


@hypothesis.settings(max_examples=N_RECORDS, **ANY)
@hypothesis.given(some.sampled_from(sorted(RIGHT)), JSON)
def test_any_value_in_any_field_is_refused_with_its_file_or_used(sound, told, place, value):
    (file, field), root = place, sound.dataset()
    edit(root / file, int(file == ACME), **{field: value})
    with told(None if RIGHT[place](value) else Path(file).name):
        sound.results(root)


EVIDENCE = [[{"evidence_page_num": page}] for page in (-1, "1", 1.0, True, None, 99, 2**70)]
EVIDENCE += [[{"evidence_page_num": 1, "evidence_text": text}] for text in (5, ["x"], "\ud800", "elsewhere entirely")]
EVIDENCE += [[{"evidence_page_num": 1, "doc_name": "BOLT_2024", "evidence_text": "x"}]]
EVIDENCE += [[None], ["x"], {}, "x"]


@pytest.mark.parametrize("value", EVIDENCE, ids=ascii)
def test_evidence_that_is_none_is_refused_with_its_line(sound, told, value):
    with told("test_open_source.jsonl line 1"):
        sound.attempt(lambda root: edit(root / QUESTIONS, evidence=value))


KINDS = {
    "a folder": Path.mkdir,
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("file", FILES)
@cases("make", KINDS)
def test_what_is_no_file_is_named(sound, told, file, make):
    with told(Path(file).name):
        sound.attempt(lambda root: ((root / file).unlink(), make(root / file)))


BROKEN = {
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "UTF-32": lambda content: content.decode().encode("utf-32"),
    "Latin-1": lambda content: content.replace(b"e", b"\xe9"),
    "carriage returns alone": lambda content: content.replace(b"\n", b"\r"),
    "one JSON list": lambda content: b"[\n" + content + b"]",
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "blank": lambda content: b"\n \n",
    "nested deep": lambda content: content + b"[" * 200_000,
    "a number of 5,000 digits": lambda content: content + b'{"a": ' + b"1" * 5000 + b"}",
    "a field twice": lambda content: content.replace(b'"doc_name"', b'"doc_name": "X", "doc_name"', 1),
    "a list as a line": lambda content: content + b"[1]\n",
    "a wrong line 20,000 times": lambda content: content + b"{\n" * 20_000,
}
UNUSUAL = {
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "Windows' line ends": lambda content: content.replace(b"\n", b"\r\n"),
    "blank lines": lambda content: content.replace(b"\n", b"\n\n"),
}


@pytest.mark.parametrize("file", FILES)
@cases("change", BROKEN | UNUSUAL)
def test_a_broken_file_is_named_and_an_unusual_one_is_read(sound, told, file, change):
    with told(None if change in UNUSUAL.values() else Path(file).name):
        sound.attempt(lambda root: (root / file).write_bytes(change((root / file).read_bytes())))


SCORED = [(DOCUMENTS, "company", "Other"), (DOCUMENTS, "doc_type", "8k"), (DOCUMENTS, "doc_period", 1999)]
SCORED += [
    (QUESTIONS, "question", "What else?"),
    (QUESTIONS, "question_type", "other"),
    (ACME, "text", "Another cover"),
]
NOT_SCORED = [(DOCUMENTS, "gics_sector", "Other"), (QUESTIONS, "answer", "2")]  # no run depends on it


@pytest.mark.parametrize(("file", "field", "value"), SCORED + NOT_SCORED)
def test_what_a_result_depends_on_is_in_what_identifies_it(sound, file, field, value):
    root, artifacts = sound.dataset(), sound.new()
    first = sound.open(root, artifacts)
    fingerprint, key = first.dataset.fingerprint, first.run_entry("bm25").key
    edit(root / file, **{field: value})
    second = sound.open(root, artifacts)
    assert second.dataset.fingerprint != fingerprint
    assert (second.run_entry("bm25").key != key) == ((file, field, value) in SCORED)


@pytest.mark.parametrize(("name", "n_sound"), [("filings", 1), ("demo", 0), ("store", 0), ("financebench", 0)])
def test_another_dataset_under_a_name_that_is_taken_is_refused(sound, name, n_sound):
    artifacts = sound.new()
    roots = [sound.dataset(sound.new() / name) for _ in range(2)]
    edit(roots[1] / QUESTIONS, question="What else?")
    for root in roots[:n_sound]:
        sound.open(root, artifacts)
    with pytest.raises(DatasetError, match=f"another dataset has the name {name}; rename the folder"):
        sound.open(roots[n_sound], artifacts)


DEFAULT = load_profile("default")
SETTINGS = [
    (section, name)
    for section, given in DEFAULT.items()
    if isinstance(given, dict) and section != "sets"
    for name in given
    if not isinstance(given[name], dict)
]
SHARES = ("b", "warmup", "feature_share", "page_share", "shares", "right_from")


def may_be(name: str, value: object, like: object) -> bool:
    """Whether a setting may have a value, by its name and the value that it has."""
    if name in ("rows", "without"):
        return value == "all" or (isinstance(value, list) and all(isinstance(one, str) for one in value))
    if isinstance(like, list) and isinstance(value, list):
        return bool(like and value) and all(may_be(name, one, like[0]) for one in value)
    if isinstance(like, (list, bool)) or isinstance(value, bool):
        return type(value) is type(like) is bool
    if isinstance(like, (int, float)):
        return type(value) in {int, type(like)} and 0 <= value <= (1 if name in SHARES else 2**32)
    return isinstance(value, str)


@hypothesis.settings(max_examples=N_SETTINGS, **ANY)
@hypothesis.given(some.sampled_from(SETTINGS), JSON)
def test_any_value_in_any_setting_is_refused_by_its_name_or_used(sound, told, place, value):
    (section, name), path = place, sound.new() / "mine.yaml"
    may_work = may_be(name, value, DEFAULT[section][name])
    text = yaml.safe_dump({"extends": "default", section: {name: value}})
    path.write_text(text, errors="surrogatepass")
    with told(f"{section}.{name}", may_work):
        load_profile(str(path))


PROFILES = {
    "a bomb of aliases": ("a: &a [1, 1]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]", "alias"),
    "a tag": ("!!python/object/apply:os.system [touch hacked]", "not YAML"),
    "nested deep": ("[" * 10_000, "not YAML"),
    "extends nothing": ("bm25: {k1: 1.0}", "extends: default"),
    "a set that is none": ("extends: default\nsets: {mine: 5}", "no settings"),
}


@cases(("text", "words"), PROFILES)
def test_a_profile_that_is_none_is_told(told, tmp_path, text, words):
    (tmp_path / "mine.yaml").write_text(text)
    with told(words):
        load_profile(str(tmp_path / "mine.yaml"))


PARAMETERS = {
    "k": (0, -1, 1000, True, 5.0, "5", [5]),
    "dataset": (7, ["demo"], "no/such", "\x00"),
    "profile": (7, "nosuch", "../x", ""),
    "results": ("bogus", None, 1),
    "questions": ("no-such-set", 3),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PARAMETERS.items() for value in values], ids=ascii
)
def test_a_wrong_parameter_of_a_chapter_is_told(sound, told, name, value):
    with told(""):
        sound.open(sound.dataset(), sound.new(), **{name: value})


@pytest.mark.parametrize("content", ["", "{"], ids=["empty", "with half a tokenizer"])
def test_a_models_folder_without_a_tokenizer_is_named(sound, told, tmp_path, content):
    if content:
        (tmp_path / "tokenizer.json").write_text(content)
    profile = sound.new() / "mine.yaml"
    profile.write_text(yaml.safe_dump({"extends": "default", "embedder": {"weights": str(tmp_path)}}))
    with told(str(tmp_path)):
        _ = sound.open(sound.dataset(), sound.new(), profile=str(profile)).chunks


@pytest.fixture(scope="module")
def computed(sound):
    """A dataset and the artifacts of its results."""
    root, artifacts = sound.dataset(), sound.new()
    sound.results(root, artifacts)
    return root, artifacts


@cases("spoil", {name: DAMAGES[name] for name in ("cut in half", "emptied", "gone")})
def test_a_damaged_cache_is_named_or_its_rows_are_computed_again(sound, told, computed, spoil):
    root, whole = computed
    copy = shutil.copytree(whole, sound.new(), dirs_exist_ok=True)
    spoil(copy / "cache.sqlite")
    with told("cache.sqlite", may_work=True):
        assert sound.results(root, copy) == sound.expected


class Echo:
    """A language model that repeats its prompt."""

    def generate(self, requests, on_done) -> None:
        for number, request in enumerate(requests):
            on_done(number, Generation(request.prompt.user.upper(), 3, 5, "stop", 0.5))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, None])
def test_a_list_of_texts_that_is_cut_or_edited_changes_none_of_them(tmp_path, share):
    items = [Item(name, f"q-{name}", Prompt(name), Sampling(10, seed=7)) for name in ("one", "two", "three")]
    path, cache = tmp_path / "generations.jsonl", Cache(tmp_path / "cache.sqlite")
    log = GenerationLog(path, cache, Model("tiny", "ab12"), None, lambda line: None)
    log.fill("answer", items, Echo)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))] if share else content.replace(b"TWO", b"TOO"))
    assert log.fill("answer", items, Echo).texts == {item.id: item.id.upper() for item in items}


def apart(prepare, search) -> None:
    """Search under other rights or limits, in a process of its own; raises the StudyError that it ends in."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        said = ""
        try:
            prepare()
            search()
        except StudyError as error:
            said = str(error)
        except BaseException as error:  # one of the disk is told by the command line and the chapters
            mend = mend_of(error.errno) if isinstance(error, OSError) else ""
            said = f"{error.filename}: {error.strerror}; {mend}" if mend else f"TRACEBACK {error!r}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    assert not said.startswith("TRACEBACK"), said
    if said:
        raise StudyError(said)


def limit(n_bytes: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


@pytest.mark.parametrize("n_bytes", [0, 1, 64, 256, 1024, 4096, 16384, 10**8])
def test_a_full_disk_is_told_and_what_was_computed_is_kept(sound, told, n_bytes):
    root, artifacts = sound.dataset(), sound.new()
    with told("", may_work=n_bytes > 0):
        apart(lambda: limit(n_bytes), lambda: sound.results(root, artifacts))
    assert sound.results(root, artifacts) == sound.expected  # now that there is room


RIGHTS = {QUESTIONS: 0, ACME: 0, "data": 0, "pages": 0, "artifacts": 0o555}


@pytest.mark.parametrize("name", RIGHTS)
def test_what_must_not_be_read_or_written_is_named(sound, told, name):
    home, _ = sound.new(), sound.expected  # what is imported late may be the other user's to read
    above = takewhile(lambda path: path.name.startswith(("pytest-", "popen-")), sound.folder.parents)
    for path in (sound.folder, *above, home):
        path.chmod(0o755)
    (home / "artifacts").mkdir()
    (home / "artifacts").chmod(0o777)
    sound.dataset(home / "mine")
    path = home / name if name == "artifacts" else home / "mine" / name
    path.chmod(RIGHTS[name])
    with told(Path(name).name):
        lose = (lambda: os.setuid(65534)) if os.geteuid() == 0 else bool  # root may do all
        apart(lose, lambda: sound.results(home / "mine", home / "artifacts"))
    path.chmod(0o755)


@pytest.mark.parametrize("name", ["mine", "store", "store/locks", "store/runs", "store/pages"])
def test_a_file_in_place_of_a_folder_is_told(sound, told, name):
    root, artifacts = sound.dataset(), sound.new()
    (artifacts / name).parent.mkdir(parents=True, exist_ok=True)
    (artifacts / name).touch()
    with told("a file stands where"):
        apart(bool, lambda: sound.results(root, artifacts))


@pytest.fixture(scope="module")
def whole_s(sound):
    """Seconds that the results take."""
    tqdm.set_lock(threading.RLock())  # that of tqdm is shared with forked processes; killed ones would keep it
    root, started = sound.dataset(), time.perf_counter()
    sound.results(root)
    return time.perf_counter() - started


@pytest.mark.parametrize("share", [round(random.Random(seed).random(), 2) for seed in range(N_KILLS)])
def test_a_killed_process_leaves_no_worker_and_no_lock(sound, whole_s, share):
    root, artifacts = sound.dataset(), sound.new()
    expected = sound.expected
    process = multiprocessing.get_context("fork").Process(target=sound.results, args=(root, artifacts))
    process.start()
    time.sleep(share * whole_s)
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.join()
    assert psutil.wait_procs(family, PATIENCE_S)[1] == []
    assert sound.results(root, artifacts) == expected

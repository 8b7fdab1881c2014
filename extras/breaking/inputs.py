"""Bad datasets, profiles and parameters, damage to what is stored, disks that fail, and processes that are killed.

All of it happens to a dataset of two filings, searched by BM25 with a tokenizer that splits at spaces: seconds in all.
What is valid is said here again, in other words than the library's.
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
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path

import hypothesis
import psutil
import yaml
from hypothesis import strategies as some
from tqdm.auto import tqdm

from extras.breaking.cases import Case
from lib.cache import Cache
from lib.evaluation import evaluate
from lib.files import digest_of_file, mend_of
from lib.models.prompts import Generation, Prompt, Sampling
from lib.models.written import GenerationLog, Item, Model
from lib.profile import load_profile
from lib.studies import open_study
from lib.study import Study
from lib.words import StudyError

QUESTIONS, DOCUMENTS = "data/my_questions.jsonl", "data/my_document_information.jsonl"
PAGES = {
    "ACME_2024": ["Annual report of Acme", "Net sales rose to 1,577"],
    "BOLT_2024": ["Bolt", "Cash flow fell"],
}
N_RECORDS, N_SETTINGS, N_KILLS = 120, 80, 20
PATIENCE_S = 10  # in which a worker ends that has lost its parent
HALF = re.compile("[\ud800-\udfff]")
JSON = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(-(10**20), 10**20),
    some.floats(),
    some.text(some.characters(), max_size=8),
    some.sampled_from(
        ["", " ", "../../etc/passwd", "a\x00b", "\ud800", "2024", "<script>", "{include}`x`", "売上高"]
    ),
    some.lists(some.integers(), max_size=2),
    some.dictionaries(some.text(max_size=3), some.integers(), max_size=2),
)


def drawn(strategy: some.SearchStrategy, n: int) -> list:
    """The same ``n`` values of a strategy each time."""
    values: list = []

    @hypothesis.settings(
        max_examples=n, database=None, derandomize=True, deadline=None, phases=[hypothesis.Phase.generate]
    )
    @hypothesis.given(strategy)
    def collect(value: object) -> None:
        values.append(value)

    collect()
    return values[:n]


class Sound:
    """A sound dataset, its profile and its results, below a folder."""

    def __init__(self, folder: Path):
        from tokenizers import Tokenizer, models, pre_tokenizers

        self.folder, self.n = folder, 0
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        (folder / "tokenizer").mkdir(parents=True)
        tokenizer.save(str(folder / "tokenizer" / "tokenizer.json"))
        settings = {"extends": "default", "embedder": {"weights": str(folder / "tokenizer")}}
        self.profile = folder / "small.yaml"
        self.profile.write_text(yaml.safe_dump(settings | {"chunks": {"size": 8, "overlap": 2}}))

    def new(self) -> Path:
        """An empty folder."""
        self.n += 1
        path = self.folder / f"{self.n:04d}"
        path.mkdir()
        return path

    def dataset(self, root: Path, change: Callable[[dict[str, list]], object] = lambda files: None) -> Path:
        """Write the dataset, its records changed, and return its folder; a line may be text."""
        files: dict[str, list] = {QUESTIONS: [], DOCUMENTS: []}
        for name, texts in PAGES.items():
            files[f"pages/{name}.jsonl"] = [
                {"doc_name": name, "page": page, "text": text} for page, text in enumerate(texts)
            ]
            about = {
                "doc_name": name,
                "company": name[:4],
                "gics_sector": "Tools",
                "doc_type": "10k",
                "doc_period": 2024,
            }
            files[DOCUMENTS].append(about)
            piece = {"evidence_page_num": 1, "evidence_text": texts[1]}
            asked = {
                "financebench_id": f"q-{name}",
                "question": f"What of {name[:4]}: {texts[1][:9]}?",
                "answer": "1",
            }
            files[QUESTIONS].append(asked | {"question_type": "t", "doc_name": name, "evidence": [piece]})
        change(files)
        for name, lines in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
            (root / name).write_text("\n".join(texts) + "\n")
        return root

    def open(self, root: Path, artifacts: Path, **given: object) -> Study:
        """The study of a dataset."""
        named = {"dataset": str(root), "profile": str(self.profile), "results": "fresh"} | given
        return open_study(artifacts=artifacts, say=lambda line: None, **named)

    def results(self, root: Path, artifacts: Path) -> dict[str, str]:
        """Every file of results: its name to its hash."""
        study = self.open(root, artifacts)
        study.store.say = lambda line: None
        for condition in ("standard", "oracle-page"):
            study.write(f"metrics-{condition}.csv", evaluate(study, "bm25", condition).to_csv(index=False))
        names = [
            f"{kind}{one}.{end}"
            for kind, end in (("metrics-", "csv"), ("runs/", "trec.gz"))
            for one in WHERE[kind]
        ]
        return {name: digest_of_file(study.outputs / name) for name in names}

    @cached_property
    def expected(self) -> dict[str, str]:
        """The results of the sound dataset."""
        return self.results(self.dataset(self.new()), self.new())


WHERE = {"metrics-": ("standard", "oracle-page"), "runs/": ("standard/bm25", "oracle-page/bm25")}


def cases(folder: Path) -> Iterator[Case]:
    """The cases of this part, made and tried below ``folder``."""
    tqdm.set_lock(
        threading.RLock()
    )  # that of tqdm is shared with forked processes, and killed ones would keep it
    sound = Sound(folder / "inputs")
    for part in (records, files, identities, profiles, parameters, stored, generations, disks, kills):
        yield from part(sound)


def attempt(
    sound: Sound, change: Callable[[dict[str, list]], object], spoil: Callable[[Path], object]
) -> bool:
    """Search a spoilt dataset; whether it gives what the sound one gives."""
    expected, root = sound.expected, sound.new()
    spoil(sound.dataset(root, change))
    return sound.results(root, sound.new()) == expected


# What a field may be; its line is named otherwise.
def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not HALF.search(value)


def _is_label(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
    return is_number or (
        _is_text(value) and not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", value)
    )


def _may_miss(is_right: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: (
        value in (None, [], "") or (isinstance(value, str) and not value.strip()) or is_right(value)
    )


def _is_year(value: object) -> bool:
    is_digits = isinstance(value, str) and re.fullmatch("[0-9]{4}", value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return bool(is_digits or is_number) and 1900 <= float(value) <= 2100 and float(value) == int(float(value))


RIGHT = {
    (QUESTIONS, "financebench_id"): lambda value: (
        isinstance(value, str) and value.isprintable() and value.split() == [value]
    ),
    (QUESTIONS, "question"): _is_text,
    (QUESTIONS, "question_type"): _is_label,
    (QUESTIONS, "answer"): lambda value: _is_label(value) or _is_text(value),
    (QUESTIONS, "evidence"): lambda value: False,
    (QUESTIONS, "doc_name"): lambda value: False,
    (QUESTIONS, "company"): _may_miss(_is_label),
    (DOCUMENTS, "company"): _is_label,
    (DOCUMENTS, "gics_sector"): _may_miss(_is_label),
    (DOCUMENTS, "doc_type"): _may_miss(_is_label),
    (DOCUMENTS, "doc_period"): _may_miss(_is_year),
    (DOCUMENTS, "doc_name"): lambda value: False,
    ("pages/ACME_2024.jsonl", "page"): lambda value: value == 1 and type(value) is int,
    ("pages/ACME_2024.jsonl", "doc_name"): lambda value: False,
}


def records(sound: Sound) -> Iterator[Case]:
    """Any value in any field: refused with its file and line, or used."""
    for (file, field), value in drawn(some.tuples(some.sampled_from(sorted(RIGHT)), JSON), N_RECORDS):
        number = 2 if file.startswith("pages") else 1

        def change(files: dict[str, list], file=file, field=field, value=value, number=number) -> None:
            files[file][number - 1][field] = value

        def search(change=change) -> bool:
            sound.results(sound.dataset(sound.new(), change), sound.new())
            return True

        told = None if RIGHT[file, field](value) else f"{Path(file).name}"
        yield Case("records", f"{field} of {Path(file).name} is {value!r:.40}", search, told)
    evidence = [[{"evidence_page_num": page}] for page in (-1, "1", 1.0, True, None, 99, 2**70)]
    evidence += [
        [{"evidence_page_num": 1, "evidence_text": text}]
        for text in (5, ["x"], "\ud800", "elsewhere entirely")
    ]
    evidence += [
        [{"evidence_page_num": 1, "doc_name": "BOLT_2024", "evidence_text": "x"}],
        [None],
        ["x"],
        {},
        "x",
    ]
    for value in evidence:

        def change(files: dict[str, list], value=value) -> None:
            files[QUESTIONS][0]["evidence"] = value

        yield Case(
            "records",
            f"evidence is {value!r:.40}",
            partial(attempt, sound, change, bool),
            "my_questions.jsonl line 1",
        )


def files(sound: Sound) -> Iterator[Case]:
    """Files that are none, encodings, links, broken lines, and what is twice or missing."""

    def replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
        def spoil(root: Path) -> None:
            (root / name).unlink(missing_ok=True)
            make(root / name)

        return spoil

    def rewritten(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
        return lambda root: (root / name).write_bytes(change((root / name).read_bytes()))

    kinds = {
        "a folder": Path.mkdir,
        "a dangling link": lambda path: path.symlink_to("nowhere"),
        "a link to itself": lambda path: path.symlink_to(path),
        "a pipe": os.mkfifo,
        "a device": lambda path: path.symlink_to("/dev/zero"),
    }
    changes = {
        "UTF-16": (lambda content: content.decode().encode("utf-16"), True),
        "UTF-32": (lambda content: content.decode().encode("utf-32"), True),
        "Latin-1": (lambda content: content.replace(b"e", b"\xe9"), True),
        "carriage returns alone": (lambda content: content.replace(b"\n", b"\r"), True),
        "one JSON list": (lambda content: b"[\n" + content + b"]", True),
        "cut": (lambda content: content[: len(content) // 2], True),
        "empty": (lambda content: b"", True),
        "blank": (lambda content: b"\n \n", True),
        "nested deep": (lambda content: content + b"[" * 200_000, True),
        "a number of 5,000 digits": (lambda content: content + b'{"a": ' + b"1" * 5000 + b"}", True),
        "a field twice": (
            lambda content: content.replace(b'"doc_name"', b'"doc_name": "X", "doc_name"', 1),
            True,
        ),
        "a list as a line": (lambda content: content + b"[1]\n", True),
        "a wrong line 20,000 times": (lambda content: content + b"{\n" * 20_000, True),
        "a byte order mark": (lambda content: b"\xef\xbb\xbf" + content, False),
        "Windows' line ends": (lambda content: content.replace(b"\n", b"\r\n"), False),
        "blank lines": (lambda content: content.replace(b"\n", b"\n\n"), False),
    }
    for name in (QUESTIONS, DOCUMENTS, "pages/ACME_2024.jsonl"):
        for kind, make in kinds.items():
            yield Case(
                "files",
                f"{name} is {kind}",
                partial(attempt, sound, bool, replaced(name, make)),
                Path(name).name,
            )
        for kind, (change, is_told) in changes.items():
            told = Path(name).name if is_told else None
            yield Case(
                "files", f"{name}: {kind}", partial(attempt, sound, bool, rewritten(name, change)), told
            )
    others = {
        "no folder data": (lambda root: shutil.rmtree(root / "data"), "no folder with data/*.jsonl"),
        "no pages": (lambda root: shutil.rmtree(root / "pages"), "neither pdfs/ACME_2024.pdf nor"),
        "a second question file": (lambda root: (root / "data/b_questions.jsonl").touch(), "more than one"),
        "no descriptions": (lambda root: (root / DOCUMENTS).unlink(), "no *document_information*.jsonl"),
        "a filing twice": (
            lambda root: [
                (root / "pdfs").mkdir(),
                [(root / f"pdfs/{n}.pdf").write_bytes(b"same") for n in "XY"],
            ],
            "describes the filing",
        ),
        "an undescribed filing": (
            lambda root: (root / "pages/NEW.jsonl").write_text('{"doc_name": "NEW"}'),
            "NEW.jsonl",
        ),
        "a name with a space": (lambda root: (root / "pages/A B.jsonl").touch(), "rename the file"),
        "a page without text": (
            rewritten(
                "pages/ACME_2024.jsonl", lambda content: re.sub(rb'"text": ".*?"', b'"text": " "', content)
            ),
            "no text",
        ),
    }
    for name, (spoil, told) in others.items():
        yield Case("files", name, partial(attempt, sound, bool, spoil), told)
    for kind, content in {
        "empty": b"",
        "HTML": b"<html>",
        "cut": b"%PDF-1.7\n1 0 obj",
        "a picture": b"\x89PNG\r\n",
    }.items():

        def spoil(root: Path, content=content) -> None:
            (root / "pdfs").mkdir()
            (root / "pages" / "ACME_2024.jsonl").unlink()
            (root / "pdfs" / "ACME_2024.pdf").write_bytes(content)

        yield Case(
            "files", f"a PDF is {kind}", partial(attempt, sound, bool, spoil), "pdfs/ACME_2024.pdf: the PDF"
        )


def identities(sound: Sound) -> Iterator[Case]:
    """What a result depends on is in what identifies it, and datasets of one name do not mix."""
    changes = {
        "company": (DOCUMENTS, "company", "Other"),
        "sector": (DOCUMENTS, "gics_sector", "Other"),
        "type of filing": (DOCUMENTS, "doc_type", "8k"),
        "period": (DOCUMENTS, "doc_period", 1999),
        "question": (QUESTIONS, "question", "What else?"),
        "type of question": (QUESTIONS, "question_type", "other"),
        "answer": (QUESTIONS, "answer", "2"),
        "page": ("pages/ACME_2024.jsonl", "text", "Another cover"),
    }
    for name, (file, field, value) in changes.items():

        def is_another(file=file, field=field, value=value) -> bool:
            root, artifacts = sound.new(), sound.new()
            first = sound.open(sound.dataset(root), artifacts)
            keys = first.dataset.fingerprint, first.run_entry("bm25").key
            sound.dataset(root, lambda files: files[file][0].update({field: value}))
            second = sound.open(root, artifacts)
            is_scored = field not in ("answer", "gics_sector")  # no run depends on these
            return (
                second.dataset.fingerprint != keys[0]
                and (second.run_entry("bm25").key != keys[1]) == is_scored
            )

        yield Case("identity", f"{name} is changed", is_another, None)
    for name in ("filings", "demo", "store", "financebench", "reruns"):

        def is_apart(name=name) -> bool:
            artifacts, found = sound.new(), []
            for value in "ab":
                root = sound.new() / name
                sound.dataset(
                    root, lambda files, value=value: files[QUESTIONS][0].update(question=f"What {value}?")
                )
                found.append(sound.open(root, artifacts))
                evaluate(found[-1], "bm25")
            names = [study.dataset.name for study in found]
            return names[0] != names[1] and not {"demo", "store", "financebench", "reruns"} & set(names)

        yield Case("identity", f"two datasets of the name {name}", is_apart, None)


def profiles(sound: Sound) -> Iterator[Case]:
    """Any value in any setting, and files that are no profiles."""
    default = load_profile("default")
    names = [
        (section, name) for section, given in default.items() if isinstance(given, dict) for name in given
    ]
    names = [
        (section, name)
        for section, name in names
        if section != "sets" and not isinstance(default[section][name], dict)
    ]
    for (section, name), value in drawn(some.tuples(some.sampled_from(names), JSON), N_SETTINGS):
        may_work = _may_be(name, value, default[section][name])

        def load(section=section, name=name, value=value, may_work=may_work) -> bool:
            path = sound.new() / "mine.yaml"
            text = yaml.safe_dump({"extends": "default", section: {name: value}})
            path.write_text(text, errors="surrogatepass")
            return bool(load_profile(str(path))) and may_work

        told = f"{section}.{name}"
        yield Case("profiles", f"{told} is {value!r:.40}", load, told, may_work)
    texts = {
        "no YAML": ("a: [", "not YAML"),
        "an alias": ("extends: default\na: &a 1\nb: *a", "alias"),
        "a bomb of aliases": ("a: &a [1, 1]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]", "alias"),
        "a setting twice": ("extends: default\nrun: {depth: 5}\nrun: {depth: 6}", "twice"),
        "an unknown setting": ("extends: default\nbm52: {k1: 1.0}", "no setting"),
        "nothing": ("", "no settings"),
        "a list": ("- a", "no settings"),
        "extends a list": ("extends: [default]", "extends is"),
        "extends nothing": ("bm25: {k1: 1.0}", "extends: default"),
        "a number as a name": ("1: 2", "no name"),
        "a tag": ("!!python/object/apply:os.system [touch hacked]", "not YAML"),
        "nested deep": ("[" * 10_000, "not YAML"),
        "learning rate without a point": (
            "extends: default\npage_scorer: {learning_rate: 1e-5}",
            "such as 1.0e-3",
        ),
        "an overlap as long as a chunk": (
            "extends: default\nchunks: {size: 8, overlap: 8}",
            "chunks.overlap",
        ),
        "depths that are none": ("extends: default\nmetrics: {ks: [0]}", "metrics.ks"),
        "a set that is none": ("extends: default\nsets: {mine: 5}", "no settings"),
    }
    for name, (text, told) in texts.items():

        def load(text=text) -> bool:
            path = sound.new() / "mine.yaml"
            path.write_text(text)
            return bool(load_profile(str(path)))

        yield Case("profiles", name, load, told)


def _may_be(name: str, value: object, like: object) -> bool:
    """Whether a setting may have a value, by its name and the value that it has."""
    if name in ("rows", "without"):
        return value == "all" or (isinstance(value, list) and all(isinstance(one, str) for one in value))
    if isinstance(like, (list, bool)) or isinstance(value, bool):
        is_list = isinstance(value, list) and isinstance(like, list) and like and value
        return type(value) is type(like) is bool or (
            is_list and all(_may_be(name, one, like[0]) for one in value)
        )
    if isinstance(like, (int, float)):
        most = 1 if name in ("b", "warmup", "feature_share", "page_share", "shares", "right_from") else 2**32
        return type(value) in {int, type(like)} and 0 <= value <= most
    return isinstance(value, str)


def parameters(sound: Sound) -> Iterator[Case]:
    """Names and numbers that chapters and commands are given."""
    root, artifacts = sound.dataset(sound.new()), sound.new()
    for name, values in {
        "k": (0, -1, 1000, True, 5.0, "5", [5]),
        "dataset": (7, ["demo"], "no/such", str(sound.profile), "\x00"),
        "profile": (7, "nosuch", "../x", ""),
        "results": ("bogus", None, 1),
        "questions": ("no-such-set", 3),
    }.items():
        for value in values:
            given = partial(sound.open, root, artifacts, **{name: value})
            yield Case("parameters", f"{name} is {value!r:.40}", lambda given=given: bool(given()), "")
    for name, content in {"empty": None, "with half a tokenizer": "{"}.items():
        folder = sound.new()
        if content:
            (folder / "tokenizer.json").write_text(content)
        profile = sound.new() / "mine.yaml"
        profile.write_text(yaml.safe_dump({"extends": "default", "embedder": {"weights": str(folder)}}))
        given = partial(sound.open, root, artifacts, profile=str(profile))
        yield Case(
            "parameters",
            f"a model's folder {name}",
            lambda given=given: bool(len(given().chunks)),
            str(folder),
        )
    study = sound.open(root, artifacts)
    for name in ("bm52", "", "bm25 "):
        yield Case(
            "parameters", f"method {name!r}", lambda name=name: bool(len(study.run(name))), "no method"
        )


def stored(sound: Sound) -> Iterator[Case]:
    """Damage to every file that was stored: told and mended, or noticed in one sentence."""
    root, whole = sound.dataset(sound.new()), sound.new()
    sound.results(root, whole)
    letters = random.Random(0)

    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[letters.randrange(len(content))] ^= 1 << letters.randrange(8)
        path.write_bytes(bytes(content))

    damages = {
        "a bit flipped": flip,
        "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        "empty": lambda path: path.write_bytes(b""),
        "removed": Path.unlink,
    }
    kept = [
        path for path in sorted((whole / "store").rglob("*")) if path.is_file() and path.suffix != ".lock"
    ]
    names = [path.relative_to(whole) for path in kept] + [Path("cache.sqlite")]
    for name in names:
        is_cache = name.name == "cache.sqlite"
        for damage, spoil in damages.items():
            if is_cache and damage == "a bit flipped":  # of a number, which nothing notices
                continue

            def search(name=name, spoil=spoil) -> bool:
                copy = shutil.copytree(whole, sound.new(), dirs_exist_ok=True)
                spoil(copy / name)
                return sound.results(root, copy) == sound.expected

            shown = "/".join(part for part in name.parts if not re.fullmatch("[0-9a-f]{20}", part))
            yield Case("store", f"{shown}: {damage}", search, "cache.sqlite" if is_cache else None, is_cache)

    def exchanged() -> bool:
        copy = shutil.copytree(whole, sound.new(), dirs_exist_ok=True)
        first, second = (
            next((copy / "store/runs" / one / "bm25").iterdir()) for one in ("standard", "oracle-page")
        )
        aside = first.rename(first.with_name("aside"))
        second.rename(first)
        aside.rename(second)
        return sound.results(root, copy) == sound.expected

    yield Case("store", "two entries exchanged", exchanged, None)


def generations(sound: Sound) -> Iterator[Case]:
    """Damage to the list of what a language model wrote: the texts are those of the cache."""

    class Echo:
        def generate(self, requests, on_done) -> None:
            for number, request in enumerate(requests):
                on_done(number, Generation(request.prompt.user.upper(), 3, 5, "stop", 0.5))

    items = [
        Item(name, f"q-{name}", Prompt(name), Sampling(max_tokens=10, seed=7))
        for name in ("one", "two", "three")
    ]

    def fill(spoil: Callable[[bytes], bytes]) -> bool:
        path = sound.new() / "generations.jsonl"
        log = GenerationLog(path, Cache(path.with_name("cache.sqlite")), Model("tiny", "ab12"))
        log.fill("answer", items, Echo)
        path.write_bytes(spoil(path.read_bytes()))
        return log.fill("answer", items, Echo).texts == {item.id: item.id.upper() for item in items}

    for share in (0.1, 0.5, 0.9, 0.99):
        cut = lambda content, share=share: content[: int(share * len(content))]  # noqa: E731
        yield Case("generations", f"cut at {share:.0%}", partial(fill, cut), None)
    yield Case(
        "generations", "a text edited", partial(fill, lambda content: content.replace(b"TWO", b"TOO")), None
    )


def apart(prepare: Callable[[], object], search: Callable[[], object]) -> str:
    """What a process of its own says that searches under other rights or limits; empty where all went well."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        try:
            prepare()
            search()
            said = ""
        except StudyError as error:
            said = str(error)
        except OSError as error:  # as the command line and the chapters say it
            mend = mend_of(error.errno)
            said = f"{error.filename}: {error.strerror}; {mend}" if mend else f"TRACEBACK {error!r}"
        except BaseException as error:
            said = f"TRACEBACK {error!r}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    if said.startswith("TRACEBACK"):
        raise RuntimeError(said)
    return said


def disks(sound: Sound) -> Iterator[Case]:
    """Disks and rights that fail: a sentence with what mends it, and what was computed is kept."""
    root = sound.dataset(sound.new())

    def limit(n_bytes: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    def limited(n_bytes: int) -> bool:
        artifacts = sound.new()
        said = apart(partial(limit, n_bytes), partial(sound.results, root, artifacts))
        is_right = sound.results(root, artifacts) == sound.expected  # now that there is room
        if said and is_right:
            raise StudyError(said)
        return is_right

    for n_bytes in (0, 1, 64, 256, 1024, 4096, 16384, 10**8):
        yield Case(
            "disk", f"files of at most {n_bytes} bytes", partial(limited, n_bytes), "", may_work=n_bytes > 0
        )

    def without_rights(name: str, rights: int) -> bool:
        home = sound.new()
        for path in (sound.folder.parent, sound.folder, home):
            path.chmod(0o755)
        (home / "artifacts").mkdir(0o777)
        (home / "artifacts").chmod(0o777)
        sound.dataset(home)
        (home / name).chmod(rights)
        lose = partial(os.setuid, 65534) if os.geteuid() == 0 else bool  # root may do all
        said = apart(lose, partial(sound.results, home, home / "artifacts"))
        (home / name).chmod(0o755)
        if said:
            raise StudyError(said)
        return True

    told = {
        QUESTIONS: "my_questions",
        "pages/ACME_2024.jsonl": "ACME_2024.jsonl",
        "data": "data",
        "pages": "pages",
    }
    for name, word in told.items():
        yield Case("disk", f"{name} must not be read", partial(without_rights, name, 0), f"{word}")
    yield Case(
        "disk", "artifacts must not be written", partial(without_rights, "artifacts", 0o555), "artifacts"
    )

    def in_place(name: str) -> bool:
        artifacts = sound.new()
        (artifacts / name).parent.mkdir(parents=True, exist_ok=True)
        (artifacts / name).touch()
        said = apart(bool, partial(sound.results, root, artifacts))
        if said:
            raise StudyError(said)
        return True

    for name in (root.name, "store", "store/locks", "store/runs", "store/pages"):
        yield Case(
            "disk", f"a file in place of the folder {name}", partial(in_place, name), "a file stands where"
        )


def kills(sound: Sound) -> Iterator[Case]:
    """A process that is killed leaves no worker and no lock, and the next one gives the same bytes."""
    root, moments = sound.dataset(sound.new()), random.Random(2)
    started = time.perf_counter()
    whole = len(sound.results(root, sound.new())) and time.perf_counter() - started
    context = multiprocessing.get_context("fork")

    def killed(share: float) -> bool:
        artifacts = sound.new()
        process = context.Process(target=sound.results, args=(root, artifacts))
        process.start()
        time.sleep(share * whole)
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.join()
        _, alive = psutil.wait_procs(family, PATIENCE_S)
        return not alive and sound.results(root, artifacts) == sound.expected

    for _ in range(N_KILLS):
        share = moments.random()
        yield Case("kills", f"after {share:.0%} of the time", partial(killed, share), None)

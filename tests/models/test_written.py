"""The log of generations: only gaps are filled, and what was written is kept at once."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lib.cache import Cache
from lib.models.prompts import Generation, GenerationError, Prompt, Sampling
from lib.models.written import GenerationLog, Item, Model, read_records
from lib.words import StudyError

ROOT = Path(__file__).resolve().parents[2]
MODEL = Model("tiny", "ab12")
SAMPLING = Sampling(max_tokens=10, seed=7)


class Writer:
    """Answers every prompt with itself in capitals, or with the outcome given for it."""

    def __init__(self, **outcomes):
        self.outcomes, self.asked = outcomes, []

    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            asked = request.prompt.user
            self.asked.append(asked)
            on_done(number, self.outcomes.get(asked, Generation(asked.upper(), 3, 5, "stop", 0.5)))


class StoppedWriter(Writer):
    """Stops for good before its second prompt."""

    def generate(self, requests, on_done):
        super().generate(requests[:1], on_done)
        raise GenerationError("the device is gone")


def never():
    raise AssertionError("nothing is missing, so no generator may be made")


def item(name: str, **changes) -> Item:
    return Item(
        name, f"q-{name}", Prompt(changes.pop("user", name)), Sampling(**{"max_tokens": 10, "seed": 7} | changes)
    )


ITEMS = [item("a"), item("b"), item("c")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "view" / "generations.jsonl"


@pytest.fixture
def said():
    return []


@pytest.fixture
def open_log(path, said, tmp_path):
    def make(published=None, model=MODEL, at=path):
        records = published and [json.loads(line) for line in published.read_text().splitlines()]
        return GenerationLog(at, Cache(tmp_path / "cache.sqlite"), model, records, said.append)

    return make


def test_texts_are_written_once(open_log):
    first = open_log().fill("hyde", ITEMS, Writer)
    assert first.texts == {"a": "A", "b": "B", "c": "C"}
    assert first.origins == {"computed": 3}
    second = open_log().fill("hyde", ITEMS, never)
    assert second.texts == first.texts
    assert second.origins == {"reused": 3}


def test_a_record_says_all_but_the_prompt(open_log, path):
    open_log().fill("hyde", [item("secret filing text")], Writer)
    record = json.loads(path.read_text())
    assert "secret filing text" not in path.read_text().replace(record["question_id"], "")
    expected = {
        "kind": "hyde",
        "question_id": "q-secret filing text",
        "params": {"max_tokens": 10, "temperature": 0.0, "top_p": 1.0, "top_k": 0},
        "seed": 7,
        "model": {"name": "tiny", "sha256": "ab12"},
        "text": "SECRET FILING TEXT",
        "n_prompt_tokens": 3,
        "n_tokens": 5,
        "finish_reason": "stop",
        "seconds": 0.5,
    }
    assert {name: record[name] for name in expected} == expected
    assert set(record) - set(expected) == {"key", "prompt_sha", "created"}
    assert len(record["key"]) == len(record["prompt_sha"]) == 64


def test_the_key_holds_model_prompt_sampling_and_seed(open_log):
    log = open_log()
    key = log.key(item("a"))
    assert log.key(Item("other id", "other question", Prompt("a"), SAMPLING)) == key
    others = [
        log.key(item("b")),
        log.key(Item("a", "q-a", Prompt("a", system=""), SAMPLING)),
        *(log.key(item("a", **change)) for change in ({"seed": 8}, {"temperature": 0.7}, {"max_tokens": 11})),
        open_log(model=Model("tiny", "cd34")).key(item("a")),
    ]
    assert len({key, *others}) == 1 + len(others)
    assert open_log(model=Model("renamed", "ab12")).key(item("a")) == key


def test_items_with_the_same_prompt_share_one_text(open_log):
    writer = Writer()
    filled = open_log().fill("answer", [item("x", user="same"), item("y", user="same")], lambda: writer)
    assert filled.texts == {"x": "SAME", "y": "SAME"}
    assert writer.asked == ["same"]


def test_two_items_with_one_id_are_refused(open_log):
    with pytest.raises(ValueError, match="1 items have the id of another"):
        open_log().fill("hyde", [item("a"), item("a")], Writer)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Generation("", 3, 1, "stop", 0.1), "answered nothing"),
        (Generation(" \n", 3, 2, "stop", 0.1), "answered nothing"),
        (Generation("on and on", 3, 11, "length", 0.1), "11 tokens, past the limit of 10"),
        (Generation("short of ro", 4090, 6, "length", 0.1), "context was full after 4090 tokens of prompt"),
        (GenerationError("the process died"), "the process died"),
    ],
)
def test_a_failure_is_told_with_its_question_and_the_others_go_on(open_log, said, outcome, reason):
    filled = open_log().fill("answer", ITEMS, lambda: Writer(b=outcome))
    assert filled.texts == {"a": "A", "c": "C"}
    assert list(filled.missing) == ["b"]
    assert reason in filled.missing["b"]
    assert any("question q-b" in line and reason in line for line in said)
    assert said[-1] == "answer: 1 of 3 texts are missing; run again to try them again"
    retried = open_log().fill("answer", ITEMS, Writer)
    assert (retried.texts, retried.missing) == ({"a": "A", "b": "B", "c": "C"}, {})
    assert retried.origins == {"reused": 2, "computed": 1}


def test_a_text_cut_at_its_limit_is_kept_and_told(open_log, said):
    filled = open_log().fill("hyde", ITEMS, lambda: Writer(b=Generation("and so", 3, 10, "length", 0.1)))
    assert filled.cut == ["b"]
    assert filled.texts["b"] == "and so"
    assert said == ["hyde: 1 of 3 texts were cut at the most tokens they may have"]


def test_a_label_that_may_be_cut_is_not_told(open_log, said):
    cut = Generation("IRRELEV", 3, 10, "length", 0.1)
    filled = open_log().fill("judge", ITEMS, lambda: Writer(b=cut), may_be_cut=True)
    assert filled.cut == ["b"]
    assert said == []


def test_a_generator_that_stops_leaves_the_rest_missing(open_log):
    filled = open_log().fill("hyde", ITEMS, StoppedWriter)
    assert filled.texts == {"a": "A"}
    assert filled.missing == dict.fromkeys("bc", "the generator stopped: the device is gone")


@pytest.fixture
def published(open_log, tmp_path):
    """What another machine published: ``theirs`` and ``B``."""
    made, theirs = tmp_path / "published.jsonl", Generation("theirs", 3, 5, "stop", 0.1)
    log = GenerationLog(made, Cache(tmp_path / "other" / "cache.sqlite"), MODEL, say=lambda line: None)
    log.fill("hyde", ITEMS[:2], lambda: Writer(a=theirs))
    return made


def test_published_texts_are_used_and_listed(open_log, path, published):
    filled = open_log(published).fill("hyde", ITEMS, Writer)
    assert filled.texts == {"a": "theirs", "b": "B", "c": "C"}
    assert filled.origins == {"published": 2, "computed": 1}
    listed = [(one["text"], one.get("origin")) for one in read_records(path).values()]
    assert listed == [("theirs", "published"), ("B", "published"), ("C", None)]
    again = open_log(published).fill("hyde", ITEMS, never)
    assert again.origins == {"published": 2, "reused": 1}


def test_fresh_results_use_no_published_text_nor_a_copy_of_one(open_log, published):
    open_log(published).fill("hyde", ITEMS, Writer)
    fresh = open_log().fill("hyde", ITEMS, Writer)
    assert (fresh.texts["a"], fresh.origins) == ("A", {"computed": 2, "reused": 1})
    assert open_log(published).fill("hyde", ITEMS, never).texts["a"] == "A"


def test_a_list_from_before_there_was_the_table_is_used(open_log, path, tmp_path):
    first = open_log().fill("hyde", ITEMS, Writer)
    for file in tmp_path.glob("cache.sqlite*"):
        file.unlink()
    again = open_log().fill("hyde", ITEMS, never)
    assert (again.texts, again.origins) == (first.texts, {"reused": 3})
    assert list(read_records(path)) == [record["key"] for record in first.records.values()]


def test_a_text_of_another_study_is_taken_under_this_one_s_question(open_log, tmp_path):
    open_log().fill("hyde", ITEMS, Writer)
    other = tmp_path / "data" / "other" / "generations.jsonl"
    found = open_log(at=other).fill("answer", [Item("x", "q-x", Prompt("a"), SAMPLING)], never)
    [record] = read_records(other).values()
    assert (found.texts, record["kind"], record["question_id"]) == ({"x": "A"}, "answer", "q-x")
    assert found.records == {"x": record}


def test_what_happens_to_the_list_changes_no_text(open_log, path):
    open_log().fill("hyde", ITEMS, Writer)
    path.write_text(path.read_text().replace('"text": "B"', '"text": "X"'))
    assert open_log().fill("hyde", ITEMS, never).texts == {"a": "A", "b": "B", "c": "C"}
    path.unlink()
    open_log().list_all()
    assert [record["text"] for record in read_records(path).values()] == ["A", "B", "C"]


@pytest.mark.parametrize("damage", [b"[1, 2]", b"\x00\xff" * 40, b"17", b'{"text": "B"}'])
def test_a_damaged_line_is_named_and_an_unfinished_last_one_is_not_read(open_log, path, damage):
    open_log().fill("hyde", ITEMS, Writer)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], lines[2][:20]]))
    assert len(read_records(path)) == 2
    path.write_bytes(b"\n".join([lines[0], damage, lines[2], b""]))
    with pytest.raises(StudyError, match=r"generations\.jsonl line 2 is damaged; delete the line"):
        read_records(path)


def test_line_separators_of_unicode_do_not_split_a_record(open_log, path):
    odd = Generation("one\u2028two\x85three\r\nfour", 3, 5, "stop", 0.1)
    open_log().fill("hyde", ITEMS, lambda: Writer(a=odd))
    assert open_log().fill("hyde", ITEMS, never).texts["a"] == odd.text
    assert next(iter(read_records(path).values()))["text"] == odd.text


SLOW = """
import sys, time
from pathlib import Path
from lib.cache import Cache
from lib.models.written import GenerationLog, Item, Model
from lib.models.prompts import Generation, Prompt, Sampling

class Slow:
    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            on_done(number, Generation(request.prompt.user.upper(), 3, 5, "stop", 0.1))
            print(number, flush=True)
            time.sleep(0.05)

items = [Item(f"i{n}", f"q{n}", Prompt(f"i{n}"), Sampling(max_tokens=10, seed=7)) for n in range(1000)]
path = Path(sys.argv[1])
GenerationLog(path, Cache(path.parents[2] / "cache.sqlite"), Model("tiny", "ab12")).fill("hyde", items, Slow)
"""


def test_a_killed_run_goes_on_where_it_was(open_log, path):
    command = [sys.executable, "-c", SLOW, str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while process.stdout.readline() != b"3\n":
        assert process.poll() is None, "it must not end by itself"
    process.send_signal(signal.SIGKILL)
    process.wait()
    items, writer = [item(f"i{n}") for n in range(30)], Writer()
    filled = open_log().fill("hyde", items, lambda: writer)
    n_kept = filled.origins["reused"]
    assert n_kept >= 4
    assert writer.asked == [f"i{n}" for n in range(n_kept, 30)]
    assert [one["text"] for one in read_records(path).values()] == [f"I{n}" for n in range(30)]


def test_two_processes_may_write_at_once(open_log, path):
    script = SLOW.replace("time.sleep(0.05)", "pass").replace("range(1000)", "range(int(sys.argv[2]), 80)")
    commands = [[sys.executable, "-c", script, str(path), start] for start in ("0", "40")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, cwd=ROOT, **quiet) for command in commands]
    assert [process.wait(60) for process in processes] == [0, 0]
    filled = open_log().fill("hyde", [item(f"i{n}") for n in range(80)], never)
    assert filled.texts == {f"i{n}": f"I{n}" for n in range(80)}

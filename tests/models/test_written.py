"""The log of generations: only gaps are filled, whatever happened to the file in between."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lib.models.prompts import Generation, GenerationError, Prompt, Sampling
from lib.models.written import GenerationLog, Item, Model

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
        name,
        f"q-{name}",
        Prompt(changes.pop("user", name)),
        Sampling(**{"max_tokens": 10, "seed": 7} | changes),
    )


ITEMS = [item("a"), item("b"), item("c")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "view" / "generations.jsonl"


@pytest.fixture
def said():
    return []


@pytest.fixture
def open_log(path, said):
    def make(published=None, model=MODEL, at=path):
        records = published and [json.loads(line) for line in published.read_text().splitlines()]
        return GenerationLog(at, model, records, said.append)

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
    assert set(record) - set(expected) == {"key", "prompt_sha", "created", "sha"}
    assert len(record["key"]) == len(record["prompt_sha"]) == 64


def test_the_key_holds_model_prompt_sampling_and_seed(open_log):
    log = open_log()
    key = log.key(item("a"))
    assert log.key(Item("other id", "other question", Prompt("a"), SAMPLING)) == key
    others = [
        log.key(item("b")),
        log.key(Item("a", "q-a", Prompt("a", system=""), SAMPLING)),
        *(log.key(item("a", **change)) for change in ({"seed": 8}, {"temperature": 0.7}, {"max_tokens": 11})),
        *(log.key(item("a", **change)) for change in ({"top_p": 0.9}, {"top_k": 5}, {"grammar": "a"})),
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


def test_published_texts_are_used_and_copied(open_log, path, tmp_path):
    published = tmp_path / "published.jsonl"
    open_log(at=published).fill("hyde", ITEMS[:2], lambda: Writer(a=Generation("theirs", 3, 5, "stop", 0.1)))
    filled = open_log(published).fill("hyde", ITEMS, Writer)
    assert filled.texts == {"a": "theirs", "b": "B", "c": "C"}
    assert filled.origins == {"published": 2, "computed": 1}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["text"], line.get("origin")) for line in lines] == [
        ("theirs", "published"),
        ("B", "published"),
        ("C", None),
    ]
    again = open_log(published).fill("hyde", ITEMS, never)
    assert again.origins == {"published": 2, "reused": 1}


def test_fresh_results_use_no_published_text_nor_a_copy_of_one(open_log, tmp_path):
    published = tmp_path / "published.jsonl"
    open_log(at=published).fill("hyde", ITEMS, lambda: Writer(a=Generation("theirs", 3, 5, "stop", 0.1)))
    open_log(published).fill("hyde", ITEMS, never)
    fresh = open_log().fill("hyde", ITEMS, Writer)
    assert (fresh.texts["a"], fresh.origins) == ("A", {"computed": 3})
    assert open_log(published).fill("hyde", ITEMS, never).texts["a"] == "A"


@pytest.mark.parametrize("n_bytes", [2, 20, 200])
def test_a_half_written_last_line_is_cut_off(open_log, path, said, n_bytes):
    open_log().fill("hyde", ITEMS, Writer)
    path.write_bytes(path.read_bytes()[:-n_bytes])
    filled = open_log().fill("hyde", ITEMS, Writer)
    assert (filled.texts, filled.origins) == ({"a": "A", "b": "B", "c": "C"}, {"reused": 2, "computed": 1})
    assert said == ["generations.jsonl: 1 damaged lines are not used"]
    assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == ["A", "B", "C"]


def test_a_text_that_was_changed_by_hand_is_written_again(open_log, path, said):
    open_log().fill("hyde", ITEMS, Writer)
    path.write_text(path.read_text().replace('"text": "B"', '"text": "C"'))
    filled = open_log().fill("hyde", ITEMS, Writer)
    assert (filled.texts, filled.origins) == ({"a": "A", "b": "B", "c": "C"}, {"reused": 2, "computed": 1})
    assert said == ["generations.jsonl: 1 damaged lines are not used"]


def test_a_record_from_before_there_were_checksums_gets_its_own_when_it_is_used(open_log, path):
    open_log().fill("hyde", ITEMS, Writer)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        del record["sha"]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    for _ in range(2):
        assert open_log().fill("hyde", ITEMS[:2], never).texts == {"a": "A", "b": "B"}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["text"], "sha" in line) for line in lines] == [
        *zip("ABC", [False] * 3, strict=True),
        *zip("AB", [True] * 2, strict=True),
    ]
    path.write_text(path.read_text().replace('"text": "A"', '"text": "X"', 1))
    assert open_log().fill("hyde", ITEMS[:2], never).texts == {"a": "A", "b": "B"}


def test_a_last_line_without_its_end_is_not_lost_when_the_next_is_added(open_log, path):
    open_log().fill("hyde", ITEMS, Writer)
    path.write_bytes(path.read_bytes()[:-1])
    open_log().fill("hyde", [*ITEMS, item("d")], Writer)
    assert open_log().fill("hyde", [*ITEMS, item("d")], Writer).texts == dict(
        zip("abcd", "ABCD", strict=True)
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: line.replace(b'"seed": 7', b'"seed": 8'),
        lambda line: line.replace(b'"ab12"', b'"cd34"'),
        lambda line: line.replace(b'"text"', b'"words"'),
        lambda line: b"[1, 2]",
        lambda line: b"\x00\xff" * 40,
        lambda line: b"17",
    ],
)
def test_a_line_that_is_not_what_its_key_says_is_not_used(open_log, path, said, spoil):
    open_log().fill("hyde", ITEMS, Writer)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], spoil(lines[1]), lines[2], b""]))
    filled = open_log().fill("hyde", ITEMS, Writer)
    assert (filled.texts, filled.origins) == ({"a": "A", "b": "B", "c": "C"}, {"reused": 2, "computed": 1})
    assert said == ["generations.jsonl: 1 damaged lines are not used"]


def test_line_separators_of_unicode_do_not_split_a_record(open_log):
    odd = Generation("one\u2028two\x85three\r\nfour", 3, 5, "stop", 0.1)
    open_log().fill("hyde", ITEMS, lambda: Writer(a=odd))
    assert open_log().fill("hyde", ITEMS, never).texts["a"] == odd.text


SLOW = """
import sys, time
from pathlib import Path
from lib.models.written import GenerationLog, Item, Model
from lib.models.prompts import Generation, Prompt, Sampling

class Slow:
    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            on_done(number, Generation(request.prompt.user.upper(), 3, 5, "stop", 0.1))
            time.sleep(0.05)

items = [Item(f"i{n}", f"q{n}", Prompt(f"i{n}"), Sampling(max_tokens=10, seed=7)) for n in range(1000)]
GenerationLog(Path(sys.argv[1]), Model("tiny", "ab12")).fill("hyde", items, Slow)
"""


def test_a_killed_run_goes_on_where_it_was(open_log, path):
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(path)], cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < 3:
        assert process.poll() is None, "it must not end by itself"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with path.open("ab") as file:
        file.write(b'{"key": "half a li')
    n_kept = path.read_bytes().count(b"\n")
    items = [item(f"i{n}") for n in range(n_kept + 5)]
    writer = Writer()
    filled = open_log().fill("hyde", items, lambda: writer)
    assert filled.origins == {"reused": n_kept, "computed": 5}
    assert writer.asked == [f"i{n}" for n in range(n_kept, n_kept + 5)]
    assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == [
        f"I{n}" for n in range(n_kept + 5)
    ]


def test_two_processes_may_write_at_once(open_log, path):
    script = SLOW.replace("time.sleep(0.05)", "pass").replace("range(1000)", "range(int(sys.argv[2]), 80)")
    commands = [[sys.executable, "-c", script, str(path), start] for start in ("0", "40")]
    processes = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) for command in commands]
    assert [process.wait(60) for process in processes] == [0, 0]
    filled = open_log().fill("hyde", [item(f"i{n}") for n in range(80)], never)
    assert filled.texts == {f"i{n}": f"I{n}" for n in range(80)}

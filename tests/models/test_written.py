"""The log of generations: only gaps are filled, and what was written is kept at once."""

from dataclasses import replace

import pytest

from lib.cache import Cache
from lib.models.prompts import Generation, GenerationError, Prompt, Sampling
from lib.models.written import GenerationLog, Item, Model, read_records
from lib.schema import StudyError

MODEL = Model("tiny", "ab12")


class Writer:
    """Answers every prompt with itself in capitals, or with the outcome given for it; what ``ends`` it is raised."""

    def __init__(self, ends: dict[str, BaseException] | None = None, **outcomes):
        self.ends, self.outcomes, self.asked = ends or {}, outcomes, []

    def generate(self, requests, on_done):
        for number, request in enumerate(requests):
            asked = request.prompt.user
            self.asked.append(asked)
            if asked in self.ends:
                raise self.ends[asked]
            on_done(number, self.outcomes.get(asked, Generation(asked.upper(), 3, 5, "stop", 0.5)))


never = None  # nothing is missing, so no generator may be made


def item(name: str, user: str = "", **changes) -> Item:
    return Item(name, f"q-{name}", Prompt(user or name), Sampling(**{"max_tokens": 10, "seed": 7} | changes))


ITEMS = [item("a"), item("b"), item("c")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "view" / "generations.jsonl"


@pytest.fixture
def said():
    return []


@pytest.fixture
def open_log(path, said, tmp_path):
    def make(published=None, model=MODEL, at=path, cache="cache.sqlite"):
        return GenerationLog(at, Cache(tmp_path / cache), model, published, said.append)

    return make


def test_texts_are_written_once_and_a_record_says_all_but_the_prompt(open_log, path):
    for origin, writer in (("computed", Writer), ("reused", never)):
        filled = open_log().fill("hyde", [item("a", "filing's text"), item("b")], writer)
        assert (filled.texts, filled.origins) == ({"a": "FILING'S TEXT", "b": "B"}, {origin: 2})
    assert "filing's text" not in path.read_text()
    record = next(iter(read_records(path).values()))
    assert record == filled.records["a"]
    assert [len(record.pop(name)) for name in ("key", "prompt_sha", "created")] == [64, 64, 20]
    about = {"kind": "hyde", "question_id": "q-a", "seed": 7, "model": {"name": "tiny", "sha256": "ab12"}}
    about |= {"params": {"max_tokens": 10, "temperature": 0.0, "top_p": 1.0, "top_k": 0}}
    made = {"n_prompt_tokens": 3, "n_tokens": 5, "finish_reason": "stop", "seconds": 0.5}
    assert record == about | made | {"text": "FILING'S TEXT"}


def test_a_key_has_model_prompt_sampling_and_seed_and_items_with_one_share_a_text(open_log):
    key, [one, *_], writer = open_log().key, ITEMS, Writer()
    assert key(one) == key(replace(one, id="x")) == open_log(model=Model("renamed", "ab12")).key(one)
    others = [item("b"), replace(one, prompt=Prompt("a", system=""))]
    others += [item("a", **change) for change in ({"seed": 8}, {"temperature": 0.7}, {"max_tokens": 11})]
    keys = {key(one), *map(key, others), open_log(model=Model("tiny", "cd34")).key(one)}
    assert len(keys) == 2 + len(others)
    filled = open_log().fill("answer", [item("x", "same"), item("y", "same")], lambda: writer)
    assert (filled.texts, writer.asked) == ({"x": "SAME", "y": "SAME"}, ["same"])


FAILURES = {
    "empty answer": Writer(b=Generation("", 3, 1, "stop", 0.1)),
    "it died": Writer(b=GenerationError("it died")),
    "the generator stopped: the device is gone": Writer({"b": GenerationError("the device is gone")}),
}


@pytest.mark.parametrize(("reason", "writer"), FAILURES.items(), ids=FAILURES)
def test_a_failure_is_told_with_its_question_and_tried_again_the_next_time(open_log, said, reason, writer):
    filled = open_log().fill("answer", ITEMS[:2], lambda: writer)
    assert (filled.texts, filled.missing) == ({"a": "A"}, {"b": reason})
    assert f"q-b (b): {reason}" in said[0]
    assert "1 of 2" in said[1]
    retried = open_log().fill("answer", ITEMS[:2], Writer)
    assert (retried.texts["b"], retried.missing, retried.origins) == ("B", {}, {"reused": 1, "computed": 1})


def test_published_texts_are_used_and_listed_but_fresh_results_use_neither_one_nor_its_copy(open_log, path, tmp_path):
    theirs = open_log(at=tmp_path / "published.jsonl", cache="other/cache.sqlite")  # of another machine
    made = theirs.fill("hyde", ITEMS[:2], lambda: Writer(a=Generation("theirs", 3, 5, "stop", 0.1)))
    published = [*made.records.values()]
    assert open_log(published).fill("hyde", ITEMS, Writer).origins == {"published": 2, "computed": 1}
    listed = [(one["text"], one.get("origin")) for one in read_records(path).values()]
    assert listed == [("theirs", "published"), ("B", "published"), ("C", None)]
    assert open_log(published).fill("hyde", ITEMS, never).origins == {"published": 2, "reused": 1}
    fresh = open_log().fill("hyde", ITEMS, Writer)
    assert (fresh.texts["a"], fresh.origins) == ("A", {"computed": 2, "reused": 1})
    assert open_log(published).fill("hyde", ITEMS, never).texts["a"] == "A"


def test_a_list_is_used_when_the_cache_was_lost_and_otherwise_changes_no_text(open_log, path, tmp_path):
    first = open_log().fill("hyde", ITEMS, Writer)
    for file in tmp_path.glob("cache.sqlite*"):
        file.unlink()
    again = open_log().fill("hyde", ITEMS, never)
    assert (again.texts, again.origins) == (first.texts, {"reused": 3})
    path.write_text(path.read_text().replace('"text": "B"', '"text": "X"'))
    assert open_log().fill("hyde", [*ITEMS, item("d")], Writer).texts["b"] == "B"


def test_a_text_of_another_study_is_taken_under_this_one_s_question(open_log, tmp_path):
    open_log().fill("hyde", ITEMS, Writer)
    other = tmp_path / "data" / "other" / "generations.jsonl"
    found = open_log(at=other).fill("answer", [item("x", "a")], never)
    [record] = read_records(other).values()
    assert (found.texts, record["kind"], record["question_id"]) == ({"x": "A"}, "answer", "q-x")
    assert found.records == {"x": record}


@pytest.mark.parametrize("damage", [b"\x00\xff" * 40, b'{"text": "B"}'])
def test_a_damaged_line_is_named_and_an_unfinished_last_one_is_not_read(open_log, path, damage):
    odd = Generation("one\u2028two\x85three\r\nfour", 3, 5, "stop", 0.1)  # separators that do not split a record
    open_log().fill("hyde", ITEMS, lambda: Writer(a=odd))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], lines[2][:20]]))
    assert [record["text"] for record in read_records(path).values()] == [odd.text, "B"]
    path.write_bytes(b"\n".join([lines[0], damage, lines[2], b""]))
    with pytest.raises(StudyError, match="line 2"):
        open_log().fill("hyde", [item("new")], never)


def test_what_was_written_before_an_interruption_is_kept(open_log, path):
    with pytest.raises(KeyboardInterrupt):
        open_log().fill("hyde", ITEMS, lambda: Writer({"c": KeyboardInterrupt()}))
    writer = Writer()
    assert open_log().fill("hyde", ITEMS, lambda: writer).origins == {"reused": 2, "computed": 1}
    assert writer.asked == ["c"]
    assert [record["text"] for record in read_records(path).values()] == ["A", "B", "C"]

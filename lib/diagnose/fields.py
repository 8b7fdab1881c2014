"""What other programs call a question, a passage and its parts; nested holders, such as LangChain's metadata."""

import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lib.data.records import printable

LONGEST = 60  # value or list of names in a sentence, in characters
#: Names of each part, in lower case with underscores, the usual ones first.
QUESTION_ID = tuple("question_id financebench_id query_id qid q_id topic_id questionid queryid".split())
QUESTION_TEXT = tuple("question query user_input query_text question_text input".split())
PASSAGES = tuple(
    "results passages pages retrieved retrieved_contexts retrieved_context retrieved_documents retrieved_docs "
    "retrieved_chunks retrieved_passages retrieved_nodes source_nodes source_documents nodes documents docs chunks "
    "contexts context hits sources ranking top_k matches".split()
)
PARTS = {
    "doc": "doc document doc_name document_name docno filing file_name filename file file_path filepath source path "
    "doc_id docid document_id corpus_id pid url title",
    "page": "page page_index page_idx page_num page_number page_no pagenum evidence_page_num page_range page_numbers",
    "label": "page_label",
    "text": "text page_content content contents passage chunk chunk_text passage_text body",
    "score": "score similarity similarity_score relevance_score rerank_score reranker_score cosine_similarity",
    "distance": "distance",
    "rank": "rank position",
}
PARTS = {part: tuple(names.split()) for part, names in PARTS.items()}
HOLDERS = ("metadata", "meta", "extra_info", "node", "document", "doc", "kwargs", "payload", "entity", "_source")
#: Columns of Chroma's answers: lists of the same length, one for each part.
COLUMNS = {"documents": "text", "metadatas": "metadata", "distances": "distance", "scores": "score"}
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
UNPRINTED = (list, dict, type(None))
PRINTED = re.compile(r"[A-Z]\w*\(\w+=")  # how Python prints a Document


class Row(NamedTuple):
    """A passage as a file gives it; what the file does not say is None, a number NaN."""

    question: str  # its id or its text
    doc: str | None = None  # a name, a path or a docno; of a bare string maybe the passage's text
    page: object = None
    label: object = None  # what the PDF prints as the page's number
    score: float = math.nan
    rank: float = math.nan
    text: str | None = None


@lru_cache(maxsize=10_000)
def plain_name(name: object) -> str:
    """A key or a column's name as the tables above spell it."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def quoted(value: object) -> str:
    """A value of the run as a sentence names it: printable, short, in quotation marks."""
    text = printable(str(value))
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def n_of(n: int, what: str) -> str:
    """A number of things: ``1 passage``, ``1,200 passages``."""
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def listed(names: object) -> str:
    """Names as a sentence lists them, printable and short."""
    text = printable(", ".join(map(str, names))) or "none"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def question_of(record: dict) -> str | None:
    """The id of the question that a record is about, or else its text."""
    names = {plain_name(name): value for name, value in record.items()}
    wanted = QUESTION_ID, (("id", "_id") if _has_list(record) else ()), QUESTION_TEXT
    found = (names[name] for part in wanted for name in part if type(names.get(name)) in (str, int))
    return next((text for text in map(str, found) if text.strip()), None)


def passages_of(record: dict) -> list | None:
    """The list of a record's passages; None where it has none."""
    names = {plain_name(name): value for name, value in record.items()}
    columns = {part: names[name] for name, part in COLUMNS.items() if isinstance(names.get(name), list)}
    if "metadata" in columns:
        columns = {part: _flat(values) for part, values in columns.items()}
        if len({*map(len, columns.values())}) > 1:
            raise ValueError(f"the lists {listed(COLUMNS)} differ in length; give a value of each for every passage")
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    found = _list_in(record)
    inner = {name: _list_in(one) for name, one in record.items() if isinstance(one, dict)}
    inner = {name: one for name, one in inner.items() if one is not None}  # as where Haystack names a component
    if found is None and len(inner) > 1:
        raise ValueError(f"lists of passages in {listed(inner)}; leave the one that is read")
    return next(iter(inner.values()), None) if found is None else found


def _has_list(record: dict) -> bool:
    levels = record, *(one for one in record.values() if isinstance(one, dict))
    return any(_list_in(level) is not None for level in levels)


def _list_in(record: dict) -> list | None:
    names = {plain_name(name): one for name, one in record.items()}
    return next((names[name] for name in PASSAGES if isinstance(names.get(name), list)), None)


def _flat(values: list) -> list:
    is_nested = len(values) == 1 and isinstance(values[0], list)
    return values[0] if is_nested else values


def passage(question: str, value: object) -> Row:
    """A passage of a question, from a string, an object, or a pair of one of these and its score.

    A ValueError names the keys that it has where it has neither a document nor a text.
    """
    if isinstance(value, str):
        if PRINTED.match(value):
            raise ValueError(f"the passage {quoted(value)} is a printed object; write its fields, as with to_dict()")
        return Row(question, value)
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str | dict):
        return passage(question, value[0])._replace(score=number(value[1], "score"))
    if not isinstance(value, dict):
        raise ValueError(f"the passage {quoted(value)} is no object; give one with document and page")
    parts = dict(_parts(value))
    doc, text = parts.get("doc"), parts.get("text")
    if doc is None and text is None:
        fix = "name its filing 'document' and its page 'page', or give its 'text'"
        raise ValueError(f"a passage has the keys {listed(value)}; {fix}")
    score = number(parts.get("score"), "score")
    if math.isnan(score):
        score = -number(parts.get("distance"), "distance")
    page, label = parts.get("page"), parts.get("label")
    rank = number(parts.get("rank"), "rank")
    return Row(question, doc, page, None if page is not None else label, score, rank, text)


def _parts(value: dict) -> Iterator[tuple[str, object]]:
    """The parts of a passage that it has, each from the outermost object that names it."""
    levels = [{plain_name(name): one for name, one in value.items()}]
    for level in levels:  # which grows
        if len(levels) > 20:
            break
        inner = (level[name] for name in HOLDERS if isinstance(level.get(name), dict))
        levels += [{plain_name(name): one for name, one in holder.items()} for holder in inner]
    for part, names in PARTS.items():
        is_text, is_page = part in ("doc", "text"), part == "page"
        for level in levels:
            given = (level[name] for name in names if level.get(name) is not None)
            usable = (one for one in given if is_page or not isinstance(one, UNPRINTED))
            found = next((str(one) if is_text else one for one in usable if type(one) is not bool or is_page), None)
            if found is not None and (not is_text or found.strip() or part == "text"):
                yield part, found
                break


def number(value: object, what: str) -> float:
    """A score, rank or distance; NaN where there is none, infinite where it is too large.

    A ValueError where it is no number, NaN, or written with a decimal comma.
    """
    if value is None or value == "":
        return math.nan
    if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value):
        point = value.strip().replace(",", ".")
        raise ValueError(f"the {what} {quoted(value)} has a decimal comma; write {point}")
    try:
        found = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        raise ValueError(f"the {what} {quoted(value)} is no number; give one, or leave it out") from None
    if math.isnan(found):
        raise ValueError(f"the {what} is NaN, which has no place in an order; give a number, inf or -inf")
    return found


def unique(pairs: list[tuple[str, object]]) -> dict:
    """The object of its pairs, for :func:`json.loads`; a ValueError where it has a key twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {quoted(max(names, key=names.count))} stands twice in one object; leave one")
    return found


DECODER = json.JSONDecoder(object_pairs_hook=unique)

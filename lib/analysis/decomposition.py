"""Where the gold evidence is lost: at the document step, at the page step, at the chunk step, or not at all.

Every gold page of a question counts alike, and its part of the question is split without a rest:

- ``document``: no chunk of the gold filing is among the top k.
- ``page``: a chunk of the filing is, but none of the gold page.
- ``chunk``: the gold page is there, but not all of its evidence: the share of the evidence's words that stand in none
  of the retrieved chunks.
- ``found``: the share of the evidence's words that stand in the retrieved chunks.

So ``document`` is 1 - doc_recall and ``found + chunk`` is page_recall, exactly, and the four add to 1 for any run.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import product

import numpy as np
import pandas as pd

from lib.evaluation import METRIC_COLUMNS, SUMMARY_COLUMNS, evaluate_all, merge_metrics, summary_at
from lib.method import memoized
from lib.metrics.frame import Metrics
from lib.metrics.retrieval import PAGE, gold_pages, gold_ranks
from lib.schema import CONDITIONS, Condition, or_without_filings
from lib.study import Study

STEPS = ("found", "chunk", "page", "document")
METRIC_OF = {"found": "evidence_found"} | {step: f"lost_at_{step}" for step in STEPS[1:]}
WORD = re.compile(r"\w+")


def locate(evidence: str, text: str) -> list[int]:
    """Where the evidence's words stand in a page: the first character of every word that both have, matched in runs,
    the longest first (Ratcliff & Obershelp, 1988), so that a quotation is not found scattered over the page."""
    places = [(match.group().lower(), match.start()) for match in WORD.finditer(text)]
    wanted = WORD.findall(evidence.lower())
    matcher = SequenceMatcher(None, [word for word, _ in places], wanted, autojunk=False)
    blocks = matcher.get_matching_blocks()
    return [at for start, _, size in blocks for _, at in places[start : start + size]]


def evidence_words(evidence: pd.DataFrame, pages: pd.DataFrame, chunks: pd.DataFrame) -> pd.DataFrame:
    """Which chunks hold which words of the gold evidence (a piece a row): question_id, doc_name, page, word (a number),
    chunk_id. Evidence that cannot be located on its page, or whose page has a single chunk, counts as one word that
    every chunk of the page holds."""
    texts = pages.set_index(["doc_name", "page"])["text"]
    spans = {key: part for key, part in chunks.groupby(["doc_name", "page"])}
    rows, n_words = [], 0
    for piece in evidence.itertuples():
        place = (piece.doc_name, piece.page)
        if place not in spans:
            continue
        part = spans[place]
        found = locate(piece.text, texts[place]) if len(part) > 1 else []
        held = [part.loc[(part["start"] <= at) & (at < part["end"]), "chunk_id"] for at in found]
        for ids in held or [part["chunk_id"]]:
            n_words += 1
            rows += [(piece.question_id, *place, n_words, chunk_id) for chunk_id in ids]
    return pd.DataFrame(rows, columns=["question_id", "doc_name", "page", "word", "chunk_id"])


def decompose(run: pd.DataFrame, questions: pd.DataFrame, words: pd.DataFrame, k: int) -> pd.DataFrame:
    """How each question's gold evidence (``words`` of :func:`evidence_words`) splits over STEPS in the first k chunks
    of a run, by question_id; every row adds to 1."""
    top = run.loc[run["rank"] <= k, ["question_id", "doc_name", "page", "chunk_id"]]
    gold = gold_pages(questions)
    has_document, has_page = _rows_in(gold, top, PAGE[:2]), _rows_in(gold, top, PAGE)
    is_held = _rows_in(words, top, ["question_id", "chunk_id"])
    by_word = is_held.groupby([words[column] for column in [*PAGE, "word"]]).any()
    share = by_word.groupby(level=PAGE).mean().rename("share").reset_index()
    held = gold.merge(share, on=PAGE, how="left")["share"].fillna(1.0).astype(float)
    parts = has_page * held, has_page * (1 - held), has_document & ~has_page, ~has_document
    split = pd.DataFrame(dict(zip(STEPS, parts, strict=True))).astype(float)
    return split.groupby(gold["question_id"], sort=False).mean()


def _rows_in(frame: pd.DataFrame, other: pd.DataFrame, columns: list[str]) -> pd.Series:
    wanted, there = (pd.MultiIndex.from_frame(part[columns].astype(str)) for part in (frame, other))
    return pd.Series(wanted.isin(there), frame.index, dtype=bool)


def decomposition(study: Study, methods: Iterable[str], conditions: Iterable[Condition], k: int) -> pd.DataFrame:
    """The decomposition of several runs as metrics: METRIC_COLUMNS with the metrics of METRIC_OF at depth k; stored."""
    parts = []
    for condition, method in product(conditions, methods):
        long = _decomposed(study, method, condition, k).melt("question_id", var_name="metric")
        parts.append(long.assign(method=method, condition=condition))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(k=pd.array([k] * len(table), "Int64"))[METRIC_COLUMNS]


def step_levels(study: Study, methods: Sequence[str], k: int) -> pd.DataFrame:
    """Means of the decomposition and of page recall at k, by method and condition: SUMMARY_COLUMNS, without rows where
    the filings' text is needed and not here. The outputs' metrics get the decomposition of each question."""
    parts = or_without_filings(lambda: decomposition(study, methods, CONDITIONS, k))
    if parts is None:
        return pd.DataFrame(columns=SUMMARY_COLUMNS)
    merge_metrics(study, parts)
    return summary_at(study, Metrics(parts) + evaluate_all(study, methods), k, [*METRIC_OF.values(), "page_recall"])


def _decomposed(study: Study, method: str, condition: Condition, k: int) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        split = decompose(study.run(method, condition), study.questions, _evidence_words(study), k)
        return split.rename(columns=METRIC_OF).reset_index()

    params = {"k": k, "run": study.run_entry(method, condition).digest}
    params |= {name: study.digest(name) for name in ("questions", "evidence", "pages", "chunks")}
    return study.store.frame(f"analysis/decomposition/{condition}/{method}", params, make, public=True)


@memoized
def _evidence_words(study: Study):
    return evidence_words(study.dataset.evidence, study.pages, study.chunks)


def gold_found(study: Study, method: str, k: int) -> pd.DataFrame:
    """What becomes of each gold page at k, indexed by PAGE: whether its filing is ``reached`` and the page ``found``
    over all filings, and whether it is found with the filing ``given``."""
    runs = [study.run(method, condition) for condition in CONDITIONS[:2]]
    found, given = (gold_ranks(run, study.questions).set_index(PAGE)["rank"] <= k for run in runs)
    top = runs[0][runs[0]["rank"] <= k]
    filings = pd.MultiIndex.from_frame(top[PAGE[:2]])
    return pd.DataFrame({"reached": found.index.droplevel("page").isin(filings), "found": found, "given": given})


def step_of(pages: pd.DataFrame) -> pd.Series:
    """The step at which each gold page of :func:`gold_found` is lost over all filings, or ``found``."""
    step = np.select([pages["found"], pages["reached"]], ["found", "page"], "document")
    return pd.Series(step, pages.index, name="step")


def recovery(study: Study, methods: Iterable[str], k: int) -> pd.DataFrame:
    """Shares of the gold pages by step over all filings and by what becomes of them with the filing given, a row per
    method: ``page_back`` is lost at the page step and found there, ``page_lost`` is lost at both."""
    rows = {}
    for method in methods:
        pages = gold_found(study, method, k)
        is_at = {step: step_of(pages) == step for step in ("document", "page", "found")}
        split = {f"{step}_back": part & pages["given"] for step, part in is_at.items()}
        split |= {f"{step}_lost": part & ~pages["given"] for step, part in is_at.items()}
        rows[method] = pd.DataFrame(split).groupby("question_id", sort=False).mean().mean()
    return pd.DataFrame(rows).T.rename_axis("method")

"""Small experiments that test the likely reasons behind the baselines' table."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from lib import runs
from lib.metrics.retrieval import doc_recall, page_recall
from lib.retrievers import bm25
from lib.retrievers.rerank import pool_scores
from lib.words import Condition

YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)|(?i:\bFY\s?'?(\d{2})\b)")
ROWS_VERSION = 1
HEAD_TOKENS = 256


def years_in(text: str) -> set[int]:
    """The years that a text names: four digits, or two after ``FY``."""
    return {2000 + int(match[1]) if match[1] else int(match[0][-4:]) for match in YEAR.finditer(text)}


def plain_tokens(text: str) -> list[str]:
    """Lower-case words between white space: what ``rank_bm25``'s own example does."""
    return text.lower().split()


def identity(study) -> pd.Series:
    """A line that says whose filing it is, by doc_name: company, fiscal year and filing type of its metadata."""
    filings = study.filings.set_index("doc_name")
    period = filings["doc_period"].map(lambda year: "" if pd.isna(year) else f"{int(year)} fy{int(year)}")
    return filings["company"] + " " + period + " " + filings["doc_type"]


def bm25_variants(study, condition: Condition = "standard", k: int = 5) -> pd.DataFrame:
    """BM25 under other tokenisations and with the filing's identity before each chunk.

    Returns:
        variant, doc_recall, page_recall: means over all questions; stored.
    """
    headed = study.chunks["doc_name"].map(identity(study)) + "\n" + study.chunks["text"]
    texts = study.chunks["text"]
    variants: dict[str, tuple[Callable[[str], list[str]], Sequence[str], float]] = {
        "words between white space": (plain_tokens, texts, 0.25),
        "finance tokens (the row of the table)": (bm25.tokenize, texts, 0.25),
        "… no weight for terms in over half of the chunks": (bm25.tokenize, texts, 0.0),
        "… and the filing's identity before each chunk": (bm25.tokenize, headed, 0.0),
    }

    def compute(target: Path) -> None:
        rows = []
        for name, (tokens, texts, epsilon) in variants.items():
            settings = study.profile.bm25
            model = bm25.BM25([tokens(text) for text in texts], settings.k1, settings.b, epsilon)
            scores = np.stack([model.scores(tokens(question)) for question in study.questions["question"]])
            scores[~study.candidates(condition)] = -np.inf
            run = runs.rank(scores, study.questions, study.chunks, k)
            rows.append((name, *(m(run, study.questions, k).mean() for m in (doc_recall, page_recall))))
        pd.DataFrame(rows, columns=["variant", "doc_recall", "page_recall"]).to_csv(
            target / "rows.csv", index=False
        )

    params = {
        "chunks": study.chunks_digest,
        "questions": study.questions_digest,
        "settings": study.profile.bm25,
        "condition": condition,
        "k": k,
        "identity": identity(study).to_dict(),
    }
    entry = study.store.get("experiments/bm25", params, compute, ROWS_VERSION)
    return pd.read_csv(entry.path / "rows.csv")


def invented_years(study, passages: Sequence[Sequence[str]]) -> pd.DataFrame:
    """Whether the passages that HyDE wrote name years that the question did not ask about.

    Args:
        passages: for each question its written passages.

    Returns:
        question_id, years (asked), written (in the first passage), is_invented: the passage names a year, and none of
        those asked; ``is_invented`` is missing where the question or the passage names no year.
    """
    rows = []
    for question, texts in zip(study.questions.itertuples(), passages, strict=True):
        asked, written = years_in(question.question), years_in(texts[0]) if texts else set()
        invented = not asked & written if asked and written else None
        rows.append((question.question_id, sorted(asked), sorted(written), invented))
    return pd.DataFrame(rows, columns=["question_id", "asked", "written", "is_invented"])


def hyde_table(metrics: pd.DataFrame, years: pd.DataFrame, k: int) -> pd.DataFrame:
    """Document and page recall of ``hyde`` and ``dense`` by whether HyDE's passage named the asked year.

    Args:
        metrics: METRIC_COLUMNS, with both methods under the standard condition.
        years: from :func:`invented_years`.
        k: depth.
    """
    groups = {True: "names other years only", False: "names a year that was asked for"}
    kind = years.set_index("question_id")["is_invented"].map(groups).fillna("no year in passage or question")
    rows = []
    for group, ids in kind.groupby(kind).groups.items():
        row = {"HyDE's passage": group}
        for method in ("hyde", "dense"):
            for metric, short in (("doc_recall", "document"), ("page_recall", "page")):
                chosen = (metrics["method"] == method) & (metrics["metric"] == metric) & (metrics["k"] == k)
                values = metrics[chosen & metrics["question_id"].isin(ids)]["value"]
                row[f"{method}, {short}"] = round(values.mean(), 3)
        rows.append(row | {"n": len(ids)})
    return pd.DataFrame(rows)


def rerank_windows(study, k: int = 5) -> pd.DataFrame:
    """Reranking by each chunk's best window, and by its first 256 tokens alone: means over all questions."""
    settings, allowed = study.profile.rerank, study.candidates("standard")
    pool = study.rank_method("dense", allowed, settings.n)
    rows = []
    for name, head in (("best window", None), (f"first {HEAD_TOKENS} tokens", HEAD_TOKENS)):
        order = pool.assign(score=pool_scores(study, pool, head))
        order = order.sort_values(["question_id", "score", "chunk_id"], ascending=[True, False, True])
        order["rank"] = order.groupby("question_id").cumcount() + 1
        recalls = (metric(order, study.questions, k).mean() for metric in (doc_recall, page_recall))
        rows.append((name, *recalls, len(study.questions)))
    return pd.DataFrame(rows, columns=["What the reranker reads", "Document recall", "Page recall", "n"])

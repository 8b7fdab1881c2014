"""The sizes of pages and chunks, and small experiments that test the likely reasons behind the baselines' table."""

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from lib import runs
from lib.ahead.kinds import expanded
from lib.ahead.terms import core
from lib.corpus import edited
from lib.data.chunks import count_tokens
from lib.method import stored
from lib.metrics.frame import Metrics
from lib.metrics.retrieval import doc_recall, page_recall
from lib.retrievers import bm25
from lib.retrievers.hyde import written_passages
from lib.retrievers.identity import search_words, years_in
from lib.retrievers.rerank import HEAD_TOKENS, pool_scores
from lib.study import Study
from lib.tokens import tokenize

#: Forms of BM25 from the published one to the row of the table, and with more, in the order of the table.
VARIANTS = {
    "rank_bm25, white space": "words between white space, weights of rank_bm25",
    "rank_bm25": "finance tokens, weights of rank_bm25 (as published)",
    "rank_bm25, no floor": "… without its floor: terms in over half of the chunks weigh nothing",
    "all words": "… Lucene's weights, never negative",
    "sound": "… and no stop words (the row BM25)",
    "headed": "… and the filing's identity before each chunk",
}
#: The row BM25 with other texts than the question: its core, and the core :func:`lib.ahead.kinds.expanded`.
ASKED = {
    "core": "the row BM25, asked the sentences with a question mark alone",
    "expanded": "… and the definitions and titles of statements that Ahead adds",
}
WORDS = ("the", "of", "cash", "revenue", "capital", "inventories")
EVERY = "all"
DEPTH = 5  # chunks at which the forms of BM25 are compared, whatever the chapter's k


def bm25_variants(study: Study, k: int = DEPTH) -> pd.DataFrame:
    """BM25 in the forms of VARIANTS and ASKED: means under two conditions, over all questions and by type; stored.

    Returns:
        variant, condition, question_type (EVERY for all), doc_recall, page_recall, n.
    """
    identity = search_words(study.filings)

    def make(variants: dict[str, str]) -> pd.DataFrame:
        plain, settings, rows = study.chunks["text"], study.profile.bm25, []
        types, asked = study.questions.set_index("question_id")["question_type"], study.questions["question"]
        for variant in variants:
            is_headed, form = variant == "headed", variant if variant in bm25.FORMS else "sound"
            texts = study.chunks["doc_name"].map(identity) + "\n" + plain if is_headed else plain
            model = bm25.BM25.of_texts(texts, settings.k1, settings.b, form)
            texts = {"core": core, "expanded": expanded}
            asked_so = [*map(texts[variant], asked)] if variant in texts else asked
            scores = bm25.text_scores(model, asked_so)
            for condition in ("standard", "oracle-document"):
                allowed = np.where(study.candidates(condition), scores, -np.inf)
                run = runs.rank(allowed, study.questions, study.chunks, k)
                both = [metric(run, study.questions, k) for metric in (doc_recall, page_recall)]
                found = pd.concat(both, axis=1, keys=["doc_recall", "page_recall"])
                for name, part in [(EVERY, found), *found.groupby(types.reindex(found.index))]:
                    rows.append((variant, condition, name, *part.mean(), len(part)))
        columns = ["variant", "condition", "question_type", "doc_recall", "page_recall", "n"]
        return pd.DataFrame(rows, columns=columns)

    params = {name: study.digest(name) for name in ("chunks", "questions")} | {"k": k}
    params |= {"settings": study.profile.bm25 | edited("bm25", "ahead"), "identity": identity.to_dict()}
    stored = (
        study.store.kept(stage, params, partial(make, variants), version, public=True)
        for stage, variants, version in (("experiments/bm25", VARIANTS, 2), ("experiments/bm25-asked", ASKED, 1))
    )
    return pd.concat(stored, ignore_index=True)


@stored("experiments/word-weights", on=["chunks"], public=True)
def word_weights(study: Study, words: Sequence[str] = WORDS) -> pd.DataFrame:
    """What words weigh in BM25: word, share (of the chunks that contain it), rank_bm25, lucene."""
    tokens = [set(tokenize(text)) for text in study.chunks["text"]]
    table = pd.DataFrame({"word": words, "share": [np.mean([word in found for found in tokens]) for word in words]})
    for name, form in (("rank_bm25", "rank_bm25"), ("lucene", "all words")):
        model = bm25.index(study, form=form)
        rows = [model.vocabulary.get(word) for word in words]
        table[name] = [np.nan if row is None else model.idf[row] for row in rows]
    return table


@stored("experiments/hyde-years", on=["questions", "run=standard/hyde"], version=2, public=True)
def invented_years(study: Study) -> pd.DataFrame:
    """Whether the passages that HyDE wrote name years that the question did not ask about; stored.

    Returns:
        question_id, asked and written (years, separated by blanks; written is of the first passage), is_invented: 1.0
        where the passage names a year, and none of those asked, else 0.0; missing where the question or the passage
        names no year.
    """
    rows = []
    for question, texts in zip(study.questions.itertuples(), written_passages(study), strict=True):
        asked, written = set(years_in(question.question)), set(years_in(texts[0]) if texts else ())
        invented = float(not asked & written) if asked and written else np.nan
        years = (" ".join(map(str, sorted(part))) for part in (asked, written))
        rows.append((question.question_id, *years, invented))
    return pd.DataFrame(rows, columns=["question_id", "asked", "written", "is_invented"])


def hyde_table(metrics: Metrics, years: pd.DataFrame, k: int) -> pd.DataFrame:
    """Document and page recall at k of ``hyde`` and ``dense`` by what :func:`invented_years` found."""
    groups = {1.0: "names other years only", 0.0: "names a year that was asked for"}
    kind = years.set_index("question_id")["is_invented"].map(groups).fillna("no year in passage or question")
    measures = {"document": "doc_recall", "page": "page_recall"}
    both = product(("hyde", "dense"), measures.items())
    values = pd.DataFrame({f"{method}, {short}": metrics[method, one, k] for method, (short, one) in both})
    of = values.groupby(kind.rename("HyDE's passage").reindex(values.index))
    return of.mean().round(3).assign(n=of.size()).reset_index()


@stored("experiments/rerank-windows", on=["run=standard/dense", "questions"], settings=["rerank"], public=True)
def rerank_windows(study: Study, k: int = 5) -> pd.DataFrame:
    """Reranking by each chunk's best window, and by its first 256 tokens alone: means over all questions; stored."""
    pool = study.rank_method("dense", study.candidates("standard"), study.profile.rerank.n)
    rows = []
    for name, head in (("best window", None), (f"first {HEAD_TOKENS} tokens", HEAD_TOKENS)):
        order = pool.assign(score=pool_scores(study, pool, head))
        order = order.sort_values(["question_id", "score", "chunk_id"], ascending=[True, False, True])
        order["rank"] = order.groupby("question_id").cumcount() + 1
        recalls = (metric(order, study.questions, k).mean() for metric in (doc_recall, page_recall))
        rows.append((name, *recalls, len(study.questions)))
    return pd.DataFrame(rows, columns=["What the reranker reads", "Document recall", "Page recall", "n"])


@stored("analysis/shape", ["pages", "chunks"], ["embedder"], public=True)
def shape(study: Study) -> dict:
    """How many pages, chunks and tokens a study has, by the embedder's tokenizer.

    Returns:
        pages, blank_pages, tokens (of all pages), chunks, median (tokens of a chunk), longer (share of the chunks
        that do not fit into the encoder's window), chunks_of_page (how many pages have 1, 2, … chunks).
    """
    pages, chunks, window = study.pages["text"], study.chunks, study.profile.embedder.window
    of_chunk = pd.Series(count_tokens(chunks["text"].tolist(), study.tokenizer))
    of_page = chunks.groupby(["doc_name", "page"]).size()
    return {
        "pages": len(pages),
        "blank_pages": int((pages.str.strip() == "").sum()),
        "tokens": sum(count_tokens(pages.tolist(), study.tokenizer)),
        "chunks": len(chunks),
        "median": float(of_chunk.median()),
        "longer": float((of_chunk > window - 2).mean()),
        "chunks_of_page": [int((of_page == n).sum()) for n in range(1, of_page.max() + 1)],
    }

"""Overlap as an intervention: questions with rare words of their gold page added or taken away, asked again.

The rule was fixed before anything was measured. A word is a content token of three letters or more and nothing else,
which occurs on two pages of the collection at least. A dose is so many distinct words, those on the fewest pages first,
ties by text, or all where there are fewer: *appended*, of the first gold page, which the question lacks; *deleted*, of
the question, which stand on that page; *control*, appended, of another page of the same filing, drawn among those with
enough of them, which neither the question nor a gold page has.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import product

import numpy as np
import pandas as pd

from lib.metrics.retrieval import page_recall
from lib.retrievers import bm25, dense
from lib.runs import rank
from lib.schema import K
from lib.stats import Interval, Resampling, percentiles
from lib.study import Study
from lib.text.tokens import FINANCE, content_tokens

DOSES = (0, 1, 2, 4, 8)  # words
DELETED, APPENDED, CONTROL = KINDS = ("deleted", "appended", "control")
EFFECTS = "kind dose n_words bm25 dense mean low high n n_clusters set".split()
SEED = 0  # of the control's pages
TOKEN = re.compile(FINANCE.pattern, re.I)


def words_of(text: str) -> set[str]:
    """The distinct content tokens of a text that are three letters or more and nothing else, in lower case."""
    return {word for word in content_tokens(text) if len(word) > 2 and word.isalpha()}


def rarest(words: Iterable[str], n_pages: Mapping[str, int]) -> list[str]:
    """The words that occur on two pages at least (``n_pages``), those on the fewest first, ties by text."""
    return sorted((word for word in words if n_pages[word] > 1), key=lambda word: (n_pages[word], word))


def without(question: str, words: Set[str]) -> str:
    """A question without any of some words in lower case, wherever they stand in it."""
    kept = TOKEN.sub(lambda found: "" if found[0].lower() in words else found[0], question)
    return " ".join(kept.split())


def pools(questions: pd.DataFrame, pages: pd.DataFrame) -> Iterator[dict[str, list[str]]]:
    """The words of each question's doses by kind, rarest first; see the rule above."""
    of = {name: part.set_index("page")["text"].map(words_of) for name, part in pages.groupby("doc_name")}
    n_pages = Counter(word for filing in of.values() for words in filing for word in words)
    random = np.random.default_rng(SEED)
    for one in questions.to_dict("records"):
        filing, asked = of[one["doc_name"]], words_of(one["question"])
        first, known = filing[one["gold_pages"][0]], asked.union(*filing[one["gold_pages"]])
        drawn = random.permutation(filing.index.difference(one["gold_pages"]))
        others = (rarest(filing[page] - known, n_pages) for page in drawn)
        control = next((words for words in others if len(words) >= DOSES[-1]), [])
        yield {DELETED: rarest(asked & first, n_pages), APPENDED: rarest(first - asked, n_pages), CONTROL: control}


def dosed(questions: pd.DataFrame, pages: pd.DataFrame) -> pd.DataFrame:
    """The questions at each dose: question_id, kind, dose, n_words (the words added or deleted), question."""
    rows, named = [], questions[["question_id", "question"]].itertuples(index=False)
    for (name, question), pool in zip(named, pools(questions, pages), strict=True):
        for kind, dose in product(KINDS, DOSES):
            words = pool[kind][:dose]
            text = without(question, {*words}) if kind == DELETED else " ".join([question, *words])
            rows.append((name, kind, dose, len(words), text if words else question))
    return pd.DataFrame(rows, columns=["question_id", "kind", "dose", "n_words", "question"])


def measured(study: Study, k: int = K) -> pd.DataFrame:
    """Page recall at k chunks of each question at each dose: question_id, kind, dose, n_words, method, value."""
    params = {"k": k} | {name: study.digest(name) for name in ("questions", "pages", "chunks")}
    params["settings"] = study.settings_of(("bm25", "embedder"))
    return study.store.frame("analysis/overlap-dose", params, lambda: _measured(study, k), public=True)


def _measured(study: Study, k: int) -> pd.DataFrame:
    model, parts = bm25.index(study), []
    asked = dosed(study.questions, study.pages)
    for _, part in asked.groupby(["kind", "dose"], sort=False):
        texts, about = part["question"].tolist(), part.drop(columns="question")
        for method, scores in (("bm25", bm25.text_scores(model, texts)), ("dense", dense.score_texts(study, texts))):
            found = page_recall(rank(scores, study.questions, study.chunks, k), study.questions, k)
            parts.append(about.assign(method=method, value=found[part["question_id"]].to_numpy()))
    return pd.concat(parts, ignore_index=True)


def gains(found: pd.DataFrame) -> pd.DataFrame:
    """BM25 less dense search in what :func:`measured` gives: questions × (kind, dose)."""
    values = found.pivot(index="question_id", columns=["method", "kind", "dose"], values="value")
    return values["bm25"] - values["dense"]


def effects(found: Mapping[str, pd.DataFrame], draws: Mapping[str, Resampling]) -> pd.DataFrame:
    """The means of :func:`measured` and of :func:`gains` (mean, low, high) by set, kind and dose: EFFECTS."""
    rows = []
    for name, of_set in found.items():
        means = of_set.pivot_table(index=["kind", "dose"], columns="method", values="value")
        words = of_set.groupby(["kind", "dose"])["n_words"].mean()
        for (kind, dose), apart in gains(of_set).items():
            level = draws[name].interval(apart, span=(-1.0, 1.0))
            rows.append((kind, dose, words[kind, dose], *means.loc[(kind, dose), ["bm25", "dense"]], *level, name))
    return pd.DataFrame(rows, columns=EFFECTS)


def level_at(falling: np.ndarray) -> float:
    """The first of DOSES, or a point on the line between two, at which values are no more above zero; else NaN."""
    below = np.flatnonzero(falling <= 0)
    if not len(below):
        return np.nan
    ends = [below[0], below[0] - 1]
    return float(np.interp(0, falling[ends], np.take(DOSES, ends))) if below[0] else 0.0


def crossing(apart: pd.DataFrame, draws: Resampling) -> Interval:
    """The dose at which both methods find equally much, and its interval.

    Args:
        apart: of :func:`gains`. Where BM25 is behind, words are appended; where it is ahead, they are deleted, and the
            dose is negative.

    Returns:
        NaN where no dose is enough. In a draw without a crossing it is the largest dose.
    """
    side, kind = (-1.0, APPENDED) if apart[APPENDED, 0].mean() < 0 else (1.0, DELETED)
    values = side * apart[kind]
    mean, *drawn = map(level_at, np.vstack([values.mean(), draws.means(values)]))
    ends = percentiles(np.nan_to_num(drawn, nan=DOSES[-1])) if mean == mean else (np.nan, np.nan)
    n_companies = draws.company.reindex(values.index).nunique()
    return Interval(-side * mean + 0.0, *sorted(-side * end + 0.0 for end in ends), len(values), n_companies)

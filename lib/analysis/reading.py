"""What is found within a number of tokens that are read, as equal numbers of chunks are not equal text.

Chunks are read in the order of a run, each whole: the first that does not fit into what is left ends it. Tokens are the
encoder's; those that two chunks share count twice.
"""

from collections.abc import Callable, Collection
from functools import partial

import numpy as np
import pandas as pd

from lib.data.chunks import count_tokens
from lib.method import memoized
from lib.method_sets import over_all_filings
from lib.metrics.lines import line_recall
from lib.metrics.retrieval import page_recall
from lib.schema import NeedsFilings
from lib.stats import Resampling, gains
from lib.study import Study

BUDGETS = (128, 256, 512, 1024, 2048, 4096, 8192)  # tokens
MEASURES = ["page_recall", "line_recall"]
MAX_ENDED = 0.05  # the share of the questions whose list may end before a budget
SIZES = ("fixed_128", "fixed_256", "fixed_512")
SEARCHES = ("dense", "bm25", "hybrid_rrf", *SIZES, *(f"hybrid_{name}" for name in SIZES))
#: Searches of all filings and after the metadata match, over chunks of several sizes, and trained rows.
COUNTED = (*SEARCHES, *(f"{name}_{by}" for by in ("records", "covers") for name in SEARCHES), "ahead", "ahead_general")
DRAWN = ("dense", "fixed_128", "hybrid_rrf_records", "fixed_128_records", "ahead")
TESTED_AT = 4096  # tokens, about as many as five chunks of the study have
#: Short chunks after the metadata match, which are tested against long ones, and the better of them against Ahead.
SHORT, LONG = ("fixed_128_records", "hybrid_fixed_128_records"), "hybrid_rrf_records"

#: Chunks of 256 tokens, each compared with those of 128 under the same search and match.
LONGER = [f"{search}fixed_256_{by}" for search in ("", "hybrid_") for by in ("records", "covers")]


@memoized
def chunk_tokens(study: Study) -> pd.Series:
    """The number of tokens of each chunk of the table that is searched, by chunk_id."""
    return pd.Series(count_tokens(study.chunks["text"].tolist(), study.tokenizer), study.chunks["chunk_id"])


def read_within(run: pd.DataFrame, tokens: pd.Series, budget: int) -> pd.DataFrame:
    """The rows of a run that are read within a budget; ``tokens`` are by chunk_id."""
    run = run.sort_values(["question_id", "rank"])
    return run[run["chunk_id"].map(tokens).groupby(run["question_id"]).cumsum() <= budget]


def recalls(study: Study, method: str) -> pd.DataFrame:
    """MEASURES of a method by question_id and tokens (BUDGETS), and whether more would have been read if the run were
    deeper (``is_ended``); line recall is NaN where questions lack evidence. Stored."""
    over = study.with_chunks(study.method(method).chunking)
    params = {"run": study.run_entry(method).digest, "chunks": over.digest("chunks"), "budgets": BUDGETS}
    params |= {name: study.digest(name) for name in ("questions", "evidence")}
    params["settings"] = study.settings_of(("embedder",))
    make, version = partial(_recalls, over, method), 2
    return study.store.frame(f"analysis/tokens-read/{method}", params, make, version, public=True)


def _recalls(study: Study, method: str) -> pd.DataFrame:
    depth, questions, parts = study.profile.run.depth, study.questions, []
    listed = study.run(method).merge(study.chunks[["chunk_id", "text", "start", "end"]], on="chunk_id")
    tokens = chunk_tokens(study)
    of_list = listed["chunk_id"].map(tokens).groupby(listed["question_id"]).agg(["sum", "size"])
    of_list = of_list.reindex(questions["question_id"], fill_value=0)
    for budget in BUDGETS:
        read = read_within(listed, tokens, budget)
        part = page_recall(read, questions, depth).to_frame()
        part["line_recall"] = np.nan if "evidence" in study.dataset.lacks else line_recall(read, questions)
        is_ended = (of_list["sum"] <= budget) & (of_list["size"] >= depth)
        parts.append(part.assign(is_ended=is_ended, tokens=budget))
    found = pd.concat(parts).round(dict.fromkeys(MEASURES, 10))
    return found.reset_index()[["question_id", "tokens", *MEASURES, "is_ended"]]


def values(study: Study, methods: Collection[str]) -> pd.DataFrame:
    """Each of MEASURES within each budget of those of the methods that are COUNTED and that the study's profile runs
    over all filings: questions × (method, metric, tokens).

    A list that ends before the budget counts with what it has. There is no column where more than MAX_ENDED of the
    lists do, nor for a method that is not published in tokens and cannot be measured without the filings.
    """
    parts, here = {}, {*methods} & {*over_all_filings(study.profile)}
    for name in [name for name in COUNTED if name in here]:
        try:
            found = recalls(study, name)
        except NeedsFilings:
            continue
        n_ended = found.groupby("tokens")["is_ended"].mean()
        found = found[found["tokens"].isin(n_ended.index[n_ended <= MAX_ENDED])]
        parts[name] = found.pivot(index="question_id", columns="tokens", values=MEASURES)
    columns, ids = ["method", "metric", "tokens"], study.questions["question_id"]
    if not parts:
        return pd.DataFrame(index=ids, columns=pd.MultiIndex.from_arrays([[]] * 3, names=columns))
    return pd.concat(parts, axis=1, names=columns).reindex(ids).dropna(axis="columns")


def within(values: pd.DataFrame, measure: str, budget: int = TESTED_AT) -> pd.DataFrame:
    """One measure within one budget of :func:`values`: questions × methods."""
    metrics, tokens = (values.columns.get_level_values(level) for level in ("metric", "tokens"))
    return values.loc[:, (metrics == measure) & (tokens == budget)].droplevel(["metric", "tokens"], axis=1)


def tested(values: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """Each of SHORT less LONG, and Ahead less the better of SHORT, within TESTED_AT of :func:`values`; those that are
    measured: metric, ``reference``, and the columns of :func:`lib.stats.compare`, p corrected over a metric."""

    def references(recall: pd.DataFrame) -> dict[str, str]:
        better = {"ahead": recall[[*SHORT]].mean().idxmax()} if {*SHORT} <= {*recall} else {}
        return dict.fromkeys(SHORT, LONG) | better

    return _tested(values, draws, references)


def longer_tested(values: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """Each of LONGER that is measured less its row of 128 tokens, as :func:`tested`."""
    return _tested(values, draws, lambda recall: {name: name.replace("256", "128") for name in LONGER})


def _tested(
    values: pd.DataFrame, draws: Resampling, references: Callable[[pd.DataFrame], dict[str, str]]
) -> pd.DataFrame:
    parts = {}
    for metric in MEASURES:
        recall = within(values, metric)
        pairs = {name: other for name, other in references(recall).items() if {name, other} <= {*recall}}
        parts[metric] = gains(recall, pairs, draws).assign(reference=[*pairs.values()])
    return pd.concat(parts, names=["metric"]).reset_index()

"""Recall by tokens read in place of chunks: five chunks of 128 tokens are an eighth of the text of five of 1,024.

The chunks of a run are read in its order; one counts while the tokens up to and including it fit into the budget.
"""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from lib.data.chunks import count_tokens
from lib.method import stored
from lib.metrics.retrieval import PAGE, gold_pages
from lib.stats import Resampling
from lib.study import Study

#: Dense search over chunks of one size, the last of which are the study's own.
SIZES = ("fixed_128", "fixed_256", "fixed_512", "dense")
BUDGETS = (500, 1000, 2000, 4000, 8000)  # tokens of the encoder
SLACK = 0.01  # a recall is left out where lists that end before the budget could raise it by more
TOKENS = {"doc_recall": "filing_tokens", "page_recall": "page_tokens"}


def tokens_read(study: Study, method: str) -> pd.DataFrame:
    """How many tokens of a method's ranking one reads until each gold page is seen; stored.

    Returns:
        A row per gold page: question_id, doc_name, page; the tokens of the question's chunks up to and including the
        first one of the page (page_tokens) and the first one of its filing (filing_tokens), NaN where the run has none;
        and those of its whole list (run_tokens), behind which nothing is known.
    """
    return _tokens_read(study.over(study.method(method).chunking), method)


@stored(
    "analysis/tokens-read/{method}",
    on=["run=standard/{method}", "chunks", "questions"],
    settings=["embedder"],
    public=True,
)
def _tokens_read(study: Study, method: str) -> pd.DataFrame:
    run = study.run(method).sort_values(["question_id", "rank"])
    texts = study.chunks.set_index("chunk_id")["text"].loc[run["chunk_id"].unique()]
    sizes = pd.Series(count_tokens(texts.tolist(), study.tokenizer), texts.index)
    read = run[PAGE].assign(tokens=run["chunk_id"].map(sizes).groupby(run["question_id"]).cumsum())
    found = gold_pages(study.questions)
    for name, of in (("page_tokens", PAGE), ("filing_tokens", PAGE[:2])):
        found = found.join(read.groupby(of)["tokens"].min().rename(name), on=of)
    return found.join(read.groupby("question_id")["tokens"].max().rename("run_tokens"), on="question_id")


def recall(found: pd.DataFrame, budget: int, metric: str = "page_recall") -> pd.Series:
    """Page recall, or document recall, of each question within a budget of tokens, of :func:`tokens_read`."""
    is_seen = found[TOKENS[metric]] <= budget
    return is_seen.groupby(found["question_id"], sort=False).mean().rename(metric)


def curves(study: Study, known: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Recall of each method at each of BUDGETS with its interval: method, metric, budget, mean, low, high, n.

    There is no row where the lists are too short to tell the mean to SLACK.
    """
    draws, rows = Resampling.of(study), []
    for (method, found), metric, budget in product(known.items(), TOKENS, BUDGETS):
        is_open = found[TOKENS[metric]].isna() & (found["run_tokens"] < budget)
        if is_open.groupby(found["question_id"]).mean().mean() <= SLACK:
            rows.append((method, metric, budget, *draws.interval(recall(found, budget, metric))[:4]))
    return pd.DataFrame(rows, columns=["method", "metric", "budget", "mean", "low", "high", "n"])

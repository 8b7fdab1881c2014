"""How long pages and chunks are, in tokens of the encoder, and what is found within so many tokens of a ranking.

Five chunks of 128 tokens are an eighth of the text of five of 1,024. The chunks of a run are read in its order; one
counts while the tokens up to and including it fit into the budget.
"""

import pandas as pd

from lib.data.chunks import count_tokens
from lib.method import stored
from lib.metrics.retrieval import PAGE, gold_pages
from lib.study import Study

#: Dense search over chunks of one size, the last of which are the study's own.
SIZES = ("fixed_128", "fixed_256", "fixed_512", "dense")
BUDGETS = (500, 1000, 2000, 4000, 8000)  # tokens
SLACK = 0.01  # a recall is left out where lists that end before the budget could raise it by more


@stored("analysis/shape", ["pages", "chunks"], ["embedder"], public=True)
def shape(study: Study) -> dict:
    """How many pages, chunks and tokens a study has.

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


@stored(
    "analysis/tokens-read/{method}",
    ["run=standard/{method}", "chunks", "questions"],
    settings=["embedder"],
    public=True,
)
def tokens_read(study: Study, method: str) -> pd.DataFrame:
    """How many tokens of a method's ranking one reads until each gold page is seen, over the method's own chunks.

    Returns:
        question_id, doc_name, page; the tokens of the question's chunks up to and including the first one of the page
        (page_tokens), NaN where the run has none; and those of its whole list (run_tokens), behind which nothing is
        known.
    """
    run = study.run(method).sort_values(["question_id", "rank"])
    texts = study.chunks.set_index("chunk_id")["text"].loc[run["chunk_id"].unique()]
    sizes = pd.Series(count_tokens(texts.tolist(), study.tokenizer), texts.index)
    read = run[PAGE].assign(tokens=run["chunk_id"].map(sizes).groupby(run["question_id"]).cumsum())
    found = gold_pages(study.questions).join(read.groupby(PAGE)["tokens"].min().rename("page_tokens"), on=PAGE)
    return found.join(read.groupby("question_id")["tokens"].max().rename("run_tokens"), on="question_id")


def within(found: pd.DataFrame) -> dict[int, float]:
    """Mean page recall by budget of :func:`tokens_read`, where the lists are long enough to tell it to SLACK."""
    means = {}
    for budget in BUDGETS:
        is_open = found["page_tokens"].isna() & (found["run_tokens"] < budget)
        both = pd.DataFrame({"seen": found["page_tokens"] <= budget, "open": is_open})
        seen, unknown = both.groupby(found["question_id"]).mean().mean()
        means |= {budget: seen} if unknown <= SLACK else {}
    return means

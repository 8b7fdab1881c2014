"""How long pages and chunks are, in tokens of the encoder, and how many tokens of a ranking show a page."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from lib.data.chunks import count_tokens
from lib.metrics.retrieval import PAGE, gold_pages
from lib.study import Study

#: Dense search over chunks of one size, the last of which are the study's own.
SIZES = ("fixed_128", "fixed_256", "fixed_512", "dense")
BUDGETS = (500, 1000, 2000, 4000, 8000)  # tokens


def shape(study: Study) -> dict:
    """How many pages, blank_pages, tokens (of all pages) and chunks a study has, the ``median`` tokens of a chunk, the
    share of chunks that are ``longer`` than the encoder's window, and how many pages have 1, 2, … chunks; stored."""
    params = {"pages": study.digest("pages"), "chunks": study.digest("chunks")}
    params["settings"] = study.settings_of(("embedder",))
    return study.store.frame("analysis/shape", params, lambda: _shape(study), public=True)


def _shape(study: Study) -> dict:
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


def quantities(study: Study) -> pd.DataFrame:
    """:func:`shape` in words: Quantity and Value."""
    found, embedder = shape(study), study.profile.embedder
    counted = {name.replace("_", " "): f"{found[name]:,}" for name in ("pages", "blank_pages", "tokens", "chunks")}
    counted["chunks per page"] = f"{found['chunks'] / found['pages']:.2f}"
    counted["median tokens of a chunk"] = f"{found['median']:.0f}"
    counted[f"chunks longer than the window of {embedder.window} tokens"] = f"{found['longer']:.0%}"
    counted["longer chunks are read by"] = embedder.long_chunks
    return pd.DataFrame(counted.items(), columns=["Quantity", "Value"])


def tokens_read(study: Study, method: str) -> pd.DataFrame:
    """How many tokens of a method's ranking one reads until each gold page (question_id, doc_name, page) is seen, up to
    and including its first chunk (``page_tokens``, NaN without one), and in the whole list (``run_tokens``); stored."""
    params = {"run": study.run_entry(method).digest, "chunks": study.digest("chunks")}
    params |= {"questions": study.digest("questions"), "settings": study.settings_of(("embedder",))}
    return study.store.frame(
        f"analysis/tokens-read/{method}", params, partial(_tokens_read, study, method), public=True
    )


def _tokens_read(study: Study, method: str) -> pd.DataFrame:
    run = study.run(method).sort_values(["question_id", "rank"])
    texts = study.chunks.set_index("chunk_id")["text"].loc[run["chunk_id"].unique()]
    sizes = pd.Series(count_tokens(texts.tolist(), study.tokenizer), texts.index)
    read = run[PAGE].assign(tokens=run["chunk_id"].map(sizes).groupby(run["question_id"]).cumsum())
    found = gold_pages(study.questions).join(read.groupby(PAGE)["tokens"].min().rename("page_tokens"), on=PAGE)
    return found.join(read.groupby("question_id")["tokens"].max().rename("run_tokens"), on="question_id")


def recall_within(read: pd.DataFrame, budgets: Sequence[int] = BUDGETS) -> dict[int, float]:
    """Page recall of a ranking (:func:`tokens_read`) by the number of tokens that are read, a question's gold pages and
    all questions counting alike; without budgets that lists are too short for, by more than .01 of the pages."""
    recalls = {}
    for budget in budgets:
        is_open = read["page_tokens"].isna() & (read["run_tokens"] < budget)
        both = pd.DataFrame({"seen": read["page_tokens"] <= budget, "open": is_open})
        seen, unknown = both.groupby(read["question_id"]).mean().mean()
        recalls |= {budget: float(seen)} if unknown <= 0.01 else {}
    return recalls

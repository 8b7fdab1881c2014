"""Draws the (question, passage) pairs that are labelled by hand, see :mod:`lib.answers.relevance`."""

import pandas as pd

from lib.metrics.retrieval import is_gold


def draw(pairs: pd.DataFrame, questions: pd.DataFrame, n: int = 50, seed: int = 13) -> pd.DataFrame:
    """The pairs to label: half of them on a gold page where there are enough, in random order.

    Args:
        pairs: question_id, chunk_id, doc_name, page; such as the first ranks of a run.
        questions: with question_id, doc_name and gold_pages.
        n: pairs drawn.
        seed: of the draw.
    """
    gold = is_gold(pairs, questions)
    n_gold = min(n // 2, int(gold.sum()))
    on_gold = pairs[gold].sample(n_gold, random_state=seed)
    others = pairs[~gold].sample(min(n - n_gold, int((~gold).sum())), random_state=seed)
    return pd.concat([on_gold, others]).sample(frac=1, random_state=seed, ignore_index=True)

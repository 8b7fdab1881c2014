"""Passages that were labelled by hand, for the small judge: 50 (question, passage) pairs.

``hand_labels.csv`` is by one reader, a far larger language model and no financial analyst, who saw the question and
the passage only: not the judge's label, the gold pages, the answer or the filing. ``useful``: the passage contains
something that the answer needs. ``partly``: it is of the right company and matter, such as the head of the right
statement without the figure. ``useless``: the rest. The file contains no text. One reader's labels cannot show how far
two would agree.
"""

from pathlib import Path

import pandas as pd

from lib.metrics.retrieval import is_gold
from lib.words import place_of

LABELS = Path(__file__).with_name("hand_labels.csv")


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


def hand_labels() -> pd.DataFrame:
    """question_id, chunk_id and label (useful, partly, useless)."""
    return pd.read_csv(LABELS)


def labelled_pairs() -> pd.DataFrame:
    """The labelled pairs as a run names chunks: question_id, chunk_id, doc_name and page."""
    pairs = hand_labels()[["question_id", "chunk_id"]]
    doc_names, pages = zip(*map(place_of, pairs["chunk_id"]), strict=True)
    return pairs.assign(doc_name=doc_names, page=pages)

"""Recall by tokens: up to which token of a ranking one reads until a page is seen."""

import numpy as np
import pandas as pd

from lib.analysis import sizes
from tests.made import make_study

#: Question, rank, filing, page, tokens: q1 sees page 3 at 6 and page 0 at 9; q2 its filing at 5 alone.
RANKED = [
    ("q1", 1, "B", 1, 3),
    ("q1", 2, "A", 7, 1),
    ("q1", 3, "A", 3, 2),
    ("q1", 4, "A", 0, 3),
    ("q2", 2, "B", 0, 4),
    ("q2", 1, "C", 1, 1),
]


class Words:
    """A tokenizer whose tokens are words."""

    def encode_batch(self, texts, **_):
        return [type("Encoding", (), {"ids": text.split()}) for text in texts]


def test_a_gold_page_is_seen_with_the_first_of_its_chunks():
    questions = pd.DataFrame({"question_id": ["q1", "q2"], "doc_name": ["A", "B"], "gold_pages": [[0, 3], [1]]})
    run = pd.DataFrame(RANKED, columns=["question_id", "rank", "doc_name", "page", "tokens"])
    run["chunk_id"] = [f"c{row}" for row in range(len(run))]
    chunks = pd.DataFrame({"chunk_id": run["chunk_id"], "text": ["word " * n for n in run["tokens"]]})
    study = make_study(questions=questions, chunks=chunks, run=lambda name: run, tokenizer=Words())
    found = sizes.tokens_read(study, "dense")
    assert found[["question_id", "page"]].to_numpy().tolist() == [["q1", 0], ["q1", 3], ["q2", 1]]
    assert found["page_tokens"].tolist()[:2] == [9, 6]
    assert np.isnan(found["page_tokens"].iloc[2])  # that page of another filing is none
    assert found["run_tokens"].tolist() == [9, 9, 5]

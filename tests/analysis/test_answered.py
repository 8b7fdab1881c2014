"""Answers beside the retrieval that their contexts came from."""

from types import SimpleNamespace

import pandas as pd

from lib.analysis.answered import split_by_page
from lib.answers.prompt_context import Context
from lib.metrics.frame import long_frame
from lib.profile import Settings


def test_answers_are_split_by_whether_the_page_was_there():
    questions = pd.DataFrame({"question_id": list("abcd"), "company": list("wxyz")})
    settings = Settings({"significance": Settings({"n_draws": 50, "seed": 0})})
    study, index = SimpleNamespace(questions=questions, profile=settings), pd.Index(questions["question_id"])
    hits = long_frame(pd.Series([1.0, 1, 0, 0], index), "page_hit", 5)
    right = long_frame(pd.Series([1.0, 0, 0, 0], index), "numeric_match")
    table = pd.concat([hits, right]).assign(method="dense", condition="standard")
    split = split_by_page(study, table, [Context("dense", "dense")], "numeric_match", 5)
    rows = split[["context", "is_there", "mean", "n", "is_small"]].to_numpy().tolist()
    there, missing = [True, 0.5, 2, True], [False, 0.0, 2, True]
    assert rows == [["dense", *there], ["dense", *missing], ["all", *there], ["all", *missing]]

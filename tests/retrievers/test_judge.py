"""The small judge: what it reads of a chunk, how its label is read, and what is made of its labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.analysis.judged import context_precision, precision_of
from lib.answers.answers import Answers
from lib.answers.prompt_context import Context
from lib.answers.relevance import answer_relevance
from lib.models.written import Filled
from lib.retrievers.judge import first_ranks, judgements, label_of, passages

CHUNKS = ["the year in net sales rose cash flow in the year profit", "profit", "net cash"]


def pairs_of(*pairs: tuple[str, int]) -> pd.DataFrame:
    """Ranked pairs of a question and a page of ``DOC``; ranks in the order given."""
    table = pd.DataFrame(pairs, columns=["question_id", "page"])
    table["chunk_id"] = [f"DOC#p{page:04d}#c00" for page in table["page"]]
    return table.assign(doc_name="DOC", rank=table.groupby("question_id").cumcount() + 1)


def by_passage(**labels: str):
    """A judge that says what is given for the passage's last word."""
    return lambda asked: labels[asked.split("Passage: ")[1].split("\n")[0].split()[-1]]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("RELEVANT", "RELEVANT"),
        ("Relevant.", "RELEVANT"),
        ("IRRELEV", "IRRELEVANT"),
        ("AMBIGU", "AMBIGUOUS"),
        ("It is irrelevant", "IRRELEVANT"),
        ("AMCOR's restructuring", "UNREADABLE"),
        (None, "UNREADABLE"),
    ],
)
def test_labels_are_read_also_where_they_are_cut(text, label):
    assert label_of(text) == label


def test_a_chunk_is_judged_by_its_best_child_cut_to_a_length(judged_study):
    study = judged_study(["cash flow", "net sales"], CHUNKS, by_passage())
    # children of six tokens, of which four are read: "the year in net sales rose", "rose cash flow in the year", ...
    assert passages(study, pairs_of(("q0", 0), ("q1", 0), ("q1", 2))) == [
        "rose cash flow in",
        "the year in net",
        "net cash",
    ]


def test_every_pair_is_judged_once(judged_study):
    study = judged_study(["cash flow"], CHUNKS, by_passage(profit="IRRELEVANT", cash="AMBIGUOUS"))
    judged = judgements(study, pairs_of(("q0", 2), ("q0", 1)))
    assert judged["label"].tolist() == ["AMBIGUOUS", "IRRELEVANT"]
    judgements(study, pairs_of(("q0", 1)))
    assert len(study.generator.asked) == 2


def test_a_judge_that_dies_leaves_the_pair_unreadable(judged_study):
    study = judged_study(["cash flow"], CHUNKS, by_passage(profit=None, cash="RELEVANT"))
    assert judgements(study, pairs_of(("q0", 1), ("q0", 2)))["label"].tolist() == ["UNREADABLE", "RELEVANT"]


def test_context_precision_by_hand():
    assert precision_of([True, False, True]) == (1 / 1 + 2 / 3) / 2
    assert precision_of([False, True]) == 1 / 2
    assert precision_of([False, False]) == 0


@given(st.lists(st.booleans(), max_size=8))
def test_context_precision_is_one_only_where_the_useful_are_first(verdicts):
    value = precision_of(verdicts)
    assert 0 <= value <= 1
    assert (value == 1) == (any(verdicts) and verdicts == sorted(verdicts, reverse=True))


def test_context_precision_of_a_run_is_that_of_its_first_chunks(judged_study):
    study = judged_study(["cash flow", "profit"], CHUNKS, by_passage(profit="IRRELEVANT", cash="RELEVANT"))
    run = pairs_of(("q0", 1), ("q0", 2), ("q1", 1), ("q1", 2))
    for k, value in ((2, 1 / 2), (1, 0)):
        top = first_ranks(run, k)
        is_useful = judgements(study, top)["label"] == "RELEVANT"
        assert context_precision(study, top, is_useful).to_dict() == {"q0": value, "q1": value}


def test_an_answer_is_as_relevant_as_the_question_written_from_it_is_near(judged_study):
    study = judged_study(
        ["cash flow", "profit", "net", "sales"],
        CHUNKS,
        lambda asked: None if "n/a" in asked else "Question: cash",
    )
    written = Answers(
        Context("dense", "dense"), {"q0": "$7", "q1": "n/a", "q2": "$8"}, Filled(missing={"q3": "died"})
    )
    values = answer_relevance(study, written)
    assert values.index.tolist() == ["q0", "q1", "q2", "q3"]
    np.testing.assert_allclose(values, [2**-0.5, 0, 0, 0], atol=1e-6)  # "cash" is half of "cash flow"

"""What the small judge reads and says, and the methods that act on it: the selection agent and corrective RAG."""

from functools import partial

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
from lib.retrievers import judged
from lib.retrievers.judged import beginnings, choices, judgements, label_of

CHUNKS = ["net sales", "cash flow", "profit", "net cash", "sales profit"]
SCORES = np.array([[0.9, 0.8, 0.7, 0.6, 0.5]])
EVERY = np.ones((1, 5), bool)


def judge(query: str | None = None, **labels: str | None):
    """Rewrites a question as ``query``, and judges a passage by its first word; what is not named is IRRELEVANT."""

    def rule(asked: str) -> str | None:
        is_document = "Document: " in asked
        return labels.get(asked.split("Document: ")[1].split()[0], "IRRELEVANT") if is_document else query

    return rule


def order(scores: np.ndarray) -> list[int]:
    return [int(page) for page in np.argsort(-scores[0]) if np.isfinite(scores[0, page])]


@pytest.mark.parametrize(
    ("text", "allowed", "ranked"),
    [
        ("Documents 2 and 1 are needed.", [True] * 5, [1, 2, 0, 3, 4]),  # of the first three; the rest stays
        ("1", [True, False, False, False, True], [4, 0]),
        *((text, [True] * 5, [0, 1, 2, 3, 4]) for text in ("0, 0, 12", "None of them.", "7", None)),  # all are kept
    ],
)
def test_what_is_not_selected_goes_behind(written_study, text, allowed, ranked):
    study = written_study(["sales"], CHUNKS, lambda asked: text, SCORES)
    assert order(judged.score_selected(study, np.array([allowed]))) == ranked


def test_one_prompt_has_all_documents_from_their_beginning(written_study):
    texts = ["net sales rose in the year", "cash flow", "profit", "net cash"]
    study = written_study(["cash?", "profit?"], texts, lambda asked: "1", np.array([[0.9, 0.8, 0.7, 0.6]] * 2))
    run = study.rank_method("hybrid_rrf", np.array([[True] * 4, [False, True, False, False]]), 50)
    assert choices(study, run) == {"q0": [2], "q1": [1]}
    first, second = (request.prompt.user for request in study.generator.asked)
    documents = "Document 0: net sales rose\n\nDocument 1: cash flow\n\nDocument 2: profit"
    assert first.startswith(f"{documents}\n\nQuestion: cash?")
    assert "documents 0 to 2 " in first
    assert "Document 1" not in second


@pytest.mark.parametrize(
    ("query", "labels", "row"),
    [  # first round: "net sales", "cash flow"; second: "profit", "sales profit"
        ("profit", {"cash": "RELEVANT", "profit": "RELEVANT"}, ["", 1, 0, False]),  # good enough
        ("Query: profit", {"profit": "RELEVANT"}, ["profit", 0, 1, True]),
        ("profit", {"profit": "AMBIGUOUS"}, ["profit", 0, 0, True]),
        ("profit", {"profit": "AMBIGUOUS", "net": "AMBIGUOUS"}, ["profit", 0, 0, False]),  # a tie keeps the first
        (None, {"profit": "RELEVANT"}, ["", 0, 0, False]),
    ],
)
def test_a_poor_round_is_repeated_with_another_query_and_the_better_one_wins(written_study, query, labels, row):
    study = written_study(["sales"], CHUNKS, judge(query, **labels), SCORES)
    study.candidates, study.digest, study.settings_of = (lambda _: EVERY), str, str
    study.run = lambda name, condition="standard": study.rank_method(name, EVERY, 50)
    assert judged.chosen(study) == {"q0": [1, 2, 3]}
    pairs, found = judged.judged_pairs(study), judged.verdicts(study)
    assert pairs["chunk_id"].tolist() == ["DOC#p0000#c00", "DOC#p0001#c00"]
    assert found.loc[0, ["query", "RELEVANT", "RELEVANT_again", "is_second"]].tolist() == row
    ranked = order(judged.score_corrected(study, EVERY))
    assert ranked[0] == 2 if row[-1] else ranked == [0, 1, 2, 3, 4]


def test_only_poor_questions_are_searched_again_and_among_their_candidates(written_study):
    scores = np.array([[0.9, 0.8, 0.7, 0.6, 0.5], [0.1, 0.2, 0.9, 0.3, 0.4]])
    study = written_study(["sales", "profit"], CHUNKS, judge("net cash", profit="RELEVANT"), scores)
    allowed = np.array([[True, True, False, True, False], [True] * 5])
    second = judged.second_round(study, pd.Series(["net cash", ""]), allowed)
    assert {*zip(second["question_id"], second["page"], strict=True)} == {("q0", page) for page in (0, 1, 3)}
    first = study.rank_method("hybrid_rrf", allowed, 50)
    run, table = judged.corrected(study, first, partial(judged.second_round, study, candidates=allowed))
    assert table["query"].tolist() == ["net cash", ""]
    assert sorted(run["question_id"].unique()) == ["q0", "q1"]


def test_labels_are_read_also_where_they_are_cut_and_chunks_from_their_beginning(written_study):
    texts = ["Relevant.", "It is IRRELEV", "AMBIGU", "AMCOR's restructuring", None]
    assert [label_of(text)[:5] for text in texts] == ["RELEV", "IRREL", "AMBIG", "UNREA", "UNREA"]
    study = written_study(["cash flow"], ["net  sales\nrose in the year", "profit", ""])
    ids = study.chunks["chunk_id"].iloc[[1, 0, 2]]
    assert beginnings(study, ids, 4) == ["profit", "net sales rose in", ""]
    assert beginnings(study, ids[1:2], 99) == ["net sales rose in the year"]


PASSAGES = ["the year", "profit", "cash"]


def pairs_of(*pairs: tuple[str, int]) -> pd.DataFrame:
    """Ranked pairs of a question and a page of ``DOC``; ranks in the order given."""
    table = pd.DataFrame(pairs, columns=["question_id", "page"])
    table["chunk_id"] = [f"DOC#p{page:04d}#c00" for page in table["page"]]
    return table.assign(doc_name="DOC", rank=table.groupby("question_id").cumcount() + 1)


def test_every_pair_is_judged_once_and_a_judge_that_dies_leaves_it_unreadable(written_study):
    study = written_study(["cash flow"], PASSAGES, judge(profit=None, cash="AMBIGUOUS"))
    assert judgements(study, pairs_of(("q0", 2), ("q0", 1)))["label"].tolist() == ["AMBIGUOUS", "UNREADABLE"]
    judgements(study, pairs_of(("q0", 2)))
    assert len(study.generator.asked) == 2


@given(st.lists(st.booleans(), max_size=8))
def test_context_precision_is_one_only_where_the_useful_are_first(verdicts):
    value = precision_of(verdicts)
    assert 0 <= value <= 1
    assert (value == 1) == (any(verdicts) and verdicts == sorted(verdicts, reverse=True))
    assert precision_of([True, False, True]) == (1 / 1 + 2 / 3) / 2


def test_context_precision_of_a_run_is_that_of_its_first_chunks(written_study):
    study = written_study(["cash flow", "profit"], PASSAGES, judge(cash="RELEVANT"))
    run = pairs_of(("q0", 1), ("q0", 2), ("q1", 1), ("q1", 2))
    for k, value in ((2, 1 / 2), (1, 0)):
        top = judged.first_ranks(run, k)
        is_useful = judgements(study, top)["label"] == "RELEVANT"
        assert context_precision(study, top, is_useful).to_dict() == {"q0": value, "q1": value}


def test_an_answer_is_as_relevant_as_the_question_written_from_it_is_near(written_study):
    questions = ["cash flow", "profit", "net", "sales"]
    study = written_study(questions, PASSAGES, lambda asked: None if "n/a" in asked else "Question: cash")
    written = Answers(Context("dense", "dense"), {"q0": "$7", "q1": "n/a", "q2": "$8"}, Filled(missing={"q3": "died"}))
    values = answer_relevance(study, written)
    assert values.index.tolist() == ["q0", "q1", "q2", "q3"]
    np.testing.assert_allclose(values, [2**-0.5, 0, 0, 0], atol=1e-6)  # "cash" is half of "cash flow"

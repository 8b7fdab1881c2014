"""What the small judge reads and says, and the methods that act on it: the selection agent and corrective RAG."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis.judge import context_precision, precision_of, summary
from lib.answers.answers import Answers
from lib.answers.prompt_context import Context
from lib.answers.relevance import answer_relevance
from lib.models.written import Filled
from lib.retrievers import judged
from lib.retrievers.judged import beginnings, choices, judgements, label_of
from lib.stats import Resampling

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


def test_one_prompt_has_all_documents_that_are_allowed_from_their_beginning(written_study):
    texts = ["net sales rose in the year", "cash flow", "profit", "net cash"]
    study = written_study(["cash?", "profit?"], texts, lambda asked: "1", np.array([[0.9, 0.8, 0.7, 0.6]] * 2))
    run = study.rank_method("hybrid_rrf", np.array([[True] * 4, [False, True, False, False]]), 50)
    assert choices(study, run) == {"q0": [2], "q1": [1]}
    first, second = (request.prompt.user for request in study.generator.asked)
    assert "Document 0: net sales rose\n\nDocument 1: cash flow\n\nDocument 2: profit\n" in first
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
    study.candidates = lambda condition: EVERY
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
    assert (np.isfinite(judged.score_corrected(study, allowed)) == allowed).all()
    assert [one.prompt.user.count("Document: ") for one in study.generator.asked].count(0) == 1  # one is rewritten


def test_labels_are_read_also_where_they_are_cut_and_chunks_from_their_beginning_each_pair_once(written_study):
    texts = ["Relevant.", "It is IRRELEV", "AMBIGU", "AMCOR's restructuring", None]
    assert [label_of(text)[:5] for text in texts] == ["RELEV", "IRREL", "AMBIG", "UNREA", "UNREA"]
    study = written_study(["?"], ["net  sales\nrose in the year", "profit", ""], judge(profit=None, net="AMBIGUOUS"))
    ids = study.chunks["chunk_id"].iloc[[1, 0, 2]]
    assert beginnings(study, ids, 4) == ["profit", "net sales rose in", ""]
    pairs = pd.DataFrame({"question_id": "q0", "chunk_id": ids[:2]})
    assert judgements(study, pairs)["label"].tolist() == ["UNREADABLE", "AMBIGUOUS"]  # of the first the judge died
    judgements(study, pairs[1:])
    assert len(study.generator.asked) == 2


def test_context_precision_is_of_the_first_chunks_and_an_answer_as_relevant_as_its_question_is_near(written_study):
    questions = ["cash flow", "profit", "net", "sales"]
    assert precision_of([True, False, True]) == (1 / 1 + 2 / 3) / 2
    study = written_study(questions, CHUNKS, lambda asked: None if "n/a" in asked else "Question: cash")
    run = pd.DataFrame({"question_id": ["q0"] * 2 + ["q1"] * 2, "rank": [1, 2] * 2, "useful": [False, True] * 2})
    for k, value in ((2, 1 / 2), (1, 0)):
        top = judged.first_ranks(run, k)
        assert context_precision(study, top, top["useful"]).loc[["q0", "q1"]].tolist() == [value, value]
    written = Answers(Context("dense", "dense"), {"q0": "$7", "q1": "n/a", "q2": "$8"}, Filled(missing={"q3": "died"}))
    values = answer_relevance(study, written)
    assert values.index.tolist() == ["q0", "q1", "q2", "q3"]
    np.testing.assert_allclose(values, [2**-0.5, 0, 0, 0], atol=1e-6)  # "cash" is half of "cash flow"


def test_a_measure_has_its_means_by_the_judge_and_by_the_gold_and_their_rank_correlation():
    ids = ["q0", "q1", "q2", "q3"]
    measured = pd.DataFrame({"question_id": ids, "judged": [0.1, 0.2, 0.3, 0.4], "gold": [0.9, 0.6, 0.3, 0.2]})
    (row,) = summary(measured.assign(measure="m", name="x"), Resampling(pd.Series(ids, ids), 100)).to_dict("records")
    assert (row["measure"], row["name"], row["n"]) == ("m", "x", 4)
    assert [row[name] for name in ("judged", "gold", "correlation")] == pytest.approx([0.25, 0.5, -1])
    assert row["judged_low"] <= 0.25 <= row["judged_high"]

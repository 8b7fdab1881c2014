"""Answer metrics on answers one can read."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.metrics import answers as m

MILLIONS = "What is the FY2018 capital expenditure amount (in USD millions) for 3M?"
BILLIONS = "What is the year end FY2018 net PPNE for 3M? Answer in USD billions."
RATIO = "What is the FY2017 operating cash flow ratio for Adobe? Round your answer to two decimal places."
MARGIN = "What is Coca Cola's FY2021 COGS % margin?"


numbers = st.lists(st.decimals(-9999, 9999, places=2, allow_nan=False), max_size=4)


@given(numbers, numbers)
def test_loose_match_is_isclose_of_any_pair(predicted, gold):
    prediction, answer = (" and ".join(f"${n:,}" if n >= 0 else f"-${-n:,}" for n in x) for x in (predicted, gold))
    pairs = [(float(p), float(g)) for p in predicted for g in gold]
    expected = any(np.isclose(p, g, atol=0.03, rtol=0.03) for p, g in pairs)
    assert m.numeric_match(prediction, answer) is expected


QUANTITIES = {
    "$1,577 million, $1.577bn, 1577M, US$1.577 billion, 1577 K": [1577e6, 1577e6, 1577e6, 1577e6, 1577e3],
    "($1,577) or $(1,577) million": [-1577.0, -1577e6],
    "(14.76)% or (14.76%) or -14.76 % or −14.76 percent or 14.76\\%": [-14.76, -14.76, -14.76, -14.76, 14.76],
    "capex ($1,577 million), then -$1,561M": [1577e6, -1561e6],
    "in FY2018, 2019 and Q2'23": [],
    "$2016.00, 2016.5, 2,016 and 2016 million": [2016.0, 2016.5, 2016.0, 2016e6],
    "page 48, p. 12, pp. 4-6, Note 3, note 12.1, Item 7A, Table 5": [],
    "10-K, 10-Q, 8-K, 10K; but $10K": [10e3],
    "COVID-19, 777X, the 2nd, H1, v1.5; (1) Current Health (2) Two Peaks": [],
    "1. Revenue rose 3.2\n2) Costs fell 4.1\n- 3. Margin 5.1": [3.2, 4.1, 5.1],
    "- 1,577": [1577.0],  # a list's dash
    "3M spent $3M": [3e6],  # the question's company
}


@pytest.mark.parametrize(("text", "expected"), QUANTITIES.items())
def test_quantities_of_a_text(text, expected):
    assert [q.value for q in m.quantities(text, MILLIONS)] == pytest.approx(expected)


#: Answers that match, and that do not, by gold answer and question.
STRICT = [
    # 1592.77 is off by 1 % exactly
    ("$1577.00", MILLIONS, "$1,577 million;$1.58 billion;1577;$1,592.77;$1,577,000,000", True),
    ("$1577.00", MILLIONS, "$1,593;$1,577 thousand;-$1,577 million;1577%", False),
    ("$8.70", BILLIONS, "$8,738 million", True),
    ("$8.70", BILLIONS, "$8.70 million;8738", False),
    ("39.7%", MARGIN, "39.7%;39.7 percent;0.397;39.7", True),
    ("39.7%", MARGIN, "$39.7;$39.7 million;0.397%", False),
    ("0.66", RATIO, "66%", True),
    ("0.66", RATIO, "0.66%", False),
    ("$1577.00", None, "$1,577 million", False),  # no question, no unit
    ("-0.02", None, "(0.02)", True),
    ("1", None, "1.01", True),  # 1 % up to the last bit
    ("0", None, "0.001", False),
    ("24.26", None, "See Note 24 of the 2018 10-K.", False),  # the loose match is fooled
]


@pytest.mark.parametrize(("answer", "question", "predictions", "is_match"), STRICT)
def test_strict_match(answer, question, predictions, is_match):
    found = {text: m.numeric_match_strict(text, answer, question) for text in predictions.split(";")}
    assert found == dict.fromkeys(found, is_match)


@given(
    st.text(max_size=40), st.text("0123456789.,-−()$%KMBx n", max_size=30), st.sampled_from([None, MILLIONS, MARGIN])
)
def test_numeric_matches_take_any_text(prediction, answer, question):
    m.numeric_match(prediction, answer)
    m.numeric_match_strict(prediction, answer, question)
    if m.quantities(answer, question):
        assert m.numeric_match_strict(answer, answer, question)


def test_token_f1():
    assert m.token_f1("The ratio is 0.66.", "0.66") == 2 * 1 / (3 + 1)  # "the" goes; ratio, is, 066 against 066
    assert m.token_f1("yes yes", "yes yes no") == 2 * 2 / (2 + 3)
    assert m.token_f1("", "yes") == 0
    assert m.token_f1("the", "a") == 1


REFUSALS = {
    " ... ": "empty",
    "N/A": "not available",
    "I cannot determine the ratio.": "do not know",
    "It is not possible to calculate the ratio without the balance sheet.": "unable",
    "The provided context does not contain the cash flow statement.": "source lacks it",
    "There isn't enough information to answer.": "no information",
    "Capex was $1,577 million.": None,
    "No, the quick ratio is not a relevant measure.": None,
    "The context does not state it. However, dividing 10 by 5 gives 2.": None,
    "The context does not state it. However, one may ask the company.": "source lacks it",
}


def test_refusals():
    assert {text: m.refusal_rule(text) for text in REFUSALS} == REFUSALS


def test_numeric_matches_are_for_numeric_questions_and_the_rest_for_all():
    columns = ["question_id", "question", "answer", "question_type", "prediction"]
    rows = [("q1", MILLIONS, "$1577.00", "metrics-generated", "$1.577 billion"), ("q2", "Why?", "Yes", "domain", "No")]
    frame = m.answer_metrics(table := pd.DataFrame(rows, columns=columns))
    assert frame["k"].isna().all()
    of_all, numeric = ("answer_rouge_l", "token_f1", "refusal"), ("numeric_match", "numeric_match_strict")
    expected = {name: ["q1", "q2"] for name in of_all} | {name: ["q1"] for name in numeric}
    assert frame.groupby("metric")["question_id"].agg(list).to_dict() == expected
    scores = frame.set_index(["metric", "question_id"])["value"]
    assert (scores["numeric_match", "q1"], scores["numeric_match_strict", "q1"]) == (0, 1)
    with pytest.raises(ValueError, match="no prediction for q2"):  # it was never written, which is not wrong
        m.answer_metrics(table.assign(prediction=["1", None]))


def test_bert_score_by_hand():
    gold = np.array([[1, 0], [0, 1]], float)  # of tokens east and north; the prediction has one between them
    both = (1 + 2**-0.5) / 2  # precision and recall
    assert m.bert_score(np.array([[1, 0], [2**-0.5, 2**-0.5]]), gold) == pytest.approx(both)
    # one token alone is right, but half of the answer has no better match than cosine 0
    assert m.bert_score(gold[:1], gold) == pytest.approx(2 * 1 * 0.5 / (1 + 0.5))
    assert m.bert_score(gold[:0], gold) == m.bert_score(-gold[:1], gold[:1]) == 0

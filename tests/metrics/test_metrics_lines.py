"""A line of the evidence counts where it stands in the chunks read of a gold page, also where two of them share it."""

import pandas as pd

from lib.metrics.lines import evidence_lines, joined, line_recall

PAGE = "Cash flows (millions)\nNet cash provided by operations\n$\n5,363\nCapital expenditures\n(1,577)\n"


def test_lines_are_letters_and_digits():
    lines = {
        "Net sales\n$\n5,363 \n(57)\nNet  SALES": ["netsales", "5363"],  # a sign and two digits are no line
        "Net sales & 1,577 \\\\ Cash & $2,000$": ["netsales", "1577", "cash", "2000"],  # cells of a table
        "It rose. It fell by 3.5 points.": ["itrose", "itfellby35points"],
        "57": ["57"],  # too short a line is better than none
    }
    assert {text: evidence_lines(text) for text in lines} == lines


def spans(*places, **given) -> pd.DataFrame:
    rows = [(PAGE[start:end], start, end) for start, end in places]
    return pd.DataFrame(rows, columns=["text", "start", "end"]).assign(**given)


def test_spans_that_overlap_are_one_text_and_others_are_apart():
    assert joined(spans((30, 60), (0, 40), (5, 20))) == joined(spans((0, 60)))
    assert joined(spans((0, 10), (20, 30))).count("\n") == 1
    assert joined(spans((0, 10), (0, 10)).assign(start=-1, end=-1)).count("\n") == 1  # no places on the page


def test_line_recall_is_the_share_of_lines_on_the_gold_pages_that_are_read():
    evidence = "Net cash provided by operations\n5,363\nCapital expenditures\n(1,577)"
    questions = pd.DataFrame({"question_id": ["a", "b", "c"], "doc_name": "A", "evidence": evidence})
    questions["gold_pages"] = [[7], [7], [7]]
    cut = PAGE.index("cash provided")
    parts = [
        spans((0, cut + 9), (cut, PAGE.index("Capital")), question_id="a", doc_name="A", page=7),  # a line in both
        spans((0, len(PAGE)), question_id="b", doc_name="A", page=8),  # the same lines on another page
        spans((0, len(PAGE)), question_id="b", doc_name="B", page=7),
    ]
    read = pd.concat(parts)
    assert line_recall(read, questions).to_dict() == {"a": 0.5, "b": 0, "c": 0}
    assert line_recall(read[:0], questions).tolist() == [0, 0, 0]

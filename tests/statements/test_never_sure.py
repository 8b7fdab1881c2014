"""Inputs as filings and questions have them for which a figure would be read wrongly: none of them is sure."""

import pytest

from lib.statements.rows import sheet
from lib.statements.sure import reading

NAMED = {"NORVANE_2023_10K": ("Norvane",)}
HEAD = "NORVANE|CONSOLIDATED STATEMENTS OF INCOME|(in millions)|"
B = "NORVANE|CONSOLIDATED BALANCE SHEETS|(in millions)|"
INCOME = (
    HEAD + "Years ended December 31,|2023|2022|Revenue|100|90|Cost of sales|60|50|Gross profit|40|40|"
    "Income before income taxes|20|40|Interest expense|4|5|Net income|10|30"
)
BALANCE = (
    B + "December 31,|2023|2022|Cash and cash equivalents|10|9|Inventories|40|20|Goodwill|50|40|Total assets|200|180|"
)
BALANCE += "Short-term investments|5|4|Long-term debt|63|70|Total stockholders' equity|80|70"
CASH = "NORVANE|CONSOLIDATED STATEMENTS OF CASH FLOWS|(in millions)|Years ended December 31,|2023|2022|"
CASH += "Net cash provided by operating activities|25|35"
OBLIGATIONS = "NORVANE|CONTRACTUAL OBLIGATIONS|(in millions)|2024|2025|2026|2027|Operating leases|5|4|3|2"
JANUARY = HEAD + "January 28, 2024|January 29, 2023|January 30, 2022|Revenue|300|200|100|Net income|30|20|10"
INVESTEE = "Note 9. Equity method investments|Summarized financial information of Alder Holdings (in millions):|"
INVESTEE += "Years ended December 31,|2023|2022|Revenue|1,100|990|Cost of sales|600|500|Gross profit|500|490|"
INVESTEE += "Operating income|200|140|Interest expense|40|20|Income tax expense|60|40|Net income|100|80"
PERIODS = HEAD + "Three Months Ended June 30,|Six Months Ended June 30,|2023|2022|2023|2022|Revenue|100|90|300|270|"
PERIODS += "Net income|10|9|30|27"
MIXED = HEAD + "Three Months Ended December 31,|Year Ended December 31,|2023|2022|2023|2022|2021|"
MIXED += "Revenue|30|25|100|90|80"
SMALL = HEAD.replace("millions", "billions") + "2023|2022|2023|2022|Third Quarter|First Nine Months|Revenues|"
SMALL += "Net sales|0.9|0.8|2.6|2.4|Cost of sales|0.5|0.4|1.4|1.3|Net income|0.3|0.2|0.9|0.8"
NETS = B + "December 31,|2023|2022|Intangible assets|22|20|Other intangible assets, net|7|6|Total assets|200|180"
NEXT = B + "Accounts payable|20|15|Long-term debt|60|70|The following table shows our capital structure.|2022|2023|"
ANNUAL = [INCOME, BALANCE, CASH]


def answer(question: str, texts: list[str], before: str = "", quarter: int | None = None):
    """The reading of a question from pages; ``|`` is a new line."""
    lined = [text.replace("|", "\n") for text in texts]
    about = {"quarter": quarter, "before": before.replace("|", "\n")}
    sheets = [sheet("NORVANE_2023_10K", page, 2023, text, **about) for page, text in enumerate(lined)]
    return reading(question, NAMED, sheets)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What was Norvane's net income in 2023?", [INVESTEE]),
        ("What was Norvane's operating margin in 2023?", ["Segment results|2023|2022|Operating margin|18.2%|14.1%"]),
        ("What was Norvane's return on assets in 2023?", ["Pension|2023|2022|Return on assets|7.5%|7.0%"]),
        ("What was Norvane's revenue in FY2023?", [MIXED]),
        ("What was Norvane's net income in 2023?", [SMALL]),
        ("What was Norvane's revenue less cost of sales in 2023, and by how much did that change from 2022?", ANNUAL),
        ("What was Norvane's ratio of goodwill to equity in 2023, and how much did it change from 2022?", ANNUAL),
        ("What was Norvane's net income as a percentage of revenue in 2023, and how much did that change?", ANNUAL),
        ("What was Norvane's revenue in 2023 in USD thousands, and what was its net income?", ANNUAL),
        ("What was Norvane's revenue and how much was its net income in 2022?", ANNUAL),
        ("What was Norvane's gross margin in 2023, and what was it in the prior year?", ANNUAL),
        ("What was Norvane's gross margin in the prior year?", ANNUAL),
        ("What was Norvane's current ratio in 2023? Goodwill is defined as cash plus long-term debt.", ANNUAL),
        ("What was Norvane's debt to equity ratio in 2023? Debt is defined as long-term debt plus short-term"
         " investments.", ANNUAL),
    ],
)  # fmt: skip
def test_it_is_not_sure(question, texts):
    found = answer(question, texts)
    assert not found.is_sure, found.result


@pytest.mark.parametrize(
    "question",
    [
        "What was Norvane's revenue in the three months ended June 30, 2023, and what was its net income?",
        "What was Norvane's revenue for the three months ended June 30, 2023? By how much did it increase?",
        "What was Norvane's revenue in H1 2023, and what was its net income?",
    ],
)
def test_a_period_of_months_is_not_lost_between_two_questions(question):
    assert not answer(question, [PERIODS], quarter=2).is_sure


@pytest.mark.parametrize(
    ("question", "texts", "right"),
    [
        ("What was Norvane's revenue in FY2023?", [JANUARY, OBLIGATIONS], "300 (in millions)"),
        ("What was Norvane's revenue in FY2022?", [JANUARY, OBLIGATIONS], "200 (in millions)"),
        ("What was Norvane's operating cash flow divided by cash in 2023? Cash is defined as cash plus short-term"
         " investments.", ANNUAL, "1.67"),
        ("What was Norvane's return on assets in 2023? Use net income and year-end total assets.", ANNUAL, "5.00%"),
        ("What were Norvane's intangible assets in 2023?", [NETS], "22 (in millions)"),
        ("What was Norvane's days of inventory in 2023, using ending inventory and cost of sales?", ANNUAL, "243.33"),
    ],
)  # fmt: skip
def test_what_is_read_in_their_place_is_right(question, texts, right):
    assert answer(question, texts).result.text == right


def test_a_head_at_the_foot_of_a_page_is_of_the_next_table_and_notes_go_on():
    before = B + "December 31,|2023|2022|Goodwill|50|40|"
    found = answer("What was Norvane's long-term debt in 2023?", [NEXT], before)
    assert found.result.text == "60 (in millions)"
    noted = B + "Note|2023|2022|Goodwill|3|50|40|"
    assert not answer("What was Norvane's long-term debt in 2023?", [B + "Long-term debt|12|60|"], noted).is_sure


def test_a_figure_of_a_sentence_is_quoted_with_its_words_and_said_to_be_unsure():
    text = "We operate 24 depots for the warehouses that the company operated at the end of fiscal 2023."
    why_not = answer("How many warehouses did Norvane operate at the end of fiscal 2023?", [text]).vetoes
    assert why_not[0] == f"24 was read in a sentence, “{text}”, and a figure is sure only where a table has it"

"""Two invented filings, three questions, and pairs of questions and pages with two features."""

import numpy as np
import pandas as pd
import pytest

from lib.ahead.pool import Pool
from lib.ahead.sets import Union
from lib.study import Study

BALANCE = """Consolidated Balance Sheets (in millions) 2021 2020
Cash and cash equivalents 120 110 Accounts receivable 40 30 Inventories 25 20 Total current assets 185 160
Goodwill 50 50 Total assets 535 490 Total current liabilities 90 85 Total liabilities 240 235"""
INCOME = """Consolidated Statements of Income (in millions) 2021 2020
Net sales 900 850 Cost of sales 500 480 Gross profit 400 370 Operating income 200 180
Provision for income taxes 40 36 Net income 152 136 Earnings per share diluted 1.52 1.36"""
CASH = """Consolidated Statements of Cash Flows (in millions) 2021 2020
Net income 152 136 Depreciation and amortization 45 44 Net cash provided by operating activities 190 170
Capital expenditures (60) (55) Net cash used in investing activities (60) (55) Dividends paid (30) (28)"""
LEGAL = "Legal proceedings. A class action lawsuit alleging defects is before the court; we deny the complaint."


def cover(name: str, form: str = "10-K", ended: str = "December 31, 2021") -> str:
    """A filing's first page."""
    return f"FORM {form}\nFor the period ended {ended}\n{name}\n(Exact name of registrant as specified in its charter)"


@pytest.fixture
def study(folder, open_words) -> Study:
    """Two annual reports of invented companies, and three questions."""
    for name in ("GLIMMERFEN MILLS, INC.", "OSKARVALE PLC"):
        folder.pdf(f"{name.split()[0]}_2021_10K", cover(name), BALANCE, INCOME, CASH, LEGAL, "")
    asked = folder.question
    asked("q1", "GLIMMERFEN_2021_10K", (1, BALANCE), question="What are Glimmerfen's total assets in FY2021?")
    asked("q2", "OSKARVALE_2021_10K", (3, CASH), (1, BALANCE), question="What is Oskarvale's capital expenditure?")
    asked("q3", "OSKARVALE_2021_10K", (4, LEGAL), question="Is there any lawsuit against Oskarvale?")
    return open_words(name="words")


@pytest.fixture
def union() -> Union:
    """Four questions, the last of another set; three pages, one of each company; gold is the own company's page."""
    questions = pd.DataFrame({"company": ["ash", "ash", "birch", "cedar"], "set": ["own"] * 3 + ["other"]})
    questions["question_id"] = ["q0", "q1", "q2", "q3"]
    rows, columns = np.divmod(np.arange(12), 3)
    page_companies = np.array(["ash", "birch", "cedar"])
    gold = page_companies[columns] == questions["company"].to_numpy()[rows]
    table = pd.DataFrame({"plain": -1.0 * columns, "span": 1.0 * gold}).astype(np.float32)
    views = {"plain": ["plain"], "span": ["span"]}
    pool, twins = Pool(rows, columns, table, gold, views), np.eye(4, dtype=bool)
    twins[[0, 2], [2, 0]] = True  # what is asked of ash is also asked of birch
    return Union(questions, pool, gold, np.ones(4, int), page_companies, gold, twins, np.eye(4, dtype=bool))

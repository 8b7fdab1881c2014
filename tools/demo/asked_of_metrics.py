"""Metrics-generated questions: a formula over lines of the statements, computed from the books."""

from collections.abc import Callable
from dataclasses import dataclass

from tools.demo.companies import COMPANIES
from tools.demo.ledger import Books
from tools.demo.notes import Ledger
from tools.demo.questions import EXTRACTION, NUMERICAL, Question
from tools.demo.statements import label

_Years = Callable[[int], Books]  # years back -> books


@dataclass(frozen=True)
class _Metric:
    """``lines`` are those that the formula reads; ``value`` maps years back to the printed answer."""

    doc: tuple[str, int]
    question: str
    marks: tuple[str, ...]
    lines: tuple[str, ...]
    value: Callable[[_Years], str]
    is_extracted: bool = False  # read off one line as it stands


def _mean(back: _Years, line: str) -> float:
    """The mean of the balances at the end of this year and of the last."""
    return (back(0)[line] + back(1)[line]) / 2


_METRICS = (
    _Metric(
        ("TARNBECK", 2021),
        "What is the FY2021 capital expenditure amount (in USD millions) for {short}? Give a response to the question "
        "by relying on the details shown in the cash flow statement.",
        ("cash_flow",), ("capex",),
        lambda back: f"${back(0)['capex']:.2f}",
        is_extracted=True,
    ),
    _Metric(
        ("TARNBECK", 2020),
        "Assume that you are a public equities analyst. Answer the following question by primarily using information "
        "that is shown in the balance sheet: what is the year end FY2020 net PPNE for {short}? Answer in USD billions.",
        ("assets",), ("ppe",),
        lambda back: f"${back(0)['ppe'] / 1000:.2f}",
        is_extracted=True,
    ),
    _Metric(
        ("TARNBECK", 2022),
        "What is the FY2022 fixed asset turnover ratio for {short}? Fixed asset turnover ratio is defined as: FY2022 "
        "revenue / (average PP&E between FY2021 and FY2022). Round your answer to two decimal places. Base your "
        "judgments on the information provided primarily in the statement of income and the statement of financial "
        "position.",
        ("income", "assets"), ("revenue", "ppe"),
        lambda back: f"{back(0)['revenue'] / _mean(back, 'ppe'):.2f}",
    ),
    _Metric(
        ("TARNBECK", 2021),
        "What is {short}'s FY2021 days payable outstanding (DPO)? DPO is defined as: 365 * (average accounts payable "
        "between FY2020 and FY2021) / (FY2021 COGS + change in inventory between FY2020 and FY2021). Round your answer "
        "to two decimal places. Address the question by using the line items and information shown within the balance "
        "sheet and the P&L statement.",
        ("income", "assets", "liabilities"), ("payables", "cost_of_sales", "inventories"),
        lambda back: "%.2f" % (
            365 * _mean(back, "payables")
            / (back(0)["cost_of_sales"] + back(0)["inventories"] - back(1)["inventories"])
        ),
    ),
    _Metric(
        ("TARNBECK", 2022),
        "Basing your judgments off of the cash flow statement and the income statement, what is {short}'s FY2022 "
        "unadjusted operating income + depreciation and amortization from the cash flow statement (unadjusted EBITDA) "
        "in USD millions?",
        ("income", "cash_flow"), ("operating_income", "depreciation_amortization"),
        lambda back: f"${back(0)['operating_income'] + back(0)['depreciation_amortization']:.2f}",
    ),
    _Metric(
        ("ORVELLOW", 2021),
        "What is {short}'s year end FY2021 net AR (in USD millions)? Address the question by adopting the perspective "
        "of a financial analyst who can only use the details shown within the balance sheet.",
        ("assets",), ("receivables",),
        lambda back: f"${back(0)['receivables']:.2f}",
        is_extracted=True,
    ),
    _Metric(
        ("ORVELLOW", 2022),
        "You are an investment banker and your only resource(s) to answer the following question is (are): the "
        "statement of financial position and the cash flow statement. Here's the question: what is the FY2022 "
        "operating cash flow ratio for {short}? Operating cash flow ratio is defined as: cash from operations / total "
        "current liabilities. Round your answer to two decimal places.",
        ("liabilities", "cash_flow"), ("operating_cash", "current_liabilities"),
        lambda back: f"{back(0)['operating_cash'] / back(0)['current_liabilities']:.2f}",
    ),
    _Metric(
        ("ORVELLOW", 2022),
        "What is the FY2020 - FY2022 3 year average of capex as a % of revenue for {short}? Answer in units of "
        "percents and round to one decimal place. Calculate (or extract) the answer from the statement of income and "
        "the cash flow statement.",
        ("income", "cash_flow"), ("capex", "revenue"),
        lambda back: f"{100 * sum(back(i)['capex'] / back(i)['revenue'] for i in range(3)) / 3:.1f}%",
    ),
    _Metric(
        ("ORVELLOW", 2021),
        "How much (in USD billions) did {short} pay out in cash dividends for FY2021? Compute or extract the answer by "
        "primarily using the details outlined in the statement of cash flows.",
        ("cash_flow",), ("dividends",),
        lambda back: f"${back(0)['dividends'] / 1000:.2f}",
        is_extracted=True,
    ),
    _Metric(
        ("ORVELLOW", 2022),
        "We need to calculate a reasonable approximation (or exact number if possible) of a financial metric. Basing "
        "your judgment by information plainly provided in the statement of financial position, what is {short}'s "
        "FY2022 working capital ratio? Define working capital ratio as total current assets divided by total current "
        "liabilities. Round your answer to two decimal places.",
        ("assets", "liabilities"), ("current_assets", "current_liabilities"),
        lambda back: f"{back(0)['current_assets'] / back(0)['current_liabilities']:.2f}",
    ),
    _Metric(
        ("VEYLORIA", 2021),
        "Answer the following question as if you are an equity research analyst and have lost internet connection so "
        "you do not have access to financial metric providers. According to the details clearly outlined within the "
        "P&L statement and the statement of cash flows, what is the FY2021 depreciation and amortization (D&A from "
        "cash flow statement) % margin for {short}?",
        ("income", "cash_flow"), ("depreciation_amortization", "revenue"),
        lambda back: f"{100 * back(0)['depreciation_amortization'] / back(0)['revenue']:.1f}%",
    ),
    _Metric(
        ("VEYLORIA", 2022),
        "Based on the information provided primarily in the statement of financial position and the statement of "
        "income, what is {short}'s FY2022 return on assets (ROA)? ROA is defined as: FY2022 net income / (average "
        "total assets between FY2021 and FY2022). Round your answer to two decimal places.",
        ("income", "assets"), ("net_income", "total_assets"),
        lambda back: f"{back(0)['net_income'] / _mean(back, 'total_assets'):.2f}",
    ),
    _Metric(
        ("VEYLORIA", 2022),
        "What is {short}'s year-over-year change in unadjusted operating income from FY2021 to FY2022 (in units of "
        "percents and round to one decimal place)? Give a solution to the question by using the income statement.",
        ("income",), ("operating_income",),
        lambda back: f"{100 * (back(0)['operating_income'] / back(1)['operating_income'] - 1):.1f}%",
    ),
    _Metric(
        ("VEYLORIA", 2021),
        "What is the FY2021 inventory turnover ratio for {short}? Inventory turnover ratio is defined as: (FY2021 "
        "COGS) / (average inventory between FY2020 and FY2021). Round your answer to two decimal places. Please base "
        "your judgments on the information provided primarily in the balance sheet and the P&L statement.",
        ("income", "assets"), ("cost_of_sales", "inventories"),
        lambda back: f"{back(0)['cost_of_sales'] / _mean(back, 'inventories'):.2f}",
    ),
)  # fmt: skip


def questions(books: dict[str, Ledger]) -> list[Question]:
    """One question for each metric."""
    return [_question(metric, books[metric.doc[0]]) for metric in _METRICS]


def _question(metric: _Metric, ledger: Ledger) -> Question:
    key, year = metric.doc
    company = COMPANIES[key]
    names = [label(company, line) for line in metric.lines]
    if metric.is_extracted:
        why = f"Directly extracted from the company 10K. The line item name, as seen in the 10K, was: {names[0]}."
    else:
        why = "The metric in question was calculated using other simpler metrics. " + " ".join(
            f"Metric {number}: located in the 10K as a single line item named: {name}."
            for number, name in enumerate(names, start=1)
        )
    return Question(
        kind="metrics-generated",
        doc_name=f"{key}_{year}_10K",
        question=metric.question.format(short=company.short),
        answer=metric.value(lambda years: ledger[year - years, 4]),
        marks=metric.marks,
        justification=why,
        reasoning=EXTRACTION if metric.is_extracted else NUMERICAL,
    )

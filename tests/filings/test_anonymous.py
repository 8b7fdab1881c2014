"""What a question asks, without its company and its periods."""

from lib.filings.anonymous import anonymous

NAMES = ["Quill & Quarry, Inc.", "OSKARVALE PLC", "Advanced Micro Devices, Inc."]
ASKED = {
    "Why did Oskarvale's margin fall in FY2021?": "Why did the company's margin fall ?",
    "What was Quill & Quarry's debt as of year end 2021?": "What was the company's debt ?",
    "Did they cut jobs during the second quarter of 2022, and why?": "Did they cut jobs , and why?",
    "Which risks does AMD name for Q2 2023?": "Which risks does the company name ?",
    "How did OSKARVALE PLC do between 2019 and 2021?": "How did the company do ?",
    "Did quill prices rise over 2,021 shops?": "Did quill prices rise over 2,021 shops?",
    "What did the CEO say of fiscal year 2020-21?": "What did the CEO say ?",
}


def test_names_become_the_company_and_periods_go():
    assert {question: anonymous(question, NAMES) for question in ASKED} == ASKED
    assert anonymous("Why did Oskarvale close it in 2021?", []) == "Why did Oskarvale close it ?"

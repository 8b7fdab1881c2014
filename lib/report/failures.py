"""What was retrieved instead of a missed gold page: kinds of failures, decided by stated rules.

Rules look at page texts, names and periods of filings, and at ranks; none looks at the question's evidence text.
"""

import re

import pandas as pd

from lib.metrics.retrieval import gold_pages

AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})+|\d+\.\d")
MIN_AMOUNTS = 15
#: A page is a statement if its name stands on the page, with these line items and MIN_AMOUNTS amounts.
STATEMENTS = {
    "cash flow statement": (r"statements? of (?:consolidated )?cash ?flow", "operating activities", "investing activities",
                            "financing activities", r"(?:end|beginning) of (?:the )?(?:period|year|quarter)"),
    "balance sheet": (r"balance shee|statements? of (?:consolidated )?financial (?:position|condition)",
                      "total assets", "liabilities", "equity|deficit", "receivable|inventor|loans"),
    "income statement": (r"statements? of (?:consolidated )?(?:income|operations|earnings|(?:comprehensive )?loss)"
                         r"|income statement|results of operations", "income tax", "per (?:common )?share|diluted",
                         "interest", r"net (?:income|earnings|loss|\(loss\))"),
}  # fmt: skip
SUMMARY = re.compile(
    r"selected (?:consolidated )?(?:financial|quarterly)|highlights|(?:five|ten)-year|financial summary|overview"
    r"|results of operations|management.s discussion|financial review",
    re.IGNORECASE,
)

"""The page on ``ask``: ten questions on the demo with what it answers, and how often it is right on both sets."""

import json
from pathlib import Path

import pandas as pd

from lib.answers.sure import fitted
from lib.book.templates import filled
from lib.metrics.right import answer_right

FILE = Path(__file__).with_name("asked.json")


def asked_page() -> str:
    """The page, of what ``extras.asked`` and ``extras.sure`` wrote."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    for one in found:
        is_right = one["answer"] is not None and answer_right(one["answer"], one["reference"], one["question"])
        one["outcome"] = "no answer" if one["answer"] is None else "right" if is_right else "wrong"
    return filled("asked", asked=found, model=fitted(), measured=measured())


def measured() -> pd.DataFrame:
    """What was measured of answers in folds by company, with headings."""
    shares = {
        "right_of_read": "Right of all readings",
        "answered": "Answered",
        "right_of_answered": "Right of answered",
    }
    rows = pd.DataFrame(fitted()["measured"]).rename(columns={"set": "Questions", "n": "n", "n_companies": "Companies"})
    for name, heading in shares.items():
        rows[heading] = rows.pop(name).map("{:.0%}".format)
    return rows.drop(columns="read")

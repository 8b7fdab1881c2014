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
    """What was measured of answers in folds by company, with headings: each share with the questions that it is of."""
    rows = pd.DataFrame(fitted()["measured"])
    answered = rows["answered"] * rows["n"]
    return pd.DataFrame(
        {
            "Questions": rows["set"],
            "n": rows["n"],
            "Companies": rows["n_companies"],
            "Read": rows["read"],
            "Right of those": rows["right_of_read"].map("{:.0%}".format),
            "Answered": [f"{n:.1f} ({share:.0%})" for n, share in zip(answered, rows["answered"], strict=True)],
            "Right of answered": rows["right_of_answered"].map("{:.0%}".format),
        }
    )

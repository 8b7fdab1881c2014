"""What questions are sorted by: type, filing, number and depth of gold pages, what they name."""

import re

import numpy as np
import pandas as pd

YEAR = re.compile(r"\b(?:19|20)\d\d\b|\bFY\s?['’]?\d\d", re.IGNORECASE)
THIRDS = ("first third", "middle third", "last third")
NAMED = ("company and year", "company only", "year only", "neither")


def names_company(question: str, company: str) -> bool:
    """Whether a question says whom it is about: the name's first word, or a short form such as JPM, JnJ or AMEX.

    A short form is a word with two capital letters or more whose letters stand in the company's name in that order,
    the first of them first.
    """
    first = re.split(r"[\s-]", company.strip())[0]
    if re.search(rf"\b{re.escape(first)}", question, re.IGNORECASE):
        return True
    letters = re.sub(r"\W", "", company).lower()
    short_forms = [
        word.lower() for word in re.findall(r"[A-Za-z]{2,}", question) if sum(map(str.isupper, word)) > 1
    ]
    return any(word[0] == letters[0] and _is_subsequence(word, letters) for word in short_forms)


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(letter in rest for letter in short)


def labels(study) -> pd.DataFrame:
    """What each question is sorted by, indexed by question_id.

    Returns:
        question_type, doc_type, company; ``n_gold_pages``: 1, or 2 or more; ``depth``: how far into the filing the
        first gold page lies, in thirds of the questions (ordered; equal depths stay together).
    """
    questions = study.questions.set_index("question_id")
    n_pages = questions["doc_name"].map(study.filings.set_index("doc_name")["n_pages"])
    depth = 100 * questions["gold_pages"].map(min) / n_pages
    third = (3 * (depth.rank() - 0.5) / len(depth)).astype(int)
    span = depth.groupby(third).agg(["min", "max"])
    between = {n: f"{THIRDS[n]} ({row['min']:.0f} to {row['max']:.0f} %)" for n, row in span.iterrows()}
    return questions[["question_type", "doc_type", "company"]].assign(
        n_gold_pages=np.where(questions["gold_pages"].map(len) > 1, "2 or more", "1"),
        depth=pd.Categorical(third.map(between), list(between.values()), ordered=True),
    )


def named(questions: pd.DataFrame) -> pd.Series:
    """Whether each question names its company and a year (one of NAMED), indexed by question_id."""
    asked = questions[["question", "company"]].itertuples(index=False)
    has_company = np.array([names_company(question, company) for question, company in asked], bool)
    has_year = questions["question"].str.contains(YEAR).to_numpy(bool)
    label = np.select([has_company & has_year, has_company, has_year], NAMED[:3], NAMED[3])
    return pd.Series(label, pd.Index(questions["question_id"]), name="named")

"""Features of how well a question fits a filing's identity and a page's kind.

A missing number (the question names no year) is NaN, which the trees take as it is.
"""

from collections.abc import Sequence

import numpy as np

from lib.ahead.identity import AskedPeriod, FilingIdentity, asked_period, company_match
from lib.ahead.page_kinds import STATEMENTS, kind_columns, kinds, question_kinds
from lib.ahead.pages import LAST_RANK, Pages

PERIOD_FEATURES = ("year_gap", "quarter_fit", "type_fit", "days")
MAX_YEAR_GAP = 3.0
DAYS_SCALE = 7
LEAST_ITEMS = -3.0  # standardised; below every page of a kind that is asked for


def identity_features(
    questions: Sequence[str], identities: Sequence[FilingIdentity]
) -> dict[str, np.ndarray]:
    """How well each filing's identity fits each question, each of shape (n_questions, n_filings).

    Returns:
        company (0 to 1), company_named (the best company's), and PERIOD_FEATURES.
    """
    company = company_match(questions, identities)
    asked = [asked_period(question) for question in questions]
    periods = np.array([[_period_fit(one, filing) for filing in identities] for one in asked], np.float32)
    periods = periods.reshape(*company.shape, len(PERIOD_FEATURES))
    by_name = {name: periods[..., column].copy() for column, name in enumerate(PERIOD_FEATURES)}
    named = np.broadcast_to(company.max(axis=1, initial=0, keepdims=True), company.shape)
    return {"company": company, "company_named": named} | by_name


def _period_fit(asked: AskedPeriod, filing: FilingIdentity) -> tuple[float, float, float, float]:
    """Years that the filing is later, agreement of quarters (-1, 0 or 1) and of types, days between nearest dates."""
    year_gap = quarter_fit = type_fit = days = np.nan
    if asked.year and filing.year:
        year_gap = filing.year - asked.year
    if asked.quarter:
        quarter_fit = 0.0 if filing.quarter is None else 1.0 if filing.quarter == asked.quarter else -1.0
    if asked.doc_type:
        type_fit = float(asked.doc_type == filing.doc_type)
    if asked.dates and filing.dates:
        days = min(abs((a - b).days) for a in asked.dates for b in filing.dates)
    return year_gap, quarter_fit, type_fit, days


def identity_score(features: dict[str, np.ndarray]) -> np.ndarray:
    """The fit of a filing's identity as one number, shape (n_questions, n_filings); the weights are not trained."""
    year = np.nan_to_num(-np.minimum(np.abs(features["year_gap"]), MAX_YEAR_GAP), nan=0.0)
    date = np.nan_to_num(np.exp(-features["days"] / DAYS_SCALE), nan=0.0)
    quarter, doc_type = np.nan_to_num(features["quarter_fit"]), np.nan_to_num(features["type_fit"])
    score = 4.0 * features["company"] + 1.5 * year + 1.0 * quarter + 0.5 * doc_type + 1.0 * date
    return score.astype(np.float32)


def identity_pair_features(
    features: dict[str, np.ndarray], rows: np.ndarray, filings: np.ndarray
) -> dict[str, np.ndarray]:
    """Identity features of pairs of question and filing: rows and filings of shape (n_pairs,)."""
    score = identity_score(features)
    pairs = {name: values[rows, filings] for name, values in features.items()}
    pairs["identity"] = score[rows, filings]
    pairs["identity_gap"] = (score - score.max(axis=1, keepdims=True))[rows, filings]
    return pairs


def closeness(pairs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Features of pairs that grow as year and date come closer; a missing year counts as a middling one."""
    middle = MAX_YEAR_GAP / 2
    gap = np.minimum(np.abs(np.nan_to_num(pairs["year_gap"], nan=middle)), MAX_YEAR_GAP)
    return {
        "same_year": pairs["year_gap"] == 0,
        "near_year": middle - gap,
        "near_date": np.exp(-np.nan_to_num(pairs["days"], nan=np.inf) / DAYS_SCALE),
    }


def kind_features(questions: Sequence[str], pages: Pages) -> dict[str, np.ndarray]:
    """How well each page's kind fits what each question needs, each float32 of shape (n_questions, n_pages)."""
    asked, implied = question_kinds(questions)
    primary = kind_columns()
    other = kind_columns([name for name in kinds() if name not in STATEMENTS])
    named = asked[:, primary]
    any_named = named.any(axis=1, keepdims=True)
    needed = np.where(any_named, named, implied[:, primary])
    relative = pages.statements / np.maximum(pages.groups.best(pages.statements.T).T, 1)
    ranks = np.minimum(pages.statement_ranks, LAST_RANK)
    has_title = np.minimum(pages.titles[:, other], 1)
    items = ((pages.items - pages.items.mean(axis=0)) / (pages.items.std(axis=0) + 1e-6))[:, other]
    n_pages = len(pages.filing)
    features = {
        "statement_fit": _best_of(needed, relative, 0.0),
        "statement_rank": -_best_of(needed, -ranks, -(LAST_RANK + 1.0)),
        "n_statements": np.repeat(needed.sum(axis=1, keepdims=True), n_pages, axis=1),
        "statements_named": np.repeat(any_named, n_pages, axis=1),
        "asked_titles": asked[:, other].astype(np.float32) @ has_title.T,
        "asked_items": _mean_of(asked[:, other], items),
        "asked_items_best": _best_of(asked[:, other], items, LEAST_ITEMS),
        "implied_titles": implied[:, other].astype(np.float32) @ has_title.T,
        "implied_items": _mean_of(implied[:, other], items),
    }
    return {name: values.astype(np.float32) for name, values in features.items()}


def _best_of(needed: np.ndarray, strength: np.ndarray, otherwise: float) -> np.ndarray:
    """The largest strength among each question's needed kinds, shape (n_questions, n_pages)."""
    return np.stack([strength[:, row].max(axis=1, initial=otherwise) for row in needed])


def _mean_of(needed: np.ndarray, strength: np.ndarray) -> np.ndarray:
    return (needed.astype(np.float32) @ strength.T) / np.maximum(needed.sum(axis=1, keepdims=True), 1)

"""Features of how well a question fits a filing's identity and a page's kind.

A missing number (the question names no year) is NaN, which the trees take as it is.
"""

from collections.abc import Sequence

import numpy as np

from lib.ahead.identity import AskedPeriod, FilingIdentity, asked_period, company_match
from lib.ahead.page_kinds import STATEMENTS, kind_columns, kinds, question_kinds
from lib.ahead.pages import LAST_RANK, Pages

MAX_YEAR_GAP = 3.0
DAYS_SCALE = 7
LEAST_ITEMS = -3.0  # standardised; below every page of a kind that is asked for


def identity_features(
    questions: Sequence[str], identities: Sequence[FilingIdentity]
) -> dict[str, np.ndarray]:
    """How well each filing's identity fits each question, each of shape (n_questions, n_filings).

    Returns:
        company (0 to 1), company_named (the best company's), year_gap (years that the filing is later), quarter_fit
        (-1, 0 or 1), type_fit, days (between nearest dates); identity (the sum of all by weights that are not trained)
        and its gap to the best filing's; same_year, near_year and near_date, which grow as year and date come closer.
    """
    company = company_match(questions, identities)
    asked = [asked_period(question) for question in questions]
    fits = np.array([[_period_fit(one, filing) for filing in identities] for one in asked], np.float32)
    year_gap, quarter_fit, type_fit, days = np.moveaxis(fits.reshape(*company.shape, 4), -1, 0).copy()
    distance, near_date = np.minimum(np.abs(year_gap), MAX_YEAR_GAP), np.exp(-days / DAYS_SCALE)
    identity = 4.0 * company - 1.5 * np.nan_to_num(distance)
    identity = (
        identity + np.nan_to_num(quarter_fit) + 0.5 * np.nan_to_num(type_fit) + np.nan_to_num(near_date)
    )
    identity = identity.astype(np.float32)
    middle = MAX_YEAR_GAP / 2
    return {
        "company": company,
        "company_named": np.broadcast_to(company.max(axis=1, initial=0, keepdims=True), company.shape),
        "year_gap": year_gap,
        "quarter_fit": quarter_fit,
        "type_fit": type_fit,
        "days": days,
        "identity": identity,
        "identity_gap": identity - identity.max(axis=1, keepdims=True),
        "same_year": year_gap == 0,
        "near_year": middle - np.nan_to_num(distance, nan=middle),
        "near_date": np.nan_to_num(near_date),
    }


def _period_fit(asked: AskedPeriod, filing: FilingIdentity) -> tuple[float, float, float, float]:
    """The year gap, the agreement of quarters and of types, and the days between the nearest dates."""
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

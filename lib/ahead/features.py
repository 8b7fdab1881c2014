"""What is said to the combiner about a question and a page: cheap numbers, no model.

Every view is told raw, against all pages and against the pages of the same filing, because a page is wanted first for
its filing and then for what it is within it. A missing number (no year is named) is NaN, which trees take as it is.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.ahead.identity import TYPES, Asked, FilingIdentity, asked, company_match
from lib.ahead.page_kinds import STATEMENTS, kinds, question_wants

IDENTITY_WEIGHTS = {"company": 4.0, "year": 1.5, "quarter": 1.0, "type": 0.5, "date": 1.0}


@dataclass(frozen=True)
class Pages:
    """What is known of every page before a question comes.

    Attributes:
        filing: row of the page's filing, shape (n_pages,), not falling within a filing's run.
        place: page number from 0.
        n_pages: pages of its filing.
        titles, items: strengths by kind, shape (n_pages, n_kinds).
        shape: log length and share of digits, shape (n_pages, 2).
    """

    filing: np.ndarray
    place: np.ndarray
    n_pages: np.ndarray
    titles: np.ndarray
    items: np.ndarray
    shape: np.ndarray


def describe_pages(
    pages: pd.DataFrame, filings: pd.DataFrame, titles: np.ndarray, items: np.ndarray
) -> Pages:
    """Describe every page."""
    row_of = {doc_name: row for row, doc_name in enumerate(filings["doc_name"])}
    filing = pages["doc_name"].map(row_of).to_numpy()
    counts = np.bincount(filing, minlength=len(filings))
    lengths = pages["text"].str.len().to_numpy()
    digits = pages["text"].str.count(r"\d").to_numpy() / np.maximum(lengths, 1)
    shape = np.stack([np.log1p(lengths), digits], axis=1)
    return Pages(filing, pages["page"].to_numpy(), counts[filing], titles, items, shape)


def identity_features(questions: list[str], identities: list[FilingIdentity]) -> dict[str, np.ndarray]:
    """How well each filing's identity fits what each question says, each of shape (n_questions, n_filings)."""
    wanted = [asked(question) for question in questions]
    company = company_match(questions, identities)
    names = ("year_gap", "quarter_fit", "type_fit", "days")
    pair = {name: np.full(company.shape, np.nan, np.float32) for name in names}
    for row, said in enumerate(wanted):
        for column, identity in enumerate(identities):
            _fit(said, identity, {name: (values, row, column) for name, values in pair.items()})
    named = np.broadcast_to(company.max(axis=1, initial=0, keepdims=True), company.shape)
    return {"company": company, "company_named": named, **pair}


def _fit(said: Asked, identity: FilingIdentity, into: dict) -> None:
    def put(name: str, value: float) -> None:
        values, row, column = into[name]
        values[row, column] = value

    if said.year and identity.year:
        put("year_gap", identity.year - said.year)
    if said.quarter:
        put(
            "quarter_fit",
            1.0 if identity.quarter == said.quarter else 0.0 if identity.quarter is None else -1.0,
        )
    if said.doc_type:
        put("type_fit", float(said.doc_type == identity.doc_type))
    if said.dates and identity.dates:
        gaps = [abs((a - b).days) for a in said.dates for b in identity.dates]
        put("days", min(gaps))


def identity_score(pair: dict[str, np.ndarray]) -> np.ndarray:
    """One plain number for the fit of a filing's identity, shape (n_questions, n_filings); weights fixed beforehand."""
    weight = IDENTITY_WEIGHTS
    year = np.nan_to_num(-np.minimum(np.abs(pair["year_gap"]), 3.0), nan=0.0)
    close = np.nan_to_num(np.exp(-pair["days"] / 7), nan=0.0)
    return (
        weight["company"] * pair["company"]
        + weight["year"] * year
        + weight["quarter"] * np.nan_to_num(pair["quarter_fit"])
        + weight["type"] * np.nan_to_num(pair["type_fit"])
        + weight["date"] * close
    ).astype(np.float32)


def standardised(values: np.ndarray) -> np.ndarray:
    """Each row with mean 0 and deviation 1."""
    return (values - values.mean(axis=1, keepdims=True)) / (values.std(axis=1, keepdims=True) + 1e-6)


def routed(views: dict[str, np.ndarray], fit: np.ndarray, filing: np.ndarray) -> np.ndarray:
    """The plain score that chooses which pages the combiner sees, shape (n_questions, n_pages).

    The mean of the standardised window views and the fit of the filing's identity, with no trained part.
    """
    return (standardised(views["window"]) + standardised(views["window_expanded"])) / 2 + fit[:, filing]


class FilingGroups:
    """Pages by filing, for standing within a filing.

    Args:
        filing: row of each page's filing; the pages of a filing stand together.
    """

    def __init__(self, filing: np.ndarray):
        self.starts = np.flatnonzero(np.r_[True, filing[1:] != filing[:-1]])
        self.of_page = np.repeat(np.arange(len(self.starts)), np.diff(np.r_[self.starts, len(filing)]))
        self.counts = np.bincount(self.of_page).astype(np.float32)
        self.filing = filing

    def best(self, values: np.ndarray) -> np.ndarray:
        """The best value of each page's filing, the same shape as ``values`` (n_rows, n_pages)."""
        return np.maximum.reduceat(values, self.starts, axis=1)[:, self.of_page]

    def standing(self, values: np.ndarray) -> np.ndarray:
        """Values standardised within each filing."""
        mean = np.add.reduceat(values, self.starts, axis=1) / self.counts
        square = np.add.reduceat(values**2, self.starts, axis=1) / self.counts
        deviation = np.sqrt(np.maximum(square - mean**2, 0)) + 1e-6
        return (values - mean[:, self.of_page]) / deviation[:, self.of_page]

    def ranks(self, values: np.ndarray) -> np.ndarray:
        """The rank of each page in its filing by falling value, from 0, ties by page."""
        ranks = np.empty(values.shape, np.float32)
        for row, line in enumerate(values):
            order = np.lexsort((-line, self.of_page))
            ranks[row, order] = np.arange(len(order)) - self.starts[self.of_page[order]]
        return ranks


def statement_strength(pages: Pages) -> np.ndarray:
    """How surely each page is each primary statement: its title counts as three items, shape (n_pages, 3)."""
    columns = [list(kinds()).index(name) for name in STATEMENTS]
    return 3 * np.minimum(pages.titles[:, columns], 1) + pages.items[:, columns]


def wanted_features(questions: list[str], pages: Pages, groups: FilingGroups) -> dict[str, np.ndarray]:
    """How well each page's kind fits what each question looks for, each of shape (n_questions, n_pages)."""
    asked_kinds, implied_kinds = question_wants(questions)
    names = list(kinds())
    primary = [names.index(name) for name in STATEMENTS]
    strength = statement_strength(pages)
    ranks = groups.ranks(strength.T).T
    relative = strength / np.maximum(groups.best(strength.T).T, 1)
    named = asked_kinds[:, primary]
    wanted = np.where(named.any(axis=1, keepdims=True), named, implied_kinds[:, primary])
    spread = (pages.items - pages.items.mean(axis=0)) / (pages.items.std(axis=0) + 1e-6)
    others = [column for column in range(len(names)) if column not in primary]
    features = {
        "statement_fit": _best_of(wanted, relative, 0.0),
        "statement_rank": -_best_of(wanted, -np.minimum(ranks, 20), -21.0),
        "n_statements": np.repeat(wanted.sum(axis=1, keepdims=True), len(strength), axis=1),
        "statements_named": np.repeat(named.any(axis=1, keepdims=True), len(strength), axis=1),
        "asked_titles": asked_kinds[:, others].astype(np.float32) @ np.minimum(pages.titles[:, others], 1).T,
        "asked_items": _mean_of(asked_kinds[:, others], spread[:, others]),
        "asked_items_best": _best_of(asked_kinds[:, others], spread[:, others], -3.0),
        "implied_titles": implied_kinds[:, others].astype(np.float32)
        @ np.minimum(pages.titles[:, others], 1).T,
        "implied_items": _mean_of(implied_kinds[:, others], spread[:, others]),
    }
    return {name: values.astype(np.float32) for name, values in features.items()}


def _best_of(wanted: np.ndarray, strength: np.ndarray, otherwise: float) -> np.ndarray:
    """The largest strength among each question's wanted kinds, shape (n_questions, n_pages)."""
    return np.stack([strength[:, row].max(axis=1, initial=otherwise) for row in wanted])


def _mean_of(wanted: np.ndarray, strength: np.ndarray) -> np.ndarray:
    return (wanted.astype(np.float32) @ strength.T) / np.maximum(wanted.sum(axis=1, keepdims=True), 1)


def page_features(pages: Pages, groups: FilingGroups, doc_types: list[str]) -> dict[str, np.ndarray]:
    """What holds of a page whatever is asked, each of shape (n_pages,)."""
    strength = statement_strength(pages)
    ranks = groups.ranks(strength.T)
    features = {
        "place_share": pages.place / pages.n_pages,
        "length": pages.shape[:, 0],
        "digits": pages.shape[:, 1],
        "filing_type": np.array([TYPES.index(t) if t in TYPES else -1 for t in doc_types])[pages.filing],
    }
    for column, name in enumerate(STATEMENTS):
        features |= {f"{name}_strength": strength[:, column], f"{name}_rank": np.minimum(ranks[column], 20)}
    for name in ("drivers", "segments", "outlook", "contents", "securities", "nongaap"):
        column = list(kinds()).index(name)
        features |= {f"{name}_items": pages.items[:, column], f"{name}_title": pages.titles[:, column] > 0}
    return {name: np.asarray(values, np.float32) for name, values in features.items()}


def view_features(name: str, values: np.ndarray, groups: FilingGroups) -> dict[str, np.ndarray]:
    """A view against all pages and against its filing's, each of shape (n_questions, n_pages)."""
    overall = standardised(values)
    best = groups.best(overall)
    return {
        name: overall,
        f"{name}_standing": groups.standing(values),
        f"{name}_rank": np.log1p(groups.ranks(values)),
        f"{name}_gap": overall - best,
        f"{name}_filing": best,
    }


def beside(values: np.ndarray, groups: FilingGroups) -> np.ndarray:
    """The better of the two neighbouring pages' values; the least value of all where a filing has one page."""
    lowest = values.min()
    before, after = np.full_like(values, lowest), np.full_like(values, lowest)
    same = groups.of_page[1:] == groups.of_page[:-1]
    before[:, 1:] = np.where(same, values[:, :-1], lowest)
    after[:, :-1] = np.where(same, values[:, 1:], lowest)
    return np.maximum(before, after)


@dataclass(frozen=True)
class Pool:
    """The pairs of question and page that the combiner sees.

    Attributes:
        rows: question of each pair, not falling.
        columns: page of each pair.
        table: one column a feature, one row a pair.
    """

    rows: np.ndarray
    columns: np.ndarray
    table: pd.DataFrame

    def part(self, pairs: np.ndarray) -> "Pool":
        """The pairs that a boolean mask keeps."""
        return Pool(self.rows[pairs], self.columns[pairs], self.table[pairs])


def make_pool(
    questions: list[str],
    views: dict[str, np.ndarray],
    pages: Pages,
    identities: list[FilingIdentity],
    pair: dict[str, np.ndarray],
    chosen: np.ndarray,
    size: int,
) -> Pool:
    """The ``size`` best pages of each question by a plain score, with their features.

    Args:
        questions: the texts.
        views: from :func:`lib.ahead.views.view_scores`.
        pages, identities: what is known of pages and filings.
        pair: from :func:`identity_features`.
        chosen: :func:`routed`, with ``-inf`` for a page that may not be chosen.
        size: pages a question; fewer where fewer may be chosen.
    """
    groups = FilingGroups(pages.filing)
    order = np.argsort(-chosen, axis=1, kind="stable")[:, :size]
    rows = np.repeat(np.arange(len(questions)), order.shape[1])
    columns = order.ravel()
    kept = np.isfinite(chosen[rows, columns])
    rows, columns = rows[kept], columns[kept]
    table: dict[str, np.ndarray] = {}

    def add(features: dict[str, np.ndarray]) -> None:
        table.update({name: values[rows, columns] for name, values in features.items()})

    for name, values in views.items():
        add(view_features(name, values, groups))
        add({f"{name}_beside": beside(standardised(values), groups)})
    add(wanted_features(questions, pages, groups))
    filings = pages.filing[columns]
    table |= {name: values[rows, filings] for name, values in pair.items()}
    fit = identity_score(pair)
    table["identity"] = fit[rows, filings]
    table["identity_gap"] = (fit - fit.max(axis=1, keepdims=True))[rows, filings]
    table["chosen"] = chosen[rows, columns]
    table["same_year"] = table["year_gap"] == 0
    table["near_year"] = 1.5 - np.minimum(np.abs(np.nan_to_num(table["year_gap"], nan=1.5)), 3.0)
    table["near_date"] = np.exp(-np.nan_to_num(table["days"], nan=np.inf) / 7)
    doc_types = [identity.doc_type for identity in identities]
    table |= {name: values[columns] for name, values in page_features(pages, groups, doc_types).items()}
    return Pool(rows, columns, pd.DataFrame(table).astype(np.float32))

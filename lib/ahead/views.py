"""Views of pages for questions of every kind: words, pairs of words, row labels, spans, statements and identity.

A view that a question gives nothing for is zero or unknown for every page: words decide where no filing is named.
"""

import re
from collections.abc import Collection, Container, Iterable, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from lib.ahead.facts import WORDS, facts_of
from lib.ahead.kinds import TITLE_WEIGHT, PageKinds, Statements
from lib.ahead.pool import FilingGroups, Pool, share_of
from lib.ahead.terms import pairs, terms, topic
from lib.filings.identity import TYPES, filing_identities, identity_features, years_in
from lib.method import Search, memoized
from lib.profile import Settings
from lib.retrievers import spans as in_context
from lib.retrievers.bm25 import BM25
from lib.retrievers.dense import best_window_scores
from lib.retrievers.fusion import standardised
from lib.retrievers.places import pages_of_chunks
from lib.statements.labels import accounting, kinds, plain
from lib.text.sentences import asking_sentences

YEARS = tuple(map(str, range(1980, 2050)))
BEST = 50  # pages that each way of choosing adds to the pool
STATEMENT_WEIGHT = 5  # of the page's statement in one way of choosing, beside standardised words
PASSAGE, STEP = 120, 60  # terms
ENCODED = ("span", "stretch", "head")  # the views that need an encoder
WORD_SHARE = 0.5  # of standardised words beside standardised spans in the untrained sum
#: All views that a variant may read, see :func:`pool_of`.
VIEWS = ("words", "pairs", "passages", "cover", "labels", *ENCODED, "years", "statement", "identity")


@cache
def items() -> dict[str, str]:
    """From each line item (``lib/statements/items.yaml``) to its statement."""
    return {name: kind for kind, about in kinds().items() for name in about["items"]}


@cache
def phrases() -> dict[str, tuple[str, ...]]:
    """From how a question may name an item or a measure, plain, to the line items that it needs."""
    named = (item for about in kinds().values() for item in about["items"].items())
    items_of = {plain(asked): (name,) for name, item in named for asked in item["asked"]}
    for measure, formula in accounting()["measures"].items():
        needed = tuple(part.lstrip("-") for part in chain(formula["top"], formula.get("bottom", ())))
        items_of |= dict.fromkeys((plain(measure), plain(measure.partition("(")[0])), needed)
    return items_of


def _members(collections: Iterable[Container[str]], names: Collection[str]) -> np.ndarray:
    """Which of the names are in each collection, shape (n_collections, n_names)."""
    return np.array([[name in one for name in names] for one in collections], np.float32)


def needs(questions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Which statements questions need, by titles, else through items, boolean, (n_questions, n_kinds); which line items
    they name, (n_questions, n_items)."""
    statements, named = [], []
    for question in questions:
        text = f" {plain(question)} "
        named.append({item for phrase, of in phrases().items() if f" {phrase} " in text for item in of})
        titled = {kind for kind, about in kinds().items() if re.search(about["title"], question, re.I)}
        statements.append(titled or {items()[item] for item in named[-1]})
    return _members(statements, kinds()) > 0, _members(named, items())


class PageViews:
    """What is known of every page before a question comes; the pages of a filing are together.

    Where the only questions that will be ``asked`` are given, other words are not counted; ``facts`` of the pages
    (:func:`lib.ahead.facts.facts_of`) are made where they are not given.
    """

    def __init__(
        self,
        filings: pd.DataFrame,
        pages: pd.DataFrame,
        settings: Settings,
        asked: Sequence[str] | None = None,
        is_from_covers: bool = False,
        facts: pd.DataFrame | None = None,
    ):
        self.texts = pages["text"].tolist()
        self.identities = filing_identities(filings, pages, is_from_covers)
        self.filing = pd.Index(filings["doc_name"]).get_indexer(pages["doc_name"])
        self.groups = FilingGroups(self.filing)
        self.names = {term for one in self.identities for name in one.names for term in terms(name)}
        self.described = facts = facts_of(self.texts) if facts is None else facts
        words, shown, *sets = ([text.split() for text in facts[name]] for name in WORDS)
        years, head_years, in_rows, titles = (list(map(set, one)) for one in sets)
        starts = [range(0, max(1, len(page) - STEP), STEP) for page in words]
        self.passage_pages = np.repeat(np.arange(len(words)), list(map(len, starts)))
        passages = [page[at : at + PASSAGE] for page, places in zip(words, starts, strict=True) for at in places]
        in_questions = in_pairs = None
        if asked is not None:
            asked_terms = [terms(asking_sentences(question)) for question in asked]
            in_questions, in_pairs = set(chain(*asked_terms)), set(chain(*map(pairs, asked_terms)))

        def model(texts: Sequence[Sequence[str]], wanted: set[str] | None) -> BM25:
            """BM25 of texts; what no question has counts in their lengths alone."""
            if wanted is not None:
                texts = [[term if term in wanted else "" for term in text] for text in texts]
            return BM25(texts, settings.k1, settings.b)

        self.words, self.passages, self.labels = (model(texts, in_questions) for texts in (words, passages, shown))
        self.pairs = model(list(map(pairs, words)), in_pairs)
        self.contains = (self.words.weights > 0).astype(np.float32).tocsr()
        self.years = np.stack([_members(part, YEARS) for part in (years, head_years)])
        self.items = _members(in_rows, items())
        of_kind = _members([[kind] for kind in items().values()], kinds())
        has_title = _members(titles, kinds())
        self.statements = Statements(self.items @ of_kind + TITLE_WEIGHT * has_title, self.groups)
        self.page = {
            "page_place": pages["page"].to_numpy() / np.bincount(self.filing)[self.filing],
            "page_length": np.log1p(facts["length"].to_numpy()),
            "page_digits": facts["digits"].to_numpy() / np.maximum(facts["length"].to_numpy(), 1),
            "page_rows": facts["rows"].to_numpy(),
        }

    @cached_property
    def kinds(self) -> PageKinds:
        """The pages by the hand-written kinds of ``kinds.yaml``."""
        types = pd.Index(TYPES).get_indexer([one.doc_type for one in self.identities])
        features = {"place_share": "page_place", "length": "page_length", "digits": "page_digits"}
        features = {name: self.page[of] for name, of in features.items()} | {"filing_type": types[self.filing]}
        return PageKinds(np.stack(self.described["strengths"]), self.groups, features)

    def topic(self, question: str) -> list[str]:
        """The terms of a question's core without those that identify the filing."""
        return topic(terms(asking_sentences(question)), self.names)

    def best_passage(self, asked: Sequence[str]) -> np.ndarray:
        """The score of each page's best passage, shape (n_pages,)."""
        best = np.zeros(len(self.filing))
        np.maximum.at(best, self.passage_pages, self.passages.get_scores(asked))
        return best

    def cover(self, asked: Sequence[str]) -> np.ndarray:
        """The share of the terms' weight that each page contains, shape (n_pages,)."""
        present = [term for term in dict.fromkeys(asked) if term in self.words.vocabulary]
        rows = [self.words.vocabulary[term] for term in present]
        weights = np.array([self.words.idf[term] for term in present])
        return self.contains[rows].T @ weights / weights.sum() if rows else np.zeros(len(self.filing))

    def asked_years(self, question: str) -> np.ndarray:
        """The share of a question's years on each page and in its head, shape (2, n_pages); unknown without a year."""
        columns = [YEARS.index(str(year)) for year in years_in(question) if str(year) in YEARS]
        return self.years[:, :, columns].mean(axis=2) if columns else np.full(self.years.shape[:2], np.nan)

    def statement_features(self, questions: Sequence[str]) -> dict[str, np.ndarray]:
        """How each page fits the statements and items of each question, (n_questions, n_pages) or 1 for one."""
        needed, named = needs(questions)
        features = self.statements.fit(needed) | {
            "statement_items": share_of(named, self.items),
            "statement_needed": needed.sum(axis=1, keepdims=True),
            "statement_items_named": named.sum(axis=1, keepdims=True),
        }
        for column, kind in enumerate(kinds()):
            features[f"statement_{kind}_needed"] = needed[:, [column]]
            features[f"statement_{kind}_strength"] = self.statements.relative.T[[column]]
            features[f"statement_{kind}_rank"] = self.statements.ranks.T[[column]]
        return features

    def year_features(self, questions: Sequence[str]) -> dict[str, np.ndarray]:
        """The shares of each question's years on each page and in its head, (n_questions, n_pages) each."""
        of_page, of_head = np.stack(list(map(self.asked_years, questions)), axis=1)
        return {"years_page": of_page, "years_head": of_head}


class Vectors(NamedTuple):
    """Unit vectors by the encoder of spans."""

    questions: np.ndarray  # of what each asks, without instructions
    owners: np.ndarray  # the row of each span's page, not falling
    spans: np.ndarray


@memoized
def page_views(search: Search, is_from_covers: bool) -> PageViews:
    """The views of the study's pages; filings by their records, or by their first pages alone."""
    return PageViews(search.filings, search.pages, search.profile.bm25, is_from_covers=is_from_covers)


@memoized
def vectors_of(search: Search, questions: tuple[str, ...]) -> Vectors:
    """The vectors of questions, and of the study's spans."""
    owners, spans = in_context.span_vectors(search)
    return Vectors(in_context.question_vectors(search, questions), pages_of_chunks(search)[owners], spans)


def untrained(search: Search, questions: Sequence[str]) -> np.ndarray:
    """The recipe without training, (n_questions, n_pages), see :func:`untrained_sum`."""
    pages, vectors = page_views(search, False), vectors_of(search, tuple(questions))
    identity = identity_features(questions, pages.identities)["identity"][:, pages.filing]
    words = np.stack([pages.words.get_scores(pages.topic(question)) for question in questions])
    return untrained_sum(identity, words, span_signals(vectors, len(pages.texts))["span"])


def untrained_sum(identity: np.ndarray, words: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """How well each page's filing fits each question, as far as that gives an identity, plus standardised words and
    spans, each (n_questions, n_pages)."""
    return (identity + WORD_SHARE * standardised(words) + standardised(spans)).astype(np.float32)


def span_signals(vectors: Vectors, n_pages: int) -> dict[str, np.ndarray]:
    """The cosine of each question with each page's best span, its best stretch of two neighbours, whose vectors are
    added, and its first span: (n_questions, n_pages) each; of a page without a span, the least of all."""
    asked, owners, spans = vectors
    is_pair = owners[:-1] == owners[1:]
    stretches = spans[:-1][is_pair] + spans[1:][is_pair]
    alone = np.setdiff1d(owners, owners[:-1][is_pair])  # pages of one span
    of_stretch = np.concatenate([owners[:-1][is_pair], alone])
    order = np.argsort(of_stretch, kind="stable")
    stretches = np.concatenate([stretches, spans[np.searchsorted(owners, alone)]])[order]
    stretches /= np.linalg.norm(stretches, axis=1, keepdims=True).clip(1e-12)
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    parts = {"span": (spans, owners), "stretch": (stretches, of_stretch[order]), "head": (spans[first], owners[first])}

    def of_pages(part: np.ndarray, of_part: np.ndarray) -> np.ndarray:
        best = best_window_scores(asked, part, of_part, n_pages)
        return np.where(np.isfinite(best), best, best[np.isfinite(best)].min(initial=0))

    return {name: of_pages(*part) for name, part in parts.items()}


@threadpool_limits.wrap(limits=1, user_api="blas")
def _signals(pages: PageViews, questions: Sequence[str], vectors: Vectors) -> dict[str, np.ndarray]:
    """The scores of every page, float32, (n_questions, n_pages) each, on one thread: more change the last bits."""
    topics = list(map(pages.topic, questions))
    signals = {
        "words": list(map(pages.words.get_scores, topics)),
        "pairs": [pages.pairs.get_scores(pairs(terms(asking_sentences(question)))) for question in questions],
        "passages": list(map(pages.best_passage, topics)),
        "cover": list(map(pages.cover, topics)),
        "labels": list(map(pages.labels.get_scores, topics)),
        **span_signals(vectors, len(pages.texts)),
    }
    return {name: np.asarray(values, np.float32) for name, values in signals.items()}


def pool_of(
    pages: PageViews, questions: Sequence[str], vectors: Vectors, has_kinds: bool, allowed: np.ndarray | None = None
) -> Pool:
    """Candidate pages of each question and their features; the column ``plain`` is the untrained sum.

    The pool is the union of the BEST pages by the untrained sum, words, pairs, spans and the statement needed, each
    with the identity, and by words and pairs without it. ``allowed`` are the pages that may be chosen, of shape
    (n_questions, n_pages).
    """
    signals, statements = _signals(pages, questions, vectors), pages.statement_features(questions)
    fits = identity_features(questions, pages.identities)
    identity = fits["identity"][:, pages.filing]
    over = {name: standardised(signals[name]) for name in ("words", "pairs", "labels", "span")}
    plain = untrained_sum(identity, signals["words"], signals["span"])
    ways = [
        plain,
        identity + over["words"],
        identity + over["words"] + over["pairs"],
        over["words"] + over["pairs"],
        identity + over["span"],
        identity + STATEMENT_WEIGHT * statements["statement_fit"] + (over["words"] + over["labels"]) / 2,
    ]
    allowed = np.ones(plain.shape, bool) if allowed is None else allowed
    chosen = np.zeros(plain.shape, bool)
    for way in ways:
        best = np.argpartition(-np.where(allowed, way, -np.inf), min(BEST, way.shape[1]) - 1, axis=1)[:, :BEST]
        np.put_along_axis(chosen, best, True, axis=1)
    rows, columns = np.nonzero(chosen & allowed)

    def of_pairs(features: dict[str, np.ndarray], prefix: str = "") -> dict[str, np.ndarray]:
        return {prefix + name: np.broadcast_to(one, plain.shape)[rows, columns] for name, one in features.items()}

    by_view = {"plain": of_pairs({"plain": plain})}
    by_view |= {view: of_pairs(pages.groups.signal_features(view, values)) for view, values in signals.items()}
    by_view["statement"], by_view["years"] = of_pairs(statements), of_pairs(pages.year_features(questions))
    by_view["identity"] = {f"identity_{name}": one[rows, pages.filing[columns]] for name, one in fits.items()}
    by_view["page"] = of_pairs(pages.page)
    if has_kinds:
        by_view["kinds"] = of_pairs(pages.kinds.fit(questions), "kinds_")
        by_view["kinds"] |= of_pairs(pages.kinds.features, "kinds_page_")
    table = pd.DataFrame({name: values for features in by_view.values() for name, values in features.items()})
    views = {view: list(features) for view, features in by_view.items()}
    return Pool(rows, columns, table.astype(np.float32), views=views)


def study_pool(
    search: Search,
    questions: Sequence[str],
    allowed: np.ndarray | None = None,
    has_kinds: bool = False,
    is_from_covers: bool = False,
) -> Pool:
    """:func:`pool_of` a study's pages; filings by their records, or by their first pages alone."""
    vectors = vectors_of(search, tuple(questions))
    return pool_of(page_views(search, is_from_covers), questions, vectors, has_kinds, allowed)

"""Views of pages for questions of every kind: words, pairs of words, row labels, windows, statements and identity.

Nothing here is chosen by looking at a question that is scored. Line items and measures come from the accounting sources
that ``lib/data/items.yaml`` cites, stop words from the Snowball project. A view that a question gives nothing for is
zero or unknown for every page, so that words decide alone where nobody names a filing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from threadpoolctl import threadpool_limits

from lib.ahead.pages import FilingGroups, Pages, page_strengths, standardised, stem
from lib.ahead.pool import Pool, head_vectors, signal_features
from lib.ahead.queries import PERIOD, POSSESSIVE, TERM, core
from lib.data.rows import accounting, item_of, kind_of, kinds, plain, rows_of
from lib.frames import remembered
from lib.models import index
from lib.page_scorer.search import pages_of_chunks
from lib.retrievers.bm25 import BM25
from lib.retrievers.dense import best_window_scores
from lib.retrievers.identity import filing_identities, identity_features, years_in
from lib.study import Study
from lib.tokens import STOP_WORDS

HEAD_LINES = 6
YEAR = re.compile(r"(?<!\d)(?:19[89]\d|20[0-4]\d)(?!\d)")
TITLE_WEIGHT = 3  # a statement's title counts as three of its line items
LAST_RANK = 20  # ranks of statements are cut here
BEST = 50  # pages that each way of choosing adds to the pool
STATEMENT_WEIGHT = 5  # of the page's statement in one way of choosing, beside standardised words
PASSAGE, STEP = 120, 60  # terms
FIRST_YEAR, LAST_YEAR = 1980, 2049  # that :func:`lib.retrievers.identity.years_in` reads
VIEWS = (
    "words",
    "pairs",
    "passages",
    "cover",
    "labels",
    "window",
    "core",
    "heads",
    "years",
    "statement",
    "identity",
)  # with the prefixes of their features
ENCODED = ("window", "core", "heads")  # the views that need an encoder
IN_WINDOWS = ENCODED[:2]  # those that an index of windows gives


def page_terms(text: str) -> list[str]:
    """Stems of the words with content, and numbers without thousands' commas."""
    words = TERM.findall(POSSESSIVE.sub("", text.lower().replace("’", "'")))
    kept = (word for word in words if word not in STOP_WORDS)
    return [stem(word) if word[0].isalpha() else word.replace(",", "") for word in kept]


def pairs(terms: Sequence[str]) -> list[str]:
    """Neighbouring terms as one: ``net sales`` stays together."""
    return [f"{first} {second}" for first, second in pairwise(terms)]


@cache
def items() -> dict[str, str]:
    """From each line item to its statement."""
    return {name: kind for kind, about in kinds().items() for name in about["items"]}


@cache
def phrases() -> dict[str, tuple[str, ...]]:
    """From how a question may name an item or a measure, plain, to the line items that it needs."""
    found = {
        plain(asked): (name,)
        for about in kinds().values()
        for name, item in about["items"].items()
        for asked in item["asked"]
    }
    for measure, formula in accounting()["measures"].items():
        needed = tuple(part.lstrip("-") for part in chain(formula["top"], formula.get("bottom", ())))
        found |= dict.fromkeys((plain(measure), plain(measure.partition("(")[0])), needed)
    return found


def needs(questions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """What questions ask for: statements by their titles or through items, (n_questions, n_kinds), and line items,
    (n_questions, n_items), both boolean. A question that names statements needs no other statement.
    """
    statements = np.zeros((len(questions), len(kinds())), bool)
    named_items = np.zeros((len(questions), len(items())), bool)
    columns, names = {kind: column for column, kind in enumerate(kinds())}, list(items())
    for row, question in enumerate(questions):
        text = f" {plain(question)} "
        found = {name for phrase, needed in phrases().items() if f" {phrase} " in text for name in needed}
        named_items[row] = [name in found for name in names]
        statements[row] = [bool(re.search(about["title"], question, re.I)) for about in kinds().values()]
        if not statements[row].any():
            statements[row, [columns[items()[name]] for name in found]] = True
    return statements, named_items


class PageViews:
    """What is known of every page before a question comes.

    Args:
        study: its pages.
        asked: the only questions that will be asked, where they are known: then other words are not counted.
    """

    def __init__(self, study: Study, asked: Sequence[str] | None = None):
        self.study = study
        only = None if asked is None else {term for one in asked for term in page_terms(core(one))}
        pairs_only = (
            None if asked is None else {pair for one in asked for pair in pairs(page_terms(core(one)))}
        )
        texts, settings = study.pages["text"].tolist(), study.profile.bm25
        self.identities = filing_identities(study.filings, study.pages)
        self.filing = pd.Index(study.filings["doc_name"]).get_indexer(study.pages["doc_name"])
        self.groups, self.chunk_pages = FilingGroups(self.filing), pages_of_chunks(study)
        self.names = {term for one in self.identities for name in one.names for term in page_terms(name)}
        labels = [[row.label for row in rows_of(text)] for text in texts]
        heads = [" ".join(text.split("\n")[: 2 * HEAD_LINES]) for text in texts]
        terms = list(map(page_terms, texts))
        self.words = BM25(terms, settings.k1, settings.b, only=only)
        self.pairs = BM25(list(map(pairs, terms)), settings.k1, settings.b, only=pairs_only)
        starts = [range(0, max(1, len(page) - STEP), STEP) for page in terms]
        self.passage_pages = np.repeat(np.arange(len(terms)), list(map(len, starts)))
        passages = [
            page[at : at + PASSAGE] for page, places in zip(terms, starts, strict=True) for at in places
        ]
        self.passages = BM25(passages, settings.k1, settings.b, only=only)
        self.contains = (self.words.weights > 0).astype(np.float32).tocsr()
        self.years = np.stack([_has_years(texts), _has_years(heads)])
        shown = [page_terms(" . ".join([head, *rows])) for head, rows in zip(heads, labels, strict=True)]
        self.labels = BM25(shown, settings.k1, settings.b, only=only)
        self.items = np.array([self._items(rows) for rows in labels], np.float32)
        of_kind = np.array([[kind == other for other in kinds()] for kind in items().values()], np.float32)
        titled = list(map(kind_of, texts))
        has_title = np.array([[found == kind for kind in kinds()] for found in titled], np.float32)
        self.strength = self.items @ of_kind + TITLE_WEIGHT * has_title
        lengths = study.pages["text"].str.len().to_numpy()
        self.page = {
            "page_place": study.pages["page"].to_numpy() / np.bincount(self.filing)[self.filing],
            "page_length": np.log1p(lengths),
            "page_digits": study.pages["text"].str.count(r"\d").to_numpy() / np.maximum(lengths, 1),
            "page_rows": np.array(list(map(len, labels))),
        }

    @cached_property
    def heads(self) -> np.ndarray:
        """See :func:`lib.ahead.pool.head_vectors`."""
        return head_vectors(self.study, self.identities)

    def best_passage(self, terms: Sequence[str]) -> np.ndarray:
        """The score of each page's best passage, shape (n_pages,)."""
        best = np.zeros(len(self.filing))
        np.maximum.at(best, self.passage_pages, self.passages.scores(terms))
        return best

    def cover(self, terms: Sequence[str]) -> np.ndarray:
        """The share of the terms' weight that each page contains, shape (n_pages,)."""
        rows = [self.words.vocabulary[term] for term in dict.fromkeys(terms) if term in self.words.vocabulary]
        weights = self.words.idf[rows]
        return self.contains[rows].T @ weights / weights.sum() if rows else np.zeros(len(self.filing))

    def asked_years(self, question: str) -> np.ndarray:
        """The share of a question's years on each page and in its head, shape (2, n_pages); unknown without a year."""
        columns = [year - FIRST_YEAR for year in years_in(question) if FIRST_YEAR <= year <= LAST_YEAR]
        return self.years[:, :, columns].mean(axis=2) if columns else np.full(self.years.shape[:2], np.nan)

    @staticmethod
    def _items(labels: Sequence[str]) -> list[bool]:
        """Which line items a page's rows are."""
        found = {name for label in labels for name in _item(plain(label))}
        return [name in found for name in items()]

    def topic(self, question: str) -> list[str]:
        """A question's terms without those of company names and periods, which identify the filing."""
        return [
            term for term in page_terms(question) if term not in self.names and not PERIOD.fullmatch(term)
        ]


def _has_years(texts: Sequence[str]) -> np.ndarray:
    """Which years texts contain, shape (n_texts, n_years)."""
    found = np.zeros((len(texts), LAST_YEAR - FIRST_YEAR + 1), np.float32)
    for row, text in zip(found, texts, strict=True):
        row[[int(year) - FIRST_YEAR for year in set(YEAR.findall(text))]] = 1
    return found


@cache
def _item(label: str) -> tuple[str, ...]:
    return tuple(name for kind in kinds() if (name := item_of(kind, label)))


@remembered
def page_views(study: Study) -> PageViews:
    """The study's pages, described once a process."""
    return PageViews(study)


@remembered
def learnt_kinds(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """The page kinds of ``learnt_kinds.yaml``: the weight of each term of the pages for each kind, (n_terms, n_kinds),
    and how strongly each page is of each kind, standardised, (n_pages, n_kinds).
    """
    found = yaml.safe_load(Path(__file__).with_name("learnt_kinds.yaml").read_text())["kinds"]
    known = page_views(study).words
    weights = np.zeros((len(known.vocabulary), len(found)), np.float32)
    for column, kind in enumerate(found):
        for phrase, weight in chain.from_iterable(kind[part].items() for part in ("titles", "rows", "words")):
            rows = [known.vocabulary[term] for term in page_terms(phrase) if term in known.vocabulary]
            weights[rows, column] = np.maximum(weights[rows, column], weight)
    return weights, standardised((known.weights.T @ weights).T).T


def learnt_features(study: Study, questions: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """How alike a question's words and a page are in learnt kinds, a cosine of shape (n_questions, n_pages), and the
    pages' strengths, (n_pages, n_kinds).
    """
    known, (weights, strengths) = page_views(study), learnt_kinds(study)
    asked = np.zeros((len(questions), weights.shape[1]), np.float32)
    for row, question in zip(asked, questions, strict=True):
        rows = [known.words.vocabulary.get(term, -1) for term in known.topic(core(question))]
        rows = [place for place in rows if place >= 0]
        row += known.words.idf[rows] @ weights[rows]
    return unit(asked) @ unit(strengths).T, strengths


def unit(vectors: np.ndarray) -> np.ndarray:
    """Each row with length 1; a row of zeros stays."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


@remembered
def handwritten(study: Study) -> Pages:
    """The pages by the hand-written kinds of ``kinds.yaml``, whose authors had read FinanceBench's questions."""
    return Pages(study.pages, page_views(study).identities, *page_strengths(study.pages["text"].tolist()))


@dataclass(frozen=True)
class Seen:
    """Scores of every page in each view, each of shape (n_questions, n_pages), and features of identity by filing."""

    views: dict[str, np.ndarray]
    facts: dict[str, np.ndarray]  # of statements, line items and years
    identity: dict[str, np.ndarray]
    plain: np.ndarray  # the untrained sum: identity where it is named, plus standardised words


def untrained(study: Study, questions: Sequence[str]) -> np.ndarray:
    """The recipe without training: identity as far as a question gives it, plus standardised BM25 over whole pages.

    Shape (n_questions, n_pages). A question that names no company, year or form has the same identity everywhere.
    """
    known = page_views(study)
    identity = identity_features(questions, known.identities)["identity"][:, known.filing]
    words = np.stack([known.words.scores(known.topic(core(question))) for question in questions])
    return (identity + standardised(words)).astype(np.float32)


@remembered
def asked_vectors(study: Study, questions: tuple[str, ...]) -> list[np.ndarray]:
    """The vectors of the questions, and those of their cores, each of shape (n_questions, dimension)."""
    texts = [*(" ".join(text.split()) for text in questions), *map(core, questions)]
    return np.split(index.encode_queries(study, texts), 2)


@threadpool_limits.wrap(limits=1, user_api="blas")
def see(study: Study, questions: Sequence[str], encoded: Sequence[str] = ENCODED) -> Seen:
    """Look at every page in every view, on one thread: their number changes the last bits, and so what trees learn.

    ``encoded`` are the views by an encoder that are seen, of ENCODED: an index of windows has no page heads.
    """
    known, asked = page_views(study), list(map(core, questions))
    identity = identity_features(questions, known.identities)
    topics = list(map(known.topic, asked))

    def best_windows(vectors: np.ndarray) -> np.ndarray:
        owners, windows = index.window_vectors(study)
        found = best_window_scores(vectors, windows, known.chunk_pages[owners], len(study.pages))
        return np.where(np.isfinite(found), found, found[np.isfinite(found)].min(initial=0))

    views = {
        "words": np.stack([known.words.scores(terms) for terms in topics]),
        "pairs": np.stack([known.pairs.scores(pairs(page_terms(text))) for text in asked]),
        "passages": np.stack([known.best_passage(terms) for terms in topics]),
        "cover": np.stack([known.cover(terms) for terms in topics]),
        "labels": np.stack([known.labels.scores(terms) for terms in topics]),
    }
    if encoded:
        full, cores = asked_vectors(study, tuple(questions))
        by_encoder = {
            "window": lambda: best_windows(full),
            "core": lambda: best_windows(cores),
            "heads": lambda: full @ known.heads.T,
        }
        views |= {name: by_encoder[name]() for name in encoded}
    views = {name: values.astype(np.float32) for name, values in views.items()}
    summed = identity["identity"][:, known.filing] + standardised(views["words"])
    years = np.stack([known.asked_years(question) for question in questions], axis=1)
    years = dict(zip(("years_page", "years_head"), years, strict=True))
    return Seen(views, _statements(known, questions) | years, identity, summed.astype(np.float32))


def _statements(known: PageViews, questions: Sequence[str]) -> dict[str, np.ndarray]:
    """How well each page is the statement that a question needs, and shows the items that it names."""
    needed, named = needs(questions)
    relative = known.strength / np.maximum(known.groups.best(known.strength.T).T, 1)
    ranks = np.minimum(known.groups.ranks(known.strength.T).T, LAST_RANK)
    fit = np.stack([relative[:, row].max(axis=1, initial=0) for row in needed])
    rank = np.stack([ranks[:, row].min(axis=1, initial=LAST_RANK + 1.0) for row in needed])
    shown = (named @ known.items.T) / np.maximum(named.sum(axis=1, keepdims=True), 1)
    counts = {"statement_needed": needed.sum(axis=1), "statement_items_named": named.sum(axis=1)}
    found = {"statement_fit": fit, "statement_rank": rank, "statement_items": shown}
    found |= {name: np.broadcast_to(values[:, None], fit.shape) for name, values in counts.items()}
    for column, kind in enumerate(kinds()):
        found[f"statement_{kind}_needed"] = np.broadcast_to(needed[:, [column]], fit.shape)
        found[f"statement_{kind}_strength"] = np.broadcast_to(relative[:, column], fit.shape)
        found[f"statement_{kind}_rank"] = np.broadcast_to(ranks[:, column], fit.shape)
    return found


def pool_of(
    study: Study,
    questions: Sequence[str],
    allowed: np.ndarray | None = None,
    has_kinds: bool = False,
    has_learnt: bool = False,
    encoded: Sequence[str] = ENCODED,
) -> Pool:
    """Candidate pages of each question and their features; the column ``plain`` is the untrained sum.

    The pool is the union of the BEST pages by words, pairs, windows and the statement needed, each with the identity,
    and by words and pairs without it. ``allowed`` says which pages may be chosen, shape (n_questions, n_pages);
    ``has_kinds`` adds the features of the hand-written kinds, named ``kinds_...``, ``has_learnt`` those of the learnt
    ones, ``learnt_...``; ``encoded`` as of :func:`see`.
    """
    seen, known = see(study, questions, encoded), page_views(study)
    over = {name: standardised(values) for name, values in seen.views.items()}
    identity = seen.identity["identity"][:, known.filing]
    ways = [
        seen.plain,
        seen.plain + over["pairs"],
        over["words"] + over["pairs"],
        *([identity + over["window"]] if "window" in encoded else []),
        identity + STATEMENT_WEIGHT * seen.facts["statement_fit"] + (over["words"] + over["labels"]) / 2,
    ]
    chosen = np.zeros(seen.plain.shape, bool)
    for way in ways:
        way = way if allowed is None else np.where(allowed, way, -np.inf)
        best = np.argpartition(-way, min(BEST, way.shape[1]) - 1, axis=1)[:, :BEST]
        np.put_along_axis(chosen, best, True, axis=1)
    rows, columns = np.nonzero(chosen if allowed is None else chosen & allowed)
    table = {"plain": seen.plain[rows, columns]}
    for name, values in seen.views.items():
        features = signal_features(name, values, known.groups)
        features[f"{name}_behind"] = over[name] - over[name].max(axis=1, keepdims=True)
        table |= {feature: matrix[rows, columns] for feature, matrix in features.items()}
    table |= {name: matrix[rows, columns] for name, matrix in seen.facts.items()}
    table |= {
        f"identity_{name}": matrix[rows, known.filing[columns]] for name, matrix in seen.identity.items()
    }
    table |= {name: values[columns] for name, values in known.page.items()}
    if has_kinds:
        kinds_of = handwritten(study)
        fits = kinds_of.kind_features(questions)
        table |= {f"kinds_{name}": matrix[rows, columns] for name, matrix in fits.items()}
        table |= {f"kinds_page_{name}": values[columns] for name, values in kinds_of.features.items()}
    if has_learnt:
        fit, strengths = learnt_features(study, questions)
        fits = signal_features("learnt", fit, known.groups)
        table |= {name: matrix[rows, columns] for name, matrix in fits.items()}
        table |= {f"learnt_{number}": values[columns] for number, values in enumerate(strengths.T)}
    return Pool(rows, columns, pd.DataFrame(table).astype(np.float32))

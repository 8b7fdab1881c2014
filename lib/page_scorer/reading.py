"""What a fold's training reads under a recipe: gold or silver pairs, hard negatives, and no more than it may.

Negatives have no labels, so a page with the text of a test question's gold page is left out in silence; among the
*pairs* such a page is a leak, which :func:`lib.page_scorer.full.checked_pairs` refuses.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lib.files import digest_of
from lib.folds import Fold, check_fold
from lib.models.weights import weights_hash
from lib.page_scorer.pages import headed, normalised, page_texts, text_by_page
from lib.page_scorer.recipe import Phase, Reading, Recipe
from lib.retrievers.identity import filing_identities
from lib.silver import Silver, read_silver
from lib.study import Study
from lib.words import StudyError

if TYPE_CHECKING:
    from lib.page_scorer.layers import Inputs, Trainee

NEAREST = (
    10  # pages of a filing that hard negatives are drawn from: those nearest to the question before training
)


def training_pairs(study: Study, rows: Sequence[int]) -> pd.DataFrame:
    """Every gold page of the questions in the given rows, page 0 included: one row per question and gold page.

    The columns are question_id, question, doc_name, page, text (as in :func:`lib.page_scorer.pages.page_texts`).
    """
    return _pairs(study.questions.iloc[list(rows)], text_by_page(study))


def _pairs(questions: pd.DataFrame, text_of: dict) -> pd.DataFrame:
    pairs = questions[["question_id", "question", "doc_name", "gold_pages"]].explode("gold_pages")
    pairs = pairs.rename(columns={"gold_pages": "page"}).astype({"page": int})
    where = zip(pairs["doc_name"], pairs["page"], strict=True)
    return pairs.assign(text=[text_of[key] for key in where]).reset_index(drop=True)


def pairs_alone(pairs: pd.DataFrame, recipe: Recipe, trainee: "Trainee") -> Reading:
    """What the published recipe reads: the questions and texts of the pairs, whatever other pages there are."""
    row, texts = pd.factorize(pairs["text"])
    return Reading(trainee.inputs(texts.tolist()), [_phase(pairs, row, recipe.epochs)])


class Corpus:
    """The pages that trainings may read: the study's, and those that silver questions have as gold pages.

    Attributes:
        pages: doc_name, page, company, ``text`` and ``read`` (behind the header where a recipe has one).
        texts: the different ones of ``read``.
        row: the row in ``texts`` of each page.
        filings: doc_name and company of all filings.
        silver: the silver questions, where a recipe has them.
    """

    def __init__(self, study: Study, recipe: Recipe):
        self.silver = read_silver(study) if "silver" in recipe.sources else None
        own = study.pages[["doc_name", "page"]].assign(text=page_texts(study))
        parts, self.filings = [own.assign(read=page_texts(study, recipe.header))], study.filings
        if self.silver:
            parts.append(_silver_pages(study, self.silver, recipe.header))
            self.filings = pd.concat([self.filings, self.silver.filings], ignore_index=True)
        self.filings = self.filings[["doc_name", "company"]].drop_duplicates("doc_name")
        self.pages = pd.concat(parts, ignore_index=True).merge(self.filings, on="doc_name", how="left")
        self.row, texts = pd.factorize(self.pages["read"])
        self.texts = texts.tolist()
        self.row_of = dict(
            zip(zip(self.pages["doc_name"], self.pages["page"], strict=True), self.row, strict=True)
        )

    def inputs(self, study: Study, trainee: "Trainee", recipe: Recipe) -> "Inputs":
        """The texts for an encoder; activations of its frozen layers are stored."""
        if not recipe.frozen_layers:
            return trainee.inputs(self.texts)
        params = self._params(study, recipe)
        entry = study.store.get("page_scorer/activations", params, lambda to: trainee.freeze(self.texts, to))
        from lib.page_scorer.layers import Activations  # loads torch, which takes seconds

        return Activations.load(entry.path)

    def vectors(self, study: Study, trainee: "Trainee", recipe: Recipe, inputs: "Inputs") -> np.ndarray:
        """The vectors of the texts before training, shape (n_texts, d); stored."""

        def compute(target: Path) -> None:
            np.save(target / "vectors.npy", trainee.encode(inputs, range(len(self.texts))))

        entry = study.store.get("page_scorer/untrained", self._params(study, recipe), compute)
        return np.load(entry.path / "vectors.npy")

    def _params(self, study: Study, recipe: Recipe) -> dict:
        settings = {
            name: getattr(recipe, name) for name in ("frozen_layers", "max_tokens", "train_precision")
        }
        weights = weights_hash(study.profile.embedder.weights)
        return settings | {"weights": weights, "texts": digest_of(self.texts)[:20]}


def _silver_pages(study: Study, silver: Silver, header: bool) -> pd.DataFrame:
    """The gold pages of silver questions: doc_name, page, text, read."""
    gold = silver.questions[["doc_name", "gold_pages"]].explode("gold_pages").drop_duplicates()
    gold = gold.rename(columns={"gold_pages": "page"}).astype({"page": int})
    found = gold.merge(silver.pages, on=["doc_name", "page"])
    found = found.assign(text=normalised(found["text"], study.profile.page_scorer.max_characters))
    identities = filing_identities(silver.filings, silver.pages) if header else []
    return found.assign(read=headed(found, identities) if header else found["text"])


def fold_pairs(study: Study, fold: Fold, recipe: Recipe, corpus: Corpus) -> dict[str, pd.DataFrame]:
    """The pairs of each source, checked against the fold's test questions.

    Raises:
        LeakError: they contain something of these.
    """
    found = {}
    for source in recipe.sources:
        if source == "gold":
            found[source] = training_pairs(study, fold.train)
        else:
            allowed = corpus.silver.for_fold(fold, study.filings)
            if allowed.questions.empty:
                raise StudyError(f"fold {fold.number} by {fold.by} leaves no silver question to train on")
            keys = zip(corpus.pages["doc_name"], corpus.pages["page"], strict=True)
            found[source] = _pairs(allowed.questions, dict(zip(keys, corpus.pages["text"], strict=True)))
    every = pd.concat(found.values(), ignore_index=True)
    check_fold(fold, every, study.questions, corpus.filings, text_by_page(study))
    return found


def fold_reading(study: Study, fold: Fold, recipe: Recipe, corpus: Corpus, trainee: "Trainee") -> Reading:
    """All that a fold's training reads; see :func:`fold_pairs`."""
    found, inputs = fold_pairs(study, fold, recipe, corpus), corpus.inputs(study, trainee, recipe)
    epochs, phases = {"gold": recipe.epochs, "silver": recipe.silver_epochs}, []
    for source, pairs in found.items():
        where = zip(pairs["doc_name"], pairs["page"], strict=True)
        phases.append(_phase(pairs, np.array([corpus.row_of[key] for key in where]), epochs[source]))
    if recipe.negatives == "batch":
        return Reading(inputs, phases)
    is_readable, vectors = readable(study, fold, corpus), corpus.vectors(study, trainee, recipe, inputs)
    if recipe.negatives == "filing":
        for number, (pairs, phase) in enumerate(zip(found.values(), phases, strict=True)):
            asked = trainee.encode(trainee.inputs(phase.questions), range(len(pairs)))
            drawn = hard_negatives(pairs, phase, corpus, is_readable, asked, vectors)
            phases[number] = phase._replace(negatives=drawn)
    rows = np.unique(corpus.row[is_readable])
    return Reading(inputs, phases, (rows, vectors[rows]) if recipe.negatives == "all" else None)


def readable(study: Study, fold: Fold, corpus: Corpus) -> np.ndarray:
    """Which pages training may read as negatives, shape (n_pages,): of training filings, with text, and not with that
    of a test question's gold page."""
    filings = set(fold.train_filings)
    if corpus.silver:
        filings |= set(corpus.silver.for_fold(fold, study.filings).filings["doc_name"])
    text_of, test = text_by_page(study), study.questions.iloc[list(fold.test)]
    unreadable = {text_of[one.doc_name, page] for one in test.itertuples() for page in one.gold_pages} | {""}
    return (corpus.pages["doc_name"].isin(filings) & ~corpus.pages["text"].isin(unreadable)).to_numpy()


def _phase(pairs: pd.DataFrame, pages: np.ndarray, epochs: int) -> Phase:
    gold_of = pd.Series(pages).groupby(pairs["question"].to_numpy()).agg(frozenset)
    none = [np.array([], int)] * len(pairs)
    return Phase(pairs["question"].tolist(), pages, gold_of[pairs["question"]].tolist(), none, epochs)


def hard_negatives(
    pairs: pd.DataFrame,
    phase: Phase,
    corpus: Corpus,
    is_readable: np.ndarray,
    asked: np.ndarray,
    vectors: np.ndarray,
) -> list[np.ndarray]:
    """Rows of texts that may be each pair's negatives.

    These are the pages of its filing that are nearest to its question (NEAREST), and of each other filing of its
    company the page nearest to its gold page, which is mostly the same statement of another year.

    Args:
        pairs, phase: the pairs, which page is gold for which.
        corpus, is_readable: the pages, and which of them may be read.
        asked, vectors: of the pairs' questions and of the texts, before training.
    """
    company_of = corpus.filings.set_index("doc_name")["company"]
    pages = corpus.pages[["doc_name", "company"]].assign(row=corpus.row)[is_readable]
    rows_of = {name: np.unique(rows) for name, rows in pages.groupby("doc_name")["row"]}
    filings_of = pages.groupby("company")["doc_name"].unique()
    found = []
    for doc_name, question, page, gold in zip(pairs["doc_name"], asked, phase.pages, phase.gold, strict=True):
        own = np.setdiff1d(rows_of[doc_name], list(gold)) if doc_name in rows_of else np.array([], int)
        nearest = own[np.argsort(-(vectors[own] @ question), kind="stable")[:NEAREST]]
        siblings = [rows_of[name] for name in filings_of.get(company_of[doc_name], []) if name != doc_name]
        twins = [rows[np.argmax(vectors[rows] @ vectors[page])] for rows in siblings]
        found.append(np.setdiff1d([*nearest, *twins], list(gold)).astype(int))
    return found

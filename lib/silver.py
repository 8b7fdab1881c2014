"""Silver questions: made by rule from filings that no question is about, to train on, never to score on.

They are written by ``python -m lib silver`` into a folder beside the dataset's profiles; they contain filings' text.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lib.files import digest_of, digest_of_file
from lib.folds import Fold
from lib.retrievers.names import bare
from lib.study import Study
from lib.words import NeedsFilings

FILES = ("questions", "filings", "pages")
COLUMNS = ("question_id", "question", "answer", "kind", "doc_name", "company", "gold_pages")


@dataclass(frozen=True)
class Silver:
    """Silver questions and the filings they are about.

    Attributes:
        questions: COLUMNS; the kinds are ``lookup``, ``change``, ``ratio`` and ``cloze``, gold pages count from 0.
        filings: FILING_COLUMNS of the unlabelled filings that are asked about.
        pages: PAGE_COLUMNS of these filings, all pages.
        digest: what identifies the content.
    """

    questions: pd.DataFrame
    filings: pd.DataFrame
    pages: pd.DataFrame
    digest: str

    def for_fold(self, fold: Fold, filings: pd.DataFrame) -> "Silver":
        """What a fold may train on: nothing of a filing that it tests nor, in folds by company, of its company.

        Args:
            fold: of the study's questions.
            filings: the study's, whose companies the fold's are.
        """
        company_of = filings.set_index("doc_name")["company"]
        tested = {bare(company_of[name]) for name in fold.test_filings} if fold.by == "company" else set()
        is_tested = self.filings["company"].map(bare).isin(tested) | self.filings["doc_name"].isin(
            fold.test_filings
        )
        kept = self.filings["doc_name"][~is_tested]
        parts = {name: getattr(self, name) for name in FILES}
        return replace(self, **{name: part[part["doc_name"].isin(kept)] for name, part in parts.items()})


def folder(study: Study) -> Path:
    """Where the silver questions of a study's dataset are."""
    return study.home.parent / "silver"


def read_silver(study: Study) -> Silver:
    """The silver questions that were written for a study.

    Raises:
        NeedsFilings: there are none.
    """
    paths = [folder(study) / f"{name}.parquet" for name in FILES]
    if not all(path.is_file() for path in paths):
        raise NeedsFilings("there are no silver questions: write them by python -m lib silver")
    return Silver(*map(pd.read_parquet, paths), digest_of([*map(digest_of_file, paths)])[:20])

"""Pages that are given, as a study whose views can be seen: of some filings of an archive, or of silver questions."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from lib.ahead.views import PageViews, asked_vectors, page_views
from lib.models.index import window_vectors
from lib.profile import Settings
from lib.study import Study


class Given(Study):
    """Filings in memory as a study, a chunk a page; what is made of them lives as long as it.

    Args:
        profile: sizes and models.
        filings: FILING_COLUMNS.
        pages: PAGE_COLUMNS, those of a filing together.
    """

    def __init__(self, profile: Settings, filings: pd.DataFrame, pages: pd.DataFrame):
        self.profile, self._filings, self._given, self._memo = profile, filings, pages, {}

    def memo(self, key: object, compute: Callable[[], object]) -> object:
        """A value that is kept as long as this study."""
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]

    def know(self, question: str, asked: list[np.ndarray], owners: np.ndarray, windows: np.ndarray) -> None:
        """Take the one question that will be asked, and vectors, so that no encoder is needed.

        Args:
            question, asked: a question, and what :func:`lib.ahead.views.asked_vectors` gives for it.
            owners: the row of each window's page, not falling.
            windows: unit vectors, shape (n_windows, dimension).
        """
        self._memo |= {asked_vectors.key((question,)): asked, window_vectors.key(): (owners, windows)}
        self._memo[page_views.key()] = PageViews(self, [question])

    @property
    def filings(self) -> pd.DataFrame:
        """FILING_COLUMNS."""
        return self._filings

    @property
    def pages(self) -> pd.DataFrame:
        """PAGE_COLUMNS."""
        return self._given

    @property
    def chunks(self) -> pd.DataFrame:
        """A chunk a page."""
        return self._given

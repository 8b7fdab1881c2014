"""What a metric is: a value with its function, its source and how the book names it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One metric. A new one is a function and a row in the list of its module.

    Attributes:
        name: in metrics.csv.gz.
        title: as tables and figures name it.
        source: where it is from.
        function: retrieval: ``(run, questions, k) -> Series`` by question_id; overlap: ``(chunk, evidence) -> float``;
            answers: ``(prediction, answer, question) -> float``; a measure of ``ir_measures`` for ranked pages.
        tolerance: how far a value may move between machines; 0 for what is a ranking only.
        is_numeric: an answer metric that only questions with a number as answer have.
    """

    name: str
    title: str
    source: str
    function: Callable
    tolerance: float = 0.0
    is_numeric: bool = False

    @property
    def in_words(self) -> str:
        """The title within a sentence: ``page recall``, but ``nDCG``."""
        return self.title if any(map(str.isupper, self.title[1:])) else self.title.lower()

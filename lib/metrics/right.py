"""``answer_right``: whether the figure that an answer concludes with is the reference, read as people read it.

A person looks at what an answer ends with, not at its operands; accepts another last digit, the statement's own unit
(302,578 for $303 million) and a fraction for its percentage. Which figures count and how far one may be off is a choice
of READINGS, made on labels of people in folds (:mod:`lib.analysis.calibration`); READING is what all labels give.
"""

import math
import re
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple

import pandas as pd

from lib.metrics.answers import Quantity, asked_unit, one_quantity, quantities, refusal_rule
from lib.metrics.frame import Metric, long_frame

#: Formulas as they are written in LaTeX, and basis points: what is replaced before figures are read.
_PLAIN = (
    (re.compile(r"\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"(\1) / (\2)"),
    (re.compile(r"\\approx"), "≈"),
    (re.compile(r"\\(?:text|mathrm|times|left|right|boxed|[,;()\[\]])|[{}*_`]"), " "),
    (re.compile(r"\\([$%])"), r"\1"),
    (re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:bps|basis\spoints?)\b"), lambda m: f"{float(m[1]) / 100:g}%"),
)
_SENTENCE_ENDS = re.compile(r'\n+|(?<=[.!?:;])\s+(?=[A-Z"“(*$\\-])')
_EQUALS = re.compile(r"=|≈|\bequals?\b")
_DENIES = re.compile(r"\b(?:not?|never|cannot|neither|nor|none)\b|n['’]t\b", re.I)

#: Which figures of an answer count, of those of each sentence after its last equals sign.
PLACES = {
    "closing sentence": lambda sentences: sentences[-1],
    "last figure": lambda sentences: sentences[-1][-1:],
    "any sentence": lambda sentences: [*chain(*sentences)],
    "opening sentence": lambda sentences: sentences[0],
}
#: How far a figure may be off: units of the reference's last digit, or a share of it, whichever is more.
TOLERANCES = ((0.5, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 0.005), (1.0, 0.01), (1.0, 0.02), (1.0, 0.03))


class Reading(NamedTuple):
    """A way to read answers: a key of PLACES and one of TOLERANCES."""

    place: str
    tolerance: tuple[float, float]


READINGS = tuple(Reading(place, tolerance) for place, tolerance in product(PLACES, TOLERANCES))
READING = Reading("closing sentence", (1.0, 0.005))


class Figure(NamedTuple):
    """A reference that is a bare number; ``value`` and ``digit`` are in its ``unit``, 65.4 % is 65.4."""

    value: float
    digit: float  # one unit of its last digit that is not a 0 behind the point
    unit: float
    is_percent: bool
    is_money: bool


def figure(answer: str, question: str | None = None) -> Figure | None:
    """The figure that a gold answer is, in its own scale or the one that the question asks for; None for a text."""
    if (in_answer := one_quantity(answer)) is None:
        return None
    quantity, digits = in_answer
    size = float(digits.replace(",", ""))
    unit = abs(quantity.value) / size if quantity.is_scaled and size else asked_unit(question)
    digit = 10.0 ** -len(digits.partition(".")[2].rstrip("0"))
    return Figure(math.copysign(size, quantity.value), digit, unit, quantity.is_percent, quantity.is_money)


@lru_cache(maxsize=8192)
def concluded(prediction: str, question: str | None = None) -> list[list[Quantity]]:
    """The figures of every sentence that has some, each after the last equals sign before any of them."""
    for pattern, plain in _PLAIN:
        prediction = pattern.sub(plain, prediction)
    by_sentence = []
    for sentence in _SENTENCE_ENDS.split(prediction):
        sides = (quantities(side, question) for side in reversed(_EQUALS.split(sentence)))
        if figures := next(filter(None, sides), None):
            by_sentence.append(figures)
    return by_sentence


def is_same(quantity: Quantity, gold: Figure, tolerance: tuple[float, float] = READING.tolerance) -> bool:
    """Whether a figure is the reference, in the reference's unit or, where it states none, in one of a statement's."""
    if gold.is_percent:
        readings = {quantity.value} if quantity.is_percent else {quantity.value, 100 * quantity.value}
    elif quantity.is_percent:
        readings = set() if gold.is_money else {quantity.value / 100, quantity.value}
    elif quantity.is_scaled:
        readings = {quantity.value / gold.unit}
    else:
        readings = {quantity.value / scale for scale in (1.0, gold.unit, *((1e3, 1e6, 1e9) if gold.unit > 1 else ()))}
    hair = 1 + 1e-9  # 101 is one away from 100 whatever the last bit is
    allowed = max(tolerance[0] * gold.digit, tolerance[1] * abs(gold.value)) * hair
    return any(abs(reading - gold.value) <= allowed for reading in readings)


def answer_right(prediction: str, answer: str, question: str | None = None, by: Reading = READING) -> bool:
    """Whether an answer concludes with the reference's :func:`figure`, which it must be; one that declines is wrong."""
    gold, sentences = figure(answer, question), concluded(prediction, question)
    if not sentences or refusal_rule(prediction):
        return False
    return any(is_same(quantity, gold, by.tolerance) for quantity in PLACES[by.place](sentences))


def says_yes(text: str) -> bool:
    """Whether a text answers yes: by a *yes* or *no* that it begins with, else by whether its first sentence denies."""
    first = next(filter(str.strip, _SENTENCE_ENDS.split(text)), "").lstrip(' "“*')
    return not _DENIES.search(re.match(r"yes\b|", first, re.I)[0] or first)


def same_side(prediction: str, answer: str) -> bool:
    """Whether an answer that does not decline says yes where the gold answer does, and no where it does not."""
    return not refusal_rule(prediction) and says_yes(prediction) == says_yes(answer)


METRICS = (Metric("answer_right", "Right", "this study", answer_right, is_numeric=True),)


def right_metrics(frame: pd.DataFrame) -> pd.DataFrame:
    """``answer_right`` as a long frame, of the questions whose answer is a bare number."""
    rows = [row for row in frame.itertuples() if figure(row.answer, row.question)]
    values = {row.question_id: float(answer_right(row.prediction, row.answer, row.question)) for row in rows}
    return long_frame(pd.Series(values, dtype=float), METRICS[0].name)

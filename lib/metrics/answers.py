"""How good a written answer is: ROUGE-L, numeric match (loose and strict), token F1, BERTScore, and refusals.

The loose numeric match is the published study's; the strict one is ours, made so that a year, a page number or a wrong
scale cannot pass for the answer.
"""

import re
import string
from collections import Counter
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from lib.metrics.frame import Metric, long_frame
from lib.metrics.overlap import Reference

NUMERIC_QUESTION_TYPES = ("metrics-generated",)
_LOOSE_NUMBER = re.compile(r"(?:(?<!\w)-)?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
_FILE = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text(encoding="utf-8"))


def _pattern(pieces: str | list[str]) -> str:
    """An expression of ``answers.yaml``, its words filled in."""
    pattern = "".join(pieces)
    for name, words in _FILE["words"].items():
        pattern = pattern.replace(f"<{name}>", "".join(words))
    return pattern


_NOT_QUANTITY = re.compile("|".join(map(_pattern, _FILE["not_quantities"].values())))
_REFUSALS = {name: re.compile(_pattern(rule), re.I | re.S) for name, rule in _FILE["refusals"].items()}
_QUANTITY = re.compile(_FILE["quantity"], re.VERBOSE | re.I)
_POWERS = {"k": 3, "t": 12, "m": 6, "b": 9, "mm": 6, "mn": 6, "mln": 6, "bn": 9, "bln": 9, "tn": 12}
_POWERS |= {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_ASKED_UNIT = re.compile(r"(?:\b(?:in|USD|EUR|GBP|dollars?)|[$€£¥])\s*(thousand|million|billion|trillion)s?\b", re.I)
_NAME_WITH_DIGITS = re.compile(r"\b[0-9]+[A-Za-z]\w*\b")
_ANSWERS_ANYWAY = re.compile(r"\b(?:however|but|nevertheless|nonetheless)\b.*[0-9]", re.I | re.S)
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def numeric_match(prediction: str, answer: str) -> bool:
    """The published, loose match: some number of the prediction, even a year, is close to some number of the answer."""
    matches = (_LOOSE_NUMBER.findall(re.sub("[,$€£¥]", "", text)) for text in (prediction, answer))
    predicted, gold = (np.array(numbers, dtype=float) for numbers in matches)
    return bool(np.isclose(predicted[:, None], gold, atol=0.03, rtol=0.03).any())


class Quantity(NamedTuple):
    """A number that a text states; ``value`` includes a scale that stands with it, and 65.4 % is 65.4."""

    value: float
    is_percent: bool = False
    is_scaled: bool = False
    is_money: bool = False


def quantities(text: str, question: str | None = None) -> list[Quantity]:
    """The quantities of a text, as ``numeric_match_strict`` understands them.

    Taken out first: what ``answers.yaml`` lists, names with digits that the question uses (3M), and bare whole numbers
    from 1900 to 2100 (years). Negative are ``-5``, ``-$5`` and, as accountants write, ``(5.0)``, ``$(5.0)`` or
    ``(5%)``; an aside with a scale, ``(5.0 million)``, is positive.
    """
    for name in set(_NAME_WITH_DIGITS.findall(question or "")):
        text = re.sub(rf"(?<![\w$.,]){re.escape(name)}\b", " ", text)
    matches = list(_QUANTITY.finditer(_NOT_QUANTITY.sub(" ; ", text)))
    are_years = [re.fullmatch("19[0-9]{2}|20[0-9]{2}|2100", match["digits"]) for match in matches]
    pairs = zip(map(_quantity, matches), are_years, strict=True)
    return [one for one, is_year in pairs if not is_year or one.is_money or one.is_percent or one.is_scaled]


def _quantity(match: re.Match) -> Quantity:
    part = {name: (value or "").strip() for name, value in match.groupdict().items()}
    scale = (part["word"] or part["letter"] or part["capital"]).lower()
    is_open = part["open"] == "(" or part["inner"] == "("
    is_bracketed = is_open and bool(part["close"] or (part["late"] and not scale))
    is_negative = is_bracketed or bool(part["sign"]) or part["inner"] not in ("", "(")
    value = float(part["digits"].replace(",", "")) * 10.0 ** _POWERS.get(scale, 0)
    return Quantity(-value if is_negative else value, bool(part["percent"]), bool(scale), bool(part["currency"]))


def one_quantity(text: str) -> tuple[Quantity, str] | None:
    """The quantity that a whole text is, and its digits as written; None for any other text."""
    match = _QUANTITY.fullmatch(text.strip())
    return (_quantity(match), match["digits"]) if match else None


def first_quantity(text: str) -> str:
    """The first quantity of a text, as it is written; the text where it has none."""
    match = _QUANTITY.search(text)
    return match[0].strip() if match else text


def asked_unit(question: str | None) -> float:
    """The unit that a question names, as in "in USD millions", in ones; 1 where it names none."""
    asked = _ASKED_UNIT.search(question or "")
    return 10.0 ** _POWERS[asked[1].lower()] if asked else 1.0


def numeric_match_strict(prediction: str, answer: str, question: str | None = None) -> bool:
    """Some quantity of the prediction is within 1 % of some quantity of the answer, in sign and unit too.

    Where the question names a unit ("in USD millions"), the answer's number without a scale is in it, and the
    prediction's may be in it or in plain dollars. A percentage equals the fraction it stands for (65.4 % = 0.654),
    never an amount of money; against a gold percentage a bare number may be either.
    """
    unit, both = asked_unit(question), [quantities(text, question) for text in (prediction, answer)]
    return any(_is_same(predicted, gold, unit) for predicted, gold in product(*both))


def _is_same(predicted: Quantity, gold: Quantity, unit: float) -> bool:
    if predicted.is_percent != gold.is_percent and (predicted.is_money or gold.is_money):
        return False
    if gold.is_percent:
        target = gold.value / 100
        readings = {predicted.value / 100} | (set() if predicted.is_percent else {predicted.value})
    else:
        target = gold.value if gold.is_scaled else gold.value * unit
        readings = {predicted.value / 100} if predicted.is_percent else {predicted.value}
        if not (predicted.is_percent or predicted.is_scaled):
            readings.add(predicted.value * unit)
    allowed = 0.01 * abs(target) * (1 + 1e-9)  # 101 is within 1 % of 100 whatever the last bit is
    return any(abs(reading - target) <= allowed for reading in readings)


def token_f1(prediction: str, answer: str) -> float:
    """F1 of the bags of words after SQuAD's normalisation (Rajpurkar et al., EMNLP 2016): lower case, no ASCII
    punctuation (1,577.5 becomes 15775), no a / an / the; two texts without words agree."""
    plain = (text.lower().translate(_PUNCTUATION) for text in (prediction, answer))
    predicted, gold = (Counter(re.sub(r"\b(a|an|the)\b", " ", text).split()) for text in plain)
    if not predicted or not gold:
        return float(predicted == gold)
    return 2 * (predicted & gold).total() / (predicted.total() + gold.total())


def refusal_rule(prediction: str) -> str | None:
    """The name of the first rule of ``answers.yaml`` by which the model declines, None if it answers."""
    for name, rule in _REFUSALS.items():
        match = rule.search(prediction.replace("’", "'"))
        if match and not _ANSWERS_ANYWAY.search(prediction, match.end()):
            return name
    return None


def bert_score(predicted: np.ndarray, gold: np.ndarray) -> float:
    """F1 of greedily matched tokens, without weights (Zhang et al., ICLR 2020): each token counts its best cosine; 0
    without tokens. Both are unit vectors of tokens, shapes (n, dimension) and (m, dimension)."""
    if not len(predicted) or not len(gold):
        return 0.0
    cosines = predicted @ gold.T
    precision, recall = cosines.max(axis=1).mean(), cosines.max(axis=0).mean()
    return float(2 * precision * recall / (precision + recall)) if precision + recall > 0 else 0.0


STRING_METRICS = (
    Metric("answer_rouge_l", "ROUGE-L", "Lin (2004)", lambda p, a, _: Reference(a).rouge_l(p)),
    Metric("token_f1", "Token F1", "Rajpurkar et al. (EMNLP 2016)", lambda p, a, _: token_f1(p, a)),
    Metric("refusal", "Declined", "this study", lambda p, _, __: refusal_rule(p) is not None),
    Metric("numeric_match", "Numeric match", "Kobeissi & Langlais (2026)",
           lambda p, a, _: numeric_match(p, a), is_numeric=True),
    Metric("numeric_match_strict", "Strict match", "this study", numeric_match_strict, is_numeric=True),
)  # fmt: skip
BERT_SCORE = Metric("bert_score", "BERTScore", "Zhang et al. (ICLR 2020)", bert_score, tolerance=0.005)
METRICS = (*STRING_METRICS, BERT_SCORE)


def answer_metrics(frame: pd.DataFrame) -> pd.DataFrame:
    """STRING_METRICS as a long frame, numeric ones for NUMERIC_QUESTION_TYPES, as published.

    ``frame`` has question_id, question, answer, question_type and prediction; one that is missing is a ValueError, as
    an answer that was never written is not a wrong answer.
    """
    missing = frame.loc[frame["prediction"].isna(), "question_id"]
    if len(missing):
        raise ValueError(f"no prediction for {', '.join(sorted(missing.astype(str)))}: generate them first")
    is_numeric = frame["question_type"].isin(NUMERIC_QUESTION_TYPES)
    parts = []
    for metric in STRING_METRICS:
        rows = frame[is_numeric] if metric.is_numeric else frame
        scores = map(metric.function, rows["prediction"], rows["answer"], rows["question"])
        values = pd.Series(list(scores), rows["question_id"], dtype=float)
        parts.append(long_frame(values, metric.name))
    return pd.concat(parts, ignore_index=True)

"""Texts as words, one function for each purpose, and weights of words; published numbers depend on each of them."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Set
from pathlib import Path

#: English words without content, as the Snowball project lists them.
STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
FINANCE = re.compile(r"\$?\d+(?:,\d{3})*(?:\.\d+)?%?|[a-z]+(?:[&'-][a-z]+)*|[$%]")
#: Letters of scripts that put no space between words; two that follow each other stand for a word.
SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
BETWEEN_SPACELESS = re.compile(f"(?<=[{SPACELESS}])\\s+(?=[{SPACELESS}])")
ANY_SCRIPT = re.compile(f"(?=([{SPACELESS}]{{2}}))|[a-z0-9]+|[^\\W_a-z0-9{SPACELESS}][^\\W_{SPACELESS}]*")


def tokenize(text: str) -> list[str]:
    """Lower-case words and numbers; ``$1,577.0``, ``4.2%``, ``p&l`` and ``year-end`` stay whole.

    A number with signs or thousands' commas also gives the bare number, since a question says ``$1577`` and a table
    ``1,577``.
    """
    tokens = []
    for token in FINANCE.findall(text.lower()):
        number = token.strip("$%").replace(",", "")
        tokens += [token, number] if number and number != token else [token]
    return tokens


def content_tokens(text: str) -> list[str]:
    """The tokens of :func:`tokenize` that are not STOP_WORDS."""
    return [token for token in tokenize(text) if token not in STOP_WORDS]


def words_in_any_script(text: str) -> set[str]:
    """The words of a text in any script: pairs of letters where a script has no spaces."""
    joined = BETWEEN_SPACELESS.sub("", unicodedata.normalize("NFKC", text).lower())
    return {match[1] or match[0] for match in ANY_SCRIPT.finditer(joined)}


def word_weights(texts: Collection[Set[str]]) -> dict[str, float]:
    """The weight of each word, ``log(1 + n / df)``, where ``df`` of the ``n`` texts (sets of words) have it."""
    frequency = Counter(word for words in texts for word in words)
    return {word: math.log(1 + len(texts) / n_texts) for word, n_texts in frequency.items()}

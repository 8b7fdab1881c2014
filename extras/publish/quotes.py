"""Text of the dataset in what is to be published: found by runs of words, and kept out.

What a model wrote may echo its question; an echo is published as a reference into the question, from which the text is
restored where the dataset is present.
"""

import gzip
import html
import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import chain, groupby
from pathlib import Path

import numpy as np

from lib.analysis.failures import ASKING_WORDS
from lib.metrics.answers import quantities
from lib.published import LETTERS

WORD = re.compile(r"\w+")
QUESTION_WORDS, FILING_WORDS = 8, 12
MARKUP = re.compile(r"<!--|<[^!][^>]*>")
MIN_LETTERED = 6  # rows of figures are no quotation
GAP = "[…]"
STATED_SHARE = 0.5  # of an answer's own words
TOLERANCE = 0.01  # of a number that is stated
SCALES = tuple(1000.0**power for power in range(-3, 4))

Piece = str | list


class Quotations:
    """Finds runs of words that also stand in given texts.

    Args:
        texts: the texts that must not be quoted.
        n_words: how many words in a row make a quotation; a shorter text counts as a whole.
    """

    def __init__(self, texts: Iterable[str], n_words: int):
        self.n_words, self.number_of = n_words, {}
        self.short: set[tuple[str, ...]] = set()
        parts = []
        for text in texts:
            words = WORD.findall(text.lower())
            if len(words) < n_words:
                self.short |= {tuple(words)} if len(words) > 3 else set()
            else:
                numbers = [self.number_of.setdefault(word, len(self.number_of) + 1) for word in words]
                parts.append(self._hashes(numbers))
        self.hashes = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)

    def _hashes(self, numbers: list[int]) -> np.ndarray:
        """A hash of every run of ``n_words`` words, shape (n_words_of_text - n_words + 1,)."""
        values, factor = np.array(numbers, np.uint64), np.uint64(0x9E3779B97F4A7C15)
        total = np.zeros(max(0, len(values) - self.n_words + 1), np.uint64)
        for offset in range(self.n_words):
            total = total * factor + values[offset : offset + len(total)]
        return total

    def longest(self, text: str) -> str:
        """The longest quotation in a text, as words in a row; empty if there is none."""
        words = WORD.findall(text.lower())
        hashes = self._hashes([self.number_of.get(word, 0) for word in words])
        nearest = np.searchsorted(self.hashes, hashes)
        hits = self.hashes.take(nearest, mode="clip") == hashes if len(self.hashes) else []
        rows = (list(row) for is_hit, row in groupby(range(len(hits)), key=hits.__getitem__) if is_hit)
        length, start = max(((len(row) + self.n_words - 1, row[0]) for row in rows), default=(0, 0))
        run = words[start : start + length]
        if sum(word.isalpha() and len(word) > 2 for word in run) >= MIN_LETTERED:
            return " ".join(run)
        joined = f" {' '.join(words)} "
        return next((" ".join(short) for short in self.short if f" {' '.join(short)} " in joined), "")


def text_of(path: Path) -> str:
    """The text of a file, unpacked where it is ``.gz``; of a drawing its words in one line, as a text of several lines
    is several elements."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    return " ".join(html.unescape(MARKUP.sub(" ", text)).split()) if path.suffix == ".svg" else text


def as_pieces(text: str, question: str, n_words: int = QUESTION_WORDS) -> list[Piece]:
    """A text as pieces: strings, and references into the question where it echoes it.

    Joining the pieces gives the text again, exactly, and shows what a reference is: :func:`lib.published.from_pieces`.
    """
    words, asked = ([(m.group().lower(), m.span()) for m in WORD.finditer(one)] for one in (text, question))
    n_words = min(n_words, max(len(asked), 4))
    matcher = SequenceMatcher(None, [word for word, _ in words], [word for word, _ in asked], autojunk=False)
    pieces: list[Piece] = []
    done = 0
    for first, second, size in matcher.get_matching_blocks():
        if size >= n_words:
            start, end = words[first][1][0], words[first + size - 1][1][1]
            low, high = asked[second][1][0], asked[second + size - 1][1][1]
            pieces += [text[done:start], *_echo(text[start:end], question, low, high)]
            done = end
    if not pieces:
        return [text] if text else []
    parts = (as_pieces(one, question, n_words) if isinstance(one, str) else [one] for one in (*pieces, text[done:]))
    return list(chain.from_iterable(parts))


def _echo(text: str, question: str, low: int, high: int) -> list[Piece]:
    """A text that has the words of ``question[low:high]``, in pieces."""
    pieces: list[Piece] = []
    matcher = SequenceMatcher(None, _folded(question[low:high]), _folded(text), autojunk=False)
    for kind, a, _, c, d in matcher.get_opcodes():
        if kind != "equal":
            pieces.append(text[c:d])
            continue
        for place, letter in enumerate(text[c:d], low + a):
            last = pieces[-1] if pieces and isinstance(pieces[-1], list) and pieces[-1][1] == place else None
            modes = [mode for mode, change in LETTERS.items() if change(question[place]) == letter]
            if last and last[2] in modes:
                last[1] += 1
            else:
                pieces.append([place, place + 1, modes[0]] if modes else letter)
    return [piece if isinstance(piece, str) or piece[2] else piece[:2] for piece in pieces]


def _folded(text: str) -> str:
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def with_gaps(pieces: list[Piece]) -> str:
    """The pieces as a text in which an echo of the question is a gap."""
    shown = "".join(piece if isinstance(piece, str) else GAP for piece in pieces)
    return re.sub(rf"{re.escape(GAP)}(?:\W{{0,3}}{re.escape(GAP)})+", GAP, shown)


def states(text: str, answer: str, question: str) -> bool:
    """Whether a text still states an answer: one of its numbers (within 1 %, up to sign and thousands, as ``1,577`` in
    a table in millions states ``$1.577 billion``), the yes or no that it begins with, or STATED_SHARE of the words that
    it has and the question has not."""
    words, answer_words, asked = (WORD.findall(one.lower()) for one in (text, answer, question))
    if answer_words[:1] in (["yes"], ["no"]) and words[:1] == answer_words[:1]:
        return True
    wanted, stated = (np.array([abs(one.value) for one in quantities(of, question)]) for of in (answer, text))
    gaps = np.abs(np.outer(stated, SCALES).ravel()[:, None] - wanted)
    own = {word for word in answer_words if word.isalpha() and len(word) > 1} - {*asked, *ASKING_WORDS, "yes"}
    is_worded = bool(own) and len(own & set(words)) >= STATED_SHARE * len(own)
    return bool((gaps <= TOLERANCE * wanted).any()) or is_worded

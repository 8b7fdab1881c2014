"""How much of the gold evidence a chunk holds: sentence BLEU and ROUGE-L, fast and equal to the libraries.

``ctx_bleu``: sentence BLEU (Papineni et al., ACL 2002; sacrebleu, Post, WMT 2018) with effective order,
divided by 100. ``ctx_rouge_l``: F1 of the longest common subsequence (Lin, 2004) over the words of the
``rouge_score`` package. Both compare a chunk with a question's pieces of evidence joined into one text, and
lie between 0 and 1 (an identical text may score 1 + 4e-16: sacrebleu's own rounding, kept).

What makes it fast is exact: 13a tokenisation is done once for each distinct word, the evidence is counted
once, only n-grams that the evidence holds are counted in the chunk, and the subsequence is found bit-parallel.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, repeat

import numpy as np
import pandas as pd
from rapidfuzz.distance import LCSseq
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from lib.metrics.frame import Metric, long_frame
from lib.metrics.retrieval import DEPTHS

MAX_ORDER = 4
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_split_symbols = TokenizerRegexp()
_rouge_words = re.compile("[a-z0-9]+").findall


def bleu_signature() -> str:
    """sacrebleu's signature of ``ctx_bleu``, for a table's caption."""
    bleu = BLEU(effective_order=True)
    bleu.sentence_score("a", ["a"])  # the signature needs to know the number of references
    return str(bleu.get_signature())


@lru_cache(maxsize=2**18)
def _word_13a(word: str) -> tuple[str, ...]:
    if word.isalnum():  # 13a splits at symbols only
        return (word,)
    for entity, character in _ENTITIES:
        word = word.replace(entity, character)
    return tuple(_split_symbols(f" {word} ").split())


def tokenize_13a(text: str) -> list[str]:
    """The tokens of sacrebleu's ``13a`` tokenizer (mteval-v13a).

    No rule of 13a looks across white space but those applied here, so words are split alone and remembered.
    """
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "")
    return list(chain.from_iterable(map(_word_13a, text.split())))


def tokenize_rouge(text: str) -> list[str]:
    """The tokens of ``rouge_score``: lower-cased runs of a-z and 0-9, so ``$1,577.5`` is ``1 577 5``."""
    return _rouge_words(text.lower())


class Reference:
    """A text that others are compared with, as evidence or a gold answer; tokenised and counted once, on first use."""

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def _ngrams(self) -> tuple[dict[str, int], int, list[tuple[np.ndarray, np.ndarray]]]:
        """Token ids, length, and for n = 1 to 4 the sorted n-gram codes and their counts.

        The code of an n-gram is (index of its first n-1 tokens) * (vocabulary size) + (id of its last token),
        which stays far below 2**63 because an index is below the text's length.
        """
        tokens = tokenize_13a(self.text)
        ids = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
        sequence = np.fromiter(map(ids.__getitem__, tokens), np.int64, len(tokens))
        tables = [(np.arange(len(ids)), np.bincount(sequence, minlength=len(ids)))]
        prefix = sequence
        for n in range(2, MAX_ORDER + 1):
            codes = prefix[: max(len(tokens) - n + 1, 0)] * len(ids) + sequence[n - 1 :]
            distinct, prefix, counts = np.unique(codes, return_inverse=True, return_counts=True)
            tables.append((distinct, counts))
        return ids, len(tokens), tables

    def bleu(self, text: str) -> float:
        """Sentence BLEU of ``text`` against this reference, from 0 to 1."""
        ids, n_reference, tables = self._ngrams
        tokens = tokenize_13a(text)
        sequence = np.fromiter(map(ids.get, tokens, repeat(-1)), np.int64, len(tokens))
        starts = np.flatnonzero(sequence >= 0)
        found = sequence[starts]
        correct = [0] * MAX_ORDER
        for n, (codes, counts) in enumerate(tables, start=1):
            if not len(codes):
                break
            if n > 1:
                is_open = starts + n <= len(tokens)
                starts, found = starts[is_open], found[is_open]
                last = sequence[starts + n - 1]
                wanted = found * len(ids) + last
                found = np.searchsorted(codes, wanted)
                # A last token that the reference lacks has id -1, which would be the code of another n-gram.
                is_known = (last >= 0) & (codes[np.minimum(found, len(codes) - 1)] == wanted)
                starts, found = starts[is_known], found[is_known]
            correct[n - 1] = int(np.minimum(np.bincount(found, minlength=len(counts)), counts).sum())
        total = [max(len(tokens) - n, 0) for n in range(MAX_ORDER)]
        score = BLEU.compute_bleu(correct, total, len(tokens), n_reference, "exp", effective_order=True)
        return score.score / 100

    @cached_property
    def _letters(self) -> tuple[dict[str, str], str]:
        """Each distinct word as one character, and the reference spelt so: rapidfuzz likes strings best."""
        words = tokenize_rouge(self.text)
        letters = {word: chr(i) for i, word in enumerate(dict.fromkeys(words))}
        return letters, "".join(map(letters.__getitem__, words))

    def rouge_l(self, text: str) -> float:
        """ROUGE-L F1 of ``text`` against this reference, from 0 to 1."""
        letters, spelt = self._letters
        words = tokenize_rouge(text)
        if not words or not spelt:
            return 0.0
        # A word that the reference lacks is in no common subsequence: it counts in the length alone.
        n_common = LCSseq.similarity(spelt, "".join(map(letters.get, words, repeat(""))))
        precision, recall = n_common / len(words), n_common / len(spelt)
        return 2 * precision * recall / (precision + recall) if n_common else 0.0


METRICS = (
    Metric("ctx_bleu", "BLEU", "Papineni et al. (ACL 2002); sacrebleu, Post (WMT 2018)",
           lambda chunk, evidence: Reference(evidence).bleu(chunk), 0.005),
    Metric("ctx_rouge_l", "ROUGE-L", "Lin (2004)", lambda chunk, evidence: Reference(evidence).rouge_l(chunk), 0.005),
)  # fmt: skip
NAMES = [metric.name for metric in METRICS]
VERSION = 1


def pair_scores(pairs: Sequence[tuple[str, str]], rows: Callable | None = None) -> np.ndarray:
    """BLEU and ROUGE-L of (evidence, chunk) pairs, shape (n_pairs, 2).

    Args:
        pairs: texts.
        rows: :meth:`lib.cache.Cache.rows`, where pairs that were scored before are looked up; None scores all.
    """

    def compute(items: Sequence[tuple[str, str]]) -> np.ndarray:
        references = {evidence: Reference(evidence) for evidence, _ in items}
        both = [(references[evidence], chunk) for evidence, chunk in items]
        scored = [(reference.bleu(chunk), reference.rouge_l(chunk)) for reference, chunk in both]
        return np.array(scored, float).reshape(-1, len(NAMES))

    if rows is None:
        return compute(pairs)
    space = {"metrics": NAMES, "version": VERSION, "bleu": bleu_signature()}
    return rows(space, pairs, compute, dtype=np.float64, label="overlap").reshape(-1, len(NAMES))


def overlap_metrics(
    run: pd.DataFrame,
    chunk_texts: Mapping[str, str],
    questions: pd.DataFrame,
    ks: Sequence[int] = DEPTHS,
    rows: Callable | None = None,
) -> pd.DataFrame:
    """``ctx_bleu`` and ``ctx_rouge_l`` of the best of the top k chunks, for every question.

    Args:
        run: one run.
        chunk_texts: chunk id to text, for every chunk of the run's top ``max(ks)``.
        questions: with ``evidence``, its pieces joined by a blank line.
        ks: depths.
        rows: see :func:`pair_scores`.

    Returns:
        Long frame question_id, metric, k, value; a question without rows in the run scores 0.

    Raises:
        KeyError: a chunk of the run has no text.
    """
    evidence = questions.set_index("question_id", verify_integrity=True)["evidence"]
    top = run[(run["rank"] <= max(ks)) & run["question_id"].isin(evidence.index)]
    pairs = zip(top["question_id"], top["chunk_id"], strict=True)
    texts = [(evidence[question_id], chunk_texts[chunk_id]) for question_id, chunk_id in pairs]
    scores = pair_scores(texts, rows)
    scored = pd.DataFrame(scores, columns=NAMES, index=top.index)
    parts = []
    for k in ks:
        best = scored[top["rank"] <= k].groupby(top["question_id"]).max()
        best = best.reindex(evidence.index, fill_value=0.0)
        parts += [long_frame(best[name], name, k) for name in NAMES]
    return pd.concat(parts, ignore_index=True)

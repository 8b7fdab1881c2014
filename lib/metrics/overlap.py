"""How much of the gold evidence a chunk holds: sentence BLEU and ROUGE-L.

``ctx_bleu``: sentence BLEU (Papineni et al., ACL 2002; sacrebleu, Post, WMT 2018) with effective order, divided by 100.
``ctx_rouge_l``: F1 of the longest common subsequence (Lin, 2004), words and F1 by ``rouge_score`` without a stemmer.
Both compare a chunk with a question's pieces of evidence joined into one text, and lie between 0 and 1.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import repeat

import numpy as np
import pandas as pd
from rapidfuzz.distance import LCSseq
from rouge_score.scoring import fmeasure
from rouge_score.tokenize import tokenize

from lib.metrics.frame import Metric, long_frame


@cache
def _bleu():
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


def bleu_signature() -> str:
    """sacrebleu's signature of ``ctx_bleu``, for a table's caption."""
    _bleu().sentence_score("a", ["a"])  # the signature needs to know the number of references
    return str(_bleu().get_signature())


class Reference:
    """A text that others are compared with, as evidence or a gold answer; its words are counted once, on first use."""

    def __init__(self, text: str):
        self.text = text

    def bleu(self, text: str) -> float:
        """Sentence BLEU of ``text``, from 0 to 1."""
        return _bleu().sentence_score(text, [self.text]).score / 100

    @cached_property
    def _letters(self) -> tuple[dict[str, str], str]:
        """Each distinct word as one character, and the reference spelt so: rapidfuzz likes strings best."""
        words = tokenize(self.text, stemmer=None)
        letters = {word: chr(i) for i, word in enumerate(dict.fromkeys(words))}
        return letters, "".join(map(letters.__getitem__, words))

    def rouge_l(self, text: str) -> float:
        """ROUGE-L F1 of ``text``, from 0 to 1."""
        letters, spelt = self._letters
        words = tokenize(text, stemmer=None)
        # A word that the reference lacks is in no common subsequence: it counts in the length alone.
        n_common = LCSseq.similarity(spelt, "".join(map(letters.get, words, repeat(""))))
        return fmeasure(n_common / len(words), n_common / len(spelt)) if n_common else 0.0


METRICS = (
    Metric("ctx_bleu", "BLEU", "Papineni et al. (ACL 2002); sacrebleu, Post (WMT 2018)", Reference.bleu, 0.005),
    Metric("ctx_rouge_l", "ROUGE-L", "Lin (2004)", Reference.rouge_l, 0.005),
)
NAMES = [metric.name for metric in METRICS]
VERSION = 1


def overlap_metrics(
    run: pd.DataFrame,
    chunk_texts: Mapping[str, str],
    questions: pd.DataFrame,
    ks: Sequence[int],
    rows: Callable,
    label: str = "overlap",
) -> pd.DataFrame:
    """METRICS of the best of the top k chunks, by question_id, metric, k; 0 for a question without rows in the run.

    ``rows`` is :meth:`lib.cache.Cache.rows`, where pairs that were scored before are looked up; ``label`` is of its
    progress. A chunk without text is a KeyError.
    """

    def compute(items: Sequence[tuple[str, str]]) -> np.ndarray:
        references = {evidence: Reference(evidence) for evidence, _ in items}
        scored = [[metric.function(references[one], chunk) for metric in METRICS] for one, chunk in items]
        return np.array(scored, float).reshape(-1, len(NAMES))

    evidence = questions.set_index("question_id", verify_integrity=True)["evidence"]
    top = run[(run["rank"] <= max(ks)) & run["question_id"].isin(evidence.index)]
    ids = zip(top["question_id"], top["chunk_id"], strict=True)
    pairs = [(evidence[question_id], chunk_texts[chunk_id]) for question_id, chunk_id in ids]
    space = {"metrics": NAMES, "version": VERSION, "bleu": bleu_signature()}
    scores = rows(space, pairs, compute, dtype=np.float64, label=label).reshape(-1, len(NAMES))
    scored = pd.DataFrame(scores, columns=NAMES, index=top.index)
    best = {k: scored[top["rank"] <= k].groupby(top["question_id"]).max() for k in ks}
    by_depth = {k: of_k.reindex(evidence.index, fill_value=0.0) for k, of_k in best.items()}
    parts = [long_frame(values[name], name, k) for k, values in by_depth.items() for name in NAMES]
    return pd.concat(parts, ignore_index=True)

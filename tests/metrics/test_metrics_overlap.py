"""BLEU is sacrebleu's, ROUGE-L that of rouge_score, and each pair is scored once."""

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

from lib.cache import Cache
from lib.metrics import overlap
from lib.metrics.overlap import Reference

SACREBLEU = BLEU(effective_order=True)
ROUGE = RougeScorer(["rougeL"])

# Pieces that the tokenizers treat specially, glued together at random, beside free unicode text.
PIECES = ["a", "b", "the", "Net", "sales", "running", "1,234.5", "$", "(12)", "3.", ".5", "5-", "-", "-\n", "\n", ","]
PIECES += ["&amp;", "&quot;", "&lt;", "&amp;lt;", "&", "<skipped>", "<skip<skipped>ped>", " ", "  ", "\t", "\u00a0"]
PIECES += ["\u2028", "\x1c", "..", ".,", "1.-2", "é", "İ", "ΑΣ", "\u212a", "日本", "%", "'", "can't", "\u00ad", "²"]
glued = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
words = st.lists(st.sampled_from(["a", "b", "c", "running"]), max_size=25).map(" ".join)
texts = st.one_of(glued, words, st.text(max_size=40), st.text(st.characters(max_codepoint=127), max_size=60))


def bleu(text: str, reference: str) -> float:
    return SACREBLEU.sentence_score(text, [reference]).score / 100


@given(texts, texts)
@example("", "")
@example("a a a a", "a a")
@example("İstanbul \u212aelvin ΑΣ", "i stanbul kelvin")
def test_overlap_equals_that_of_the_libraries(text, reference):
    assert Reference(reference).rouge_l(text) == ROUGE.score(reference, text)["rougeL"].fmeasure
    assert Reference(reference).bleu(text) == bleu(text, reference)


TEXTS = {"c1": "x y", "c2": "a b", "c3": "a b c d"}
QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2", "q3"], "evidence": ["a b c d", "x y", "a"]})


def computed(space, pairs, compute, **_):
    """Rows of a cache that keeps nothing."""
    return compute(pairs)


def overlap_of(ks=(1,), rows=computed, chunk_texts=TEXTS, **chunks: list[str]) -> dict[tuple, float]:
    """The overlap of a run with these chunks by question, by question, metric and depth."""
    ranked = [(question, rank, chunk) for question, ids in chunks.items() for rank, chunk in enumerate(ids, start=1)]
    run = pd.DataFrame(ranked, columns=["question_id", "rank", "chunk_id"])
    frame = overlap.overlap_metrics(run, chunk_texts, QUESTIONS, ks, rows)
    return frame.set_index(["question_id", "metric", "k"])["value"].to_dict()


def test_overlap_is_that_of_the_best_chunk_so_far_and_0_without_one():
    found = overlap_of((1, 2, 3), q1=["c1", "c2", "c3"], q2=["c2"], other=["unknown chunk"])
    assert [found["q1", "ctx_rouge_l", k] for k in (1, 2, 3)] == [0.0, pytest.approx(2 / 3), 1.0]
    assert [found["q1", "ctx_bleu", k] for k in (2, 3)] == [bleu("a b", "a b c d"), pytest.approx(1.0)]
    assert {value for (question, *_), value in found.items() if question != "q1"} == {0.0}
    assert len(found) == 3 * 2 * 3
    assert [*overlap_of((1, 5)).values()] == [0.0] * 3 * 2 * 2
    with pytest.raises(KeyError, match="c9"):
        overlap_of(q1=["c9"])


def test_pairs_are_scored_once_across_methods_and_a_changed_chunk_is_a_new_pair(tmp_path):
    cached, scored = Cache(tmp_path / "cache.sqlite").rows, []

    def rows(space, pairs, compute, **named):
        noted = lambda items: scored.extend(chunk for _, chunk in items) or compute(items)  # noqa: E731
        return cached(space, pairs, noted, **named)

    overlap_of((1, 5), rows, q1=["c1", "c2"])
    assert overlap_of((1, 5), rows, q1=["c2", "c3"]) == overlap_of((1, 5), q1=["c2", "c3"])
    assert sorted(scored) == sorted(TEXTS.values())
    assert overlap_of((1,), rows, {"c1": "a b c d"}, q1=["c1"])["q1", "ctx_rouge_l", 1] == 1.0

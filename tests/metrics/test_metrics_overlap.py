"""BLEU is sacrebleu's, our ROUGE-L equals that of rouge_score, and both are scored once."""

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

from lib.cache import Cache
from lib.metrics import overlap
from lib.metrics.overlap import Reference

MANY = settings(max_examples=400, deadline=None, derandomize=True)
SACREBLEU = BLEU(effective_order=True)
ROUGE = RougeScorer(["rougeL"])

# Pieces that the tokenizers treat specially, glued together at random, beside free unicode text.
PIECES = ["a", "b", "the", "Net", "sales", "running", "1,234.5", "$", "(12)", "3.", ".5", "5-", "-", "-\n", "\n", ","]
PIECES += ["&amp;", "&quot;", "&lt;", "&amp;lt;", "&", "<skipped>", "<skip<skipped>ped>", " ", "  ", "\t", "\u00a0"]
PIECES += ["\u2028", "\x1c", "..", ".,", "1.-2", "é", "İ", "ΑΣ", "\u212a", "日本", "%", "'", "can't", "\u00ad", "²"]
glued = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
words = st.lists(st.sampled_from(["a", "b", "c", "running"]), max_size=25).map(" ".join)
texts = st.one_of(glued, words, st.text(max_size=40), st.text(st.characters(max_codepoint=127), max_size=60))


def sacrebleu(text: str, reference: str) -> float:
    return SACREBLEU.sentence_score(text, [reference]).score / 100


def rouge_score(text: str, reference: str) -> float:
    return ROUGE.score(reference, text)["rougeL"].fmeasure


def test_bleu_by_hand():
    # 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples; as long as the reference, so no penalty.
    expected = (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert Reference("a b c d e").bleu("a b c d x") == pytest.approx(expected)


def test_rouge_l_by_hand():
    # The longest common subsequence of "a x b c" and "a b y c z" is "a b c": P = 3/4, R = 3/5.
    assert Reference("A b, y (c) z.").rouge_l("a x b c") == pytest.approx(2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))


def test_identical_texts_score_one_and_disjoint_texts_zero():
    assert Reference("Net sales rose.").bleu("Net sales rose.") == pytest.approx(1.0)
    assert Reference("Net sales rose.").rouge_l("Net sales rose.") == 1.0
    assert Reference("c d").bleu("a b") == Reference("c d").rouge_l("a b") == 0.0


@MANY
@given(texts, texts)
@example("", "")
@example("a a a a", "a a")
@example("İstanbul \u212aelvin ΑΣ", "i stanbul kelvin")
def test_rouge_l_equals_rouge_score_exactly(text, reference):
    assert Reference(reference).rouge_l(text) == rouge_score(text, reference)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_equal_on_texts_as_long_as_chunks(random):
    vocabulary = [f"w{i}" for i in range(60)] + ["1,234", "$", "(5)", "Net", "sales,", "total."]
    text, reference = (" ".join(random.choices(vocabulary, k=n)) for n in (700, 250))
    prepared = overlap.Reference(reference)
    assert prepared.bleu(text) == sacrebleu(text, reference) > 0
    assert prepared.rouge_l(text) == rouge_score(text, reference) > 0


def test_signature_names_the_settings():
    signature = overlap.bleu_signature()
    for setting in ("nrefs:1", "case:mixed", "eff:yes", "tok:13a", "smooth:exp", "version:"):
        assert setting in signature


def questions_of(**evidence: str) -> pd.DataFrame:
    return pd.DataFrame({"question_id": list(evidence), "evidence": list(evidence.values())})


def run_of(**chunks: list[str]) -> pd.DataFrame:
    rows = [(q, rank, chunk) for q, ids in chunks.items() for rank, chunk in enumerate(ids, start=1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "chunk_id"])


TEXTS = {"c1": "x y", "c2": "a b", "c3": "a b c d"}
QUESTIONS = questions_of(q1="a b c d", q2="x y", q3="a")


def value(frame: pd.DataFrame, question: str, metric: str, k: int) -> float:
    is_row = (frame["question_id"] == question) & (frame["metric"] == metric) & (frame["k"] == k)
    return frame.loc[is_row, "value"].item()


def computed(space, pairs, compute, **_):
    """Rows of a cache that keeps nothing."""
    return compute(pairs)


def test_overlap_is_that_of_the_best_chunk_so_far():
    frame = overlap.overlap_metrics(run_of(q1=["c1", "c2", "c3"], q2=["c2"]), TEXTS, QUESTIONS, (1, 2, 3), computed)
    assert [value(frame, "q1", "ctx_rouge_l", k) for k in (1, 2, 3)] == [0.0, pytest.approx(2 / 3), 1.0]
    assert [value(frame, "q2", "ctx_rouge_l", k) for k in (1, 2, 3)] == [0.0, 0.0, 0.0]
    assert [value(frame, "q1", "ctx_bleu", k) for k in (2, 3)] == [sacrebleu("a b", "a b c d"), pytest.approx(1.0)]


def test_unanswered_questions_score_zero_and_other_questions_are_ignored():
    run = run_of(q1=["c3"], other=["unknown chunk"])
    frame = overlap.overlap_metrics(run, TEXTS, QUESTIONS, (1,), computed)
    assert len(frame) == 3 * 2
    assert value(frame, "q3", "ctx_bleu", 1) == 0.0
    empty = overlap.overlap_metrics(run.iloc[:0], TEXTS, QUESTIONS, (1, 5), computed)
    assert empty["value"].eq(0.0).all()
    assert len(empty) == 3 * 2 * 2


def test_a_chunk_without_text_is_an_error():
    with pytest.raises(KeyError, match="c9"):
        overlap.overlap_metrics(run_of(q1=["c9"]), TEXTS, QUESTIONS, (1,), computed)


def test_pairs_are_scored_once_across_methods_and_a_changed_chunk_is_a_new_pair(tmp_path):
    cached, scored = Cache(tmp_path / "cache.sqlite").rows, []

    def rows(space, pairs, compute, **named):
        noted = lambda items: scored.extend(chunk for _, chunk in items) or compute(items)  # noqa: E731
        return cached(space, pairs, noted, **named)

    overlap.overlap_metrics(run_of(q1=["c1", "c2"]), TEXTS, QUESTIONS, (1, 5), rows)
    again = overlap.overlap_metrics(run_of(q1=["c2", "c3"]), TEXTS, QUESTIONS, (1, 5), rows)
    assert sorted(scored) == sorted(TEXTS.values())
    alone = overlap.overlap_metrics(run_of(q1=["c2", "c3"]), TEXTS, QUESTIONS, (1, 5), computed)
    pd.testing.assert_frame_equal(again, alone)
    changed = overlap.overlap_metrics(run_of(q1=["c1"]), {"c1": "a b c d"}, QUESTIONS, (1,), rows)
    assert value(changed, "q1", "ctx_rouge_l", 1) == 1.0

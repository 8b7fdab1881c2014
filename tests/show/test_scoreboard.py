"""The scoreboard as it is printed: verdicts in words, a row per claim, reasons, and failures beside those reported."""

import math

import numpy as np
import pandas as pd
import pytest

from lib.analysis.claims import claims, sources
from lib.analysis.failures import OF_QUESTIONS
from lib.analysis.scoreboard import BOARD, HOLDS, NOT_MEASURED, NOT_TESTED, REPLACED, SAME, SMALLER, UNDECIDED
from lib.methods import METHODS
from lib.show.scoreboard import (
    FAMILY_COLOURS,
    VERDICT_COLOURS,
    compared,
    counts_table,
    failures_table,
    forest,
    needed_text,
    not_measured_table,
    scoreboard_table,
    takeaway,
    verdict_text,
)

BY_ID = {claim.id: claim for claim in claims()}
NUMBERS = {"estimate": 0.1, "low": 0.02, "high": 0.18, "n": 150, "bound": 0.0, "p": 0.004, "p_holm": 0.04, "p_bh": 0.02}


def board_of(**verdicts: str) -> pd.DataFrame:
    """A board on which only some claims of Kobeissi & Langlais are measured, by the end of their id."""
    board = pd.DataFrame(index=pd.Index(BY_ID, name="claim"), columns=BOARD).astype(object)
    board = board.assign(verdict=NOT_MEASURED, missing="no ndcg@10 of any", rival="")
    for name, verdict in verdicts.items():
        row = NUMBERS | {"verdict": verdict, "missing": "", "n_needed": math.nan, "also_estimate": math.nan}
        for column, value in row.items():
            board.at[f"kobeissi2026/{name.replace('_', '-')}", column] = value
    numbers = [name for name in BOARD if name not in ("verdict", "missing", "rival")]
    return board.astype(dict.fromkeys(numbers, float))


BOARD_SHOWN = board_of(gap_baseline=HOLDS, scorer_gap=UNDECIDED, scorer_best=SMALLER, follow=HOLDS)


def test_the_verdict_gives_the_reason_where_nothing_was_tested_and_what_would_decide_it():
    assert verdict_text(pd.Series({"verdict": HOLDS, "missing": ""})) == "**holds**"
    row = pd.Series({"verdict": SAME, "missing": "akarsu2026/bm25-over-dense"})
    assert verdict_text(row).startswith("**same as another**: BM25 beats text")
    row = pd.Series({"verdict": NOT_TESTED, "missing": "the first ranks of 1% of the questions differ"})
    assert verdict_text(row) == "**not tested**: the first ranks of 1% of the questions differ"
    needed = {1148.0: "about 1,200", 98.0: "about 98", math.inf: "no number, if this is all", math.nan: "–"}
    assert [*map(needed_text, needed)] == [*needed.values()]


@pytest.mark.parametrize(
    ("low", "high", "says", "said"),
    [
        (0.1, 0.3, ">", ": uncorrected for it, the whole interval"),
        (-0.1, 0.3, ">", ": uncorrected for it"),
        (-0.3, -0.1, ">", ": uncorrected against it, the whole interval"),
        (-0.3, 0.1, "<=", ": uncorrected for it"),
        (-0.1, 0.1, ">", ""),
        (0.1, 0.3, "!=", ""),
    ],
)
def test_an_undecided_claim_shows_its_side_before_correction(low, high, says, said):
    row = {"verdict": UNDECIDED, "missing": "", "estimate": (low + high) / 2, "low": low, "high": high, "bound": 0.0}
    assert verdict_text(pd.Series(row), says) == f"**undecided**{said}"


def test_what_is_compared_in_words():
    gap, lag = BY_ID["kobeissi2026/gap-baseline"], BY_ID["kobeissi2026/lag"]
    assert compared(gap) == "Dense (filing given) − Multi-HyDE + reranker, page recall@5"
    assert compared(lag, "bm25 − bm25, doc_recall") == "document recall@5 − page recall@5 of BM25"
    only = BY_ID["kobeissi2026/metrics-above-oracle"]
    assert compared(only).endswith("page recall@5, metrics-generated")
    best = BY_ID["kobeissi2026/dense-over-sparse"]
    assert compared(best, "dense − splade") == "Dense − SPLADE, page recall@5"
    assert compared(BY_ID["kobeissi2026/follow"]) == "correlation of document recall@5 and page recall@5, 10 runs"


def test_every_claim_is_in_one_table_and_counted_once():
    shown = [scoreboard_table(BOARD_SHOWN, source) for source in sources()]
    missing = not_measured_table(BOARD_SHOWN, sources())
    assert list(map(len, shown)) == [0, 0, 0, 4]
    assert len(missing) == 93 - 4
    assert missing["Why not"].str.len().gt(0).all()
    counts = counts_table(BOARD_SHOWN, sources())
    assert counts["Claims"].tolist() == [29, 21, 16, 27]
    assert counts[[HOLDS, SMALLER, UNDECIDED, NOT_MEASURED]].sum().tolist() == [2, 1, 1, 89]
    text = "Of 93 claims, 3 have a verdict: 1 holds, 1 smaller than claimed, 0 opposite sign, 1 undecided. "
    text += "No verdict: 1 treatment replaced, 0 same as another, 0 not tested, 89 not measured."
    assert takeaway(board_of(gap_baseline=HOLDS, lag=UNDECIDED, scorer_best=REPLACED, follow=SMALLER)) == text


def test_a_row_has_the_papers_place_and_numbers_and_both_p():
    row = scoreboard_table(BOARD_SHOWN, "kobeissi2026").set_index("Claim").iloc[1]
    assert row.name.endswith(r"\(5.2; Tables 2, 3\)")
    assert row["Their numbers"] == "0.46 vs 0.60"
    assert row["Here"].startswith(r"\+0.100 \[\+0.020, \+0.180\] \(Dense \(filing given\)")
    shown = ["0.004", "0.040", "0.020", "**holds**", "150"]
    assert row[["p", "p (Holm)", "p (BH)", "Verdict", "n"]].tolist() == shown


def test_the_picture_has_a_row_for_each_difference_and_no_verdict_without_a_point():
    axes = forest(BOARD_SHOWN).axes[0]
    assert len(axes.get_yticklabels()) == 3  # a correlation is none
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    drawn = {line.get_color() for line in axes.lines if line.get_marker() == "o"}
    assert len(forest(board_of(gap_baseline=HOLDS, lag=SAME)).axes[0].get_yticklabels()) == 1  # said once
    with_points = [verdict for verdict, colour in VERDICT_COLOURS.items() if colour in drawn]
    assert [verdict for verdict in named if verdict != "as claimed"] == with_points


def test_failures_stand_beside_those_reported():
    failed = pd.DataFrame({"kind": list(OF_QUESTIONS), "primary": [10, 5, 5, 0, 0, 0], "any": 10})
    failed = failed.assign(share_failed=0.5, share_found=[0.25] * 3 + [np.nan] * 3, n_failed=20)
    shown = failures_table(failed)
    assert shown["Theirs (%)"].tolist() == ["73", "20", "5", "1", "1"]
    assert shown["Ours, first kind (%)"].tolist() == ["50", "25", "25", "0", "0"]
    assert shown["Of found questions (%)"].tolist() == ["25", "25", "25", "–", "–"]
    pairs = zip(shown["Kind here"], shown["Kind there"], strict=True)
    assert all(there.startswith(kind.split()[0]) for kind, there in pairs)


def test_every_family_of_methods_has_a_name_and_a_colour():
    assert {row.family for row in METHODS.values()} <= set(FAMILY_COLOURS)

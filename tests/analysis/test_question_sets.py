"""Question sets: features and planted effects across sets, contradictions by verdicts, and doses of overlap."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.analysis import overlap_dose as doses
from lib.analysis import question_sets as sets
from lib.analysis.claims import claims
from lib.frames import write_frame
from lib.metrics.retrieval import page_recall
from lib.retrievers.bm25 import BM25
from lib.schema import StudyError
from lib.stats import Resampling
from lib.store import FRAME
from tests.made import values
from tests.small import QUESTIONS, open_small, small_folder

__all__ = ["open_small", "small_folder"]  # fixtures


@pytest.fixture
def study(open_small, tmp_path):
    return open_small(tmp_path)


def fit(parts, outcome: str = sets.GAIN, names=sets.WITH_GOLD) -> sets.Fit:
    return sets.fit(parts, outcome, names, 500)


def known(n: int, mean_overlap: float, seed: int = 0, slope: float = 0.5) -> pd.DataFrame:
    """A set whose gain of BM25 is ``slope`` times the overlap minus 0.3, whatever else a question is like."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.integers(0, 2, (n, 5)).astype(float), columns=sets.WITH_GOLD[1:])
    overlap = mean_overlap + random.uniform(-0.2, 0.2, n)
    gain = slope * overlap - 0.3
    rows = {"dense": 0.5, "bm25": 0.5 + gain, sets.GAIN: gain}
    company = [f"company {number % 6}" for number in range(n)]
    return table.assign(overlap=overlap, best_overlap=overlap, company=company, **rows)


def test_word_share_weighs_rare_words_more():
    model = BM25.of_texts(["net sales rose", "cash flow", "net cash"], 1.5, 0.75)
    net, sales, none = (np.log1p((3 - n + 0.5) / (n + 0.5)) for n in (2, 1, 0))
    for question, texts, share in (
        ("What were the net sales of net?", [2], net / (net + sales)),  # neither stop words nor the second net count
        ("net profit", [0, 2], net / (net + none)),
        ("net", [], 0.0),
        ("what of the", [0], 0.0),
    ):
        assert sets.word_share(model, question, texts) == pytest.approx(share)


def test_features_of_questions_are_of_their_gold_pages_or_without_them_of_the_first_page(study):
    found = sets.features(study).set_index("question_id")
    named = found[["names_company", "names_year", "asks_figure", "gold_is_statement"]]
    assert named.to_numpy().tolist() == [[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 0]]
    assert found["length"].tolist() == [np.log2(len(text.split())) for text in QUESTIONS.values()]
    assert found["overlap"].between(0.1, 0.9).all()
    assert (found["overlap"] <= found["best_overlap"] + 1e-9).all(), "BM25 ranks a gold page first, or a better one"
    texts = pd.DataFrame({"question": ["What were the net sales?", "Whose flow of cash fell, Bolt's?"]})
    found = sets.described(study, texts)
    assert found[["overlap", "gold_is_statement"]].isna().all(axis=None)
    assert found["names_company"].tolist() == [0.0, 1.0]
    assert found.loc[0, "best_overlap"] == pytest.approx(1.0)


def test_published_features_are_read_without_a_study(study, monkeypatch, tmp_path):
    features = sets.features(study).set_index("question_id")
    write_frame(features.reset_index(), tmp_path / "features.csv")
    hits = {"bm25": 1.0, "dense": 0.5}
    metrics = pd.concat(values(features.index, hit, "page_recall", 5, name) for name, hit in hits.items())
    stages = {(sets.STAGE, "key"): {"files": {FRAME: {"path": "features.csv"}}}}
    layer = SimpleNamespace(root=tmp_path, stages=stages, metrics=metrics, dataset=lambda: study.dataset)
    monkeypatch.setattr(sets.Published, "of", lambda name, profile: layer if name == "financebench" else None)
    found = sets.published_features()
    assert [*found] == ["financebench"]
    assert found["financebench"][sets.GAIN].tolist() == [0.5] * 3
    assert found["financebench"]["company"].tolist() == ["Acme", "Bolt", "Acme"]
    pd.testing.assert_frame_equal(found["financebench"][features.columns], features)


def test_a_planted_effect_is_found_on_the_other_set_and_no_other():
    first, second = known(300, 0.25), known(400, 0.75, seed=1)
    found = sets.transfer(first, second, sets.GAIN, sets.WITH_GOLD, 500)
    assert found["observed"] == pytest.approx(0.5 * second["overlap"].mean() - 0.3)
    assert found["without"] == pytest.approx(0.5 * first["overlap"].mean() - 0.3)
    # ridge draws the slope of 0.5 towards 0, by var / (var + RIDGE) with var = 0.4² / 12
    slope = 0.5 * (0.16 / 12) / (0.16 / 12 + sets.RIDGE)
    expected = found["without"] + slope * (second["overlap"].mean() - first["overlap"].mean())
    assert found["predicted"] == pytest.approx(expected, abs=0.03)
    assert found["predicted_low"] <= found["predicted"] <= found["predicted_high"]
    assert found["correlation"] > 0.95
    assert found["n"] == 400
    fitted = fit([first])
    assert np.quantile(fitted.draws[:, 1 + fitted.names.index("overlap")], 0.025) > 0.2
    assert np.abs(np.delete(fitted.values[1:], fitted.names.index("overlap"))).max() < 0.02


def test_every_set_counts_alike_and_a_feature_that_hardly_varies_is_left_out():
    small, large = (pd.DataFrame({"x": 0.0, "y": y, "company": list("ab") * n}) for y, n in ((0.0, 5), (1.0, 500)))
    found = fit([small, large], "y", ("x",))
    assert found.values == pytest.approx([0.5])
    assert found.mean(small) == pytest.approx((0.5, 0.5, 0.5))
    table = known(300, 0.25).assign(names_company=[0.0] * 9 + [1.0] * 291, names_year=[0.0] * 10 + [1.0] * 290)
    alone, both = (fit(tables).names for tables in ([table], [table, known(300, 0.75)]))
    assert ("names_company" in alone, "names_year" in alone, "names_company" in both) == (False, True, True)
    assert fit([known(3, 0.5)]).names == (), "too few questions"


def test_contradictions_are_between_known_claims_of_different_papers_that_something_is_more():
    by_id = {claim.id: claim for claim in claims()}
    for _, first, second, _ in sets.CONTRADICTIONS:
        assert by_id[first].source != by_id[second].source
        assert by_id[first].says == by_id[second].says == ">", "so that a set supports what lies above the bound"


def test_a_contradiction_is_resolved_where_sets_support_different_claims():
    up, down, level = (0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1)
    of_one = [(level, up, False, 2), (down, level, True, 2), (down, level, False, 0)]  # of the last both may be wrong
    for *ends, are_contrary, side in [*of_one, (up, down, True, 1), (up, up, True, 0), ((np.nan,) * 2, level, True, 0)]:
        board = pd.DataFrame(ends, ["a", "b"], ["low", "high"]).assign(bound=0.0)
        assert sets.side(board, "a", "b", are_contrary) == side
    found = [sets.resolved_by(sides) for sides in ({1, 2}, {2}, {0, 1}, {0})]
    assert found == ["by the questions", "for all", "open", "open"]


def test_thirds_by_overlap_have_their_means_and_difference():
    table = pd.DataFrame({"overlap": [0.1, 0.1, 0.5, 0.5, 0.9, 0.9], "bm25": [0, 0, 1, 0, 1, 1], "dense": [1, 0] * 3})
    found = sets.by_thirds(table.assign(company=[*"aabbcc"]), 100)
    assert found["overlap"].tolist() == pytest.approx([0.1, 0.5, 0.9])
    assert found["mean"].tolist() == pytest.approx([-0.5, 0.0, 0.5])
    assert found[["n", "n_clusters"]].to_numpy().tolist() == [[2, 1]] * 3


def test_leaderboards_agree_by_their_ranks_and_only_of_two_sets():
    ids = ["q1", "q2", "q3"]
    draws = dict.fromkeys(["one", "two"], Resampling(pd.Series([*"abc"], ids), 50))
    one = pd.DataFrame({"x": 0.1, "y": 0.2, "z": 0.9}, ids)  # ranks 1, 2, 3
    two = pd.DataFrame({"x": 0.5, "y": 0.4, "z": 0.6}, ids)  # ranks 2, 1, 3: 1 - 6 · 2 / (3 · 8)
    assert sets.agreement({"one": one, "two": two}, draws) == pytest.approx((0.5, 0.5, 0.5))
    assert sets.agreement({"one": one, "two": -one}, draws)[0] == pytest.approx(-1)
    assert np.isnan(sets.agreement({"one": one}, draws)).all()


def test_what_to_expect_of_ones_own_questions(study):
    both = {"analysts": known(300, 0.1), "pages": known(300, 0.8, seed=1)}
    study = study.with_changes({"significance.n_draws": 200})
    quoted = sets.question_kind(study, ["What were the net sales?", "Whose flow of cash?"], both)
    other = sets.question_kind(study, ["Did margins improve lately?", "Why did it expand abroad?"], both)
    gains = [rows.set_index("method")["gain"]["bm25"] for rows in (quoted, other)]
    assert gains[0] > 0.05 > -0.15 > gains[1], "0.5 times the overlap, minus 0.3"
    assert quoted["method"].tolist() == ["bm25", "dense"], "the highest gain first"
    assert other["method"].tolist() == ["dense", "bm25"]
    gain = sets.question_kind(study, study.questions, both).set_index("method")["gain"]["bm25"]
    by_hand = fit([part.assign(gain=part["bm25"] - part["dense"]) for part in both.values()], "gain")
    assert gain == pytest.approx(by_hand.mean(sets.features(study))[0]), "by gold pages where they are known"
    with pytest.raises(StudyError, match="two"):
        sets.question_kind(study, ["Why?"], {"analysts": both["analysts"]})


RARE = "alder birch cedar damson elder fir gorse hazel"


def filing(*texts: str) -> pd.DataFrame:
    return pd.DataFrame({"doc_name": "A", "page": range(len(texts)), "text": texts})


def asked(question: str, *gold: int) -> pd.DataFrame:
    return pd.DataFrame([{"question_id": "q", "question": question, "doc_name": "A", "gold_pages": [*gold]}])


def test_a_word_is_three_letters_or_more_and_is_deleted_wherever_it_stands_and_whole():
    text = "What were 3M's net sales in Q2, $1,577 or 4.2%, of the p&l at Year-end? NET Sales, of T"
    assert doses.words_of(text) == {"net", "sales"}
    found = doses.without("Net sales, net of net-debt (in USD)?", {"net", "usd", "debt"})
    assert found == "sales, of net-debt (in )?"


def test_words_of_doses_are_rarest_first_and_those_of_the_control_of_no_gold_page():
    pages = filing(
        "lease pension pension goodwill",  # gold
        f"lease pension {RARE} yew",  # the control's: eight words that another page has
        f"lease {RARE}",  # gold, too: none of its words is the control's
        "lease pension",
        "goodwill",
    )
    (found,) = doses.pools(asked("The goodwill and lease of tax?", 0), pages)
    assert found["deleted"] == ["goodwill", "lease"], "on two pages, and on four"
    assert found["appended"] == ["pension"], "the words that the question lacks"
    assert found["control"] == sorted(RARE.split()), "of a page with enough, 1 or 2"
    (found,) = doses.pools(asked("The goodwill and lease of tax?", 0, 2), pages)
    assert found["control"] == [], "the only page with enough words has no others than a gold page"


def test_questions_at_each_dose_have_at_most_so_many_words():
    pages = filing("lease pension goodwill", "lease pension goodwill tax", "pension")
    found = doses.dosed(asked("Goodwill  or tax?", 0), pages).set_index(["kind", "dose"])
    assert found.loc[("deleted", 8), ["n_words", "question"]].tolist() == [1, "or tax?"]
    assert found.loc[("appended", 1), ["n_words", "question"]].tolist() == [1, "Goodwill  or tax? lease"]
    assert found.loc[("appended", 4), ["n_words", "question"]].tolist() == [2, "Goodwill  or tax? lease pension"]
    assert set(found.loc[found["n_words"] == 0, "question"]) == {"Goodwill  or tax?"}


def test_recall_and_its_difference_at_each_dose_are_of_its_questions_and_contain_no_text(
    open_small, tmp_path, monkeypatch
):
    study = open_small(tmp_path)
    n = len(study.questions)
    nothing_but_the_last = np.eye(len(study.chunks))[[-1] * n]
    monkeypatch.setattr(doses.dense, "score_texts", lambda given, texts: nothing_but_the_last)
    found = doses.measured(study, 1)
    assert [*found] == ["question_id", "kind", "dose", "n_words", "method", "value"]
    assert len(found) == n * len(doses.KINDS) * len(doses.DOSES) * 2
    of = found.set_index(["method", "kind", "dose", "question_id"])["value"].sort_index()
    assert of["dense"].groupby("question_id").mean().to_dict() == {"q1": 0, "q2": 1, "q3": 0}, "Bolt's last page"
    own = page_recall(study.run("bm25"), study.questions, 1)
    for kind in doses.KINDS:
        assert of["bm25", kind, 0].to_dict() == own.to_dict()
    effects = doses.effects({"mine": found}, {"mine": Resampling.of(study)}).set_index(["set", "kind", "dose"])
    row = effects.loc[("mine", "deleted", 0)]
    assert (row["bm25"], row["dense"], row["n"], row["n_words"]) == (own.mean(), 1 / 3, 3, 0)
    assert row["mean"] == pytest.approx(own.mean() - 1 / 3)


@pytest.mark.parametrize(
    ("appended", "deleted", "crossing"),
    [
        # behind: .3 short with 1 word, .1 more with 2, so a quarter short of 2
        ([[-0.5, -0.3, 0.1, 0.5, 0.5]] * 2, [[-0.5] * 5] * 2, (1.75, 1.75, 1.75)),
        # ahead: .1 more with 4 deleted, .1 less with 8
        ([[0.5] * 5] * 2, [[0.5, 0.5, 0.5, 0.1, -0.1]] * 2, (-6, -6, -6)),
        # one company is level at 1, the other never
        ([[-0.5, 0, 0.5, 0.5, 0.5], [-0.5, -0.3, -0.1, -0.1, -0.1]], [[-0.5] * 5] * 2, (1 + 0.15 / 0.35, 1, 8)),
        ([[-0.5, -0.5, -0.5, -0.5, -0.1]] * 2, [[-0.5] * 5] * 2, (np.nan, np.nan, np.nan)),
        ([[0, -0.5, -0.5, -0.5, -0.5]] * 2, [[0, -0.5, -0.5, -0.5, -0.5]] * 2, (0, 0, 0)),  # level without any word
    ],
)
def test_the_dose_at_which_both_find_equally_much(appended, deleted, crossing):
    apart = pd.concat([pd.DataFrame(rows, ["q0", "q1"], doses.DOSES) for rows in (appended, deleted)], axis=1)
    apart.columns = pd.MultiIndex.from_product([["appended", "deleted"], doses.DOSES])
    found = doses.crossing(apart, Resampling(pd.Series(["a", "b"], ["q0", "q1"]), 500))
    assert found[:3] == pytest.approx(crossing, nan_ok=True)
    assert found[3:] == (2, 2)

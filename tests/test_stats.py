"""Intervals and tests: by hand, against scipy, and on synthetic data whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lib import stats as m
from tests.made import make_study

RNG = np.random.default_rng(7)
CLUSTERS = np.repeat([f"company {i}" for i in range(32)], RNG.integers(1, 9, size=32))
SHARED = RNG.normal(size=32)[pd.factorize(CLUSTERS)[0]]
VALUES = 0.5 + 0.3 * RNG.normal(size=len(CLUSTERS)) + 0.4 * SHARED


def draws(clusters=None, n_draws: int = 10_000, seed: int = 0) -> m.Resampling:
    """Draws of clusters, given by position; of single values without clusters."""
    return m.Resampling(pd.Series(np.arange(1000) if clusters is None else clusters), n_draws, seed)


def interval(values, clusters=None, n_draws: int = 10_000, seed: int = 0) -> m.Interval:
    return draws(clusters, n_draws, seed).interval(pd.Series(values, dtype=float))


def randomisation(a, b, clusters=None, n_draws: int = 10_000, seed: int = 0) -> float:
    return draws(clusters, n_draws, seed).p(pd.Series(a), pd.Series(b))


def test_two_clusters_have_three_resamples():
    # Draws: A A gives 0, B B gives 1, A B gives (0 + 3) / 4, the ratio of sums and not the mean of the means.
    two, values = draws(["A", "B", "B", "B"], 4000), pd.Series([0, 1, 1, 1])
    found = two.interval(values, edges=(0.3, 0.7))
    assert found == m.Interval(mean=0.75, low=0.75, high=0.75, n=4, n_clusters=2)
    assert two.interval(values)[1:3] == (0.0, 1.0)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_equal_values_have_wilsons_interval_and_equal_differences_reach_as_far_to_both_sides(share):
    assert interval([share] * 3, ["A", "A", "B"])[:3] == pytest.approx((share, *m.wilson(share, 3)))
    far = m.wilson(0.0, 3)[1]
    found = draws(["A", "A", "B"]).difference(pd.Series([share] * 3), pd.Series([0.0] * 3))
    assert found[:3] == pytest.approx((share, share - far, min(share + far, 1)))
    assert interval([7.0, 7.0], ["A", "B"])[:3] == (7.0, 7.0, 7.0)  # beyond a share


@pytest.mark.parametrize("clusters", [None, CLUSTERS], ids=["alone", "clustered"])
def test_equals_scipys_bootstrap_of_a_ratio_of_cluster_sums(clusters):
    groups = np.arange(len(VALUES)) if clusters is None else clusters
    both = pd.Series(VALUES).groupby(groups).agg(["sum", "size"]).to_numpy().T
    ratio = lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis)  # noqa: E731
    options = {"n_resamples": 10_000, "method": "percentile", "paired": True, "rng": 1}
    low, high = stats.bootstrap(tuple(both), ratio, **options).confidence_interval
    ours = interval(VALUES, clusters)
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=0.05 * (high - low))
    assert ours.mean == pytest.approx(VALUES.mean())


def test_series_are_matched_by_question_and_not_by_position_and_their_order_changes_nothing():
    a, b = pd.Series([1.0, 0.0, 0.5], ["q1", "q2", "q3"]), pd.Series([0.5, 1.0, 0.0], ["q3", "q1", "q2"])
    by_company = m.Resampling(pd.Series(["B", "A", "A"], ["q3", "q2", "q1"]))
    far = m.wilson(0.0, 3)[1]
    assert by_company.difference(a, b) == m.Interval(0.0, -far, far, 3, 2)
    with pytest.raises(ValueError, match="1 values are missing"):
        by_company.difference(a, b.rename({"q3": "q4"}))
    of_companies, values = draws(CLUSTERS), pd.Series(VALUES)
    other = values[::-1]
    assert of_companies.interval(other) == of_companies.interval(values)
    assert of_companies.p(other, other * 0) == of_companies.p(values, values * 0)
    assert of_companies.p(values + 0.05, other) == of_companies.p(values + 0.05, values)
    assert np.array_equal(of_companies.sums(other.to_frame()), of_companies.sums(values.to_frame()))


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [([], [], "at least"), ([1, np.nan], ["A", "A"], "1 values are missing"), ([1, 2], ["A", None], "have no company")],
)
def test_bad_input_is_refused(values, clusters, message):
    with pytest.raises(ValueError, match=message):
        interval(values, clusters)


@settings(max_examples=30)
@given(st.integers(1, 60), st.floats(0, 1))
def test_wilson_is_scipys_where_the_mean_is_a_share(n, share):
    count = round(share * n)
    expected = stats.binomtest(count, n).proportion_ci(method="wilson")
    assert m.wilson(count / n, n) == pytest.approx(tuple(expected), abs=1e-8)


THREE_EACH = np.repeat(np.arange(20), 3)


def test_rank_correlation_is_spearmans_within_its_interval():
    rng = np.random.default_rng(3)
    a = pd.Series(rng.integers(0, 5, 60).astype(float))
    b = a + rng.normal(0, 2, 60).round()
    found = draws(THREE_EACH, 500).rank_correlation(a, b)
    assert found.mean == pytest.approx(stats.spearmanr(a, b).statistic)
    assert -1 <= found.low < found.mean < found.high <= 1
    assert found[3:] == (60, 20)
    flat = draws(THREE_EACH, 50).rank_correlation(0 * a, b)
    assert np.isnan(flat[:3]).all()
    assert m.percentiles(np.array([np.nan, 1.0, 1.0])) == (1.0, 1.0)


def test_sums_are_those_of_the_clustered_bootstrap_and_more_clusters_give_narrower_means():
    columns = np.stack([VALUES, np.ones(len(VALUES))], axis=1)
    sums = m.resampled_sums(columns, CLUSTERS, 2000, 7)
    assert m.percentiles(sums[:, 0] / sums[:, 1]) == pytest.approx(interval(VALUES, CLUSTERS, 2000, 7)[1:3])
    once, four = (draws(CLUSTERS, 2000).means(pd.DataFrame({"value": VALUES}), n).std() for n in (1, 4))
    assert four == pytest.approx(once / 2, rel=0.1)


def test_a_bootstrap_t_is_by_hand_and_covers_where_percentiles_do_not():
    # clusters of (sum, size) (0, 1) and (3, 3): mean 3/4; parts (0 - .75, 3 - 2.25) / 4; SE² = 2 · 2 · .75² / 16
    two = draws(["A", "B", "B", "B"], 400).studentised(pd.DataFrame({"value": [0.0, 1, 1, 1], "n": 1.0}))
    assert (two.mean, two.error) == (0.75, pytest.approx(np.sqrt(2 * 2 * 0.75**2 / 16)))
    assert not two.is_usable  # half of the draws are of one cluster
    random, inside = np.random.default_rng(3), {"t": 0, "percentile": 0}
    for _ in range(200):
        values, company = random.exponential(size=24).clip(0, 5) / 5, np.repeat(np.arange(12), 2)
        values += np.repeat(random.exponential(size=12), 2)
        of = draws(company, 400)
        t = of.studentised(pd.DataFrame({"value": values, "n": 1.0}))
        truth = 1 + (1 - np.exp(-5)) / 5
        intervals = {"t": t.interval(span=(-9, 9)), "percentile": of.interval(pd.Series(values))[1:3]}
        for name, (low, high) in intervals.items():
            inside[name] += low <= truth <= high
    assert inside["percentile"] < 180 < inside["t"]


def test_the_p_of_a_bootstrap_t_is_below_alpha_where_its_interval_is_beyond_the_bound():
    t = draws(CLUSTERS, 2000).studentised(pd.DataFrame({"value": VALUES, "n": 1.0}))
    low, high = t.interval((0.05, 0.95), (-9, 9))
    assert t.p(low - 1e-9, is_above=True) <= 0.051 <= t.p(low + 0.02, is_above=True)
    assert t.p(high + 1e-9, is_above=False) <= 0.051 <= t.p(high - 0.02, is_above=False)


def test_a_study_s_resampling_knows_the_companies_and_the_draws():
    names = [f"q{i}" for i in range(len(VALUES))]
    study = make_study(300, 4, questions=pd.DataFrame({"question_id": names, "company": CLUSTERS}))
    found, values = m.Resampling.of(study), pd.Series(VALUES, names)
    assert found.interval(values) == interval(VALUES, CLUSTERS, 300, 4)
    pooled = pd.concat([values, values])  # a question may occur in several contexts
    assert found.interval(pooled).n_clusters == 32


def test_four_equal_differences_by_hand():
    ones, none, many = pd.Series(np.ones(4)), pd.Series(np.zeros(4)), draws(n_draws=50_000)
    # Of the 16 sign patterns, ++++ and ---- are as extreme; of 4 in two clusters, 2.
    assert many.p(ones, none) == pytest.approx(2 / 16, abs=0.01)
    assert draws([*"AABB"], 50_000).p(ones, none) == pytest.approx(2 / 4, abs=0.01)
    # Only ++++ is as large in favour of the ones; every pattern is in favour of nothing.
    assert many.p(ones, none, one_sided=True) == pytest.approx(1 / 16, abs=0.01)
    assert many.p(none, ones, one_sided=True) == many.p(ones, ones, one_sided=True) == many.p(ones, ones) == 1.0
    assert randomisation(np.ones(60), np.zeros(60), n_draws=999) == 1 / 1000  # never zero


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["normal", "ties"])
def test_equals_scipys_exact_permutation_test(kind, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal([[0.6], [0]], 1, (2, 12))
    if kind == "ties":  # recall of a few gold pages: thirds and halves, whose sums tie up to rounding
        a, b = rng.choice([0, 1 / 3, 1 / 2, 2 / 3, 1], (2, 11))
    options = {"permutation_type": "samples", "vectorized": True, "n_resamples": np.inf}
    exact = stats.permutation_test((a, b), lambda a, b, axis: np.mean(a - b, axis=axis), **options).pvalue
    ours = randomisation(a, b, n_draws=20_000, seed=seed)
    assert ours == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04, which may not fall below 0.06.
    assert m.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert m.holm([]).tolist() == []


def test_compare_marks_what_can_be_told_apart():
    rng, index = np.random.default_rng(4), [f"q{i}" for i in range(len(CLUSTERS))]
    reference, by_company = pd.Series(VALUES, index), m.Resampling(pd.Series(CLUSTERS, index), 2000)
    better, noise = (reference + shift + rng.normal(0, sd, len(index)) for shift, sd in ((0.3, 0.2), (0, 1)))
    others = {"better": better.sample(frac=1, random_state=1), "same": reference, "noise": noise}
    table = by_company.compare(reference, others)
    assert [*table] == m.COMPARED
    assert table["verdict"].to_dict() == {"better": "gain", "same": "inconclusive", "noise": "likely gain"}
    assert tuple(table.loc["noise", ["mean", "low", "high", "n", "n_clusters"]]) == by_company.interval(noise)
    assert tuple(table.loc["better", m.DIFFERENCE]) == by_company.difference(better, reference)[:3]
    assert table["p"].tolist() == [by_company.p(values.reindex(index), reference) for values in others.values()]
    assert table["p_holm"].tolist() == m.holm(table["p"]).tolist()
    beside = m.compare(pd.DataFrame(others | {"own": reference}), reference.rename("own"), by_company)
    pd.testing.assert_frame_equal(beside, table)


def test_a_difference_is_called_by_one_rule():
    called = {(0.1, 0.2, 0.01): "gain", (0.1, 0.2, 0.05): "likely gain", (-0.1, 0.2, 0.2): "inconclusive"}
    called |= {(-0.2, -0.1, 0.01): "loss", (-0.2, -0.1, 0.2): "likely loss"}
    called |= {(0.1, 0.2, np.nan): "–", (np.nan, np.nan, 0.01): "–"}
    assert {one: m.tier(*one) for one in called} == called


def test_a_frame_of_values_is_compared_column_by_column_and_the_reference_is_left_out():
    ids = [f"q{n}" for n in range(8)]
    draws = m.Resampling(pd.Series([*"AABBCCDD"], ids), 500)
    values = pd.DataFrame({"a": [1.0] * 8, "b": [0.0] * 8, "c": [1.0, 0.0] * 4}, ids)
    level = m.means(values, draws)
    assert level[["mean", "n", "n_companies"]].loc["c"].tolist() == [0.5, 8, 4]
    gains = m.compare(values, values["a"], draws)
    assert gains["difference"].to_dict() == {"b": -1, "c": -0.5}
    assert gains["verdict"].tolist() == m.verdicts(gains) == ["likely loss"] * 2, "of 4 companies p is 1/8 at least"
    paired = m.compare(values[["a", "c"]], values[["b", "a"]].set_axis(["a", "c"], axis=1), draws)
    assert paired["difference"].to_dict() == {"a": 1, "c": -0.5}
    assert m.compare(values[[]], values["a"], draws).empty


def test_the_best_column_is_scored_where_it_was_not_chosen():
    company = pd.Series([*"ABCDEFGHIJ"])
    same = pd.DataFrame({"a": [0.5] * 10, "b": [0.5] * 10})
    assert m.nested_choice(same, company) == pytest.approx(0.5)
    split = pd.DataFrame({"a": [1.0, 0.0] * 5, "b": [0.0, 1.0] * 5})  # each is best where it is not scored
    assert m.nested_choice(split, company) < 0.5
    better = pd.DataFrame({"a": [1.0] * 10, "b": [0.0] * 10})
    assert m.nested_choice(better, company) == 1
    assert np.isnan(m.nested_choice(same, pd.Series(["A"] * 10))), "nothing can be held out of one company"


def test_pairs_of_columns_are_compared_and_corrected_together():
    values = pd.DataFrame({"a": [1.0, 1, 0, 1], ("b", "given"): [0.0, 1, 0, 0], "c": [1.0, 1, 0, 1]})
    found = m.compare_pairs(values, [("a", ("b", "given")), ("a", "c")], draws())
    assert [*found.index] == [("a", ("b", "given")), ("a", "c")]
    assert found["difference"].tolist() == [0.5, 0]
    assert found["verdict"].tolist() == ["inconclusive"] * 2
    assert found["p_holm"].tolist() == [min(1, 2 * found["p"].iloc[0]), 1]


def test_another_family_s_p_changes_the_verdict():
    ends = {"difference_low": [0.1, 0.1], "difference_high": [0.2, 0.2]}
    found = pd.DataFrame(ends | {"p_holm": 0.01, "verdict": "gain"})
    assert m.with_p_holm(found, [0.01, 0.2])["verdict"].tolist() == ["gain", "likely gain"]
    assert found["p_holm"].tolist() == [0.01, 0.01]

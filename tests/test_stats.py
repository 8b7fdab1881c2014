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
def test_equal_values_have_wilsons_interval(share):
    low, high = m.wilson(share, 3)
    assert interval([share] * 3, ["A", "A", "B"])[:3] == pytest.approx((share, low, high))
    assert high - low > 0.5  # three questions say little


def test_equal_differences_reach_as_far_to_both_sides():
    three, none = draws(["A", "A", "B"]), pd.Series(np.zeros(3))
    far = m.wilson(0.0, 3)[1]
    assert three.difference(none, none)[:3] == pytest.approx((0.0, -far, far))
    assert three.difference(none + 1, none)[:3] == pytest.approx((1.0, 1 - far, 1.0))
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


def simulated(n_companies: int, found, n_repeats: int = 300) -> list[float]:
    """How often something is found of questions, 5 a company, that share half of their variance around 0: where their
    companies are known, and where they are not."""
    rng, clusters, hits = np.random.default_rng(3), np.repeat(np.arange(n_companies), 5), np.zeros(2)
    for repeat in range(n_repeats):
        values = rng.normal(size=n_companies)[clusters] + rng.normal(size=len(clusters))
        hits += [found(values, groups, repeat) for groups in (clusters, None)]
    return (hits / n_repeats).tolist()


def test_clustered_intervals_cover_the_truth_and_naive_ones_do_not():
    def covers(values, groups, seed):
        found = interval(values, groups, 400, seed)
        return found.low <= 0 <= found.high

    clustered, naive = simulated(40, covers)
    assert 0.90 <= clustered <= 0.98
    assert naive < 0.85


def test_under_the_null_p_is_below_5_percent_about_5_percent_of_the_time():
    clustered, naive = simulated(32, lambda a, groups, seed: randomisation(a, 0 * a, groups, 300, seed) < 0.05)
    assert 0.02 <= clustered <= 0.09
    assert naive > 0.12  # the test that ignores the clusters cries wolf


def test_series_are_matched_by_question_and_not_by_position():
    a, b = pd.Series([1.0, 0.0, 0.5], ["q1", "q2", "q3"]), pd.Series([0.5, 1.0, 0.0], ["q3", "q1", "q2"])
    by_company = m.Resampling(pd.Series(["B", "A", "A"], ["q3", "q2", "q1"]))
    far = m.wilson(0.0, 3)[1]
    assert by_company.difference(a, b) == m.Interval(0.0, -far, far, 3, 2)
    with pytest.raises(ValueError, match="1 values are missing"):
        by_company.difference(a, b.rename({"q3": "q4"}))


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [
        ([], [], "at least"),
        ([1, np.nan], ["A", "A"], "1 values are missing"),
        ([1, 2], ["A"], "1 questions have no company"),
        ([1, 2], ["A", None], "1 questions have no company"),
    ],
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


# --- other statistics of draws ---

THREE_EACH = np.repeat(np.arange(20), 3)


def test_the_order_of_the_questions_changes_no_interval_and_no_p():
    of_companies, values = draws(CLUSTERS), pd.Series(VALUES)
    other = values[::-1]
    assert of_companies.interval(other) == of_companies.interval(values)
    assert of_companies.p(other, other * 0) == of_companies.p(values, values * 0)
    assert np.array_equal(of_companies.sums(other.to_frame()), of_companies.sums(values.to_frame()))


def test_rank_correlation_is_spearmans_within_its_interval():
    rng = np.random.default_rng(3)
    a = pd.Series(rng.integers(0, 5, 60).astype(float))
    b = a + rng.normal(0, 2, 60).round()
    found = draws(THREE_EACH, 500).rank_correlation(a, b)
    assert found.mean == pytest.approx(stats.spearmanr(a, b).statistic)
    assert -1 <= found.low < found.mean < found.high <= 1
    assert found[3:] == (60, 20)
    # Clusters that are each a copy of one pattern all have its correlation: no draw differs.
    pattern = pd.Series([0.0, 1.0, 2.0] * 20), pd.Series([1.0, 0.0, 2.0] * 20)
    whole = draws(THREE_EACH, 200).rank_correlation(*pattern)
    assert whole[1:3] == pytest.approx((whole.mean, whole.mean))


def test_without_spread_or_draws_there_is_no_statistic():
    found = draws(THREE_EACH, 50).rank_correlation(pd.Series([0.0] * 60), pd.Series(range(60)))
    assert np.isnan(found[:3]).all()
    assert m.percentiles(np.array([np.nan, 1.0, 1.0])) == (1.0, 1.0)
    assert np.isnan(m.percentiles(np.array([np.nan]))).all()


def test_sums_are_those_of_the_clustered_bootstrap_and_more_clusters_give_narrower_means():
    columns = np.stack([VALUES, np.ones(len(VALUES))], axis=1)
    sums = m.resampled_sums(columns, CLUSTERS, 2000, 7)
    assert m.percentiles(sums[:, 0] / sums[:, 1]) == pytest.approx(interval(VALUES, CLUSTERS, 2000, 7)[1:3])
    once, four = (draws(CLUSTERS, 2000).means(pd.DataFrame({"value": VALUES}), n).std() for n in (1, 4))
    assert four == pytest.approx(once / 2, rel=0.1)


def test_a_study_s_resampling_knows_the_companies_and_the_draws():
    names = [f"q{i}" for i in range(len(VALUES))]
    questions = pd.DataFrame({"question_id": names, "company": CLUSTERS, "doc_name": names})
    study = make_study(300, 4, questions=questions)
    found, values = m.Resampling.of(study), pd.Series(VALUES, names)
    assert found.interval(values) == interval(VALUES, CLUSTERS, 300, 4)
    assert m.Resampling.of(study, by="filing").interval(values).n_clusters == len(VALUES)
    pooled = pd.concat([values, values])  # a question may occur in several contexts
    assert found.interval(pooled).n_clusters == 32
    assert found.rank_correlation(pooled, pooled).mean == pytest.approx(1)


# --- tests ---


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


# --- corrections ---


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04, which may not fall below 0.06.
    assert m.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert m.holm([]).tolist() == []
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            m.holm([0.5, bad])


@settings(max_examples=200)
@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values):
    adjusted = m.holm(p_values)
    assert ((adjusted >= p_values) & (adjusted <= np.minimum(np.multiply(p_values, len(p_values)), 1))).all()
    remaining, rejected = sorted(range(len(p_values)), key=lambda i: p_values[i]), set()
    while remaining and p_values[remaining[0]] * len(remaining) < 0.05:
        rejected.add(remaining.pop(0))
    assert {i for i, p in enumerate(adjusted) if p < 0.05} == rejected


# --- the table ---


def test_compare_marks_what_can_be_told_apart():
    rng, index = np.random.default_rng(4), [f"q{i}" for i in range(len(CLUSTERS))]
    reference, by_company = pd.Series(VALUES, index), m.Resampling(pd.Series(CLUSTERS, index), 2000)
    better, noise = (reference + shift + rng.normal(0, sd, len(index)) for shift, sd in ((0.3, 0.2), (0, 1)))
    others = {"better": better.sample(frac=1, random_state=1), "same": reference, "noise": noise}
    table = by_company.compare(reference, others)
    assert table["distinguishable"].to_dict() == {"better": True, "same": False, "noise": False}
    for name, values in {**others, "better": better}.items():
        row = table.loc[name]
        assert tuple(row[["mean", "mean_low", "mean_high", "n", "n_clusters"]]) == by_company.interval(values)
        assert tuple(row[["difference", "low", "high"]]) == by_company.difference(values, reference)[:3]
        assert (row["reference_mean"], row["p"]) == (reference.mean(), by_company.p(values, reference))
    assert table["p_holm"].tolist() == m.holm(table["p"]).tolist()
    own = by_company.compare({"noise": reference + 1}, {"noise": noise})  # each against its own
    assert own["reference_mean"].tolist() == pytest.approx([reference.mean() + 1])
    empty = by_company.compare(reference, {})
    assert (list(empty.columns), len(empty)) == (list(table.columns), 0)


@pytest.mark.parametrize(
    ("low", "high", "p", "called"),
    [
        (0.1, 0.2, 0.01, "gain"),
        (-0.2, -0.1, 0.01, "loss"),
        (0.1, 0.2, 0.05, "likely gain"),
        (-0.2, -0.1, 0.2, "likely loss"),
        (-0.1, 0.2, 0.2, "not shown"),
        (0.1, 0.2, float("nan"), "–"),
        (float("nan"), float("nan"), 0.01, "–"),
    ],
)
def test_a_difference_is_called_by_one_rule(low, high, p, called):
    assert m.tier(low, high, p) == called

"""Statistics over seeds: SciPy's and rliable's point estimates, and their intervals as far as chance allows."""

import math
import warnings

import numpy as np
import pytest
from rliable import library, metrics
from scipy import stats

from steadyrl.studies import statistics

rng = np.random.default_rng(3)
X = rng.normal(size=(10, 4)) ** 3 + 1
Y = rng.normal(size=(10, 4))
Y[:3] = X[:3]  # ties


def close(estimate, ends, share=0.1):
    """Two ends of hundreds of resamples each differ by chance, by a few hundredths of the width."""
    width = ends[1] - ends[0]
    return abs(estimate.low - ends[0]) < share * width and abs(estimate.high - ends[1]) < share * width


def rliable_estimate(metric, scores, resamples):
    """The point and the ends that rliable gives, of runs by tasks."""
    draws = np.random.RandomState(0)  # the only generator that rliable takes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # arch would have it called otherwise
        intervals = library.get_interval_estimates({"": scores}, metric, reps=resamples, random_state=draws)
    (point,), (ends,) = (list(by_name.values()) for by_name in intervals)
    return statistics.Estimate(float(np.ravel(point)[0]), *map(float, ends[:, 0]))


def assert_same(ours, theirs):
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    assert close(ours, (theirs.low, theirs.high))


def test_the_estimates_are_those_of_rliable():
    iqm = rliable_estimate(lambda x: np.array([metrics.aggregate_iqm(x)]), X, 2000)
    assert_same(statistics.interquartile_mean(list(X.T)), iqm)
    mean = rliable_estimate(lambda x: np.array([metrics.aggregate_mean(x)]), X, 2000)
    assert_same(statistics.mean(list(X.T)), mean)
    better = rliable_estimate(metrics.probability_of_improvement, (X, Y), 500)  # it takes 10 ms for one of them
    assert_same(statistics.improvement(list(X.T), list(Y.T)), better)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 10, 30])
def test_the_interquartile_mean_is_the_trimmed_mean_of_scipy(n):
    scores = np.random.default_rng(n).normal(size=(3, n))
    expected = stats.trim_mean(scores, 0.25, axis=None)
    assert statistics.interquartile_mean(list(scores)).value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (10, 10)])
def test_improvement_is_mann_and_whitneys_u(n, m):
    draws = np.random.default_rng(n)
    xs, ys = [[draws.integers(0, 6, size=k).astype(float) for _ in range(2)] for k in (n, m)]
    expected = np.mean([stats.mannwhitneyu(x, y).statistic / (n * m) for x, y in zip(xs, ys, strict=True)])
    assert statistics.improvement(xs, ys).value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_interval_of_a_mean_is_scipys_percentile_bootstrap():
    x = np.random.default_rng(1).gamma(2.0, size=20)
    ours = statistics.mean([x], resamples=4000, confidence=0.9)
    theirs = stats.bootstrap(
        (x,), np.mean, n_resamples=4000, confidence_level=0.9, method="percentile", random_state=0
    ).confidence_interval
    assert close(ours, theirs, 0.06)


def test_two_seeds_are_resampled_as_one_would_by_hand():
    ends = statistics.mean([[0.0, 1.0]], confidence=0.4)  # means 0, 1/2, 1 with 1/4, 1/2, 1/4: quantiles 0.3 and 0.7
    assert (ends.value, ends.low, ends.high) == (0.5, 0.5, 0.5)
    wide = statistics.mean([[0.0, 1.0]], confidence=0.6)  # quantiles 0.2 and 0.8
    assert (wide.low, wide.high) == (0.0, 1.0)


def test_tasks_are_not_resampled():
    apart = statistics.mean([[0.0, 0.0, 0.0], [100.0, 100.0, 100.0]])
    assert (apart.value, apart.low, apart.high) == (50.0, 50.0, 50.0)


def test_strata_may_have_different_numbers_of_seeds():
    assert statistics.mean([[1.0], [2.0, 3.0, 6.0]]).value == 3.0
    assert statistics.improvement([[2.0], [1.0, 3.0]], [[1.0, 3.0], [0.0]]).value == 0.75


def test_an_interval_holds_the_mean_as_often_as_it_says():
    hits = 0
    for seed in range(300):
        x = np.random.default_rng(seed).normal(size=30)
        estimate = statistics.mean([x], resamples=400, confidence=0.9, seed=seed)
        hits += estimate.low <= 0.0 <= estimate.high
    assert 0.83 <= hits / 300 <= 0.94  # percentile intervals are a little narrow: 0.88 expected, deviation 0.019


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    first, again, other = (statistics.mean([X[:, 0]], seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_standard_error_needs_two_seeds():
    assert statistics.standard_error([1.0, 2.0, 4.0]) == pytest.approx(stats.sem([1.0, 2.0, 4.0]), rel=1e-15)
    assert math.isnan(statistics.standard_error([1.0]))


def test_what_makes_no_sense_is_refused():
    for bad in ([], [[]], [[1.0], []], [[[1.0]]]):
        with pytest.raises(ValueError, match="give one sequence of at least one score for each task"):
            statistics.mean(bad)
    with pytest.raises(ValueError, match="scores must be finite"):
        statistics.mean([[1.0, math.nan]])
    with pytest.raises(ValueError, match="1 and 2 strata: both sides need the same tasks"):
        statistics.improvement([[1.0]], [[1.0], [2.0]])


@pytest.mark.parametrize(("scores", "middle"), [([3.0, 1.0, 2.0], 2.0), ([1.0, 4.0, 2.0, 3.0], 3.0), ([5.0], 5.0)])
def test_the_median_is_the_middle_score_the_upper_of_two(scores, middle):
    estimate = statistics.median(scores)
    assert estimate.value == middle
    assert {estimate.low, estimate.high} <= set(scores)


def test_the_interval_of_a_median_is_scipys_percentile_bootstrap_to_the_next_score():
    x = np.arange(101.0)
    estimate = statistics.median(x)
    other = stats.bootstrap((x,), np.median, method="percentile", n_resamples=9999, rng=np.random.default_rng(1))
    low, high = other.confidence_interval
    assert (estimate.low, estimate.high) == (pytest.approx(low, abs=2.0), pytest.approx(high, abs=2.0))


def test_a_median_of_times_is_infinite_where_most_are_and_its_end_where_some_resamples_are():
    estimate = statistics.median([100.0] * 8 + [np.inf] * 2)
    assert (estimate.value, estimate.low) == (100.0, 100.0)
    assert statistics.median([100.0] * 6 + [np.inf] * 4) == statistics.Estimate(100.0, 100.0, np.inf)
    assert statistics.median([100.0] * 3 + [np.inf] * 7).value == np.inf


@pytest.mark.parametrize("scores", [[], [[1.0]], [1.0, math.nan]])
def test_a_median_of_nothing_is_refused(scores):
    with pytest.raises(ValueError, match="give one sequence of at least one score"):
        statistics.median(scores)


@pytest.mark.parametrize("seeds", [2, 3, 10])
def test_students_interval_is_scipys(seeds):
    x = X[:seeds, 0]
    ends = stats.t.interval(0.95, seeds - 1, loc=x.mean(), scale=stats.sem(x))
    estimate = statistics.student_mean(x)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((x.mean(), *ends), rel=1e-12)


def test_one_seed_has_no_students_interval():
    estimate = statistics.student_mean([3.0])
    assert estimate.value == 3.0
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)

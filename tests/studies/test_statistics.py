"""Statistics over seeds: SciPy's and rliable's point estimates, and their intervals as far as chance allows."""

import math

import numpy as np
import pytest
from scipy import stats

from steadyrl.studies import statistics

rng = np.random.default_rng(3)
X = rng.normal(size=(10, 4)) ** 3 + 1
Y = rng.normal(size=(10, 4))
Y[:3] = X[:3]  # ties

# From rliable 1.2.0 for X and Y, runs by tasks: aggregate_iqm, aggregate_mean, probability_of_improvement, and
# get_interval_estimates with 2,000 resamples.
IQM, MEAN, IMPROVEMENT = 1.0030341771792202, 1.1061156013123097, 0.71
IQM_ENDS, MEAN_ENDS = (0.8511386521599715, 1.1393693231554642), (-1.2055233284308886, 3.609627324331963)
IMPROVEMENT_ENDS = (0.58496875, 0.8225)


def close(estimate, ends, share=0.1):
    """Two ends of 2,000 resamples each differ by chance, by a few hundredths of the width."""
    width = ends[1] - ends[0]
    return abs(estimate.low - ends[0]) < share * width and abs(estimate.high - ends[1]) < share * width


def test_the_estimates_are_those_of_rliable():
    iqm, mean = statistics.interquartile_mean(list(X.T)), statistics.mean(list(X.T))
    better = statistics.improvement(list(X.T), list(Y.T))
    assert (iqm.value, mean.value, better.value) == pytest.approx((IQM, MEAN, IMPROVEMENT), rel=1e-12)
    assert close(iqm, IQM_ENDS)
    assert close(mean, MEAN_ENDS)
    assert close(better, IMPROVEMENT_ENDS)


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
    held = 0
    for seed in range(300):
        x = np.random.default_rng(seed).normal(size=30)
        found = statistics.mean([x], resamples=400, confidence=0.9, seed=seed)
        held += found.low <= 0.0 <= found.high
    assert 0.83 <= held / 300 <= 0.94  # percentile intervals are a little narrow: 0.88 expected, deviation 0.019


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

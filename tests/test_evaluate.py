"""The summary of a sample: BCa intervals against SciPy, against the formula by hand, and against the truth."""

import json
import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from steadyrl import evaluate, measures

ROWS = ["mean", "cvar", "value_at_risk", *measures.names()]
SKEWED = np.sort(np.random.default_rng(7).exponential(size=80))


def scipy_interval(statistic, returns, resamples, seed):
    """SciPy draws the same indices from the same generator, so only the acceleration can differ."""
    interval = stats.bootstrap(
        (returns,),
        lambda x, axis: statistic(x),
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(seed),
    )
    return interval.confidence_interval


@pytest.mark.parametrize("name", ["mean", "gini_deviation", "variance"])
def test_intervals_equal_those_of_scipy_where_jackknife_and_influence_are_proportional(name):
    row = evaluate.summary(SKEWED, resamples=1500, seed=3)[name]
    expected = scipy_interval(measures.get(name).value, SKEWED, 1500, seed=3)
    assert [row.low, row.high] == pytest.approx(list(expected), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in ROWS if name != "inter_quantile_range"])
def test_intervals_agree_with_scipy_for_every_smooth_measure(name):
    """The jackknife is inconsistent for quantiles, so SciPy is no oracle for the inter-quantile range."""
    row = evaluate.summary(SKEWED, resamples=1500, seed=3)[name]
    expected = scipy_interval(measures.get(name).value, SKEWED, 1500, seed=3)
    assert [row.low, row.high] == pytest.approx(list(expected), abs=0.05 * (row.high - row.low))


def drawn(returns, resamples, seed):
    """The resamples of a summary, all at once."""
    index = np.random.default_rng(seed).integers(returns.size, size=(resamples, returns.size))
    return np.sort(returns)[index]


def bca_by_hand(replicates, below, ell, confidence):
    """The interval from the resampled values, the share of them below the value, and the influences."""
    z0 = stats.norm.ppf(below)
    a = np.sum(ell**3) / (6 * np.sum(ell**2) ** 1.5)
    z = z0 + stats.norm.ppf([(1 - confidence) / 2, (1 + confidence) / 2])
    return np.quantile(replicates, stats.norm.cdf(z0 + z / (1 - a * z)))


@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_the_formula_on_one_shared_set_of_resamples(name):
    returns = np.random.default_rng(1).gumbel(size=301)
    assert 301 * 1000 > evaluate.CHUNK, "more than one chunk is wanted"
    row = evaluate.summary(returns, resamples=1000, seed=5, confidence=0.9)[name]
    measure = measures.get(name)
    replicates, value = measure.value(drawn(returns, 1000, seed=5)), measure.value(returns)
    same = np.isclose(replicates, value, rtol=1e-12, atol=1e-12)
    below = np.mean((replicates < value) & ~same) + 0.5 * np.mean(same)
    expected = bca_by_hand(replicates, below, measure.influence(returns), confidence=0.9)
    assert [row.low, row.high] == pytest.approx(list(expected), rel=1e-9)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Over 4000 repetitions they hold the mean 0.94 and the Gini deviation 0.93 of the time, at this n."""
    rng = np.random.default_rng(2)
    truth = {"mean": 0.0, "gini_deviation": 1.0 / math.sqrt(math.pi)}
    hits = dict.fromkeys(truth, 0)
    for repetition in range(300):
        summary = evaluate.summary(rng.normal(size=50), resamples=500, seed=repetition)
        for name, value in truth.items():
            hits[name] += summary[name].low <= value <= summary[name].high
    for name, count in hits.items():
        assert 0.90 <= count / 300 <= 0.98, name


def test_rows_are_three_statistics_and_every_measure_with_the_value_of_each():
    summary = evaluate.summary(SKEWED, resamples=50)
    assert [row.name for row in summary.rows] == ROWS
    for row in summary.rows:
        assert row.value == measures.get(row.name).value(SKEWED)
        assert row.label == measures.get(row.name).label
        assert row.low <= row.high


def test_the_order_of_the_returns_does_not_matter():
    shuffled = np.random.default_rng(0).permutation(SKEWED)
    for row, other in zip(
        evaluate.summary(SKEWED, resamples=60).rows, evaluate.summary(shuffled, resamples=60).rows, strict=True
    ):
        assert (other.value, other.low, other.high) == pytest.approx((row.value, row.low, row.high), rel=1e-9)


@pytest.mark.parametrize(("scale", "shift"), [(3.0, 5.0), (1e-150, 0.0), (1e150, -1e152)])
def test_intervals_move_and_stretch_with_the_returns(scale, shift):
    rows = evaluate.summary(SKEWED, resamples=200)
    moved = evaluate.summary(scale * SKEWED + shift, resamples=200)
    for name in ("mean", "cvar", "standard_deviation", "gini_deviation"):
        offset = shift * measures.get(name).facts.shift
        expected = [scale * end + offset for end in (rows[name].low, rows[name].high)]
        assert [moved[name].low, moved[name].high] == pytest.approx(expected, rel=1e-9)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    first = evaluate.summary(SKEWED, resamples=100, seed=1)
    assert evaluate.summary(SKEWED, resamples=100, seed=1) == first
    assert evaluate.summary(SKEWED, resamples=100, seed=2)["mean"].low != first["mean"].low


def test_more_confidence_is_a_wider_interval():
    narrow, wide = (evaluate.summary(SKEWED, confidence=c, resamples=400)["mean"] for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_equal_returns_have_an_interval_of_no_width():
    summary = evaluate.summary([0.1] * 7)
    for row in summary.rows:
        assert row.value == row.low == row.high == (0.1 if row.name in ("mean", "cvar", "value_at_risk") else 0.0)


def test_two_returns_are_enough():
    row = evaluate.summary([1.0, 3.0])["mean"]
    assert (row.low, row.value, row.high) == (1.0, 2.0, 3.0)


def test_resampled_values_that_equal_the_value_up_to_rounding_count_half():
    """3 of 10 and 7 of 10 have the same variance, but floating point need not say so: counted here in integers."""
    returns = np.array([0.1] * 3 + [0.7] * 7)
    k = np.sum(drawn(returns, 2000, seed=0) > 0.5, axis=-1)
    below = np.mean(k * (10 - k) < 21) + 0.5 * np.mean(k * (10 - k) == 21)
    expected = bca_by_hand(0.0036 * k * (10 - k), below, np.array([0.7] * 3 + [-0.3] * 7), confidence=0.5)
    row = evaluate.summary(returns, confidence=0.5)["variance"]
    assert [row.low, row.high] == pytest.approx(list(expected), rel=1e-9)


def test_a_level_beyond_the_pole_of_the_formula_is_its_limit():
    assert evaluate._level(0.999, z0=2.909, a=1 / 6) == pytest.approx(1.0)
    assert evaluate._level(0.999, z0=2.911, a=1 / 6) == 1.0
    assert evaluate._level(0.001, z0=-2.911, a=-1 / 6) == 0.0


def test_progress_is_told_how_many_resamples_are_done():
    calls = []
    evaluate.summary(np.arange(evaluate.CHUNK // 3), resamples=40, confidence=0.9, progress=calls.append)
    assert calls[0] == 3
    assert calls[-1] == 40
    assert calls == sorted(calls)


def test_memory_stays_bounded_for_many_returns():
    returns = np.random.default_rng(0).normal(size=100_000)
    tracemalloc.start()
    evaluate.summary(returns, resamples=60)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize(
    ("returns", "options", "message"),
    [
        ([], {}, r"returns is empty"),
        ([1.0], {}, r"returns has 1 entry: an interval needs at least 2 returns"),
        ([1.0, math.nan], {}, r"returns\[1\] = nan: must be finite"),
        ([[1.0, 2.0], [3.0, 4.0]], {}, r"returns has shape \(2, 2\): give one sequence"),
        (["a", "b"], {}, r"not an array of real numbers"),
        ([1.0, 2.0], {"confidence": 1.0}, r"confidence = 1.0: must be in \(0, 1\)"),
        ([1.0, 2.0], {"confidence": math.nan}, r"confidence = nan"),
        ([1.0, 2.0], {"resamples": 39}, r"resamples = 39: must be >= 40 for a confidence of 0.95"),
        ([1.0, 2.0], {"seed": -1}, r"seed = -1: must be >= 0"),
    ],
)
def test_a_mistake_is_named(returns, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate.summary(returns, **options)


def test_forty_resamples_are_enough_for_95_percent():
    assert evaluate.summary([1.0, 2.0], resamples=40).resamples == 40


def test_a_row_that_does_not_exist_is_a_key_error_with_the_names():
    with pytest.raises(KeyError, match="gini_deviation"):
        evaluate.summary([1.0, 2.0], resamples=40)["gini"]


def test_a_summary_becomes_json_and_back():
    summary = evaluate.summary(SKEWED, resamples=40)
    read = json.loads(json.dumps(summary.to_dict()))
    assert read.pop("rows") == [vars(row) for row in summary.rows]
    assert read == {"n": 80, "confidence": 0.95, "resamples": 40, "seed": 0}


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (1.23456, 1.07, 1.43, ("1.235", "1.070", "1.430")),
        (1234.56, 1200.0, 1300.0, ("1235", "1200", "1300")),
        (-0.0001, -0.4, 0.4, ("0.000", "-0.400", "0.400")),
        (8.5e11, 6e11, 1.1e12, ("8.5e+11", "6e+11", "1.1e+12")),
        (1234.56, 1234.56, 1234.56, ("1234.6", "1234.6", "1234.6")),
        (0.0, 0.0, 0.0, ("0", "0", "0")),
    ],
)
def test_numbers_are_rounded_to_what_the_interval_leaves_meaningful(value, low, high, expected):
    assert evaluate.Row("", "", value, low, high).rounded() == expected


OWN_MEASURES = """
import json, sys
import numpy as np
from steadyrl import evaluate, measures

@measures.register("own_variance")
def own_variance(returns, weights):
    return np.sum(weights * (returns - np.sum(weights * returns)) ** 2)

@measures.register("smallest_gap", degree=1)
def smallest_gap(returns, weights):
    return np.min(np.diff(np.sort(returns)))

summary = evaluate.summary(json.load(sys.stdin), resamples=1500, seed=3)
json.dump([vars(summary["own_variance"]), vars(summary["smallest_gap"])], sys.stdout)
"""


@pytest.fixture(scope="module")
def own_rows():
    """Rows of measures registered in another process: there is no way to take a measure back."""
    command = [sys.executable, "-c", OWN_MEASURES]
    process = subprocess.run(command, input=json.dumps(list(SKEWED)), capture_output=True, text=True, check=True)
    return json.loads(process.stdout)


def test_a_measure_without_influence_function_or_degree_has_the_jackknife_interval_of_scipy(own_rows):
    row = own_rows[0]
    expected = scipy_interval(lambda x: np.var(x, axis=-1), SKEWED, 1500, seed=3)
    assert [row["low"], row["high"]] == pytest.approx(list(expected), rel=1e-9)


def test_where_all_resamples_lie_on_one_side_the_interval_is_extended_to_the_value(own_rows):
    """A resample of 80 returns has ties, so its smallest gap is 0; that of the sample is not."""
    row = own_rows[1]
    assert (row["low"], row["high"]) == (0.0, row["value"])
    assert row["value"] == pytest.approx(np.min(np.diff(SKEWED)), rel=1e-9)


def test_a_summary_has_names_to_look_for_and_to_go_through():
    found = evaluate.summary(SKEWED, resamples=50)
    assert "cvar" in found
    assert "spread" not in found
    assert tuple(found) == tuple(row.name for row in found.rows)

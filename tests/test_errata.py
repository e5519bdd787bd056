"""Each entry of docs/errata.md, proved: by closed form, quadrature or enumeration; Monte Carlo only where it says so.

Three exact tools: all samples of a three-point law (`expected_gradient`), a grid of quantiles of the normal law, and
Gauss quadrature over the order statistics of the uniform law, on whose cells the estimators are polynomials.
"""

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from steadyrl import measures
from steadyrl.estimators import influence, paper
from steadyrl.measures import Measure
from steadyrl.policies.tabular import softmax
from tests.algorithms import mdp

DOCS = Path(__file__).parents[1] / "docs" / "errata.md"

# A three-point law and its score in one parameter: p_k(theta) is proportional to p_k exp(theta s_k).
X = np.array([0.0, 1.0, 3.0])
P = np.array([0.45, 0.35, 0.2])
SCORE = np.array([-1.0, 0.0, 2.0]) - P @ np.array([-1.0, 0.0, 2.0])

# The standard normal law as equally likely quantiles, an even number: none of them is the median.
NORMAL = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
SCALE_SCORE = NORMAL**2 - np.mean(NORMAL**2)


def derivative(function: Callable[[float], float], h: float = 1e-3) -> float:
    """f'(0) by central differences of fourth order."""
    near, far = function(h) - function(-h), function(2 * h) - function(-2 * h)
    return (8.0 * near - far) / (12.0 * h)


def gradient(measure: Measure | str) -> float:
    """grad D of the three-point law."""
    value = measures.get(measure).value
    return derivative(lambda theta: value(X, P * np.exp(theta * SCORE)))


def all_samples(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every sample of n trajectories of the three-point law: returns, scores, and the probability of the sample."""
    index = np.array(list(itertools.product(range(X.size), repeat=n)))
    return X[index], SCORE[index], P[index].prod(axis=-1)


def expected_gradient(coefficients: Callable[[np.ndarray], np.ndarray], n: int) -> float:
    """E[(1/n) sum_i c_i score_i], exact. Every order of a sample is in the sum, so one split stands for all."""
    returns, scores, probability = all_samples(n)
    return float(probability @ np.mean(coefficients(returns) * scores, axis=-1))


def ordered_uniform(n: int, nodes: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Gauss nodes and weights for n sorted uniform returns, exact for polynomials: x_(k) = t_k t_(k+1) ... t_n."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    t, w = (t + 1.0) / 2.0, w / 2.0
    grid = np.stack(np.meshgrid(*[t] * n, indexing="ij"), axis=-1).reshape(-1, n)
    weight = np.stack(np.meshgrid(*[w] * n, indexing="ij"), axis=-1).reshape(-1, n).prod(axis=-1)
    powers = np.arange(n)
    density = np.prod((powers + 1.0) * grid**powers, axis=-1)
    return np.cumprod(grid[:, ::-1], axis=-1)[:, ::-1], weight * density


samples = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30).map(np.array)
pairs = st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=1, max_size=20).map(np.array)


# 1. Glasser's inequality


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.8])
def test_01_variance_falls_below_sqrt3_gini_for_every_coin(probability):
    weights = [1.0 - probability, probability]
    variance = measures.variance([0.0, 1.0], weights)
    gini = measures.gini_deviation([0.0, 1.0], weights)
    assert variance == pytest.approx(gini, rel=1e-14)
    assert variance < np.sqrt(3.0) * gini


@given(samples)
def test_01_standard_deviation_is_at_least_sqrt3_gini(x):
    gini = measures.gini_deviation(x)
    assert measures.standard_deviation(x) >= np.sqrt(3.0) * gini * (1.0 - 1e-12)


def test_01_equality_holds_for_the_uniform_law():
    x = np.linspace(0.0, 1.0, 100_001)
    assert measures.standard_deviation(x) == pytest.approx(np.sqrt(3.0) * measures.gini_deviation(x), rel=1e-9)


# 2. The sign in the mean-median deviation's estimator


def test_02_only_the_minus_sign_sees_the_scale_of_a_normal():
    minus = paper.coefficients("mean_median_deviation", NORMAL, mmd_sign="-")
    plus = paper.coefficients("mean_median_deviation", NORMAL, mmd_sign="+")
    assert np.mean(minus * SCALE_SCORE) == pytest.approx(np.sqrt(2.0 / np.pi), abs=1e-3)
    assert np.mean(plus * SCALE_SCORE) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("sign", "change"), [("-", 0.0), ("+", 10.0 * np.sqrt(2.0 / np.pi))])
def test_02_with_the_plus_sign_the_answer_depends_on_the_bound(sign, change):
    def location_gradient(bound: float) -> float:
        c = paper.coefficients("mean_median_deviation", NORMAL, bound=bound, mmd_sign=sign)
        return float(np.mean(c * NORMAL))

    assert location_gradient(20.0) - location_gradient(10.0) == pytest.approx(change, abs=1e-3)


# 3. Returns equal to the median


def test_03_ties_add_up_with_minus_and_cancel_with_plus():
    x = np.array([-57.0, -1.0, -1.0, -1.0, 54.0])
    at_median, low = x == -1.0, -1.0 - 54.0

    def c(sign: str, ties: str) -> np.ndarray:
        return paper.coefficients("mean_median_deviation", x, mmd_sign=sign, mmd_ties=ties)

    assert c("-", "twice") == pytest.approx(c("-", "once") + low * at_median)
    assert c("-", "once")[at_median] == pytest.approx(low)
    assert c("+", "twice")[at_median] == pytest.approx(0.0)


def test_03_counting_a_tie_once_gives_the_gradient_and_twice_does_not():
    # The median stays at -1 while the probabilities move, so MMD is sum_k p_k |x_k + 1|.
    points, counts = np.array([-57.0, -1.0, 54.0]), np.array([1, 18, 1])
    p = counts / 20.0
    score = np.array([1.0, 0.0, 0.0]) - p[0]
    x, scores = np.repeat(points, counts), np.repeat(score, counts)
    exact = p @ (score * np.abs(points + 1.0))
    once = paper.coefficients("mean_median_deviation", x, mmd_ties="once")
    twice = paper.coefficients("mean_median_deviation", x, mmd_ties="twice")
    assert np.mean(once * scores) == pytest.approx(exact, rel=1e-12)
    assert np.mean(twice * scores) == pytest.approx(exact - 55.0 * p[1] * score[1], rel=1e-12)
    assert np.mean(twice * scores) > 1.9 * exact


# 4, 5. Coherence


def assert_coherent(measure: Measure, xy: np.ndarray) -> None:
    x, y = xy.T
    d_x, d_y = measure.value(x), measure.value(y)
    rounding = 1e-9 * (1.0 + np.abs(xy).max())
    assert measure.value(x + y) <= d_x + d_y + rounding
    assert measure.value(3.0 * x) == pytest.approx(3.0 * d_x, abs=rounding)
    assert measure.value(x + 7.0) == pytest.approx(d_x, abs=rounding)
    assert measure.value(np.full_like(x, 7.0)) == 0.0
    assert d_x >= 0.0


@given(pairs)
def test_04_mean_median_deviation_is_coherent(xy):
    assert measures.mean_median_deviation.facts.coherent
    assert_coherent(measures.mean_median_deviation, xy)


@given(pairs, st.floats(0.05, 0.95))
def test_05_lower_tail_cvar_deviation_is_coherent(xy, alpha):
    assert measures.cvar_deviation.facts.coherent
    assert_coherent(measures.get("cvar_deviation", alpha=alpha, tail="lower"), xy)


@given(samples, st.floats(0.05, 0.95))
def test_05_lower_tail_of_x_is_upper_tail_of_minus_x(x, alpha):
    lower = measures.get("cvar_deviation", alpha=alpha, tail="lower").value(x)
    upper = measures.get("cvar_deviation", alpha=1.0 - alpha, tail="upper").value(-x)
    assert lower == pytest.approx(upper, rel=1e-9, abs=1e-9)


@given(pairs)
def test_05_lower_tail_cvar_is_super_additive(xy):
    x, y = xy.T
    assert measures.cvar(x + y) >= measures.cvar(x) + measures.cvar(y) - 1e-9 * (1.0 + np.abs(xy).max())


# 6. "Unbiased"


def as_printed(name: str, n: int, bound: float) -> float:
    """The exact mean of the paper's estimator. Where all returns are equal, the print says x^2 - 2 x^2, or x - b.

    (The package gives 0 there, a sample without variability; the print's value is what makes the sum exact.)
    """
    in_a = np.arange(n) < (n + 1) // 2

    def coefficients(returns: np.ndarray) -> np.ndarray:
        if name == "variance":
            equal = returns**2 * np.where(in_a, n / in_a.sum(), -2.0 * n / (~in_a).sum())
        else:
            equal = returns - bound
        constant = (returns == returns[:, :1]).all(axis=-1, keepdims=True)
        return np.where(constant, equal, paper.coefficients(name, returns, bound=bound))

    return expected_gradient(coefficients, n)


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("name", ["variance", "gini_deviation"])
def test_06_split_variance_and_gini_with_a_fixed_bound_are_unbiased(name, n):
    assert as_printed(name, n, bound=3.0) == pytest.approx(gradient(name), rel=1e-9)
    assert as_printed(name, n, bound=10.0) == pytest.approx(gradient(name), rel=1e-9)


@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_06_the_largest_return_as_bound_biases_gini_by_minus_grad_expected_maximum_over_n(n):
    returns, scores, probability = all_samples(n)
    grad_maximum = probability @ (returns.max(axis=-1) * scores.sum(axis=-1))
    bias = expected_gradient(lambda x: paper.coefficients("gini_deviation", x), n) - gradient("gini_deviation")
    assert bias == pytest.approx(-grad_maximum / n, rel=1e-9)
    assert abs(bias) > 0.3 * gradient("gini_deviation")


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("name", ["mean_deviation", "semi_variance", "standard_deviation", "semi_standard_deviation"])
def test_06_four_of_the_others_are_biased_in_exact_enumeration(name, n):
    bias = expected_gradient(lambda x: paper.coefficients(name, x), n) - gradient(name)
    assert abs(bias) > 0.01 * abs(gradient(name))


@pytest.mark.parametrize(
    ("name", "score", "mean_of_estimator", "exact"),
    [
        ("mean_deviation", lambda x: 6.0 * x * x - 6.0 * x + 1.0, 1 / 30, 1 / 16),
        ("semi_variance", lambda x: x - 0.5, 1 / 360, 1 / 192),
    ],
    ids=["mean_deviation", "semi_variance"],
)
def test_06_mean_deviation_and_semi_variance_are_biased_on_a_continuous_law_too(name, score, mean_of_estimator, exact):
    u = (np.arange(100_000) + 0.5) / 100_000
    assert np.mean(measures.get(name).influence(u) * score(u)) == pytest.approx(exact, abs=1e-8)
    x, weight = ordered_uniform(3)
    orders = [x[:, list(order)] for order in itertools.permutations(range(3))]
    means = [weight @ np.mean(paper.coefficients(name, y) * score(y), axis=-1) for y in orders]
    assert np.mean(means) == pytest.approx(mean_of_estimator, rel=1e-10)


def test_06_so_are_their_roots_by_monte_carlo():
    x = np.random.default_rng(6).random((100_000, 6))
    for name, score, exact in [
        ("standard_deviation", 6.0 * x * x - 6.0 * x + 1.0, np.sqrt(12.0) / 60.0),
        ("semi_standard_deviation", x - 0.5, np.sqrt(24.0) / 384.0),
    ]:
        estimates = np.mean(paper.coefficients(name, x) * score, axis=-1)
        standard_error = estimates.std() / np.sqrt(estimates.size)
        assert abs(estimates.mean() - exact) > 8.0 * standard_error


# 7. Variance without double sampling


@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("name", ["variance", "gini_deviation"])
def test_07_one_sample_set_gives_an_unbiased_gradient(name, n):
    assert expected_gradient(lambda x: influence.coefficients(name, x), n) == pytest.approx(gradient(name), rel=1e-9)


@pytest.mark.parametrize("n", [4, 6])
def test_07_and_its_variance_is_a_fraction_of_the_split_one(n):
    returns, scores, probability = all_samples(n)

    def spread(coefficients: np.ndarray) -> float:
        return measures.variance(np.mean(coefficients * scores, axis=-1), probability)

    split, whole = paper.coefficients("variance", returns), influence.coefficients("variance", returns)
    assert spread(whole) < spread(split) / 4.0


# 8, 9, 10. The reward of the red cell, said to have mean -1


def mixture_mean(probabilities: list[float]) -> float:
    return float(np.dot(probabilities, [-1.0, -56.5, 54.5]))


def test_08_the_handcrafted_probabilities_sum_to_more_than_one():
    assert sum([0.95, 0.05, 0.05]) == pytest.approx(1.05)
    assert mixture_mean([0.95, 0.05, 0.05]) == pytest.approx(-1.05)
    assert sum([0.90, 0.05, 0.05]) == pytest.approx(1.0)
    assert mixture_mean([0.90, 0.05, 0.05]) == pytest.approx(-1.0)


@given(st.floats(0.0, 0.5))
def test_08_every_symmetric_outlier_probability_has_mean_minus_one(outlier):
    assert mixture_mean([1.0 - 2.0 * outlier, outlier, outlier]) == pytest.approx(-1.0)


def test_09_the_printed_gaussian_has_mean_minus_twenty():
    printed, meant = stats.norm(-1.0, 1.0), stats.norm(0.0, 1.0)
    assert printed.expect(lambda z: z * 20.0) == pytest.approx(-20.0)
    assert meant.expect(lambda z: -1.0 + 20.0 * z) == pytest.approx(-1.0)


def test_10_pareto_has_the_right_mean_only_as_lomax():
    def mean_reward(law: stats.rv_continuous) -> float:
        return float(law(3.0).expect(lambda x: -1.0 - (x - 0.5) * 20.0))

    assert mean_reward(stats.pareto) == pytest.approx(-21.0, abs=1e-6)
    assert mean_reward(stats.lomax) == pytest.approx(-1.0, abs=1e-6)


def test_10_numpy_samples_lomax_where_its_name_says_pareto():
    x = np.random.default_rng(10).pareto(3.0, 100_000)
    u = stats.lomax(3.0).cdf(x)
    assert x.min() < 1.0
    assert abs(u.mean() - 0.5) < 5.0 * np.sqrt(1.0 / 12.0 / u.size)


# 11. The return


def test_11_the_recursion_needs_the_reward_after_next():
    gamma, rewards = 0.9, [1.0, 10.0, 100.0]
    g = [0.0] * 4
    for t in (2, 1, 0):
        g[t] = rewards[t] + gamma * g[t + 1]
    assert g[0] == pytest.approx(rewards[0] + gamma * rewards[1] + gamma**2 * rewards[2])
    assert g[0] != pytest.approx(rewards[0] + gamma * rewards[0] + gamma**2 * rewards[2])


# 12. Scores: the gradient of the logarithm. Two arms, N(0, 1) and N(2, 9), and one logit between them.

ARMS = stats.norm([0.0, 2.0], [1.0, 3.0])


def arm_probabilities(theta: float = 0.0) -> np.ndarray:
    return np.array([0.6 * np.exp(theta), 0.4]) / (0.6 * np.exp(theta) + 0.4)


def arm_quantile(alpha: float, theta: float = 0.0) -> float:
    return brentq(lambda x: arm_probabilities(theta) @ ARMS.cdf(x) - alpha, -50.0, 50.0, xtol=1e-13)


def test_12_inter_quantile_range_needs_grad_log_pi_in_both_terms():
    pi = arm_probabilities()
    log_gradient = np.array([1.0 - pi[0], -pi[0]])

    def term(alpha: float, policy_factor: np.ndarray) -> float:
        q = arm_quantile(alpha)
        return pi @ (policy_factor * ARMS.cdf(q)) / (pi @ ARMS.pdf(q))

    exact = derivative(lambda theta: arm_quantile(0.9, theta) - arm_quantile(0.1, theta))
    assert -term(0.9, log_gradient) + term(0.1, log_gradient) == pytest.approx(exact, rel=1e-6)
    assert -term(0.9, log_gradient) + term(0.1, pi) != pytest.approx(exact, rel=0.05)


def test_12_semi_variance_needs_grad_log_pi():
    pi = arm_probabilities()
    log_gradient = np.array([1.0 - pi[0], -pi[0]])
    z = ARMS.mean() + ARMS.std() * NORMAL[:, None]

    def semi_variance(theta: float) -> float:
        weights = np.repeat(arm_probabilities(theta)[None, :], len(z), axis=0)
        return measures.semi_variance(z.ravel(), weights.ravel())

    short = np.maximum(pi @ ARMS.mean() - z, 0.0)
    rest = 2.0 * (pi @ short.mean(axis=0)) * (pi @ (log_gradient * ARMS.mean()))
    exact = derivative(semi_variance)
    assert pi @ (log_gradient * np.mean(short**2, axis=0)) + rest == pytest.approx(exact, rel=1e-6)
    assert pi @ (pi * log_gradient * np.mean(short**2, axis=0)) + rest != pytest.approx(exact, rel=0.05)


def test_12_the_density_formulas_need_grad_log_f():
    # The scale of a normal: grad SV = 1 and the gradient of the mean is 0, so one term of eq:sv-terms is left.
    below = NORMAL**2 * (NORMAL <= 0.0)
    assert np.mean(below * SCALE_SCORE) == pytest.approx(1.0, abs=2e-3)
    assert np.mean(below * SCALE_SCORE * stats.norm.pdf(NORMAL)) < 0.2


# 13. What the inter-quantile range looks at


def test_13_the_tails_have_the_largest_influence_whatever_their_size():
    def influence_at(x: float, alpha: float = 0.9) -> float:
        def quantile(level: float, epsilon: float) -> float:
            # At a point mass the contaminated distribution function jumps; off it, this root is the quantile.
            return brentq(lambda q: (1.0 - epsilon) * stats.norm.cdf(q) + epsilon * (x <= q) - level, -9.0, 9.0)

        return derivative(lambda e: quantile(alpha, e) - quantile(1.0 - alpha, e), h=1e-4)

    density = stats.norm.pdf(stats.norm.ppf(0.9))
    assert influence_at(0.0) == pytest.approx(-0.2 / density, rel=1e-6)
    assert influence_at(-2.0) == pytest.approx(0.8 / density, rel=1e-6)
    assert influence_at(-1000.0) == pytest.approx(0.8 / density, rel=1e-6)
    assert influence_at(1000.0) == pytest.approx(0.8 / density, rel=1e-6)


def test_13_the_papers_coefficients_show_it_once_centred():
    x = stats.norm.ppf((np.arange(2_000) + 0.5) / 2_000)
    c = paper.coefficients("inter_quantile_range", x)
    middle, tails = np.abs(x) < 1.25, np.abs(x) > 1.3
    assert c[tails] == pytest.approx(0.0, abs=1e-9)
    centred = c - c.mean()
    assert np.all(centred[middle] < 0.0)
    assert centred[tails] == pytest.approx(-4.0 * centred[middle].max(), rel=0.02)


# 14. Weighted quantiles


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.9])
def test_14_interp_on_the_weights_gives_the_last_return(alpha):
    x = np.random.default_rng(14).standard_normal(50)
    w = np.full(50, 1.0 / 50.0)
    assert np.interp(alpha, w, x) == x[-1]
    assert np.interp(alpha, w, x[::-1]) == x[0]


@given(samples, st.floats(0.05, 0.95))
def test_14_ours_is_numpy_quantile_at_equal_weights_in_any_order(x, alpha):
    ours = measures.get("value_at_risk", alpha=alpha).value(x[::-1], np.full(x.size, 3.0))
    assert ours == pytest.approx(np.quantile(x, alpha), rel=1e-9, abs=1e-9)


def test_14_interp_on_cumulative_weights_is_another_quantile():
    x, w = np.array([0.0, 1.0, 2.0, 3.0]), np.full(4, 0.25)
    cumulative = np.interp(0.5, np.cumsum(w), x)
    assert cumulative == np.quantile(x, 0.5, method="interpolated_inverted_cdf") == 1.0
    assert measures.get("value_at_risk", alpha=0.5).value(x, w) == np.quantile(x, 0.5) == 1.5


# 15. The rate of Theorem 2


def mmd_bias(n: int) -> Fraction:
    """E[estimator] - grad MMD for n = 2m + 1 uniform returns, score 6x^2 - 6x + 1, any fixed b; grad MMD = 1/16.

    The sample median u is Beta(m + 1, m + 1), and given u there are m uniform returns on either side of it: the
    integrals of c times score over the three parts are polynomials in u.
    """
    m = (n - 1) // 2
    moment = {1: Fraction(1, 2), 2: Fraction(m + 2, 2 * (2 * m + 3)), 3: Fraction(m + 3, 4 * (2 * m + 3))}
    below = Fraction(5, 2) * moment[3] - 4 * moment[2] + Fraction(3, 2) * moment[1]
    above = Fraction(3, 2) * moment[3] - Fraction(1, 2) * moment[2]
    at = 6 * moment[3] - 6 * moment[2] + moment[1]
    return (m * below + m * above + at) / n - Fraction(1, 16)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_15_the_bias_on_a_uniform_law_is_known_exactly(n):
    x, weight = ordered_uniform(n)
    c = paper.coefficients("mean_median_deviation", x, bound=1.0)
    mean = weight @ np.mean(c * (6.0 * x * x - 6.0 * x + 1.0), axis=-1)
    assert mean - 1.0 / 16.0 == pytest.approx(float(mmd_bias(n)), rel=1e-9)


@pytest.mark.parametrize("n", [3, 51, 10_001])
def test_15_so_its_rate_is_one_over_n(n):
    assert mmd_bias(n) == -Fraction(2 * n + 1, 16 * n * (n + 2))
    assert abs(n * mmd_bias(n)) < Fraction(1, 8)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_15_leaving_one_out_halves_it(n):
    x, weight = ordered_uniform(n)
    c = influence.coefficients("mean_median_deviation", x)
    bias = weight @ np.mean(c * (6.0 * x * x - 6.0 * x + 1.0), axis=-1) - 1.0 / 16.0
    assert bias == pytest.approx(-1.0 / (16.0 * (n + 2.0)), rel=1e-9)


# 16. Assumption 1 in the Maze


def long_path_return(gamma: float = 0.999, moves: int = 11) -> float:
    return -sum(gamma**t for t in range(moves))


def test_16_a_path_around_the_red_cell_is_an_atom_of_the_return():
    # Pr(long path) = 0.7; otherwise the red cell's Gaussian reward. The return repeats exactly, and has no bound.
    rng = np.random.default_rng(16)
    long = rng.random(10_000) < 0.7
    returns = np.where(long, long_path_return(), long_path_return(moves=9) + 20.0 * rng.standard_normal(10_000))
    atom = np.mean(returns == long_path_return())
    assert abs(atom - 0.7) < 5.0 * np.sqrt(0.7 * 0.3 / 10_000)


def test_16_with_an_atom_at_the_median_the_conditional_formula_fails_and_the_influence_function_does_not():
    # Long path with probability 0.7, else 20 above or below: a coarse red reward, so that everything is exact.
    x = long_path_return() + np.array([-20.0, 0.0, 20.0])
    p = np.array([0.15, 0.7, 0.15])
    score, b = np.array([-0.7, 0.3, -0.7]), x[2]
    exact = derivative(lambda theta: measures.mean_median_deviation(x, p * np.exp(theta * score)))
    q = x[1]
    low = x <= x[1]
    high = x >= x[1]
    printed = 0.5 * np.average(score * (2.0 * q - x - b), weights=p * low) - 0.5 * np.average(
        score * (b - x), weights=p * high
    )
    assert p @ (score * measures.mean_median_deviation.influence(x, p)) == pytest.approx(exact, rel=1e-9)
    assert abs(printed - exact) > 0.1 * abs(exact)


# 17. The gradient of the mean. Every trajectory of a small MDP, with its probability.


def mean_gradients(value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each trajectory its probability, return times score, and sum_t gamma^t (reward-to-go - V) times score."""
    trajectories, pi = mdp.enumerate_all(), softmax(mdp.THETA)
    batch, returns = trajectories.batch, trajectories.returns()
    by_return, by_step = np.zeros((2, batch.n, *pi.shape))
    for i, steps in enumerate(batch.lengths):
        for t in range(steps):
            s, a = batch.observations[i, t], batch.actions[i, t]
            score = np.zeros_like(pi)
            score[s] = np.eye(2)[a] - pi[s]
            to_go = sum(mdp.GAMMA ** (u - t) * batch.rewards[i, u] for u in range(t, steps))
            by_return[i] += returns[i] * score
            by_step[i] += mdp.GAMMA**t * (to_go - value[s]) * score
    return trajectories.probabilities(mdp.THETA), by_return, by_step


@pytest.mark.parametrize("value", [[0.0, 0.0, 0.0], [3.0, -7.0, 0.5]])
def test_17_both_gradients_of_the_mean_have_the_same_expectation(value):
    p, by_return, by_step = mean_gradients(np.array(value))
    np.testing.assert_allclose(np.tensordot(p, by_step, 1), np.tensordot(p, by_return, 1), atol=1e-12)
    assert np.abs(np.tensordot(p, by_return, 1)).max() > 0.05


def test_17_but_not_the_same_variance():
    p, by_return, by_step = mean_gradients(np.array([3.5, 2.5, -3.0]))

    def spread(gradients: np.ndarray) -> float:
        return float(np.sum(np.tensordot(p, gradients**2, 1) - np.tensordot(p, gradients, 1) ** 2))

    assert spread(by_step) < spread(by_return) / 1.5


# 18. What failed on LunarLander


def test_18_the_semi_standard_deviation_is_among_those_that_succeed_on_lunarlander():
    rows = re.findall(r"^\| ([\w -]+?) \| (-?\d+) \| (\.?\d+) \|$", dict(headings())["18"], flags=re.MULTILINE)
    rate = {name: float(number) for name, _, number in rows}
    mean_return = {name: float(number) for name, number, _ in rows}
    assert len(rows) == 9
    assert sorted(rate, key=rate.__getitem__)[-4:] == [
        "Gini deviation", "semi-standard deviation", "mean deviation", "CVaR deviation",
    ]  # fmt: skip
    assert rate["semi-standard deviation"] > 0.8
    assert mean_return["semi-standard deviation"] > max(mean_return.values()) - 5.0
    assert rate["standard deviation"] < 0.6
    assert mean_return["standard deviation"] < mean_return["semi-standard deviation"] - 50.0


# 19. Four measures not studied before


def test_19_the_quantile_form_of_the_gini_deviation_has_the_same_gradient():
    def by_quantiles(theta: float) -> float:
        p = P * np.exp(theta * SCORE)
        above = np.concatenate([[0.0], np.cumsum(p / p.sum())])
        return float(X @ np.diff(above**2 - above))  # the integral of q(u) (2u - 1)

    assert derivative(by_quantiles) == pytest.approx(gradient("gini_deviation"), rel=1e-9)
    assert abs(gradient("gini_deviation")) > 0.1


def test_19_the_mean_semideviation_has_the_semi_standard_deviations_gradient():
    mean = P @ X
    short = np.maximum(mean - X, 0.0)
    semideviation = np.sqrt(P @ short**2)
    grad_mean = P @ (X * SCORE)
    by_hand = (P @ (short**2 * SCORE) + 2.0 * (P @ short) * grad_mean) / (2.0 * semideviation)
    assert by_hand == pytest.approx(gradient("semi_standard_deviation"), rel=1e-9)


# Smaller slips


def test_slip_the_remainder_in_theorem_1_vanishes():
    # 2/n sum_i (q_hat - q) h(x_i) 1{x_i <= q_hat}, for uniform returns and the score h(x) = x - 1/2.
    def remainder(n: int) -> float:
        x = np.random.default_rng(1).random((20, n))
        q_hat = np.quantile(x, 0.5, axis=-1, keepdims=True)
        return np.abs(2.0 * np.mean((q_hat - 0.5) * (x - 0.5) * (x <= q_hat), axis=-1)).mean()

    assert remainder(100_000) < remainder(1_000) / 4.0 < remainder(10) / 16.0


def test_slip_the_two_sample_medians_differ_for_even_n():
    x = np.array([0.0, 1.0, 5.0, 6.0])
    in_print = min(z for z in x if np.mean(x <= z) >= 0.5)
    assert in_print == 1.0
    assert np.quantile(x, 0.5) == 3.0


def test_slip_the_density_of_a_return_is_not_the_probability_of_its_trajectory():
    # Three one-step trajectories, two of them with return 1; the gradient in the logit of the first.
    pi, returns = np.array([0.2, 0.3, 0.5]), np.array([1.0, 1.0, 0.0])
    log_gradient = np.array([1.0, 0.0, 0.0]) - pi[0]
    same = returns == 1.0
    probability_of_one = pi[same].sum()
    score_of_one = (pi @ (same * log_gradient)) / probability_of_one
    assert probability_of_one != pytest.approx(pi[0])
    assert score_of_one != pytest.approx(log_gradient[0])
    # It does no harm: the return's score is the mean of its trajectories' scores.
    assert score_of_one == pytest.approx(np.average(log_gradient[same], weights=pi[same]))
    assert pi @ (returns * log_gradient) == pytest.approx(probability_of_one * score_of_one)


def test_slip_a_bounded_gradient_of_the_density_does_not_bound_the_quantiles():
    # (1/2 + theta) on [-1, -1/2], (1/2 - theta) on [1/2, 1], both with the continuous density of a Beta(2, 2).
    def median(theta: float) -> float:
        low = 0.5 + theta
        beta = stats.beta(2.0, 2.0)
        return -1.0 + 0.5 * beta.ppf(0.5 / low) if low >= 0.5 else 0.5 + 0.5 * beta.ppf((0.5 - low) / (1.0 - low))

    for h in (1e-3, 1e-6, 1e-9):
        assert median(-h) - median(h) > 0.9


@given(samples)
def test_slip_convex_and_sub_additive_is_not_yet_positively_homogeneous(x):
    def rho(sample: np.ndarray) -> float:
        return measures.mean(sample) + 1.0

    y = x[::-1]
    assert rho(x + y) <= rho(x) + rho(y)
    assert rho(0.3 * x + 0.7 * y) == pytest.approx(0.3 * rho(x) + 0.7 * rho(y), abs=1e-9)
    assert rho(2.0 * x) != pytest.approx(2.0 * rho(x), abs=1e-6)


@given(pairs)
def test_slip_mean_plus_semi_deviation_is_monotone_upside(xy):
    upside = measures.get("semi_standard_deviation", side="upside").value
    x, y = xy.min(axis=-1), xy.max(axis=-1)
    assert measures.mean(x) + upside(x) <= measures.mean(y) + upside(y) + 1e-9 * (1.0 + np.abs(xy).max())


def test_slip_mean_plus_semi_deviation_is_not_monotone_downside():
    x = np.array([-1.0, 0.0])
    y = np.array([0.0, 0.0])
    p = np.array([0.1, 0.9])

    def rho(sample: np.ndarray) -> float:
        return measures.mean(sample, p) + measures.semi_standard_deviation(sample, p)

    assert np.all(x <= y)
    assert rho(x) > rho(y) + 0.1


def test_slip_the_handcrafted_reward_is_the_farthest_from_gaussian():
    x = np.linspace(-120.0, 120.0, 240_001)
    handcrafted = (
        0.90 * stats.uniform(-2.0, 2.0).cdf(x)
        + 0.05 * stats.uniform(-57.0, 1.0).cdf(x)
        + 0.05 * stats.uniform(54.0, 1.0).cdf(x)
    )
    # Each law's variance about its mean -1; E[(U[-57,-56] + 1)^2] = E[(U[54,55] + 1)^2] = 55.5^2 + 1/12.
    laws = {
        "handcrafted": (handcrafted, 0.90 / 3.0 + 0.10 * (55.5**2 + 1.0 / 12.0)),
        "uniform": (stats.uniform(-25.0, 48.0).cdf(x), 48.0**2 / 12.0),
        "pareto": (stats.lomax(3.0).sf((-1.0 - x) / 20.0 + 0.5), 400.0 * 0.75),
    }
    distance = {
        name: np.abs(cdf - stats.norm(-1.0, np.sqrt(variance)).cdf(x)).max() for name, (cdf, variance) in laws.items()
    }
    assert distance["handcrafted"] > 0.4
    assert distance["pareto"] < 0.3
    assert distance["uniform"] < 0.06


# The page and the checks agree


NUMBERS = [f"{number:02d}" for number in range(1, 20)]


def headings() -> list[tuple[str, str]]:
    """(key, text) of each part of docs/errata.md: "01" to "19", and "slip"."""
    parts = re.split(r"^## ", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [("slip" if part.startswith("Smaller slips") else part.split(".")[0].zfill(2), part) for part in parts]


def cited_tests(text: str) -> set[str]:
    return set(re.findall(r"`tests/test_errata\.py::(test_\w+)`", text))


def test_the_page_has_every_erratum_once():
    assert [key for key, _ in headings()] == [*NUMBERS, "slip"]


@pytest.mark.parametrize("key", [*NUMBERS, "slip"])
def test_each_section_names_exactly_the_tests_that_prove_it(key):
    here = {name for name in globals() if name.startswith(f"test_{key}_")}
    assert here
    assert cited_tests(dict(headings())[key]) == here


@pytest.mark.parametrize("key", NUMBERS)
def test_each_erratum_says_what_is_printed_what_is_right_why_and_what_we_do(key):
    for part in ("In print", "Right", "Why", "SteadyRL", "Check"):
        assert f"**{part}.**" in dict(headings())[key]

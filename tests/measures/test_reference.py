"""Values and influence functions against closed forms and golden data."""

import numpy as np
import pytest
from scipy import stats

from steadyrl import measures
from tests.reference import EXACT, GOLDEN, NINE, measure_of

X, W = np.array(GOLDEN["x"]), np.array(GOLDEN["w"])
CONTINUOUS = {"normal": stats.norm(), "uniform": stats.uniform(), "exp": stats.expon()}


def cells(law, m=200_000):
    """A law as many points of its quantile function, closer together in the tails, with their probabilities."""
    edges = np.sin(0.5 * np.pi * np.linspace(0, 1, m + 1)) ** 2
    return law.ppf(0.5 * (edges[1:] + edges[:-1])), np.diff(edges)


@pytest.mark.parametrize("short", NINE)
def test_value_of_the_golden_sample(short):
    measure = measure_of(short)
    assert measure.value(X) == pytest.approx(GOLDEN[short]["value"], abs=1e-9)
    assert measure.value(X, W) == pytest.approx(GOLDEN[short]["value_w"], abs=1e-9)


@pytest.mark.parametrize("short", NINE)
def test_influence_of_the_golden_sample(short):
    measure = measure_of(short)
    weighted = X.size * W / W.sum() * measure.influence(X, W)
    np.testing.assert_allclose(measure.influence(X), GOLDEN[short]["influence_plug"], atol=1e-9)
    np.testing.assert_allclose(weighted, GOLDEN[short]["influence_plug_w"], atol=1e-9)


@pytest.mark.parametrize("law", CONTINUOUS)
@pytest.mark.parametrize("short", EXACT["normal"])
def test_value_of_a_known_law(law, short):
    x, p = cells(CONTINUOUS[law])
    assert measure_of(short).value(x, p) == pytest.approx(EXACT[law][short], rel=1e-4)


@pytest.mark.parametrize("short", EXACT["normal"])
def test_value_of_a_skewed_law_nobody_tuned_for(short):
    """A Weibull law, its measures by adaptive quadrature of the quantile function."""
    law = stats.weibull_min(1.5)
    mean, std = law.mean(), law.std()

    def expect(f, low=0.0, high=np.inf):
        return law.expect(f, lb=low, ub=high, epsabs=1e-11, epsrel=1e-11)

    low, high = law.ppf(0.2), law.ppf(0.8)
    down, up = expect(lambda x: (x - mean) ** 2, high=mean), expect(lambda x: (x - mean) ** 2, low=mean)
    exact = {
        "Var": std**2,
        "STD": std,
        "GD": expect(lambda x: x * (2 * law.cdf(x) - 1)),
        "MD": 2 * expect(lambda x: mean - x, high=mean),
        "MMD": expect(lambda x: x, low=law.median()) - expect(lambda x: x, high=law.median()),
        "IQR": law.ppf(0.9) - law.ppf(0.1),
        "CD": mean - expect(lambda x: x, high=low) / 0.2,
        "CDup": expect(lambda x: x, low=high) / 0.2 - mean,
        "SV": down,
        "SSTD": np.sqrt(down),
        "SVup": up,
        "SSTDup": np.sqrt(up),
    }
    x, p = cells(law)
    assert measure_of(short).value(x, p) == pytest.approx(exact[short], rel=1e-4)


@pytest.mark.parametrize("short", [s for s in EXACT["bern.7"]["value"] if s != "IQR"])
def test_value_and_gradient_of_a_coin_by_enumeration(short):
    """Two points with their probabilities as weights; the score of the logit is x - p."""
    x, p = np.array([0.0, 1.0]), np.array([0.3, 0.7])
    measure = measure_of(short)
    assert measure.value(x, p) == pytest.approx(EXACT["bern.7"]["value"][short], abs=1e-12)
    gradient = np.sum(p * measure.influence(x, p) * (x - 0.7))
    assert gradient == pytest.approx(EXACT["bern.7"]["grad"][short], abs=1e-12)


def test_inter_quantile_range_of_a_coin():
    """The range of a coin is 1: as repeated tosses, and as a Choquet integral on the two weighted points.

    Two weighted points alone are an effective sample of 1.7 to the interpolated quantile, which says less than 1.
    """
    tosses = [0.0] * 300 + [1.0] * 700
    assert measures.inter_quantile_range.value(tosses) == EXACT["bern.7"]["value"]["IQR"]
    exact = measures.choquet(lambda t: ((t >= 0.1) & (t <= 0.9)).astype(float))
    assert exact.value([0.0, 1.0], [0.3, 0.7]) == EXACT["bern.7"]["value"]["IQR"]


@pytest.mark.parametrize("short", EXACT["normal"])
def test_scale_gradient_of_the_normal_law(short):
    """For a scale parameter at 1, the gradient is the degree times the value; the score is x^2 - 1."""
    x, p = cells(CONTINUOUS["normal"])
    measure = measure_of(short)
    gradient = np.sum(p * measure.influence(x, p) * (x**2 - 1))
    exact = measure.facts.degree * EXACT["normal"][short]
    assert gradient == pytest.approx(exact, rel=0.02 if measure.facts.needs_density else 1e-4)


@pytest.mark.parametrize("short", EXACT["exp"])
def test_scale_gradient_of_the_exponential_law(short):
    x, p = cells(CONTINUOUS["exp"])
    measure = measure_of(short)
    gradient = np.sum(p * measure.influence(x, p) * (x - 1))
    exact = measure.facts.degree * EXACT["exp"][short]
    assert gradient == pytest.approx(exact, rel=0.05 if measure.facts.needs_density else 1e-4)


def test_plain_statistics():
    x = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    assert measures.mean.value(x) == pytest.approx(0.4)
    assert measures.value_at_risk.value(x) == pytest.approx(np.quantile(x, 0.2))
    assert measures.cvar.value(x) == pytest.approx(-5.0)
    assert measures.get("cvar", alpha=0.4).value(x) == pytest.approx(-3.0)
    assert measures.get("cvar", tail="upper").value(x) == pytest.approx(4.0)
    assert measures.mean.value(x, [1, 0, 0, 0, 3]) == pytest.approx(-3.0)
    np.testing.assert_allclose(measures.mean.influence(x), x - 0.4)
    np.testing.assert_allclose(
        measures.cvar.influence(x), measures.mean.influence(x) - measures.cvar_deviation.influence(x)
    )


@pytest.mark.parametrize("alpha", [0.01, 0.2, 1 / 3, 0.5, 0.9])
def test_weighted_quantile_and_density_are_the_well_known_ones(alpha):
    from steadyrl.measures._weighted import density, quantile

    rng = np.random.default_rng(1)
    x, w = rng.standard_t(3, 41), rng.random(41)
    p, equal = w / w.sum(), np.full(41, 1 / 41)
    assert quantile(x, equal, alpha) == pytest.approx(np.quantile(x, alpha), abs=1e-12)
    q = quantile(x, p, alpha)
    assert density(x, p, q) == pytest.approx(stats.gaussian_kde(x, "silverman", w)(q)[0], rel=1e-12)
    assert density(x, equal, q) == pytest.approx(stats.gaussian_kde(x, "silverman")(q)[0], rel=1e-12)

"""SPSA and the smoothed functional: the expectation over Delta, and two batches a step."""

from itertools import product

import numpy as np
import pytest

from steadyrl.algorithms.perturbed import SPSA, PerturbedOptions, SmoothedFunctional, gain
from steadyrl.ground import streams
from tests.algorithms import even
from tests.algorithms.even import ALL, GAMMA, RATE, RETURNS, THETA
from tests.algorithms.mdp import numerical_gradient

LAM = 0.3
KINDS = {"spsa": SPSA, "smoothed-functional": SmoothedFunctional}
SIGNS = np.array(list(product((-1.0, 1.0), repeat=THETA.size)))


def moments(theta):
    p = ALL.probabilities(theta)
    return p @ RETURNS, p @ RETURNS**2


def objective(theta):
    v, u = moments(theta)
    return v - LAM * (u - v**2)


def expectation(deltas, chances, beta):
    """sum over Delta of (Delta / beta) gain."""
    here = moments(THETA)
    steps = [d / beta * gain(*here, *moments(THETA + beta * d.reshape(THETA.shape)), LAM) for d in deltas]
    return (chances[:, None] * np.array(steps)).sum(axis=0).reshape(THETA.shape)


def gauss_hermite(size, points=3):
    """A normal law of `size` numbers by a product of quadratures, exact for polynomials of degree 5 in each."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(points)
    deltas = np.array(list(product(nodes, repeat=size)))
    return deltas, np.prod(np.array(list(product(weights / weights.sum(), repeat=size))), axis=1)


@pytest.mark.parametrize("name", KINDS)
def test_the_expected_step_is_the_gradient_as_beta_goes_to_zero(name):
    """All signs, or a quadrature of the normal law. The error of either is of the second order in beta."""
    signs = (SIGNS, np.full(len(SIGNS), 1.0 / len(SIGNS)))
    deltas, chances = signs if name == "spsa" else gauss_hermite(THETA.size)
    exact = numerical_gradient(objective, THETA)
    errors = [np.abs(expectation(deltas, chances, beta) - exact).max() for beta in (0.1, 0.05)]
    assert errors[1] < 0.02
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
@pytest.mark.parametrize("name", KINDS)
def test_one_step_takes_a_batch_of_theta_and_one_of_the_perturbed_policy(name, make):
    actor = make()
    learner = KINDS[name](actor, PerturbedOptions(lam=LAM, gamma=GAMMA, perturbation=0.2), seed=7)
    before = actor.parameters()
    learner.update(ALL.batch, 0)
    delta = learner.draw(streams.generator(7, streams.ESTIMATOR, 0), before.size)
    np.testing.assert_allclose(actor.parameters(), before + 0.2 * delta, rtol=1e-12)
    other = even.enumerate_all(first=1.5).batch
    learner.update(other, 1)
    v, u = RETURNS.mean(), np.mean(RETURNS**2)
    rise = gain(v, u, v + 1.5, np.mean((RETURNS + 1.5) ** 2), LAM)
    np.testing.assert_allclose(actor.parameters(), before + RATE * delta / 0.2 * rise, rtol=1e-9)
    learner.update(ALL.batch, 2)
    again = learner.draw(streams.generator(7, streams.ESTIMATOR, 2), before.size)
    assert not np.array_equal(again, delta)
    np.testing.assert_array_equal(learner.delta, again)


def test_deltas_are_signs_and_normal_numbers():
    options, rng = PerturbedOptions(), np.random.default_rng(0)
    signs = SPSA(even.table(), options).draw(rng, 10_000)
    assert set(signs.tolist()) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.04
    normal = SmoothedFunctional(even.table(), options).draw(rng, 10_000)
    assert abs(normal.mean()) < 0.04
    assert normal.std() == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(
    ("beta", "message"),
    [
        (0.0, "0: must be > 0"),
        (-1.0, "-1: must be > 0"),
        (np.nan, "nan: must be finite"),
        (np.inf, "inf: must be finite"),
    ],
)
def test_a_perturbation_of_nothing_is_refused(beta, message):
    with pytest.raises(ValueError, match=f"^perturbation = {message}$"):
        SPSA(even.table(), PerturbedOptions(perturbation=beta))

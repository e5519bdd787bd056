"""The mixture: its gradient by enumeration, its policy as a law, its two phases."""

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.algorithms.mixture import MixtureOptions, MixturePolicyGradient
from steadyrl.policies import TabularSoftmax
from steadyrl.policies.derived import MixedPolicy, mixed
from steadyrl.policies.tabular import softmax
from tests.algorithms import even
from tests.algorithms.even import ALL, GAMMA, PI, RATE, RETURNS
from tests.algorithms.mdp import numerical_gradient

both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
W = np.array([[0.5], [0.25], [0.75]])
AVERSE = np.array([[0.3, 0.7], [0.7, 0.3], [0.8, 0.2]])
NEUTRAL = (PI - W * AVERSE) / (1 - W)
GATE = np.log(np.hstack([1 - W, W]))


def mixture(make, neutral=None, updates=1000, **options):
    """Parts whose mixture is PI, so that the batch of all trajectories is its law."""
    parts = {"neutral": neutral or make(np.log(NEUTRAL)), "averse": make(np.log(AVERSE)), "gate": make(GATE)}
    return MixturePolicyGradient(
        parts, MixtureOptions(gamma=GAMMA, **{"neutral_share": 0.0, **options}), updates=updates
    )


def probabilities(averse, gate):
    w = softmax(gate)[:, 1:]
    return w * softmax(averse) + (1 - w) * NEUTRAL


@both
def test_pi_prime_and_w_ascend_cvar(make):
    def cvar(averse, gate):
        p = ALL.probabilities(np.log(probabilities(averse, gate)))
        return measures.get("cvar", alpha=0.33).value(RETURNS, p)

    assert (NEUTRAL > 0).all()
    learner = mixture(make, risk_level=0.33)
    learner.update(ALL.batch, 0)
    for actor, start, of in (
        (learner.averse, np.log(AVERSE), lambda theta: cvar(theta, GATE)),
        (learner.gate, GATE, lambda theta: cvar(np.log(AVERSE), theta)),
    ):
        exact = numerical_gradient(of, start)
        assert np.abs(exact).max() > 0.01
        np.testing.assert_allclose(even.moved(actor, start) / RATE, exact, atol=2e-6)
    np.testing.assert_array_equal(even.moved(learner.neutral, np.log(NEUTRAL)), 0.0)


@both
def test_the_neutral_part_is_trained_first_by_reinforce(make):
    learner = mixture(make, make(), neutral_share=0.5, updates=4)
    learner.update(ALL.batch, 0)
    exact = numerical_gradient(lambda theta: ALL.probabilities(theta) @ RETURNS, even.THETA)
    np.testing.assert_allclose(even.moved(learner.neutral) / RATE, exact, atol=2e-6)
    np.testing.assert_array_equal(even.moved(learner.averse, np.log(AVERSE)), 0.0)
    grid = (np.arange(1000)[:, None] + 0.5) / 1000
    assert learner.policy.act(np.ones(1000, int), grid).mean() == pytest.approx(PI[1, 1], abs=0.01)


def test_there_are_two_phases_and_the_neutral_part_is_frozen_in_the_second():
    learner = mixture(even.table, neutral_share=0.5, updates=4)
    phases = [learner.update(ALL.batch, k)["neutral"] for k in range(4)]
    assert phases == [1.0, 1.0, 0.0, 0.0]


def test_a_mixture_of_tables_is_a_table_with_the_same_law_as_choosing_first():
    gate, averse, neutral = (TabularSoftmax(t) for t in (GATE, np.log(AVERSE), np.log(NEUTRAL)))
    table = mixed(gate, averse, neutral)
    assert isinstance(table, TabularSoftmax)
    np.testing.assert_allclose(table.probabilities(), PI, rtol=1e-12)
    choosing = MixedPolicy(gate, averse, neutral)
    assert choosing.uniforms_per_action == 2
    grid = (np.arange(200) + 0.5) / 200
    uniforms = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    for s in range(3):
        share = choosing.act(np.full(len(uniforms), s), uniforms).mean()
        assert share == pytest.approx(PI[s, 1], abs=1e-9)


def test_a_mixture_of_networks_acts_by_its_log_probabilities_and_predicts():
    learner = mixture(even.network)
    policy = learner.policy
    assert isinstance(policy, MixedPolicy)
    grid = (np.arange(200) + 0.5) / 200
    uniforms = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    assert policy.act(np.full(len(uniforms), 1), uniforms).mean() == pytest.approx(PI[1, 1], abs=1e-9)
    assert policy.predict(1) == int(np.argmax(NEUTRAL[1]))
    assert policy.predict(2) == int(np.argmax(AVERSE[2]))
    drawn = [policy.predict(1, deterministic=False, rng=k) for k in range(200)]
    assert np.mean(drawn) == pytest.approx(PI[1, 1], abs=0.1)

"""Running units of observations and targets: held by the learner, saved with the policy, without effect on lam."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl.actors.moments import RunningMoments
from steadyrl.algorithms.ppo import standardised
from steadyrl.policies import storage
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from
from tests.helpers import frontiers

torch.set_num_threads(1)
SMALL = {"env": "<scaled>", "limit": 13, "n": 12, "hidden": [8], "updates": 6, "measure": "gini_deviation"}
both = pytest.mark.parametrize("algorithm", ["ppo", "reinforce"])


def test_running_moments_are_those_of_all_rows_or_of_the_latest():
    rng = np.random.default_rng(0)
    batches = [rng.normal(k, 1 + k, (5 + k, 3)) for k in range(6)]
    every, latest = RunningMoments(3), RunningMoments(3, memory=1)
    for rows in batches:
        every.see(rows)
        latest.see(rows)
    together = np.concatenate(batches)
    np.testing.assert_allclose(every.mean, together.mean(axis=0))
    np.testing.assert_allclose(every.variance, together.var(axis=0))
    np.testing.assert_allclose(latest.mean, batches[-1].mean(axis=0))
    np.testing.assert_allclose(latest.variance, batches[-1].var(axis=0))


def trained(algorithm, scale, lam, updates=4, **fields):
    """A learner after some updates on the portfolio, with rewards multiplied by `scale`."""
    collector = Collector(lambda: frontiers.make("portfolio", scale), limit=13)
    config = config_from({**SMALL, "algorithm": algorithm, "lam": lam, **fields})
    learner = make_learner(config, collector.observation_space, collector.action_space)
    batches = []
    for k in range(updates):
        batches.append(collector.collect(learner.policy, 12, 1, k))
        learner.update(batches[-1], k)
    return learner, batches


@both
@pytest.mark.parametrize("scale", [2.0**-7, 2.0**7])
def test_lam_keeps_its_meaning_whatever_the_unit_of_the_rewards(algorithm, scale):
    """Rewards in another unit, the same lam for a measure of degree one: the same policy, in the same units."""
    begun, one, other = (trained(algorithm, unit, 0.7, k)[0] for unit, k in ((1.0, 0), (1.0, 4), (scale, 4)))
    start, weights, others = (learner.actor.parameters() for learner in (begun, one, other))
    assert np.linalg.norm(others - weights) < 0.02 * np.linalg.norm(weights - start)
    assert np.linalg.norm(weights - start) > 0.05
    batch = trained(algorithm, 1.0, 0.7, updates=1)[1][0]
    np.testing.assert_allclose(other.actor.values(batch), scale * one.actor.values(batch), rtol=2e-2, atol=scale)


@both
def test_observations_are_standardised_by_all_that_were_seen_and_policy_and_file_have_it(algorithm, tmp_path):
    learner, batches = trained(algorithm, 1.0, 0.7)
    rows = np.concatenate([batch.observations[batch.mask] for batch in batches]).astype(np.float64)
    layers = learner.policy.layers
    np.testing.assert_allclose(layers.input_mean.numpy(), rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(layers.input_std.numpy(), rows.std(axis=0), rtol=1e-5)
    learner.policy.save(tmp_path / "policy.safetensors")
    loaded, observations = storage.load(tmp_path / "policy.safetensors"), batches[0].observations[0, :5]
    np.testing.assert_array_equal(loaded.predict(observations), learner.policy.predict(observations))
    np.testing.assert_array_equal(loaded.layers.input_std, layers.input_std)


@both
def test_the_policy_does_not_learn_from_the_batch_that_sets_its_units(algorithm):
    """It played that batch with others: its ratios would not be those of the policy that acted."""
    begun = trained(algorithm, 1.0, 0.7, updates=0)[0]
    first, _ = trained(algorithm, 1.0, 0.7, updates=1)
    for name, parameter in begun.policy.named_parameters():
        assert torch.equal(parameter, dict(first.policy.named_parameters())[name])
    second, _ = trained(algorithm, 1.0, 0.7, updates=2)
    moved = [not torch.equal(a, b) for a, b in zip(first.policy.parameters(), second.policy.parameters(), strict=True)]
    assert any(moved)


def test_values_stay_as_they_are_when_their_unit_changes():
    space = spaces.Box(-1.0, 1.0, (3,), np.float32)
    value = ValueNetwork(space, hidden=(7,), dtype=torch.float64, normalise_targets=True)
    observations = np.random.default_rng(0).normal(size=(9, 3))
    assert not value.predict(observations).any()
    value.rescale(3.0, 2.0, keep=False)
    before = value.predict(observations)
    value.rescale(-40.0, 17.0)
    np.testing.assert_allclose(value.predict(observations), before, rtol=1e-12)


def test_weights_that_do_not_vary_are_nothing_once_standardised():
    np.testing.assert_array_equal(standardised(np.full(4, 3.0)), 0.0)

"""Runs in step are the same bits as Algorithm 1 on a table of its own."""

import numpy as np
import pytest

from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.in_step import InStep
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.rollouts import Collector

UPDATES, N = 12, 20
CASES = {
    "Gini deviation": {"measure": "gini_deviation"},
    "variance": {"measure": "variance", "estimator": "paper"},
    "variance, the return's mean": {"measure": "variance", "estimator": "paper", "mean_part": "return"},
    "semi-standard deviation": {"measure": "semi_standard_deviation", "estimator": "paper"},
    "mean deviation, baseline": {"measure": "mean_deviation", "estimator": "paper", "penalty_baseline": True},
    "CVaR deviation, baseline": {"measure": "cvar_deviation", "penalty_baseline": True},
    "variance, unit-free": {"measure": "variance", "unit_free": True, "penalty_baseline": True},
    "Gini deviation, constraint": {"measure": "gini_deviation", "constraint": 3.0, "dual_rate": 0.01},
    "all at once": {
        "measure": "semi_variance", "unit_free": True, "constraint": 5.0, "penalty_baseline": True, "gamma": 0.97,
    },
}  # fmt: skip
RUNS = [(0.0, TableOptions()), (0.8, TableOptions(3e-3)), (1.5, TableOptions(1e-2, 0.05))]
"""What may differ from run to run."""


def learners(fields):
    return [
        Reinforce(TableActor(36, 4, rates), ReinforceOptions(lam=lam, **fields), seed=seed)
        for seed, (lam, rates) in enumerate(RUNS)
    ]


def padded(batches):
    """Batches as one array with a leading axis of runs."""
    longest = max(batch.rewards.shape[1] for batch in batches)

    def wide(array):
        return np.pad(array, ((0, 0), (0, longest - array.shape[1])))

    fields = ("observations", "actions", "rewards")
    arrays = [np.stack([wide(getattr(batch, name)) for batch in batches]) for name in fields]
    return (*arrays, np.stack([batch.lengths for batch in batches]))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("fields", CASES.values(), ids=CASES)
def test_runs_in_step_are_algorithm_1_to_the_bit(fields, count):
    collector = Collector("steadyrl/Maze-v0", noise="gaussian")
    alone, together = learners(fields)[-count:], learners(fields)[-count:]
    group = InStep(together)
    for k in range(UPDATES):
        batches = [collector.collect(one.policy, N, one.seed, k) for one in alone]
        returns = group.update(padded(batches), group.policies())
        for one, other, batch, own in zip(alone, together, batches, returns, strict=True):
            logged = one.update(batch, k)
            assert logged["return"] == own.mean()
            settled = other.penalty.finish(own)
            assert settled == {name: logged[name] for name in settled}
            expected, actual = one.state(), other.state()
            assert actual.keys() == expected.keys()
            for name, array in expected.items():
                np.testing.assert_array_equal(actual[name], array, err_msg=f"update {k}: {name}")
    assert all(np.abs(one.actor.theta).max() > 1e-4 for one in alone)
    assert group.finite().all()


def test_a_restored_run_writes_into_the_array_of_its_group():
    (one,) = learners({"penalty_baseline": True})[1:2]
    group = InStep([one])
    state = one.state()
    state["actors.policy.theta"] += 1.0
    state["critic.table"] += 2.0
    one.restore(state)
    assert (group.theta == 1.0).all()
    assert (group.baseline == 2.0).all()


def test_runs_that_differ_in_more_than_lam_are_refused():
    pair = [*learners({})[:1], *learners({"gamma": 0.5})[:1]]
    with pytest.raises(ValueError, match=r"^runs in step may differ in seed, lam, policy_rate and value_rate only$"):
        InStep(pair)
    with pytest.raises(ValueError, match=r"^normalise_advantages = True: must be False for runs in step$"):
        InStep(learners({"normalise_advantages": True}))
    with pytest.raises(ValueError, match=r"^discounted_weights = False: must be True for runs in step$"):
        InStep(learners({"discounted_weights": False}))
    with pytest.raises(ValueError, match=r"^value_passes = 2: must be 1 for runs in step$"):
        InStep(learners({"value_passes": 2}))

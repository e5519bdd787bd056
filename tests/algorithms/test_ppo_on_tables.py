"""PPO on a table: the fit of its values, and the Maze."""

from itertools import pairwise

import numpy as np
import pytest

import steadyrl
from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.runs.view import Quiet
from tests.algorithms import even, maze_runs

BATCH = even.ALL.batch
TARGETS = np.random.default_rng(0).normal(size=BATCH.steps)


@pytest.mark.parametrize(("rate", "share"), [(0.1, 0.1), (1.0, 1.0), (7.0, 1.0)])
def test_a_value_moves_by_a_share_of_its_way_to_the_mean_target_of_its_steps(rate, share):
    """However often its state was visited; one that was not stays."""
    actor = TableActor(5, 2, TableOptions(1.0, rate))
    actor.value = np.array([0.3, -0.7, 1.1, 9.0, -9.0])
    before, states = actor.value.copy(), BATCH.observations[BATCH.mask]
    part = np.nonzero(states != 2)[0][::3]
    loss = actor.steps(BATCH).fit_values(part, TARGETS[part])
    expected = before.copy()
    for s in (0, 1):
        expected[s] += share * (TARGETS[part][states[part] == s].mean() - before[s])
    np.testing.assert_allclose(actor.value, expected, rtol=1e-12)
    np.testing.assert_array_equal(actor.value[2:], before[2:])
    assert loss == pytest.approx(np.mean((before[states[part]] - TARGETS[part]) ** 2))


def test_the_fit_lowers_the_loss_at_any_rate_until_it_is_least():
    steps = even.table().steps(BATCH)
    losses = [steps.fit_values(np.arange(BATCH.steps), TARGETS) for _ in range(200)]
    states = BATCH.observations[BATCH.mask]
    means = np.bincount(states, TARGETS) / np.bincount(states)
    assert all(a > b for a, b in pairwise(losses[:20]))
    assert losses[-1] == pytest.approx(np.mean((means[states] - TARGETS) ** 2))


def test_it_trains_by_name_with_rates_of_its_own(tmp_path):
    run = steadyrl.train("steadyrl/Maze-v0", algorithm="ppo", lam=0.1, updates=20, out=tmp_path, view=Quiet())
    rows = run.metrics()
    assert run.status == "finished"
    assert {"kl", "effective_n", "value_loss", "gradient_norm", "lam"} <= rows[-1].keys()
    assert np.mean([row["return"] for row in rows[-3:]]) > np.mean([row["return"] for row in rows[:3]]) + 10.0
    assert run.config.policy_rate is None
    assert 0 < rows[0]["kl"] < 0.1


PAYING = {"n": 50, "env_options": {"goal_reward": 10.0}, "algorithm": "ppo", "gamma": 0.999, "updates": 100}
CASES = {
    "neutral": {**PAYING, "lam": 0.0},
    "neutral by name": {**PAYING, "algorithm": "risk-neutral-ppo"},
    "averse": {**PAYING, "lam": 1.2},
    "averse, steadiness": {**PAYING, "updates": 150},
    "averse, product": {**PAYING, "lam": 1.2, "penalty": "product", "advantage_normalisation": "none"},
}


@pytest.fixture(scope="module")
def ends():
    return maze_runs.trained(CASES, seeds=2, last=10)


@pytest.mark.parametrize("name", CASES)
def test_it_learns_the_long_way_if_risk_counts_and_else_the_short_one(name, ends):
    assert (ends[name]["short" if "neutral" in name else "long"] > 0.9).all()

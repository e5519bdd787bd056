"""The risk of anything: numbers of an episode other than its return, penalised and bounded."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import steadyrl
from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms import quantity
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.envs.cost import EpisodeCost
from steadyrl.ground.errors import BadInputError, RunError
from steadyrl.rollouts import Batch, Collector

STEPS = 3


class Tolls(gym.Env):
    """Three times a toll road, which earns 1 and costs 1, or a free one, which earns 0.4."""

    max_episode_steps = STEPS

    def __init__(self, says_so=True):
        self.observation_space, self.action_space = spaces.Discrete(1), spaces.Discrete(2)
        self.says_so = says_so

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = self.tolls = 0
        return 0, {}

    def step(self, action):
        self.t += 1
        self.tolls += int(action)
        over = self.t == STEPS
        info = {"cost": float(action)} if self.says_so else {}
        info |= {"tolls_twice": 2.0 * self.tolls, "name": "road"} if over else {}
        return 0, 1.0 if action else 0.4, over, False, info


def batch_of(actions, **outcomes):
    n, steps = np.shape(actions)
    action_array = np.array(actions)
    return Batch(
        observations=np.zeros((n, steps), np.int64),
        actions=action_array,
        rewards=np.where(action_array == 1, 1.0, 0.4),
        lengths=np.full(n, steps),
        terminated=np.ones(n, bool),
        last_observations=np.zeros(n, np.int64),
        risk_averse=np.full(n, np.nan),
        outcomes={name: np.array(values) for name, values in outcomes.items()},
    )


def test_the_largest_drawdown_by_hand():
    rewards = np.array([[1.0, -2.0, 3.0, -1.5], [-1.0, -1.0, 5.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    assert quantity.drawdowns(rewards).tolist() == [2.0, 2.0, 0.0]


def test_a_number_of_an_episode_by_its_name():
    batch = batch_of([[1, 0, 1], [0, 0, 0]], episode_cost=[2.0, 0.0], tolls=[True, False], name=["a", "b"])
    returns = np.array([7.0, 8.0])
    assert quantity.numbers("return", batch, returns) is returns
    assert quantity.numbers("cost", batch, returns).tolist() == [2.0, 0.0]
    assert quantity.numbers("tolls", batch, returns).tolist() == [1.0, 0.0]
    assert quantity.numbers("length", batch, returns).tolist() == [3.0, 3.0]
    with pytest.raises(
        BadInputError, match=r"of = 'fuel': no number .* known are return, cost, drawdown, length.*tolls"
    ):
        quantity.numbers("fuel", batch, returns)
    with pytest.raises(BadInputError, match="of = 'name'"):
        quantity.numbers("name", batch, returns)


def test_a_function_in_python_is_known_by_its_name(monkeypatch):
    monkeypatch.setattr(quantity, "_own", {})
    quantity.register("first_action")(lambda batch: batch.actions[:, 0])
    batch = batch_of([[1, 0, 1], [0, 0, 0]])
    assert quantity.numbers("first_action", batch, np.zeros(2)).tolist() == [1.0, 0.0]
    quantity.register("wrong")(lambda batch: np.array([1.0, np.nan]))
    with pytest.raises(BadInputError, match="of = 'wrong': must be one finite number for each of 2 episodes"):
        quantity.numbers("wrong", batch, np.zeros(2))


def test_costs_are_summed_into_the_last_info():
    env = EpisodeCost(Tolls())
    env.reset(seed=0)
    infos = [env.step(action)[-1] for action in (1, 0, 1)]
    assert ["episode_cost" in info for info in infos] == [False, False, True]
    assert infos[-1]["episode_cost"] == 2.0
    env.reset(seed=0)
    assert [env.step(0)[-1] for _ in range(3)][-1]["episode_cost"] == 0.0


def test_the_step_of_reinforce_is_less_lam_times_the_coefficients_of_the_cost():
    """Of two learners on one batch, with lam and without: the difference, by hand, for the variance of the cost."""
    actions, costs = [[1, 1, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]], np.array([2.0, 1.0, 3.0, 0.0])
    batch = batch_of(actions, episode_cost=costs)
    tables = []
    for lam in (0.0, 0.7):
        actor = TableActor(1, 2, TableOptions(policy_rate=0.1, optimiser="sgd"), 1.0)
        options = ReinforceOptions(measure="variance", of="cost", lam=lam, gamma=1.0)
        learner = Reinforce(actor, options)
        before = np.array(learner.policy.theta)
        logged = learner.update(batch, 0)
        tables.append(np.array(learner.policy.theta) - before)
    d = costs - costs.mean()
    n = len(costs)
    c = n**2 / ((n - 1) * (n - 2)) * (d**2 - np.mean(d**2))
    scores = np.array([[sum((a == k) - 0.5 for a in row) for k in (0, 1)] for row in actions])
    expected = -0.1 * 0.7 * (c @ scores) / n
    np.testing.assert_allclose((tables[1] - tables[0])[0], expected, atol=1e-12)
    assert logged["variability"] == pytest.approx(np.var(costs))


def trained(tmp_path, **options):
    fixed = {"algorithm": "reinforce", "n": 40, "updates": 300, "gamma": 1.0, "policy_rate": 0.02, "optimiser": "sgd"}
    return steadyrl.train(Tolls, out=tmp_path, of="cost", **(fixed | options))


@pytest.mark.long_training
def test_the_mean_of_the_cost_is_kept_at_its_bound_and_lam_finds_its_price(tmp_path):
    """A toll earns 0.6 more: so the best within a mean cost of 1 is a toll in every third step, and lam is 0.6."""
    run = trained(tmp_path, measure="mean", constraint=1.0, lam=0.0, dual_rate=0.02, dual_gain=1.0)
    late = run.metrics()[-100:]
    assert np.mean([row["variability"] for row in late]) == pytest.approx(1.0, abs=0.1)
    assert np.mean([row["lam"] for row in late]) == pytest.approx(0.6, abs=0.15)


@pytest.mark.long_training
def test_ppo_keeps_the_mean_of_the_cost_at_its_bound_at_about_its_price(tmp_path):
    """As above; without a bound every step is a toll, and the mean cost 3."""
    options = {"algorithm": "ppo", "measure": "mean", "updates": 150, "policy_rate": 0.01, "optimiser": "adam"}
    bounded = trained(tmp_path / "a", constraint=1.0, lam=0.0, dual_rate=0.02, dual_gain=1.0, **options).metrics()
    assert np.mean([row["variability"] for row in bounded[-50:]]) == pytest.approx(1.0, abs=0.15)
    assert np.mean([row["lam"] for row in bounded[-50:]]) == pytest.approx(0.6, abs=0.25)
    free = trained(tmp_path / "b", lam=0.0, **options).metrics()
    assert np.mean([row["variability"] for row in free[-50:]]) > 2.5


@pytest.mark.long_training
def test_the_drawdown_of_a_portfolio_is_less_than_half_for_a_tenth_of_the_mean(tmp_path):
    """The largest falls of the account, averaged: 11 with lam = 1, 41 with 0; the means are 92 and 101."""
    options = {"of": "drawdown", "measure": "mean", "policy_rate": 0.1, "gamma": 1.0, "updates": 200}
    late = {}
    for lam in (0.0, 1.0):
        run = steadyrl.train("steadyrl/Portfolio-v0", lam=lam, out=tmp_path / str(lam), **options)
        rows = run.metrics()[-40:]
        late[lam] = {name: np.mean([row[name] for row in rows]) for name in ("return", "variability")}
    assert late[1.0]["variability"] < 0.5 * late[0.0]["variability"]
    assert 0.85 * late[0.0]["return"] < late[1.0]["return"] < late[0.0]["return"]


@pytest.mark.long_training
def test_the_cvar_of_the_cost_is_kept_at_its_bound(tmp_path):
    """Of the dearest fifth of episodes: it comes to the bound of 2 and stays within; without one it is 3, all tolls."""
    worst = {"measure": "cvar", "measure_params": {"alpha": 0.8, "tail": "upper"}}
    bounded = trained(tmp_path / "a", constraint=2.0, lam=0.0, dual_rate=0.02, dual_gain=1.0, **worst)
    free = trained(tmp_path / "b", lam=0.0, **worst)
    assert 1.6 < np.mean([row["variability"] for row in bounded.metrics()[-100:]]) < 2.05
    assert np.mean([row["variability"] for row in free.metrics()[-100:]]) == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "gini_deviation"}, "of = 'cost': must have lam or constraint beside it"),
        ({"measure": "mean", "lam": 1.0, "of": "return"}, "measure = 'mean': must be a measure of variability"),
        ({"measure": "gini_deviation", "lam": 1.0, "of": "fuel"}, "of = 'fuel': no number of that name"),
        ({"measure": "mean", "lam": 1.0, "of": "fuel"}, r"known are return, cost, drawdown, length, (?!.*\bcost\b)"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, options, message):
    with pytest.raises(RunError, match=message):
        steadyrl.train(Tolls, out=tmp_path, **({"of": "cost", "updates": 2, "n": 5} | options))


def test_an_environment_that_does_not_say_what_a_step_cost_is_named(tmp_path):
    with pytest.raises(RunError, match=r"must say what a step cost in info\[.cost.\]"):
        steadyrl.train(lambda: Tolls(says_so=False), out=tmp_path, of="cost", lam=1.0, updates=2, n=5)


def test_a_number_of_the_last_info_can_be_penalised_by_ppo(tmp_path):
    run = steadyrl.train(
        Tolls, out=tmp_path, algorithm="ppo", of="tolls_twice", measure="mean", lam=5.0, updates=20, n=20
    )
    assert run.metrics()[-1]["variability"] < 0.5 * run.metrics()[0]["variability"]
    assert Collector(Tolls).collect(run.policy, 1, 0, 0).outcomes["name"].tolist() == ["road"]

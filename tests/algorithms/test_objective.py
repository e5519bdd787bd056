"""Objectives by name: what each of them is, and that the update is its gradient, by enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad

import steadyrl
from steadyrl import estimators, measures
from steadyrl.algorithms import objective
from steadyrl.algorithms.ppo import PPO
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.cli import main
from steadyrl.estimators import Parts
from steadyrl.ground.errors import BadInputError
from steadyrl.integrations import RolloutPenalty
from steadyrl.runs import RunConfig, config_hash, from_toml, to_toml
from steadyrl.runs.checks import config_from
from tests.algorithms import even, mdp

POINTS = np.array([3.0, -2.0, 0.5, 7.0, 1.0])
P = np.array([0.3, 0.15, 0.2, 0.1, 0.25])


def quantile(u, x, p):
    """The smallest x with Pr(X <= x) >= u."""
    order = np.argsort(x)
    return x[order][np.searchsorted(np.cumsum(p[order]), u - 1e-12)]


def spectral(spectrum, x, p):
    """The integral of the quantile function times its weight, from its definition, piece by piece."""
    order = np.argsort(x)
    edges = np.concatenate([[0.0], np.cumsum(p[order])])
    return sum(v * quad(spectrum, a, b)[0] for v, a, b in zip(x[order], edges[:-1], edges[1:], strict=True))


def tail(alpha, x, p):
    """The mean of the worst share alpha; the return at its edge counts in part."""
    order = np.argsort(x)
    before = np.concatenate([[0.0], np.cumsum(p[order])[:-1]])
    return np.clip(alpha - before, 0.0, p[order]) @ x[order] / alpha


def worst_of_three(x, p):
    return sum(p[list(i)].prod() * x[list(i)].min() for i in product(range(len(x)), repeat=3))


DEFINITIONS = {
    "cvar": ({"alpha": 0.22}, lambda x, p: tail(0.22, x, p)),
    "mean_cvar": ({"alpha": 0.22, "share": 0.3}, lambda x, p: 0.7 * p @ x + 0.3 * tail(0.22, x, p)),
    "cvar_mixture": (
        {"levels": [0.12, 0.57, 1.0], "shares": [0.2, 0.5, 0.3]},
        lambda x, p: 0.2 * tail(0.12, x, p) + 0.5 * tail(0.57, x, p) + 0.3 * p @ x,
    ),
    "exponential": (
        {"steepness": 3.0},
        lambda x, p: spectral(lambda u: 3.0 * np.exp(-3.0 * u) / (1.0 - np.exp(-3.0)), x, p),
    ),
    "worst_of": ({"power": 3.0}, lambda x, p: spectral(lambda u: 3.0 * (1.0 - u) ** 2, x, p)),
    "entropic": ({"beta": 0.4}, lambda x, p: -np.log(p @ np.exp(-0.4 * x)) / 0.4),
}
every = pytest.mark.parametrize("name", DEFINITIONS)


def test_there_is_a_definition_here_of_every_objective_of_ours():
    assert set(DEFINITIONS) <= set(objective.names())
    assert {"cvar", "mean_cvar", "cvar_mixture", "worst_of", "exponential", "entropic"} == set(DEFINITIONS)


@every
def test_an_objective_is_the_mean_less_lam_times_its_measure(name):
    params, definition = DEFINITIONS[name]
    assert objective.get(name, **params).value(POINTS, P) == pytest.approx(definition(POINTS, P), abs=1e-9)
    even_p = np.full(5, 0.2)
    assert objective.get(name, **params).value(POINTS) == pytest.approx(definition(POINTS, even_p), abs=1e-9)


def test_the_worst_of_three_is_the_expected_worst_of_three_draws():
    assert objective.get("worst_of", power=3).value(POINTS, P) == pytest.approx(worst_of_three(POINTS, P), abs=1e-12)


def test_the_worst_of_two_is_the_mean_less_the_gini_deviation_with_the_same_coefficients():
    worst_of = objective.get("worst_of")
    measure = measures.get(worst_of.measure, **worst_of.measure_params)
    for estimator in ("influence", "jackknife"):
        own, gini = (estimators.coefficients(m, POINTS, estimator=estimator) for m in (measure, "gini_deviation"))
        if estimator == "influence":
            np.testing.assert_allclose(own, gini, atol=1e-12)
    np.testing.assert_allclose(
        estimators.coefficients(measure, POINTS, P), estimators.coefficients("gini_deviation", POINTS, P), atol=1e-12
    )


def test_a_mixture_of_one_level_is_the_cvar():
    mixture = objective.get("cvar_mixture", levels=[0.3], shares=[1.0])
    assert mixture.value(POINTS, P) == pytest.approx(objective.get("cvar", alpha=0.3).value(POINTS, P), abs=1e-12)


def test_a_small_beta_is_half_the_variance_and_a_large_one_is_the_worst():
    small = objective.get("entropic", beta=1e-5).value(POINTS, P)
    assert (P @ POINTS - small) / 1e-5 == pytest.approx(measures.variance.value(POINTS, P) / 2, rel=1e-3)
    assert objective.get("entropic", beta=500.0).value(1000 * POINTS) == pytest.approx(-2000.0, abs=0.01)


def law(measure, returns):
    """c_i of a batch that is the law, not a sample of it: no correction for a small sample."""
    return estimators.influence.coefficients(measure, returns, np.full(returns.size, 1.0 / returns.size))


def first_step(learner, batch):
    """What an update adds to theta, over the rate; a batch holds every trajectory as often as it is likely."""
    learner.penalty.coefficients = lambda returns, _=None: Parts(law(learner.penalty.measure, returns), 0.0 * returns)
    learner.update(batch, 0)
    return even.moved(learner.actor) / even.RATE


def gradient_of(definition):
    """Of an objective of the law of returns, in the table of the policy."""
    returns = even.ALL.batch.rewards.sum(axis=1)
    return mdp.numerical_gradient(lambda theta: definition(returns, even.ALL.probabilities(theta)), even.THETA)


@every
@pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
def test_reinforce_ascends_the_objective(name, make):
    params, definition = DEFINITIONS[name]
    fields = ReinforceOptions.written_out({"objective": name, "objective_params": params})
    learner = Reinforce(make(), ReinforceOptions(gamma=1.0, **fields))
    np.testing.assert_allclose(first_step(learner, even.ALL.batch), gradient_of(definition), atol=2e-6)


@every
@pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
def test_ppo_ascends_the_objective(name, make):
    """PPO averages over steps, so times the mean length."""
    params, definition = DEFINITIONS[name]
    plain = {"advantage_normalisation": "none", "gae_lambda": 1.0, "critic_lambda": 1.0, "inner_updates": 1}
    fields = PPOOptions.written_out({"objective": name, "objective_params": params})
    learner = PPO(make(), PPOOptions(gamma=1.0, minibatch_size=0, **plain, **fields))
    step = first_step(learner, even.ALL.batch) * even.ALL.batch.lengths.mean()
    np.testing.assert_allclose(step, gradient_of(definition), atol=2e-6)


def test_a_config_has_what_the_objective_stands_for_and_the_same_hash():
    fields = {"env": "steadyrl/Maze-v0", "algorithm": "ppo"}
    named = config_from(fields | {"objective": "mean_cvar", "objective_params": {"alpha": 0.1, "share": 0.3}})
    spelled = config_from(fields | {"measure": "cvar_deviation", "measure_params": {"alpha": 0.1}, "lam": 0.3})
    assert named == spelled
    assert config_hash(named) == config_hash(spelled)
    assert "objective" not in named.to_dict()
    assert from_toml(to_toml(named)) == named


def test_an_algorithm_without_a_penalty_has_no_objective():
    with pytest.raises(BadInputError, match=r"objective = 'cvar': must be left out with algorithm = risk-neutral-ppo"):
        config_from({"env": "steadyrl/Maze-v0", "algorithm": "risk-neutral-ppo", "objective": "cvar"})


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"objective": "cvar", "lam": 0.5}, "lam = 0.5: must be left out with an objective"),
        ({"objective": "cvar", "steadiness": 2.0}, "steadiness = 2.0: must be left out with an objective"),
        ({"objective": "cvar", "measure": "variance"}, "measure = 'variance': must be left out with an objective"),
        ({"objective": "cvar", "of": "cost"}, "of = 'cost': must be left out with an objective"),
        ({"objective": "cvarr"}, "objective = 'cvarr': must be cvar, mean_cvar"),
        ({"objective": "cvar", "objective_params": {"beta": 1}}, r"no parameter 'beta' \(accepted: alpha\)"),
        ({"objective": "cvar", "objective_params": {"alpha": 2.0}}, r"alpha = 2.0: must be in \(0, 1\)"),
        ({"objective": "entropic", "objective_params": {"beta": 0.0}}, "beta = 0.0: must be > 0"),
        ({"objective": "worst_of", "objective_params": {"power": 0.5}}, r"power = 0.5: must be in \[1, 500\]"),
        ({"objective": "exponential", "objective_params": {"steepness": -1.0}}, r"steepness = -1.0: must be in \(0"),
        ({"objective": "cvar_mixture", "objective_params": {"levels": [2.0]}}, r"levels = \[2.0\]: must be numbers"),
        ({"objective": "cvar_mixture", "objective_params": {"shares": [0.5]}}, r"shares = \[0.5\]: must be as many"),
        ({"objective": "mean_cvar", "objective_params": {"share": 2.0}}, r"share = 2.0: must be in \[0, 1\]"),
        ({"objective_params": {"alpha": 0.1}}, "must be left out without an objective"),
    ],
)
def test_what_does_not_go_together_is_refused(fields, complaint):
    with pytest.raises(BadInputError, match=complaint):
        config_from({"env": "steadyrl/Maze-v0", **fields})


def test_an_objective_of_ones_own_by_one_function():
    @objective.register("middle_and_worst")
    def middle_and_worst(returns, weights, share=0.5):
        return share * returns.min() + (1 - share) * weights @ returns

    own = objective.get("middle_and_worst", share=0.25)
    assert own.value(POINTS, P) == pytest.approx(0.25 * -2.0 + 0.75 * P @ POINTS)
    config = RunConfig("steadyrl/Maze-v0", objective="middle_and_worst", objective_params={"share": 0.25})
    assert (config.measure, config.measure_params, config.lam) == ("middle_and_worst_premium", {"share": 0.25}, 1.0)
    measure = measures.get(config.measure, **config.measure_params)
    leave_one_out = [5 * (measure.value(POINTS) - measure.value(np.delete(POINTS, i))) for i in range(5)]
    np.testing.assert_allclose(estimators.coefficients(measure, POINTS), leave_one_out, atol=1e-12)


def test_a_spectral_objective_of_ones_own_by_its_distortion():
    objective.register_spectral("fourth", lambda t: t**4)
    ours, theirs = objective.get("worst_of", power=4.0), objective.get("fourth")
    assert theirs.value(POINTS, P) == pytest.approx(ours.value(POINTS, P), abs=1e-12)
    for weights in (None, P):
        c = [
            estimators.coefficients(measures.get(one.measure, **one.measure_params), POINTS, weights)
            for one in (ours, theirs)
        ]
        np.testing.assert_allclose(c[0], c[1], atol=1e-6)
    with pytest.raises(ValueError, match=r"h\(1\) = 0: must be 1"):
        objective.register_spectral("gini", lambda t: t - t**2)


def test_what_does_not_rise_with_the_returns_is_no_objective():
    with pytest.raises(ValueError, match="must rise by 16 when every return does"):
        objective.register("spread")(lambda returns, weights: returns.max() - returns.min())


def test_rollouts_take_an_objective_too():
    named = RolloutPenalty(objective="mean_cvar", objective_params={"share": 0.3}, gamma=1.0)
    spelled = RolloutPenalty("cvar_deviation", measure_params={"alpha": 0.2}, lam=0.3, gamma=1.0)
    rewards = np.random.default_rng(0).normal(size=(8, 3))
    for penalty in (named, spelled):
        for row in rewards:
            penalty.add(row, np.ones(3, bool))
    np.testing.assert_array_equal(named.take(), spelled.take())
    with pytest.raises(ValueError, match="measure = 'variance': must be left out with an objective"):
        RolloutPenalty("variance", objective="cvar", gamma=1.0)


def test_the_command_takes_an_objective_and_its_parameters(tmp_path, capsys):
    maze = ["train", "steadyrl/Maze-v0", "--n", "5", "--updates", "2", "--quiet", "--objective", "cvar_mixture"]
    params = ["--objective-params", "levels=[0.3, 1]", "shares=[0.6, 0.4]"]
    assert main([*maze, *params, "--out", str(tmp_path / "run")]) == 0
    config = steadyrl.load(tmp_path / "run").config
    assert (config.measure, config.lam) == ("cvar_mixture_premium", 1.0)
    assert config.measure_params == {"levels": [0.3, 1], "shares": [0.6, 0.4]}
    assert main([*maze, "--lam", "2"]) == 2
    assert "lam = 2.0: must be left out with an objective" in capsys.readouterr().err

"""Configs and options that make no sense for an algorithm are refused, each with what is accepted."""

import dataclasses

import pytest

from steadyrl import algorithms
from steadyrl.runs import RunConfig, train
from steadyrl.runs.checks import config_from
from steadyrl.runs.view import Quiet
from tests.algorithms import even

ALONE = "one return alone in the tail is its own quantile, which teaches nothing"
WITH_LAM = (
    "it is an option of reinforce, ppo, tamar, spsa, smoothed-functional, fenchel, trvo, mvpi or mean-semivariance"
)
DRAWN = "a step is drawn by (1 - gamma) gamma^t"
WRONG = [
    ({"algorithm": "tamar", "rate_of_estimates": 0}, "rate_of_estimates = 0: must be > 0"),
    ({"algorithm": "tamar", "rate_of_estimates": 2}, "rate_of_estimates = 2: must be <= 1"),
    ({"algorithm": "spsa", "perturbation": 0}, "perturbation = 0: must be > 0"),
    ({"algorithm": "spsa", "updates": 3}, "updates = 3: must be even with algorithm = spsa"),
    ({"algorithm": "spsa", "evaluate_every": 5}, "evaluate_every = 5: must be even with algorithm = spsa"),
    (
        {"algorithm": "smoothed-functional", "log_every": 20},
        "log_every = 20: must be odd with algorithm = smoothed-functional: of two updates the second plays the "
        "perturbed policy",
    ),
    ({"algorithm": "cvar-pg", "risk_level": 0}, "risk_level = 0: must be > 0"),
    ({"algorithm": "cvar-pg", "n": 5}, f"n = 5: must be >= 6 for a risk_level of 0.2: {ALONE}"),
    ({"algorithm": "mixture", "n": 3, "risk_level": 0.3}, f"n = 3: must be >= 4 for a risk_level of 0.3: {ALONE}"),
    ({"algorithm": "cvar-pg", "lam": 0.5}, f"lam = 0.5: must be left out with algorithm = cvar-pg: {WITH_LAM}"),
    (
        {"algorithm": "risk-neutral-ppo", "lam": 2},
        f"lam = 2: must be left out with algorithm = risk-neutral-ppo: {WITH_LAM}",
    ),
    ({"algorithm": "cvar-pg", "soft_share": 1.5}, "soft_share = 1.5: must be <= 1"),
    ({"algorithm": "mixture", "neutral_share": 1}, "neutral_share = 1: must be <= 0.99"),
    (
        {"soft_share": 0.5},
        "soft_share = 0.5: must be left out with algorithm = reinforce: it is an option of cvar-pg",
    ),
    (
        {"risk_level": 0.5},
        "risk_level = 0.5: must be left out with algorithm = reinforce: it is an option of cvar-pg, mixture, "
        "return-capping or quantile-cvar",
    ),
    (
        {"algorithm": "trvo", "clip": 0.1},
        "clip = 0.1: must be left out with algorithm = trvo: it is an option of ppo, risk-neutral-ppo, mvpi, "
        "mean-semivariance or return-capping",
    ),
    (
        {"algorithm": "mvpi", "estimator": "paper"},
        "estimator = 'paper': must be left out with algorithm = mvpi: it is an option of reinforce or ppo",
    ),
    (
        {"algorithm": "mvpi", "constraint": 1},
        "constraint = 1: must be left out with algorithm = mvpi: it is an option of reinforce, ppo or tamar",
    ),
    ({"algorithm": "mvpi", "gamma": 1.0}, f"gamma = 1: must be > 0 and < 1 with algorithm = mvpi: {DRAWN}"),
    ({"algorithm": "trvo", "gamma": 1.0}, f"gamma = 1: must be > 0 and < 1 with algorithm = trvo: {DRAWN}"),
    ({"algorithm": "fenchel", "lam": 0.0}, "lam = 0: must be > 0 with algorithm = fenchel"),
    (
        {"algorithm": "tamar", "normalise_advantages": True},
        "normalise_advantages = True: must be left out with algorithm = tamar: it is an option of reinforce or "
        "risk-neutral-reinforce",
    ),
]


@pytest.mark.parametrize(("fields", "message"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_config_is_refused(fields, message):
    with pytest.raises(ValueError) as error:
        config_from({"env": "steadyrl/Maze-v0", **fields})
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"algorithm": "mvpi", "gamma": 1.0}, f"gamma = 1: must be > 0 and < 1 with algorithm = mvpi: {DRAWN}"),
        ({"algorithm": "fenchel", "lam": 0.0}, "lam = 0: must be > 0 with algorithm = fenchel"),
        (
            {"algorithm": "tamar", "activation": "tanh"},
            "activation = 'tanh': must be left out: steadyrl/Maze-v0 is learned by a table; policy = network would "
            "have it",
        ),
        (
            {"algorithm": "risk-neutral-ppo", "hidden": [7]},
            "hidden = [7]: must be left out: steadyrl/Maze-v0 is learned by a table; policy = network would have it",
        ),
    ],
)
def test_what_a_method_cannot_do_is_refused_before_it_begins(fields, message, tmp_path):
    with pytest.raises(ValueError) as error:
        train("steadyrl/Maze-v0", out=tmp_path / "run", view=Quiet(), **fields)
    assert str(error.value) == message
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("tamar", {"rate_of_estimates": 0.0}, "rate_of_estimates = 0: must be > 0"),
        ("fenchel", {"rate_of_estimates": 1.5}, "rate_of_estimates = 1.5: must be <= 1"),
        ("cvar-pg", {"risk_level": 0.0}, "risk_level = 0: must be > 0"),
        ("cvar-pg", {"soft_share": -0.1}, "soft_share = -0.1: must be >= 0"),
        ("trvo", {"kl_stop": 0.0}, "kl_stop = 0: must be > 0"),
        ("mvpi", {"inner_updates": 0}, "inner_updates = 0: must be >= 1"),
        ("mvpi", {"gae_lambda": 1.1}, "gae_lambda = 1.1: must be <= 1"),
        ("mean-semivariance", {"clip": 0.0}, "clip = 0: must be > 0"),
        ("mixture", {"risk_level": 1.1}, "risk_level = 1.1: must be <= 1"),
        ("mixture", {"neutral_share": 1.0}, "neutral_share = 1: must be <= 0.99"),
        ("tamar", {"lam": -1.0}, "lam = -1: must be >= 0"),
    ],
)
def test_bad_options_made_by_hand_are_refused(name, fields, message):
    kind = algorithms.get(name)
    with pytest.raises(ValueError) as error:
        kind({role: even.table() for role in kind.roles}, kind.Options(**fields))
    assert str(error.value) == message


@pytest.mark.parametrize("name", algorithms.names())
def test_a_config_has_the_options_of_its_algorithm_with_their_defaults_and_those_of_no_other(name):
    config, options = RunConfig("x", algorithm=name), algorithms.get(name).Options()
    assert config.algorithm_options() == options
    own = {field.name for field in dataclasses.fields(options)}
    for other in algorithms.names():
        for field in dataclasses.fields(algorithms.get(other).Options):
            is_written = not (field.metadata["later"] or field.metadata["shorthand"])  # though at its default
            assert (field.name in config.to_dict()) == (field.name in own and is_written), (other, field.name)

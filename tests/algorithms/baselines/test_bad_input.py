"""Configs and settings that make no sense for a baseline are refused, each with what is accepted."""

import dataclasses

import pytest
from steadyrl.algorithms.baselines import HOMES, find, options

from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.runs import RunConfig, train
from steadyrl.runs.checks import config_from
from steadyrl.runs.config import field_types
from steadyrl.runs.view import Quiet
from tests.algorithms.baselines import even

ALONE = "one return alone in the tail is its own quantile, which teaches nothing"
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
    ({"algorithm": "cvar-pg", "lam": 0.5}, "lam = 0.5: must be left out with algorithm = cvar-pg"),
    ({"algorithm": "risk-neutral-ppo", "lam": 2}, "lam = 2: must be left out with algorithm = risk-neutral-ppo"),
    ({"algorithm": "cvar-pg", "soft_share": 1.5}, "soft_share = 1.5: must be <= 1"),
    ({"algorithm": "mixture", "neutral_share": 1}, "neutral_share = 1: must be <= 0.99"),
    ({"soft_share": 0.5}, "soft_share = 0.5: must be left out unless algorithm = cvar-pg"),
    ({"risk_level": 0.5}, "risk_level = 0.5: must be left out unless algorithm = cvar-pg or mixture"),
    (
        {"algorithm": "trvo", "clip": 0.1},
        "clip = 0.1: must be left out unless algorithm = ppo, risk-neutral-ppo, mvpi or mean-semivariance",
    ),
    (
        {"algorithm": "mvpi", "estimator": "paper"},
        "estimator = 'paper': must be left out unless algorithm = reinforce or ppo",
    ),
    (
        {"algorithm": "mvpi", "constraint": 1},
        "constraint = 1: must be left out unless algorithm = reinforce, ppo or tamar",
    ),
    (
        {"algorithm": "risk-neutral-ppo", "policy": "tabular"},
        "policy = 'tabular': must be auto or network with algorithm = risk-neutral-ppo",
    ),
]


@pytest.mark.parametrize(("fields", "message"), WRONG, ids=lambda given: given if isinstance(given, str) else "")
def test_a_wrong_config_is_refused(fields, message):
    with pytest.raises(ValueError) as refused:
        config_from({"env": "steadyrl/Maze-v0", **fields})
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("mvpi", {"gamma": 1.0}, "gamma = 1.0: must be > 0 and < 1 with mvpi"),
        ("trvo", {"gamma": 1.0}, "gamma = 1.0: must be > 0 and < 1 with trvo"),
        ("fenchel", {"lam": 0.0}, "lam = 0.0: must be > 0 with fenchel"),
        ("tamar", {"optimiser": "adam"}, "optimiser = 'adam': must be left out with tamar and a table"),
        (
            "tamar",
            {"normalise_advantages": True},
            "normalise_advantages = True: must be left out with tamar and a table",
        ),
    ],
)
def test_what_a_method_cannot_do_is_refused_before_it_begins(name, fields, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train("steadyrl/Maze-v0", algorithm=name, out=tmp_path / "run", view=Quiet(), **fields)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("tamar", {"rate_of_estimates": 0.0}, "rate_of_estimates = 0.0: must be > 0 and <= 1"),
        ("fenchel", {"rate_of_estimates": 1.5}, "rate_of_estimates = 1.5"),
        ("cvar-pg", {"risk_level": 0.0}, "risk_level = 0.0"),
        ("cvar-pg", {"soft_share": -0.1}, "soft_share = -0.1: must be >= 0 and <= 1"),
        ("trvo", {"kl_stop": 0.0}, "kl_stop = 0.0: must be > 0"),
        ("mvpi", {"inner_updates": 0}, "inner_updates = 0: must be >= 1"),
        ("mvpi", {"gae_lambda": 1.1}, "gae_lambda = 1.1: must be >= 0 and <= 1"),
        ("mean-semivariance", {"clip": 0.0}, "clip = 0.0: must be > 0"),
        ("mixture", {"risk_level": 1.1}, "risk_level = 1.1"),
        ("mixture", {"neutral_share": 1.0}, "neutral_share = 1.0: must be >= 0 and < 1"),
        ("tamar", {"penalty": PenaltySettings(lam=-1.0)}, "lam = -1.0: must be >= 0"),
    ],
)
def test_bad_settings_are_refused(name, fields, message):
    kind = find(name)
    with pytest.raises(ValueError, match=message):
        kind(*(even.table() for _ in kind.roles), kind.settings_type(**fields))


def test_the_options_of_the_methods_are_those_of_their_settings():
    """Each is a field of RunConfig with the settings' own default, and listed for every method that has it."""
    config = RunConfig("x")
    for name in HOMES:
        for field in dataclasses.fields(find(name).settings_type):
            if field.name in ("penalty", "gamma", "updates"):
                continue
            assert name in options.USED_BY[field.name]
            assert getattr(config, field.name) in (None, field.default), field.name
    kind, _ = field_types()["algorithm"]
    assert set(kind.__args__) == set(options.ALL)

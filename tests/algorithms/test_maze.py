"""The algorithms on the Maze: who takes the long way, who the short one, and who neither."""

import pytest

from tests.algorithms import maze_runs

LONG = {
    "tamar": {"lam": 2e-5, "optimiser": "sgd", "policy_rate": 1e-3, "updates": 1500},
    "spsa": {"lam": 0.02, "optimiser": "sgd", "policy_rate": 3e-3, "perturbation": 0.3, "updates": 1500},
    "smoothed-functional": {"lam": 0.02, "optimiser": "sgd", "policy_rate": 3e-3, "perturbation": 0.3, "updates": 1500},
    "fenchel": {"lam": 0.02, "optimiser": "sgd", "policy_rate": 3e-5, "updates": 1000},
    "trvo": {"lam": 0.1, "updates": 150},
    "mvpi": {"lam": 0.1, "policy_rate": 3e-3, "updates": 150},
    "cvar-pg": {"risk_level": 0.5, "policy_rate": 1e-2, "updates": 1000},
}
NEUTRAL = {
    "risk-neutral-reinforce": {"policy_rate": 3e-3, "updates": 1000},
    "risk-neutral-ppo": {
        "n": 50, "policy": "network", "policy_rate": 1e-2, "hidden": [], "inner_updates": 3, "gamma": 0.999,
        "updates": 250, "minibatch_size": 0, "rate_schedule": "constant", "initialisation": "uniform",
        "output_gain": 1.0, "normalise_observations": False, "normalise_returns": False,
    },
}  # fmt: skip
STUCK = {
    "mean-semivariance": {
        "env_options": {"goal_reward": -1.0},
        "lam": 0.1,
        "optimiser": "sgd",
        "policy_rate": 1e-3,
        "updates": 300,
    },
    "mixture": {"optimiser": "sgd", "policy_rate": 3e-3, "neutral_share": 0.5, "updates": 1000},
}


@pytest.fixture(scope="module")
def ways():
    """Shares of the long and the short way for each seed, by method."""
    cases = {name: {"algorithm": name, **fields} for name, fields in (LONG | NEUTRAL | STUCK).items()}
    return maze_runs.trained(cases, seeds=2, last=50)


@pytest.mark.parametrize("name", LONG)
def test_it_learns_the_long_way(name, ways):
    assert (ways[name]["long"] > 0.9).all()


@pytest.mark.parametrize("name", NEUTRAL)
def test_without_risk_the_short_way(name, ways):
    assert (ways[name]["short"] > 0.9).all()


def test_an_average_over_steps_stays_away_from_red_and_does_not_look_for_the_goal(ways):
    long, short = ways["mean-semivariance"]["long"], ways["mean-semivariance"]["short"]
    assert (short < 0.05).all()
    assert (long + short < 0.5).all()


def test_a_mixture_with_a_trained_risk_neutral_part_stays_on_its_way(ways):
    assert (ways["mixture"]["short"] > 0.9).all()

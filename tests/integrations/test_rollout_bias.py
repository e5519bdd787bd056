"""What is left of the gradient where episodes outlast a rollout: a small run of benchmarks/rollout_bias.py."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def rollout_bias(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import rollout_bias

    monkeypatch.delitem(sys.modules, "rollout_bias")
    return rollout_bias


@pytest.mark.parametrize(("risky", "steady", "rollout", "p"), [(1, 1, 20, 0.5), (10, 10, 20, 0.5), (5, 20, 40, 0.8)])
def test_the_share_of_the_exact_gradient_that_is_left_is_that_of_the_formula(risky, steady, rollout, p, rollout_bias):
    left, error = rollout_bias.measured(p, risky, steady, rollout, episodes=20_000, critic=False)
    assert error < 0.02
    assert left == pytest.approx(rollout_bias.predicted(p, risky, steady, rollout), abs=4 * error)


def test_with_a_critic_that_sees_which_way_was_taken_nearly_all_of_it_is_left(rollout_bias):
    left, error = rollout_bias.measured(0.5, 10, 10, 20, episodes=4_000, critic=True)
    assert error < 0.02
    assert left == pytest.approx(1.0, abs=0.05)

"""The paper's argument: the reward of a step varies where the return does not, and a constant then decides."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steadyrl import algorithms, measures
from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.envs.two_ways import WAYS, TwoWays, per_step_variance
from steadyrl.paper.competitors.per_step import OURS, Argument, draw
from steadyrl.policies import TabularSoftmax
from steadyrl.rollouts import Collector

GAMMA, LAM = 0.5, 3.0
FIRST = (0.0, 6.0)
PER_STEP = ("trvo", "mvpi", "mean-semivariance")


def going(way):
    """A policy that has made up its mind."""
    theta = np.zeros((3, 2))
    theta[0, way] = 1e3
    return TabularSoftmax(theta)


def both_ways(first):
    """One episode of each way: what the uniform policy does, exactly."""
    collector = Collector(lambda: TwoWays(first), limit=2)
    parts = [collector.collect(going(way), 1, 0, 0) for way in (0, 1)]
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("observations", "actions", "rewards", "lengths", "terminated", "last_observations", "risk_averse")
    }
    return type(parts[0])(**joined, outcomes={})


def towards_the_better_way(name, first, rate, **options):
    """How much further an update has moved the better way's number than the other's."""
    kind, actor = algorithms.get(name), TableActor(3, 2, TableOptions(rate, 0.1))
    kind(actor, kind.Options(lam=LAM, gamma=GAMMA, **options)).update(both_ways(first), 0)
    return actor.theta[0, 1] - actor.theta[0, 0]


def per_step(name, first):
    return towards_the_better_way(name, first, 0.02)


def ours(measure, first):
    return towards_the_better_way("reinforce", first, 0.1, measure=measure)


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("way", [0, 1])
def test_the_return_never_varies_though_the_reward_of_a_step_does(way, first):
    rewards = Collector(lambda: TwoWays(first), limit=2).collect(going(way), 30, 0, 0).rewards
    assert (rewards == rewards[0]).all()
    assert rewards[0].tolist() == [first, WAYS[way]]
    returns = rewards @ np.array([1.0, GAMMA])
    assert all(measures.get(name).value(returns) == pytest.approx(0.0, abs=1e-12) for name in measures.names())
    assert per_step_variance(rewards[0], GAMMA) > (5.0 if first else 0.18)


@pytest.mark.parametrize("name", PER_STEP)
def test_a_constant_on_one_reward_turns_the_per_step_methods_around(name):
    """From the worse way to the better one, though it is the same on both."""
    assert per_step(name, 0.0) < -1e-3
    assert per_step(name, 6.0) > 1e-3


@pytest.mark.parametrize("measure", [name for name in measures.names() if not measures.get(name).facts.needs_density])
def test_it_leaves_ours_alone(measure):
    steps = [ours(measure, first) for first in (0.0, 6.0, -7.0)]
    np.testing.assert_allclose(steps, steps[0], rtol=1e-9)


def test_ours_goes_the_better_way():
    assert ours("gini_deviation", 0.0) > 1e-3


def test_what_is_learned_and_its_picture(tmp_path):
    """Trained to the end, in a process without run-time type checks: ours at 1, the others from 0 to 1."""
    program = (
        "import sys, json; from steadyrl.paper.competitors.per_step import argue, draw;"
        "a = argue((0.0, 6.0), 150); draw(a).savefig(sys.argv[1]);"
        "print(json.dumps({k: v.tolist() for k, v in a.better.items()}))"
    )
    path = tmp_path / "argument.png"
    root = Path(__file__).parents[2]
    process = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=False, capture_output=True, text=True, cwd=root
    )
    assert process.returncode == 0, process.stderr
    output = json.loads(process.stdout)
    assert min(output[OURS]) > 0.95
    for name in PER_STEP:
        assert output[name][0] < 0.05
        assert output[name][1] > 0.95
    assert path.stat().st_size > 5000


def test_the_picture_shows_every_method_and_both_variances():
    k = np.array([0.0, 1.0])
    argument = Argument(k, dict.fromkeys((OURS, *PER_STEP), k), 3.0 + k, 0.0 * k)
    top, bottom = draw(argument).axes
    assert [line.get_label() for line in top.lines] == [OURS, *PER_STEP]
    assert [line.get_ydata().tolist() for line in bottom.lines] == [[3.0, 4.0], [0.0, 0.0]]

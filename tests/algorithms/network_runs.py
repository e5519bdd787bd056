"""Train networks and print the undiscounted return of every update: a process without the tests' type checks.

python -m tests.algorithms.network_runs writes {name: [return of each update]}.
"""

import json
import subprocess
import sys
from pathlib import Path

import torch

from steadyrl.rollouts import Collector
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from

PPO = {"algorithm": "ppo", "lam": 0.0, "n": 8}
POLE = {
    "env": "CartPole-v1", "lam": 0.1, "gamma": 0.99, "n": 10, "updates": 35, "limit": 200, "hidden": [32, 32],
    "policy_rate": 1e-3,
}  # fmt: skip
RUNS = {
    "ppo, pole": {**PPO, "env": "CartPole-v1"},
    "ppo, pendulum": {**PPO, "env": "Pendulum-v1", "gamma": 0.95},
    "trvo, pole": {**POLE, "algorithm": "trvo"},
    "mvpi, pole": {**POLE, "algorithm": "mvpi"},
}  # fmt: skip
STEPS = {"ppo, pole": 50_000, "ppo, pendulum": 44_000}
"""Where a run ends after so many steps of the environment rather than after its updates."""


def train(name: str) -> list[float]:
    config = config_from(RUNS[name])
    collector = Collector(config.env, limit=config.limit)
    learner = make_learner(config, collector.observation_space, collector.action_space)
    steps, returns = 0, []
    while steps < STEPS[name] if name in STEPS else len(returns) < config.updates:
        batch = collector.collect(learner.policy, config.n, 0, len(returns))
        learner.update(batch, len(returns))
        steps += batch.steps
        returns.append(float(batch.rewards.sum(axis=1).mean()))
    return returns


def returns_by_name() -> dict[str, list[float]]:
    """The return of every update of every run, from a new process."""
    command = [sys.executable, "-m", __name__]
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.stdout.write(json.dumps({name: train(name) for name in RUNS}))

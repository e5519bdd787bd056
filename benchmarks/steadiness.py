"""Is the default steadiness a good one on small tasks? Four of them, against the risk-neutral policy.

The ramp of PPO's steadiness was chosen with the kiosk; the other three were written for this and then left alone.

    python benchmarks/steadiness.py [OUT]

CVaR deviation, PPO (60 updates) and REINFORCE (150 updates), 50 episodes an update, gamma 0.999, two seeds, every other
option at its default; 1,000 episodes with each final policy. Prints a table in markdown.
"""

import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from steadyrl.studies import evaluations, results, run, study_from


class Task(gym.Env[np.ndarray, Any]):
    """So many steps, observed as a number and the time."""

    steps: int

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        self.t = 0
        self.begin()
        return self.observation(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.t += 1
        reward = float(self.reward(action))
        return self.observation(), reward, self.t == self.steps, False, {}


class Bets(Task):
    """Ten bets at 60 : 40 and even money, of none to all of the wealth; the reward is what the wealth changes by."""

    steps = 10

    def __init__(self) -> None:
        self.observation_space, self.action_space = spaces.Box(0.0, np.inf, (2,), np.float32), spaces.Discrete(5)

    def begin(self) -> None:
        self.wealth = 1.0

    def observation(self) -> np.ndarray:
        return np.array([np.log1p(self.wealth), self.t / 10], np.float32)

    def reward(self, action: int) -> float:
        stake = self.wealth * action / 4
        change = stake if self.np_random.random() < 0.6 else -stake
        self.wealth += change
        return change


class Stock(Task):
    """Twenty days: order 0 to 9 at 2, sell at 4, 0.2 for each left over, 2 for each missing; demand about 3, or 12."""

    steps = 20

    def __init__(self) -> None:
        self.observation_space, self.action_space = spaces.Box(0.0, 30.0, (2,), np.float32), spaces.Discrete(10)

    def begin(self) -> None:
        self.stock = 0

    def observation(self) -> np.ndarray:
        return np.array([self.stock, self.t], np.float32)

    def reward(self, action: int) -> float:
        stock = min(self.stock + int(action), 30)
        demand = 12 if self.np_random.random() < 0.1 else int(self.np_random.poisson(3))
        sold = min(stock, demand)
        self.stock = stock - sold
        return 4 * sold - 2 * int(action) - 0.2 * self.stock - 2 * (demand - sold)


class Roads(Task):
    """Twelve steps to the left, a quick road that costs 40 one time in ten, or to the right, a slow and safe one."""

    steps = 12

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-5.0, 5.0, (2,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def begin(self) -> None:
        self.x, self.blocked = float(self.np_random.normal(0, 0.3)), self.np_random.random() < 0.1

    def observation(self) -> np.ndarray:
        return np.array([self.x, self.t / 12], np.float32)

    def reward(self, action: np.ndarray) -> float:
        self.x = float(np.clip(self.x + np.clip(action[0], -1, 1), -5, 5))
        pay = 2.0 if self.x < -1 else 1.5 if self.x > 1 else 0.5
        return pay - 40.0 * (self.t == self.steps and self.blocked and self.x < -1)


class Kiosk(Task):
    """Fifteen days with a plain good that earns 1, or a risky one that earns 3.8 or loses 1.2, as likely as not."""

    steps = 15

    def __init__(self) -> None:
        self.observation_space, self.action_space = spaces.Box(0.0, 1.0, (1,), np.float32), spaces.Discrete(2)

    def begin(self) -> None:
        pass

    def observation(self) -> np.ndarray:
        return np.array([self.t / 15], np.float32)

    def reward(self, action: int) -> float:
        if action == 0:
            return 1.0 + 0.09 * float(self.np_random.normal())
        return 3.8 if self.np_random.random() < 0.5 else -1.2


TASKS = (Bets, Stock, Roads, Kiosk)
for task in TASKS:
    if f"{task.__name__}-v0" not in gym.registry:
        gym.register(f"{task.__name__}-v0", task, max_episode_steps=50)
PLAN: dict[str, Any] = {
    "seeds": 2,
    "run": {"n": 50, "measure": "cvar_deviation", "gamma": 0.999, "log_every": 5},
    "grid": {"env": [f"steadiness:{task.__name__}-v0" for task in TASKS], "steadiness": [0.0, 2.0]},
    "cases": [{"algorithm": "ppo", "updates": 60}, {"algorithm": "reinforce", "updates": 150}],
}


def main(out: Path) -> None:
    run(study_from(PLAN, "steadiness-elsewhere", allow_import=True), out)
    study = results.read(out)
    evaluations.evaluate(study, 1000)
    rows = evaluations.read(out)
    print("| task | algorithm | steadiness | seed | mean | CVaR deviation | CVaR |\n|---|---|---|---|---|---|---|")
    for one in sorted(study.runs, key=lambda one: [str(one.settings[n]) for n in ("env", "algorithm", "steadiness")]):
        row, settings = rows[one.hash], one.settings
        numbers = (row["mean"], row["cvar_deviation"], row["mean"] - row["cvar_deviation"])
        cells = (
            settings["env"].partition(":")[2],
            settings["algorithm"],
            f"{settings['steadiness']:g}",
            str(settings["seed"]),
        )
        print(f"| {' | '.join((*cells, *(f'{x:.2f}' for x in numbers)))} |")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/steadiness-elsewhere"))

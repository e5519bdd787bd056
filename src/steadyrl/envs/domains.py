"""The four domains of the paper as data: their ids, what is risky in them, and their parameters."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Parameter:
    """An argument of `gymnasium.make` for a domain."""

    name: str
    default: str | float | int | None
    meaning: str


@dataclass(frozen=True)
class Domain:
    """An environment that comes with the package."""

    id: str
    entry_point: str
    summary: str
    risky: str
    """Where its reward is random, and by how much."""
    risk_averse: str
    """What `info["risk_averse"]` of an episode's last step is."""
    parameters: tuple[Parameter, ...]


RENDER_MODE: Final = Parameter("render_mode", None, '"rgb_array", "human" or None')
OTHER_NOISE: Final = Parameter("noise", None, "another distribution than N(0, noise_std^2)")

DOMAINS: Final = (
    Domain(
        id="steadyrl/Maze-v0",
        entry_point="steadyrl.envs.maze:MazeEnv",
        summary="a 6 x 6 maze with a short way (9 moves) and a long way (11) to the goal",
        risky="the red cell on the short way pays a random reward of mean -1",
        risk_averse="1 if the goal was reached without entering red, else 0",
        parameters=(
            Parameter("noise", "gaussian", "red reward: gaussian, pareto, uniform, handcraft, or an object"),
            Parameter("layout", None, "rows of . # S R G, or the path of a file with them; None is the paper's"),
            Parameter("goal_reward", 10.0, "reward of the move into the goal"),
            Parameter("max_steps", 100, "moves after which an episode is truncated"),
            RENDER_MODE,
        ),
    ),
    Domain(
        id="steadyrl/LunarLander-v0",
        entry_point="steadyrl.envs.lunarlander:lunar_lander",
        summary="Gymnasium's LunarLander-v3",
        risky="a landing on the right (at rest, x > 0) pays 100 N(0, 1) more",
        risk_averse="1 if it landed on the left (at rest, x < 0), else 0",
        parameters=(
            Parameter("noise_std", 100.0, "standard deviation of the extra reward"),
            Parameter(
                "noise_at",
                "landed",
                "noisy ends on the right: landed (at rest), grounded (ground contact), terminated (no time-out), any",
            ),
            Parameter("max_steps", 500, "steps after which an episode is truncated"),
            OTHER_NOISE,
            RENDER_MODE,
        ),
    ),
    Domain(
        id="steadyrl/InvertedPendulum-v0",
        entry_point="steadyrl.envs.inverted_pendulum:inverted_pendulum",
        summary="Gymnasium's InvertedPendulum-v5",
        risky="each step with the cart at x > 0.01 pays 10 N(0, 1) more",
        risk_averse="share of steps with x <= 0.01",
        parameters=(
            Parameter("noise_std", 10.0, "standard deviation of the extra reward"),
            Parameter("threshold", 0.01, "position above which rewards are noisy"),
            Parameter("max_steps", 300, "steps after which an episode is truncated"),
            Parameter("fall_reward", 1.0, "reward of the step with which the pole falls; 0 is Gymnasium's"),
            OTHER_NOISE,
            RENDER_MODE,
        ),
    ),
    Domain(
        id="steadyrl/HalfCheetah-v0",
        entry_point="steadyrl.envs.half_cheetah:half_cheetah",
        summary="Gymnasium's HalfCheetah-v5, with x observed and paid for running either way",
        risky="each step at x < -0.5 pays 50 N(0, 1) more",
        risk_averse="share of steps with x >= -0.5",
        parameters=(
            Parameter("noise_std", 50.0, "standard deviation of the extra reward"),
            Parameter("threshold", -0.5, "position below which rewards are noisy"),
            Parameter("max_steps", 500, "steps after which an episode is truncated"),
            Parameter(
                "forward", "away", "paid for: away (|x_after| - |x_before|) / dt, speed |x_after - x_before| / dt"
            ),
            Parameter("forward_reward_weight", 1.0, "factor of that reward"),
            OTHER_NOISE,
            RENDER_MODE,
        ),
    ),
)
"""All four, the Maze first."""

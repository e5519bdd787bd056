"""InvertedPendulum-v5 with random rewards on the right-hand side."""

from typing import Any

import gymnasium as gym

from steadyrl.envs._checks import check_count, check_finite
from steadyrl.envs.noise import Gaussian, Noise, Sampler
from steadyrl.envs.risky import Above, RiskyRegion


def inverted_pendulum(
    noise_std: float = 10.0,
    threshold: float = 0.01,
    max_steps: int = 300,
    *,
    noise: Noise | Sampler | None = None,
    render_mode: str | None = None,
    **pendulum: Any,
) -> gym.Env[Any, Any]:
    """Gymnasium's InvertedPendulum-v5; a step that ends with the cart at x > threshold also pays N(0, noise_std^2).

    At the end `info["risk_averse"]` is the share of the episode's steps with x <= threshold. Read it beside
    `info["episode_length"]`: a policy that falls to the left at once scores high.

    Args:
        noise_std: Standard deviation of the extra reward.
        threshold: The cart's position x above which rewards are noisy.
        max_steps: The number of steps after which an episode is truncated.
        noise: Another distribution than N(0, noise_std^2).
        render_mode: As Gymnasium's.
        pendulum: Further arguments of InvertedPendulum-v5.
    """
    spread = check_finite("noise_std", noise_std, least=0.0)
    region = Above(0, check_finite("threshold", threshold))
    base = gym.make(
        "InvertedPendulum-v5",
        max_episode_steps=check_count("max_steps", max_steps),
        disable_env_checker=True,
        render_mode=render_mode,
        **pendulum,
    )
    return RiskyRegion(base, region, Gaussian(0.0, spread) if noise is None else noise)

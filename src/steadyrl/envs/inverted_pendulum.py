"""InvertedPendulum-v5 with random rewards on the right-hand side."""

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from steadyrl.envs._checks import LONGEST, check_count, check_finite
from steadyrl.envs.noise import Gaussian, Noise, Sampler
from steadyrl.envs.risky import Above, RiskyRegion


class FallReward(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Pays `fall_reward` for the step with which the pole falls, and for all others what they paid."""

    def __init__(self, env: gym.Env[Any, Any], fall_reward: float) -> None:
        RecordConstructorArgs.__init__(self, fall_reward=fall_reward)
        super().__init__(env)
        self.fall_reward = fall_reward

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step of the pendulum, with its reward in `info` too, as Gymnasium has it."""
        observation, reward, fallen, truncated, info = self.env.step(action)
        own_reward = self.fall_reward if fallen else float(reward)
        return observation, own_reward, fallen, truncated, {**info, "reward_survive": own_reward}


def inverted_pendulum(
    noise_std: float = 10.0,
    threshold: float = 0.01,
    max_steps: int = 300,
    *,
    fall_reward: float = 1.0,
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
        fall_reward: The reward of the step with which the pole falls. The paper pays 1 a step, and so did the pendulum
            of OpenAI Gym that it used; Gymnasium's v5 pays 0 for that one.
        noise: Another distribution than N(0, noise_std^2).
        render_mode: As Gymnasium's.
        pendulum: Further arguments of InvertedPendulum-v5.
    """
    spread = check_finite("noise_std", noise_std, least=0.0)
    region = Above(0, check_finite("threshold", threshold))
    last = check_finite("fall_reward", fall_reward)
    base = gym.make(
        "InvertedPendulum-v5",
        max_episode_steps=check_count("max_steps", max_steps, most=LONGEST),
        disable_env_checker=True,
        render_mode=render_mode,
        **pendulum,
    )
    return RiskyRegion(FallReward(base, last), region, Gaussian(0.0, spread) if noise is None else noise)

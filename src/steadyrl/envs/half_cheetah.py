"""HalfCheetah-v5 that may run either way, with random rewards on the left-hand side."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from steadyrl.envs._checks import LONGEST, check_choice, check_count, check_finite
from steadyrl.envs.noise import Gaussian, Noise, Sampler
from steadyrl.envs.risky import Below, RiskyRegion

FORWARD: Final = ("away", "speed")


def advance(forward: str, before: Any, after: Any) -> Any:
    """The way made from one x to another (numbers or arrays): away from the origin, or in whatever direction."""
    return abs(after) - abs(before) if forward == "away" else abs(after - before)


class EitherWay(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Pays for running either way: the forward reward is weight advance(x_before, x_after) / dt."""

    def __init__(self, env: gym.Env[Any, Any], weight: float, forward: str) -> None:
        RecordConstructorArgs.__init__(self, weight=weight, forward=forward)
        super().__init__(env)
        cheetah: Any = env.unwrapped
        self.weight = weight
        self.forward = forward
        self._x = 0.0
        self._dt = float(cheetah.dt)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._x = float(observation[0])
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step of the cheetah, its forward reward replaced and its control cost kept."""
        observation, _, terminated, truncated, info = self.env.step(action)
        before = self._x
        self._x = float(observation[0])
        forward = self.weight * (advance(self.forward, before, self._x) / self._dt)
        reward = forward + float(info["reward_ctrl"])
        return observation, reward, terminated, truncated, {**info, "reward_forward": forward}


def half_cheetah(
    noise_std: float = 50.0,
    threshold: float = -0.5,
    max_steps: int = 500,
    *,
    forward: str = "away",
    forward_reward_weight: float = 1.0,
    noise: Noise | Sampler | None = None,
    render_mode: str | None = None,
    **cheetah: Any,
) -> gym.Env[Any, Any]:
    """Gymnasium's HalfCheetah-v5, rewarded for running either way; a step that ends at x < threshold is noisy.

    The observation is x and then Gymnasium's 17 numbers. The reward is the forward reward minus Gymnasium's control
    cost, plus N(0, noise_std^2) where x < threshold. At the end `info["risk_averse"]` is the share of the episode's
    steps with x >= threshold.

    Args:
        noise_std: Standard deviation of the extra reward.
        threshold: The position x below which rewards are noisy.
        max_steps: The number of steps after which an episode is truncated.
        forward: What the forward reward is of: "away", (|x_after| - |x_before|) / dt, or "speed",
            |x_after - x_before| / dt.
        forward_reward_weight: What the forward reward is multiplied by.
        noise: Another distribution than N(0, noise_std^2).
        render_mode: As Gymnasium's.
        cheetah: Further arguments of HalfCheetah-v5, such as ctrl_cost_weight=0.05.
    """
    spread = check_finite("noise_std", noise_std, least=0.0)
    region = Below(0, check_finite("threshold", threshold))
    check_choice("forward", forward, FORWARD)
    weight = check_finite("forward_reward_weight", forward_reward_weight)
    if not cheetah.keys() & {"camera_id", "camera_name", "default_camera_config"}:
        cheetah["camera_name"] = "track"  # Gymnasium's own camera stays behind
    with _without_known_model_warning():
        base = gym.make(
            "HalfCheetah-v5",
            max_episode_steps=check_count("max_steps", max_steps, most=LONGEST),
            disable_env_checker=True,
            render_mode=render_mode,
            exclude_current_positions_from_observation=False,
            **cheetah,
        )
    return RiskyRegion(EitherWay(base, weight, forward), region, Gaussian(0.0, spread) if noise is None else noise)


@contextmanager
def _without_known_model_warning() -> Iterator[None]:
    """MuJoCo 4 warns about an attribute in Gymnasium's model file, on stderr and in a file in the current folder."""
    try:
        import mujoco  # noqa: PLC0415
    except ImportError:  # gym.make says how to install it
        yield
        return
    messages: list[str] = []
    handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(handler)
    for message in messages:
        if "settotalmass" not in message:
            warnings.warn(f"MuJoCo: {message}", stacklevel=2)

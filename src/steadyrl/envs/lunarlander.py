"""LunarLander-v3 with a random reward for landings on the right-hand side."""

import warnings
from dataclasses import dataclass
from typing import Any, Final

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from steadyrl.envs._checks import LONGEST, check_choice, check_count, check_finite
from steadyrl.envs.noise import Gaussian, Noise, Sampler
from steadyrl.envs.risky import RiskyRegion

NOISE_AT: Final = ("landed", "grounded", "terminated", "any")


@dataclass(frozen=True)
class EndedRight:
    """The region of episodes that ended with x > 0, in one of the ways that count (`noise_at`)."""

    noise_at: str

    def __call__(self, observation: Any, _action: Any, info: dict[str, Any]) -> bool:
        """Did the episode end there? Asked after its last step."""
        if self.noise_at in ("landed", "grounded") and not info[self.noise_at]:
            return False
        if self.noise_at == "terminated" and info["timeout"]:
            return False
        return bool(observation[0] > 0)


class LanderReport(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Says at the end of an episode how and where the lander ended."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step of the lander, unchanged but for the last `info`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            info = {**info, **self._report(observation, terminated)}
        return observation, reward, terminated, truncated, info

    def _report(self, observation: Any, terminated: bool) -> dict[str, Any]:
        base: Any = self.unwrapped
        legs = any(touches_ground(leg) for leg in base.legs)
        side = "left" if observation[0] < 0 else "right"
        landed = terminated and not base.lander.awake
        return {
            "side": side,
            "landed": landed,
            "leg_contact": legs,
            "grounded": legs or touches_ground(base.lander),
            "timeout": not terminated,
            "risk_averse": float(landed and side == "left"),
        }


def touches_ground(body: Any) -> bool:
    """Does a Box2D body touch anything? The lander's parts can touch nothing but the ground.

    The two leg flags of the observation do not tell: when a leg stands where two pieces of ground meet and leaves
    one of them, its flag goes out, so one safe landing in eight ends with both flags at 0.
    """
    return any(edge.contact.touching for edge in body.contacts)


def lunar_lander(
    noise_std: float = 100.0,
    noise_at: str = "landed",
    max_steps: int = 500,
    *,
    noise: Noise | Sampler | None = None,
    render_mode: str | None = None,
    **lander: Any,
) -> gym.Env[Any, Any]:
    """Gymnasium's LunarLander-v3; a landing on the right pays one more reward, N(0, noise_std^2).

    At the end `info` has `side` ("left" for x < 0, else "right"), `landed` (at rest, Gymnasium's +100), `risk_averse`
    (1 for landed on the left, else 0), `leg_contact` (a leg on the ground), `grounded` (a leg or the hull on the
    ground) and `timeout`, besides what `RiskyRegion` says.

    Args:
        noise_std: Standard deviation of the extra reward.
        noise_at: The ends with x > 0 that are noisy: "landed" (at rest), "grounded" (with ground contact, crashes and
            time-outs included), "terminated" (all but time-outs) or "any".
        max_steps: The number of steps after which an episode is truncated.
        noise: Another distribution than N(0, noise_std^2).
        render_mode: As Gymnasium's.
        lander: Further arguments of LunarLander-v3, such as continuous=True.
    """
    check_choice("noise_at", noise_at, NOISE_AT)
    spread = check_finite("noise_std", noise_std, least=0.0)
    steps = check_count("max_steps", max_steps, most=LONGEST)
    with warnings.catch_warnings():
        # Importing Box2D warns of its own types; where warnings are errors, that crashes the interpreter.
        warnings.simplefilter("ignore", DeprecationWarning)
        base = gym.make(
            "LunarLander-v3", max_episode_steps=steps, disable_env_checker=True, render_mode=render_mode, **lander
        )
    reward_noise = Gaussian(0.0, spread) if noise is None else noise
    return RiskyRegion(LanderReport(base), EndedRight(noise_at), reward_noise, when="end")

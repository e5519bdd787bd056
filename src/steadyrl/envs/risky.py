"""Make any environment risky: reward noise in a region of your choice, and a record of who keeps out of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import TimeLimit

from steadyrl.envs._checks import LONGEST, check_choice, check_count
from steadyrl.envs._draws import RewardDraws, check_noise
from steadyrl.envs.environment import layers
from steadyrl.envs.noise import Noise, Sampler

Where = Callable[[Any, Any, dict[str, Any]], bool]
"""`where(observation, action, info)`: did the step lead into the region?"""

WHEN: Final = ("step", "end")


@dataclass(frozen=True)
class Above:
    """The region observation[index] > threshold."""

    index: int
    threshold: float

    def __call__(self, observation: Any, _action: Any, _info: dict[str, Any]) -> bool:
        """Is the observation in the region?"""
        return bool(observation[self.index] > self.threshold)


@dataclass(frozen=True)
class Below:
    """The region observation[index] < threshold."""

    index: int
    threshold: float

    def __call__(self, observation: Any, _action: Any, _info: dict[str, Any]) -> bool:
        """Is the observation in the region?"""
        return bool(observation[self.index] < self.threshold)


class RiskyRegion(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds noise to the reward in a region, and changes nothing else.

        env = RiskyRegion(gym.make("CartPole-v1"), where=Above(0, 0.5), noise=Gaussian(0.0, 10.0))

    With when="step", `where` is asked after every step and each step in the region gets a draw of the noise. With
    when="end" it is asked after the last step only, terminated or truncated, and there is at most one draw.

    Every step's `info` says `risky` and `reward_noise` (0 outside). The last one also has `risky_share` (the share
    of the steps asked about that were in the region: 0 or 1 with when="end"), `risk_averse` (1 - risky_share, or
    what the environment inside says if that is less) and `episode_length`.

    The wrapper must see the end of the episode, so a time limit belongs inside it: an environment of `gym.make`
    has one inside already; for any other give `max_steps`. A TimeLimit around the wrapper would cut episodes without
    their last `info` and, with when="end", without their noise; when="end" therefore insists on a limit inside.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        where: Where,
        noise: Noise | Sampler,
        when: str = "step",
        *,
        name: str | None = None,
        max_steps: int | None = None,
    ) -> None:
        """A risky variant of an environment.

        Args:
            env: Any Gymnasium environment.
            where: Function of (observation, action, info) that says whether a step led into the region.
            noise: What is added to the reward there: a distribution of `steadyrl.envs.noise`, such as
                Gaussian(0.0, 10.0), or a function of a `numpy.random.Generator`.
            when: "step" or "end".
            name: With a name, the numbers are also in `info[name]`: for several regions, one around the other.
            max_steps: Truncate episodes at this length.
        """
        RecordConstructorArgs.__init__(
            self, where=where, noise=noise, when=when, name=name, max_steps=max_steps, _disable_deepcopy=True
        )
        if not callable(where):
            raise ValueError(f"where = {where!r}: must be a function of (observation, action, info)")
        check_noise(noise, "a distribution such as Gaussian(0.0, 10.0)")
        check_choice("when", when, WHEN)
        if max_steps is not None:
            env = TimeLimit(env, check_count("max_steps", max_steps, most=LONGEST))
        if when == "end" and not any(isinstance(layer, TimeLimit) for layer in layers(env)):
            raise ValueError(
                f'when = "end": {env} has no TimeLimit inside, so the end of a truncated episode would not be seen: '
                "give max_steps (a number that is never reached, if every episode ends by itself)"
            )
        super().__init__(env)
        self.where = where
        self.noise = noise
        self.when = when
        self.name = name
        self.reward_draws = RewardDraws(noise, level=sum("reward_draws" in vars(layer) for layer in layers(env)))
        self._steps = self._risky_steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of the environment and of the noise."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.reward_draws.reset(seed)
        self._steps = self._risky_steps = 0
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step of the environment, with noise on its reward if it led into the region."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        over = terminated or truncated
        risky = (self.when == "step" or over) and bool(self.where(observation, action, info))
        noise = self.reward_draws.draw() if risky else 0.0
        self._steps += 1
        self._risky_steps += risky
        readings: dict[str, Any] = {"risky": risky, "reward_noise": noise}
        if over:
            readings |= self._outcome(info)
        by_name = {self.name: dict(readings)} if self.name else {}
        return observation, float(reward) + noise, terminated, truncated, {**info, **readings, **by_name}

    def _outcome(self, info: dict[str, Any]) -> dict[str, Any]:
        share = self._risky_steps / (self._steps if self.when == "step" else 1)
        return {
            "risky_share": share,
            "risk_averse": min(1.0 - share, float(info.get("risk_averse", 1.0))),
            "episode_length": self._steps,
        }

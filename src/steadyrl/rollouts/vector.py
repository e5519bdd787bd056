"""A vector environment of the user's as a stepper, if its environments can begin their episodes one by one.

That is `reset(seed=[...], options={"reset_mask": mask})`, which Gymnasium's SyncVectorEnv and AsyncVectorEnv know.
Whether a vector environment does it is tried, not believed: one that ignores the mask would begin all episodes again.
"""

from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from steadyrl.envs.codecs import ActionCodec, ObservationCodec
from steadyrl.ground.shapes import BoolArray
from steadyrl.rollouts.stepper import Stepped

SEEDS: Final = (1, 2)
CURE: Final = "give what makes one of its environments, and workers to play several at a time"


class VectorStepper:
    """Slots that are the environments of a vector environment."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Refuse (ValueError) a vector environment whose episodes cannot begin one by one."""
        self.env = env
        self.width = int(env.num_envs)
        self._observations = ObservationCodec(env.single_observation_space)
        self._actions = ActionCodec(env.single_action_space)
        self.observation_space: spaces.Space[Any] = self._observations.batch_space
        self.action_space: spaces.Space[Any] = self._actions.batch_space
        mode = env.metadata.get("autoreset_mode")
        if mode == AutoresetMode.SAME_STEP:
            reason = "it gives the first observation of the next episode in the place of the last one of this"
            raise ValueError(f"{env}: autoreset_mode must be NEXT_STEP or DISABLED: {reason}")
        self._idle_must_be_reset = mode == AutoresetMode.DISABLED
        self._over = np.ones(self.width, dtype=bool)
        self._last = self._zero_actions()
        self._try()

    def reset(self, slot: int, seed: int) -> NDArray[Any]:
        """Begin an episode in a slot; the others stay where they are."""
        if self._over.all():  # the first reset of all, for some need one before they take a mask
            observations = self._reset([seed] * self.width, None)
            self._over[:] = False
        else:
            mask = np.arange(self.width) == slot
            observations = self._reset([seed if k == slot else None for k in range(self.width)], mask)
        self._over[slot] = False
        return np.asarray(observations[slot])

    def step(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> Stepped:
        """Step all of them, for it knows no other way, and look at the slots asked for."""
        if self._idle_must_be_reset and self._over.any():
            self._reset([0] * self.width, self._over.copy())
        all_actions = self._last.copy()
        all_actions[slots] = actions
        observations, rewards, terminated, truncated, infos = self.env.step(self._actions.decode(all_actions))
        self._over = np.asarray(terminated, dtype=bool) | np.asarray(truncated, dtype=bool)
        return Stepped(
            self._observations.encode(observations)[slots],
            np.asarray(rewards, dtype=np.float64)[slots],
            np.asarray(terminated, dtype=bool)[slots],
            np.asarray(truncated, dtype=bool)[slots],
            [info_of(infos, slot) if self._over[slot] else None for slot in slots.tolist()],
        )

    def close(self) -> None:
        """Close the vector environment."""
        self.env.close()

    def _reset(self, seeds: list[int | None], mask: BoolArray | None) -> NDArray[Any]:
        options = None if mask is None else {"reset_mask": mask}
        observations, _ = self.env.reset(seed=seeds, options=options)  # type: ignore[arg-type]  # a list it is
        return self._observations.encode(observations)

    def _zero_actions(self) -> NDArray[Any]:
        """Actions for slots that nobody looks at."""
        space = self.action_space
        zeros = np.zeros((self.width, *(space.shape or ())), dtype=space.dtype)
        return np.clip(zeros, space.low, space.high) if isinstance(space, spaces.Box) else zeros

    def _try(self) -> None:
        """Begin all, step, begin the first one again: it must be as before, and the others must have stayed."""
        seeds: list[int | None] = [SEEDS[k > 0] + k for k in range(self.width)]
        try:
            first = self._reset(seeds, None).copy()
            after = self.step(np.arange(self.width), self._last).observations.copy()
            replay = self._reset(seeds, np.arange(self.width) == 0).copy()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ValueError(f"{self.env}: its episodes cannot begin one by one ({reason}): {CURE}") from error
        if not _same(replay[:1], first[:1]):
            raise ValueError(f"{self.env}: reset(seed=[...]) gave another first observation than before: {CURE}")
        if not _same(replay[1:], after[1:]):
            raise ValueError(f"{self.env}: reset begins all episodes again, whatever its reset_mask says: {CURE}")
        self._over[:] = True


def info_of(infos: dict[str, Any], slot: int) -> dict[str, Any]:
    """What the info of a vector environment says of one slot: `_name` says which slots have a `name`."""
    arrays = {name: values for name, values in infos.items() if isinstance(values, np.ndarray)}
    return {
        name: values[slot]
        for name, values in arrays.items()
        if not name.startswith("_") and (f"_{name}" not in arrays or arrays[f"_{name}"][slot])
    }


def environments_of(env: VectorEnv[Any, Any, Any]) -> list[gym.Env[Any, Any]]:
    """Those inside, if it has them in this process, as a SyncVectorEnv has."""
    inside = getattr(env.unwrapped, "envs", ())
    return [one for one in inside if isinstance(one, gym.Env)] if isinstance(inside, list | tuple) else []


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.tobytes() == b.tobytes()

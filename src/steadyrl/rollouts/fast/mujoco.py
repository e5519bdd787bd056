"""The two MuJoCo domains on MuJoCo's own batch: every slot in one call, the same numbers as Gymnasium's.

Gymnasium's environment begins each episode itself and its state is copied into the batch, so its random draws are not
repeated here. A step of the batch does what a step of Gymnasium's environment does to the state; what that computes
besides, for observations that neither domain makes, is left out.
"""

import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, no_type_check

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit
from numpy.typing import NDArray

from steadyrl.envs.environment import layers
from steadyrl.envs.half_cheetah import EitherWay, advance
from steadyrl.envs.inverted_pendulum import FallReward
from steadyrl.envs.noise import Gaussian, Mixture, Pareto, Uniform, encode
from steadyrl.envs.risky import Above, Below, RiskyRegion
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float
from steadyrl.rollouts.stepper import LastInfo, SlotError, Stepped

UNSEEN: Final = (OrderEnforcing, PassiveEnvChecker)
"""Wrappers that change no number."""
PENDULUM: Final = (
    "gymnasium.envs.mujoco.inverted_pendulum_v5",
    "InvertedPendulumEnv",
    RiskyRegion,
    FallReward,
    TimeLimit,
)
CHEETAH: Final = ("gymnasium.envs.mujoco.half_cheetah_v5", "HalfCheetahEnv", RiskyRegion, EitherWay, TimeLimit)
"""Module and class of an environment of Gymnasium's, and the wrappers that make it ours."""


@dataclass(frozen=True)
class Upright:
    """InvertedPendulum-v5 in `FallReward`: 1 for every step but the one with which the pole is too far down.

    As in `Runner`, steps lead from a position x to a state, which is all positions and then all velocities.
    """

    fall_reward: float

    def score(
        self, _x: Float[Array, " k"], states: Float[Array, "k s"], _actions: NDArray[Any]
    ) -> tuple[Float[Array, " k"], Bool[BoolArray, " k"]]:
        """The rewards of k steps, and which of them end an episode."""
        fallen = self._fallen(states)
        return np.where(fallen, self.fall_reward, 1.0), fallen

    def report(self, _x: float, state: Float[Array, " s"], _action: NDArray[Any]) -> dict[str, Any]:
        """What the environment's info says of one step."""
        return {"reward_survive": self.fall_reward if self._fallen(state) else 1.0}

    def _fallen(self, states: Float[Array, "*k s"]) -> Any:
        return ~np.isfinite(states).all(axis=-1) | (np.abs(states[..., 1]) > 0.2)


@dataclass(frozen=True)
class Runner:
    """HalfCheetah-v5 in `EitherWay`: weight advance(x_before, x_after) / dt, less the cost of control."""

    forward: str
    weight: float
    control_weight: float
    dt: float

    def score(
        self, x: Float[Array, " k"], states: Float[Array, "k s"], actions: NDArray[Any]
    ) -> tuple[Float[Array, " k"], Bool[BoolArray, " k"]]:
        """The rewards of k steps, and which of them end an episode: none."""
        return self._forward(x, states[:, 0]) - self._cost(actions), np.zeros(len(states), dtype=bool)

    def report(self, x: float, state: Float[Array, " s"], action: NDArray[Any]) -> dict[str, Any]:
        """What the environment's info says of one step."""
        return {
            "x_position": state[0],
            "x_velocity": (state[0] - x) / self.dt,
            "reward_forward": float(self._forward(x, state[0])),
            "reward_ctrl": -self._cost(action),
        }

    def _forward(self, before: Any, after: Any) -> Any:
        return self.weight * (advance(self.forward, before, after) / self.dt)

    def _cost(self, actions: NDArray[Any]) -> Any:
        """In the precision of the actions, as Gymnasium has it."""
        return self.control_weight * np.add.reduce(np.square(actions), axis=-1)


class MujocoStepper:
    """Slots that are the simulations of one `mujoco.batch.Batch`, on one thread."""

    @staticmethod
    def of(env: gym.Env[Any, Any], width: int) -> "MujocoStepper | None":
        """A stepper that plays what the environment would play, or None if there is none.

        There is one for what `inverted_pendulum` and `half_cheetah` make, without a picture and with one of our
        distributions for noise, if MuJoCo is recent enough to have batches.
        """
        inside: list[Any] = [layer for layer in layers(env) if type(layer) not in UNSEEN]
        *wrappers, base = inside
        kind = (type(base).__module__, type(base).__name__, *(type(layer) for layer in wrappers))
        if kind == PENDULUM:
            task: Upright | Runner = Upright(wrappers[1].fall_reward)
        elif kind == CHEETAH and not base._exclude_current_positions_from_observation:
            task = Runner(wrappers[1].forward, wrappers[1].weight, base._ctrl_cost_weight, float(base.dt))
        else:
            return None
        risky = wrappers[0]
        limit = wrappers[-1]
        if base.render_mode is not None or base.observation_space.shape != (base.model.nq + base.model.nv,):
            return None
        if (risky.when, risky.name) != ("step", None) or type(risky.where) not in (Above, Below):
            return None
        if type(risky.noise) not in (Gaussian, Pareto, Uniform, Mixture):
            return None
        try:
            return MujocoStepper(base, risky, task, limit._max_episode_steps, width)
        except ImportError:
            return None

    def __init__(self, base: Any, risky: Any, task: Upright | Runner, max_steps: int, width: int) -> None:
        import mujoco  # noqa: PLC0415  optional; loaded already by whoever made the environment
        from mujoco import batch  # noqa: PLC0415  since MuJoCo 4

        self.observation_space, self.action_space = base.observation_space, base.action_space
        self._mujoco = mujoco
        self._base = base
        self._task = task
        self._max_steps = max_steps
        self._width = width
        self._shape = base.action_space.shape
        self._batch = batch.Batch(_spared(base.model), width, nthread=1)
        self._error = batch.SimulationError
        self._controls = self._batch.bind("ctrl")
        first = mujoco.mj_stateSize(base.model, mujoco.mjtState.mjSTATE_TIME)  # positions and velocities come next
        self._states = self._batch.state[:, first : first + base.model.nq + base.model.nv]
        self._where = risky.where
        self._law = encode(risky.noise)
        self._draw = _compiled_draw()
        self._keys = np.zeros(width, dtype=np.uint64)
        self._steps, self._drawn = np.zeros((2, width), dtype=np.int64)

    def reset(self, slot: int, seed: int) -> NDArray[Any]:
        """Begin an episode in Gymnasium's environment and take it over."""
        observation, _ = self._base.reset(seed=seed)
        everything = self._mujoco.mjtState.mjSTATE_INTEGRATION
        self._mujoco.mj_getState(self._base.model, self._base.data, self._batch.state[slot], everything)
        self._keys[slot] = streams.key(seed, streams.REWARD_NOISE)
        self._steps[slot] = self._drawn[slot] = 0
        return np.asarray(observation)

    def step(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> Stepped:
        """Step the given slots' simulations together; the others stay as they are."""
        x = self._states[slots, 0]
        self._advance(slots, actions)
        states = self._states[slots]
        rewards, terminated = self._task.score(x, states, actions)
        steps = self._steps[slots] = self._steps[slots] + 1
        truncated = steps >= self._max_steps
        noise = self._noise(slots, states)
        finals: list[LastInfo | None] = [None] * len(slots)
        for k in (terminated | truncated).nonzero()[0].tolist():
            report = self._task.report(x[k], states[k], actions[k])
            finals[k] = report | self._outcome(int(slots[k]), states[k], float(noise[k]))
        return Stepped(states, rewards + noise, terminated, truncated, finals)

    def close(self) -> None:
        """Nothing is held that would not go by itself."""

    def _advance(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> None:
        if actions.shape[1:] != self._shape:
            cause = ValueError(f"action of shape {actions.shape[1:]}, but the action space has shape {self._shape}")
            raise SlotError(0, cause) from cause
        self._controls[slots] = actions
        try:
            self._batch.step(None if len(slots) == self._width else np.sort(slots), nstep=self._base.frame_skip)
        except self._error as error:
            raise SlotError(slots.tolist().index(error.ids[0]), error) from error

    def _noise(self, slots: NDArray[np.int64], states: Float[Array, "k s"]) -> Float[Array, " k"]:
        """The next number of each slot whose step led into the region, 0 for the others."""
        coordinate = states[:, self._where.index]
        threshold = self._where.threshold
        risky = coordinate > threshold if type(self._where) is Above else coordinate < threshold
        noise = np.zeros(len(slots))
        self._draw(slots, risky, self._keys, self._drawn, *self._law, noise)
        return noise

    def _outcome(self, slot: int, state: Float[Array, " s"], noise: float) -> dict[str, Any]:
        """What `RiskyRegion` says of the last step."""
        steps = int(self._steps[slot])
        share = int(self._drawn[slot]) / steps
        return {
            "risky": self._where(state, None, {}),
            "reward_noise": noise,
            "risky_share": share,
            "risk_averse": min(1.0 - share, 1.0),
            "episode_length": steps,
        }


@cache
def _compiled_draw() -> Any:
    """`RewardDraws.draw` of many slots at once: in plain Python they take 6 % of a cheetah's step."""
    from numba import njit  # noqa: PLC0415

    from steadyrl.rollouts.fast.maze_kernel import quantile_of, uniform  # noqa: PLC0415

    @njit
    @no_type_check
    def draw(slots, risky, keys, counts, kind, numbers, noise):
        for k in range(slots.size):
            if risky[k]:
                slot = slots[k]
                noise[k] = quantile_of(kind, numbers, uniform(keys[slot], counts[slot]))
                counts[slot] += 1

    return draw


def _spared(model: Any) -> Any:
    """A copy of the model that is spared work without an effect on it.

    Contacts are not searched for if no two shapes can touch, and constraints are not sorted into islands if there is
    one tree of joints, hence one island: a quarter of the pendulum's time, a few percent of the cheetah's.
    """
    import mujoco  # noqa: PLC0415

    model = copy.copy(model)
    skip = mujoco.mjtDisableBit
    if not ((model.geom_contype[:, None] & model.geom_conaffinity).any() or model.npair or model.nflex):
        model.opt.disableflags |= skip.mjDSBL_CONTACT
    if model.ntree == 1:
        model.opt.disableflags |= skip.mjDSBL_ISLAND
    return model

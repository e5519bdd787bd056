"""Play n whole episodes with a policy on any stepper."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground import streams
from steadyrl.ground.errors import described
from steadyrl.ground.shapes import Array, BoolArray, Float
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Batch, Part, join, plain
from steadyrl.rollouts.stepper import EpisodeError, LastInfo, SlotError, Stepped, Stepper

AHEAD: Final = 32
"""Steps of an episode whose random numbers are made at once, which takes about twice as long as for a single one."""


def episode_seeds(seed: int, iteration: int, n: int, first: int = 0) -> list[int]:
    """The seed each episode's environment is reset with: 32 bits, which every environment accepts."""
    return [int(k) >> 32 for k in streams.keys(seed, streams.ENVIRONMENT, iteration, first + n)[first:]]


def play(policy: Policy, stepper: Stepper, n: int, width: int, max_steps: int, seed: int, iteration: int) -> Batch:
    """The first n episodes started, each with its own seed and its own stream of actions; only live ones are stepped.

    What an episode does depends on (seed, iteration, its number) and on nothing else: neither on the number of
    slots nor on which of them plays it.
    """
    return join([play_part(policy, stepper, n, width, max_steps, seed, iteration)])


def play_part(
    policy: Policy, stepper: Stepper, n: int, width: int, max_steps: int, seed: int, iteration: int, first: int = 0
) -> Part:
    """n of a batch's episodes, from number `first` on."""
    seeds = episode_seeds(seed, iteration, n, first)
    uniforms = _ActionUniforms(seed, iteration, n, policy.uniforms_per_action, first)
    record = _Record(stepper, n, max_steps, first)
    slots = np.arange(min(width, n))
    playing = np.arange(min(width, n))  # the episode in each live slot
    started = len(slots)
    current = np.stack([_begin(record, stepper, i, i, seeds[i]) for i in range(started)])
    while slots.size:
        t = record.lengths[playing]
        actions = policy.act(current, uniforms.at(playing, t))
        stepped = _step(record, stepper, slots, playing, actions)
        over = stepped.terminated | stepped.truncated | (t + 1 >= max_steps)
        record.write(playing, current, actions, stepped.rewards)
        current = stepped.observations
        if not over.any():
            continue
        for k in np.flatnonzero(over).tolist():
            record.finish(int(playing[k]), current[k], bool(stepped.terminated[k]), stepped.finals[k])
            if started < n:
                playing[k] = started
                over[k] = False
                current[k] = _begin(record, stepper, int(slots[k]), started, seeds[started])
                started += 1
        slots = slots[~over]
        playing = playing[~over]
        current = current[~over]
    return record.part()


class _ActionUniforms:
    """The uniform numbers that each episode's actions are drawn from, made for many of its steps by one call."""

    def __init__(self, seed: int, iteration: int, n: int, draws: int, first: int) -> None:
        self.keys = streams.keys(seed, streams.ACTIONS, iteration, first + n)[first:]
        self.ahead = np.empty((n, AHEAD, draws))

    def at(self, episodes: NDArray[np.int64], t: NDArray[np.int64]) -> Float[Array, "k d"]:
        """Those of step t of each of the episodes; steps come in their order."""
        place = t % AHEAD
        due = place == 0
        if due.any():
            draws = self.ahead.shape[2]
            starved = episodes[due]
            fresh = streams.uniforms(self.keys[starved], t[due] * draws, AHEAD * draws)
            self.ahead[starved] = fresh.reshape(starved.size, AHEAD, draws)
        return self.ahead[episodes, place]


class _Record:
    """The arrays that become a Batch, filled as the episodes go; in messages they are counted from `first`."""

    def __init__(self, stepper: Stepper, n: int, max_steps: int, first: int) -> None:
        self.first = first
        observation_space, action_space = stepper.observation_space, stepper.action_space
        self.observations = np.zeros((n, max_steps, *(observation_space.shape or ())), dtype=observation_space.dtype)
        self.last_observations = np.zeros((n, *(observation_space.shape or ())), dtype=observation_space.dtype)
        self.actions = np.zeros((n, max_steps, *(action_space.shape or ())), dtype=action_space.dtype)
        self.rewards = np.zeros((n, max_steps))
        self.lengths = np.zeros(n, dtype=np.int64)
        self.terminated: BoolArray = np.zeros(n, dtype=bool)
        self.finals: list[LastInfo] = [{}] * n

    def write(
        self, episodes: NDArray[np.int64], observations: NDArray[Any], actions: NDArray[Any], rewards: NDArray[Any]
    ) -> None:
        t = self.lengths[episodes]
        self.observations[episodes, t] = observations
        self.actions[episodes, t] = actions
        self.rewards[episodes, t] = rewards
        self.lengths[episodes] += 1

    def finish(self, episode: int, observation: Any, terminated: bool, final: LastInfo | None) -> None:
        self.last_observations[episode] = observation
        self.terminated[episode] = terminated
        self.finals[episode] = final or {}

    def part(self) -> Part:
        self.check_finite()
        longest = int(self.lengths.max())
        cut = slice(None) if longest == self.rewards.shape[1] else slice(longest)
        return Part(
            first=self.first,
            observations=np.ascontiguousarray(self.observations[:, cut]),
            actions=np.ascontiguousarray(self.actions[:, cut]),
            rewards=np.ascontiguousarray(self.rewards[:, cut]),
            lengths=self.lengths,
            terminated=self.terminated,
            last_observations=self.last_observations,
            finals=[plain(final) for final in self.finals],
        )

    def check_finite(self) -> None:
        """Refuse a reward or an observation that is not a finite number, naming where it came."""
        for name, values in (("reward", self.rewards), ("observation", self.observations)):
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                episode, t = (int(k) for k in np.argwhere(~np.isfinite(values))[0][:2])
                value = values[episode, t]
                raise EpisodeError(f"episode {self.first + episode}, step {t}: {name} = {value}: must be finite")
        if self.last_observations.dtype.kind == "f" and not np.isfinite(self.last_observations).all():
            episode = int(np.argwhere(~np.isfinite(self.last_observations))[0][0])
            value = self.last_observations[episode]
            raise EpisodeError(f"episode {self.first + episode}, last step: observation = {value}: must be finite")


def _begin(record: _Record, stepper: Stepper, slot: int, episode: int, seed: int) -> NDArray[Any]:
    """The first observation of an episode; if the environment raises, say in which one."""
    try:
        return stepper.reset(slot, seed)
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:
        record.check_finite()
        place = f"episode {record.first + episode}, reset(seed={seed})"
        reason = str(error) if isinstance(error, EpisodeError) else f"the environment raised {described(error)}"
        raise EpisodeError(f"{place}: {reason}") from error


def _step(
    record: _Record, stepper: Stepper, slots: NDArray[np.int64], episodes: NDArray[np.int64], actions: NDArray[Any]
) -> Stepped:
    """A step of the live slots; if an environment raises, say in which episode and at which step."""
    try:
        return stepper.step(slots, actions)
    except SlotError as error:
        record.check_finite()
        episode = int(episodes[error.index])
        place = f"episode {record.first + episode}, step {int(record.lengths[episode])}"
        raise EpisodeError(f"{place}: the environment raised {error}") from error.__cause__
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:  # of a vector environment, which does not say in which of them
        record.check_finite()
        numbers = ", ".join(str(record.first + k) for k in episodes.tolist())
        raise EpisodeError(f"one of episodes {numbers}: {described(error)}") from error

"""The reward noise of one environment, episode by episode: its own stream, which no other random number disturbs."""

import secrets
from collections.abc import Callable

import numpy as np

from steadyrl.envs.noise import Noise, Sampler
from steadyrl.ground import streams


class RewardDraws:
    """Draws of a noise, numbered within the episode.

    After `reset(seed)` the k-th draw of the episode is `noise.quantile(streams.uniform(key, k))` with
    `key = streams.key(seed, REWARD_NOISE)`; a noise that is a function gets `numpy.random.default_rng(key)` instead.
    A later `reset(None)` takes its key from the last seed and the number of resets since, so it is reproducible too;
    before any seed, from the operating system. `level` keeps the noises of stacked wrappers apart.
    """

    def __init__(self, noise: Noise | Sampler, level: int = 0) -> None:
        self._quantile: Callable[[float], float] | None = None
        if isinstance(noise, Noise):
            self._quantile = noise.quantile
        else:
            self._sample: Sampler = noise
        self._level = level
        self._seed = secrets.randbits(64)
        self._resets = 0
        self._start()

    def reset(self, seed: int | None) -> None:
        """Begin an episode."""
        if seed is None:
            self._resets += 1
        else:
            self._seed = int(seed)
            self._resets = 0
        self._start()

    def draw(self) -> float:
        """The next number of the episode."""
        if self._quantile is None:
            return float(self._sample(self._generator))
        u = streams.uniform(self._key, self._drawn)
        self._drawn += 1
        return self._quantile(u)

    def _start(self) -> None:
        path = (self._resets, self._level) if self._level else (self._resets,) if self._resets else ()
        self._key = streams.key(self._seed, streams.REWARD_NOISE, *path)
        self._drawn = 0
        if self._quantile is None:
            self._generator = np.random.default_rng(self._key)


def check_noise(noise: object, example: str) -> None:
    """Refuse what is neither a distribution nor a function of a generator."""
    if isinstance(noise, type) or not (isinstance(noise, Noise) or callable(noise)):
        raise ValueError(f"noise = {noise!r}: must be {example}, or a function of a numpy.random.Generator")

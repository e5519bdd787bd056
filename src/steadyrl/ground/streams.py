"""Random numbers as a function of where they are used: no state, no order, nothing to save.

A stream is a 64-bit key made from integers (a run's seed, what it is for, an iteration, an episode); the k-th number
of a stream is the SplitMix64 generator's k-th output from that key. So an episode draws the same numbers whichever
worker, vector slot or compiled loop plays it, and a resumed run draws what it would have drawn.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float, IntArray

GOLDEN: Final = 0x9E3779B97F4A7C15
FIRST: Final = 0xBF58476D1CE4E5B9
SECOND: Final = 0x94D049BB133111EB
MASK: Final = 0xFFFFFFFFFFFFFFFF

# What a stream is for.
ENVIRONMENT: Final = 1
ACTIONS: Final = 2
ESTIMATOR: Final = 3
INITIAL: Final = 4
EVALUATION: Final = 5
MINIBATCH: Final = 6
REWARD_NOISE: Final = 7


def mix(word: int) -> int:
    """SplitMix64's output function: a bijection of 64-bit words that looks random."""
    word = ((word ^ (word >> 30)) * FIRST) & MASK
    word = ((word ^ (word >> 27)) * SECOND) & MASK
    return word ^ (word >> 31)


def key(seed: int, *path: int) -> int:
    """The key of the stream at `path` under `seed`: `key(seed, ACTIONS, iteration, episode)`."""
    word = mix((seed + GOLDEN) & MASK)
    for step in path:
        word = mix(((word ^ mix((step + SECOND) & MASK)) + GOLDEN) & MASK)
    return word


def keys(seed: int, stream: int, iteration: int, n: int) -> NDArray[np.uint64]:
    """The keys of n episodes: keys(...)[i] == key(seed, what, iteration, i)."""
    parent = np.uint64(key(seed, stream, iteration))
    steps = _mix_array(np.arange(n, dtype=np.uint64) + np.uint64(SECOND))
    return _mix_array((steps ^ parent) + np.uint64(GOLDEN))


def uniform(stream: int, index: int) -> float:
    """Number `index` (0, 1, ...) of a stream, uniform on the open interval (0, 1)."""
    return ((mix((stream + (index + 1) * GOLDEN) & MASK) >> 12) + 0.5) * 2.0**-52


def uniforms(streams: NDArray[np.uint64], index: IntArray, count: int) -> Float[Array, "n count"]:
    """`count` numbers of each stream from its own index on: uniforms(k, i, c)[j, d] == uniform(k[j], i[j] + d)."""
    steps = (index[:, None] + np.arange(1, count + 1)).astype(np.uint64)
    words = _mix_array(streams[:, None] + steps * np.uint64(GOLDEN))
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def generator(seed: int, *path: int) -> np.random.Generator:
    """A NumPy generator at `path` under `seed`, for whatever is not drawn episode by episode."""
    return np.random.default_rng(key(seed, *path))


def _mix_array(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(SECOND)
    return words ^ (words >> np.uint64(31))

"""Laws of a return with parameters theta: samples with their scores, and the exact gradient of any measure.

The gradient is a central difference in theta of the measure's value on a fine grid of the law, so it needs no
influence function and can judge one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtri

from steadyrl.ground.shapes import Array, Float
from steadyrl.measures import Measure

GRID = 4001
STEP = 0.05
"""Wide beside the grid, so that quantiles move over many of its points; the difference is of fourth order."""


@runtime_checkable
class Law(Protocol):
    """A family of distributions of the return at one value of its parameters."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def sample(
        self, rng: np.random.Generator, rows: int, n: int
    ) -> tuple[Float[Array, "rows n"], Float[Array, "rows n k"]]:
        """Rows of n independent returns, and the score grad_theta log f of each."""
        ...

    def gradient(self, measure: Measure) -> Float[Array, " k"]:
        """grad_theta D."""
        ...


def quadrature(points: int = GRID) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
    """Probabilities (midpoints, closer together in the tails) and the mass around each."""
    edges = np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, points + 1)) ** 2
    return 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)


@dataclass(frozen=True)
class LocationScale:
    """X = location + scale Z; theta = (location, scale), or the scale alone for a law that starts at 0."""

    name: str
    quantile: Callable[[Array], Array]
    score: Callable[[Array], Array]
    """score(z) = grad log f at location 0 and scale 1, a row for each parameter."""
    location: float = 0.0

    def sample(
        self, rng: np.random.Generator, rows: int, n: int
    ) -> tuple[Float[Array, "rows n"], Float[Array, "rows n k"]]:
        """By inverse transform."""
        z = self.quantile(rng.random((rows, n)))
        return self.location + z, np.moveaxis(self.score(z), 0, -1)

    def gradient(self, measure: Measure) -> Float[Array, " k"]:
        """By homogeneity: nothing by location, degree times the value by scale."""
        u, mass = quadrature(50 * GRID)
        if measure.facts.degree is None:
            raise ValueError(f"{measure.name} has no known degree: its gradient by scale is not known exactly")
        by_scale = measure.facts.degree * measure.value(self.quantile(u), mass)
        return np.array([0.0] * (len(self.score(u[:1])) - 1) + [by_scale])


@dataclass(frozen=True)
class GaussianMixture:
    """Component k with probability p_k(theta) gives a normal return: a bandit's arms, or an MDP's trajectories."""

    name: str
    probabilities: Callable[[Array], Array]
    scores: Float[Array, "components k"]
    """grad log p_k at theta."""
    theta: Float[Array, " k"]
    mean: Float[Array, " components"]
    std: Float[Array, " components"]

    def sample(
        self, rng: np.random.Generator, rows: int, n: int
    ) -> tuple[Float[Array, "rows n"], Float[Array, "rows n k"]]:
        """A component, then its normal return."""
        k = rng.choice(self.mean.size, size=(rows, n), p=self.probabilities(self.theta))
        return self.mean[k] + self.std[k] * rng.standard_normal((rows, n)), self.scores[k]

    def gradient(self, measure: Measure) -> Float[Array, " k"]:
        """By central differences on a grid of every component."""
        u, mass = quadrature()
        returns = (self.mean[:, None] + self.std[:, None] * ndtri(u)).ravel()

        def value(theta: Array) -> float:
            return float(measure.value(returns, np.outer(self.probabilities(theta), mass).ravel()))

        def along(direction: Array) -> float:
            near, far = (value(self.theta + k * direction) - value(self.theta - k * direction) for k in (1.0, 2.0))
            return (8.0 * near - far) / (12.0 * STEP)

        return np.array([along(direction) for direction in STEP * np.eye(self.theta.size)])


def normal(location: float) -> LocationScale:
    """N(location, 1) with theta = (location, scale)."""
    name = f"normal, mean {location:g}"
    return LocationScale(name, ndtri, lambda z: np.stack([z, z * z - 1.0]), location)


def exponential() -> LocationScale:
    """Exponential with theta = scale."""
    return LocationScale("exponential", lambda u: -np.log1p(-u), lambda z: (z - 1.0)[None])


def softmax(logits: Float[Array, "*batch k"]) -> Float[Array, "*batch k"]:
    """Probabilities from logits over the last axis."""
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def bandit() -> GaussianMixture:
    """A softmax over five arms: safe and poor to risky and rich, one with a heavy left component."""
    theta = np.array([0.0, 0.4, -0.3, 0.2, -0.6])
    scores = np.eye(theta.size) - softmax(theta)
    mean, std = np.array([0.0, 0.5, 1.0, 1.5, -3.0]), np.array([0.2, 0.5, 1.0, 2.0, 1.5])
    return GaussianMixture("softmax bandit", softmax, scores, theta, mean, std)


def mdp() -> GaussianMixture:
    """Three states, two actions, three steps: every trajectory enumerated.

    Action 1 pays twice as much as action 0 and slips to the next state with probability 0.3 (action 0 moves there
    with 0.8); in the last state a step costs. Rewards are summed and blurred with a little normal noise, so that
    the return has a density.
    """
    moves = np.array([[0.8, 0.3], [0.8, 0.3], [0.0, 0.0]])
    rewards = np.array([[1.0, 2.0], [0.5, 3.0], [-1.0, -4.0]])
    theta = np.array([0.3, -0.2, 0.1, 0.4, -0.5, 0.2])
    paths = [
        _walk(choices, slips, moves) for choices in product((0, 1), repeat=3) for slips in product((0, 1), repeat=3)
    ]
    chance = np.array([p for _, p in paths])
    possible = [path for (path, p) in paths if p > 0]
    chance = chance[chance > 0]
    visits = np.array([np.bincount([2 * s + a for s, a in path], minlength=6) for path in possible], dtype=np.float64)

    def probabilities(parameters: Array) -> Array:
        log_policy = np.log(softmax(parameters.reshape(3, 2))).ravel()
        return chance * np.exp(visits @ log_policy)

    policy = softmax(theta.reshape(3, 2))
    in_state = visits.reshape(-1, 3, 2).sum(axis=-1, keepdims=True)
    scores = visits - (in_state * policy).reshape(-1, 6)
    mean = visits @ rewards.ravel()
    return GaussianMixture("small MDP", probabilities, scores, theta, mean, np.full(mean.size, 0.3))


def _walk(
    choices: tuple[int, ...], slips: tuple[int, ...], moves: Float[Array, "states actions"]
) -> tuple[list[tuple[int, int]], float]:
    """The (state, action) pairs of one trajectory and the probability of its transitions."""
    state = 0
    chance = 1.0
    path = []
    for action, slip in zip(choices, slips, strict=True):
        path.append((state, action))
        chance *= moves[state, action] if slip else 1.0 - moves[state, action]
        state = min(state + slip, 2)
    return path, chance


def all_laws() -> list[Law]:
    """The laws of the estimator study."""
    return [normal(0.0), normal(5.0), exponential(), bandit(), mdp()]

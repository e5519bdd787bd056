"""Reward noise: distributions with known mean and variance, drawn by their quantile function.

One uniform number gives one draw, `noise.quantile(u)`, and nothing is drawn in any other way, so a stream of uniform
numbers fixes every reward. `quantile_of` is the one implementation; it is plain enough for numba to compile:

    register_jitable(normal_quantile)
    quantile = njit(quantile_of)
    quantile(*encode(noise), u) == noise.quantile(u)        # bit for bit
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

import numpy as np

from steadyrl.envs._checks import check_finite
from steadyrl.envs._quantiles import GAUSSIAN, PARETO, PIECES, normal_quantile, quantile_of
from steadyrl.ground.shapes import Array, Float

__all__ = [
    "NOISES",
    "Gaussian",
    "Mixture",
    "Noise",
    "Pareto",
    "Sampler",
    "Uniform",
    "encode",
    "normal_quantile",
    "quantile_of",
]

Code = tuple[int, Float[Array, " k"]]
"""A distribution as plain data: its kind and its numbers."""


@runtime_checkable
class Noise(Protocol):
    """A distribution of rewards; any object with these three will do."""

    @property
    def mean(self) -> float:
        """E[X]."""

    @property
    def variance(self) -> float:
        """V[X], infinite where it does not exist."""

    def quantile(self, u: float) -> float:
        """The inverse distribution function at 0 < u < 1."""


Sampler = Callable[[np.random.Generator], float]
"""Noise without a quantile function: draws one number from the generator it is given."""


class _Encoded:
    """A distribution whose quantile function is `quantile_of`."""

    @cached_property
    def code(self) -> Code:
        raise NotImplementedError

    def quantile(self, u: float) -> float:
        """The inverse distribution function at 0 < u < 1."""
        if not 0.0 < u < 1.0:
            raise ValueError(f"u = {u}: must lie between 0 and 1, both excluded")
        return float(quantile_of(*self.code, u))


@dataclass(frozen=True)
class Gaussian(_Encoded):
    """N(mean, std^2). A std of 0 is no noise."""

    mean: float = -1.0
    std: float = 20.0

    def __post_init__(self) -> None:
        check_finite("Gaussian: mean", self.mean)
        check_finite("Gaussian: std", self.std, least=0.0)

    @property
    def variance(self) -> float:
        """V[X] = std^2."""
        return self.std**2

    @cached_property
    def code(self) -> Code:
        """The distribution as plain data."""
        return GAUSSIAN, np.array([self.mean, self.std], dtype=np.float64)


@dataclass(frozen=True)
class Pareto(_Encoded):
    """mean - scale (L - E[L]), L of the Lomax distribution, P(L > x) = (1 + x)^-shape: a heavy tail of losses.

    The defaults are the Maze's -1 - 20 (Lomax(3) - 0.5). Its largest value is mean + scale / (shape - 1).
    """

    mean: float = -1.0
    scale: float = 20.0
    shape: float = 3.0

    def __post_init__(self) -> None:
        check_finite("Pareto: mean", self.mean)
        check_finite("Pareto: scale", self.scale, least=0.0)
        if check_finite("Pareto: shape", self.shape) <= 1:
            raise ValueError(f"Pareto: shape = {self.shape}: must be > 1, there is no mean otherwise")

    @property
    def variance(self) -> float:
        """V[X] = scale^2 shape / ((shape - 1)^2 (shape - 2)); infinite for shape <= 2."""
        if self.scale == 0:
            return 0.0
        if self.shape <= 2:
            return math.inf
        return self.scale**2 * self.shape / ((self.shape - 1) ** 2 * (self.shape - 2))

    @cached_property
    def code(self) -> Code:
        """The distribution as plain data."""
        return PARETO, np.array([self.mean, self.scale, self.shape], dtype=np.float64)


@dataclass(frozen=True)
class Uniform(_Encoded):
    """U[low, high]."""

    low: float
    high: float

    def __post_init__(self) -> None:
        check_finite("Uniform: low", self.low)
        check_finite("Uniform: high", self.high)
        check_finite("Uniform: high - low", self.high - self.low)
        if self.low >= self.high:
            raise ValueError(f"Uniform: low = {self.low}, high = {self.high}: low must be < high")

    @property
    def mean(self) -> float:
        """E[X] = (low + high) / 2."""
        return self.low + (self.high - self.low) / 2

    @property
    def variance(self) -> float:
        """V[X] = (high - low)^2 / 12."""
        return (self.high - self.low) ** 2 / 12

    @cached_property
    def code(self) -> Code:
        """The distribution as plain data."""
        return PIECES, np.array([0.0, 1.0, self.low, self.high], dtype=np.float64)


@dataclass(frozen=True)
class Mixture(_Encoded):
    """components[i] with probabilities[i]; the components are uniform and may overlap."""

    components: Sequence[Uniform]
    probabilities: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))
        object.__setattr__(self, "probabilities", tuple(self.probabilities))
        for i, component in enumerate(self.components):
            if not isinstance(component, Uniform):
                raise ValueError(f"Mixture: components[{i}] = {component!r}: must be a Uniform")
        if not self.components or len(self.components) != len(self.probabilities):
            counts = f"{len(self.components)} components and {len(self.probabilities)} probabilities"
            raise ValueError(f"Mixture: {counts}: give one probability for each component, and at least one component")
        for i, p in enumerate(self.probabilities):
            check_finite(f"Mixture: probabilities[{i}]", p, least=0.0)
        if not math.isclose(math.fsum(self.probabilities), 1.0, abs_tol=1e-9):
            raise ValueError(f"Mixture: probabilities = {self.probabilities}: must sum to 1")

    @property
    def mean(self) -> float:
        """E[X] = sum_i p_i E[X_i]."""
        return math.fsum(p * c.mean for p, c in zip(self.probabilities, self.components, strict=True))

    @property
    def variance(self) -> float:
        """V[X] = sum_i p_i (V[X_i] + (E[X_i] - E[X])^2)."""
        pairs = zip(self.probabilities, self.components, strict=True)
        return math.fsum(p * (c.variance + (c.mean - self.mean) ** 2) for p, c in pairs)

    @cached_property
    def code(self) -> Code:
        """The distribution function is piecewise linear: (F(low), F(high), low, high) of each piece that rises."""
        present = [c for p, c in zip(self.probabilities, self.components, strict=True) if p > 0]
        edges = sorted({edge for c in present for edge in (c.low, c.high)})
        levels = [self._probability_below(edge) for edge in edges]
        levels[-1] = 1.0
        pieces = zip(levels, levels[1:], edges, edges[1:], strict=False)
        return PIECES, np.array([number for piece in pieces if piece[1] > piece[0] for number in piece])

    def _probability_below(self, x: float) -> float:
        shares = [min(1.0, max(0.0, (x - c.low) / (c.high - c.low))) for c in self.components]
        total = math.fsum(self.probabilities)
        return math.fsum(p * share for p, share in zip(self.probabilities, shares, strict=True)) / total


NOISES: Final[Mapping[str, Gaussian | Pareto | Uniform | Mixture]] = MappingProxyType(
    {
        "gaussian": Gaussian(-1.0, 20.0),
        "pareto": Pareto(-1.0, 20.0, 3.0),
        "uniform": Uniform(-25.0, 23.0),
        "handcraft": Mixture((Uniform(-2.0, 0.0), Uniform(-57.0, -56.0), Uniform(54.0, 55.0)), (0.90, 0.05, 0.05)),
    }
)
"""The rewards of the Maze's red cell, by name; the mean of each is -1."""


def encode(noise: object) -> Code:
    """The distribution as plain data, for `quantile_of`."""
    if not isinstance(noise, _Encoded):
        raise ValueError(f"noise {noise!r} has no compiled form: use Gaussian, Pareto, Uniform or Mixture")
    return noise.code

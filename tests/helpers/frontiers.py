"""Small problems whose return has a law that can be computed, and the best of E[G0] - lam D[G0] on each.

A problem is finite: chances that do not depend on what was done, and tables that say what follows and what is earned,
in whole units, so that a return is a whole number too and its law an array. `law` is exact for any policy; `best`
searches the deterministic policies that look at the state and the step, which is what a network sees as well:
from the best of a family that is enumerated (base stocks, constant orders, an allocation for each regime) it goes
uphill by exact gradients of E - lam D, so it is a local optimum of all of them and at least the family's best. A
policy that draws its actions may do better still where D rewards mixing; so may one that remembers what it earned.
Returns are not discounted. `scale` multiplies every reward.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from steadyrl import measures

NINE = (
    "variance",
    "standard_deviation",
    "semi_variance",
    "semi_standard_deviation",
    "gini_deviation",
    "mean_deviation",
    "mean_median_deviation",
    "cvar_deviation",
    "inter_quantile_range",
)
"""The measures of the paper."""


@dataclass(frozen=True, eq=False)
class Problem:
    """S states, A actions, K chances of each step, the same at every step."""

    name: str
    horizon: int
    start: int
    chances: np.ndarray
    """(K,): their probabilities."""
    following: np.ndarray
    """(S, A, K): the next state."""
    earned: np.ndarray
    """(S, A, K): the reward in units."""
    unit: float
    """What a unit is worth."""
    family: Callable[[], Iterator[np.ndarray]]
    """Policies to begin with: (horizon, S) actions each."""

    @property
    def lowest(self) -> int:
        """A return that none is below, in units."""
        return int(min(self.earned.min(), 0)) * self.horizon

    @property
    def width(self) -> int:
        """How many returns the array of a law has."""
        return int(max(self.earned.max(), 0)) * self.horizon - self.lowest + 1

    @property
    def returns(self) -> np.ndarray:
        """The returns that a law gives probabilities to."""
        return self.unit * (self.lowest + np.arange(self.width))


def laws(problem: Problem, policy: np.ndarray) -> np.ndarray:
    """(horizon + 1, S, width): P(state, return so far) before each step and at the end, for (horizon, S) actions."""
    distributions = np.zeros((problem.horizon + 1, len(problem.following), problem.width))
    distributions[0, problem.start, -problem.lowest] = 1.0
    for t in range(problem.horizon):
        for s in np.flatnonzero(distributions[t].any(axis=-1)):
            a = policy[t, s]
            for k, p in enumerate(problem.chances):
                distributions[t + 1, problem.following[s, a, k]] += p * _moved(
                    distributions[t, s], problem.earned[s, a, k]
                )
    return distributions


def law(problem: Problem, policy: np.ndarray) -> np.ndarray:
    """The probability of each of `problem.returns`."""
    return laws(problem, policy)[-1].sum(axis=0)


def variability(measure: str, returns: np.ndarray, chances: np.ndarray) -> float:
    """D of a law. Of a sample, the package's inter-quantile range interpolates; a law has its quantiles."""
    present = chances > 0
    x, p = returns[present], chances[present] / chances[present].sum()
    if measure != "inter_quantile_range":
        return measures.get(measure).value(x, p)
    reached = np.cumsum(p)
    low, high = (x[np.searchsorted(reached, level - 1e-12)] for level in (0.1, 0.9))
    return float(high - low)


def objective(measure: str, lam: float, returns: np.ndarray, chances: np.ndarray) -> float:
    """E - lam D of a law."""
    return float(returns @ chances) - lam * variability(measure, returns, chances)


@dataclass(frozen=True)
class Best:
    """The best policy known for E - lam D, with its law's mean and variability."""

    objective: float
    mean: float
    variability: float
    policy: np.ndarray


@cache
def best(problem: Problem, measure: str, lam: float, scale: float = 1.0, starts: int = 2) -> Best:
    """The best of the family, then uphill from a few of them; `lam` belongs to rewards multiplied by `scale`."""
    returns = scale * problem.returns
    policies, chances = _family(problem)
    values = np.array([objective(measure, lam, returns, row) for row in chances])
    ends = [_top(problem, measure, lam, returns, policies[k], values[k]) for k in np.argsort(-values)[:starts]]
    value, policy = max(ends, key=lambda end: end[0])
    end = law(problem, policy)
    return Best(value, float(returns @ end), variability(measure, returns, end), policy)


def _top(
    problem: Problem, measure: str, lam: float, returns: np.ndarray, policy: np.ndarray, value: float
) -> tuple[float, np.ndarray]:
    while (better := _uphill(problem, measure, lam, returns, policy, value)) is not None:
        value, policy = better
    return value, policy


@cache
def _family(problem: Problem) -> tuple[list[np.ndarray], np.ndarray]:
    policies = list(problem.family())
    return policies, np.array([law(problem, policy) for policy in policies])


def _uphill(
    problem: Problem, measure: str, lam: float, returns: np.ndarray, policy: np.ndarray, value: float
) -> tuple[float, np.ndarray] | None:
    """Another action where the gradient by the policy promises most: everywhere, or at as few places as it takes."""
    before = laws(problem, policy)
    promise = action_values(problem, measure, lam, returns, policy, before)
    gain = promise.max(axis=-1) - np.take_along_axis(promise, policy[..., None], axis=-1)[..., 0]
    places = np.argsort(-gain, axis=None)[: int(np.sum(gain > 1e-9 * max(abs(value), 1e-9)))]
    while places.size:
        t, s = np.unravel_index(places, policy.shape)
        other = policy.copy()
        other[t, s] = promise[t, s].argmax(axis=-1)
        candidate = objective(measure, lam, returns, law(problem, other))
        if candidate > value + 1e-9 * abs(value):
            return candidate, other
        places = places[: len(places) // 2]
    return None


def action_values(
    problem: Problem, measure: str, lam: float, returns: np.ndarray, policy: np.ndarray, before: np.ndarray
) -> np.ndarray:
    """(horizon, S, A): d (E - lam D) / d pi(a | s, t), up to a constant for each (s, t).

    That of the law of returns is x - lam IF(x); what is expected of it from (s, return so far, t) is found backwards.
    """
    end = before[-1].sum(axis=0)
    present = end > 1e-15
    slope = returns - lam * _influence(measure, returns, end / end.sum(), present)
    ahead = np.broadcast_to(slope, before.shape[1:]).copy()
    states, actions, _ = problem.following.shape
    values = np.zeros((problem.horizon, states, actions))
    for t in range(problem.horizon - 1, -1, -1):
        earlier = np.zeros_like(ahead)
        for s in range(states):
            reached = before[t, s].any()
            for a in range(actions) if reached else (policy[t, s],):
                nodes = zip(problem.chances, problem.following[s, a], problem.earned[s, a], strict=True)
                expected = sum(p * _moved(ahead[s2], -r) for p, s2, r in nodes)
                values[t, s, a] = before[t, s] @ expected
                if a == policy[t, s]:
                    earlier[s] = expected
        ahead = earlier
    return values


def _influence(measure: str, returns: np.ndarray, p: np.ndarray, present: np.ndarray) -> np.ndarray:
    """IF(x) at every return, also at those that have no probability yet: they are given a trace of it."""
    trace = np.where(present, p, 1e-12)
    return measures.get(measure).influence(returns, trace / trace.sum())


def _moved(row: np.ndarray, by: int) -> np.ndarray:
    """An array of returns shifted; what falls over its end is never reached."""
    out = np.zeros_like(row)
    out[max(by, 0) : len(row) + min(by, 0)] = row[max(-by, 0) : len(row) - max(by, 0)]
    return out


# The problems

WEEKS = 26
SHELF = 16
LARGEST_ORDER = 10
DEMANDS, DEMAND_CHANCES = np.array([2, 3, 4, 14]), np.array([0.31, 0.31, 0.31, 0.07])
DAYS, LARGEST_STOCK = 5, 20
NEWS_DEMANDS = np.arange(3, 20)
NEWS_CHANCES = np.array([1, 2, 3, 5, 7, 9, 10, 10, 10, 9, 8, 7, 6, 5, 4, 3, 1]) / 100
QUARTERS, UNITS = 12, 5
PAYOFFS = np.array([[4, -1], [8, -8]])
"""Of a unit in the wild asset: good or bad, in calm and in storm; a unit in the safe one earns SAFE."""
SAFE = 1


def _inventory() -> Problem:
    """Order 0 to 10 a week, at 2 each; sell at 5; 1/2 for each one left over, 5 for each one missing."""
    stock = np.arange(SHELF + 1)[:, None, None]
    orders = np.arange(LARGEST_ORDER + 1)[None, :, None]
    stock_after = np.minimum(stock + orders, SHELF)
    left = np.maximum(stock_after - DEMANDS, 0)
    sold, missing = stock_after - left, np.maximum(DEMANDS - stock_after, 0)
    earned = 10 * sold - 4 * (stock_after - stock) - left - 10 * missing

    def base_stocks() -> Iterator[np.ndarray]:
        for level in range(SHELF + 1):
            for last in range(min(level, 5) + 1):  # a lower one in the last week
                order = np.clip(level - np.arange(SHELF + 1), 0, LARGEST_ORDER)
                policy = np.tile(order, (WEEKS, 1))
                policy[-1] = np.clip(last + (level - min(level, 5)) - np.arange(SHELF + 1), 0, LARGEST_ORDER)
                yield policy

    return Problem("inventory", WEEKS, 0, DEMAND_CHANCES, left, earned, 0.5, base_stocks)


def _newsvendor() -> Problem:
    """Stock bought at 3 and sold at 5, on days that have nothing to do with each other; quarters of a unit."""
    levels = np.arange(0, 4 * LARGEST_STOCK + 1)
    earned = (5 * np.minimum(levels[:, None], 4 * NEWS_DEMANDS) - 3 * levels[:, None])[None]

    def constant_orders() -> Iterator[np.ndarray]:
        return (np.full((DAYS, 1), level) for level in levels)

    return Problem("newsvendor", DAYS, 0, NEWS_CHANCES, np.zeros_like(earned), earned, 0.25, constant_orders)


def _portfolio() -> Problem:
    """Five units, of which 0 to 5 are in an asset that is wild, and wilder in a storm; the regime lasts or changes."""
    wild = np.arange(UNITS + 1)[None, :, None]
    good_or_bad, changes = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    earned = wild * PAYOFFS[:, None, good_or_bad] + (UNITS - wild) * SAFE
    regime = np.arange(2)[:, None, None]
    following = np.broadcast_to(np.where(changes == 1, 1 - regime, regime), earned.shape)
    chances = np.outer([0.8, 0.2], [0.6, 0.4]).ravel()

    def allocations() -> Iterator[np.ndarray]:
        for calm in range(UNITS + 1):
            for storm in range(UNITS + 1):
                yield np.tile([calm, storm], (QUARTERS, 1))

    return Problem("portfolio", QUARTERS, 0, chances, following, earned, 1.0, allocations)


PROBLEMS = {problem.name: problem for problem in (_inventory(), _newsvendor(), _portfolio())}


class Frontier(gym.Env[Any, Any]):
    """A problem to be played. Observations are the state and the step, as they are; actions are numbered."""

    def __init__(self, problem: str, scale: float = 1.0) -> None:
        self.problem, self.scale = PROBLEMS[problem], scale
        states, actions, _ = self.problem.following.shape
        most = np.array([max(states - 1, 1), self.problem.horizon], dtype=np.float32)
        self.observation_space = spaces.Box(np.zeros(2, np.float32), most)
        self.action_space: spaces.Space[Any] = spaces.Discrete(actions)
        self._reached = np.cumsum(self.problem.chances)[:-1]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.t, self.state = 0, self.problem.start
        return self._observation(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        units, self.state = self.happens(action, int(np.searchsorted(self._reached, self.np_random.random())))
        self.t += 1
        return self._observation(), self.scale * self.problem.unit * units, self.t == self.problem.horizon, False, {}

    def happens(self, action: Any, chance: int) -> tuple[float, int]:
        """Units earned, and the next state."""
        at = self.state, int(action), chance
        return float(self.problem.earned[at]), int(self.problem.following[at])

    def _observation(self) -> np.ndarray:
        return np.array([self.state, self.t], dtype=np.float32)


class Newsvendor(Frontier):
    """The newsvendor with any real order from 0 to 20, not only quarters."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__("newsvendor", scale)
        self.action_space = spaces.Box(0.0, float(LARGEST_STOCK), (1,), np.float32)

    def happens(self, action: Any, chance: int) -> tuple[float, int]:
        """Units earned, and the only state."""
        stock = float(np.clip(np.asarray(action).item(), 0.0, LARGEST_STOCK))
        return 4.0 * (5.0 * min(stock, float(NEWS_DEMANDS[chance])) - 3.0 * stock), 0


def lam_for(problem: Problem, measure: str, share: float, scale: float = 1.0) -> float:
    """The lam at which lam D takes this share of the mean of the policy that is best without a penalty."""
    neutral = best(problem, measure, 0.0)
    degree = measures.get(measure).facts.degree or 1
    return share * neutral.mean / neutral.variability * scale ** (1 - degree)


def make(name: str, scale: float = 1.0) -> gym.Env[Any, Any]:
    """The environment of a problem."""
    env = Newsvendor(scale) if name == "newsvendor" else Frontier(name, scale)
    return TimeLimit(env, PROBLEMS[name].horizon + 1)

"""Exact expectations of gradient estimators: every sample of n from a small discrete law, with its probability."""

from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np

POINTS = np.array([-2.0, 0.5, 1.0, 4.0])
LOGITS = np.array([0.3, -0.2, 0.5, -0.7])
P = np.exp(LOGITS) / np.exp(LOGITS).sum()
SCORES = np.eye(P.size) - P
"""SCORES[k] = grad log p_k for softmax probabilities."""


def expected_gradient(coefficients: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    """E[(1/n) sum_i c_i score_i] over all samples of n."""
    index = np.array(list(product(range(P.size), repeat=n)))
    probability = np.prod(P[index], axis=1)
    c = coefficients(POINTS[index])
    return np.einsum("s,si,sik->k", probability, c, SCORES[index]) / n


def exact_gradient(influence: np.ndarray) -> np.ndarray:
    """sum_k p_k IF(x_k) score_k."""
    return (P * influence) @ SCORES


def all_splits(n: int) -> Iterator[np.ndarray]:
    """Orders of n trajectories, one for each way to choose the first half."""
    for first in combinations(range(n), (n + 1) // 2):
        rest = [i for i in range(n) if i not in first]
        yield np.array([*first, *rest])


def numerical_gradient(expected_value: Callable[[np.ndarray], float]) -> np.ndarray:
    """grad of a function of the probabilities, in the logits, by central differences."""

    def at(logits: np.ndarray) -> float:
        p = np.exp(logits)
        return expected_value(p / p.sum())

    step = 1e-5
    return np.array([(at(LOGITS + step * e) - at(LOGITS - step * e)) / (2 * step) for e in np.eye(P.size)])

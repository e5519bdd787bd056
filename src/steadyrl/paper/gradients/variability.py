"""The variability gradient of batches of a table's episodes, in closed form."""

import numpy as np

from steadyrl.algorithms.in_step import Episodes
from steadyrl.ground.shapes import Array, Float


def variability_gradients(
    policies: Float[Array, "runs states actions"], episodes: Episodes, weights: Float[Array, "runs batches m T"]
) -> Float[Array, "runs batches states actions"]:
    """(1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it) of each batch, by the closed form for a softmax table.

    The derivative by theta[s, a] of log pi(a_t | s_t) is 1{s_t = s} (1{a_t = a} - pi(a | s)).

    Args:
        policies: pi.
        episodes: Those of each run's batches one after another, (runs, batches * n).
        weights: Of each step of each batch.
    """
    states, actions, _, lengths = episodes
    runs, batches, n, _ = weights.shape
    _, n_states, n_actions = policies.shape
    counts = np.empty((runs, batches, n_states, n_actions))
    mask = np.arange(states.shape[-1]) < lengths[..., None]
    batch = np.repeat(np.arange(batches), n)
    for r in range(runs):
        pairs = states[r][mask[r]].astype(np.int64) * n_actions + actions[r][mask[r]]
        places = np.repeat(batch, lengths[r]) * (n_states * n_actions) + pairs
        own = weights[r].reshape(states[r].shape)[mask[r]]
        counts[r] = np.bincount(places, own, minlength=counts[r].size).reshape(counts[r].shape)
    return (counts - counts.sum(axis=-1, keepdims=True) * policies[:, None]) / n

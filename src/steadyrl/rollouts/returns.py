"""From rewards to returns, rewards-to-go and advantages. Shapes: n episodes, T padded steps."""

import numpy as np

from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray


def discounted_returns(rewards: Float[Array, "n T"], gamma: float) -> Float[Array, " n"]:
    """R_tau = sum_t gamma^t r_(t+1) (eq:G_t, with gamma R_(t+2) for its second term); padding is 0 and adds nothing."""
    return rewards @ gamma ** np.arange(rewards.shape[1])


def reward_to_go(rewards: Float[Array, "n T"], gamma: float) -> Float[Array, "n T"]:
    """R_(tau,t) = r_(t+1) + gamma R_(tau,t+1) (eq:reinforce)."""
    out = np.empty_like(rewards)
    ahead = np.zeros(len(rewards))
    for t in range(rewards.shape[1] - 1, -1, -1):
        ahead = rewards[:, t] + gamma * ahead
        out[:, t] = ahead
    return out


def generalised_advantages(
    rewards: Float[Array, "n T"],
    values: Float[Array, "n T"],
    last_values: Float[Array, " n"],
    lengths: Int[IntArray, " n"],
    terminated: Bool[BoolArray, " n"],
    gamma: float,
    gae_lambda: float,
) -> Float[Array, "n T"]:
    """A_t = sum_k (gamma gae_lambda)^k delta_(t+k), delta_t = r_(t+1) + gamma V(s_(t+1)) - V(s_t).

    After the last step V is 0 if the episode was terminated and `last_values` if it was truncated. 0 in the padding.
    """
    n, steps = rewards.shape
    out = np.zeros_like(rewards)
    next_value = np.zeros(n)
    advantage = np.zeros(n)
    for t in range(steps - 1, -1, -1):
        ending = lengths == t + 1
        live = lengths > t
        next_value = np.where(ending, np.where(terminated, 0.0, last_values), next_value)
        delta = rewards[:, t] + gamma * next_value - values[:, t]
        advantage = np.where(live, delta + gamma * gae_lambda * advantage, 0.0)
        next_value = np.where(live, values[:, t], next_value)
        out[:, t] = advantage
    return out

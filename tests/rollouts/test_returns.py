"""Returns, rewards-to-go and advantages against their sums written out."""

import numpy as np
import pytest

from steadyrl.rollouts.returns import discounted_returns, generalised_advantages, reward_to_go


def episodes(seed=0, n=6, steps=9):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, steps + 1, n)
    mask = np.arange(steps) < lengths[:, None]
    return rng.normal(size=(n, steps)) * mask, lengths, mask, rng


@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.0])
def test_returns_and_rewards_to_go(gamma):
    rewards, lengths, _, _ = episodes()
    to_go = reward_to_go(rewards, gamma)
    for i, length in enumerate(lengths):
        for t in range(length):
            assert to_go[i, t] == pytest.approx(sum(gamma ** (u - t) * rewards[i, u] for u in range(t, length)))
        assert discounted_returns(rewards, gamma)[i] == pytest.approx(to_go[i, 0])


@pytest.mark.parametrize("gae_lambda", [1.0, 0.95, 0.0])
def test_generalised_advantages(gae_lambda):
    """Each advantage is the discounted sum of the temporal differences ahead; truncated episodes are bootstrapped."""
    rewards, lengths, mask, rng = episodes(1)
    values = rng.normal(size=rewards.shape)
    last = rng.normal(size=len(lengths))
    gamma = 0.97
    terminated = rng.random(len(lengths)) < 0.5
    advantages = generalised_advantages(rewards, values, last, lengths, terminated, gamma, gae_lambda)
    assert terminated.any()
    assert not terminated.all()
    for i, length in enumerate(lengths):
        end = 0.0 if terminated[i] else last[i]
        ahead = [*values[i, 1:length], end]
        delta = rewards[i, :length] + gamma * np.array(ahead) - values[i, :length]
        for t in range(length):
            expected = sum((gamma * gae_lambda) ** (u - t) * delta[u] for u in range(t, length))
            assert advantages[i, t] == pytest.approx(expected)
    assert not advantages[~mask].any()

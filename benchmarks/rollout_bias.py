"""How much of the penalty's gradient is left where episodes outlast a rollout: measured against the exact gradient.

    python benchmarks/rollout_bias.py [--episodes 200000]

One decision, when an episode begins: the steady way pays 0, the other +1 or -1 by the toss of a coin; nothing happens
after it. Either way has a length of its own. The policy takes the risky way with probability p, so the Gini deviation
and its derivative by the logit of p are known exactly. What `RolloutPenalty` gives to the step of the decision, times
that step's score, summed over rollouts and divided by the number of episodes, is the estimate; `left` is its share of
the exact derivative, without a critic and with one, which sees from the second step on which way was taken. The
environments side by side begin at all places of an episode in equal numbers.
"""

import argparse

import numpy as np
import torch

from steadyrl.integrations.rollout import RolloutPenalty

ENVS = 240
FIRST = 10
"""Rollouts that are not counted: environments begin in the middle of an episode that has no action."""
CASES = ((1, 1, 20), (10, 10, 40), (10, 10, 20), (20, 20, 20), (30, 30, 20), (5, 20, 40), (20, 5, 40), (2, 40, 40))
"""Steps of a risky episode, of a steady one, and of a rollout."""


def exact_derivative(p):
    """Of GD = 1/2 E|X - X'| by the logit of p.

    Two returns are 1 apart if just one of them is risky, 2 if both are and the coins differ: GD = p (1 - p) + p^2 / 2.
    """
    return (1.0 - p) * p * (1.0 - p)


def predicted(p, risky, steady, rollout):
    """Each action's share of penalised decisions, weighted by the probability of the other action."""
    share_risky, share_steady = (max(0.0, 1.0 - (length - 1) / rollout) for length in (risky, steady))
    return (1.0 - p) * share_risky + p * share_steady


def measured(p, risky, steady, rollout, episodes, critic, seed=0):
    """The share of the exact derivative that is left, and its standard error."""
    rng = np.random.default_rng(seed)
    penalty = RolloutPenalty("gini_deviation", lam=1.0, gamma=1.0, episodes=100)
    penalty._warned = True
    action, left = np.zeros(ENVS, bool), np.arange(ENVS) % max(risky, steady)
    penalty.begin(left == 0)
    sums, begun = [], []
    seen = np.zeros((ENVS, 2))
    for _ in range(FIRST + 2 + episodes * max(risky, steady) // (ENVS * rollout)):
        scores, observations = np.zeros((rollout, ENVS)), []
        for t in range(rollout):
            new = left == 0
            drawn = rng.random(ENVS) < p
            action = np.where(new, drawn, action)
            left = np.where(new, np.where(drawn, risky, steady), left)
            scores[t] = np.where(new, action - p, 0.0)
            left = left - 1
            observations.append(seen)
            seen = np.where((left == 0)[:, None], 0.0, np.stack([action, ~action], axis=1))
            coin = np.where(rng.random(ENVS) < 0.5, 1.0, -1.0)
            penalty.add(np.where((left == 0) & action, coin, 0.0), left == 0)
        begun.append(np.count_nonzero(scores))
        penalties = penalty.take(np.array(observations), seen) if critic else penalty.take()
        sums.append((penalties * scores).sum())
    own, many = np.array(sums[FIRST:]), np.array(begun[FIRST:])
    ratio = own.sum() / many.sum()
    error = np.std(own - ratio * many, ddof=1) * np.sqrt(own.size) / many.sum()
    return ratio / exact_derivative(p), error / exact_derivative(p)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=200_000, help="about so many of each case")
    episodes = parser.parse_args().episodes
    torch.set_num_threads(1)
    head = ("risky episode", "steady episode", "rollout", "p", "left", "by the formula", "with the critic")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for risky, steady, rollout in CASES:
        for p in (0.5,) if risky == steady else (0.2, 0.8):
            plain, own = (measured(p, risky, steady, rollout, episodes, critic) for critic in (False, True))
            formula = predicted(p, risky, steady, rollout)
            numbers = [f"{plain[0]:.3f} ± {plain[1]:.3f}", f"{formula:.3f}", f"{own[0]:.3f} ± {own[1]:.3f}"]
            print(f"| {risky} | {steady} | {rollout} | {p} | {' | '.join(numbers)} |", flush=True)


if __name__ == "__main__":
    main()

"""The penalty's own advantages in a rollout, against loops over its episodes."""

import numpy as np
import pytest

from steadyrl.integrations import RolloutPenalty, rollout_critic

GAMMA = 0.9
LENGTHS = ((3, 5, 2, 4, 6), (5, 2, 6, 3, 4), (4, 4, 4, 4, 4))
STEPS = sum(LENGTHS[0])


def rollout(seed=0):
    """Rewards, ends and values of three environments, 15 episodes, all of which end with the rollout."""
    rng = np.random.default_rng(seed)
    ends = np.zeros((STEPS, 3), dtype=bool)
    for env, lengths in enumerate(LENGTHS):
        ends[np.cumsum(lengths) - 1, env] = True
    return rng.normal(1.0, 3.0, (STEPS, 3)), ends, rng.normal(0.0, 5.0, (STEPS, 3))


def taken(rewards, ends, values=None, **options):
    penalty = RolloutPenalty("gini_deviation", lam=0.5, gamma=GAMMA)
    for reward, end in zip(rewards, ends, strict=True):
        penalty.add(reward, end)
    return penalty.take(values, **options)


def episodes(rewards, ends, values):
    """For each episode, in the order in which they end: environment, steps, and the promised return of each step."""
    found = []
    for env in range(ends.shape[1]):
        first = 0
        for last in np.flatnonzero(ends[:, env]):
            steps = np.arange(first, last + 1)
            discounts = GAMMA ** np.arange(len(steps))
            paid = discounts * rewards[steps, env]
            promised = np.concatenate([[0.0], np.cumsum(paid)[:-1]]) + discounts * values[steps, env]
            found.append((last, env, steps, promised))
            first = last + 1
    return [(env, steps, promised) for _, env, steps, promised in sorted(found, key=lambda one: one[:2])]


def lines(penalties, own_episodes):
    """b of each step of each episode, fitted by hand to the episodes of the other half."""
    everything = np.concatenate([promised for *_, promised in own_episodes])

    def inputs(promised):
        x = np.clip((promised - everything.mean()) / everything.std(), -3.0, 3.0)
        return np.stack([np.ones_like(x), x, np.maximum(x, 0.0)], axis=1)

    predicted = []
    for number, (*_, promised) in enumerate(own_episodes):
        others = [one for k, one in enumerate(own_episodes) if k % 2 != number % 2]
        rows = np.concatenate([inputs(other) for *_, other in others])
        targets = np.concatenate([penalties[steps, env] for env, steps, _ in others])
        ridge = np.sqrt(0.05 * len(rows)) * np.eye(3)
        weights = np.linalg.lstsq(np.concatenate([rows, ridge]), np.concatenate([targets, np.zeros(3)]), rcond=None)[0]
        predicted.append(inputs(promised) @ weights)
    return predicted


@pytest.mark.parametrize("decay", [0.0, 0.6, 0.95, 1.0])
def test_shares_are_the_decayed_differences_of_the_prediction_up_to_the_penalty_itself(decay):
    rewards, ends, values = rollout()
    plain = taken(rewards, ends)
    expected = np.zeros_like(plain)
    own_episodes = episodes(rewards, ends, values)
    for (env, steps, _), b in zip(own_episodes, lines(plain, own_episodes), strict=True):
        path = np.append(b, plain[steps[0], env])
        for k, step in enumerate(steps):
            differences = np.diff(path[k:])
            expected[step, env] = differences @ decay ** np.arange(len(differences))
    np.testing.assert_allclose(taken(rewards, ends, values, critic_lambda=decay), expected, atol=1e-10)


def test_at_a_decay_of_1_a_share_is_the_penalty_less_what_other_episodes_predict():
    """So no episode's own penalty is in the prediction that is subtracted from it."""
    rewards, ends, values = rollout()
    plain = taken(rewards, ends)
    owners = np.cumsum(ends, axis=0) - ends + 5 * np.arange(3)
    inputs = rollout_critic.terms(values, owners >= 0)
    before = rollout_critic.predictions(plain, owners, inputs)
    changed = plain + np.where(owners == 4, 100.0, 0.0)
    after = rollout_critic.predictions(changed, owners, inputs)
    np.testing.assert_array_equal(after[owners == 4], before[owners == 4])
    assert (after[owners % 2 == 1] != before[owners % 2 == 1]).all()


@pytest.mark.parametrize("shape", [(STEPS, 1), (STEPS,), (STEPS + 1, 3)])
def test_values_of_another_shape_are_refused(shape):
    rewards, ends, _ = rollout()
    with pytest.raises(ValueError, match=r"values have the shape .*: must be \(20, 3\), one for each step"):
        taken(rewards, ends, np.zeros(shape))


def test_steps_of_unfinished_episodes_have_none():
    rewards, ends, values = rollout()
    ends[-1, 1] = False
    shares = taken(rewards, ends, values)
    assert (shares[-4:, 1] == 0).all()
    assert (shares[:-4] != 0).all()


def test_it_is_less_noisy_where_values_know_the_return():
    """Five episodes of 20 steps in each environment; nothing is to be expected of the future, which the values say."""
    rewards = np.random.default_rng(1).normal(0.0, 1.0, (100, 40))
    ends = np.tile(np.arange(100)[:, None] % 20 == 19, 40)
    assert taken(rewards, ends, np.zeros((100, 40))).std() < 0.8 * taken(rewards, ends).std()

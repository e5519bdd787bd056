"""The penalty's own critic and advantages in rollouts, against loops over episodes."""

import numpy as np
import pytest

from steadyrl.integrations import RolloutPenalty
from steadyrl.integrations.rollout_critic import RolloutCritic, shares

GAMMA = 0.9
LENGTHS = ((3, 5, 2, 4, 6), (5, 2, 6, 3, 4), (4, 4, 4, 4, 4))
STEPS = sum(LENGTHS[0])
LAM = 0.5


def rollout(seed=0):
    """Rewards, ends and observations of three environments, 15 episodes, all of which end with the rollout."""
    rng = np.random.default_rng(seed)
    ends = np.zeros((STEPS, 3), dtype=bool)
    for env, lengths in enumerate(LENGTHS):
        ends[np.cumsum(lengths) - 1, env] = True
    return rng.normal(1.0, 3.0, (STEPS, 3)), ends, rng.normal(0.0, 5.0, (STEPS + 1, 3, 2))


def begun():
    return RolloutPenalty("gini_deviation", lam=LAM, gamma=GAMMA)


def taken(penalty, rewards, ends, observations=None, **options):
    for reward, end in zip(rewards, ends, strict=True):
        penalty.add(reward, end)
    return penalty.take() if observations is None else penalty.take(observations[:-1], observations[-1], **options)


def histories(rewards, ends):
    """Return and length before each step, and after the last one."""
    found = np.zeros((STEPS + 1, 3, 2))
    for t in range(STEPS):
        for env in range(3):
            so_far, length = found[t, env]
            found[t + 1, env] = 0.0 if ends[t, env] else (so_far + GAMMA**length * rewards[t, env], length + 1)
    return found


def by_loops(b, c, ends, decay):
    """The sum over k of decay^k (b_{t+k+1} - b_t+k) up to the end of the episode, or of the rollout."""
    expected = np.zeros_like(c)
    for env in range(c.shape[1]):
        for t in range(len(c)):
            weight = 1.0
            for k in range(t, len(c)):
                after = c[k, env] if ends[k, env] else b[k + 1, env]
                expected[t, env] += weight * (after - b[k, env])
                weight *= decay
                if ends[k, env]:
                    break
    return expected


@pytest.mark.parametrize("decay", [0.0, 0.6, 0.95, 1.0])
def test_shares_are_the_decayed_differences_of_the_prediction_up_to_the_coefficient_itself(decay):
    _, ends, observations = rollout()
    ends[-1, 1] = False  # one episode goes on beyond the rollout
    b, c = observations[..., 0], observations[1:, :, 1]
    after = np.where(ends, c, b[1:])
    np.testing.assert_allclose(shares(b[:-1], after, ends, decay), by_loops(b, c, ends, decay), atol=1e-12)


def test_the_first_rollout_has_the_plain_penalty_at_a_decay_of_1():
    """The critic says 0 before it has seen anything."""
    rewards, ends, observations = rollout()
    plain = taken(begun(), rewards, ends)
    np.testing.assert_allclose(taken(begun(), rewards, ends, observations, critic_lambda=1.0), plain, atol=1e-12)


@pytest.mark.parametrize("decay", [0.6, 1.0])
def test_the_second_has_what_a_critic_says_that_learned_from_the_first(decay):
    penalty, plain, critic = begun(), begun(), RolloutCritic(4)
    rewards, ends, observations = rollout()
    taken(penalty, rewards, ends, observations)
    rows = np.concatenate([observations, histories(rewards, ends)], axis=-1)
    critic.learn(rows[:-1].reshape(-1, 4), taken(plain, rewards, ends).ravel() / LAM)
    rewards, ends, observations = rollout(1)
    ends[-1, 1] = False
    c = taken(plain, rewards, ends) / LAM
    b = critic.predict(np.concatenate([observations, histories(rewards, ends)], axis=-1))
    assert b.std() > 0.1 * c.std()
    expected = LAM * by_loops(b, c, ends, decay)
    np.testing.assert_allclose(taken(penalty, rewards, ends, observations, critic_lambda=decay), expected, rtol=1e-6)
    assert (expected[-4:, 1] != 0).all()  # steps of the unfinished episode
    assert penalty.logged["penalised"] == 1.0


def test_at_a_decay_of_1_what_is_subtracted_knows_nothing_of_what_comes_after():
    """So the expected gradient is the plain penalty's: b of a step is the same whatever the rollout does later."""
    rewards, ends, observations = rollout(1)
    subtracted = []
    for later in (0.0, 10.0):
        penalty, plain = begun(), begun()
        for one in (penalty, plain):
            taken(one, *rollout()[:2], *([rollout()[2]] if one is penalty else []))
        changed = rewards.copy()
        changed[10:] += later
        with_critic = taken(penalty, changed, ends, observations, critic_lambda=1.0)
        subtracted.append(taken(plain, changed, ends) - with_critic)
    np.testing.assert_allclose(subtracted[0][:11], subtracted[1][:11], atol=1e-6)
    assert np.abs(subtracted[0][11:] - subtracted[1][11:]).max() > 1e-3


def test_an_episode_whose_beginning_is_not_known_has_no_penalty_and_teaches_nothing():
    rewards, ends, observations = rollout()
    penalty = begun()
    penalty.begin([True, False, True])
    found = taken(penalty, rewards, ends, observations)
    assert (found[:5, 1] == 0).all()
    assert (found[5:, 1] != 0).all()
    ends[:, 1] = False  # it does not end in the rollout either
    penalty = begun()
    penalty.begin([True, False, True])
    found = taken(penalty, rewards, ends, observations)
    assert (found[:, 1] == 0).all()
    assert (found[:, 0] != 0).all()


@pytest.mark.parametrize(("steps", "passes"), [(100, 25), (2048, 25), (20_480, 2.5), (102_400, 0.5)])
def test_a_long_rollout_is_gone_over_less_often(monkeypatch, steps, passes):
    critic, learned_from = RolloutCritic(3), []
    squared_error = critic._network.squared_error

    def counted(inputs, goals):
        learned_from.append(len(inputs))
        return squared_error(inputs, goals)

    monkeypatch.setattr(critic._network, "squared_error", counted)
    critic.learn(np.random.default_rng(0).normal(size=(steps, 3)), np.ones(steps))
    assert sum(learned_from) == passes * steps
    assert len(learned_from) <= 200


def test_observations_of_another_size_begin_a_new_critic():
    penalty = begun()
    rewards, ends, observations = rollout()
    taken(penalty, rewards, ends, observations)
    found = taken(penalty, rewards, ends, observations[..., :1], critic_lambda=1.0)
    plain = begun()
    taken(plain, rewards, ends)
    np.testing.assert_allclose(found, taken(plain, rewards, ends), atol=1e-12)


def test_episodes_longer_than_a_rollout_are_warned_of_once():
    penalty = begun()
    observations = np.zeros((4, 1, 1))
    taken(penalty, np.ones((3, 1)), np.zeros((3, 1), dtype=bool), observations)
    with pytest.warns(
        UserWarning, match=r"episodes of 6 steps in rollouts of 3: the penalty's critic .* collect 12 steps"
    ):
        taken(penalty, np.ones((3, 1)), np.zeros((3, 1), dtype=bool), observations)
    taken(penalty, np.ones((3, 1)), np.zeros((3, 1), dtype=bool), observations)


def test_it_is_far_less_noisy_where_observations_tell_what_the_return_will_be():
    """Five episodes of 20 steps in each of 40 environments; nothing but the return so far is to be known."""
    plain, penalty = begun(), begun()
    ends = np.tile(np.arange(100)[:, None] % 20 == 19, 40)
    deviations = []
    for seed in range(10):
        rewards = np.random.default_rng(seed).normal(0.0, 1.0, (100, 40))
        noise = taken(plain, rewards, ends).std()
        deviations.append(taken(penalty, rewards, ends, np.zeros((101, 40, 1))).std() / noise)
    assert deviations[-1] < 0.6


@pytest.mark.parametrize(
    ("shape", "last"), [((STEPS, 1, 2), (3, 2)), ((STEPS + 1, 3, 2), (3, 2)), ((STEPS, 3, 2), (3,))]
)
def test_observations_of_another_shape_are_refused(shape, last):
    penalty = begun()
    rewards, ends, _ = rollout()
    for reward, end in zip(rewards, ends, strict=True):
        penalty.add(reward, end)
    with pytest.raises(ValueError, match=r"observations and last_observations have the shapes .*: must be \(20, 3\)"):
        penalty.take(np.zeros(shape), np.zeros(last))

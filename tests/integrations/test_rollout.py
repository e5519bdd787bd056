"""The penalty of a rollout, against episodes laid out by hand."""

import numpy as np
import pytest

from steadyrl.algorithms.ramp import YOUNG_SLACK
from steadyrl.algorithms.steadiness import monotone
from steadyrl.integrations import RolloutPenalty


def gini_coefficients(returns):
    """Unbiased, from the definition: n (D_n - D_{n-1} without i), D_n the mean of |x_i - x_j| / 2 over i != j."""
    x = np.asarray(returns)

    def value(sample):
        return np.abs(sample[:, None] - sample).sum() / (2 * len(sample) * (len(sample) - 1))

    return np.array([len(x) * (value(x) - value(np.delete(x, i))) for i in range(len(x))])


def played(penalty, rewards, ends):
    for reward, end in zip(rewards, ends, strict=True):
        penalty.add(reward, end)
    return penalty.take()


def test_each_step_of_an_episode_carries_its_coefficient_times_lam():
    penalty = RolloutPenalty(lam=0.5, gamma=0.5)
    rewards = np.array([[1.0, 3.0], [2.0, 0.0], [0.0, 7.0], [8.0, 1.0], [6.0, 5.0]])
    ends = np.array([[0, 1], [1, 0], [1, 0], [0, 1], [1, 1]], dtype=bool)
    # by end: env 1 (3), env 0 (1 + 2/2), env 0 (0), env 1 (0 + 7/2 + 1/4), then env 0 (8 + 6/2) and env 1 (5)
    c = gini_coefficients([3.0, 2.0, 0.0, 3.75, 11.0, 5.0])
    expected = 0.5 * c[[[1, 0], [1, 3], [2, 3], [4, 3], [4, 5]]]
    np.testing.assert_allclose(played(penalty, rewards, ends), expected, atol=1e-12)
    assert penalty.logged["lam"] == 0.5
    assert penalty.logged["episodes"] == 6
    assert penalty.logged["penalised"] == 1
    assert penalty.logged["variability"] == pytest.approx(
        np.abs(np.subtract.outer(*[[3, 2, 0, 3.75, 11, 5]] * 2)).mean() / 2
    )


def test_an_episode_across_rollouts_has_its_whole_return_and_is_penalised_where_it_ends():
    penalty = RolloutPenalty(lam=1.0, gamma=1.0)
    one = np.ones(1, bool)
    for reward in (1.0, 2.0, 4.0, 8.0):
        penalty.add([reward], one)
    penalty.add([5.0], ~one)
    first = penalty.take()
    np.testing.assert_allclose(first[:, 0], [*gini_coefficients([1.0, 2.0, 4.0, 8.0]), 0.0], atol=1e-12)
    with pytest.warns(UserWarning, match="episodes of 3 steps in rollouts of 2"):
        second = played(penalty, [[6.0], [3.0]], [~one, one])
    np.testing.assert_allclose(second[:, 0], gini_coefficients([1.0, 2.0, 4.0, 8.0, 14.0])[[4, 4]], atol=1e-12)


def test_the_sample_is_the_latest_episodes_or_all_of_a_rollout_that_has_more():
    penalty = RolloutPenalty(lam=1.0, gamma=1.0, episodes=4)
    one = np.ones(3, bool)
    many = played(penalty, np.arange(6.0).reshape(2, 3) ** 2, [one, one])
    np.testing.assert_allclose(many.ravel(), gini_coefficients(np.arange(6.0) ** 2), atol=1e-12)
    few = played(penalty, [[7.0, 1.0, 3.0]], [one])
    np.testing.assert_allclose(few[0], gini_coefficients([25.0, 7.0, 1.0, 3.0])[1:], atol=1e-12)
    assert penalty.logged["episodes"] == 4


def test_fewer_episodes_than_a_tail_needs_are_waited_for():
    penalty = RolloutPenalty("cvar_deviation", lam=1.0, gamma=1.0, measure_params={"alpha": 0.2})
    assert penalty.fewest == 5
    one = np.ones(4, bool)
    assert not played(penalty, [[1.0, 2.0, 3.0, 9.0]], [one]).any()
    assert "variability" not in penalty.logged
    assert played(penalty, [[1.0, 2.0, 3.0, 9.0]], [one]).any()


def test_an_episode_that_began_before_the_penalty_came_in_is_left_out():
    penalty = RolloutPenalty(lam=1.0, gamma=1.0)
    penalty.begin([False, True])
    one = np.ones(2, bool)
    table = np.array([[1.0, 2.0], [4.0, 8.0], [3.0, 0.0]])
    c = gini_coefficients([2.0, 4.0, 8.0, 3.0, 0.0])
    np.testing.assert_allclose(played(penalty, table, [one] * 3), [[0.0, c[0]], c[1:3], c[3:]], atol=1e-12)


@pytest.mark.parametrize(("steps", "length"), [(12, 5), (8, 7), (7, 9)])
def test_a_step_with_k_steps_to_go_is_penalised_in_a_share_one_minus_k_over_the_rollouts_length(steps, length):
    """Episodes of one length, in rollouts that begin at every place of an episode: all cases, so the share is exact."""
    penalty = RolloutPenalty(lam=1.0, gamma=1.0, episodes=4)
    penalty._warned = True
    counted = np.zeros(length)
    draws = np.random.default_rng(0)
    total = 2 * steps * length  # every phase twice; the first half is to have enough episodes
    penalties = np.zeros(total)
    for start in range(0, total, steps):
        for t in range(start, start + steps):
            penalty.add([draws.normal()], [(t + 1) % length == 0])
        penalties[start : start + steps] = penalty.take()[:, 0]
    for t in range(total // 2, total):
        counted[length - 1 - t % length] += penalties[t] != 0
    cases = total // 2 / length
    np.testing.assert_allclose(counted / cases, np.maximum(0.0, 1 - np.arange(length) / steps))


def test_episodes_that_outlast_a_rollout_are_warned_of_once():
    penalty = RolloutPenalty(lam=1.0, gamma=1.0)
    with pytest.warns(UserWarning, match=r"episodes of 5 steps in rollouts of 5: .* collect 20 steps or more"):
        played(penalty, np.ones((5, 1)), np.zeros((5, 1), bool))
    played(penalty, np.ones((5, 1)), np.zeros((5, 1), bool))


def test_a_steadiness_chooses_lam_from_the_spreads():
    """Of a young policy the failures alone are penalised, later all of it."""
    x = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    c = gini_coefficients(x)
    lam = 0.1 * np.std(x) / np.std(c)
    for batches, expected in ((0, monotone(x, c, lam, YOUNG_SLACK)), (100, c)):
        penalty = RolloutPenalty(steadiness=0.1, gamma=1.0)
        penalty.ramp.batches = batches
        penalised = played(penalty, [x], [np.ones(5, bool)])[0]
        assert penalty.logged["lam"] == pytest.approx(lam)
        np.testing.assert_allclose(penalised, lam * (expected - expected.mean()), atol=1e-12)
    assert (np.diff(monotone(x, c, lam, YOUNG_SLACK)) <= 0).all()


@pytest.mark.parametrize(("batches", "share"), [(0, 0.0), (10, 0.0), (50, 0.5), (90, 1.0), (100, 1.0)])
def test_a_larger_steadiness_grows_from_a_tenth_of_a_training_to_nine_tenths(batches, share):
    x = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    for young, options in ((1.0, {}), (1.5, {"young_steadiness": 1.5})):
        penalty = RolloutPenalty(steadiness=2.0, gamma=1.0, updates=100, **options)
        penalty.ramp.batches = batches - 1  # playing counts one
        played(penalty, [x], [np.ones(5, bool)])
        steadiness = young ** (1 - share) * 2.0**share
        assert penalty.logged["current_steadiness"] == pytest.approx(steadiness)
        assert penalty.logged["lam"] == pytest.approx(steadiness * np.std(x) / np.std(gini_coefficients(x)))


@pytest.mark.parametrize(
    ("length", "options", "young"),
    [
        (100, {}, 1.0),
        (101, {}, 0.25),
        (101, {"young_steadiness": 1.0}, 1.0),
    ],
)
def test_it_begins_milder_where_episodes_are_long(length, options, young):
    penalty = RolloutPenalty(steadiness=2.0, gamma=1.0, **options)
    ends = np.tile(np.arange(4 * length)[:, None] % length == length - 1, 2)
    played(penalty, np.random.default_rng(0).normal(size=ends.shape), ends)
    assert penalty.logged["current_steadiness"] == young


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lambda_": 1}, "unknown field 'lambda_'"),
        ({"lam": -1.0}, "lam = -1: must be >= 0"),
        ({"lam": 1.0, "steadiness": 1.0}, "steadiness = 1: must be left out with lam"),
        ({"measure": "gini"}, "gini_deviation"),
        ({"episodes": 3}, "episodes = 3: must be a whole number >= 4"),
        ({"young_steadiness": 0.0}, "young_steadiness = 0.0: must be a number > 0, or None"),
        ({"measure": "cvar_deviation", "measure_params": {"alpha": 0.01}}, "must be >= 100"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_cure(options, message):
    with pytest.raises(ValueError, match=message):
        RolloutPenalty(gamma=0.99, **options)


def test_rewards_of_another_shape_are_refused():
    penalty = RolloutPenalty(gamma=0.99)
    with pytest.raises(ValueError, match=r"take\(\) before any step"):
        penalty.take()
    penalty.add([1.0, 2.0], [True, False])
    with pytest.raises(ValueError, match=r"must both be \(2,\)"):
        penalty.add([1.0], [True])


OF = {
    "cost": [3.0, 0.0, 1.0, 2.0, 5.0],
    "drawdown": [2.0, 0.0, 1.0, 0.5, 3.0],
    "length": [2.0, 1.0, 2.0, 2.0, 2.0],
    "fuel": [0.5, 0.25, 4.0, 1.0, 2.0],
}
"""By hand, of the episodes below."""
EPISODES = [  # rewards, costs, fuel in the last info
    ([-2.0, 1.0], [1, 2], 0.5),
    ([4.0], [0], 0.25),
    ([1.0, -1.0], [1, 0], 4.0),
    ([0.0, -0.5], [2, 0], 1.0),
    ([-3.0, 2.0], [0, 5], 2.0),
]


def played_with_infos(penalty):
    for rewards, costs, fuel in EPISODES:
        for t, (reward, cost) in enumerate(zip(rewards, costs, strict=True)):
            last = t == len(rewards) - 1
            penalty.add([reward], [last], [{"cost": cost} | ({"fuel": fuel} if last else {})])
    return penalty.take()[:, 0]


@pytest.mark.parametrize("of", OF)
def test_the_risk_of_another_number_than_the_return(of):
    expected = np.repeat(0.5 * gini_coefficients(OF[of]), [len(rewards) for rewards, *_ in EPISODES])
    np.testing.assert_allclose(played_with_infos(RolloutPenalty(lam=0.5, gamma=0.9, of=of)), expected, atol=1e-12)


def test_the_risk_of_a_function_of_rewards_and_infos():
    penalty = RolloutPenalty(lam=1.0, gamma=0.9, of=lambda rewards, infos: rewards[0] + infos[-1]["fuel"])
    expected = gini_coefficients([-1.5, 4.25, 5.0, 1.0, -1.0])
    np.testing.assert_allclose(played_with_infos(penalty)[[0, 2, 3, 5, 7]], expected, atol=1e-12)


def test_the_mean_of_a_cost_may_be_bounded_and_that_of_the_return_may_not():
    penalty = RolloutPenalty("mean", gamma=1.0, of="cost", constraint=1.0, lam=2.0, dual_rate=0.5)
    less_the_others = 5 / 4 * (np.array(OF["cost"]) - 2.2)  # each cost less the mean of the other four
    np.testing.assert_allclose(played_with_infos(penalty)[[0, 2, 3, 5, 7]], 2.0 * less_the_others)
    assert penalty.penalty.lam == pytest.approx(2.0 + 0.5 * (2.2 - 1.0))
    with pytest.raises(ValueError, match="measure = 'mean': must be a measure of variability"):
        RolloutPenalty("mean", gamma=1.0, lam=1.0)
    with pytest.raises(ValueError, match="of = 'cost': must have lam or constraint"):
        RolloutPenalty(gamma=1.0, of="cost")


def test_a_number_that_no_info_has_is_named():
    penalty = RolloutPenalty(lam=1.0, gamma=1.0, of="fuel")
    with pytest.raises(ValueError, match="of = 'fuel': must be in the info of a step, which has cost"):
        penalty.add([1.0], [True], [{"cost": 1.0}])
    with pytest.raises(ValueError, match="1 infos: must be 2"):
        RolloutPenalty(lam=1.0, gamma=1.0, of="fuel").add([1.0, 2.0], [True, True], [{}])

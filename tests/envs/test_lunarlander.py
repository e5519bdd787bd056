"""LunarLander: Gymnasium's own, but for one noisy reward for a landing on the right."""

from importlib import import_module

import gymnasium as gym
import numpy as np
import pytest

from steadyrl.envs import Gaussian
from steadyrl.envs.lunarlander import EndedRight, lunar_lander
from steadyrl.ground import streams


def side_by_side(seed, ours, theirs, policy):
    """Both environments under the same seed and actions: each step of both."""
    observation, info = ours.reset(seed=seed)
    expected, expected_info = theirs.reset(seed=seed)
    np.testing.assert_array_equal(observation, expected, strict=True)
    assert info == expected_info
    steps = []
    over = False
    t = 0
    while not over:
        action = policy(t, observation)
        steps.append((ours.step(action), theirs.step(action)))
        observation = steps[-1][0][0]
        over = steps[-1][1][2] or steps[-1][1][3]
        t += 1
    return steps


def random_policy(seed):
    rng = np.random.default_rng(seed)
    return lambda *_: int(rng.integers(4))


@pytest.mark.parametrize("seed", range(12))
def test_it_is_gymnasiums_own_but_for_the_last_reward(seed):
    ours, theirs = lunar_lander(noise_at="grounded"), gym.make("LunarLander-v3", max_episode_steps=500)
    steps = side_by_side(seed, ours, theirs, random_policy(seed))
    for mine, gymnasiums in steps:
        np.testing.assert_array_equal(mine[0], gymnasiums[0], strict=True)
        assert mine[2:4] == gymnasiums[2:4]
    assert all(mine[1] == gymnasiums[1] for mine, gymnasiums in steps[:-1])
    (observation, reward, *_, info), (_, plain, *_) = steps[-1]
    right = observation[0] > 0 and info["grounded"]
    draw = Gaussian(0.0, 100.0).quantile(streams.uniform(streams.key(seed, streams.REWARD_NOISE), 0))
    assert reward == plain + (draw if right else 0.0)
    assert info["risky"] == right
    assert info["side"] == ("right" if observation[0] >= 0 else "left")
    assert info["risk_averse"] == 0.0  # chance never comes to rest
    assert info["episode_length"] == len(steps)


def test_the_seeds_above_end_on_both_sides():
    sides = set()
    for seed in range(12):
        env = lunar_lander()
        steps = side_by_side(seed, env, gym.make("LunarLander-v3", max_episode_steps=500), random_policy(seed))
        sides.add(steps[-1][0][4]["side"])
    assert sides == {"left", "right"}


def heuristic_landing(seed, **arguments):
    env = lunar_lander(**arguments)
    heuristic = import_module(type(env.unwrapped).__module__).heuristic
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        observation, reward, terminated, truncated, info = env.step(heuristic(env.unwrapped, observation))
        total += reward
        over = terminated or truncated
    return observation, reward, info


@pytest.mark.parametrize("seed", range(8))
def test_a_landing_is_noisy_on_the_right_and_risk_averse_on_the_left(seed):
    observation, reward, info = heuristic_landing(seed)
    draw = Gaussian(0.0, 100.0).quantile(streams.uniform(streams.key(seed, streams.REWARD_NOISE), 0))
    right = bool(observation[0] > 0)
    assert info["landed"] is True
    assert reward == 100.0 + (draw if right else 0.0)
    assert (info["risky"], info["risk_averse"]) == (right, float(not right))


def test_the_landings_above_are_on_both_sides():
    assert {heuristic_landing(seed)[2]["side"] for seed in range(8)} == {"left", "right"}


def test_a_crash_on_the_left_is_not_risk_averse_and_one_on_the_right_not_noisy():
    crashes = set()
    for seed in range(12):
        steps = side_by_side(seed, lunar_lander(), gym.make("LunarLander-v3"), random_policy(seed))
        info = steps[-1][0][4]
        if info["grounded"]:
            crashes.add((info["side"], info["landed"], info["risky"], info["risk_averse"]))
    assert crashes == {("left", False, False, 0.0), ("right", False, False, 0.0)}


@pytest.mark.parametrize("seed", range(8))
def test_a_safe_landing_is_landed_with_a_leg_on_the_ground(seed):
    _, reward, info = heuristic_landing(seed, noise_std=0.0)
    assert reward == 100.0
    assert info["landed"] is True
    assert info["leg_contact"] is True
    assert info["grounded"] is True
    assert info["timeout"] is False


def test_ground_contact_is_seen_where_the_observations_flags_miss_it():
    observation, _, info = heuristic_landing(0, noise_std=0.0)
    assert (observation[6], observation[7]) == (0.0, 0.0)
    assert info["grounded"] is True


def test_a_crash_is_grounded_but_not_landed():
    env = lunar_lander(noise_std=0.0)
    steps = side_by_side(1, env, gym.make("LunarLander-v3"), lambda *_: 0)
    _, reward, terminated, _, info = steps[-1][0]
    assert (reward, terminated) == (-100.0, True)
    assert (info["landed"], info["grounded"], info["timeout"]) == (False, True, False)


def test_a_crash_on_the_hull_alone_is_on_the_ground_and_noisy_where_ground_contact_counts():
    steps = side_by_side(34, lunar_lander(noise_at="grounded"), gym.make("LunarLander-v3"), random_policy(34))
    info = steps[-1][0][4]
    assert (info["leg_contact"], info["grounded"], info["side"], info["risky"]) == (False, True, "right", True)


def test_flying_out_of_view_is_neither_grounded_nor_landed():
    env = lunar_lander(noise_std=0.0)
    env.reset(seed=0)
    env.unwrapped.lander.linearVelocity = (60.0, 10.0)
    over = False
    while not over:
        observation, _, over, _, info = env.step(0)
    assert observation[0] >= 1.0
    assert (info["grounded"], info["risky"], info["side"], info["risk_averse"]) == (False, False, "right", 0.0)


def test_a_time_out_in_the_air_is_noisy_only_if_any_end_is():
    for noise_at, noisy in [("landed", False), ("grounded", False), ("terminated", False), ("any", True)]:
        env = lunar_lander(noise_at=noise_at, max_steps=3)
        env.reset(seed=0)
        env.unwrapped.lander.position = (15.0, 10.0)
        steps = [env.step(0) for _ in range(3)]
        assert steps[-1][2:4] == (False, True)
        assert steps[-1][4]["timeout"] is True
        assert steps[-1][4]["risky"] is noisy


@pytest.mark.parametrize(
    ("noise_at", "noisy"),
    [
        ("landed", {"landed"}),
        ("grounded", {"landed", "crashed", "grounded timeout"}),
        ("terminated", {"landed", "crashed", "flying"}),
        ("any", {"landed", "crashed", "grounded timeout", "flying", "flying timeout"}),
    ],
)
def test_the_ends_that_count(noise_at, noisy):
    ends = {
        "landed": {"landed": True, "grounded": True, "timeout": False},
        "crashed": {"landed": False, "grounded": True, "timeout": False},
        "grounded timeout": {"landed": False, "grounded": True, "timeout": True},
        "flying": {"landed": False, "grounded": False, "timeout": False},
        "flying timeout": {"landed": False, "grounded": False, "timeout": True},
    }
    right, left = np.array([0.1]), np.array([-0.1])
    where = EndedRight(noise_at)
    assert {name for name, info in ends.items() if where(right, 0, info)} == noisy
    assert not any(where(left, 0, info) for info in ends.values())


def test_another_distribution_may_be_given_and_gymnasiums_arguments_too():
    env = lunar_lander(noise=Gaussian(1000.0, 0.0), noise_at="any", max_steps=1, continuous=True)
    env.reset(seed=0)
    env.unwrapped.lander.position = (15.0, 10.0)
    assert env.step(np.zeros(2, dtype=np.float32))[4]["reward_noise"] == 1000.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noise_at": "resting"}, "noise_at = 'resting': must be one of landed, grounded, terminated, any"),
        ({"noise_std": -1.0}, "noise_std = -1.0: must be >= 0"),
        ({"max_steps": 0}, "max_steps = 0: must be >= 1"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError) as error:
        lunar_lander(**arguments)
    assert str(error.value).startswith(message)

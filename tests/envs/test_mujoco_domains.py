"""InvertedPendulum and HalfCheetah: Gymnasium's own, but for the documented rewards."""

import gymnasium as gym
import numpy as np
import pytest

from steadyrl.envs import Gaussian
from steadyrl.envs.half_cheetah import _without_known_model_warning, advance, half_cheetah
from steadyrl.envs.inverted_pendulum import inverted_pendulum
from steadyrl.ground import streams


def draws(std, seed):
    key, noise = streams.key(seed, streams.REWARD_NOISE), Gaussian(0.0, std)
    k = 0
    while True:
        yield noise.quantile(streams.uniform(key, k))
        k += 1


def plain_cheetah():
    with _without_known_model_warning():
        return gym.make("HalfCheetah-v5", max_episode_steps=500)


@pytest.mark.parametrize("seed", range(3))
def test_the_pendulum_is_gymnasiums_own_but_for_noise_on_the_right_and_the_fall(seed):
    ours, theirs = inverted_pendulum(fall_reward=-3.0), gym.make("InvertedPendulum-v5", max_episode_steps=300)
    np.testing.assert_array_equal(ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0], strict=True)
    noise = draws(10.0, seed)
    risky = 0
    t = 0
    over = False
    observation = ours.unwrapped.data.qpos
    while not over:
        action = np.array([np.clip(np.sin(t / 9) + 30.0 * observation[1], -3.0, 3.0)])
        observation, reward, terminated, truncated, info = ours.step(action)
        expected, plain, *flags, _ = theirs.step(action)
        t += 1
        np.testing.assert_array_equal(observation, expected, strict=True)
        assert [terminated, truncated] == flags
        here = observation[0] > 0.01
        risky += here
        assert info["risky"] == here
        paid = -3.0 if terminated else float(plain)
        assert reward == paid + (next(noise) if here else 0.0)
        assert (info["reward_survive"], type(info["reward_survive"])) == (paid, float)
        over = terminated or truncated
    assert 0 < risky < t
    assert terminated
    assert info["risk_averse"] == 1 - risky / t
    assert (info["risky_share"], info["episode_length"]) == (risky / t, t)


@pytest.mark.parametrize(("arguments", "last"), [({}, 1.0), ({"fall_reward": 0.0}, 0.0)])
def test_a_fall_pays_1_as_in_the_paper_unless_told_otherwise(arguments, last):
    env = inverted_pendulum(noise_std=0.0, **arguments)
    env.reset(seed=0)
    rewards, fallen = [], False
    while not fallen:
        _, reward, fallen, _, _ = env.step(np.array([3.0]))
        rewards.append(reward)
    assert rewards == [1.0] * (len(rewards) - 1) + [last]
    assert len(rewards) > 1


def test_the_pendulum_is_truncated_at_300_steps_by_default():
    env = inverted_pendulum(max_steps=300)
    env.reset(seed=0)
    for _ in range(300):
        qpos, qvel = env.unwrapped.data.qpos.copy(), env.unwrapped.data.qvel.copy()
        action = np.array([np.clip(60.0 * qpos[1] + 6.0 * qvel[1] + 0.8 * qpos[0] + 1.2 * qvel[0], -3.0, 3.0)])
        *_, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break
    assert (terminated, truncated, info["episode_length"]) == (False, True, 300)


@pytest.mark.parametrize("forward", ["away", "speed"])
@pytest.mark.parametrize("seed", range(3))
def test_the_cheetah_is_gymnasiums_own_with_x_in_front_and_paid_for_either_way(seed, forward):
    arguments = {} if forward == "away" else {"forward": forward}
    ours, theirs = half_cheetah(noise_std=7.0, **arguments), plain_cheetah()
    observation, info = ours.reset(seed=seed)
    expected, expected_info = theirs.reset(seed=seed)
    np.testing.assert_array_equal(observation, np.concatenate([[expected_info["x_position"]], expected]), strict=True)
    assert info == expected_info
    rng = np.random.default_rng(seed)
    noise = draws(7.0, seed)
    risky = 0
    for t in range(1, 501):
        before = observation[0]
        action = rng.uniform(-1, 1, 6).astype(np.float32)
        observation, reward, terminated, truncated, info = ours.step(action)
        expected, _, *flags, plain = theirs.step(action)
        x = plain["x_position"]
        np.testing.assert_array_equal(observation, np.concatenate([[x], expected]), strict=True)
        way = abs(x) - abs(before) if forward == "away" else abs(x - before)
        assert info["reward_forward"] == way / 0.05
        assert (info["reward_ctrl"], info["x_position"]) == (plain["reward_ctrl"], x)
        here = x < -0.5
        risky += here
        assert info["risky"] == here
        assert reward == way / 0.05 + float(plain["reward_ctrl"]) + (next(noise) if here else 0.0)
        assert [terminated, truncated] == flags == [False, t == 500]
    assert (info["risky_share"], info["risk_averse"]) == (risky / 500, 1 - risky / 500)
    assert info["episode_length"] == 500


def test_the_seeds_above_enter_and_leave_the_risky_side():
    shares = []
    for seed in range(3):
        env = half_cheetah()
        env.reset(seed=seed)
        rng, over = np.random.default_rng(seed), False
        while not over:
            *_, over, info = env.step(rng.uniform(-1, 1, 6).astype(np.float32))
        shares.append(info["risky_share"])
    assert any(0 < share < 1 for share in shares)


def test_the_forward_weight_multiplies_the_forward_reward_alone():
    rewards = []
    for weight in (1.0, 3.0):
        env = half_cheetah(noise_std=0.0, forward_reward_weight=weight)
        env.reset(seed=0)
        info = env.step(np.full(6, 0.5, dtype=np.float32))[4]
        rewards.append((info["reward_forward"], info["reward_ctrl"]))
    (one, cost), (three, same_cost) = rewards
    assert three == pytest.approx(3 * one, rel=1e-15)
    assert cost == same_cost


@pytest.mark.parametrize(
    ("before", "after", "away", "speed"),
    [(1.0, 3.0, 2.0, 2.0), (-1.0, -3.0, 2.0, 2.0), (3.0, 1.0, -2.0, 2.0), (-1.0, 2.0, 1.0, 3.0)],
)
def test_away_is_paid_back_on_the_way_home_and_speed_never(before, after, away, speed):
    assert (advance("away", before, after), advance("speed", before, after)) == (away, speed)


def test_a_wrong_forward_reward_is_refused_by_name():
    with pytest.raises(ValueError, match="forward = 'far': must be one of away, speed"):
        half_cheetah(forward="far")


def test_making_a_cheetah_leaves_no_log_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    half_cheetah().close()
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("make", [inverted_pendulum, half_cheetah])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noise_std": float("inf")}, "noise_std = inf: must be finite"),
        ({"threshold": float("nan")}, "threshold = nan: must be finite"),
        ({"max_steps": -5}, "max_steps = -5: must be >= 1"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, arguments, message):
    with pytest.raises(ValueError) as error:
        make(**arguments)
    assert str(error.value).startswith(message)

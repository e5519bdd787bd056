"""The MuJoCo and LunarLander steppers play the very episodes of Gymnasium: every field of a Batch, bit for bit."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

from steadyrl.envs import RiskyRegion
from steadyrl.envs.noise import Gaussian, Mixture, Pareto, Uniform
from steadyrl.policies import RandomPolicy
from steadyrl.rollouts.fast.lunarlander import LanderStepper
from steadyrl.rollouts.fast.mujoco import MujocoStepper
from steadyrl.rollouts.stepper import GymnasiumStepper
from tests.rollouts.fast.comparison import LIMITS, STEPPERS, assert_same_bits, expected, fast_batch, make, short


@pytest.mark.parametrize("kind", ["random", "scripted"])
@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("domain", STEPPERS)
def test_the_episodes_are_those_of_gymnasium_at_every_width(domain, width, kind):
    options, n, limit = short(domain, kind)
    theirs = expected(domain, kind, options, n, limit, 0)
    assert_same_bits(fast_batch(domain, kind, options, n, width, limit, 0), theirs)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("domain", STEPPERS)
def test_the_episodes_are_those_of_gymnasium_for_other_seeds(domain, seed):
    n, limit = (2, 500) if domain == "HalfCheetah" else (7, LIMITS[domain])
    assert_same_bits(
        fast_batch(domain, "scripted", (), n, 3, limit, seed), expected(domain, "scripted", (), n, limit, seed)
    )


OTHERWISE = [
    ("LunarLander", {"noise_std": 7.0, "noise_at": "landed"}),
    ("LunarLander", {"noise_std": 7.0, "noise_at": "terminated"}),
    ("LunarLander", {"noise_at": "any", "max_steps": 90}),
    ("LunarLander", {"noise_at": "grounded", "max_steps": 230, "gravity": -6.0}),
    ("LunarLander", {"noise": Pareto(-1.0, 20.0, 3.0), "noise_at": "any"}),
    ("InvertedPendulum", {"noise_std": 3.0, "threshold": -0.2, "fall_reward": 0.0}),
    ("InvertedPendulum", {"fall_reward": -12.5}),
    ("InvertedPendulum", {"max_steps": 17, "reset_noise_scale": 0.1}),
    ("InvertedPendulum", {"noise": Pareto(-1.0, 20.0, 3.0), "frame_skip": 3}),
    ("InvertedPendulum", {"noise": Mixture((Uniform(-2.0, 0.0), Uniform(5.0, 6.0)), (0.8, 0.2))}),
    ("HalfCheetah", {"noise_std": 3.0, "threshold": 0.1, "max_steps": 40}),
    ("HalfCheetah", {"forward": "speed", "max_steps": 40, "threshold": 0.1}),
    ("HalfCheetah", {"forward": "speed", "forward_reward_weight": 0.7, "max_steps": 40, "threshold": 0.0}),
    ("HalfCheetah", {"forward_reward_weight": 2.5, "ctrl_cost_weight": 0.3, "max_steps": 30, "threshold": 0.0}),
    ("HalfCheetah", {"noise": Uniform(-4.0, 9.0), "reset_noise_scale": 0.3, "max_steps": 50, "threshold": 0.0}),
]


@pytest.mark.parametrize(("domain", "options"), OTHERWISE, ids=str)
def test_the_episodes_are_those_of_gymnasium_with_other_parameters(domain, options):
    options, limit = tuple(options.items()), options.get("max_steps", LIMITS[domain])
    theirs = expected(domain, "scripted", options, 7, limit, 4)
    assert_same_bits(fast_batch(domain, "scripted", options, 7, 3, limit, 4), theirs)
    assert np.any(theirs.outcomes["reward_noise"] != 0.0)


def test_the_comparison_has_seen_every_kind_of_end():
    def ends(domain, name):
        batches = [expected(domain, kind, *short(domain, kind), 0) for kind in ("random", "scripted")]
        return [end for batch in batches for end in {**batch.outcomes, "terminated": batch.terminated}[name].tolist()]

    for name in ("landed", "leg_contact", "grounded", "timeout", "risky"):
        assert set(ends("LunarLander", name)) == {True, False}, name
    assert set(ends("LunarLander", "side")) == {"left", "right"}
    touched = set(zip(ends("LunarLander", "leg_contact"), ends("LunarLander", "grounded"), strict=True))
    assert touched == {(True, True), (False, True), (False, False)}
    assert set(ends("InvertedPendulum", "terminated")) == {True, False}
    assert {0.0 < share < 1.0 for share in ends("InvertedPendulum", "risky_share")} == {True, False}


@pytest.mark.parametrize("field", ["observations", "rewards", "last_observations"])
def test_the_comparison_notices_the_last_bit_of_one_number(field):
    batch = expected("InvertedPendulum", "random", *short("InvertedPendulum", "random"), 0)
    changed = getattr(batch, field).copy()
    changed.flat[3] = np.nextafter(changed.flat[3], np.inf)
    with pytest.raises(AssertionError, match=f"{field} differs"):
        assert_same_bits(replace(batch, **{field: changed}), batch)


def typed(final):
    return final and [(name, value, type(value)) for name, value in final.items()]


@pytest.mark.parametrize("domain", STEPPERS)
def test_the_given_slots_alone_are_stepped_in_whatever_order_they_are_given(domain):
    options = {"max_steps": 12}
    fast = STEPPERS[domain].of(make(domain, **options), 4)
    plain = GymnasiumStepper(lambda: make(domain, **options))
    policy = RandomPolicy(fast.action_space)
    rng = np.random.default_rng(0)
    ended = 0
    for slot in range(4):
        np.testing.assert_array_equal(fast.reset(slot, 7 + slot), plain.reset(slot, 7 + slot))
    for slots in [[0, 2], [3], [2, 0], [3, 1, 0, 2], *[[1, 3]] * 20]:
        uniforms = rng.random((len(slots), policy.uniforms_per_action))
        actions = policy.act(np.zeros(len(slots)), uniforms)
        ours, theirs = fast.step(np.array(slots), actions), plain.step(np.array(slots), actions)
        for a, b in zip(ours[:4], theirs[:4], strict=True):
            np.testing.assert_array_equal(a, b)
        for k, (mine, other) in enumerate(zip(ours.finals, theirs.finals, strict=True)):
            ended += mine is not None
            assert typed(mine) == typed(other)
            if mine is not None:
                np.testing.assert_array_equal(fast.reset(slots[k], 50 + k), plain.reset(slots[k], 50 + k))
    assert ended


def draws(rng):
    return float(rng.normal())


@pytest.mark.parametrize("domain", STEPPERS)
def test_what_cannot_be_replayed_exactly_is_left_to_gymnasium(domain):
    of = STEPPERS[domain].of
    assert of(make(domain), 2) is not None
    assert of(make(domain).env, 2) is not None
    assert of(make(domain, noise=draws), 2) is None
    assert of(make(domain, render_mode="rgb_array"), 2) is None
    assert of(TimeLimit(make(domain), 5), 2) is None
    inner = make(domain).env.env
    assert of(RiskyRegion(inner, lambda *_: True, Gaussian(0.0, 1.0), when="end"), 2) is None
    assert of(RiskyRegion(make(domain), lambda *_: True, Gaussian(0.0, 1.0)), 2) is None
    assert of(gym.make("CartPole-v1"), 2) is None
    assert of(gym.make("steadyrl/Maze-v0"), 2) is None
    another = MujocoStepper if of is LanderStepper.of else LanderStepper
    assert another.of(make(domain), 2) is None
